//! Packets that several links have forwarded before their arrival, in the order in which they will arrive.

use crosswind_base::{Dur, PacketId, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// One of them. At one instant the links come in the order of their numbers, and each link keeps its own order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub at: Time,
    link: u32,
    id: u32,
    /// Counts the packets, so that no two are equal.
    number: u64,
}

impl Arrival {
    pub fn id(&self) -> PacketId {
        PacketId(self.id)
    }
    #[inline]
    fn key(&self) -> (Time, u32, u64) {
        (self.at, self.link, self.number)
    }
}

/// How many places from the end a packet may belong and still be put there.
const NEAR: usize = 8;

/// Links of equal delay forward their packets almost in order: those stand in a ring. The others, from links much shorter
/// than the rest and late ones on a link that reorders, stand in a heap.
pub(super) struct Batch {
    ring: VecDeque<Arrival>,
    heap: BinaryHeap<Reverse<Key>>,
    pushed: u64,
    /// So much later than it arrives a packet may be processed.
    slack: Dur,
}

/// In the order of arrival.
#[derive(PartialEq, Eq)]
struct Key(Arrival);

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        self.0.key().cmp(&other.0.key())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Batch {
    pub fn new(slack: Dur) -> Batch {
        Batch { ring: VecDeque::new(), heap: BinaryHeap::new(), pushed: 0, slack }
    }

    /// When the first of them has to be processed.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.first_at() + self.slack
    }

    #[inline]
    pub fn push(&mut self, at: Time, link: u32, id: PacketId) {
        let new = Arrival { at, link, id: id.0, number: self.pushed };
        self.pushed += 1;
        if self.ring.back().is_none_or(|last| last.at < at) {
            self.ring.push_back(new);
        } else {
            self.push_between(new);
        }
    }

    fn push_between(&mut self, new: Arrival) {
        let len = self.ring.len();
        let before = self.ring.iter().rev().take(NEAR).position(|a| a.key() < new.key());
        match before {
            Some(behind) => self.ring.insert(len - behind, new),
            None if len <= NEAR => self.ring.push_front(new),
            None if self.ring.back().is_some_and(|last| last.link == new.link) => self.overtake(new),
            None => self.heap.push(Reverse(Key(new))),
        }
    }

    /// On a link that reorders many may overtake the one that is late: it goes to the heap rather than they.
    fn overtake(&mut self, new: Arrival) {
        while let Some(last) = self.ring.back().copied().filter(|last| last.key() > new.key()) {
            self.heap.push(Reverse(Key(last)));
            self.ring.pop_back();
        }
        self.ring.push_back(new);
    }

    /// When the first of them arrives.
    #[inline]
    pub fn first_at(&self) -> Time {
        let first = self.ring.front().map_or(Time::NEVER, |a| a.at);
        if self.heap.is_empty() { first } else { first.min(self.first_of_heap()) }
    }

    #[cold]
    fn first_of_heap(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |k| k.0.0.at)
    }

    /// A packet that will be processed soon: its memory will be wanted then.
    #[inline]
    pub fn nearly_next(&self) -> Option<PacketId> {
        const AHEAD: usize = 2;
        self.ring.get(AHEAD).map(Arrival::id)
    }

    /// Takes the first out, if it arrives by then.
    #[inline]
    pub fn pop_until(&mut self, by: Time) -> Option<Arrival> {
        if !self.heap.is_empty() {
            return self.pop_either(by);
        }
        self.pop_ring(by)
    }

    #[inline]
    fn pop_ring(&mut self, by: Time) -> Option<Arrival> {
        let first = *self.ring.front().filter(|a| a.at <= by)?;
        self.ring.pop_front();
        Some(first)
    }

    fn pop_either(&mut self, by: Time) -> Option<Arrival> {
        let of_heap = self.heap.peek().map(|k| k.0.0.key())?;
        if of_heap.0 <= by && self.ring.front().is_none_or(|a| of_heap < a.key()) {
            return self.heap.pop().map(|k| k.0.0);
        }
        self.pop_ring(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    #[test]
    fn packets_come_out_by_time_then_link_then_order_of_forwarding() {
        let mut rng = Streams::new(3).named("coming");
        let (mut batch, mut model, mut now) = (Batch::new(Dur::ZERO), Vec::new(), 0);
        let mut taken = 0;
        for n in 0..20_000 {
            let link = rng.below(4) as u32;
            // One link is much longer than the others, and on another some are late.
            let late = if link == 1 && rng.chance(0.2) { 1_000 } else { 0 };
            let ahead = if link == 0 { 5_000 } else { 10 + rng.below(12) + late };
            batch.push(Time(now + ahead), link, PacketId(n));
            model.push((now + ahead, link, n));
            if rng.chance(0.3) {
                now += rng.below(20);
                model.sort_unstable();
                assert_eq!(batch.first_at().0, model.first().map_or(u64::MAX, |m| m.0));
                while let Some(a) = batch.pop_until(Time(now)) {
                    let want = model.remove(0);
                    assert_eq!((a.at.0, a.id().0), (want.0, want.2));
                    taken += 1;
                }
                assert!(model.first().is_none_or(|m| m.0 > now));
            }
        }
        assert!(taken > 10_000 && batch.heap.len() > 1, "{taken} taken, {} in the heap", batch.heap.len());
    }
}
