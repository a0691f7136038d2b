//! # PERT-REM, the price of REM at the sender
//!
//! **Source**: bhandarkar-2006 IV.C.8 (equations 4.1, 4.2 and open point O9).
//!
//! **Idea**: a price grows with the queue above its target and with the growth of the queue:
//! `price += gamma (alpha (q - target) + dq)`, never below zero; a response has the probability `1 - phi^-price`. A sender does
//! not see a queue that stays empty, so a price that does not change decays, `price *= 0.999^ctr`. The target is twice the
//! resolution of the round-trip times: the most frequent of their positive changes.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `early.rem.gamma` | 1/ms | 0.02 | bhandarkar-2006 IV.C.8; its unit is that of O9 |
//! | `early.rem.alpha` | - | 0.8 | bhandarkar-2006 IV.C.8 |
//! | `early.rem.phi` | - | 1.001 | bhandarkar-2006 IV.C.8 |
//! | `early.rem.decay` | - | 0.999 | bhandarkar-2006 IV.C.8 |
//! | `early.rem.unchanged` | - | `equal` | see below |
//!
//! When is a price unchanged? `equal`: when the new number is the old one, which an exact clock never gives. `within-resolution`: when
//! the round-trip time has changed by less than the resolution and the queue is below its target: there the mismatch is no more
//! than a sender can see, and the decay stands for the negative mismatch that a router would have.
//!
//! **Deviations**: 1. `q`, `dq` and the target are milliseconds, the price is a number, and it is updated with every sample: 1 ms above
//! the target adds 0.016 a sample, a price of 10 is 1 %. The source gives no unit (O9); since all three are linear in it, another
//! one is another `gamma`: 20 per second, or 0.02 c/1000 for queues in packets at c packets per second. `ctr` starts over when the
//! price changes otherwise: the source does not say. 2. `dq` is the change of the smoothed queueing delay. 3. The mode of
//! the changes is found among 64 classes of equal ratio, from 1 us to 1 s. What is less is no step but the rounding of times to whole
//! nanoseconds: at 150 Mbit/s a packet takes 55 466.67 ns, and where the queue is mostly empty changes of 1 ns are the most frequent.
//! Above 8 Gbit/s a packet of 1040 bytes takes less, and is no step either.
//!
//! **Checked by**: `signal/early_oracle.rs`.

use super::curve::{Curve, Queueing};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a price counts as one that has not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unchanged {
    /// The new number is the old one.
    Equal,
    /// The round-trip time changed by less than its resolution, and the queue is below its target.
    WithinResolution,
}

/// Parameters of PERT-REM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RemParams {
    /// How fast the price follows, per millisecond of queueing delay.
    pub gamma: f64,
    /// Weight of the queue beside its growth.
    pub alpha: f64,
    /// Base of the probability.
    pub phi: f64,
    /// Base of the decay of a price that does not change.
    pub decay: f64,
    /// When a price has not changed.
    pub unchanged: Unchanged,
}

impl Default for RemParams {
    fn default() -> Self {
        RemParams { gamma: 0.02, alpha: 0.8, phi: 1.001, decay: 0.999, unchanged: Unchanged::Equal }
    }
}

impl RemParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, v: f64, expected: &str| Err(ConfigError::new(key, v.to_string(), expected));
        match self {
            p if !(p.gamma > 0.0 && p.gamma.is_finite()) => wrong("gamma", p.gamma, "above 0"),
            p if !(p.alpha > 0.0 && p.alpha.is_finite()) => wrong("alpha", p.alpha, "above 0"),
            p if !(p.phi > 1.0 && p.phi.is_finite()) => wrong("phi", p.phi, "above 1"),
            p if !(p.decay > 0.0 && p.decay <= 1.0) => wrong("decay", p.decay, "above 0, at most 1"),
            _ => Ok(()),
        }
    }
}

const CLASSES: usize = 64;
/// The least change that is a step, in milliseconds: far above what rounding makes, and what 1040 bytes take at 8 Gbit/s.
const LEAST_STEP: f64 = 1e-3;
/// Six decades, from the least.
const CLASSES_PER_DECADE: f64 = CLASSES as f64 / 6.0;

/// The price and what it is made from. Delays in milliseconds.
#[derive(Clone, Debug)]
pub struct Rem {
    params: RemParams,
    pub price: f64,
    counter: i32,
    last_q: f64,
    changes: [u32; CLASSES],
    /// Sum of the changes in each class, for its mean.
    sums: [f64; CLASSES],
    mode: usize,
}

impl Rem {
    pub fn new(params: RemParams) -> Rem {
        let (changes, sums) = ([0; CLASSES], [0.0; CLASSES]);
        Rem { params, price: 0.0, counter: 0, last_q: 0.0, changes, sums, mode: 0 }
    }

    fn note_change(&mut self, ms: f64) {
        if ms < LEAST_STEP {
            return;
        }
        let class = ((ms / LEAST_STEP).log10() * CLASSES_PER_DECADE).min((CLASSES - 1) as f64) as usize;
        self.changes[class] = self.changes[class].saturating_add(1);
        self.sums[class] += ms;
        if self.changes[class] > self.changes[self.mode] {
            self.mode = class;
        }
    }

    /// The most frequent positive change.
    fn resolution(&self) -> f64 {
        let n = self.changes[self.mode];
        if n == 0 { 0.0 } else { self.sums[self.mode] / f64::from(n) }
    }

    fn target(&self) -> f64 {
        2.0 * self.resolution()
    }

    /// Nothing that a sender could see has happened.
    fn sees_nothing(&self, q_ms: f64, change_ms: f64) -> bool {
        let is_small = change_ms == 0.0 || change_ms.abs() < self.resolution();
        self.params.unchanged == Unchanged::WithinResolution && is_small && q_ms <= self.target()
    }
}

impl Curve for Rem {
    fn probability(&mut self, q: Queueing) -> f64 {
        let (p, now) = (&self.params, q.delay_s * 1e3);
        let change = self.params.gamma * (p.alpha * (now - self.target()) + (now - self.last_q));
        self.last_q = now;
        self.note_change(q.change_s * 1e3);
        let seen = if self.sees_nothing(now, q.change_s * 1e3) { 0.0 } else { change };
        let next = (self.price + seen).max(0.0);
        if next == self.price && self.price > 0.0 {
            self.counter += 1;
            self.price *= self.params.decay.powi(self.counter);
        } else {
            (self.counter, self.price) = (0, next);
        }
        1.0 - self.params.phi.powf(-self.price)
    }
}
