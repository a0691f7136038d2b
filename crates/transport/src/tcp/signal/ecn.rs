//! # ECN echo
//!
//! **Source**: rfc3168 section 6.1.2; rfc8257 section 3.3; rfc9768 section 3.2.2.
//!
//! **Idea**: an ACK that reports marks asks for the controller's answer, at most once per round trip; in the classic modes the next new
//! data segment carries CWR, exactly once per reduction. How many packets were marked is counted for every ACK, answered or not:
//! with ECE alone all that it delivers, one at least; with AccECN as many as it says.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ecn` | - | `off` | per scenario: `off`, `classic` (or `on`), `dctcp`, `accurate` |
//! | `codepoint` | - | `ect0` | rfc3168 section 5; `ect1` asks for L4S (rfc9331) |
//! | `ecn_rules.capable` | - | `mode` | rfc3168 section 6.1.5 (`data`); linux-6.18: `established` with AccECN, `all` with DCTCP |
//!
//! **Deviations**: 1. ns-2 profile: retransmissions are ECN-capable and may carry CWR, an echo is heeded after a timeout
//! as well, and a timeout that follows an answered echo keeps the slow-start threshold, however long ago that was.
//!
//! **Checked by**: `tests/tapes/ecn_*.tape` (one reduction per round trip, CWR once, retransmissions never ECT), `accecn_*`;
//! `tests/properties.rs` (the same counts on the short way of an ACK).

use super::super::detect::{Phase, View};
use super::super::ecn::counting::{Counting, Progress};
use super::super::ecn::{Agreed, Marks};
use super::super::params::TcpParams;
use super::super::policies::EchoAnswers;
use crate::tcp::facts::Ack;
use crosswind_base::packet::AccEcnOption;
use crosswind_base::{Packet, TcpFlags};

/// The sender's side of ECN.
#[derive(Clone, Debug, Default)]
pub struct EcnEcho {
    /// Negotiated in the handshake.
    pub agreed: Agreed,
    /// The next new data segment carries CWR.
    pub cwr_pending: bool,
    /// The last reduction answered an echo, not a loss or a timeout.
    pub answered_last: bool,
    pub answers: EchoAnswers,
    /// Feedback does not get through: it is counted, and not answered.
    pub is_deaf: bool,
    /// `accurate` only.
    pub counting: Option<Box<Counting>>,
    /// The option of the packet in hand.
    heard: Option<AccEcnOption>,
    /// That packet is the third of the handshake: its number is not a count.
    is_third: bool,
}

/// What an ACK delivers, for [`EcnEcho::marks`].
#[derive(Clone, Copy, Debug)]
pub struct Delivers {
    pub progress: Progress,
    /// It acknowledges or reports something new.
    pub is_news: bool,
}

impl EcnEcho {
    pub fn new(answers: EchoAnswers) -> EcnEcho {
        EcnEcho { answers, ..EcnEcho::default() }
    }

    /// The handshake has agreed.
    pub fn begin(&mut self, agreed: Agreed, p: &TcpParams) {
        self.agreed = agreed;
        self.counting = (agreed == Agreed::Accurate).then(|| Box::new(Counting::new(p.ecn.ecn_rules.thinning)));
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        self.agreed.is_any()
    }

    /// The AccECN option of the packet in hand, or none.
    #[inline]
    pub fn hear(&mut self, option: Option<AccEcnOption>, is_third: bool) {
        (self.heard, self.is_third) = (option, is_third);
    }

    /// The flags say nothing that is not known.
    #[inline]
    pub fn is_quiet(&self, flags: TcpFlags) -> bool {
        match &self.counting {
            None => !flags.has(TcpFlags::ECE),
            Some(c) => c.is_known(flags.ace()),
        }
    }

    /// What an ACK reports. To be called once for each, whatever else it says.
    #[inline]
    pub fn marks(&mut self, pkt: &Packet, d: Delivers) -> Marks {
        if self.counting.is_some() {
            return self.marks_counted(pkt, d);
        }
        match self.agreed.is_any() && pkt.flags.has(TcpFlags::ECE) {
            true => Marks { packets: d.progress.packets.max(1), bytes: d.progress.bytes },
            false => Marks::default(),
        }
    }

