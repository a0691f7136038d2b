//! Fast recoveries that turn out to have been needless are taken back; what shows it is in [`crate::tcp::undo::fast_recovery`].

use super::{Line, Sender};
use crate::tcp::Ack;
use crate::tcp::detect::Phase;
use crate::tcp::law::{Controller, Law};
use crate::tcp::params::TcpParams;
use crate::tcp::undo::fast_recovery::{FastRecovery, Standing};
use crosswind_base::EventKind;

/// The last fast recovery, and the controller as it was before.
#[derive(Debug)]
pub(super) struct Needless {
    recovery: FastRecovery,
    law: Option<Law>,
}

impl Needless {
    pub(super) fn asked_for(p: &TcpParams) -> Option<Needless> {
        Some(Needless { recovery: FastRecovery::asked_for(p.undo.recovery_undo)?, law: None })
    }
    /// There is nothing to take back.
    pub(super) fn forget(&mut self) {
        self.recovery.forget();
        self.law = None;
    }
    pub(super) fn on_retransmission(&mut self, bytes: u64, stamp: u32) {
        self.recovery.on_retransmission(bytes, stamp);
    }
}

impl Sender {
    fn needless(&mut self) -> Option<&mut Needless> {
        self.optional.as_mut()?.needless.as_mut()
    }

    /// A fast recovery begins, before its reduction: what an undo brings back is kept.
    #[cold]
    pub(super) fn remember_recovery(&mut self) {
        let (una, retransmitted) = (self.una, self.board.retransmitted_bytes());
        if self.needless().is_none() {
            return;
        }
        let law = self.law.clone();
        if let Some(n) = self.needless() {
            n.recovery.begin(una, retransmitted);
            n.law = Some(law);
        }
    }

    pub(super) fn forget_needless(&mut self) {
        if let Some(n) = self.needless() {
            n.forget();
        }
    }

    /// `before` is the phase in which the ACK came.
    pub(super) fn undo_needless(&mut self, before: Phase, a: &Ack, line: &mut impl Line) {
        let is_out = self.board.retransmitted_bytes() > 0;
        let standing = match (before, self.phase) {
            (Phase::Recovery { .. }, Phase::Recovery { .. }) => Standing::Recovering { is_out },
            (Phase::Recovery { .. }, Phase::Open) => Standing::Ending,
            (_, Phase::Open) => Standing::Later,
            _ => return,
        };
        let Some(n) = self.needless() else { return };
        if !n.recovery.on_ack(a, standing) {
            return;
        }
        let Some(law) = n.law.take() else { return };
        let reduced = self.law.window().clone();
        self.law.undo(&law);
        let w = self.law.window();
        let (cwnd, ssthresh) = (w.cwnd().max(reduced.cwnd()), w.ssthresh().max(reduced.ssthresh()));
        self.restore(cwnd, ssthresh);
        if self.phase_is_recovery() {
            if let Some(x) = &mut self.optional {
                x.reducing.stop();
            }
            self.board.clear_lost();
            self.phase = Phase::Open;
        }
        self.stats.undone_recoveries += 1;
        line.note(EventKind::Spurious, self.una, 0, 0);
    }
}
