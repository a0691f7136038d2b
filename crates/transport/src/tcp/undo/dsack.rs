//! # Spurious timeouts told by duplicate SACKs
//!
//! **Source**: rfc2883 section 4; rfc3708 section 3.
//!
//! **Idea**: a receiver that gets a segment twice says so in the first SACK block of its ACK. When everything that was
//! retransmitted since the timeout has been reported twice, nothing of it was lost: the timeout was spurious. By then the
//! window has been retransmitted, at least in part; what is left of it is spared, and window and timer follow
//! `spurious_response` and `spurious_timer`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dsack` | - | `off` | both ends; needs SACK (rfc2883 section 4) |
//!
//! **Deviations**: 1. Losses that occurred beside a spurious timeout are not told apart from it (rfc3708 asks for the
//! whole window of reports before acting, and so do we). 2. A report that is lost leaves the timeout genuine.
//!
//! **Checked by**: `tests/tapes/dsack_*.tape`, `tests/undo.rs`.

use super::super::detect::Phase;
use super::{DetectSpurious, Episode, Expiry, SpuriousVerdict};
use crate::tcp::facts::Ack;

/// Bytes retransmitted since a timeout and not yet reported as duplicates.
#[derive(Clone, Debug, Default)]
pub struct Dsack {
    open: bool,
    high: u64,
    /// Retransmitted less reported, in bytes.
    missing: u64,
}

impl Dsack {
    /// A segment is retransmitted while the verdict is open.
    pub fn on_retransmission(&mut self, bytes: u64) {
        self.missing += bytes * u64::from(self.open);
    }
}

impl DetectSpurious for Dsack {
    fn on_expiry(&mut self, phase: Phase, _: bool) -> Episode {
        match (self.open, phase) {
            (true, _) => Episode::Continued,
            (false, Phase::Timeout { .. }) => Episode::Refused,
            (false, _) => Episode::New,
        }
    }
    fn start(&mut self, e: &Expiry) {
        if !self.open {
            (self.open, self.high, self.missing) = (true, e.high, 0);
        }
    }
    fn stop(&mut self) {
        self.open = false;
    }
    fn is_over(&self) -> bool {
        !self.open
    }
    /// Recovery goes on while the reports come in.
    fn is_active(&self) -> bool {
        false
    }
    fn high(&self) -> u64 {
        self.high
    }

    fn on_ack(&mut self, a: &Ack) -> SpuriousVerdict {
        if !self.open {
            return SpuriousVerdict::None;
        }
        self.missing = self.missing.saturating_sub(a.reported_twice);
        if a.reported_twice > 0 && self.missing == 0 {
            self.open = false;
            return SpuriousVerdict::Spurious;
        }
        // Reports arrive with the ACKs of the duplicates, so at most a round trip after the window was acknowledged.
        if a.ack > self.high && a.reported_twice == 0 && a.bytes > 0 {
            self.open = false;
            return SpuriousVerdict::Conventional;
        }
        SpuriousVerdict::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_beyond_the_window_leaves_the_case_open() {
        let mut detector = Dsack { open: true, high: 5001, missing: 2000 };
        let a = Ack { ack: 6001, ..Ack::default() };
        assert_eq!(detector.on_ack(&Ack { bytes: 1000, reported_twice: 1000, ..a }), SpuriousVerdict::None);
        assert_eq!(detector.on_ack(&Ack { duplicate: true, ..a }), SpuriousVerdict::None);
        assert_eq!(detector.on_ack(&Ack { reported_twice: 1000, ..a }), SpuriousVerdict::Spurious);
    }

    #[test]
    fn a_closed_case_counts_and_says_nothing() {
        let mut detector = Dsack { open: true, high: 5001, missing: 1000 };
        detector.stop();
        detector.on_retransmission(1000);
        assert_eq!((detector.open, detector.missing), (false, 1000));
        assert_eq!(detector.on_ack(&Ack { reported_twice: 1000, ..Ack::default() }), SpuriousVerdict::None);
    }

    #[test]
    fn without_a_report_nothing_is_spurious() {
        let mut detector = Dsack { open: true, high: 5001, missing: 0 };
        assert_eq!(detector.on_ack(&Ack { ack: 3001, bytes: 1000, ..Ack::default() }), SpuriousVerdict::None);
        assert_eq!(detector.on_ack(&Ack { ack: 6001, bytes: 1000, ..Ack::default() }), SpuriousVerdict::Conventional);
    }
}
