//! # SACK of Linux 2.4 without FACK
//!
//! **Source**: linux-2.4 `net/ipv4/tcp_input.c` (`tcp_time_to_recover`, `tcp_update_scoreboard`, `tcp_mark_head_lost`,
//! `tcp_fastretrans_alert`), `tcp_output.c` (`tcp_xmit_retransmit_queue`), with `tcp_fack` off.
//!
//! **Idea**: a loss is certain when the highest SACKed segment is more than `dupthresh` segments above the first hole. Then
//! only the first hole is held lost, and one more with every partial ACK; all other holes count as in flight. A SACK of
//! data sent since the recovery began proves more: every hole that lies `dupthresh` segments below it is lost.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | linux-2.4 `tcp_reordering` |
//!
//! **Deviations**: 1. Segments are counted as bytes over `mss`: the same with full segments. 2. A retransmission that is
//! lost again is not noticed by what is SACKed above it; it waits for the timer. 3. The window is not moderated by the
//! bytes in flight (`tcp_moderate_cwnd`, `tcp_cwnd_down`): it falls to the threshold at once, and bursts are longer.
//!
//! **Checked by**: `detect/linux_sack_oracle.rs` (the tags and counters of the kernel, on random traces); the experiments of
//! [Järvinen 2006], as the reading `linux-recovery`.

use super::super::Ack;
use super::super::conn::scoreboard::Scoreboard;
use super::{Detect, Phase, Verdict, View};

#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxSack;

/// More than `dupthresh` segments lie between the first unacknowledged byte and the highest SACK.
fn is_far(board: &Scoreboard, v: &View) -> bool {
    board.highest_sacked().saturating_sub(v.una) > u64::from(v.dupthresh) * v.mss
}

impl Detect for LinuxSack {
    fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        match v.phase {
            Phase::Recovery { high } if v.una >= high => Verdict::Recovered,
            Phase::Recovery { high } => {
                if blocks.iter().any(|b| b.1 > high) && is_far(board, v) {
                    let proven = board.highest_sacked() - u64::from(v.dupthresh) * v.mss;
                    board.mark_lost_below(proven.min(high));
                }
                if a.bytes == 0 {
                    return Verdict::Nothing;
                }
                if is_far(board, v) {
                    board.mark_first_lost();
                }
                Verdict::Partial
            }
            Phase::Timeout { .. } => Verdict::Nothing,
            Phase::Open | Phase::Echo { .. } => {
                let certain = a.sacked > 0 && v.una >= v.guard && is_far(board, v);
                if certain && board.mark_first_lost() { Verdict::Loss } else { Verdict::Nothing }
            }
        }
    }

    #[inline]
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        let quiet = matches!(v.phase, Phase::Open | Phase::Echo { .. });
        let gone = if quiet && !v.limited_transmit { 0 } else { board.sacked_bytes() };
        v.nxt - v.una - gone - board.lost_bytes() + board.resent_bytes()
    }
}

#[cfg(test)]
#[path = "linux_sack_oracle.rs"]
mod oracle;
