//! Retransmissions that never arrived: each was unnecessary if an earlier copy of its data arrives after all.
//!
//! They stand in the order of their data, so that an arrival looks at those of its own segment alone: a sender that overflows a
//! queue again and again leaves thousands, and most of them stay, as the copy that did arrive left later.

use crosswind_base::{Packet, Time};

/// A retransmission that never arrived.
#[derive(Clone, Copy, Debug)]
pub struct DroppedRetransmission {
    pub seq: u64,
    pub end: u64,
    pub sent_at: Time,
}

/// All of one direction, ascending by their first byte.
#[derive(Clone, Debug, Default)]
pub struct DroppedRetransmissions(Vec<DroppedRetransmission>);

impl DroppedRetransmissions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, lost: DroppedRetransmission) {
        let i = self.0.partition_point(|d| d.seq <= lost.seq);
        self.0.insert(i, lost);
    }

    /// A copy of a segment arrives: forgets the retransmissions of it that left later, and says how many they were.
    pub fn settle(&mut self, p: &Packet) -> u64 {
        let (from, to) = (p.seq, p.seq + p.payload as u64);
        // Nearly all arrivals are new data, beyond all that was ever sent again: no search for these.
        if self.0.last().is_none_or(|d| d.seq < from) {
            return 0;
        }
        let first = self.0.partition_point(|d| d.seq < from);
        let (mut i, mut settled) = (first, 0);
        while let Some(d) = self.0.get(i).filter(|d| d.seq <= to) {
            if d.end <= to && d.sent_at > p.sent_at {
                self.0.remove(i);
                settled += 1;
            } else {
                i += 1;
            }
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(seq: u64, sent_at: u64) -> DroppedRetransmission {
        DroppedRetransmission { seq, end: seq + 100, sent_at: Time(sent_at) }
    }

    fn arrives(seq: u64, payload: u16, sent_at: u64) -> Packet {
        Packet { seq, payload, sent_at: Time(sent_at), ..Packet::default() }
    }

    #[test]
    fn a_copy_settles_the_retransmissions_of_its_data_that_left_later() {
        let mut all = DroppedRetransmissions::default();
        for (seq, at) in [(200, 50), (0, 10), (100, 20), (100, 60), (300, 70)] {
            all.push(lost(seq, at));
        }
        assert_eq!(all.settle(&arrives(100, 100, 30)), 1);
        assert_eq!(all.settle(&arrives(100, 100, 5)), 1);
        assert_eq!(all.settle(&arrives(100, 100, 5)), 0);
        assert_eq!(all.settle(&arrives(150, 400, 0)), 2);
        assert!(!all.is_empty());
        assert_eq!(all.settle(&arrives(0, 100, 0)), 1);
        assert!(all.is_empty());
    }
}
