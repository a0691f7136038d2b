//! PI2 in the words of its description: a list of packets, a timer, two dice.

use crosswind_base::Rng;
use std::collections::VecDeque;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Untouched,
    Marked,
    Dropped,
    Full,
}

/// A queue with PI2; `ecn` is the field of the header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
pub struct Pi2 {
    pub at_departure: bool,
    pub k: f64,
    pub limit_packets: usize,
    pub next_ns: u64,
    prob: f64,
    prevq: f64,
    packets: VecDeque<(u64, u64, u8)>,
}

impl Pi2 {
    pub fn new(at_departure: bool, limit_packets: usize) -> Pi2 {
        let packets = VecDeque::new();
        Pi2 { at_departure, k: 2.0, limit_packets, next_ns: 15_000_000, prob: 0.0, prevq: 0.0, packets }
    }

    fn timer(&mut self, now_ns: u64) {
        while now_ns >= self.next_ns {
            let curq = self.packets.front().map_or(0.0, |(since, ..)| (self.next_ns - since) as f64 / 1e9);
            self.prob += 0.15 * (curq - 0.015) + 3.0 * (curq - self.prevq);
            self.prob = if self.prob > 1.0 { 1.0 } else { self.prob };
            self.prob = if self.prob < 0.0 { 0.0 } else { self.prob };
            self.prevq = curq;
            self.next_ns += 15_000_000;
        }
    }

    fn squared(&self, rng: &mut Rng) -> bool {
        rng.chance(self.prob) && rng.chance(self.prob)
    }

    fn judge(&self, ecn: u8, rng: &mut Rng) -> Fate {
        if self.prob == 0.0 {
            return Fate::Untouched;
        }
        if ecn % 2 == 1 {
            if self.k * self.prob >= 1.0 {
                return if self.squared(rng) { Fate::Dropped } else { Fate::Marked };
            }
            return if rng.chance(self.k * self.prob) { Fate::Marked } else { Fate::Untouched };
        }
        if !self.squared(rng) {
            Fate::Untouched
        } else if ecn == 0 || self.prob.powi(2) >= 0.25 {
            Fate::Dropped
        } else {
            Fate::Marked
        }
    }

    pub fn enqueue(&mut self, now_ns: u64, number: u64, ecn: u8, rng: &mut Rng) -> Fate {
        self.timer(now_ns);
        if self.packets.len() >= self.limit_packets {
            return Fate::Full;
        }
        let fate = if self.at_departure { Fate::Untouched } else { self.judge(ecn, rng) };
        if fate != Fate::Dropped {
            self.packets.push_back((now_ns, number, ecn));
        }
        fate
    }

    /// All that left, the last of them delivered unless it was dropped.
    pub fn dequeue(&mut self, now_ns: u64, rng: &mut Rng) -> Vec<(u64, Fate)> {
        self.timer(now_ns);
        let mut left = Vec::new();
        while let Some((_, number, ecn)) = self.packets.pop_front() {
            let fate = if self.at_departure { self.judge(ecn, rng) } else { Fate::Untouched };
            left.push((number, fate));
            if fate != Fate::Dropped {
                break;
            }
        }
        left
    }
}
