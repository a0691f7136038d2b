//! What the board knows of one segment, of one acknowledgement, and of the order of retransmissions.

use crosswind_base::Time;
use std::collections::VecDeque;

pub(super) const SACKED: u8 = 1;
pub(super) const LOST: u8 = 2;
/// Retransmitted after it was held lost, and not held lost since.
pub(super) const RETRANSMITTED: u8 = 4;
/// Sent more than once, ever (Karn's rule).
pub(super) const EVER_RESENT: u8 = 8;

/// One segment in the network.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub start: u64,
    pub len: u32,
    pub(super) flags: u8,
    /// Last transmission.
    pub sent_at: Time,
}

impl Sent {
    pub fn end(&self) -> u64 {
        self.start + self.len as u64
    }
    pub fn is_sacked(&self) -> bool {
        self.flags & SACKED != 0
    }
    pub fn is_lost(&self) -> bool {
        self.flags & LOST != 0
    }
    pub fn is_retransmitted(&self) -> bool {
        self.flags & RETRANSMITTED != 0
    }
    pub fn was_ever_retransmitted(&self) -> bool {
        self.flags & EVER_RESENT != 0
    }
}

/// What a cumulative acknowledgement took off the board.
#[derive(Clone, Copy, Default, Debug)]
pub struct Acked {
    pub bytes: u64,
    /// Of those, bytes that SACK had reported before.
    pub known_bytes: u64,
    pub segments: u32,
    /// Of those, segments that SACK had reported before.
    pub known_segments: u32,
    /// Transmission time of the oldest segment covered, if none of them was ever retransmitted (Karn).
    pub timed: Option<Time>,
    pub any_retransmitted: bool,
    /// Last transmission of the last segment covered.
    pub last_sent_at: Time,
    /// Last transmission and end of the segment covered that left last: of those sent once, and of those retransmitted that
    /// were not SACKed before.
    pub latest_original: (Time, u64),
    pub latest_retransmission: (Time, u64),
    /// The same of those sent once that were not SACKed before.
    pub latest_unreported: (Time, u64),
    /// Some segment below the given mark was covered that had never been retransmitted (and was not SACKed before).
    pub original_below_mark: bool,
}

/// Acknowledged segments that had been sent once and of which nothing had been said before.
#[derive(Clone, Copy, Debug)]
pub struct InOrderAck {
    pub segments: u32,
    pub first_start: u64,
    pub first_sent_at: Time,
    pub last_sent_at: Time,
}

/// Whoever wants to hear of segments that SACK blocks report for the first time.
pub trait OnSacked {
    fn on_sacked(&mut self, s: &Sent, mark: u64);
}

/// Whether one of them lies below the mark and had never been retransmitted.
impl OnSacked for bool {
    #[inline]
    fn on_sacked(&mut self, s: &Sent, mark: u64) {
        *self |= s.start < mark && !s.was_ever_retransmitted();
    }
}

/// First byte and time of each retransmission, the oldest first; also of some whose segment has been acknowledged, held
/// lost or retransmitted since: those are found out when they come to the front.
#[derive(Default, Debug)]
pub(super) struct Retransmissions(pub(super) VecDeque<(u64, Time)>);
