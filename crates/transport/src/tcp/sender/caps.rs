//! Caps: what holds the window below what its controller would have. All of them act through the controller, which may leave one out
//! (BBR does), and nothing else in the sender asks for less (`tools/tidy.py`).
//!
//! | cap | when | until |
//! |---|---|---|
//! | PRR, rate halving | a loss was found by ACKs | the recovery ends |
//! | what is in flight (`flight_bound`) | recovery, echo | the window grows |
//! | moderation | an ACK out of the ordinary | the window grows |
//! | what may still arrive (`timeout_window`) | the timer expires | the window grows |
//! | restart after idle time | nothing was sent for a timeout | the window grows |
//!
//! The host's own queue has no cap of its own: when it is full the controller is told of congestion ([`crate::tcp::share::queue`]).

use super::Sender;
use super::state::real;
use crate::tcp::choices::{IdleRestart, TimeoutWindow, WindowModeration};
use crate::tcp::detect::{Detect, Phase};
use crate::tcp::facts::Ack;
use crate::tcp::law::{Change, Controller, Needs};
use crate::tcp::params::{Reduction, TcpParams};
use crate::tcp::reduction::bound::bound;
use crate::tcp::reduction::halving::{Bounds, Halving};
use crate::tcp::reduction::prr::{Progress, Prr, Safety};
use crate::tcp::undo::DetectSpurious;
use crosswind_base::{Dur, Time};

impl Sender {
    /// Bytes delivered since this was last asked.
    fn newly_delivered(&mut self) -> u64 {
        let all = self.una + self.board.sacked_bytes();
        let Some(r) = self.optional.as_mut().map(|x| &mut x.reducing) else { return 0 };
        let newly = all.saturating_sub(r.delivered);
        r.delivered = all;
        newly
    }

    fn progress(&mut self, p: &TcpParams) -> Progress {
        let mss = real(p.connection.mss.0);
        let is_safe =
            if self.acked_now > 0 && !self.detector.status().found_losses { Safety::Safe } else { Safety::Unsafe };
        Progress { newly: real(self.newly_delivered()) / mss, pipe: real(self.in_flight(p)) / mss, is_safe }
    }

    /// The window has been reduced from `base`: from now on it falls to the threshold.
    pub(super) fn begin_reduction(&mut self, base: f64, p: &TcpParams) {
        if let Some(x) = &mut self.optional {
            x.reset_hystart();
        }
        if p.window.reduction == Reduction::AtOnce || Needs::of(&p.controller).recovery {
            return;
        }
        let mss = real(p.connection.mss.0);
        if p.window.reduction == Reduction::RateHalving {
            self.reduce_to(base);
            if let Some(x) = &mut self.optional {
                x.reducing.halving = Some(Halving::default());
            }
            return self.halve(p);
        }
        let mut progress = self.progress(p);
        let newly = progress.newly;
        // A loss that the clock has told of counts as one segment delivered.
        progress.newly = progress.newly.max(1.0);
        let base = match p.window.reduction {
            // What was in flight, without what SACK had reported before this ACK.
            Reduction::PrrRfc9937 => real(self.outstanding() - self.board.sacked_bytes()) + newly * mss,
            _ => base,
        };
        let mut prr = Prr::new(base / mss, self.law.ssthresh() / mss);
        self.reduce_to((progress.pipe + prr.release(progress, p.window.reduction)) * mss);
        if let Some(x) = &mut self.optional {
            x.reducing.prr = Some(prr);
        }
    }

    /// An ACK of a recovery or of the round trip after an echo, or the one that ended it; `before` is the phase in which it came.
    pub(super) fn continue_reduction(&mut self, before: Phase, p: &TcpParams) {
        let may_go_on = matches!(before, Phase::Recovery { .. } | Phase::Echo { .. });
        if !(may_go_on && self.optional.as_ref().is_some_and(|x| x.reducing.is_under_way())) {
            self.newly_delivered();
            return;
        }
        if !matches!(self.phase, Phase::Recovery { .. } | Phase::Echo { .. }) {
            self.end_reduction();
        }
        self.halve(p);
        let progress = self.progress(p);
        let Some(prr) = self.optional.as_mut().and_then(|x| x.reducing.prr.as_mut()) else { return };
        if progress.newly > 0.0 {
            let window = progress.pipe + prr.release(progress, p.window.reduction);
            self.reduce_to(window * real(p.connection.mss.0));
        }
    }

