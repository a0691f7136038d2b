//! # PERT-PI, a proportional-integral controller at the sender
//!
//! **Source**: bhandarkar-2006 IV.D (other router laws at the sender); hollot-2001 section IV (the controller).
//!
//! **Idea**: every `period` the probability moves by `a (d - target) - b (d_last - target)`, with the queueing delay
//! `d = srtt_0.99 - rtt_min`: it comes to rest only where the delay is the target.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `early.pi.target` | time | 7.5 ms | ours: the middle of PERT's thresholds |
//! | `early.pi.a` | 1/s | 0.0683 | hollot-2001: 1.822e-5 per packet, at its 3750 packets/s |
//! | `early.pi.b` | 1/s | 0.0681 | hollot-2001: 1.816e-5 per packet |
//! | `early.pi.period` | time | 5.9 ms | hollot-2001: 170 Hz |
//!
//! **Deviations**: 1. The gains are those of a router that sees all packets; a sender answers with its own probability once
//! per round trip, so they act more slowly here.
//!
//! **Checked by**: `signal/early_oracle.rs`; the resting point below.

use super::curve::{Curve, Queueing};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of PERT-PI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiParams {
    /// Queueing delay at which the probability rests.
    pub target: Dur,
    /// Gain of the present deviation, per second of delay.
    pub a: f64,
    /// Gain of the last deviation, per second of delay.
    pub b: f64,
    /// Time between two steps.
    pub period: Dur,
}

impl Default for PiParams {
    fn default() -> Self {
        PiParams { target: Dur::from_secs_f64(0.0075), a: 0.0683, b: 0.0681, period: Dur::from_secs_f64(1.0 / 170.0) }
    }
}

impl PiParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(self.a > self.b && self.b >= 0.0 && self.a.is_finite()) {
            return Err(ConfigError::new("a", format!("a = {}, b = {}", self.a, self.b), "a > b >= 0"));
        }
        if self.period == Dur::ZERO {
            return Err(ConfigError::new("period", "0", "a positive time"));
        }
        Ok(())
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Pi {
    params: PiParams,
    p: f64,
    last_s: f64,
    next: Time,
}

impl Pi {
    pub fn new(params: PiParams) -> Pi {
        let last_s = params.target.as_secs_f64();
        Pi { params, p: 0.0, last_s, next: Time::ZERO }
    }
}

impl Curve for Pi {
    fn probability(&mut self, q: Queueing) -> f64 {
        if q.now >= self.next {
            let target_s = self.params.target.as_secs_f64();
            let step = self.params.a * (q.delay_s - target_s) - self.params.b * (self.last_s - target_s);
            self.p = (self.p + step).clamp(0.0, 1.0);
            self.last_s = q.delay_s;
            self.next = q.now + self.params.period;
        }
        self.p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_looks_the_probability_stays() {
        let mut c = Pi::new(PiParams { period: Dur::from_millis(10), ..PiParams::default() });
        let at = |delay_s: f64, ms: u64| Queueing { delay_s, change_s: 0.0, now: Time(ms * 1_000_000) };
        let first = c.probability(at(0.02, 100));
        assert_eq!([c.probability(at(0.5, 101)), c.probability(at(0.5, 109))], [first; 2]);
        assert!(c.probability(at(0.5, 110)) > first);
    }

    #[test]
    fn a_step_weighs_the_delay_and_the_last_one_by_their_distance_from_the_target() {
        let params = PiParams { target: Dur::from_millis(10), a: 4.0, b: 3.0, period: Dur::from_millis(1) };
        let (mut c, mut p, mut last) = (Pi::new(params), 0.0, 0.010);
        for (ms, delay_s) in [(1u64, 0.050), (2, 0.070), (3, 0.030), (4, 0.012), (5, 0.040), (6, 0.001)] {
            let now = Time(ms * 1_000_000);
            p = f64::clamp(p + 4.0 * (delay_s - 0.010) - 3.0 * (last - 0.010), 0.0, 1.0);
            last = delay_s;
            let seen = c.probability(Queueing { delay_s, change_s: 0.0, now });
            assert!((seen - p).abs() < 1e-12, "after {ms} ms: {seen} and {p}");
        }
        assert!(p > 0.0, "no step was cut off: {p}");
    }

    #[test]
    fn the_probability_rests_at_the_target_and_grows_above_it() {
        let mut c = Pi::new(PiParams::default());
        let at = |delay_s: f64, ms: u64| Queueing { delay_s, change_s: 0.0, now: Time(ms * 1_000_000) };
        let up: Vec<f64> = (0..50).map(|i| c.probability(at(0.01, 10 * i))).collect();
        assert!(up.windows(2).all(|w| w[1] > w[0]), "{up:?}");
        c.probability(at(0.0075, 600));
        let rest: Vec<f64> = (61..80).map(|i| c.probability(at(0.0075, 10 * i))).collect();
        assert!(rest.windows(2).all(|w| w[0] == w[1]) && rest[0] > 0.0, "{rest:?}");
    }
}
