//! What the controller is told of an ACK, and when its window may grow.

use super::Sender;
use super::state::{Found, real};
use crate::tcp::choices::{AvoidanceCounting, GrowWhen, WindowLimit};
use crate::tcp::conn::ledger::Delivery;
use crate::tcp::detect::{Detect, Phase, Verdict};
use crate::tcp::facts::Ack;
use crate::tcp::law::{AckSample, Controller};
use crate::tcp::params::TcpParams;
use crate::tcp::undo::DetectSpurious;
use crosswind_base::Time;

/// Bytes beyond which the host lets no window grow.
#[inline]
fn window_limit(p: &TcpParams) -> f64 {
    match p.window.window_limit_holds {
        WindowLimit::Window if p.window.window_limit_segments > 0 => {
            f64::from(p.window.window_limit_segments) * real(p.connection.mss.0)
        }
        _ => f64::INFINITY,
    }
}

impl Sender {
    /// Whether the profile lets the window grow on this ACK.
    #[inline]
    pub(super) fn may_grow(&self, a: &Ack, p: &TcpParams) -> bool {
        let marked = self.ecn.congested(a);
        let may = match self.phase {
            Phase::Open => !marked,
            _ if self.ecn.has_one_recovery_point() && marked => false,
            Phase::Timeout { .. } => !self.spurious.is_active(),
            Phase::Recovery { high } => {
                let leaves = self.una >= high || self.recovery.ends_on_any_ack;
                leaves && p.window.grow_on_recovery_exit.on()
            }
            Phase::Echo { .. } => self.ecn.has_one_recovery_point() && !marked,
        };
        let is_counted = p.window.avoidance_counting != AvoidanceCounting::Segments || a.delivered > 0;
        a.bytes > 0 && may && is_counted && (a.window_limited || p.window.grow_when == GrowWhen::Always)
    }

    /// While a detector waits, duplicates count like ACKs where ACKs are counted.
    fn grows_on_duplicate(&self, a: &Ack, p: &TcpParams) -> bool {
        let counts_acks = p.window.avoidance_counting != AvoidanceCounting::Bytes;
        self.detector.status().grows_on_duplicate && a.bytes == 0 && counts_acks && self.phase == Phase::Open
    }

    /// Where the sender will stand when the ACK has been dealt with.
    fn phase_after(&self, verdict: Verdict) -> Phase {
        match (verdict, self.phase) {
            (Verdict::Loss, _) => Phase::Recovery { high: self.nxt },
            (Verdict::Recovered, _) => Phase::Open,
            (_, Phase::Timeout { high }) if self.una >= high => Phase::Open,
            (_, Phase::Echo { high }) if self.una > high => Phase::Open,
            (_, phase) => phase,
        }
    }

    /// A controller that asks for it hears of each segment that is held lost, in order.
    #[inline]
    pub(super) fn tell_losses(&mut self, now: Time) {
        let ever = self.board.ever_lost();
        let Some(ledger) = self.optional.as_mut().and_then(|x| x.has_lost(ever)) else { return };
        for s in self.board.waiting() {
            if let Some(lost) = ledger.lose(s, now) {
                self.law.on_lost(&lost);
            }
        }
    }

    /// The controller hears of the ACK.
    pub(super) fn tell_controller(&mut self, a: &Ack, found: Found, p: &TcpParams) {
        // Linux: what duplicates have reported was counted, or not, when they came.
        let by_segments = p.window.avoidance_counting == AvoidanceCounting::Segments && a.bytes > 0;
        let (lost_ever, in_flight) = (self.board.ever_lost(), self.in_flight(p));
        self.tell_losses(a.now);
        let delivery = self.optional.as_mut().and_then(|x| x.measure(lost_ever, p));
        self.law.on_ack(&AckSample {
            ack: a,
            may_grow: found.may_grow || self.grows_on_duplicate(a, p),
            credit: if by_segments { a.delivered } else { a.bytes },
            phase: self.phase_after(found.verdict),
            newly_lost: found.lost,
            in_flight,
            agreed: self.ecn.agreed,
            nxt: self.nxt,
            limit: window_limit(p),
            delivery: delivery.as_ref(),
        });
        if delivery.is_some() && self.law.holds_back() {
            self.runs_out(in_flight);
        }
        self.note_peak();
    }

    /// The same for an ACK to which nothing but the controller has an answer.
    #[inline]
    pub(super) fn tell_controller_of_in_order(&mut self, a: &Ack, p: &TcpParams) {
        let may_grow = a.window_limited || p.window.grow_when == GrowWhen::Always;
        let delivery = match self.optional.is_some() {
            true => self.measure_in_order(a.now, p),
            false => None,
        };
        let sample = AckSample {
            may_grow,
            agreed: self.ecn.agreed,
            nxt: self.nxt,
            limit: window_limit(p),
            delivery: delivery.as_ref(),
            ..AckSample::of(a)
        };
        self.law.on_ack(&sample);
        if delivery.is_some() && self.law.holds_back() {
            self.runs_out(sample.in_flight);
        }
        self.note_peak();
    }

    fn measure_in_order(&mut self, now: Time, p: &TcpParams) -> Option<Delivery> {
        self.tell_losses(now);
        let ever = self.board.ever_lost();
        self.optional.as_mut().and_then(|x| x.measure(ever, p))
    }

    #[inline]
    fn note_peak(&mut self) {
        let cwnd = self.law.cwnd();
        if cwnd > self.stats.cwnd_max_bytes {
            self.stats.cwnd_max_bytes = cwnd;
        }
    }
}