    /// One more ACK of a recovery that halves the rate.
    fn halve(&mut self, p: &TcpParams) {
        let (mss, pipe) = (real(p.connection.mss.0), real(self.in_flight(p)));
        let Some(halving) = self.optional.as_mut().and_then(|x| x.reducing.halving.as_mut()) else { return };
        let bounds = Bounds { cwnd: self.law.cwnd() / mss, ssthresh: self.law.ssthresh() / mss, pipe: pipe / mss };
        let window = halving.on_ack(bounds) * mss;
        self.reduce_to(window);
    }

    /// The recovery is over: the window is the threshold, or at most that where the rate was halved.
    pub(super) fn end_reduction(&mut self) {
        if self.optional.as_mut().is_some_and(|x| x.reducing.halving.take().is_some()) {
            self.law.change(Change::CapToThreshold);
        }
        if self.optional.as_mut().is_some_and(|x| x.reducing.prr.take().is_some()) {
            self.law.change(Change::Reduced);
        }
    }

    /// Linux 2.4 (`tcp_cwnd_down`): in a recovery and after an echo, at most what is in flight and one segment.
    #[inline]
    pub(super) fn bound_by_flight(&mut self, p: &TcpParams) {
        if p.window.flight_bound.on() && matches!(self.phase, Phase::Recovery { .. } | Phase::Echo { .. }) {
            let in_flight = real(self.in_flight(p));
            self.cap(bound(in_flight, self.law.window().mss()));
        }
    }

    /// Linux 2.4 (`tcp_moderate_cwnd`): an ACK out of the ordinary releases three segments at most, and the window falls so
    /// far that no later one releases the rest. Recovery and echo have rules of their own.
    #[inline]
    pub(super) fn moderate(&mut self, before: Phase, a: &Ack, p: &TcpParams) {
        if p.window.window_moderation != WindowModeration::Off
            && (before != Phase::Open || a.duplicate || a.sacked > 0 || a.newly_ce > 0)
        {
            self.moderate_dubious(p);
        }
    }

    #[cold]
    fn moderate_dubious(&mut self, p: &TcpParams) {
        let has_own_rule =
            matches!(self.phase, Phase::Recovery { .. } | Phase::Echo { .. }) || self.spurious.is_active();
        if !has_own_rule {
            let most = real(self.in_flight(p) + 3 * p.connection.mss.0);
            self.cap(most);
        }
    }

    #[inline]
    pub(super) fn restart_after_idle(&mut self, p: &TcpParams, now: Time) {
        if self.outstanding() == 0 && p.window.idle_restart != IdleRestart::Off && self.stats.segments > 0 {
            let idle = now.since(self.last_sent);
            if idle > self.rtt.rto(p) {
                self.restart(idle, p);
            }
        }
    }

    #[cold]
    fn restart(&mut self, idle: Dur, p: &TcpParams) {
        let (initial, mss) = (u64::from(p.window.initial_window_segments), p.connection.mss.0);
        if p.window.idle_restart == IdleRestart::On {
            return self.cap(real(initial * mss));
        }
        let w = self.law.window();
        let segments = (w.cwnd() / real(mss)) as u64;
        let threshold = w.ssthresh().max(0.75 * w.cwnd());
        let timeouts = (idle.0 - 1) / self.rtt.rto(p).0.max(1);
        self.law.change(Change::Threshold(threshold));
        self.cap(real((segments >> timeouts.min(63)).max(initial.min(segments)) * mss));
    }

    /// Linux 6 (`tcp_enter_loss`): a timeout leaves room for what left later than `late_before`, which may still arrive.
    pub(super) fn start_from_flight(&mut self, late_before: Option<Time>, p: &TcpParams) {
        if p.window.timeout_window == TimeoutWindow::Flight {
            let may_arrive = late_before.map_or(0, |time| self.board.sent_after(time));
            self.law.change(Change::StartFrom(real(may_arrive + p.connection.mss.0)));
        }
    }

    /// From now on the window has so many bytes at most.
    fn cap(&mut self, most: f64) {
        self.law.change(Change::Cap(most));
    }

    /// The reduction under way leaves so many bytes.
    fn reduce_to(&mut self, window: f64) {
        self.law.change(Change::ReducingTo(window));
    }
}
