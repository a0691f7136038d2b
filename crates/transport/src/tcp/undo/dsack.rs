//! # Judging timeouts by duplicate SACKs
//!
//! **Source**: rfc2883 section 4; rfc3708 section 3.
//!
//! **Idea**: a receiver that gets a segment twice says so in the first SACK block of its ACK. When everything that was
//! sent again since the timeout has been reported twice, nothing of it was lost: the timeout was spurious. By then the
//! window has been sent again, at least in part; what is left of it is spared, and window and timer follow
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

use super::super::Ack;
use super::super::detect::Phase;
use super::{Case, Expiry, Judge, Judgement};

/// Bytes sent again since a timeout and not yet reported as duplicates.
#[derive(Clone, Debug, Default)]
pub struct Dsack {
    open: bool,
    high: u64,
    /// Sent again less reported, in bytes.
    missing: u64,
}

impl Dsack {
    /// A segment is sent again while the case is open.
    pub fn on_resend(&mut self, bytes: u64) {
        self.missing += bytes * u64::from(self.open);
    }
}

impl Judge for Dsack {
    fn hears(&mut self, phase: Phase) -> Case {
        match (self.open, phase) {
            (true, _) => Case::Continued,
            (false, Phase::Timeout { .. }) => Case::Refused,
            (false, _) => Case::New,
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
    /// Recovery goes on while the reports come in.
    fn is_active(&self) -> bool {
        false
    }
    fn high(&self) -> u64 {
        self.high
    }

    fn judge(&mut self, a: &Ack) -> Judgement {
        if !self.open {
            return Judgement::None;
        }
        self.missing = self.missing.saturating_sub(a.reported_twice);
        if a.reported_twice > 0 && self.missing == 0 {
            self.open = false;
            return Judgement::Spurious;
        }
        // Reports arrive with the ACKs of the duplicates, so at most a round trip after the window was acknowledged.
        if a.ack > self.high && a.reported_twice == 0 && a.bytes > 0 {
            self.open = false;
            return Judgement::Conventional;
        }
        Judgement::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_beyond_the_window_leaves_the_case_open() {
        let mut judge = Dsack { open: true, high: 5001, missing: 2000 };
        let a = Ack { ack: 6001, ..Ack::default() };
        assert_eq!(judge.judge(&Ack { bytes: 1000, reported_twice: 1000, ..a }), Judgement::None);
        assert_eq!(judge.judge(&Ack { duplicate: true, ..a }), Judgement::None);
        assert_eq!(judge.judge(&Ack { reported_twice: 1000, ..a }), Judgement::Spurious);
    }

    #[test]
    fn a_closed_case_counts_and_says_nothing() {
        let mut judge = Dsack { open: true, high: 5001, missing: 1000 };
        judge.stop();
        judge.on_resend(1000);
        assert_eq!((judge.open, judge.missing), (false, 1000));
        assert_eq!(judge.judge(&Ack { reported_twice: 1000, ..Ack::default() }), Judgement::None);
    }

    #[test]
    fn without_a_report_nothing_is_spurious() {
        let mut judge = Dsack { open: true, high: 5001, missing: 0 };
        assert_eq!(judge.judge(&Ack { ack: 3001, bytes: 1000, ..Ack::default() }), Judgement::None);
        assert_eq!(judge.judge(&Ack { ack: 6001, bytes: 1000, ..Ack::default() }), Judgement::Conventional);
    }
}
