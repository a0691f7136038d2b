//! # Tahoe, Reno and NewReno: duplicate ACKs
//!
//! **Source**: rfc5681 section 3.2; rfc6582 section 3.2 and 4; ns-2.35 `TcpAgent` (Tahoe), `RenoTcpAgent`,
//! `NewRenoTcpAgent`; fall-floyd-1996 (Tahoe); gurtov-2004 section 4.5 (what duplicates mean after a timeout).
//!
//! **Idea**: `dupthresh` duplicate ACKs mean that the first segment is lost; every duplicate tells that one segment has
//! left the network, so `in flight = outstanding - duplicates - lost + sent again`. Reno leaves recovery on the
//! first new ACK, NewReno stays until everything outstanding at its start is acknowledged and sends the first
//! unacknowledged segment again on each partial ACK. Tahoe has no recovery: after the loss the window is one segment, as after a timeout but
//! without its back-off, and everything from the first segment on is sent again.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | rfc5681 section 3.2 |
//! | `limited_transmit` | - | `on` | rfc3042 |
//! | `dupack_guard` | - | `bugfix` | rfc2582 section 5; the heuristics: gurtov-2004 section 4.5, rfc6582 section 4 |
//! | `newreno.heuristic_segments` | segments | 3 | gurtov-2004 section 4.5 and ns-2; rfc6582 section 4.1: 4 |
//! | `newreno.heuristic_window` | - | `on` | gurtov-2004 section 4.5; ns-2: `off` |
//! | `newreno.patience` | - | `impatient` | rfc6582 section 4; ns-2 `newreno_changes1_` |
//! | `newreno.deflation` | - | `on` | rfc6582 section 3.2 step 3; ns-2 `partial_window_deflation_` |
//!
//! **Deviations**: 1. Window inflation is expressed as a smaller count of bytes in flight; the segments sent are the
//! same. 2. ns-2 variants: two segments at most per ACK during NewReno recovery; when a partial ACK covers more than the
//! duplicates counted, the window itself is deflated; duplicates after a timeout release new segments only for the
//! first two (Tahoe's count goes on through a timeout, and a duplicate releases one).
//!
//! **Checked by**: `detect/newreno_oracle.rs` (heuristics), `tests/tapes/*reno_*.tape`, `tests/tapes/newreno_rto_*.tape`; the ns-2 comparison, segment by segment.

use super::super::conn::scoreboard::Scoreboard;
use super::super::params::{GuardRule, Patience, Switch, TcpParams};
use super::super::{Ack, stamp};
use super::{Detect, Habits, Phase, Verdict, View};
use crosswind_base::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What NewReno, with SACK or without, does after a timeout and on partial ACKs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewRenoParams {
    /// `ack-heuristic`: an ACK that jumps over more segments than this speaks of needless retransmissions.
    pub heuristic_segments: u32,
    /// Whether the timestamp heuristic, too, asks for a window above one segment.
    pub heuristic_window: Switch,
    /// Which partial ACKs restart the timer.
    pub patience: Patience,
    /// A partial ACK deflates the window by what it acknowledges, less one segment; off: by all duplicates.
    pub deflation: Switch,
    /// `newreno-sack`: holes that a partial ACK sends again whatever is held to be in the network.
    pub partial_segments: u32,
}

