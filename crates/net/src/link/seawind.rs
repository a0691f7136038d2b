//! # Seawind link, error-free
//!
//! **Source**: jarvinen-2006 Tables 1 and 14-17, appendix B.2 (its use of the Seawind emulator).
//!
//! **Idea**: below the router's queue a packet passes three places in order: up to `in_transit` packets between router
//! and emulator (when they are full, the router may not dequeue), the send buffer of `send_buffer` bytes (a packet
//! enters only when it fits wholly and leaves when its transmission ends), and the line: `8 L / rate`, then `delay`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 64 kbit/s | jarvinen-2006 Table 1 |
//! | `delay` | time | 300 ms | jarvinen-2006 Table 1 |
//! | `send_buffer` | bytes | 12000 B | jarvinen-2006 Table 1 |
//! | `receive_buffer` | bytes | 12000 B | jarvinen-2006 Table 1; resequencing only, never limits an error-free link |
//! | `in_transit` | packets | 3 | jarvinen-2006: what sat between router and emulator |
//! | `mtu` | bytes | 576 B | jarvinen-2006 Table 6; `send_buffer` must hold one |
//!
//! **Deviations**: 1. A packet larger than `send_buffer` (hence larger than `mtu`) enters when the buffer is empty,
//! instead of blocking the link for ever. 2. Moving between router and emulator takes no time. (It took well below
//! 1 ms on the thesis's LAN.) 3. Rate changes, channel allocation, random delays and link overhead are absent, as
//! they were switched off in the source.
//!
//! **Checked by**: conformance suite; oracle `seawind`, an event-by-event simulation, on random traces.

use super::{Fate, Link, TxPlan};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Serializer, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Parameters of the error-free Seawind link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeawindParams {
    /// Bits per second on the line.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Dur,
    /// Bytes waiting for transmission or being transmitted, below the router's queue.
    pub send_buffer: Size,
    /// Bytes that the far end may hold while it waits for a missing packet; without errors nothing is ever missing.
    pub receive_buffer: Size,
    /// Packets that may sit between the router and the send buffer before the router is stopped.
    pub in_transit: u32,
    /// The largest packet that is expected; the send buffer must hold one.
    pub mtu: Size,
}

impl Default for SeawindParams {
    fn default() -> Self {
        SeawindParams {
            rate: BitRate(64_000),
            delay: Dur::from_millis(300),
            send_buffer: Size(12_000),
            receive_buffer: Size(12_000),
            in_transit: 3,
            mtu: Size(576),
        }
    }
}

impl Params for SeawindParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)?;
        params::check_packet_size("mtu", self.mtu)?;
        for (key, size) in [("send_buffer", self.send_buffer), ("receive_buffer", self.receive_buffer)] {
            params::check_limit(key, crosswind_base::Limit::Bytes(size.0))?;
            if size < self.mtu {
                return Err(ConfigError::new(
                    key,
                    units::show_size(size),
                    format!("at least one mtu ({} B)", self.mtu.0),
                )
                .hint("a packet enters the buffer only when it fits wholly; lower `mtu` if packets are smaller"));
            }
        }
        if !(1..=1_000_000).contains(&self.in_transit) {
            return Err(ConfigError::new("in_transit", self.in_transit.to_string(), "1 to 1000000 packets")
                .hint("the router's head must be in transit before the link can ask whether it fits"));
        }
        Ok(())
    }
}

/// What one packet holds of the send buffer, and until when.
#[derive(Clone, Copy)]
struct Held {
    bytes: u64,
    enters: Time,
    leaves: Time,
}

/// The error-free Seawind link. All its times are known when a packet is handed over.
pub struct Seawind {
    params: SeawindParams,
    serializer: Serializer,
    /// Packets whose bytes have not left the send buffer, those still in transit included (they enter later).
    held: VecDeque<Held>,
    /// The first of `held` that will not have left when the last packet handed over enters, and the bytes from there.
    staying: usize,
    staying_bytes: u64,
    /// Times at which packets in transit enter the send buffer.
    transit: VecDeque<Time>,
    last_enters: Time,
    line_free: Time,
}

impl Seawind {
    pub fn new(params: SeawindParams) -> Seawind {
        Seawind {
            serializer: Serializer::new(params.rate),
            params,
            held: VecDeque::new(),
            staying: 0,
            staying_bytes: 0,
            transit: VecDeque::new(),
            last_enters: Time::ZERO,
            line_free: Time::ZERO,
        }
    }

    /// The first time, not before `from`, at which `len` bytes fit beside the predecessors that are still there.
    fn room_at(&mut self, len: u64, from: Time) -> Time {
        let mut at = from;
        while let Some(first) = self.held.get(self.staying) {
            if first.leaves > at {
                if self.staying_bytes + len <= self.params.send_buffer.0 {
                    break;
                }
                at = first.leaves;
            }
            self.staying_bytes -= first.bytes;
            self.staying += 1;
        }
        at
    }

    /// Forgets what has left by now.
    fn tidy(&mut self, now: Time) {
        while self.staying > 0 && self.held[0].leaves <= now {
            self.held.pop_front();
            self.staying -= 1;
        }
        while self.transit.front().is_some_and(|t| *t <= now) {
            self.transit.pop_front();
        }
    }
}

impl Link for Seawind {
    #[inline]
    fn is_in_order(&self) -> bool {
        true
    }
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        self.tidy(now);
        debug_assert!(self.transit.len() < self.params.in_transit as usize, "no room in transit");
        let len = p.len as u64;
        let enters = self.room_at(len, now.max(self.last_enters));
        if enters > self.line_free {
            self.serializer.restart();
        }
        let tx_start = enters.max(self.line_free);
        let tx_end = tx_start + self.serializer.take(p.len as u32);
        self.held.push_back(Held { bytes: len, enters, leaves: tx_end });
        self.staying_bytes += len;
        self.last_enters = enters;
        self.line_free = tx_end;
        if enters > now {
            self.transit.push_back(enters);
        }
        let is_full = self.transit.len() >= self.params.in_transit as usize;
        let free_at = if is_full { self.transit[0] } else { now };
        TxPlan { free_at, fate: Fate::Deliver(tx_end + self.params.delay), attempts: 1, tx_start, tx_end }
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let inside = self.held.iter().filter(|h| h.enters <= now && now < h.leaves);
        out("send_buffer_bytes", inside.map(|h| h.bytes as f64).sum());
        out("in_transit_packets", self.transit.iter().filter(|t| **t > now).count() as f64);
    }
}
