//! Small facts that every axis knows: one acknowledgement, why a window falls, when an end closes, the timestamp clock.

use crosswind_base::{Dur, Time};

/// The value of the timestamp clock at some time: never zero, which stands for no timestamp.
#[inline]
pub(super) fn stamp(at: Time, tick: Dur) -> u32 {
    ((at.0 / tick.0.max(1)) as u32).wrapping_add(1).max(1)
}

/// Whether timestamp `a` is older than `b`, on a clock that wraps.
pub fn is_older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Facts about one arriving acknowledgement, gathered once and shown to every axis.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Ack {
    pub now: Time,
    /// Cumulative acknowledgement number.
    pub ack: u64,
    /// Bytes newly acknowledged cumulatively.
    pub bytes: u64,
    /// Bytes newly delivered: in order, less what SACK had reported before, and newly reported.
    pub delivered: u64,
    /// Segments newly acknowledged cumulatively.
    pub segments: u32,
    /// Bytes newly reported by SACK blocks.
    pub sacked: u64,
    /// A duplicate in the sense of RFC 5681 section 2 (or RFC 6675: it carries new SACK information).
    pub duplicate: bool,
    /// Segments newly delivered: acknowledged and not reported by SACK before, or newly reported.
    pub newly_delivered: u32,
    /// Of the packets that the peer has received, those newly reported to carry a congestion mark. With an echo alone (RFC 3168, RFC
    /// 8257) all that are newly delivered, one at least; with AccECN as many as the peer has counted.
    pub newly_ce: u32,
    /// Bytes of their payload.
    pub ce_bytes: u64,
    /// A round-trip time sample, where this ACK gives one.
    pub rtt: Option<Dur>,
    /// Bytes in the network before this ACK.
    pub in_flight_before: u64,
    /// The window, not the application, limited the sender.
    pub window_limited: bool,
    /// Some newly acknowledged segment had been retransmitted.
    pub covers_retransmitted: bool,
    /// Some newly acknowledged or SACKed segment, outstanding at the last timeout, had never been retransmitted.
    pub covers_original: bool,
    /// Of the segments that this ACK delivered, in order or by SACK: when the one that left last did, and its end. It may
    /// have been delivered before.
    pub newest: (Time, u64),
    /// That segment had been sent more than once.
    pub newest_retransmitted: bool,
    /// The same for those alone that had not been delivered before: of those sent once, and of those sent again. Zero where
    /// there is none.
    pub news_once: (Time, u64),
    pub news_again: (Time, u64),
    /// Whether this ACK, if it gives a sample, ends the back-off of the timer.
    pub ends_backoff: bool,
    /// The timestamp that it echoes.
    pub ts_ecr: u32,
    /// When the segment just below the acknowledgement left last, if this ACK advances.
    pub below_sent_at: Time,
    /// The window is below the slow-start threshold.
    pub slow_start: bool,
    /// Bytes that the receiver reports to have received twice (RFC 2883).
    pub reported_twice: u64,
    /// Where they end.
    pub twice_end: u64,
}

impl Ack {
    /// The round trip of the segment that left last of those it delivers, by the sender's own clock, unless that was sent twice.
    pub fn last_trip(&self) -> Option<Dur> {
        (!self.newest_retransmitted && self.newest.0 > Time::ZERO).then(|| self.now.since(self.newest.0))
    }
    /// The same facts with other news (for tests that drive a detector without a sender).
    pub fn with(self, ack: u64, bytes: u64, sacked: u64) -> Ack {
        Ack { ack, bytes, sacked, duplicate: bytes == 0, ..self }
    }
}

/// When an end closes its own direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseRule {
    /// When its application says so.
    ByApplication,
    /// As soon as the peer has closed (the reading end of a transfer).
    WithPeer,
}

/// Why a window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// A detector found a loss while ACKs kept arriving.
    Loss,
    /// The retransmission timer expired.
    Timeout,
    /// The network said so (an ECN echo).
    Echo,
    /// The sender expects it, from its own round-trip times.
    Early,
    /// The host's own queue is full.
    Local,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timestamp_clock_wraps_and_is_never_zero() {
        let tick = Dur(1000);
        let at = |ticks: u64| stamp(Time(1000 * ticks), tick);
        assert_eq!((at(0), at(1), at((1 << 32) - 2)), (1, 2, u32::MAX));
        assert_eq!((at((1 << 32) - 1), at(1 << 32), at((1 << 32) + 1)), (1, 1, 2));
    }
}
