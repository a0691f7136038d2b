//! # BLUE
//!
//! **Source**: feng-2002 section III (the algorithm, its constants).
//!
//! **Idea**: one probability that learns from what the link needs, not from the length of the queue. It grows by `increment` when the
//! queue overflows (or is longer than `level`) and falls by `decrement` while the link has nothing to send, neither more often than
//! once per `freeze_time`. Arriving packets are marked or dropped with it.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | ours |
//! | `increment` | - | 0.02 | feng-2002 (0.0025 to 0.02 there) |
//! | `decrement` | - | 0.002 | feng-2002: a tenth of the increment |
//! | `freeze_time` | time | 100 ms | feng-2002 (10 ms to 100 ms there); about the round trip of the flows |
//! | `level` | bytes or packets | none | feng-2002: a queue longer than this counts as an overflow, too |
//! | `ecn` | - | mark | feng-2002 section III |
//!
//! **Deviations**: 1. The paper speaks of an event "link idle" without saying when it comes again: here the first one is when the last
//! packet leaves the queue, and another one each `freeze_time` for as long as the queue stays empty. 2. A packet that BLUE itself drops
//! is no overflow.
//!
//! **Checked by**: oracle `blue` on random traces; steps worked out by hand in `crates/testkit/tests/blue.rs`; conformance suite.

use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use super::{Backlog, Head};
use crate::params::{self, Params};
use crate::switch::Switch;
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Rng, Setting, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of BLUE.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlueParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// What the probability gains when the queue overflows.
    pub increment: f64,
    /// What it loses while the link is idle.
    pub decrement: f64,
    /// The least time between two changes of the probability.
    pub freeze_time: Dur,
    /// A queue longer than this counts as an overflow, or "none".
    pub level: Switch<Limit>,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
}

impl Default for BlueParams {
    fn default() -> Self {
        BlueParams {
            limit: Limit::Packets(1000),
            increment: 0.02,
            decrement: 0.002,
            freeze_time: Dur::from_millis(100),
            level: Switch::Off,
            ecn: EcnMode::Mark,
        }
    }
}

impl Params for BlueParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_range("increment", self.increment, 0.0..=1.0)?;
        params::check_range("decrement", self.decrement, 0.0..=1.0)?;
        if let Switch::On(level) = self.level {
            params::check_limit("level", level)?;
        }
        if !(Dur::from_micros(1)..=Dur::from_secs(1000)).contains(&self.freeze_time) {
            return Err(ConfigError::new("freeze_time", units::show_dur(self.freeze_time), "from 1 us to 1000 s"));
        }
        Ok(())
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Blue {
    params: BlueParams,
    p: f64,
    /// When the probability was changed last.
    changed: Option<Time>,
    /// Since when there is nothing to send.
    idle_since: Option<Time>,
}

impl Blue {
    pub fn new(params: BlueParams) -> Blue {
        Blue { params, p: 0.0, changed: None, idle_since: None }
    }

    /// The present probability.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// The first moment at which it may change again.
    fn free_from(&self) -> Time {
        self.changed.map_or(Time::ZERO, |t| t + self.params.freeze_time)
    }

    fn on_overflow(&mut self, now: Time) {
        if self.changed.is_none() || now > self.free_from() {
            self.p = (self.p + self.params.increment).min(1.0);
            self.changed = Some(now);
        }
    }

    /// Takes off what the idle time until now is worth.
    fn on_busy(&mut self, now: Time) {
        let Some(since) = self.idle_since.take() else { return };
        let first = since.max(self.free_from());
        if first > now {
            return;
        }
        let more = (now - first).0 / self.params.freeze_time.0;
        self.p = (self.p - self.params.decrement * (more + 1) as f64).max(0.0);
        self.changed = Some(first + self.params.freeze_time.saturating_mul(more));
    }

    fn is_above_level(&self, a: &Arrival) -> bool {
        match self.params.level {
            Switch::Off => false,
            Switch::On(Limit::Bytes(n)) => a.backlog.bytes > n,
            Switch::On(Limit::Packets(n)) => u64::from(a.backlog.packets) > n,
        }
    }
}

impl Aqm for Blue {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.on_busy(a.now);
        if self.is_above_level(a) {
            self.on_overflow(a.now);
        }
        let is_selected = q.draws.chance(self.p);
        // What does not fit is dropped for that.
        if is_selected && q.fits(a) { Verdict::Signal(DropReason::EarlyDrop) } else { Verdict::Pass }
    }
    fn on_refused(&mut self, a: &Arrival, why: DropReason) {
        if why == DropReason::QueueFull {
            self.on_overflow(a.now);
        } else if a.backlog.packets == 0 {
            self.idle_since = Some(a.now);
        }
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        let head = q.pop()?;
        if q.backlog().packets == 0 {
            self.idle_since = Some(q.now());
        }
        Some(head)
    }
    fn on_removed(&mut self, left: Backlog, now: Time) {
        if left.packets == 0 {
            self.idle_since = Some(now);
        }
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.params = new.get();
        Ok(Setup::fits(self.params.limit, self.params.ecn))
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("aqm_p_ratio", self.p);
    }
}

/// A queue with BLUE.
pub fn queue(p: BlueParams, rng: Rng) -> AqmQueue<Blue> {
    let setup = Setup::fits(p.limit, p.ecn);
    AqmQueue::around(Blue::new(p), setup, rng)
}