impl Default for NewRenoParams {
    fn default() -> NewRenoParams {
        NewRenoParams {
            heuristic_segments: 3,
            heuristic_window: Switch::On,
            patience: Patience::Impatient,
            deflation: Switch::On,
            partial_segments: 1,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    Tahoe,
    Reno,
    NewReno,
    Ns2Tahoe,
    Ns2Reno,
    Ns2NewReno,
}

/// What the heuristics look at: the last ACK that advanced.
#[derive(Clone, Debug)]
struct Heuristic {
    rule: GuardRule,
    segments: u64,
    /// The timestamp heuristic, too, wants a window above one segment.
    looks_at_window: bool,
    tick: Dur,
    /// How far the last ACK that advanced went.
    jump: u64,
    /// It echoed the timestamp of the segment just below it.
    echoes_below: bool,
}

impl Heuristic {
    fn new(p: &TcpParams) -> Heuristic {
        Heuristic {
            rule: p.dupack_guard,
            segments: u64::from(p.newreno.heuristic_segments),
            looks_at_window: p.newreno.heuristic_window.on(),
            tick: p.timestamp_tick,
            jump: 0,
            echoes_below: false,
        }
    }

    fn on_new(&mut self, a: &Ack) {
        self.jump = a.bytes;
        self.echoes_below = a.ts_ecr == stamp(a.below_sent_at, self.tick);
    }

    /// Whether three duplicates below the guard mean a loss.
    fn finds_loss(&self, v: &View) -> bool {
        let opened = v.cwnd > v.mss as f64;
        match self.rule {
            GuardRule::Bugfix => false,
            GuardRule::NoBugfix => true,
            GuardRule::AckHeuristic => opened && self.jump <= self.segments * v.mss,
            GuardRule::TimestampHeuristic => (opened || !self.looks_at_window) && self.echoes_below,
        }
    }
}

#[derive(Clone, Debug)]
pub struct NewReno {
    variant: Variant,
    patience: Patience,
    /// A partial ACK deflates by what it acknowledges, not by all duplicates.
    deflates: bool,
    heuristic: Option<Box<Heuristic>>,
    /// Consecutive duplicate ACKs; during recovery, segments known to have left the network.
    dups: u64,
    /// ns-2 keeps counting duplicates through partial ACKs, for its burst rule alone.
    dups_ever: u64,
    /// Bytes by which ns-2 deflates the window beyond the duplicates counted.
    deflate: u64,
}

impl NewReno {
    pub fn new(variant: Variant, p: &TcpParams) -> NewReno {
        let heuristic = (p.dupack_guard != GuardRule::Bugfix).then(|| Box::new(Heuristic::new(p)));
        let deflates = p.newreno.deflation.on();
        NewReno { variant, patience: p.newreno.patience, deflates, heuristic, dups: 0, dups_ever: 0, deflate: 0 }
    }

    fn stays_on_partial(&self) -> bool {
        matches!(self.variant, Variant::NewReno | Variant::Ns2NewReno)
    }
    fn is_ns2(&self) -> bool {
        matches!(self.variant, Variant::Ns2Tahoe | Variant::Ns2Reno | Variant::Ns2NewReno)
    }

    fn on_new(&mut self, a: &Ack, board: &mut Scoreboard, v: &View) -> Verdict {
        if let Some(h) = &mut self.heuristic {
            h.on_new(a);
        }
        let Phase::Recovery { high } = v.phase else {
            (self.dups, self.dups_ever) = (0, 0);
            return Verdict::Nothing;
        };
        if v.una >= high || !self.stays_on_partial() {
            (self.dups, self.dups_ever) = (0, 0);
            return Verdict::Recovered;
        }
        // RFC 6582 step 3, partial ACK: deflate by what was acknowledged, add back one segment.
        let acked = a.bytes.div_ceil(v.mss);
        self.deflate = 0;
        if !self.deflates {
            self.dups = 0;
        } else if self.dups > acked {
            self.dups -= acked - 1;
        } else {
            if self.is_ns2() {
                self.deflate = (acked - self.dups) * v.mss;
            }
            self.dups = 1;
        }
        board.mark_first_lost();
        Verdict::Partial
    }

    fn on_duplicate(&mut self, a: &Ack, board: &mut Scoreboard, v: &View) -> Verdict {
        if !a.duplicate {
            return Verdict::Nothing;
        }
        self.dups += 1;
        self.dups_ever += 1;
        let recovering = matches!(v.phase, Phase::Recovery { .. });
        if recovering || self.dups != v.dupthresh as u64 || self.is_guarded(v) {
            return Verdict::Nothing;
        }
        // After a timeout, or below the guard, the first segment may have been sent again already, and that was lost.
        let below_guard = self.heuristic.is_some() || matches!(v.phase, Phase::Timeout { .. });
        let again = below_guard && board.mark_first_lost_again();
        if again || board.mark_first_lost() { Verdict::Loss } else { Verdict::Nothing }
    }

    /// The window that was in the network at the last loss is not yet acknowledged. ns-2 has exceptions.
    fn is_guarded(&self, v: &View) -> bool {
        let guarded = if self.is_ns2() { v.is_guarded_in_ns2() } else { v.una <= v.guard };
        guarded && !self.heuristic.as_ref().is_some_and(|h| h.finds_loss(v))
    }
}

impl Detect for NewReno {
    fn on_ack(&mut self, a: &Ack, _blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        if a.bytes > 0 { self.on_new(a, board, v) } else { self.on_duplicate(a, board, v) }
    }

    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        let outstanding = v.nxt - v.una;
        let recovering = matches!(v.phase, Phase::Recovery { .. });
        let limit = v.dupthresh as u64;
        let left = if recovering {
            self.dups
        } else if matches!(v.phase, Phase::Timeout { .. }) && !self.is_ns2() {
            // Duplicates after a timeout answer segments that were sent twice.
            0
        } else if !v.limited_transmit || (self.is_ns2() && self.dups >= limit) {
            0
        } else if self.is_ns2() {
            self.dups
        } else {
            // RFC 3042: the first two duplicates release a segment each.
            self.dups.min(limit - 1)
        };
        (outstanding + board.resent_bytes()).saturating_sub(left * v.mss + board.lost_bytes())
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.dups | self.dups_ever == 0 && self.heuristic.is_none()
    }

    fn burst_limit(&self) -> u32 {
        match self.variant {
            Variant::Ns2NewReno if self.dups_ever >= 3 => 2,
            Variant::Ns2Tahoe if self.dups > 0 => 1,
            _ => 0,
        }
    }

    fn wait_on(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) {
        let patient = View { dupthresh: u32::MAX, ..*v };
        self.on_ack(a, blocks, board, &patient);
    }
    fn declare(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        if !self.is_guarded(v) && board.mark_first_lost() { Verdict::Loss } else { Verdict::Nothing }
    }

    fn on_timeout(&mut self) {
        // ns-2's Tahoe goes on counting: only an ACK that advances ends its row of duplicates.
        if self.variant != Variant::Ns2Tahoe {
            (self.dups, self.dups_ever) = (0, 0);
        }
    }

    fn habits(&self) -> Habits {
        Habits {
            uses_scoreboard: false,
            ends_on_any_ack: !self.stays_on_partial(),
            first_partial_restarts_timer: self.stays_on_partial() && self.patience == Patience::Impatient,
            partial_resends: true,
            loss_restarts_timer: true,
            starts_over: matches!(self.variant, Variant::Tahoe | Variant::Ns2Tahoe),
            resends_suspects: false,
            ..Habits::default()
        }
    }
    fn take_deflation(&mut self) -> u64 {
        std::mem::take(&mut self.deflate)
    }
}
