//! The FIFO that the disciplines share. It remembers length and time of admission beside each packet's number, so that
//! taking a packet out touches no packet memory.

use super::{Backlog, Chooser, Head};
use crosswind_base::{ConfigError, Cx, Limit, PacketId, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// When a packet that arrives at an almost full queue is let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// The limit holds after the packet has been added: backlog + length <= limit.
    #[default]
    Fits,
    /// The limit is tested before the packet is added: backlog < limit, so the last packet may exceed it.
    Overshoot,
    /// As Linux 2.4 tested: backlog <= limit, in bytes and in packets. A queue exactly at its limit takes one more.
    #[serde(rename = "linux-2.4")]
    Linux24,
}

impl Admission {
    /// Whether a packet of `len` bytes may join `backlog`.
    #[inline]
    pub fn admits(self, backlog: Backlog, len: u32, limit: Limit) -> bool {
        match (limit, self) {
            (Limit::Packets(n), Admission::Linux24) => (backlog.packets as u64) <= n,
            (Limit::Bytes(n), Admission::Linux24) => backlog.bytes <= n,
            (Limit::Packets(n), _) => (backlog.packets as u64) < n,
            (Limit::Bytes(n), Admission::Fits) => backlog.bytes + len as u64 <= n,
            (Limit::Bytes(n), Admission::Overshoot) => backlog.bytes < n,
        }
    }
}

/// Link-layer bytes of one packet: less than a frame.
pub fn check_overhead(overhead: Size) -> Result<(), ConfigError> {
    if overhead.0 <= 1500 {
        return Ok(());
    }
    Err(ConfigError::new("overhead", format!("{} B", overhead.0), "at most 1500 B for each packet"))
}

/// An overhead that need not be written.
pub fn no_bytes(overhead: &Size) -> bool {
    overhead.0 == 0
}

/// First in, first out.
#[derive(Default)]
pub struct Fifo {
    ring: VecDeque<Head>,
    bytes: u64,
}

impl Fifo {
    pub fn new() -> Fifo {
        Fifo::default()
    }
    #[inline]
    pub fn push(&mut self, id: PacketId, len: u32, now: Time) {
        self.bytes += len as u64;
        self.ring.push_back(Head { id, len, since: now });
    }
    #[inline]
    pub fn pop(&mut self) -> Option<Head> {
        let head = self.ring.pop_front()?;
        self.bytes -= head.len as u64;
        Some(head)
    }
    /// The packet that `pop` would give.
    #[inline]
    pub fn front(&self) -> Option<Head> {
        self.ring.front().copied()
    }
    /// All that wait, the oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Head> {
        self.ring.iter()
    }
    /// Takes out those that go, the oldest first.
    pub fn sort_out(&mut self, mut goes: impl FnMut(&Head) -> bool) {
        let bytes = &mut self.bytes;
        self.ring.retain(|head| {
            let stays = !goes(head);
            if !stays {
                *bytes -= u64::from(head.len);
            }
            stays
        });
    }
    /// Takes out the packet at this place, the oldest at 0.
    pub fn take(&mut self, i: usize) -> Option<Head> {
        let head = self.ring.remove(i)?;
        self.bytes -= u64::from(head.len);
        Some(head)
    }
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: self.ring.len() as u32 }
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// A packet that goes: its queue, and its place there once those before it have gone.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub head: Head,
    pub queue: usize,
    pub at: usize,
}

/// Asks about the packets of several queues, the oldest first; of packets that came at one time, those of the earlier queue. Into
/// `gone` go those that are chosen, by queue and place.
pub fn choose<'a>(queues: impl Iterator<Item = &'a Fifo>, goes: &mut Chooser<'_>, cx: &Cx<'_>, gone: &mut Vec<Place>) {
    let all = queues
        .zip(0..)
        .flat_map(|(q, queue)| q.iter().zip(0..).map(move |(head, at)| Place { head: *head, queue, at }));
    gone.extend(all);
    gone.sort_unstable_by_key(|p| (p.head.since, p.queue, p.at));
    gone.retain(|p| goes(&p.head, cx));
    gone.sort_unstable_by_key(|p| (p.queue, p.at));
    for of_queue in gone.chunk_by_mut(|a, b| a.queue == b.queue) {
        of_queue.iter_mut().zip(0..).for_each(|(p, before)| p.at -= before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_the_order_of_arrival_with_their_length_and_time() {
        let mut f = Fifo::new();
        f.push(PacketId(7), 100, Time(1));
        f.push(PacketId(3), 40, Time(2));
        assert_eq!(f.backlog(), Backlog { bytes: 140, packets: 2 });
        assert_eq!(f.pop(), Some(Head { id: PacketId(7), len: 100, since: Time(1) }));
        assert_eq!(f.backlog(), Backlog { bytes: 40, packets: 1 });
        assert_eq!(f.pop().map(|h| h.id), Some(PacketId(3)));
        assert_eq!((f.pop(), f.is_empty(), f.backlog()), (None, true, Backlog::default()));
    }

    #[test]
    fn the_rule_of_linux_2_4_takes_one_packet_at_the_limit() {
        let limit = Limit::Bytes(20_000);
        // riva-2003: thirteen full packets leave 500 bytes, a fourteenth still fits, then nothing does.
        assert!(Admission::Linux24.admits(Backlog { bytes: 19_500, packets: 13 }, 1500, limit));
        assert!(!Admission::Linux24.admits(Backlog { bytes: 21_000, packets: 14 }, 60, limit));
        assert!(Admission::Linux24.admits(Backlog { bytes: 20_000, packets: 14 }, 1500, limit));
        assert!(Admission::Linux24.admits(Backlog { bytes: 900, packets: 10 }, 1, Limit::Packets(10)));
        assert!(!Admission::Linux24.admits(Backlog { bytes: 900, packets: 11 }, 1, Limit::Packets(10)));
    }

    #[test]
    fn link_layer_bytes_count_once_for_every_packet() {
        let (limit, rule) = (Limit::Bytes(20_000), Admission::Linux24);
        // riva-2003: thirteen full packets and three of 132 B wait; as frames they are beyond the limit.
        let held = Backlog { bytes: 13 * 1500 + 3 * 132, packets: 16 };
        assert!(rule.admits(held, 132, limit));
        assert_eq!(held.with_overhead(Size(14)).bytes, 13 * 1514 + 3 * 146);
        assert!(!rule.admits(held.with_overhead(Size(14)), 146, limit));
        assert!(check_overhead(Size(1500)).is_ok() && check_overhead(Size(1501)).is_err());
    }

    #[test]
    fn the_two_admission_rules_differ_only_by_the_last_packet() {
        let full_but_one = Backlog { bytes: 900, packets: 9 };
        let limit = Limit::Bytes(1000);
        assert!(Admission::Fits.admits(full_but_one, 100, limit));
        assert!(!Admission::Fits.admits(full_but_one, 101, limit));
        assert!(Admission::Overshoot.admits(full_but_one, 101, limit));
        assert!(!Admission::Overshoot.admits(Backlog { bytes: 1000, packets: 10 }, 1, limit));
        for rule in [Admission::Fits, Admission::Overshoot] {
            assert!(rule.admits(full_but_one, 1500, Limit::Packets(10)));
            assert!(!rule.admits(full_but_one, 1, Limit::Packets(9)));
        }
    }
}
