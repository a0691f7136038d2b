//! # Drop-tail queue
//!
//! **Source**: jarvinen-2006 Tables 6 and 11 (queue sizes); linux-sch-fifo (`bfifo`, `pfifo`); ns-2.35 (DropTail).
//!
//! **Idea**: first in, first out; an arriving packet is dropped iff it does not fit:
//! `backlog + length <= limit` (fits), `backlog < limit` (overshoot) or `backlog <= limit` (linux-2.4).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | Linux `txqueuelen` |
//! | `overhead` | bytes | 0 B | what Linux counts for the link-layer header of each packet that waits: 14 B on an Ethernet |
//! | `shrink` | - | tail | ns-2 (`shrink_queue`): who is dropped at once when the limit becomes smaller during a run: the tail, the head, or none until the queue has drained |
//! | `admission` | - | fits | Linux `bfifo` since the later releases of 2.4; `overshoot` is what routers do that test before adding; `linux-2.4` is 2.4.0 and riva-2003's kernel, whose test lets a queue at its limit take one more |
//!
//! **Deviations**: 1. The packet on the line belongs to the link and is not counted. (ns-2 and Linux do the same; a
//! model that counts it holds one packet less.)
//!
//! **Checked by**: conformance suite; oracle `droptail` on random traces, with limits that change.

use super::aqm::{Aqm, AqmQueue, EcnMode, Excess, Lent, Setup, Victim};
use super::store::{Admission, check_overhead, no_bytes};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, Dur, Limit, Past, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who goes when the limit becomes smaller while packets wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shrink {
    /// The packets that came last, at once.
    #[default]
    Tail,
    /// The packets that came first, at once.
    Head,
    /// None: the queue is longer than its limit until it has drained.
    None,
}

/// Parameters of the drop-tail queue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropTailParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Whether the limit is tested with the arriving packet (fits) or without it (overshoot, linux-2.4).
    pub admission: Admission,
    /// Link-layer bytes that count towards a limit in bytes, for every packet.
    #[serde(skip_serializing_if = "no_bytes")]
    pub overhead: Size,
    /// Who is dropped when the limit becomes smaller during a run.
    pub shrink: Shrink,
}

impl Default for DropTailParams {
    fn default() -> Self {
        DropTailParams {
            limit: Limit::Packets(1000),
            admission: Admission::Fits,
            overhead: Size(0),
            shrink: Shrink::Tail,
        }
    }
}

impl Params for DropTailParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_overhead(self.overhead)
    }
}

impl DropTailParams {
    fn setup(&self) -> Setup {
        let setup = Setup::fits(self.limit, EcnMode::Drop);
        Setup { admission: self.admission, overhead: self.overhead, ..setup }
    }
}

/// A queue without a law: what fits is let in.
pub struct NoLaw {
    params: DropTailParams,
}

/// The drop-tail discipline.
pub type DropTail = AqmQueue<NoLaw>;

impl DropTail {
    pub fn new(params: DropTailParams) -> DropTail {
        let setup = params.setup();
        AqmQueue::around(NoLaw { params }, setup, ())
    }
}

impl Aqm for NoLaw {
    type Draws = ();

    fn victim(&mut self, why: Excess, _q: &mut Lent<'_, '_, ()>) -> Victim {
        match (why, self.params.shrink) {
            (Excess::Arrival, _) | (_, Shrink::Tail) => Victim::Newest,
            (_, Shrink::Head) => Victim::Oldest,
            (_, Shrink::None) => Victim::Nobody,
        }
    }
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, ()>) -> Result<Setup, ConfigError> {
        self.params = new.get();
        Ok(self.params.setup())
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn past(&self, _now: Time) -> Option<Past> {
        Some(Past::nothing())
    }
    fn resume(&mut self, _past: Past, _gap: Dur) {}
    fn may_pass(&mut self) -> bool {
        true
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn admits_what_fits(&self) -> bool {
        true
    }
}
