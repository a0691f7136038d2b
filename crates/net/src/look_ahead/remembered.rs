//! Packets that were forwarded before their time, until they have reached the far end.

use crate::egress::flight::InFlight;
use crate::egress::stats::NotYet;
use crosswind_base::Time;
use std::collections::VecDeque;

/// In the order of transmission: how many had been transmitted when somebody looked last, and what the others add to the
/// counters.
#[derive(Default)]
pub(super) struct Remembered {
    ring: VecDeque<InFlight>,
    ended: usize,
    others: NotYet,
}

impl Remembered {
    pub fn is_full(&self) -> bool {
        self.ring.len() == self.ring.capacity()
    }

    pub fn all(&self) -> impl Iterator<Item = &InFlight> {
        self.ring.iter()
    }

    #[inline]
    pub fn add(&mut self, p: InFlight) {
        let (packets, bytes) = p.early();
        self.others.busy_ns += (p.ends - p.starts).0;
        self.others.packets += packets;
        self.others.bytes += bytes;
        self.ring.push_back(p);
    }

    #[inline]
    fn take(&mut self, p: &InFlight) {
        let (packets, bytes) = p.early();
        self.others.busy_ns -= (p.ends - p.starts).0;
        self.others.packets -= packets;
        self.others.bytes -= bytes;
    }

    /// The first packet, if it has reached the far end; it is no longer remembered.
    #[inline]
    pub fn forget(&mut self, reached: Time) -> Option<InFlight> {
        let first = *self.ring.front().filter(|p| p.at <= reached)?;
        self.ring.pop_front();
        match self.ended.checked_sub(1) {
            Some(fewer) => self.ended = fewer,
            None => self.take(&first),
        }
        Some(first)
    }

    /// Somebody looks, now.
    pub fn advance(&mut self, now: Time) {
        while let Some(p) = self.ring.get(self.ended).copied().filter(|p| p.ends <= now) {
            self.take(&p);
            self.ended += 1;
        }
    }

    /// Forgets those that have reached the far end before one that was transmitted earlier; [`Remembered::advance`] has come
    /// this far.
    pub fn forget_overtakers(&mut self, now: Time, mut has_reached: impl FnMut(&InFlight)) {
        let before = self.ring.len();
        self.ring.retain(|p| {
            let is_there = p.at <= now;
            if is_there {
                has_reached(p);
            }
            !is_there
        });
        // Whoever has arrived has been transmitted.
        self.ended -= before - self.ring.len();
    }

    /// What the counters say too much at `now`, up to which somebody has looked: the first of the others alone may be under
    /// transmission.
    pub fn not_yet(&self, now: Time) -> NotYet {
        let mut n = self.others;
        if let Some(p) = self.ring.get(self.ended).filter(|p| p.starts <= now) {
            let (packets, bytes) = p.early();
            n.busy_ns -= (now - p.starts).0;
            n.packets -= packets;
            n.bytes -= bytes;
        }
        n
    }
}
