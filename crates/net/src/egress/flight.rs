//! Packets between the queue and the far end of the link, in the order in which they arrive.

use crosswind_base::{DropReason, PacketId, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// A packet between the queue and the far end of the link.
#[derive(Clone, Copy)]
pub(crate) struct InFlight {
    pub at: Time,
    /// When its transmission begins and ends.
    pub starts: Time,
    pub ends: Time,
    pub id: PacketId,
    pub len: u16,
    pub lost: Option<DropReason>,
    /// It is among the arrived and sent packets since it was forwarded, before its arrival.
    pub counted_early: bool,
}

impl InFlight {
    /// What it adds to the counters of packets and bytes before its time.
    #[inline]
    pub fn early(&self) -> (u64, u64) {
        if self.counted_early { (1, u64::from(self.len)) } else { (0, 0) }
    }
}

/// In the order of arrival, and at one instant in that of transmission.
struct ByArrival(InFlight);

impl ByArrival {
    fn key(&self) -> (Time, Time, Time) {
        (self.0.at, self.0.ends, self.0.starts)
    }
}

impl PartialEq for ByArrival {
    fn eq(&self, other: &ByArrival) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByArrival {}

impl Ord for ByArrival {
    fn cmp(&self, other: &ByArrival) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for ByArrival {
    fn partial_cmp(&self, other: &ByArrival) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Packets mostly arrive in the order of transmission: those stand in a ring. Whoever is overtaken leaves it for a heap, at
/// most once, so that a link on which thousands overtake hundreds costs a few steps a packet as well.
#[derive(Default)]
pub(crate) struct Flight {
    ring: VecDeque<InFlight>,
    /// What is here was transmitted before whatever arrives at the same instant from the ring.
    overtaken: BinaryHeap<Reverse<ByArrival>>,
}

impl Flight {
    pub fn len(&self) -> usize {
        self.ring.len() + self.overtaken.len()
    }

    /// Behind everything that arrives no later.
    #[inline(always)]
    pub fn push(&mut self, packet: InFlight) {
        if self.ring.back().is_some_and(|last| last.at > packet.at) {
            self.let_overtake(packet.at);
        }
        self.ring.push_back(packet);
    }

    /// The rare case of a link that reorders.
    #[cold]
    fn let_overtake(&mut self, at: Time) {
        while let Some(last) = self.ring.back().filter(|last| last.at > at) {
            self.overtaken.push(Reverse(ByArrival(*last)));
            self.ring.pop_back();
        }
    }

    #[inline]
    pub fn first(&self) -> Option<&InFlight> {
        let first = self.ring.front();
        if self.overtaken.is_empty() { first } else { self.first_of_both(first) }
    }

    #[cold]
    fn first_of_both<'a>(&'a self, first: Option<&'a InFlight>) -> Option<&'a InFlight> {
        let late = self.overtaken.peek().map(|r| &r.0.0);
        late.filter(|l| first.is_none_or(|f| l.at <= f.at)).or(first)
    }

    /// When the first arrives.
    #[inline]
    pub fn first_at(&self) -> Time {
        self.first().map_or(Time::NEVER, |p| p.at)
    }

    /// Takes the first out, if it arrives by then.
    #[inline]
    pub fn pop_until(&mut self, by: Time) -> Option<InFlight> {
        if self.overtaken.is_empty() { self.pop_ring(by) } else { self.pop_either(by) }
    }

    #[inline]
    fn pop_ring(&mut self, by: Time) -> Option<InFlight> {
        let first = *self.ring.front().filter(|first| first.at <= by)?;
        self.ring.pop_front();
        Some(first)
    }

    #[cold]
    fn pop_either(&mut self, by: Time) -> Option<InFlight> {
        let next_at = self.ring.front().map_or(Time::NEVER, |p| p.at).min(by);
        if self.overtaken.peek().is_some_and(|late| late.0.0.at <= next_at) {
            return self.overtaken.pop().map(|late| late.0.0);
        }
        self.pop_ring(by)
    }

    /// Those that nobody has overtaken, in the order of transmission.
    pub fn in_order(&self) -> impl DoubleEndedIterator<Item = &InFlight> {
        self.ring.iter()
    }

    pub fn overtaken(&self) -> impl Iterator<Item = &InFlight> {
        self.overtaken.iter().map(|r| &r.0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    #[test]
    fn packets_arrive_by_time_and_then_in_the_order_of_transmission() {
        let mut rng = Streams::new(5).named("flight");
        let (mut flight, mut model) = (Flight::default(), Vec::new());
        let (mut taken, mut most) = (0, 0);
        for n in 0..20_000u32 {
            let now = u64::from(n) * 3;
            let late = if rng.chance(0.1) { 500 + rng.below(900) } else { 0 };
            let at = Time(now + 100 + late);
            let (starts, ends) = (Time(now), Time(now + 3));
            flight.push(InFlight { at, starts, ends, id: PacketId(n), len: 1, lost: None, counted_early: false });
            model.push((at, n));
            most = most.max(flight.overtaken.len());
            if rng.chance(0.2) {
                model.sort_unstable();
                assert_eq!(flight.first_at(), model.first().map_or(Time::NEVER, |m| m.0));
                while let Some(p) = flight.pop_until(Time(now)) {
                    assert_eq!((p.at, p.id.0), model.remove(0));
                    taken += 1;
                }
                assert!(model.first().is_none_or(|m| m.0 > Time(now)));
                assert_eq!(flight.len(), model.len());
            }
        }
        assert!(taken > 15_000 && most > 10, "{taken} taken, {most} overtaken at the most");
    }
}
