//! # SACK-based detection
//!
//! **Source**: rfc6675 sections 3 to 5 (rfc3517).
//!
//! **Idea**: a segment is lost when `dupthresh` SACKed ranges, or more than `(dupthresh - 1) MSS` SACKed bytes, lie above
//! it; `pipe` counts what is neither SACKed nor lost, plus what was retransmitted.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | rfc6675 section 2 |
//! | `sack_after_timeout` | - | `clear` | rfc2018 section 8; Linux: `keep` |
//!
//! **Deviations**: 1. Outside recovery a loss is looked for only on ACKs that bring SACK information. 2. The rescue retransmission (rule 4) is not made. A tail loss after the last SACK waits for
//! the timer.
//!
//! **Checked by**: `tests/oracle_sack.rs` (`IsLost`, `SetPipe` and `NextSeg` over every segment), `tests/tapes`.

use super::super::conn::scoreboard::Scoreboard;
use super::{Delay, Detect, Phase, Status, Verdict, View};
use crate::tcp::facts::Ack;

#[derive(Clone, Debug, Default)]
pub struct Sack {
    /// ACKs in a row that brought SACK information and nothing else (rfc6675 section 2, `DupAcks`).
    dups: u32,
}

impl Sack {
    fn count(&mut self, a: &Ack) {
        self.dups = if a.bytes > 0 { 0 } else { self.dups + (a.sacked > 0) as u32 };
    }
}

impl Detect for Sack {
    #[inline]
    fn status(&self) -> Status {
        Status { is_quiet: self.dups == 0, ..Status::WATCHFUL }
    }

    fn on_ack(&mut self, a: &Ack, _blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        self.count(a);
        match v.phase {
            Phase::Recovery { high } if v.una >= high => return Verdict::Recovered,
            Phase::Recovery { .. } => {
                if a.sacked > 0 {
                    board.mark_lost_by_sack(v.dupthresh, v.mss);
                }
                return if a.bytes > 0 { Verdict::Partial { deflate: 0 } } else { Verdict::Nothing };
            }
            // After a timeout everything outstanding is held lost already.
            Phase::Timeout { .. } => return Verdict::Nothing,
            Phase::Open | Phase::Echo { .. } => {}
        }
        if a.sacked == 0 || v.una < v.recovery_point {
            return Verdict::Nothing;
        }
        let by_sack = board.mark_lost_by_sack(v.dupthresh, v.mss);
        // Short segments: three duplicates report a loss that their bytes do not.
        let by_count = self.dups >= v.dupthresh && board.mark_first_lost();
        if by_sack || by_count { Verdict::Loss } else { Verdict::Nothing }
    }

    #[inline]
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        let outstanding = v.nxt - v.una;
        let sacked = board.sacked_bytes();
        let quiet = matches!(v.phase, Phase::Open | Phase::Echo { .. });
        // Without limited transmit nothing new leaves before a loss is certain.
        let gone = if quiet && !v.limited_transmit { 0 } else { sacked };
        outstanding - gone - board.lost_bytes() + board.retransmitted_bytes()
    }
}

impl Delay for Sack {
    fn note(&mut self, a: &Ack, _blocks: &[(u64, u64)], _board: &mut Scoreboard, _v: &View) {
        self.count(a);
    }
    fn declare(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        let by_sack = board.mark_lost_by_sack(v.dupthresh, v.mss);
        let first = board.mark_first_lost();
        if by_sack || first { Verdict::Loss } else { Verdict::Nothing }
    }
}
