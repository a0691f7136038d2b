//! # PERT, the curve of gentle RED
//!
//! **Source**: bhandarkar-2006 IV.B (figure 42, open point O8).
//!
//! **Idea**: with the queueing delay `d = srtt_0.99 - rtt_min`: no response below `min_delay`, up to `max_p` at `max_delay`, and from
//! there linearly to 1 at `certain_delay`. A response cuts the window by 35 %, at most once per round trip.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `early.gentle.min_delay` | time | 5 ms | bhandarkar-2006 IV.B |
//! | `early.gentle.max_delay` | time | 10 ms | bhandarkar-2006 IV.B |
//! | `early.gentle.max_p` | - | 0.05 | bhandarkar-2006 IV.B |
//! | `early.gentle.certain_delay` | time | 20 ms | bhandarkar-2006 O8: twice `max_delay` as queueing delay; read with its propagation it would be P + 20 ms |
//!
//! **Deviations**: 1. Where a response is not a share of the window but that of a window law, `early.cost` says so.
//!
//! **Checked by**: claim B95 in the tests below; `signal/early_oracle.rs`.

use super::curve::{Curve, Queueing};
use crosswind_base::{ConfigError, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the curve of gentle RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GentleParams {
    /// Queueing delay up to which there is no response.
    pub min_delay: Dur,
    /// Queueing delay at which the probability is `max_p`.
    pub max_delay: Dur,
    /// Probability at `max_delay`.
    pub max_p: f64,
    /// Queueing delay at which the probability is 1.
    pub certain_delay: Dur,
}

impl Default for GentleParams {
    fn default() -> Self {
        let ms = Dur::from_millis;
        GentleParams { min_delay: ms(5), max_delay: ms(10), max_p: 0.05, certain_delay: ms(20) }
    }
}

impl GentleParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(0.0..=1.0).contains(&self.max_p) {
            return Err(ConfigError::new("max_p", self.max_p.to_string(), "from 0 to 1"));
        }
        if self.min_delay >= self.max_delay || self.max_delay >= self.certain_delay {
            let found = format!("{:?}, {:?}, {:?}", self.min_delay, self.max_delay, self.certain_delay);
            return Err(ConfigError::new("min_delay", found, "min_delay < max_delay < certain_delay"));
        }
        Ok(())
    }
}

/// The curve.
#[derive(Clone, Debug)]
pub struct Gentle {
    min_s: f64,
    max_s: f64,
    certain_s: f64,
    max_p: f64,
}

impl Gentle {
    pub fn new(p: GentleParams) -> Gentle {
        let [min_s, max_s, certain_s] = [p.min_delay, p.max_delay, p.certain_delay].map(|d| d.as_secs_f64());
        Gentle { min_s, max_s, certain_s, max_p: p.max_p }
    }
}

impl Curve for Gentle {
    fn probability(&mut self, q: Queueing) -> f64 {
        let d = q.delay_s;
        if d < self.min_s {
            0.0
        } else if d < self.max_s {
            self.max_p * (d - self.min_s) / (self.max_s - self.min_s)
        } else {
            let beyond = (d - self.max_s) / (self.certain_s - self.max_s);
            (self.max_p + (1.0 - self.max_p) * beyond).min(1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Time;

    #[test]
    fn the_curve_passes_through_the_points_of_the_thesis() {
        let mut c = Gentle::new(GentleParams::default());
        for (ms, p) in [(4.999, 0.0), (5.0, 0.0), (7.5, 0.025), (10.0, 0.05), (15.0, 0.525), (20.0, 1.0), (90.0, 1.0)] {
            let got = c.probability(Queueing { delay_s: ms / 1e3, change_s: 0.0, now: Time::ZERO });
            assert!((got - p).abs() < 1e-9, "{ms} ms: {got}");
        }
    }
}
