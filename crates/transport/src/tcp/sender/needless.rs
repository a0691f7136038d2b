//! Reductions that turn out to have been needless are taken back; what shows it is in [`crate::tcp::undo::last_reduction`].

use super::Sender;
use super::optional::Needless;
use super::state::Line;
use crate::tcp::detect::Phase;
use crate::tcp::facts::Ack;
use crate::tcp::law::{Controller, Law};
use crate::tcp::params::{TcpParams, Undo};
use crate::tcp::undo::DetectSpurious;
use crate::tcp::undo::last_reduction::Standing;
use crosswind_base::EventKind;

/// What an expiry of the timer is to what may be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    /// It is reduced now.
    New,
    /// It was reduced, and repaired in part, and is reduced now.
    Again,
    /// It was reduced before: for the same segment, or when the recovery began.
    Earlier,
    /// It is not to be taken back.
    Final,
}

impl Sender {
    fn needless(&mut self) -> Option<&mut Needless> {
        self.optional.as_mut()?.needless.as_mut()
    }

    #[inline]
    fn is_open_to_undo(&self) -> bool {
        self.optional.as_ref().and_then(|x| x.needless.as_ref()).is_some_and(|n| n.reduction.is_open())
    }

    /// A fast recovery begins, before its reduction: what an undo brings back is kept.
    #[cold]
    pub(super) fn remember_recovery(&mut self, p: &TcpParams) {
        let (una, retransmitted) = (self.una, self.board.retransmitted_bytes());
        if self.needless().is_none() {
            return;
        }
        let law = self.law.clone();
        if let Some(n) = self.needless() {
            n.reduction.begin(p.undo.recovery_undo, una, retransmitted);
            n.law = Some(law);
        }
    }

    pub(super) fn forget_needless(&mut self) {
        if let Some(n) = self.needless() {
            n.forget();
        }
    }

    /// The timer expires, before its reduction. With the same segment again, or in a recovery, the reduction was made earlier
    /// (`tcp_enter_loss`); what an echo has reduced stays so.
    pub(super) fn remember_timeout(&mut self, p: &TcpParams) -> Reduction {
        let is_open = self.is_open_to_undo();
        let kind = match self.phase {
            _ if p.undo.timeout_undo == Undo::Off => Reduction::Final,
            Phase::Echo { .. } => Reduction::Final,
            Phase::Recovery { .. } if is_open => Reduction::Earlier,
            Phase::Timeout { .. } if self.timeouts_in_a_row > 1 => Reduction::Earlier,
            Phase::Timeout { .. } => Reduction::Again,
            Phase::Recovery { .. } | Phase::Open => Reduction::New,
        };
        let law = matches!(kind, Reduction::New | Reduction::Again).then(|| self.law.clone());
        match (self.needless(), kind) {
            (Some(n), Reduction::Final) => n.forget(),
            (Some(n), Reduction::New | Reduction::Again) => n.law = law,
            _ => {}
        }
        kind
    }

    /// What the timeout holds lost is known: retransmissions from before that are not may still be reported.
    pub(super) fn begin_timeout_undo(&mut self, kind: Reduction, p: &TcpParams) {
        let (una, out) = (self.una, self.board.retransmitted_bytes());
        let Some(n) = self.needless() else { return };
        match kind {
            Reduction::New => n.reduction.begin(p.undo.timeout_undo, una, out),
            Reduction::Again => n.reduction.begin_again(p.undo.timeout_undo, una, out),
            Reduction::Earlier | Reduction::Final => {}
        }
    }

    /// What a spurious timeout gives back where `timeout_undo` keeps it: the controller before the first reduction.
    pub(super) fn take_remembered(&mut self) -> Option<Law> {
        let n = self.needless()?;
        n.reduction.forget();
        n.law.take()
    }

    /// An ACK after a timeout, before F-RTO hears of it: whether it shows that the timeout was needless, which is then undone.
    pub(super) fn undo_timeout(&mut self, a: &Ack, p: &TcpParams, line: &mut impl Line) -> bool {
        let is_asked = matches!(self.phase, Phase::Timeout { .. }) && self.is_open_to_undo();
        if !is_asked || !self.is_shown_needless(a, Standing::TimedOut) || !self.give_back() {
            return false;
        }
        self.spurious.stop();
        self.probe_budget = None;
        self.end_needless_repair();
        self.note_spurious_timeout(a, p, line);
        true
    }

    /// `before` is the phase in which the ACK came.
    pub(super) fn undo_recovery(&mut self, before: Phase, a: &Ack, line: &mut impl Line) {
        if !self.is_open_to_undo() {
            return;
        }
        let is_out = self.board.retransmitted_bytes() > 0;
        let standing = match (before, self.phase) {
            (Phase::Recovery { .. }, Phase::Recovery { .. }) => Standing::Recovering { is_out },
            (Phase::Recovery { .. }, Phase::Open) => Standing::Ending,
            // What an ACK after a timeout has to say was heard when it came.
            (Phase::Timeout { .. }, _) => return,
            (_, Phase::Open) => Standing::Later,
            _ => return,
        };
        if !self.is_shown_needless(a, standing) || !self.give_back() {
            return;
        }
        if self.phase_is_recovery() {
            self.end_needless_repair();
        }
        self.stats.undone_recoveries += 1;
        line.note(EventKind::Spurious, self.una, 0, 0);
    }

    #[cold]
    fn is_shown_needless(&mut self, a: &Ack, standing: Standing) -> bool {
        if self.ecn.congested(a) {
            self.forget_needless();
        }
        self.needless().is_some_and(|n| n.reduction.on_ack(a, standing))
    }

    /// Window and threshold become what they were, or stay if they are larger.
    fn give_back(&mut self) -> bool {
        let Some(law) = self.take_remembered() else { return false };
        let reduced = self.law.window().clone();
        self.undo_law(&law);
        let w = self.law.window();
        let (cwnd, ssthresh) = (w.cwnd().max(reduced.cwnd()), w.ssthresh().max(reduced.ssthresh()));
        self.restore(cwnd, ssthresh);
        true
    }

    /// Nothing is held lost any more.
    fn end_needless_repair(&mut self) {
        if let Some(x) = &mut self.optional {
            x.reducing.stop();
        }
        self.board.clear_lost();
        self.phase = Phase::Open;
    }
}
