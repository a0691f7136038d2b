//! # Early discard by delay limits (MTQ and QTL)
//!
//! **Source**: igarashi sections 2.1 to 2.3 (MTQ: maximum transmission queue delay; QTL: queue delay to live).
//!
//! **Idea**: a FIFO. When a packet arrives, its wait will be `d = queued bits / rate`. If the queue is full it is dropped;
//! unless its limit for one queue is larger (`d >= mtq`), or if nothing is left of its budget afterwards (`d >= qtl`), it is
//! dropped under that cause; else its budget shrinks by d. Both are options of the packet, in whole nanoseconds, written at
//! the edge of the domain by a contract (`mtq`, `qtl`). Packets without them see a drop-tail queue.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 200 packets | igarashi section 3.5 |
//! | `rate` | bit/s | the link's | - |
//! | `at_limit` | - | drop | igarashi section 3.4: queued if the limit is larger than the wait, discarded if the budget left is not positive. `admit`: a wait as long as the limit is in time |
//!
//! **Deviations**: 1. The packet on the line is not counted in d, as in ns-2. Results of the source are compared on the sum of
//! the waits computed here; true waits are up to one packet time a node longer.
//!
//! **Checked by**: oracle `early_discard` on random traces; conformance suite; claims of igarashi chapter 7.

use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, DropReason, Dur, Limit, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What becomes of a packet whose wait is exactly as long as it may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AtLimit {
    /// It is dropped.
    #[default]
    Drop,
    /// It is let in.
    Admit,
}

/// Parameters of early discard.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EarlyDiscardParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Rate by which the expected wait is computed; that of the link when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// What becomes of a packet whose wait equals its limit, or what is left of its budget.
    pub at_limit: AtLimit,
}

impl Default for EarlyDiscardParams {
    fn default() -> Self {
        EarlyDiscardParams { limit: Limit::Packets(200), rate: None, at_limit: AtLimit::Drop }
    }
}

impl Params for EarlyDiscardParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        self.rate.map_or(Ok(()), |r| params::check_rate("rate", r))
    }
}

/// The law: what a packet may wait against what it will.
pub struct DelayLimits {
    limit: Limit,
    rate: BitRate,
    at_limit: AtLimit,
    /// Where it is a whole number, which spares a long division for every packet.
    ns_per_byte: Option<u64>,
}

/// The discipline.
pub type EarlyDiscard = AqmQueue<DelayLimits>;

impl EarlyDiscard {
    /// `rate` is what the expected wait is computed by.
    pub fn new(limit: Limit, rate: BitRate, at_limit: AtLimit) -> EarlyDiscard {
        AqmQueue::around(DelayLimits::new(limit, rate, at_limit), Setup::fits(limit, EcnMode::Drop), ())
    }
}

impl DelayLimits {
    fn new(limit: Limit, rate: BitRate, at_limit: AtLimit) -> DelayLimits {
        let ns_per_byte = (8_000_000_000 % rate.0 == 0).then(|| 8_000_000_000 / rate.0);
        DelayLimits { limit, rate, at_limit, ns_per_byte }
    }

    #[inline]
    fn is_late(&self, wait: Dur, limit: Dur) -> bool {
        if self.at_limit == AtLimit::Drop { wait >= limit } else { wait > limit }
    }

    fn expected_wait(&self, bytes: u64) -> Dur {
        self.ns_per_byte.map_or_else(|| self.rate.tx_time(bytes), |ns| Dur(bytes * ns))
    }
}

impl Aqm for DelayLimits {
    type Draws = ();

    /// Tests the packet's options against the expected wait, and charges it.
    #[inline]
    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, ()>) -> Verdict {
        if !q.fits(a) {
            return Verdict::Pass;
        }
        let Some(options) = q.options() else { return Verdict::Pass };
        let (d, wait) = (self.expected_wait(a.backlog.bytes), &mut options.wait);
        if wait.longest.is_some_and(|mtq| self.is_late(d, mtq)) {
            return Verdict::Drop(DropReason::LocalDelay);
        }
        if let Some(qtl) = &mut wait.left {
            if self.is_late(d, *qtl) {
                return Verdict::Drop(DropReason::DelayBudget);
            }
            *qtl = Dur(qtl.0 - d.0);
        }
        wait.so_far = wait.so_far + d;
        Verdict::Pass
    }
    /// With nothing queued the expected wait is zero, which no limit forbids (they are positive, and what is left of a budget
    /// is with `drop`) and no budget is charged for.
    fn may_pass(&mut self) -> bool {
        true
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        let old = EarlyDiscardParams { limit: self.limit, rate: Some(self.rate), at_limit: self.at_limit };
        params::setting(&old, set)
    }
    /// Those that wait have been tested and charged; what does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, ()>) -> Result<Setup, ConfigError> {
        let new: EarlyDiscardParams = new.get();
        *self = DelayLimits::new(new.limit, new.rate.unwrap_or(self.rate), new.at_limit);
        Ok(Setup::fits(self.limit, EcnMode::Drop))
    }
}
