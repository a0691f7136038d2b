//! # Reno-SACK and NewReno-SACK
//!
//! **Source**: ns-2.35 `Sack1TcpAgent` and its scoreboard; fall-floyd-1996 (the `pipe` algorithm); gurtov-2004 section
//! 4.3.1 (NewReno-SACK).
//!
//! **Idea**: the third duplicate that brings new SACK information starts recovery with `pipe = outstanding - 3`; every ACK
//! lowers `pipe` by one, a partial ACK by two, every segment sent raises it; any hole below the highest SACK is sent
//! again, once. `newreno-sack` sends `newreno.partial_segments` holes on every partial ACK whatever `pipe` says, so that a
//! large hole, which `pipe` counts as data in flight, does not end in a timeout. An ECN echo on the ACK that would end the recovery
//! moves its end to the last segment sent: every ACK of that round trip releases two segments, at half the window.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | ns-2 `numdupacks_` |
//! | `dupacks_after_timeout` | - | `bugfix` | ns-2 `bugFix_`; `no-bugfix` finds losses below the recovery point |
//! | `newreno.partial_segments` | segments | 1 | gurtov-2004 section 4.3.1, "at least one"; ns-2 `partial_ack_`: 2 |
//!
//! **Deviations**: 1. Counts in segments of one `mss`, like the original: a flow must send full segments. 2. ns-2's
//! `partial_ack_` counts a partial ACK and what it releases as one segment more in the network; here each of them
//! counts by itself, as in the source.
//!
//! **Checked by**: the ns-2 comparison, segment by segment; `tests/tapes/ecn_in_a_recovery_of_sack1.tape`; `tests/oracle_newreno_sack.rs`.

use super::super::conn::scoreboard::{Scoreboard, Sent};
use super::newreno::NewRenoParams;
use super::{Detect, Phase, RecoveryPointScope, RecoveryPolicy, Release, Status, Verdict, View};
use crate::tcp::choices::DuplicatesRule;
use crate::tcp::facts::Ack;
use crosswind_base::Time;

#[derive(Clone, Debug, Default)]
pub struct PipeSack {
    /// Segments reported by SACK, as ascending, disjoint byte ranges. Outside recovery every new ACK forgets them.
    ranges: Vec<(u64, u64)>,
    /// Next byte to consider as a hole.
    hole: u64,
    dups: u64,
    /// Segments held to be in the network during recovery; may fall below zero.
    pipe: i64,
    recovering: bool,
    /// `dupacks_after_timeout = "no-bugfix"`: a loss may be found below the recovery point.
    ignores_recovery_point: bool,
    /// Duplicates are ignored between a timeout and the next new ACK.
    after_timeout: bool,
    may_send: bool,
    /// NewReno-SACK: holes to send on a partial ACK, and those of the present one.
    on_partial: u32,
    forced: u32,
}

impl PipeSack {
    pub fn new(rule: DuplicatesRule) -> PipeSack {
        PipeSack { ignores_recovery_point: rule == DuplicatesRule::NoBugfix, ..PipeSack::default() }
    }
    /// With NewReno's answer to partial ACKs.
    pub fn newreno(p: &NewRenoParams, rule: DuplicatesRule) -> PipeSack {
        PipeSack { on_partial: p.partial_segments, ..PipeSack::new(rule) }
    }

    fn clear(&mut self) {
        self.ranges.clear();
        self.hole = 0;
    }

    /// Adds blocks above `una`; returns whether the record grew, if `una` has not moved.
    fn update(&mut self, una: u64, blocks: &[(u64, u64)]) -> bool {
        let size = |r: &[(u64, u64)]| r.iter().map(|x| x.1 - x.0).sum::<u64>();
        let before = size(&self.ranges);
        self.ranges.retain(|r| r.1 > una);
        if let Some(r) = self.ranges.first_mut() {
            r.0 = r.0.max(una);
        }
        for &(l, r) in blocks.iter().filter(|b| b.1 > una) {
            let start = self.ranges.partition_point(|x| x.1 < l);
            let end = self.ranges.partition_point(|x| x.0 <= r);
            let (mut nl, mut nr) = (l.max(una), r);
            if let (Some(a), true) = (self.ranges.get(start), start < end) {
                nl = nl.min(a.0);
                nr = nr.max(self.ranges[end - 1].1);
            }
            self.ranges.splice(start..end, [(nl, nr)]);
        }
        size(&self.ranges) != before
    }

