//! # Tahoe, Reno and NewReno: duplicate ACKs
//!
//! **Source**: rfc5681 section 3.2; rfc6582 section 3.2 and 4; ns-2.35 `TcpAgent` (Tahoe), `RenoTcpAgent`,
//! `NewRenoTcpAgent`; fall-floyd-1996 (Tahoe); gurtov-2004 section 4.5 (what duplicates mean after a timeout).
//!
//! **Idea**: `dupthresh` duplicate ACKs mean that the first segment is lost; every duplicate tells that one segment has
//! left the network, so `in flight = outstanding - duplicates - lost + retransmitted`. Reno leaves recovery on the
//! first new ACK, NewReno stays until everything outstanding at its start is acknowledged and sends the first
//! unacknowledged segment again on each partial ACK. Tahoe has no recovery: after the loss the window is one segment, as after a timeout but
//! without its back-off, and everything from the first segment on is retransmitted.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dupthresh` | segments | 3 | rfc5681 section 3.2 |
//! | `limited_transmit` | - | `on` | rfc3042 |
//! | `dupacks_after_timeout` | - | `bugfix` | rfc2582 section 5; the heuristics: gurtov-2004 section 4.5, rfc6582 section 4 |
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
use super::{Delay, Detect, Phase, RecoveryPointScope, RecoveryPolicy, Status, Verdict, View};
use crate::tcp::choices::{DuplicatesRule, Patience, Switch};
use crate::tcp::facts::{Ack, stamp};
use crosswind_base::{Dur, Time};
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
    /// `newreno-sack`: holes that a partial ACK retransmits whatever is held to be in the network.
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

/// What ends a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// The first new ACK (Reno).
    OnAnyAck,
    /// The ACK of everything outstanding at its start (NewReno).
    WhenAllAcked,
}

/// What a loss leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnLoss {
    Recover,
    /// One segment, and everything again (Tahoe).
    StartOver,
}

/// Which duplicates outside a recovery tell of a segment that has left the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlyRelease {
    /// The first `dupthresh - 1`, and none after a timeout: they answer segments that were sent twice (RFC 3042).
    LimitedTransmit,
    /// All while they are fewer than `dupthresh`, after a timeout as well.
    BelowThreshold,
}

/// What a partial ACK that covers more than the duplicates counted deflates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deflation {
    OfDuplicates,
    /// The window, too, by the difference.
    OfWindowToo,
}

/// How many segments may leave in answer to one ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Burst {
    Unlimited,
    /// Two, from the third duplicate to the end of the recovery.
    TwoInRecovery,
    /// One, while duplicates are counted.
    OneForDuplicates,
}

/// What becomes of the row of duplicates at a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountOnTimeout {
    Forgotten,
    /// Only an ACK that advances ends it.
    Kept,
}

/// The decisions in which senders that count duplicates differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    pub ends: Ends,
    pub on_loss: OnLoss,
    pub recovery_point: RecoveryPointScope,
    pub release: EarlyRelease,
    pub deflation: Deflation,
    pub burst: Burst,
    pub on_timeout: CountOnTimeout,
}

/// What the heuristics look at: the last ACK that advanced.
#[derive(Clone, Debug)]
struct Heuristic {
    rule: DuplicatesRule,
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
    fn new(p: &NewRenoParams, rule: DuplicatesRule, tick: Dur) -> Heuristic {
        Heuristic {
            rule,
            segments: u64::from(p.heuristic_segments),
            looks_at_window: p.heuristic_window.on(),
            tick,
            jump: 0,
            echoes_below: false,
        }
    }

    fn on_new(&mut self, a: &Ack) {
        self.jump = a.bytes;
        self.echoes_below = a.ts_ecr == stamp(a.below_sent_at, self.tick);
    }

    /// Whether three duplicates below the recovery point mean a loss.
    fn finds_loss(&self, v: &View) -> bool {
        let opened = v.cwnd > v.mss as f64;
        match self.rule {
            DuplicatesRule::Bugfix => false,
            DuplicatesRule::NoBugfix => true,
            DuplicatesRule::AckHeuristic => opened && self.jump <= self.segments * v.mss,
            DuplicatesRule::TimestampHeuristic => (opened || !self.looks_at_window) && self.echoes_below,
        }
    }
}

