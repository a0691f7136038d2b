//! What few connections have, and others do not pay for: an early response, pacing, reductions over a round trip,
//! HyStart, tail loss probes, undo of reductions, and the alarms of detectors.

use super::caps::Reducing;
use super::needless::Needless;
use super::{Line, Sender, real};
use crate::tcp::conn::ledger::{Delivery, Departure, Ledger};
use crate::tcp::conn::scoreboard::Sent;
use crate::tcp::detect::tlp::{Kind, Meaning, Situation, TailProbe, Tlp};
use crate::tcp::detect::{Detect, Phase, Verdict};
use crate::tcp::law::hystart::Watch;
use crate::tcp::law::{Controller, Needs, SentFacts};
use crate::tcp::pace::{Leaving, Pacer};
use crate::tcp::params::{Reduction, TcpParams};
use crate::tcp::sender::writer::{Turn, Writer};
use crate::tcp::signal::early::{Cost, Early};
use crate::tcp::{Ack, Trigger};
use crosswind_base::{Rng, Time};

#[derive(Debug, Default)]
pub(super) struct Optional {
    early: Option<Early>,
    pacer: Option<Pacer>,
    ledger: Option<Ledger>,
    /// How much the scoreboard had ever held lost when the controller was told last, for one that hears of each loss.
    told_of: Option<u64>,
    hystart: Option<Watch>,
    probe: Option<Tlp>,
    pub(super) reducing: Reducing,
    writer: Option<Writer>,
    pub(super) needless: Option<Needless>,
    /// Largest window that the peer has offered.
    window_max: u64,
}

impl Optional {
    /// What the parameters ask for, without what needs a random stream.
    pub(super) fn asked_for(p: &TcpParams) -> Option<Box<Optional>> {
        let x = Optional {
            pacer: Pacer::asked_for(p),
            ledger: Needs::of(p).delivery.then(Ledger::default),
            told_of: Needs::of(p).losses.then_some(0),
            hystart: Watch::asked_for(p),
            probe: (p.recovery.tail_probe == TailProbe::On).then(Tlp::default),
            writer: Writer::asked_for(p),
            needless: Needless::asked_for(p),
            ..Optional::default()
        };
        let is_any =
            x.pacer.is_some() || x.ledger.is_some() || x.hystart.is_some() || x.probe.is_some() || x.writer.is_some();
        let is_any = is_any || x.needless.is_some() || p.window.reduction != Reduction::AtOnce;
        is_any.then(|| Box::new(x))
    }
    /// The retransmission timer has expired: nothing of a recovery goes on.
    pub(super) fn on_timeout(&mut self) {
        self.reducing.stop();
        if let Some(t) = &mut self.probe {
            t.stop();
        }
        self.reset_hystart();
    }
    /// The window has been reduced: slow start, if any follows, is another one.
    pub(super) fn reset_hystart(&mut self) {
        if let Some(h) = &mut self.hystart {
            h.reset();
        }
    }
    pub(super) fn ledger(&mut self) -> Option<&mut Ledger> {
        self.ledger.as_mut()
    }
    /// The ledger, if something has been held lost that a controller wants to hear of; `ever` is the scoreboard's count.
    pub(super) fn has_lost(&mut self, ever: u64) -> Option<&mut Ledger> {
        let told = self.told_of.as_mut()?;
        if std::mem::replace(told, ever) == ever { None } else { self.ledger.as_mut() }
    }
    /// What the ACK in hand has shown of the path, for a controller that asks.
    pub(super) fn measure(&mut self, lost: u64, p: &TcpParams) -> Option<Delivery> {
        let departs_at = self.pacer.as_ref().map_or(Time::ZERO, Pacer::next);
        Some(self.ledger.as_mut()?.sample(lost, p.connection.mss.0, departs_at))
    }
    fn alarm(&self) -> Time {
        let pace = self.pacer.as_ref().map_or(Time::NEVER, Pacer::alarm);
        self.probe.as_ref().map_or(Time::NEVER, Tlp::at).min(pace)
    }
    /// The share of the window that an early response costs, unless the law says it.
    pub(super) fn early_share(&self) -> Option<f64> {
        self.early.as_ref().filter(|e| e.params.cost == Cost::Fixed).map(|e| e.params.share)
    }
}

/// A segment that has left, new or again.
#[derive(Clone, Copy)]
pub(super) struct SentSegment {
    pub end: u64,
    /// Its sequence numbers: payload and FIN.
    pub numbers: u64,
    pub payload: u64,
    pub now: Time,
}

impl Sender {
    /// Gives the connection its dice for early responses, if it makes any.
    pub fn predict(&mut self, p: &TcpParams, rng: Rng) {
        if p.controller.early.is_on() {
            self.optional.get_or_insert_default().early = Some(Early::new(p.controller.early.clone(), rng));
        }
    }

