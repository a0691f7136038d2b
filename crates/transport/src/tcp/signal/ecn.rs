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
//! **Deviations**: none.
//!
//! **Checked by**: `tests/tapes/ecn_*.tape` (one reduction per round trip, CWR once, retransmissions never ECT).

use super::super::Ack;

/// The sender's side of ECN.
#[derive(Clone, Debug, Default)]
pub struct EcnEcho {
    /// Negotiated in the handshake.
    pub active: bool,
    /// The next new data segment carries CWR.
    pub cwr_pending: bool,
}

impl EcnEcho {
    /// Whether this ACK asks for a reduction. The sender ignores it inside an episode.
    pub fn congested(&self, a: &Ack) -> bool {
        self.active && a.echo
    }
}
