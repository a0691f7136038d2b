//! # SACK of Linux 2.4
//!
//! **Source**: linux-2.4 `net/ipv4/tcp_input.c` (`tcp_time_to_recover`, `tcp_update_scoreboard`, `tcp_mark_head_lost`,
//! `tcp_fastretrans_alert`, `tcp_sacktag_write_queue`), `tcp_output.c` (`tcp_xmit_retransmit_queue`).
//!
//! **Idea**: a loss is certain when the highest SACKed segment is more than `dupthresh` segments above the first hole. Then
//! only the first hole is held lost, and one more with every partial ACK; all other holes count as in flight. A SACK of
//! data sent since the recovery began proves more: every hole that lies `dupthresh` segments below it is lost. That is the
//! kernel with `tcp_fack` off (`linux-2.4`). With it, as the kernel comes (`linux-2.4-fack`), every hole that lies `dupthresh` segments
//! below the highest SACK is held lost at once, and a retransmission is held lost when data that left after it is SACKed.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | linux-2.4 `tcp_reordering` |
//!
//! **Deviations**: 1. Segments are counted from bytes: all are taken for full but the last, and a FIN alone for none. 2. Without FACK, a retransmission
//! that is lost again is not noticed by what is SACKed above it; it waits for the timer. 3. What the window does meanwhile is
//! said elsewhere (`window_moderation`, `reduction = "linux-2.4"`). 4. Reordering is not measured: the kernel would raise the threshold
//! and give up FACK. 5. After a recovery has ended, the next one begins with the next SACK, not with the same ACK.
//!
//! **Checked by**: `detect/hole_sack_oracle.rs` (the tags and counters of the kernel, on random traces); the experiments of
//! [Järvinen 2006], as the reading `linux-recovery`; those of [Riva 2003].

use super::super::conn::scoreboard::Scoreboard;
use super::{Detect, Phase, Status, Verdict, View};
use crate::tcp::facts::Ack;

/// Which holes are held lost when a loss is certain (`tcp_fack` off or on).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holes {
    First,
    BelowForward,
}

#[derive(Clone, Copy, Debug)]
pub struct HoleSack {
    pub holes: Holes,
}

impl HoleSack {
    /// `tcp_update_scoreboard`. Returns whether anything new is held lost.
    fn mark(self, high: u64, board: &mut Scoreboard, v: &View) -> bool {
        let below = proven_below(board, v).min(high);
        let forward = self.holes == Holes::BelowForward && board.mark_lost_below(below);
        board.mark_first_lost() || forward
    }
}

/// Retransmissions after which the data left that a block tells of (`tcp_sacktag_write_queue`, event C): lost as well.
/// Of what left at one moment, data from `high` on, where this recovery began, left after the retransmissions.
fn mark_lost_again(blocks: &[(u64, u64)], high: u64, board: &mut Scoreboard) {
    let Some(top) = blocks.iter().map(|b| b.1).max() else { return };
    if board.retransmitted_bytes() == 0 {
        return;
    }
    let last = board.ending_at(top).filter(|s| !s.was_ever_retransmitted()).map(|s| (s.sent_at, s.start >= high));
    if let Some((left, is_of_recovery)) = last {
        board.mark_retransmissions_lost(top, left, is_of_recovery);
    }
}

/// How many segments so many bytes are: all are full but perhaps the very last, whatever its length, and a FIN adds a byte.
fn segments(bytes: u64, v: &View) -> u64 {
    (bytes + v.mss).saturating_sub(2) / v.mss
}

/// Segments from the first unacknowledged one to the highest SACKed one (`fackets_out`).
fn reach(board: &Scoreboard, v: &View) -> u64 {
    segments(board.highest_sacked().saturating_sub(v.una), v)
}

/// More than `dupthresh` of them.
fn is_far(board: &Scoreboard, v: &View) -> bool {
    reach(board, v) > u64::from(v.dupthresh)
}

/// What lies `dupthresh` segments below the highest SACK.
fn proven_below(board: &Scoreboard, v: &View) -> u64 {
    v.una + reach(board, v).saturating_sub(u64::from(v.dupthresh)) * v.mss
}

impl Detect for HoleSack {
    fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        match v.phase {
            Phase::Recovery { high } if v.una >= high => Verdict::Recovered,
            Phase::Recovery { high } => {
                if self.holes == Holes::BelowForward {
                    mark_lost_again(blocks, high, board);
                }
                if blocks.iter().any(|b| b.1 > high) && is_far(board, v) {
                    board.mark_lost_below(proven_below(board, v).min(high));
                }
                if a.bytes == 0 {
                    if self.holes == Holes::BelowForward && a.duplicate {
                        self.mark(high, board, v);
                    }
                    return Verdict::Nothing;
                }
                if is_far(board, v) {
                    self.mark(high, board, v);
                }
                Verdict::Partial { deflate: 0 }
            }
            Phase::Timeout { .. } => Verdict::Nothing,
            Phase::Open | Phase::Echo { .. } => {
                let certain = a.sacked > 0 && v.una >= v.recovery_point && is_far(board, v);
                if certain && self.mark(v.nxt, board, v) { Verdict::Loss } else { Verdict::Nothing }
            }
        }
    }

    #[inline]
    fn status(&self) -> Status {
        Status::WATCHFUL
    }

    #[inline]
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        let quiet = matches!(v.phase, Phase::Open | Phase::Echo { .. });
        let gone = if quiet && !v.limited_transmit { 0 } else { board.sacked_bytes() };
        let left = segments(gone, v) + segments(board.lost_bytes(), v);
        (segments(v.nxt - v.una, v) + segments(board.retransmitted_bytes(), v)).saturating_sub(left) * v.mss
    }
}

#[cfg(test)]
#[path = "hole_sack_oracle.rs"]
mod oracle;
