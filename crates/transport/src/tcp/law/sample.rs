//! What a controller is told: of every ACK the same facts, whatever it makes of them.

use super::super::conn::ledger::Delivery;
use super::super::detect::Phase;
use super::super::ecn::Agreed;
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Time};

/// One ACK, after the detector has said what is lost and before anything is done about it.
#[derive(Clone, Copy, Debug)]
pub struct AckSample<'a> {
    /// What it acknowledges, its round-trip sample, what was in flight before it, whether the window limited the sender.
    pub ack: &'a Ack,
    /// The profile lets the window grow on it: data is acknowledged, no recovery forbids it, the window was used.
    pub may_grow: bool,
    /// Bytes that count for growth: what is acknowledged, or delivered where segments are counted.
    pub credit: u64,
    /// Where the sender will stand when the ACK has been dealt with.
    pub phase: Phase,
    /// Bytes that it has shown to be lost.
    pub newly_lost: u64,
    /// Bytes in the network after it, before anything is sent in answer.
    pub in_flight: u64,
    /// What was agreed about marks.
    pub agreed: Agreed,
    /// Next byte to be sent for the first time: what ends a round that begins now.
    pub nxt: u64,
    /// Bytes beyond which the host lets no window grow (Linux: `tcp_slow_start`, `tcp_cong_avoid_ai` and `bbr_set_cwnd` look at it).
    pub limit: f64,
    /// Delivery rate, rounds, and least round trip: for controllers whose row asks for it.
    pub delivery: Option<&'a Delivery>,
}

impl AckSample<'_> {
    /// An ACK on which the window may grow, and about which there is nothing else to say.
    #[inline]
    pub fn of(a: &Ack) -> AckSample<'_> {
        AckSample {
            ack: a,
            may_grow: true,
            credit: a.bytes,
            phase: Phase::Open,
            newly_lost: 0,
            in_flight: a.in_flight_before.saturating_sub(a.bytes),
            agreed: Agreed::Nothing,
            nxt: a.ack + a.in_flight_before.saturating_sub(a.bytes),
            limit: f64::INFINITY,
            delivery: None,
        }
    }
}

/// A segment leaves, new or again.
#[derive(Clone, Copy, Debug)]
pub struct SentFacts {
    pub now: Time,
    /// Nothing was in the network.
    pub was_idle: bool,
    /// The application had left the path idle before.
    pub is_app_limited: bool,
    /// Smoothed round-trip time of the retransmission timer, if it knows one.
    pub srtt: Option<Dur>,
}

/// What a controller asks of the connection. Who does not ask does not pay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// [`AckSample::delivery`].
    pub delivery: bool,
    /// Its segments leave at the rate that it sets.
    pub pacing: bool,
    /// It says itself what a recovery releases: no reduction is spread over a recovery for it.
    pub recovery: bool,
    /// A random stream.
    pub dice: bool,
    /// It hears of each segment that is held lost; with `delivery` only.
    pub losses: bool,
    /// Losses cost what they cost, marks answered in the same window or not.
    pub apart: bool,
}

/// As the rows of controllers write them.
impl Needs {
    pub(super) fn delivery(self) -> Needs {
        Needs { delivery: true, ..self }
    }
    pub(super) fn pacing(self) -> Needs {
        Needs { pacing: true, ..self }
    }
    pub(super) fn recovery(self) -> Needs {
        Needs { recovery: true, ..self }
    }
    pub(super) fn losses(self) -> Needs {
        Needs { losses: true, ..self }
    }
    pub(super) fn apart(self) -> Needs {
        Needs { apart: true, ..self }
    }
    pub(super) fn dice(self) -> Needs {
        Needs { dice: true, ..self }
    }
}
