//! The contract between components and drivers.
//!
//! A **stage** is anything that accepts packets and may want to be woken: an egress (queue and link), an endpoint, a
//! source. A **driver** owns the clock and the order of events. A stage never calls another stage: it emits into its
//! [`Cx`], and the driver delivers.

use crate::{
    Ahead, Backlog, ClassTotals, ConfigError, DropReason, Dur, Ecn, End, Event, EventKind, Fates, FlowId, Histogram,
    Left, LooksAhead, Observer, Packet, PacketId, Pool, Setting, Steady, Time,
};
use auto_impl::auto_impl;
use serde_json::{Map, Value};

/// A component of the data path.
#[auto_impl(Box)]
pub trait Stage {
    /// A packet arrives, now.
    fn accept(&mut self, p: PacketId, cx: &mut Cx<'_>);
    /// The time last returned by [`Stage::next_wake`] has come.
    fn wake(&mut self, cx: &mut Cx<'_>);
    /// When the stage wants to be woken next. The driver asks again after every call; there is no cancelling.
    fn next_wake(&self) -> Option<Time>;
    /// [`Stage::accept`], then [`Stage::next_wake`] or [`Time::NEVER`]: one call for the driver.
    fn accepts(&mut self, p: PacketId, cx: &mut Cx<'_>) -> Time {
        self.accept(p, cx);
        self.next_wake().unwrap_or(Time::NEVER)
    }
    /// [`Stage::wake`], then [`Stage::next_wake`].
    fn wakes(&mut self, cx: &mut Cx<'_>) -> Time {
        self.wake(cx);
        self.next_wake().unwrap_or(Time::NEVER)
    }
    /// Brings the state up to now, for stages that put work off until they are next called. Asked before `sample` and
    /// `report`.
    fn catch_up(&mut self, _cx: &mut Cx<'_>) {}
    /// Reads and checks new values for some parameters; keys and values are those of a scenario.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        Err(ConfigError::cannot_change(set))
    }
    /// New values that this stage has read, or one that was built alike, from now on.
    fn change(&mut self, _new: &Setting, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        unreachable!("only what has been read is changed")
    }
    /// Both at once, for whoever is told during a run.
    fn read_and_change(&mut self, set: &Map<String, Value>, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let new = self.read_change(set)?;
        self.change(&new, cx)
    }
    /// Drops what waits here and is chosen, now.
    fn purge(&mut self, _goes: &mut dyn FnMut(&Packet) -> bool, _why: DropReason, _cx: &mut Cx<'_>) {}
    /// The run is over at `now`, and what is here is gone.
    fn leave(&mut self, _now: Time) -> Left {
        Left::default()
    }
    /// Before the run: it begins so long after the end of one that has left this.
    fn resume(&mut self, _left: Left, _gap: Dur) {}
    /// What can be known early of packets on their way through this stage, where anything can.
    fn steady(&self) -> Option<&dyn Steady> {
        None
    }
    /// The same stage as one that looks ahead. Only where [`Stage::steady`] has an answer, and before the run.
    #[auto_impl(keep_default_for(Box))]
    fn looking_ahead(self: Box<Self>, _how: LooksAhead) -> Box<dyn Stage + Send> {
        unreachable!("only what is steady looks ahead")
    }
    /// Asked once, before the run: momentary values of this stage will be looked at while it goes on.
    fn will_be_sampled(&mut self) {}
    /// Momentary values for the `sample` table (name ends in its unit), and `sent_bytes`, the total so far, of which drivers make
    /// the throughput since the last sample.
    fn sample(&self, _now: Time, _out: &mut dyn FnMut(&'static str, f64)) {}
    /// Totals at the end of a run.
    fn report(&self, _now: Time, _out: &mut dyn Metrics) {}
}

/// Where a stage writes its totals; names come from the metric registry and end in their unit.
pub trait Metrics {
    fn value(&mut self, name: &'static str, v: f64);
    fn histogram(&mut self, name: &'static str, h: &Histogram);
    /// The totals of a class of its queue, and what it holds now; those of a class inside another have both names, with a slash
    /// between. A stage names the same classes in the same order for as long as it lives.
    fn class(&mut self, _name: &str, _totals: &ClassTotals, _holds: Backlog) {}
    /// Whether histograms are wanted: putting one together may cost more than everything else.
    fn wants_histograms(&self) -> bool {
        true
    }
}

/// Packets that a stage has emitted and the driver has still to deliver.
pub type Outbox = Vec<PacketId>;

/// Per-flow and per-reason loss counters that the driver keeps beside the stages.
pub trait Ledger {
    fn dropped(&mut self, stage: u32, p: &Packet, why: DropReason);
    fn marked(&mut self, stage: u32, p: &Packet);
    /// A datagram has reached its flow's other end. Whether the driver should look.
    fn arrived(&mut self, _flow: FlowId) -> bool {
        false
    }
    /// A reset has passed a router that throws the other direction's packets away. The stage sets [`Cx::has_notifications`] too.
    fn reset_passed(&mut self, _stage: u32, _p: &Packet) {}
    /// A packet is larger than the link takes, and its sender is to be told what it takes. The stage sets [`Cx::has_notifications`] too.
    fn too_big(&mut self, _stage: u32, _p: &Packet, _mtu: u32) {}
}

/// What a stage may do to the world while it handles one call.
pub struct Cx<'a> {
    pub now: Time,
    /// Number of the stage being called.
    pub stage: u32,
    pub pool: &'a mut Pool,
    pub out: &'a mut Outbox,
    pub ledger: &'a mut dyn Ledger,
    pub observer: Option<&'a mut (dyn Observer + 'static)>,
    /// Something was dropped, or the ledger has another notification, since a driver that cares looked last.
    pub has_notifications: bool,
    /// What was dropped and marked so far.
    pub fates: Fates,
    /// For stages that look ahead, and the driver that lets them.
    pub ahead: Ahead,
}

impl<'a> Cx<'a> {
    #[inline]
    pub fn new(
        now: Time,
        stage: u32,
        pool: &'a mut Pool,
        out: &'a mut Outbox,
        ledger: &'a mut dyn Ledger,
        observer: Option<&'a mut (dyn Observer + 'static)>,
    ) -> Cx<'a> {
        Cx {
            now,
            stage,
            pool,
            out,
            ledger,
            observer,
            has_notifications: false,
            fates: Fates::default(),
            ahead: Ahead::at(now),
        }
    }

    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        self.pool.get(id)
    }

    /// Hands a packet to the next stage of its route.
    #[inline]
    pub fn forward(&mut self, id: PacketId) {
        self.out.push(id);
    }

    /// The only way to lose a packet.
    pub fn drop(&mut self, id: PacketId, why: DropReason) {
        let p = *self.pool.get(id);
        self.ledger.dropped(self.stage, &p, why);
        self.fates.dropped(why);
        self.has_notifications = true;
        let kind = if why.is_loss() { EventKind::Lost } else { EventKind::Drop };
        self.note(End::source_of(&p), kind, p.seq, p.payload as u32, self.stage);
        self.pool.remove(id);
    }

    /// Counts what is dropped and marked meanwhile as of a class.
    #[inline]
    pub fn watched<T>(&mut self, class: &mut ClassTotals, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.fates;
        let out = work(self);
        class.meets(&before, &self.fates);
        out
    }

    /// A datagram has reached its flow's other end.
    #[inline]
    pub fn datagram_arrived(&mut self, flow: FlowId) {
        self.has_notifications |= self.ledger.arrived(flow);
    }

    /// Sets CE on an ECN-capable packet and counts it. The caller has checked that it is capable.
    pub fn mark(&mut self, id: PacketId) {
        let p = self.pool.get_mut(id);
        debug_assert!(p.ecn().is_capable(), "only ECN-capable packets are marked (RFC 3168)");
        p.set_ecn(Ecn::Ce);
        let p = *p;
        self.ledger.marked(self.stage, &p);
        self.fates.marked();
        self.note(End::source_of(&p), EventKind::Mark, p.seq, p.payload as u32, self.stage);
    }

    /// Tells the observer, if there is one and it cares about the flow.
    #[inline]
    pub fn note(&mut self, end: End, kind: EventKind, seq: u64, len: u32, aux: u32) {
        if let Some(o) = self.observer.as_deref_mut()
            && o.wants(end.flow)
        {
            o.event(Event { at: self.now, end, kind, seq, len, aux });
        }
    }
}

/// How a clock met a deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    OnTime,
    /// The deadline had passed by this much.
    Late(Dur),
    /// Something arrived before the deadline.
    Interrupted(Time),
}

/// Virtual or real time: the one place where they differ.
pub trait Clock {
    fn sync(&mut self, deadline: Time) -> Sync;
}

/// Simulation: every deadline is met at once.
#[derive(Clone, Copy, Default, Debug)]
pub struct VirtualClock;

impl Clock for VirtualClock {
    #[inline]
    fn sync(&mut self, _deadline: Time) -> Sync {
        Sync::OnTime
    }
}
