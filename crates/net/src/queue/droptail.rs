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

use super::store::{Admission, Fifo, check_overhead, no_bytes};
use super::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, Cx, DropReason, Limit, PacketId, Size};
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

/// The drop-tail discipline.
pub struct DropTail {
    params: DropTailParams,
    store: Fifo,
}

impl DropTail {
    pub fn new(params: DropTailParams) -> DropTail {
        DropTail { params, store: Fifo::new() }
    }

    /// What waits, as the limit counts it.
    #[inline]
    fn held(&self) -> Backlog {
        self.store.backlog().with_overhead(self.params.overhead)
    }

    #[inline]
    fn admits(&self, held: Backlog, len: u32) -> bool {
        self.params.admission.admits(held, len + self.params.overhead.0 as u32, self.params.limit)
    }

    fn is_over_limit(&self) -> bool {
        let held = self.held();
        match self.params.limit {
            Limit::Bytes(n) => held.bytes > n,
            Limit::Packets(n) => u64::from(held.packets) > n,
        }
    }
}

impl QueueDisc for DropTail {
    #[inline]
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let len = cx.packet(id).len as u32;
        if self.admits(self.held(), len) {
            self.store.push(id, len, cx.now);
        } else {
            cx.drop(id, DropReason::QueueFull);
        }
    }
    #[inline]
    fn may_pass(&mut self, len: u32) -> bool {
        self.admits(Backlog::default(), len)
    }
    #[inline]
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn always_admits(&self, below: Backlog) -> bool {
        match self.params.limit {
            Limit::Bytes(n) => below.with_overhead(self.params.overhead).bytes <= n,
            Limit::Packets(n) => u64::from(below.packets) <= n,
        }
    }
    #[inline]
    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Head> {
        self.store.pop()
    }
    #[inline]
    fn peek(&self) -> Option<Head> {
        self.store.front()
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
    fn removal(&self) -> Removal {
        Removal::Possible
    }
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        self.store.remove(goes, why, cx)
    }
    fn change(&mut self, set: &Map<String, Value>, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.params = params::merged(&self.params, set)?;
        while self.params.shrink != Shrink::None && self.is_over_limit() {
            let gone = if self.params.shrink == Shrink::Tail { self.store.pop_back() } else { self.store.pop() };
            let Some(gone) = gone else { break };
            cx.drop(gone.id, DropReason::QueueFull);
        }
        Ok(())
    }
}