    fn on_ack_open(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        if a.bytes > 0 {
            self.after_timeout = false;
            self.dups = 0;
            self.clear();
            self.may_send = true;
            return Verdict::Nothing;
        }
        self.may_send = self.dups == 0;
        if self.after_timeout || !self.update(v.una, blocks) {
            return Verdict::Nothing;
        }
        self.dups += 1;
        // Limited transmit on the first two; nothing but the retransmission itself on the third.
        self.may_send = self.dups < v.dupthresh as u64;
        if self.dups != v.dupthresh as u64
            || (v.is_below_recovery_point(RecoveryPointScope::ButFirstAndEcho) && !self.ignores_recovery_point)
        {
            return Verdict::Nothing;
        }
        self.pipe = ((v.nxt - v.una) / v.mss) as i64 - 3;
        self.recovering = true;
        self.hole = board.first().map_or(0, |s| s.end());
        // The retransmission that starts recovery is not counted in the pipe.
        self.pipe -= 1;
        board.mark_first_lost();
        Verdict::Loss
    }

    fn on_ack_recovering(&mut self, a: &Ack, blocks: &[(u64, u64)], v: &View) -> Verdict {
        self.may_send = true;
        self.pipe -= 1;
        let Phase::Recovery { high } = v.phase else { return Verdict::Nothing };
        if v.una >= high {
            self.recovering = false;
            self.after_timeout = false;
            self.dups = 0;
            self.clear();
            return Verdict::Recovered;
        }
        self.update(v.una, blocks);
        if a.bytes > 0 {
            self.pipe -= 1;
            self.forced = self.on_partial;
            return Verdict::Partial { deflate: 0 };
        }
        Verdict::Nothing
    }

    /// The first segment at or above the hole cursor that is not SACKed while something above it is.
    fn next_hole(&mut self, board: &mut Scoreboard) -> Option<Sent> {
        let top = self.ranges.last()?.1;
        let from = self.hole;
        let ranges = &self.ranges;
        let s = board
            .segments()
            .take_while(|s| s.end() <= top)
            .find(|s| s.start >= from && !ranges.iter().any(|r| r.0 <= s.start && s.end() <= r.1))
            .copied()?;
        self.hole = s.end();
        Some(s)
    }
}

impl Detect for PipeSack {
    fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        if self.recovering { self.on_ack_recovering(a, blocks, v) } else { self.on_ack_open(a, blocks, board, v) }
    }

    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        if self.recovering {
            return self.pipe.max(0) as u64 * v.mss;
        }
        let dups = if v.limited_transmit && self.dups < v.dupthresh as u64 { self.dups } else { 0 };
        (v.nxt - v.una + board.retransmitted_bytes()).saturating_sub(dups * v.mss + board.lost_bytes())
    }

    fn next_retransmission(&mut self, why: Release, board: &mut Scoreboard) -> Option<Sent> {
        if why == Release::Window {
            return if self.recovering { self.next_hole(board) } else { board.next_lost() };
        }
        self.forced = self.forced.checked_sub(1)?;
        // The first segment is missing even when nothing above it was reported.
        let first = board.first().copied().filter(|s| s.start >= self.hole);
        let next = self.next_hole(board).or(first)?;
        self.hole = next.end();
        Some(next)
    }

    #[inline]
    fn status(&self) -> Status {
        Status { may_send: self.may_send, ..Status::WATCHFUL }
    }

    fn on_sent(&mut self, _len: u64) {
        if self.recovering {
            self.pipe += 1;
        }
    }

    fn on_timeout(&mut self, _now: Time, _board: &Scoreboard, _v: &View) -> Option<Time> {
        self.recovering = false;
        self.after_timeout = true;
        self.dups = 0;
        self.may_send = true;
        self.clear();
        None
    }

    fn policy(&self) -> RecoveryPolicy {
        RecoveryPolicy {
            uses_scoreboard: false,
            partial_ends_backoff: true,
            loss_restarts_timer: true,
            forgets_recovery_point: true,
            echo_prolongs_recovery: true,
            retransmits_suspects: false,
            ..RecoveryPolicy::default()
        }
    }
}
