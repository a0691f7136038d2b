//! # The host's own queue, for datagrams
//!
//! **Source**: linux-2.4 `sock_alloc_send_skb` (a datagram waits for room in the send buffer of its socket, which it leaves only
//! when the driver is done with it), `ether_setup` (`tx_queue_len` 100), e1000 (`E1000_DEFAULT_TXD` 256); igarashi section 4.3 and
//! Table 4.3 (hosts behind 100 Mbit/s, and with a bus that carries about 620 Mbit/s).
//!
//! **Idea**: the interface of a host empties at `rate`. While `limit_packets` are in the host, a program that sends one more
//! sleeps until the first of them has left; then it goes on with its schedule, and what is late follows at once. So a stream
//! that is faster than its host loses nothing, and a burst leaves no faster than the interface or the bus carries it.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `host_queue.limit_packets` | packets | - | none is assumed. Linux 2.4: a send buffer of 65535 B holds 30 packets of 1500 B, which count 2.2 kB each |
//! | `host_queue.rate` | bit/s | - | none is assumed |
//!
//! It is a key of a flow over UDP, or over a transport that sends at a rate. The queue of hosts that send over TCP is `tcp.host_queue`, which tells the
//! sender instead. The line behind a host carries the same rate, with room for `limit_packets`.
//!
//! **Deviations**: 1. Each flow has a host of its own. 2. A rate-based transport that sleeps hears its acknowledgements but does not
//! act on timers until it wakes.
//!
//! **Checked by**: tests below, `crates/sim/tests/hosts.rs`.

use crate::scenario::HostQueueParams;
use crosswind_base::{Serializer, Time};
use std::collections::VecDeque;

/// What is in a host and has not left its interface.
pub struct HostQueue {
    line: Serializer,
    limit: usize,
    /// When each packet leaves, the oldest first; some may have left.
    leaves: VecDeque<Time>,
}

impl HostQueue {
    pub fn new(p: HostQueueParams) -> HostQueue {
        let limit = p.limit_packets as usize;
        HostQueue { line: Serializer::new(p.rate), limit, leaves: VecDeque::with_capacity(limit + 1) }
    }

    /// From when on there is room for one more.
    #[inline]
    pub fn room_at(&self) -> Time {
        self.leaves.len().checked_sub(self.limit).map_or(Time::ZERO, |i| self.leaves[i])
    }

    /// Packets enter: so many, and so many bytes together.
    pub fn take(&mut self, packets: u64, bytes: u64, now: Time) {
        while self.leaves.front().is_some_and(|at| *at <= now) {
            self.leaves.pop_front();
        }
        for k in 0..packets {
            let len = bytes / packets + u64::from(k < bytes % packets);
            let starts = self.leaves.back().copied().unwrap_or(now);
            if self.leaves.is_empty() {
                self.line.restart();
            }
            self.leaves.push_back(starts + self.line.take(len as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::{BitRate, Dur};

    #[test]
    fn there_is_room_when_the_first_of_as_many_as_fit_has_left() {
        let mut q = HostQueue::new(HostQueueParams { limit_packets: 3, rate: BitRate(8_000_000) });
        let at = |ms: u64| Time::ZERO + Dur::from_millis(ms);
        q.take(2, 2000, at(1));
        assert!(q.room_at() <= at(1), "two of three");
        q.take(1, 1000, at(1));
        assert_eq!(q.room_at(), at(2));
        q.take(1, 1000, at(2));
        assert_eq!(q.room_at(), at(3));
        // Five at once are beyond the limit: there is room when all but two have left.
        q.take(4, 4000, at(3));
        assert_eq!(q.room_at(), at(7));
        // After an idle time the line starts afresh.
        q.take(1, 1000, at(50));
        assert!(q.room_at() <= at(50));
        q.take(2, 2000, at(50));
        assert_eq!(q.room_at(), at(51));
    }
}
