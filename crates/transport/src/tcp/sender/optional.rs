//! What few connections have, and others do not pay for: an early response, pacing, reductions over a round trip,
//! HyStart, tail loss probes, undo of reductions. What the sender does with them is in `extras.rs`.

use crate::tcp::conn::ledger::{Delivery, Ledger};
use crate::tcp::detect::tlp::{TailProbe, Tlp};
use crate::tcp::facts::Ack;
use crate::tcp::law::hystart::Watch;
use crate::tcp::law::{Change, Law, Needs, Window, segments_per_ack};
use crate::tcp::pace::Pacer;
use crate::tcp::params::{TcpParams, Undo};
use crate::tcp::reduction::halving::Halving;
use crate::tcp::reduction::prr::{Prr, Reduction};
use crate::tcp::sender::writer::Writer;
use crate::tcp::signal::early::{Cost, Early};
use crate::tcp::undo::last_reduction::LastReduction;
use crosswind_base::Time;

#[derive(Debug, Default)]
pub(super) struct Optional {
    pub early: Option<Early>,
    pub pacer: Option<Pacer>,
    pub ledger: Option<Ledger>,
    /// How much the scoreboard had ever held lost when the controller was told last, for one that hears of each loss.
    pub told_of: Option<u64>,
    pub hystart: Option<Watch>,
    pub probe: Option<Tlp>,
    pub reducing: Reducing,
    pub writer: Option<Writer>,
    pub needless: Option<Needless>,
    /// Largest window that the peer has offered.
    pub window_max: u64,
}

impl Optional {
    /// What the parameters ask for, without what needs a random stream.
    pub(super) fn asked_for(p: &TcpParams) -> Option<Box<Optional>> {
        let x = Optional {
            pacer: Pacer::asked_for(p),
            ledger: Needs::of(&p.controller).delivery.then(Ledger::default),
            told_of: Needs::of(&p.controller).losses.then_some(0),
            hystart: Watch::asked_for(p.controller.slow_start, &p.controller.hystart, segments_per_ack(p)),
            probe: (p.recovery.tail_probe == TailProbe::On).then(Tlp::default),
            writer: Writer::asked_for(p.host.writing),
            needless: Needless::asked_for(p),
            ..Optional::default()
        };
        let is_any =
            x.pacer.is_some() || x.ledger.is_some() || x.hystart.is_some() || x.probe.is_some() || x.writer.is_some();
        let is_any = is_any || x.needless.is_some() || p.window.reduction != Reduction::AtOnce;
        is_any.then(|| Box::new(x))
    }
    /// Nothing of it has an answer to an ACK in order, besides the controller that hears of delivery rates and what paces.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.early.is_none() && !self.reducing.is_under_way() && self.probe.as_ref().is_none_or(Tlp::is_idle)
    }
    /// Such an ACK, to which all bytes up to `delivered` have been; what HyStart asks of the window. A reduction that may be taken back is
    /// not by an ACK that reports nothing twice.
    #[inline]
    pub(super) fn on_in_order(&mut self, a: &Ack, delivered: u64, nxt: u64, w: &Window) -> Option<Change> {
        self.reducing.delivered = delivered;
        if let Some(pacer) = &mut self.pacer {
            pacer.on_ack(a);
        }
        if let Some(probe) = &mut self.probe {
            probe.on_ack(a);
        }
        self.hystart.as_mut()?.on_ack(a, nxt, w)
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
    pub(super) fn alarm(&self) -> Time {
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

/// A window that is falling in a recovery or after an echo, by either rule.
#[derive(Debug, Default)]
pub(super) struct Reducing {
    pub prr: Option<Prr>,
    pub halving: Option<Halving>,
    /// All bytes delivered so far, in order or by SACK.
    pub delivered: u64,
}

impl Reducing {
    pub(super) fn is_under_way(&self) -> bool {
        self.prr.is_some() || self.halving.is_some()
    }
    /// It goes on no more, wherever the window stands.
    pub(super) fn stop(&mut self) {
        (self.prr, self.halving) = (None, None);
    }
    /// So many segments have left.
    pub(super) fn on_sent(&mut self, segments: f64) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(segments);
        }
    }
}

/// The last reduction for a loss, and the controller as it was before.
#[derive(Debug, Default)]
pub(super) struct Needless {
    pub reduction: LastReduction,
    pub law: Option<Law>,
}

impl Needless {
    pub(super) fn asked_for(p: &TcpParams) -> Option<Needless> {
        (p.undo.recovery_undo != Undo::Off || p.undo.timeout_undo != Undo::Off).then(Needless::default)
    }
    /// There is nothing to take back.
    pub(super) fn forget(&mut self) {
        self.reduction.forget();
        self.law = None;
    }
    pub(super) fn on_retransmission(&mut self, bytes: u64, stamp: u32) {
        self.reduction.on_retransmission(bytes, stamp);
    }
}
