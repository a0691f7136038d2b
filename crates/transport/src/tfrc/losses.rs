//! Which packets did not come: holes that enough later packets have arrived behind (RFC 5348 section 5.1), each with the
//! time at which it would have arrived (section 5.2).

use crosswind_base::{Dur, Time};
use std::collections::VecDeque;

/// A packet that has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arrived {
    pub number: u64,
    pub at: Time,
    /// When it was sent, by the sender's clock.
    pub sent: Time,
    /// It carries the mark CE.
    pub is_marked: bool,
}

/// What is now known of one packet. Told in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    Came(Arrived),
    /// It is lost; its times lie on the line between its neighbours.
    Lost(Arrived),
}

/// Finds losses among numbered packets.
#[derive(Clone, Debug)]
pub struct Losses {
    /// Later packets that prove a loss.
    proofs: usize,
    /// Of all packets below this number it is known whether they came.
    next: u64,
    /// The last of them that came.
    before: Arrived,
    /// Packets above, in order.
    ahead: VecDeque<Arrived>,
    /// Number of the highest packet.
    pub highest: Option<u64>,
    /// What is missing before the first arrival is lost.
    counts_early: bool,
}

impl Losses {
    pub fn new(proofs: u32, counts_early: bool) -> Losses {
        let (proofs, ahead) = (proofs as usize, VecDeque::with_capacity(proofs as usize));
        Losses { proofs, next: 0, before: Arrived::default(), ahead, highest: None, counts_early }
    }

    /// A packet arrives. `tell` hears of every packet whose fate is known by that. False when its fate was known, or it
    /// has come before.
    pub fn arrive(&mut self, a: Arrived, mut tell: impl FnMut(Known)) -> bool {
        if self.highest.is_none() && !self.counts_early {
            self.next = a.number;
        }
        if a.number < self.next {
            return false;
        }
        let place = self.ahead.partition_point(|b| b.number < a.number);
        if self.ahead.get(place).is_some_and(|b| b.number == a.number) {
            return false;
        }
        self.ahead.insert(place, a);
        self.highest = self.highest.max(Some(a.number));
        while let Some(&after) = self.ahead.front() {
            if after.number > self.next {
                if self.ahead.len() < self.proofs {
                    break;
                }
                for number in self.next..after.number {
                    tell(Known::Lost(self.between(number, &after)));
                }
            }
            tell(Known::Came(after));
            self.before = after;
            self.next = after.number + 1;
            self.ahead.pop_front();
        }
        true
    }

    /// A missing packet, as if packets between its neighbours had come evenly. Where no packet came before the first hole,
    /// the one behind it gives the time.
    fn between(&self, number: u64, after: &Arrived) -> Arrived {
        if self.next == 0 {
            return Arrived { number, is_marked: false, ..*after };
        }
        let share = (number - self.before.number) as f64 / (after.number - self.before.number) as f64;
        let along = |from: Time, to: Time| from + Dur(to.since(from).0).mul_f64(share);
        Arrived {
            number,
            at: along(self.before.at, after.at),
            sent: along(self.before.sent, after.sent),
            is_marked: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(proofs: u32, numbers: &[u64]) -> Vec<(u64, bool)> {
        let mut losses = Losses::new(proofs, true);
        let mut known = Vec::new();
        for (i, number) in numbers.iter().enumerate() {
            let a = Arrived { number: *number, at: Time(1000 * i as u64), ..Arrived::default() };
            losses.arrive(a, |k| {
                known.push(match k {
                    Known::Came(a) => (a.number, true),
                    Known::Lost(a) => (a.number, false),
                })
            });
        }
        known
    }

    #[test]
    fn a_hole_is_a_loss_when_three_later_packets_have_come() {
        assert_eq!(arrivals(3, &[0, 2, 3]), [(0, true)]);
        assert_eq!(arrivals(3, &[0, 2, 3, 4])[1..], [(1, false), (2, true), (3, true), (4, true)]);
    }

    #[test]
    fn what_is_missing_before_the_first_arrival_counts_or_not() {
        let lost = |counts_early| {
            let mut losses = Losses::new(1, counts_early);
            let mut lost = Vec::new();
            for number in [2, 3, 5] {
                losses.arrive(Arrived { number, ..Arrived::default() }, |k| {
                    if let Known::Lost(a) = k {
                        lost.push(a.number);
                    }
                });
            }
            lost
        };
        assert_eq!((lost(true), lost(false)), (vec![0, 1, 4], vec![4]));
    }

    #[test]
    fn a_packet_that_is_two_places_late_is_no_loss() {
        assert_eq!(arrivals(3, &[0, 2, 3, 1]), [(0, true), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn what_comes_after_it_was_given_up_changes_nothing() {
        assert_eq!(arrivals(1, &[0, 2, 1, 2, 3]), [(0, true), (1, false), (2, true), (3, true)]);
    }

    #[test]
    fn a_lost_packet_has_the_times_between_its_neighbours() {
        let mut losses = Losses::new(1, true);
        let mut lost = Vec::new();
        for (number, ms) in [(0, 100), (3, 400)] {
            let a = Arrived { number, at: Time(ms * 1_000_000), sent: Time(ms * 500_000), is_marked: false };
            losses.arrive(a, |k| {
                if let Known::Lost(a) = k {
                    lost.push((a.number, a.at.0, a.sent.0));
                }
            });
        }
        assert_eq!(lost, [(1, 200_000_000, 100_000_000), (2, 300_000_000, 150_000_000)]);
    }
}
