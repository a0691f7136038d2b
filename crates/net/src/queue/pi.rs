//! # PI controller
//!
//! **Source**: hollot-2001 sections III and IV; ns-2.35 `queue/pi.cc` (defaults).
//!
//! **Idea**: `frequency` times a second the probability moves by `a (q - target) - b (q_last - target)`; an arriving packet is
//! selected with it. The queue comes to rest at `target`, whatever the load.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | ours |
//! | `target` | packets | 50 | ns-2.35 `qref_` |
//! | `a` | 1/packet | 1.822e-5 | hollot-2001, ns-2.35 |
//! | `b` | 1/packet | 1.816e-5 | hollot-2001, ns-2.35 |
//! | `frequency` | 1/s | 170 | hollot-2001, ns-2.35 `w_` |
//! | `ecn` | - | mark | ours; ns-2.35 `setbit_` false |
//!
//! **Deviations**: 1. Probabilities do not depend on the size of a packet (ns-2's `bytes_` off).
//!
//! **Checked by**: conformance suite; the law below against its recurrence written out.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Rng, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of the PI controller.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Queue at which the probability rests, in packets.
    pub target: f64,
    /// Gain of the present deviation.
    pub a: f64,
    /// Gain of the last deviation.
    pub b: f64,
    /// Steps per second.
    pub frequency: f64,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
}

impl Default for PiParams {
    fn default() -> Self {
        PiParams {
            limit: Limit::Packets(1000),
            target: 50.0,
            a: 1.822e-5,
            b: 1.816e-5,
            frequency: 170.0,
            ecn: EcnMode::Mark,
        }
    }
}

impl Params for PiParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_range("target", self.target, 0.0..=1e9)?;
        params::check_range("a", self.a, 0.0..=1.0)?;
        params::check_range("b", self.b, 0.0..=self.a)?;
        params::check_range("frequency", self.frequency, 1e-3..=1e5)
    }
}

/// Steps that are made one by one with a queue that does not change; further ones are made at once.
const SINGLE_STEPS_MAX: u32 = 10_000;

/// The controller.
#[derive(Clone, Debug)]
pub struct Controller {
    params: PiParams,
    period: Dur,
    p: f64,
    last: f64,
    next: Time,
}

impl Controller {
    pub fn new(params: PiParams) -> Controller {
        let period = Dur::from_secs_f64(1.0 / params.frequency);
        Controller { last: params.target, next: Time::ZERO + period, params, period, p: 0.0 }
    }
    #[inline]
    fn catch_up(&mut self, now: Time, packets: u32) {
        let mut made = 0;
        while self.next <= now {
            let (p, q, before) = (&self.params, f64::from(packets), (self.p, self.last));
            let step = p.a * (q - p.target) - p.b * (self.last - p.target);
            self.p = (self.p + step).clamp(0.0, 1.0);
            self.last = q;
            self.next += self.period;
            made += 1;
            if before == (self.p, self.last) || made == SINGLE_STEPS_MAX {
                self.leap(now);
            }
        }
    }

    /// The steps that are left, with a queue that stays as it is: all of them are the same.
    #[cold]
    fn leap(&mut self, now: Time) {
        if self.next > now {
            return;
        }
        let steps = (now - self.next).0 / self.period.0 + 1;
        let step = (self.params.a - self.params.b) * (self.last - self.params.target);
        self.p = (self.p + steps as f64 * step).clamp(0.0, 1.0);
        self.next += self.period.saturating_mul(steps);
    }
}

/// A queue with a PI controller.
pub type Pi = AqmQueue<Controller>;

impl Pi {
    pub fn new(params: PiParams, rng: Rng) -> Pi {
        let setup = Setup::fits(params.limit, params.ecn);
        AqmQueue::around(Controller::new(params), setup, rng)
    }
}

impl Aqm for Controller {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.catch_up(a.now, a.backlog.packets);
        let is_selected = q.draws.chance(self.p);
        // What does not fit is dropped for that.
        if is_selected && q.fits(a) { Verdict::Signal(DropReason::EarlyDrop) } else { Verdict::Pass }
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        self.catch_up(q.now(), q.backlog().packets);
        q.pop()
    }
    /// The probability stays, and the clock where its period stays. What does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.catch_up(q.now(), q.backlog().packets);
        let fresh = Controller::new(new.get());
        let next = if fresh.period == self.period { self.next } else { q.now() + fresh.period };
        *self = Controller { p: self.p, last: self.last, next, ..fresh };
        Ok(Setup::fits(self.params.limit, self.params.ecn))
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("aqm_p_ratio", self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    #[test]
    fn the_probability_is_its_recurrence_step_by_step() {
        for seed in 0..20 {
            let mut r = Streams::new(seed).named("pi");
            let mut law = Controller::new(PiParams::default());
            let period = Dur::from_secs_f64(1.0 / 170.0);
            let (mut p, mut before, mut now, mut queue) = (0.0f64, 50.0, Time::ZERO, 0u32);
            let mut steps = 0u64;
            for _ in 0..3000 {
                now += Dur::from_secs_f64(r.exponential(0.004));
                while (steps + 1) * period.0 <= now.0 {
                    steps += 1;
                    let q = f64::from(queue);
                    p = f64::clamp(p + 1.822e-5 * (q - 50.0) - 1.816e-5 * (before - 50.0), 0.0, 1.0);
                    before = q;
                }
                law.catch_up(now, queue);
                assert!((law.p - p).abs() < 1e-12, "seed {seed}: {} and {p}", law.p);
                queue = (queue + r.below(5) as u32).saturating_sub(1).min(800);
            }
        }
    }

    #[test]
    fn a_long_silence_costs_no_time_and_leaves_what_step_by_step_would() {
        for (packets, p) in [(0, 0.5), (50, 0.5), (60, 1e-3), (400, 0.0)] {
            let params = PiParams { frequency: 1e5, ..PiParams::default() };
            let mut law = Controller { p, ..Controller::new(params.clone()) };
            // Eleven days: 1e11 steps.
            law.catch_up(Time::ZERO + Dur::from_secs(1_000_000), packets);
            let (q, target) = (f64::from(packets), params.target);
            let first = params.a * (q - target);
            let expected = (p + first + 1e11 * (params.a - params.b) * (q - target)).clamp(0.0, 1.0);
            assert!((law.p - expected).abs() < 1e-9, "{packets}: {} and {expected}", law.p);
            assert!(law.next > Time::ZERO + Dur::from_secs(1_000_000));
        }
        let check = |frequency| PiParams { frequency, ..PiParams::default() }.check();
        assert!(check(1e5).is_ok() && check(1e9).is_err());
    }

    #[test]
    fn leaps_and_steps_agree() {
        // 30000 steps at a target that is missed by one packet: three times as many as are made one by one.
        let params = PiParams { a: 2e-7, b: 1e-7, ..PiParams::default() };
        let mut law = Controller::new(params);
        let (period, mut p, mut before) = (law.period, 0.0f64, 50.0);
        for _ in 0..30_000 {
            p = (p + 2e-7 * (51.0 - 50.0) - 1e-7 * (before - 50.0)).clamp(0.0, 1.0);
            before = 51.0;
        }
        law.catch_up(Time::ZERO + period.saturating_mul(30_000), 51);
        assert!((law.p - p).abs() < 1e-12 && p > 0.0, "{} and {p}", law.p);
    }
}
