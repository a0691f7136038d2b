//! # ECN echo
//!
//! **Source**: rfc3168 section 6.1.2.
//!
//! **Idea**: an ACK with ECE asks for the reaction that a loss would cause, at most once per round trip; the next new
//! data segment carries CWR, exactly once per reduction.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ecn` | - | `off` | per scenario |
//!
//! **Deviations**: 1. ns-2 profile: retransmissions are ECN-capable and may carry CWR, an echo is heeded after a timeout
//! as well, and a timeout that follows an answered echo keeps the slow-start threshold, however long ago that was.
//!
//! **Checked by**: `tests/tapes/ecn_*.tape` (one reduction per round trip, CWR once, retransmissions never ECT).

use super::super::Ack;
use super::super::detect::{Phase, View};

/// The sender's side of ECN.
#[derive(Clone, Debug, Default)]
pub struct EcnEcho {
    /// Negotiated in the handshake.
    pub active: bool,
    /// The next new data segment carries CWR.
    pub cwr_pending: bool,
    /// The last reduction answered an echo, not a loss or a timeout.
    pub answered_last: bool,
}

impl EcnEcho {
    /// Whether this ACK asks for a reduction. The sender ignores it inside an episode.
    pub fn congested(&self, a: &Ack) -> bool {
        self.active && a.echo
    }

    /// The same in ns-2, which asks its `recover_` before it handles the ACK: one answer per window, except after a timeout.
    pub fn congested_in_ns2(&self, a: &Ack, v: &View) -> bool {
        self.congested(a) && (v.una > v.guard || matches!(v.phase, Phase::Timeout { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_ns2_an_echo_is_heeded_beyond_the_guard_and_after_a_timeout() {
        let echo = EcnEcho { active: true, ..EcnEcho::default() };
        let a = Ack { echo: true, ..Ack::default() };
        let asks = |una: u64, phase: Phase| {
            let v = View {
                una,
                nxt: 9001,
                mss: 1000,
                dupthresh: 3,
                phase,
                guard: 5001,
                limited_transmit: false,
                cwnd: 4e3,
            };
            echo.congested_in_ns2(&a, &v)
        };
        assert!(!asks(5001, Phase::Open) && asks(5002, Phase::Open));
        assert!(asks(1, Phase::Timeout { high: 9001 }));
    }
}
