//! Loss detectors: which segments are lost, how many bytes are in the network, what to send again next.
//!
//! One file per rule. A detector sees facts and the scoreboard; it sends nothing.

pub mod newreno;
pub mod ns2_sack1;
pub mod sack;

use super::Ack;
use super::conn::scoreboard::{Scoreboard, Sent};
use super::params::{Detection, TcpParams};

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
    pub guard: u64,
    pub limited_transmit: bool,
}

impl View {
    /// ns-2's `recover_` rule. It lets the very first segment pass (`bugfix_ss_`), and a loss in a window that an ECN echo
    /// has reduced already.
    pub fn is_guarded_in_ns2(&self) -> bool {
        self.una <= self.guard && self.una > 1 && !matches!(self.phase, Phase::Echo { .. })
    }
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
    /// Recovery goes on; part of the window was acknowledged.
    Partial,
    /// Recovery is complete.
    Recovered,
}

/// The detector of one connection: one variant per file of this folder.
#[derive(Clone, Debug)]
pub enum Detector {
    NewReno(newreno::NewReno),
    Sack(sack::Sack),
    Ns2Sack1(Box<ns2_sack1::Ns2Sack1>),
}

impl Detector {
    pub fn new(p: &TcpParams, sack_negotiated: bool) -> Detector {
        use newreno::{NewReno, Variant};
        match p.recovery {
            Detection::Sack if sack_negotiated => Detector::Sack(sack::Sack::default()),
            Detection::Ns2Sack1 => Detector::Ns2Sack1(Box::default()),
            Detection::Reno => Detector::NewReno(NewReno::new(Variant::Reno)),
            Detection::Ns2Reno => Detector::NewReno(NewReno::new(Variant::Ns2Reno)),
            Detection::Ns2Newreno => Detector::NewReno(NewReno::new(Variant::Ns2NewReno)),
            Detection::Newreno | Detection::Sack => Detector::NewReno(NewReno::new(Variant::NewReno)),
        }
    }

    /// Whether SACK blocks go to the sender's scoreboard.
    pub fn uses_scoreboard(&self) -> bool {
        matches!(self, Detector::Sack(_))
    }

    #[inline]
    pub fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        match self {
            Detector::NewReno(d) => d.on_ack(a, board, v),
            Detector::Sack(d) => d.on_ack(a, board, v),
            Detector::Ns2Sack1(d) => d.on_ack(a, blocks, board, v),
        }
    }

    /// Bytes that the rule holds to be in the network.
    #[inline]
    pub fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        match self {
            Detector::NewReno(d) => d.in_flight(board, v),
            Detector::Sack(d) => d.in_flight(board, v),
            Detector::Ns2Sack1(d) => d.in_flight(board, v),
        }
    }

    /// The segment to send again next, if any waits.
    #[inline]
    pub fn next_resend(&mut self, board: &mut Scoreboard) -> Option<Sent> {
        match self {
            Detector::Ns2Sack1(d) if d.in_recovery() => d.next_hole(board),
            _ => board.next_lost(),
        }
    }

    /// Segments that may leave in answer to one ACK, where the rule limits them; 0 = no limit.
    pub fn burst_limit(&self) -> u32 {
        match self {
            Detector::NewReno(d) => d.burst_limit(),
            _ => 0,
        }
    }

    /// Whether this ACK may release segments at all.
    pub fn may_send(&self) -> bool {
        match self {
            Detector::Ns2Sack1(d) => d.may_send(),
            _ => true,
        }
    }

    /// A segment has left, new or again.
    pub fn on_sent(&mut self, len: u64) {
        if let Detector::Ns2Sack1(d) = self {
            d.on_sent(len);
        }
    }

    pub fn on_timeout(&mut self) {
        match self {
            Detector::NewReno(d) => d.on_timeout(),
            Detector::Sack(_) => {}
            Detector::Ns2Sack1(d) => d.on_timeout(),
        }
    }
}