    /// Whether this ACK is to be answered although nothing is lost.
    pub(super) fn expects_congestion(&mut self, a: &Ack) -> bool {
        let slow_start = self.law.window().in_slow_start();
        let open = self.phase == Phase::Open;
        let Some(early) = self.optional.as_mut().and_then(|x| x.early.as_mut()) else { return false };
        if !early.congested(a) || !open || (slow_start && !early.params.slow_start.on()) {
            return false;
        }
        early.answered(a.now);
        true
    }

    /// The program writes as the socket's memory allows.
    #[cold]
    pub(super) fn let_write(&mut self, p: &TcpParams) {
        if self.optional.as_ref().is_none_or(|x| x.writer.is_none()) {
            return;
        }
        let (mss, in_flight) = (p.connection.mss.0, self.in_flight(p));
        let cwnd = (self.cwnd(p) / real(mss)) as u64;
        let offered = self.window_edge.saturating_sub(self.una);
        let (una, nxt, end) = (self.una, self.nxt, self.data_end);
        let Some(x) = &mut self.optional else { return };
        x.window_max = x.window_max.max(offered);
        let max_window = x.window_max;
        if let Some(w) = &mut x.writer {
            w.go_on(Turn { una, nxt, end, mss, cwnd, in_flight: in_flight / mss, max_window });
        }
    }

    /// Whether the segment that ends here bears PSH.
    #[inline]
    pub(super) fn is_pushed(&self, end: u64) -> bool {
        self.optional.as_ref().and_then(|x| x.writer.as_ref()).is_some_and(|w| w.is_pushed(end))
    }

    /// RFC 4653 section 3.2: what looked like a loss was none.
    pub(super) fn resume(&mut self, before: u64, p: &TcpParams) {
        let (flight, before, mss) =
            (real(self.outstanding() + p.connection.mss.0), real(before), self.law.window().mss());
        let (cwnd, ssthresh) = (flight.min(before).max(mss), before.max(2.0 * mss));
        self.restore(cwnd, ssthresh);
    }

    #[inline]
    pub(super) fn is_held_by_pacing(&mut self, now: Time) -> bool {
        self.optional.as_mut().and_then(|x| x.pacer.as_mut()).is_some_and(|pacer| pacer.holds(now))
    }

    /// What the optional features make of an ACK, after the gate; `before` is the phase in which it came.
    pub(super) fn run_optional(&mut self, before: Phase, a: &Ack, p: &TcpParams, line: &mut impl Line) {
        if self.expects_congestion(a) {
            self.congested(Trigger::Early, p, line);
        }
        self.continue_reduction(before, p);
        self.undo_recovery(before, a, line);
        let (nxt, Some(x)) = (self.nxt, &mut self.optional) else { return };
        if let Some(pacer) = &mut x.pacer {
            pacer.on_ack(a);
        }
        if let Some(h) = &mut x.hystart
            && let Some(change) = h.on_ack(a, nxt, self.law.window())
        {
            self.law.change(change);
        }
        if x.probe.as_mut().map(|t| t.on_ack(a)) == Some(Meaning::Repaired) && self.phase == Phase::Open {
            // One reduction, and nothing more to repair.
            self.congested(Trigger::Loss, p, line);
            self.end_reduction();
            self.phase = Phase::Open;
            self.forget_needless();
        }
    }

    /// A tail loss probe turns out to have filled a hole.
    pub(super) fn is_repaired(&self, a: &Ack) -> bool {
        self.optional.as_ref().and_then(|x| x.probe.as_ref()).is_some_and(|t| t.repairs(a))
    }

    /// Sets the alarm of the tail loss probe anew, where there is one.
    #[inline]
    pub(super) fn plan_probe(&mut self, now: Time, p: &TcpParams) {
        if self.optional.as_ref().is_none_or(|x| x.probe.is_none()) {
            return;
        }
        let is_plain = matches!(self.phase, Phase::Open | Phase::Echo { .. }) && self.board.sacked_bytes() == 0;
        let (outstanding, timer, srtt) = (self.outstanding(), self.timer, self.rtt.srtt);
        if let Some(t) = self.optional.as_mut().and_then(|x| x.probe.as_mut()) {
            t.schedule(Situation { now, srtt, timer, outstanding, mss: p.connection.mss.0, is_plain });
        }
    }

    /// RFC 8985 section 7.3: a new segment, whatever the window, or the last one again. The timer starts afresh.
    fn probe_tail(&mut self, p: &TcpParams, line: &mut impl Line) {
        let kind = match self.send_new(f64::INFINITY, p, line) {
            true => Kind::New,
            false => {
                let last = self.board.segments().next_back().copied();
                if let Some(s) = last.filter(|s: &Sent| !s.is_sacked()) {
                    self.retransmit(s, p, line);
                }
                Kind::Again
            }
        };
        self.timer = line.now() + self.rtt.rto(p);
        let end = self.nxt;
        if let Some(t) = self.optional.as_mut().and_then(|x| x.probe.as_mut()) {
            t.sent(end, kind);
        }
    }

