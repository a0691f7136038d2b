//! What the sender does with what few connections have (`optional.rs`), and on the alarms of detectors.

use super::Sender;
use super::optional::SentSegment;
use super::state::{Line, real};
use crate::tcp::conn::ledger::Departure;
use crate::tcp::conn::scoreboard::Sent;
use crate::tcp::detect::tlp::{Kind, Meaning, Situation};
use crate::tcp::detect::{Detect, Phase, Verdict};
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::law::{Controller, SentFacts};
use crate::tcp::pace::Leaving;
use crate::tcp::params::TcpParams;
use crate::tcp::sender::writer::Turn;
use crate::tcp::signal::early::Early;
use crosswind_base::{Rng, Time};

impl Sender {
    /// Gives the connection its dice for early responses, if it makes any.
    pub fn predict(&mut self, p: &TcpParams, rng: Rng) {
        if p.controller.early.is_on() {
            self.optional.get_or_insert_default().early = Some(Early::new(p.controller.early.clone(), rng));
        }
    }

    /// Whether this ACK is to be answered although nothing is lost.
    #[inline]
    pub(super) fn expects_congestion(&mut self, a: &Ack) -> bool {
        self.optional.as_ref().is_some_and(|x| x.early.is_some()) && self.expects_early(a)
    }

    fn expects_early(&mut self, a: &Ack) -> bool {
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
    #[inline]
    pub(super) fn let_write(&mut self, p: &TcpParams) {
        if self.optional.as_ref().is_some_and(|x| x.writer.is_some()) {
            self.let_writer(p);
        }
    }

    #[cold]
    fn let_writer(&mut self, p: &TcpParams) {
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
    pub(super) fn plan_probe(&mut self, now: Time) {
        if self.optional.as_ref().is_none_or(|x| x.probe.is_none()) {
            return;
        }
        let is_plain = matches!(self.phase, Phase::Open | Phase::Echo { .. }) && self.board.sacked_bytes() == 0;
        let (outstanding, timer, srtt) = (self.board.len(), self.timer, self.rtt.srtt);
        if let Some(t) = self.optional.as_mut().and_then(|x| x.probe.as_mut()) {
            t.schedule(Situation { now, srtt, timer, outstanding, is_plain });
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
        self.plan_probe(left.now);
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
    #[inline]
    pub(super) fn note_app_limit(&mut self, p: &TcpParams) {
        let is_out_of_data = self.data_end.saturating_sub(self.nxt) < p.connection.mss.0;
        if is_out_of_data && self.optional.as_ref().is_some_and(|x| x.ledger.is_some()) {
            self.note_out_of_data(p);
        }
    }

    fn note_out_of_data(&mut self, p: &TcpParams) {
        let in_flight = self.in_flight(p);
        if real(in_flight) < self.cwnd(p) && self.board.lost_bytes() <= self.board.retransmitted_bytes() {
            self.runs_out(in_flight);
        }
    }

    /// Samples of what leaves now tell of the sender, not of the path.
    pub(super) fn runs_out(&mut self, in_flight: u64) {
        if let Some(ledger) = self.optional.as_mut().and_then(|x| x.ledger()) {
            ledger.runs_out(in_flight);
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

    /// The same for an ACK in order that has been found to be no more, before what it acknowledges is forgotten.
    #[inline]
    pub(super) fn in_flight_before_calm(&mut self, ack: u64, p: &TcpParams, now: Time) -> u64 {
        let in_flight = self.in_flight_before(p, now);
        if let Some(ledger) = self.optional.as_mut().and_then(|x| x.ledger()) {
            ledger.begin(now, ack);
        }
        in_flight
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
