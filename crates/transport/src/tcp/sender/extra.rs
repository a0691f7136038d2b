//! What few connections have, and others do not pay for: an early response, pacing, and the alarms of patient detectors.

use super::{Line, Sender, real};
use crate::tcp::detect::{Detect, Phase, Verdict};
use crate::tcp::law::WindowLaw;
use crate::tcp::pace::Pacer;
use crate::tcp::params::{AvoidanceCounting, TcpParams};
use crate::tcp::signal::early::{Cost, Early};
use crate::tcp::{Ack, Trigger};
use crosswind_base::{Rng, Time};

#[derive(Debug, Default)]
pub(super) struct Extra {
    early: Option<Early>,
    pacer: Option<Pacer>,
}

impl Extra {
    /// What the parameters ask for, without what needs a random stream.
    pub(super) fn asked_for(p: &TcpParams) -> Option<Box<Extra>> {
        Pacer::asked_for(p).map(|pacer| Box::new(Extra { early: None, pacer: Some(pacer) }))
    }
    /// The share of the window that an early response costs, unless the law says it.
    pub(super) fn early_share(&self) -> Option<f64> {
        self.early.as_ref().filter(|e| e.params.cost == Cost::Fixed).map(|e| e.params.share)
    }
}

impl Sender {
    /// Gives the connection its dice for early responses, if it makes any.
    pub fn predict(&mut self, p: &TcpParams, rng: Rng) {
        if p.early.is_on() {
            self.extra.get_or_insert_default().early = Some(Early::new(p.early.clone(), rng));
        }
    }

    /// Whether this ACK is to be answered although nothing is lost.
    pub(super) fn expects_congestion(&mut self, a: &Ack) -> bool {
        let slow_start = self.law.window().in_slow_start();
        let open = self.phase == Phase::Open;
        let Some(early) = self.extra.as_mut().and_then(|x| x.early.as_mut()) else { return false };
        if !early.congested(a) || !open || (slow_start && !early.params.slow_start.on()) {
            return false;
        }
        early.answered(a.now);
        true
    }

    pub(super) fn give_up_share(&mut self, share: f64) {
        let w = self.law.window_mut();
        w.cwnd = (w.cwnd * (1.0 - share)).max(w.mss);
        w.ssthresh = w.cwnd.max(2.0 * w.mss);
    }

    /// While a detector waits, duplicates count like ACKs where ACKs are counted.
    pub(super) fn grow_on_duplicate(&mut self, a: &Ack, p: &TcpParams) {
        let counts_acks = p.avoidance_counting != AvoidanceCounting::Bytes;
        if a.bytes == 0 && counts_acks && self.phase == Phase::Open {
            self.law.on_ack(a);
        }
    }

    /// RFC 4653 section 3.2: what looked like a loss was none.
    pub(super) fn resume(&mut self, p: &TcpParams) {
        let flight = real(self.outstanding() + p.mss.0);
        if let Some(before) = self.detector.take_resumed().map(real) {
            let w = self.law.window_mut();
            w.cwnd = flight.min(before).max(w.mss);
            w.ssthresh = before.max(2.0 * w.mss);
        }
    }

    #[inline]
    pub(super) fn is_held_by_pacing(&mut self, now: Time) -> bool {
        self.extra.as_mut().and_then(|x| x.pacer.as_mut()).is_some_and(|pacer| pacer.holds(now))
    }

    /// A segment has left.
    pub(super) fn pace(&mut self, now: Time, p: &TcpParams) {
        let window = self.cwnd(p) / real(p.mss.0);
        let srtt = self.rtt.srtt;
        if let (Some(pacer), Some(srtt)) = (self.extra.as_mut().and_then(|x| x.pacer.as_mut()), srtt) {
            pacer.left(now, srtt, window);
        }
    }

    /// When a wait or a pause ends, besides the retransmission timer.
    #[inline]
    pub fn alarm(&self) -> Time {
        let pace = self.extra.as_ref().and_then(|x| x.pacer.as_ref()).map_or(Time::NEVER, Pacer::alarm);
        self.detector.deadline().min(pace)
    }

    pub fn on_alarm(&mut self, p: &TcpParams, line: &mut impl Line) {
        if self.detector.deadline() <= line.now() {
            let v = self.view(p);
            if self.detector.on_deadline(&mut self.board, &v) == Verdict::Loss {
                self.congested(Trigger::Loss, p, line);
                self.resend_first(p, line);
            }
        }
        if let Some(pacer) = self.extra.as_mut().and_then(|x| x.pacer.as_mut()) {
            pacer.on_alarm();
        }
        self.transmit(p, line);
        self.trace_window(line);
    }
}
