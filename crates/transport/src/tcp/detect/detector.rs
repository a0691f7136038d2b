//! What every detector is shown and answers.

use crate::tcp::conn::scoreboard::{Scoreboard, Sent};
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Time};

/// What the sender shows a detector.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// First unacknowledged byte, after this ACK.
    pub una: u64,
    /// Next byte to be sent for the first time.
    pub nxt: u64,
    pub mss: u64,
    pub dupthresh: u32,
    pub phase: Phase,
    /// Everything below was in the network at the last loss or timeout; no new recovery starts until it is
    /// acknowledged (RFC 6582 `recover`).
    pub recovery_point: u64,
    pub limited_transmit: bool,
    /// Congestion window in bytes.
    pub cwnd: f64,
    /// The round trip of the handshake; the longest time there is while it is not known.
    pub handshake_rtt: Dur,
}

impl View {
    /// Whether duplicates speak of a window in which a loss has been answered already.
    pub fn is_below_recovery_point(&self, scope: RecoveryPointScope) -> bool {
        let is_excepted = self.una <= 1 || matches!(self.phase, Phase::Echo { .. });
        self.una <= self.recovery_point && !(scope == RecoveryPointScope::ButFirstAndEcho && is_excepted)
    }
}

/// Which duplicates up to the recovery point mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryPointScope {
    All,
    /// All but those of the very first segment and those in a window that an ECN echo has reduced (ns-2's `recover_` with
    /// `bugfix_ss_`).
    ButFirstAndEcho,
}

/// Where the sender stands between losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    /// Fast recovery, until `high` is acknowledged.
    Recovery {
        high: u64,
    },
    /// After a timeout, until `high` is acknowledged.
    Timeout {
        high: u64,
    },
    /// After an ECN echo, until `high` is acknowledged.
    Echo {
        high: u64,
    },
}

/// What a detector concludes from an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Nothing,
    /// A loss was found: recovery begins.
    Loss,
    /// Recovery goes on; part of the window was acknowledged, which deflates it by so many bytes.
    Partial {
        deflate: u64,
    },
    /// Recovery is complete.
    Recovered,
    /// What looked like a loss was none; the window is set to what was in flight before (RFC 4653).
    Resumed {
        flight: u64,
    },
}

/// How a detector wants recoveries to be led; it never changes. The default is RFC 6675's.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryPolicy {
    /// SACK blocks go to the sender's scoreboard.
    pub uses_scoreboard: bool,
    /// Any new ACK ends the recovery, not only that of everything outstanding at its start.
    pub ends_on_any_ack: bool,
    /// Only the first partial ACK of a recovery restarts the timer (RFC 6582 section 4, "impatient").
    pub first_partial_restarts_timer: bool,
    /// A partial ACK retransmits the first segment.
    pub partial_retransmits: bool,
    /// A partial ACK ends the back-off of the timer.
    pub partial_ends_backoff: bool,
    /// A loss restarts the timer.
    pub loss_restarts_timer: bool,
    /// After a recovery the next one may begin at once.
    pub forgets_recovery_point: bool,
    /// `Ack::covers_original` tells of segments below the highest that SACK has reported, not of those below the recovery point.
    pub watches_order: bool,
    /// A loss leaves a window of one segment, and everything outstanding is retransmitted.
    pub starts_over: bool,
    /// An echo in a recovery, on an ACK beyond its end, prolongs it to all that has been sent.
    pub echo_prolongs_recovery: bool,
    /// Bytes in the network are those of the scoreboard in every phase ([`Scoreboard::in_network`]): the commonest rule, asked for several
    /// times an ACK.
    pub counts_by_board: bool,
    /// With nothing new to send, holes that are not yet held lost are retransmitted (RFC 6675 NextSeg rule 3).
    pub retransmits_suspects: bool,
}

impl Default for RecoveryPolicy {
    fn default() -> RecoveryPolicy {
        RecoveryPolicy {
            uses_scoreboard: true,
            ends_on_any_ack: false,
            first_partial_restarts_timer: false,
            partial_retransmits: false,
            partial_ends_backoff: false,
            loss_restarts_timer: false,
            forgets_recovery_point: false,
            watches_order: false,
            starts_over: false,
            echo_prolongs_recovery: false,
            counts_by_board: false,
            retransmits_suspects: true,
        }
    }
}

/// Where a detector stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// With a clear scoreboard all outstanding bytes are in the network, and an ACK that advances and brings no SACK blocks
    /// changes nothing here. Rules that look at every ACK, or count segments and not bytes, are never quiet.
    pub is_quiet: bool,
    /// The ACK in hand may release segments.
    pub may_send: bool,
    /// Segments that may leave in answer to one ACK; 0 = no limit.
    pub burst_limit: u32,
    /// When a wait ends by itself, or never.
    pub next_wake: Time,
    /// A wait is under way during which duplicates make the window grow.
    pub grows_on_duplicate: bool,
    /// The ACK in hand has shown segments to be lost that were not held lost before.
    pub found_losses: bool,
}

impl Status {
    /// Nothing is out of the ordinary, but every ACK is to be looked at.
    pub const WATCHFUL: Status = Status {
        is_quiet: false,
        may_send: true,
        burst_limit: 0,
        next_wake: Time::NEVER,
        grows_on_duplicate: false,
        found_losses: false,
    };
}

/// What makes a segment leave again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// The window has room for it.
    Window,
    /// The ACK in hand, whatever is held to be in the network.
    Ack,
}

/// A rule that finds lost segments.
pub trait Detect: Clone + std::fmt::Debug {
    /// How recoveries are led; asked once.
    fn policy(&self) -> RecoveryPolicy {
        RecoveryPolicy::default()
    }
    fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict;
    /// Bytes that the rule holds to be in the network.
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64;
    fn status(&self) -> Status;
    /// Of an ACK that advances and brings neither SACK blocks nor duplicates, while the scoreboard is clear, the rule makes no more than
    /// [`Detect::on_in_order`] does, if nothing is left outstanding that has left before this (time, and end of the segment). `None`: it
    /// wants to look at every ACK.
    #[inline]
    fn quiet_after(&self) -> Option<(Time, u64)> {
        self.status().is_quiet.then_some((Time::ZERO, 0))
    }
    /// Takes note of such an ACK.
    fn on_in_order(&mut self, _a: &Ack, _handshake_rtt: Dur) {}
    /// The segment to retransmit next, if any waits.
    #[inline]
    fn next_retransmission(&mut self, why: Release, board: &mut Scoreboard) -> Option<Sent> {
        if why == Release::Window { board.next_lost() } else { None }
    }
    /// A segment of `len` bytes has left, new or again.
    fn on_sent(&mut self, _len: u64) {}
    /// The retransmission timer expires, before anything is made of it. What left later than the answer may still arrive; `None`:
    /// everything outstanding is held lost.
    fn on_timeout(&mut self, _now: Time, _board: &Scoreboard, _v: &View) -> Option<Time> {
        None
    }
    /// The wait that `status` tells of is over.
    fn on_wake(&mut self, _board: &mut Scoreboard, _v: &View) -> Verdict {
        Verdict::Nothing
    }
}

/// A rule whose answer to duplicates can be put off (`dcr`).
pub trait Delay: Detect {
    /// Takes note of a duplicate that must not be taken for a loss yet.
    fn note(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View);
    /// The wait is over: the first segment is lost, and what else the rule holds lost now.
    fn declare(&mut self, board: &mut Scoreboard, v: &View) -> Verdict;
}