#[derive(Clone, Debug)]
pub struct NewReno {
    rules: Rules,
    patience: Patience,
    /// A partial ACK deflates by what it acknowledges, not by all duplicates.
    deflates: bool,
    heuristic: Option<Box<Heuristic>>,
    /// Consecutive duplicate ACKs; during recovery, segments known to have left the network.
    dups: u64,
    /// The same without what partial ACKs take off, for the rule of bursts alone.
    dups_ever: u64,
}

impl NewReno {
    /// `tick`: of the timestamp clock.
    pub fn new(rules: Rules, p: &NewRenoParams, rule: DuplicatesRule, tick: Dur) -> NewReno {
        let heuristic = (rule != DuplicatesRule::Bugfix).then(|| Box::new(Heuristic::new(p, rule, tick)));
        let deflates = p.deflation.on();
        NewReno { rules, patience: p.patience, deflates, heuristic, dups: 0, dups_ever: 0 }
    }

    fn stays_on_partial(&self) -> bool {
        self.rules.ends == Ends::WhenAllAcked
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
        let mut deflate = 0;
        if !self.deflates {
            self.dups = 0;
        } else if self.dups > acked {
            self.dups -= acked - 1;
        } else {
            if self.rules.deflation == Deflation::OfWindowToo {
                deflate = (acked - self.dups) * v.mss;
            }
            self.dups = 1;
        }
        board.mark_first_lost();
        Verdict::Partial { deflate }
    }

    fn on_duplicate(&mut self, a: &Ack, board: &mut Scoreboard, v: &View) -> Verdict {
        if !a.duplicate {
            return Verdict::Nothing;
        }
        self.dups += 1;
        self.dups_ever += 1;
        let recovering = matches!(v.phase, Phase::Recovery { .. });
        if recovering || self.dups != v.dupthresh as u64 || self.is_below_recovery_point(v) {
            return Verdict::Nothing;
        }
        // After a timeout, or below the recovery point, the first segment may have been retransmitted already, and that was lost.
        let is_below = self.heuristic.is_some() || matches!(v.phase, Phase::Timeout { .. });
        let again = is_below && board.mark_first_lost_again();
        if again || board.mark_first_lost() { Verdict::Loss } else { Verdict::Nothing }
    }

    /// The window that was in the network at the last loss is not yet acknowledged.
    fn is_below_recovery_point(&self, v: &View) -> bool {
        v.is_below_recovery_point(self.rules.recovery_point)
            && !self.heuristic.as_ref().is_some_and(|h| h.finds_loss(v))
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
        } else if !v.limited_transmit {
            0
        } else {
            let after_timeout = matches!(v.phase, Phase::Timeout { .. });
            match self.rules.release {
                EarlyRelease::LimitedTransmit if after_timeout => 0,
                EarlyRelease::LimitedTransmit => self.dups.min(limit - 1),
                EarlyRelease::BelowThreshold if self.dups < limit => self.dups,
                EarlyRelease::BelowThreshold => 0,
            }
        };
        (outstanding + board.retransmitted_bytes()).saturating_sub(left * v.mss + board.lost_bytes())
    }

    #[inline]
    fn status(&self) -> Status {
        let burst_limit = match self.rules.burst {
            Burst::TwoInRecovery if self.dups_ever >= 3 => 2,
            Burst::OneForDuplicates if self.dups > 0 => 1,
            _ => 0,
        };
        let is_quiet = self.dups | self.dups_ever == 0 && self.heuristic.is_none();
        Status { is_quiet, burst_limit, ..Status::WATCHFUL }
    }

    fn on_timeout(&mut self, _now: Time, _board: &Scoreboard, _v: &View) -> Option<Time> {
        if self.rules.on_timeout == CountOnTimeout::Forgotten {
            (self.dups, self.dups_ever) = (0, 0);
        }
        None
    }

    fn policy(&self) -> RecoveryPolicy {
        RecoveryPolicy {
            uses_scoreboard: false,
            ends_on_any_ack: !self.stays_on_partial(),
            first_partial_restarts_timer: self.stays_on_partial() && self.patience == Patience::Impatient,
            partial_retransmits: true,
            loss_restarts_timer: true,
            starts_over: self.rules.on_loss == OnLoss::StartOver,
            retransmits_suspects: false,
            ..RecoveryPolicy::default()
        }
    }
}

impl Delay for NewReno {
    fn note(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) {
        self.on_ack(a, blocks, board, &View { dupthresh: u32::MAX, ..*v });
    }
    fn declare(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        if !self.is_below_recovery_point(v) && board.mark_first_lost() { Verdict::Loss } else { Verdict::Nothing }
    }
}