    pub(super) fn note_departure(&mut self, left: SentSegment, p: &TcpParams) {
        if let Some(x) = &mut self.optional {
            x.reducing.on_sent(real(left.payload) / real(p.connection.mss.0));
        }
        self.plan_probe(left.now, p);
        self.write_down(left, p);
        self.pace(left, p);
    }

    /// Delivery rates need to know what had been delivered when the segment left.
    fn write_down(&mut self, left: SentSegment, p: &TcpParams) {
        let SentSegment { end, numbers: len, now, .. } = left;
        let flight = self.in_flight(p);
        let was_idle = flight <= len;
        let srtt = self.rtt.srtt;
        let Some(ledger) = self.optional.as_mut().and_then(|x| x.ledger()) else { return };
        let is_app_limited = ledger.is_app_limited();
        ledger.sent(Departure { now, end, len, flight, was_idle });
        self.law.on_sent(&SentFacts { now, was_idle, is_app_limited, srtt });
    }

    /// After an attempt to send: with less than a segment to send, room for one, and nothing lost, the application is what limits.
    pub(super) fn note_app_limit(&mut self, p: &TcpParams) {
        if self.optional.as_ref().is_none_or(|x| x.ledger.is_none()) {
            return;
        }
        let in_flight = self.in_flight(p);
        let is_out_of_data = self.data_end.saturating_sub(self.nxt) < p.connection.mss.0;
        if is_out_of_data
            && real(in_flight) < self.cwnd(p)
            && self.board.lost_bytes() <= self.board.retransmitted_bytes()
        {
            self.runs_out(in_flight);
        }
    }

    /// Samples of what leaves now tell of the sender, not of the path.
    pub(super) fn runs_out(&mut self, in_flight: u64) {
        if let Some(ledger) = self.optional.as_mut().and_then(|x| x.ledger()) {
            ledger.runs_out(in_flight);
        }
    }

    fn pace(&mut self, left: SentSegment, p: &TcpParams) {
        if self.optional.as_ref().is_none_or(|x| x.pacer.is_none()) {
            return;
        }
        let leaving = Leaving {
            now: left.now,
            bytes: left.payload,
            of_timer: self.rtt.srtt,
            cwnd: self.cwnd(p),
            mss: real(p.connection.mss.0),
            is_far_from_threshold: self.law.cwnd() < self.law.ssthresh() / 2.0,
            rate: self.law.pacing_rate(),
            segments: self.stats.segments,
        };
        if let Some(pacer) = self.optional.as_mut().and_then(|x| x.pacer.as_mut()) {
            pacer.left(leaving);
        }
    }

    /// What is in flight when an ACK arrives. If the window has had room until then, and a program's limit kept it free, the
    /// program is what limits.
    #[inline]
    pub(super) fn in_flight_before(&mut self, p: &TcpParams, now: Time) -> u64 {
        let in_flight = self.in_flight(p);
        if let Some(pacer) = self.optional.as_ref().and_then(|x| x.pacer.as_ref())
            && pacer.is_limited()
            && now < pacer.next()
            && real(in_flight + p.connection.mss.0) <= self.cwnd(p)
        {
            self.runs_out(in_flight);
        }
        in_flight
    }

    /// When a wait or a pause ends, besides the retransmission timer.
    #[inline]
    pub fn alarm(&self) -> Time {
        self.optional.as_ref().map_or(Time::NEVER, |x| x.alarm()).min(self.detector.status().next_wake)
    }

    pub fn on_alarm(&mut self, p: &TcpParams, line: &mut impl Line) {
        if self.optional.as_ref().and_then(|x| x.probe.as_ref()).is_some_and(|t| t.at() <= line.now()) {
            self.probe_tail(p, line);
        }
        self.acked_now = 0;
        if self.detector.status().next_wake <= line.now() {
            let v = self.view(p);
            let verdict = self.detector.on_wake(&mut self.board, &v);
            self.tell_losses(line.now());
            if verdict == Verdict::Loss {
                self.congested(Trigger::Loss, p, line);
                match self.board.first().is_some_and(Sent::is_retransmitted) {
                    true => self.retransmit_first_lost(p, line),
                    false => self.retransmit_first(p, line),
                }
            }
        }
        if let Some(pacer) = self.optional.as_mut().and_then(|x| x.pacer.as_mut()) {
            pacer.on_alarm();
        }
        self.transmit(p, line);
        self.trace_window(line);
    }
}
