//! What few connections have, and others do not pay for: an early response, pacing, reductions paid out over a round trip,
//! HyStart, tail loss probes, and the alarms of detectors that wait.

use super::{Line, Sender, real};
use crate::tcp::conn::ledger::{Delivery, Departure, Ledger};
use crate::tcp::conn::scoreboard::Sent;
use crate::tcp::detect::tlp::{Kind, Meaning, Situation, TailProbe, Tlp};
use crate::tcp::detect::{Detect, Phase, Verdict};
use crate::tcp::law::hystart::Watch;
use crate::tcp::law::{Change, Controller, Needs, SentFacts};
use crate::tcp::pace::{Leaving, Pacer};
use crate::tcp::params::{Reduction, TcpParams};
use crate::tcp::reduction::halving::{Bounds, Halving};
use crate::tcp::reduction::prr::{Progress, Prr, Safety};
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
    /// A recovery whose reduction is being paid out, by either rule.
    prr: Option<Prr>,
    halving: Option<Halving>,
    writer: Option<Writer>,
    /// Largest window that the peer has offered.
    window_max: u64,
    /// All bytes delivered so far, in order or by SACK.
    delivered: u64,
}

impl Optional {
    /// What the parameters ask for, without what needs a random stream.
    pub(super) fn asked_for(p: &TcpParams) -> Option<Box<Optional>> {
        let x = Optional {
            pacer: Pacer::asked_for(p),
            ledger: Needs::of(p).delivery.then(Ledger::default),
            told_of: Needs::of(p).losses.then_some(0),
            hystart: Watch::asked_for(p),
            probe: (p.tail_probe == TailProbe::On).then(Tlp::default),
            writer: Writer::asked_for(p),
            ..Optional::default()
        };
        let is_any =
            x.pacer.is_some() || x.ledger.is_some() || x.hystart.is_some() || x.probe.is_some() || x.writer.is_some();
        let is_any = is_any || p.reduction != Reduction::AtOnce;
        is_any.then(|| Box::new(x))
    }
    /// The retransmission timer has expired: nothing of a recovery goes on.
    pub(super) fn on_timeout(&mut self) {
        (self.prr, self.halving) = (None, None);
        if let Some(t) = &mut self.probe {
            t.stop();
        }
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
        Some(self.ledger.as_mut()?.sample(lost, p.mss.0, departs_at))
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
        if p.early.is_on() {
            self.optional.get_or_insert_default().early = Some(Early::new(p.early.clone(), rng));
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
        let (mss, in_flight) = (p.mss.0, self.in_flight(p));
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
        let (flight, before, mss) = (real(self.outstanding() + p.mss.0), real(before), self.law.window().mss());
        let (cwnd, ssthresh) = (flight.min(before).max(mss), before.max(2.0 * mss));
        self.law.change(Change::Restore { cwnd, ssthresh });
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
        }
    }

    /// A tail loss probe turns out to have filled a hole.
    pub(super) fn is_repaired(&self, a: &Ack) -> bool {
        self.optional.as_ref().and_then(|x| x.probe.as_ref()).is_some_and(|t| t.repairs(a))
    }

    /// Bytes delivered since this was last asked.
    fn newly_delivered(&mut self) -> u64 {
        let all = self.una + self.board.sacked_bytes();
        let Some(x) = &mut self.optional else { return 0 };
        let newly = all.saturating_sub(x.delivered);
        x.delivered = all;
        newly
    }

    fn progress(&mut self, p: &TcpParams) -> Progress {
        let mss = real(p.mss.0);
        let is_safe =
            if self.acked_now > 0 && !self.detector.status().found_losses { Safety::Safe } else { Safety::Unsafe };
        Progress { newly: real(self.newly_delivered()) / mss, pipe: real(self.in_flight(p)) / mss, is_safe }
    }

    /// The window has been reduced from `base`: from now on it is paid out.
    pub(super) fn begin_reduction(&mut self, base: f64, p: &TcpParams) {
        if let Some(h) = self.optional.as_mut().and_then(|x| x.hystart.as_mut()) {
            h.reset();
        }
        if p.reduction == Reduction::AtOnce || Needs::of(p).recovery {
            return;
        }
        let mss = real(p.mss.0);
        if p.reduction == Reduction::RateHalving {
            self.law.change(Change::PayOut(base));
            if let Some(x) = &mut self.optional {
                x.halving = Some(Halving::default());
            }
            return self.halve(p);
        }
        let mut progress = self.progress(p);
        let newly = progress.newly;
        // A loss that the clock has told of counts as one segment delivered.
        progress.newly = progress.newly.max(1.0);
        let base = match p.reduction {
            // What was in flight, without what SACK had reported before this ACK.
            Reduction::PrrRfc9937 => real(self.outstanding() - self.board.sacked_bytes()) + newly * mss,
            _ => base,
        };
        let mut prr = Prr::new(base / mss, self.law.ssthresh() / mss);
        self.law.change(Change::PayOut((progress.pipe + prr.release(progress, p.reduction)) * mss));
        if let Some(x) = &mut self.optional {
            x.prr = Some(prr);
        }
    }

    fn continue_reduction(&mut self, before: Phase, p: &TcpParams) {
        if !matches!(before, Phase::Recovery { .. }) {
            self.newly_delivered();
            return;
        }
        if !self.phase_is_recovery() {
            self.end_reduction();
        }
        self.halve(p);
        let progress = self.progress(p);
        let Some(prr) = self.optional.as_mut().and_then(|x| x.prr.as_mut()) else { return };
        if progress.newly > 0.0 {
            let window = progress.pipe + prr.release(progress, p.reduction);
            self.law.change(Change::PayOut(window * real(p.mss.0)));
        }
    }

    /// One more ACK of a recovery that halves the rate.
    fn halve(&mut self, p: &TcpParams) {
        let (mss, pipe) = (real(p.mss.0), real(self.in_flight(p)));
        let Some(halving) = self.optional.as_mut().and_then(|x| x.halving.as_mut()) else { return };
        let bounds = Bounds { cwnd: self.law.cwnd() / mss, ssthresh: self.law.ssthresh() / mss, pipe: pipe / mss };
        self.law.change(Change::PayOut(halving.on_ack(bounds) * mss));
    }

    /// The recovery is over: the window is the threshold, or at most that where the rate was halved.
    fn end_reduction(&mut self) {
        if self.optional.as_mut().is_some_and(|x| x.halving.take().is_some()) {
            self.law.change(Change::CapToThreshold);
        }
        if self.optional.as_mut().is_some_and(|x| x.prr.take().is_some()) {
            self.law.change(Change::PaidOut);
        }
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
            t.schedule(Situation { now, srtt, timer, outstanding, mss: p.mss.0, is_plain });
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
        if let Some(prr) = self.optional.as_mut().and_then(|x| x.prr.as_mut()) {
            prr.on_sent(real(left.payload) / real(p.mss.0));
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
        let is_out_of_data = self.data_end.saturating_sub(self.nxt) < p.mss.0;
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
            mss: real(p.mss.0),
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
