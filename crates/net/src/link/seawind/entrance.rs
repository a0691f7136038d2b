//! The way into a Seawind link: packets in transit from the router, and the send buffer that they enter when they fit.

use crosswind_base::{Limit, Time};
use std::collections::VecDeque;

/// What one frame holds of the send buffer, and until when.
#[derive(Clone, Copy, Debug)]
struct Held {
    bytes: u64,
    /// 1 for the last frame of a packet, else 0.
    packets: u64,
    enters: Time,
    leaves: Time,
}

/// A packet's place in the send buffer.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub bytes: u64,
    pub packets: u64,
    pub leaves: Time,
}

/// Send buffer and what waits before it. All its times are known when a packet is handed over.
#[derive(Debug)]
pub struct Entrance {
    limit: Limit,
    in_transit_max: usize,
    /// Frames that have not left the send buffer, by the time at which they leave; those of packets still in transit
    /// (they enter later) included.
    held: VecDeque<Held>,
    /// The first of `held` that will not have left when the last packet handed over enters, and the sums from there.
    staying: usize,
    staying_bytes: u64,
    staying_packets: u64,
    /// Times at which packets in transit enter the send buffer.
    transit: VecDeque<Time>,
    last_enters: Time,
}

impl Entrance {
    pub fn new(limit: Limit, in_transit: u32) -> Entrance {
        Entrance {
            limit,
            in_transit_max: in_transit as usize,
            held: VecDeque::new(),
            staying: 0,
            staying_bytes: 0,
            staying_packets: 0,
            transit: VecDeque::new(),
            last_enters: Time::ZERO,
        }
    }

    /// Another size from now on; what has its place keeps it.
    pub fn resized(self, limit: Limit, in_transit: u32) -> Entrance {
        Entrance { limit, in_transit_max: in_transit as usize, ..self }
    }

    /// Takes a packet of `len` bytes now; returns when it enters the send buffer.
    #[inline]
    pub fn enter(&mut self, len: u64, now: Time) -> Time {
        self.tidy(now);
        let enters = self.room_at(len, now.max(self.last_enters));
        self.last_enters = enters;
        if enters > now {
            self.transit.push_back(enters);
        }
        enters
    }

    /// The packet that entered last, or a frame of it, holds its place until it leaves.
    #[inline]
    pub fn hold(&mut self, place: Place) {
        let Place { bytes, packets, leaves } = place;
        let held = Held { bytes, packets, enters: self.last_enters, leaves };
        self.staying_bytes += bytes;
        self.staying_packets += packets;
        if self.held.back().is_none_or(|last| last.leaves <= leaves) {
            self.held.push_back(held);
        } else {
            let at = self.held.iter().rposition(|h| h.leaves <= leaves).map_or(0, |i| i + 1);
            self.held.insert(at, held);
        }
    }

    /// From when on the router may hand over the next packet.
    #[inline]
    pub fn free_at(&self, now: Time) -> Time {
        // After a change there may be more in transit than there is room for.
        let over = self.transit.len().checked_sub(self.in_transit_max);
        over.map_or(now, |n| self.transit[n])
    }

    fn fits(&self, len: u64) -> bool {
        match self.limit {
            Limit::Bytes(n) => self.staying_bytes + len <= n,
            Limit::Packets(n) => self.staying_packets < n,
        }
    }

    /// The first time, not before `from`, at which `len` bytes fit beside the predecessors that are still there.
    fn room_at(&mut self, len: u64, from: Time) -> Time {
        let mut at = from;
        while let Some(first) = self.held.get(self.staying) {
            if first.leaves > at {
                if self.fits(len) {
                    break;
                }
                at = first.leaves;
            }
            self.staying_bytes -= first.bytes;
            self.staying_packets -= first.packets;
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

    pub fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let inside = self.held.iter().filter(|h| h.enters <= now && now < h.leaves);
        out("send_buffer_bytes", inside.map(|h| h.bytes as f64).sum());
        out("in_transit_packets", self.transit.iter().filter(|t| **t > now).count() as f64);
    }
}