    #[inline(never)]
    fn marks_counted(&mut self, pkt: &Packet, d: Delivers) -> Marks {
        let option = self.heard.take();
        let Some(c) = &mut self.counting else { return Marks::default() };
        // An ACK that was overtaken says less than is known.
        let is_newer = c.see(pkt.ts_val);
        if self.is_third || (!d.is_news && !is_newer) {
            return Marks::default();
        }
        let (packets, bytes) = c.read(pkt.flags.ace(), option.as_ref(), d.progress);
        let n = u64::from(d.progress.packets.max(packets)).max(1);
        let in_proportion = d.progress.bytes * u64::from(packets) / n;
        match packets {
            0 => Marks::default(),
            _ => Marks { packets, bytes: bytes.unwrap_or(in_proportion) },
        }
    }

    /// Whether this ACK asks for a reduction. The sender ignores it inside an episode.
    pub fn congested(&self, a: &Ack) -> bool {
        self.is_active() && a.newly_ce > 0 && !self.is_deaf
    }

    /// The same before a detector has looked at the ACK, for those who ask then.
    pub fn congested_beyond_point(&self, a: &Ack, v: &View) -> bool {
        self.answers == EchoAnswers::BeyondRecoveryPoint
            && self.congested(a)
            && (v.una > v.recovery_point || matches!(v.phase, Phase::Timeout { .. }))
    }

    /// One mark in the sequence ends all episodes, those of echoes too.
    pub fn has_one_recovery_point(&self) -> bool {
        self.answers == EchoAnswers::BeyondRecoveryPoint
    }

    /// A reduction: where flags do not count, the receiver learns of every one (RFC 3168 section 6.1.2).
    pub fn tell_of_reduction(&mut self) {
        self.cwr_pending = matches!(self.agreed, Agreed::Classic | Agreed::Dctcp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Dur;

    fn view(una: u64, phase: Phase) -> View {
        View {
            una,
            nxt: 9001,
            mss: 1000,
            dupthresh: 3,
            phase,
            recovery_point: 5001,
            limited_transmit: false,
            cwnd: 4e3,
            handshake_rtt: Dur(u64::MAX),
        }
    }

    #[test]
    fn with_one_recovery_point_an_echo_is_heeded_beyond_the_guard_and_after_a_timeout() {
        let echo = EcnEcho { agreed: Agreed::Classic, answers: EchoAnswers::BeyondRecoveryPoint, ..EcnEcho::default() };
        let a = Ack { newly_ce: 1, ..Ack::default() };
        let asks = |una: u64, phase: Phase| echo.congested_beyond_point(&a, &view(una, phase));
        assert!(!asks(5001, Phase::Open) && asks(5002, Phase::Open));
        assert!(asks(1, Phase::Timeout { high: 9001 }));
        assert!(!echo.congested_beyond_point(&Ack::default(), &view(5002, Phase::Open)), "without a mark");
        let other = EcnEcho { answers: EchoAnswers::default(), ..echo.clone() };
        assert!(!other.congested_beyond_point(&a, &view(5002, Phase::Open)) && other.congested(&a));
        assert!(!EcnEcho { is_deaf: true, ..echo.clone() }.congested(&a));
    }

    #[test]
    fn an_echo_alone_marks_all_that_it_delivers_and_one_packet_at_least() {
        let ece = Packet { flags: TcpFlags::ACK.with(TcpFlags::ECE), ..Packet::default() };
        let marks = |agreed, packets: u32| {
            let progress = Progress { packets, bytes: 1000 * u64::from(packets), mss: 1000, is_exact: true };
            EcnEcho { agreed, ..EcnEcho::default() }.marks(&ece, Delivers { progress, is_news: packets > 0 })
        };
        assert_eq!(marks(Agreed::Classic, 2), Marks { packets: 2, bytes: 2000 });
        assert_eq!(marks(Agreed::Dctcp, 0), Marks { packets: 1, bytes: 0 });
        assert_eq!(marks(Agreed::Nothing, 2), Marks::default());
    }
}
