//! # Forward acknowledgement (FACK)
//!
//! **Source**: mathis-mahdavi-1996 sections 3 and 4; ns-2.35 `FackTcpAgent`; gurtov-2004 section 4.3.1.
//!
//! **Idea**: whatever is not reported below the highest SACK (`fack`) has left the network:
//! `awnd = nxt - fack + retransmitted`. Recovery begins when `fack - una > dupthresh MSS` or on the third duplicate, and sends
//! holes first, then new data, as `awnd` falls below the window.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | mathis-mahdavi-1996 section 4.2; no detection of reordering |
//!
//! **Deviations**: 1. Neither overdamping nor rampdown (sections 4.4 and 4.5 there): the window is halved at once. 2. ns-2 sets
//! the window to one segment when recovery begins and lets it grow during recovery; here it is halved, as in the paper.
//!
//! **Checked by**: `tests/oracle_fack.rs`, `tests/tapes/fack_*.tape`.

use super::super::conn::scoreboard::Scoreboard;
use super::{Detect, Phase, RecoveryPolicy, Status, Verdict, View};
use crate::tcp::facts::Ack;
use crosswind_base::Time;

#[derive(Clone, Debug, Default)]
pub struct Fack {
    /// Duplicates in a row.
    dups: u32,
}

impl Detect for Fack {
    #[inline]
    fn status(&self) -> Status {
        Status { is_quiet: self.dups == 0, ..Status::WATCHFUL }
    }

    fn on_ack(&mut self, a: &Ack, _blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        self.dups = if a.bytes > 0 { 0 } else { self.dups + u32::from(a.sacked > 0) };
        let fack = board.highest_sacked().max(v.una);
        match v.phase {
            Phase::Recovery { high } if v.una >= high => return Verdict::Recovered,
            Phase::Recovery { .. } => {
                board.mark_lost_below(fack);
                return if a.bytes > 0 { Verdict::Partial { deflate: 0 } } else { Verdict::Nothing };
            }
            // After a timeout everything outstanding is held lost already.
            Phase::Timeout { .. } => return Verdict::Nothing,
            Phase::Open | Phase::Echo { .. } => {}
        }
        let far = fack - v.una > u64::from(v.dupthresh) * v.mss;
        if a.sacked == 0 || v.una < v.recovery_point || !(far || self.dups >= v.dupthresh) {
            return Verdict::Nothing;
        }
        board.mark_lost_below(fack);
        if board.lost_bytes() > 0 { Verdict::Loss } else { Verdict::Nothing }
    }

    #[inline]
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        match v.phase {
            Phase::Open | Phase::Echo { .. } => {
                v.nxt - board.highest_sacked().clamp(v.una, v.nxt) + board.retransmitted_bytes()
            }
            _ => (v.nxt - v.una) - board.sacked_bytes() - board.lost_bytes() + board.retransmitted_bytes(),
        }
    }

    fn on_timeout(&mut self, _now: Time, _board: &Scoreboard, _v: &View) -> Option<Time> {
        self.dups = 0;
        None
    }

    fn policy(&self) -> RecoveryPolicy {
        RecoveryPolicy { retransmits_suspects: false, ..RecoveryPolicy::default() }
    }
}
