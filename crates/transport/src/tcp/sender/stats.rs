//! What a sender has done so far.

use crate::tcp::facts::Ack;
use crosswind_base::{Histogram, Moment};

/// What the world may read.
#[derive(Clone, Debug, Default)]
pub struct SenderStats {
    pub segments: u64,
    pub retransmitted_segments: u64,
    pub retransmitted_bytes: u64,
    pub timeouts: u32,
    /// Timeouts after which an ACK of a segment sent earlier arrived (an oracle's view; see metric `spurious_timeouts`).
    pub spurious_timeouts: u32,
    /// Timeouts of a segment of which a copy that had been sent by then had arrived or was to arrive (metric
    /// `avoidable_timeouts`).
    pub avoidable_timeouts: u32,
    /// Timeouts that the sender itself found spurious, and genuine.
    pub spurious_detected: u32,
    pub genuine_detected: u32,
    /// Runs of expiries after which the first ACK that advances was caused by a segment sent before the first of them,
    /// and other runs: what Eifel detection would say, whether it is on or not.
    pub spurious_episodes: u32,
    pub genuine_episodes: u32,
    pub fast_recoveries: u32,
    /// Of those, taken back because they turned out to have been needless.
    pub undone_recoveries: u32,
    pub ecn_reductions: u32,
    /// Reductions because the sender expected congestion.
    pub early_reductions: u32,
    /// Reductions because the host's own queue was full.
    pub local_reductions: u32,
    /// Probes of a window that the peer had closed.
    pub window_probes: u64,
    pub rtt_ns: Histogram,
    pub cwnd_max_bytes: f64,
    /// `None` until slow start ended for the first time.
    pub first_loss_at: Moment,
    pub last_timeout_at: Moment,
    pub duplicates: Duplicates,
}

impl SenderStats {
    pub const NONE: SenderStats = SenderStats {
        segments: 0,
        retransmitted_segments: 0,
        retransmitted_bytes: 0,
        timeouts: 0,
        spurious_timeouts: 0,
        avoidable_timeouts: 0,
        spurious_detected: 0,
        genuine_detected: 0,
        spurious_episodes: 0,
        genuine_episodes: 0,
        fast_recoveries: 0,
        undone_recoveries: 0,
        ecn_reductions: 0,
        early_reductions: 0,
        local_reductions: 0,
        window_probes: 0,
        rtt_ns: Histogram::new(),
        cwnd_max_bytes: 0.0,
        first_loss_at: Moment::NONE,
        last_timeout_at: Moment::NONE,
        duplicates: Duplicates::NONE,
    };
}

/// Duplicate ACKs as a reader of a trace counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Duplicates {
    pub acks: u32,
    /// How often a third one in a row arrived.
    pub triples: u32,
    in_a_row: u32,
}

impl Duplicates {
    pub const NONE: Duplicates = Duplicates { acks: 0, triples: 0, in_a_row: 0 };

    #[inline]
    pub(super) fn count(&mut self, a: &Ack) {
        if a.duplicate {
            self.acks += 1;
            self.in_a_row += 1;
            self.triples += u32::from(self.in_a_row == 3);
        } else if a.bytes > 0 {
            self.in_a_row = 0;
        }
    }
}

impl Duplicates {
    /// No ACK has advanced since the last one.
    pub(super) fn are_coming(&self) -> bool {
        self.in_a_row > 0
    }
    /// An ACK advances.
    #[inline]
    pub(super) fn end_row(&mut self) {
        self.in_a_row = 0;
    }
}
