//! # The host's own queue
//!
//! **Source**: linux-2.4 `tcp_transmit_skb`, `tcp_enter_cwr`, `pfifo_fast_enqueue`; bhandarkar-2006 III.A.5 (losses come from the
//! queues of the hosts).
//!
//! **Idea**: segments wait in a queue of the host before they reach its line. When it is full the kernel tells the sender at
//! once: the segment has not left and is not lost, it leaves later; the sender takes that for congestion and reduces its
//! window, once per window of data, as for an ECN echo. All connections of a host share the queue.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `host_queue.limit_segments` | segments | 0 | ours: 0 is no such queue (the network drops); 1000 in bhandarkar-2006 (`txqueuelen`) |
//! | `host_queue.rate` | bit/s | 1 Gbit/s | ours: what the host's line or bus carries |
//!
//! **Deviations**: 1. The queue is counted in time: it is full when what waits needs as long as so many full segments. 2. Pure
//! ACKs and datagrams do not wait in it. 3. Retransmissions are always taken. 4. The window falls at once, not over a round
//! trip (`tcp_cwnd_down`). 5. Links behind it carry the same rate and are not to drop: the queue that a figure shows is theirs.
//!
//! **Checked by**: tests below, `crates/transport/tests/host_queue.rs`.

use crosswind_base::{BitRate, ConfigError, Serializer, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the host's own queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostQueueParams {
    /// Full segments that may wait; 0: there is no such queue.
    pub limit_segments: u32,
    /// Bits per second at which it empties.
    pub rate: BitRate,
}

impl Default for HostQueueParams {
    fn default() -> Self {
        HostQueueParams { limit_segments: 0, rate: BitRate(1_000_000_000) }
    }
}

impl HostQueueParams {
    pub fn check(&self, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
        if self.rate.0 == 0 {
            return Err(ConfigError::new(at("host_queue.rate"), "0 bit/s", "a positive rate"));
        }
        Ok(())
    }
}

/// Headers of IP and TCP without options.
const HEADERS_BYTES: u64 = 40;

/// What waits at a host, of all its connections.
#[derive(Clone, Debug, Default)]
pub struct HostQueue {
    /// When all that was taken has left.
    free_at: Time,
    line: Option<Serializer>,
}

impl HostQueue {
    /// Takes a segment with `payload` bytes, or says that the queue is full.
    pub fn admits(&mut self, now: Time, payload: u64, mss: u64, q: &HostQueueParams) -> bool {
        let room = q.rate.tx_time(mss + HEADERS_BYTES).saturating_mul(u64::from(q.limit_segments));
        if self.free_at.since(now.min(self.free_at)) >= room {
            return false;
        }
        self.take(now, payload, q.rate);
        true
    }

    /// Takes a segment, whatever waits.
    pub fn take(&mut self, now: Time, payload: u64, rate: BitRate) {
        let line = self.line.get_or_insert_with(|| Serializer::new(rate));
        if line.rate() != rate {
            line.set_rate(rate);
        }
        if now > self.free_at {
            line.restart();
        }
        self.free_at = self.free_at.max(now) + line.take((payload + HEADERS_BYTES) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Dur;

    /// Ten segments of 1040 bytes; one takes a millisecond.
    const TEN: HostQueueParams = HostQueueParams { limit_segments: 10, rate: BitRate(8_320_000) };

    #[test]
    fn it_takes_as_many_as_wait_and_one_for_each_that_leaves() {
        let mut q = HostQueue::default();
        let at = |ms: u64| Time::ZERO + Dur::from_millis(ms);
        assert_eq!((0..20).filter(|_| q.admits(at(0), 1000, 1000, &TEN)).count(), 10);
        assert_eq!((0..20).filter(|_| q.admits(at(3), 1000, 1000, &TEN)).count(), 3);
        assert_eq!((0..20).filter(|_| q.admits(at(100), 1000, 1000, &TEN)).count(), 10);
    }

    #[test]
    fn what_is_sent_again_is_taken_and_counts() {
        let mut q = HostQueue::default();
        (0..12).for_each(|_| q.take(Time::ZERO, 1000, TEN.rate));
        assert!(!q.admits(Time::ZERO + Dur::from_millis(2), 1000, 1000, &TEN));
        assert!(q.admits(Time::ZERO + Dur::from_millis(3), 1000, 1000, &TEN));
    }
}
