//! The shell around every law of a queue. It alone admits, marks, drops, shrinks and removes; a law ([`Aqm`]) owns no packet. It is
//! told of arrivals and asked for the next packet, over storage that is lent to it ([`Lent`]). So one law serves a queue of its
//! own ([`AqmQueue`]), a class of another queue, and each of many flow queues ([`super::flows`]).

use super::store::{Admission, Fifo};
use super::{Backlog, Chooser, Head, QueueDisc, Removal};
use crosswind_base::packet::Ext;
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Limit, Metrics, Packet, PacketId, Past, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What happens to an ECN-capable packet that the law has selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Set CE and let it pass (RFC 3168).
    #[default]
    Mark,
    /// Treat it like any other packet.
    Drop,
}

/// What a law is told about an arriving packet, with the link-layer bytes that count. The backlog does not include it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub backlog: Backlog,
    pub len: u32,
    pub now: Time,
}

/// What a law wants done with an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Pass,
    /// Mark it if it is ECN-capable, drop it otherwise.
    Signal(DropReason),
    /// Drop it, whatever it is.
    Drop(DropReason),
}

/// Why a packet that waits has to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// One that arrives does not fit.
    Arrival,
    /// The limit has become smaller.
    Change,
}

/// Which packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// The last: the one that arrives, where one does.
    Newest,
    Oldest,
    /// The one at this place, the oldest at 0.
    At(usize),
    Nobody,
}

/// What a queue has besides its law.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub limit: Limit,
    /// A second limit beside it.
    pub also: Option<Limit>,
    pub admission: Admission,
    /// Counted with every packet, beyond its IP length.
    pub overhead: Size,
    pub ecn: EcnMode,
}

impl Setup {
    /// A limit that holds with the arriving packet, and nothing else.
    pub fn fits(limit: Limit, ecn: EcnMode) -> Setup {
        Setup { limit, also: None, admission: Admission::Fits, overhead: Size(0), ecn }
    }

    /// Whether a packet of `len` bytes may join what is `held`.
    #[inline]
    pub fn admits(&self, held: Backlog, len: u32) -> bool {
        let (held, len) = (held.with_overhead(self.overhead), len + self.overhead.0 as u32);
        self.admission.admits(held, len, self.limit) && self.also.is_none_or(|l| self.admission.admits(held, len, l))
    }

    /// Whether this is more than the limits allow.
    pub fn is_exceeded_by(&self, held: Backlog) -> bool {
        let held = held.with_overhead(self.overhead);
        let is_over = |limit| match limit {
            Limit::Bytes(n) => held.bytes > n,
            Limit::Packets(n) => u64::from(held.packets) > n,
        };
        is_over(self.limit) || self.also.is_some_and(is_over)
    }
}

/// The storage of a queue, lent to its law for one call; and all that a law can do to packets.
pub struct Lent<'a, 'c, D> {
    /// The random numbers of the queue.
    pub draws: &'a mut D,
    setup: &'a Setup,
    store: &'a mut Fifo,
    /// What is held by queues beside this one, which share its link.
    beside: Backlog,
    arriving: Option<PacketId>,
    cx: &'a mut Cx<'c>,
}

impl<'a, 'c, D> Lent<'a, 'c, D> {
    pub fn new(setup: &'a Setup, store: &'a mut Fifo, draws: &'a mut D, cx: &'a mut Cx<'c>) -> Lent<'a, 'c, D> {
        Lent { draws, setup, store, beside: Backlog::default(), arriving: None, cx }
    }
    /// One of several queues in front of one link.
    pub fn beside(self, others: Backlog) -> Lent<'a, 'c, D> {
        Lent { beside: others, ..self }
    }
    pub fn setup(&self) -> &Setup {
        self.setup
    }
    #[inline]
    pub fn now(&self) -> Time {
        self.cx.now
    }
    /// What waits here.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
    /// What waits in front of the link.
    #[inline]
    pub fn backlog_of_all(&self) -> Backlog {
        let own = self.store.backlog();
        Backlog { bytes: own.bytes + self.beside.bytes, packets: own.packets + self.beside.packets }
    }
    /// Whether the limits leave room for an arrival.
    #[inline]
    pub fn fits(&self, a: &Arrival) -> bool {
        self.setup.admits(self.store.backlog(), a.len - self.setup.overhead.0 as u32)
    }
    /// The packet that arrives; only while one does.
    pub fn arriving(&self) -> &Packet {
        self.cx.packet(self.arriving.expect("asked while a packet arrives"))
    }
    /// Its options; only where it has some.
    pub fn options(&mut self) -> Option<&mut Ext> {
        let id = self.arriving?;
        if self.cx.packet(id).ext == 0 { None } else { Some(self.cx.pool.ext_mut(id)) }
    }
    pub fn packet(&self, head: &Head) -> &Packet {
        self.cx.packet(head.id)
    }
    /// All that wait, the oldest first, with what few of them carry.
    pub(super) fn waiting(&self) -> impl ExactSizeIterator<Item = (&Packet, Option<&Ext>)> {
        self.store.iter().map(|head| {
            let p = self.cx.packet(head.id);
            (p, self.cx.pool.ext(p))
        })
    }
    #[inline]
    pub fn front(&self) -> Option<Head> {
        self.store.front()
    }
    /// Takes the oldest out: it goes on, or is handed to [`Lent::signal`] or [`Lent::drop`].
    #[inline]
    pub fn pop(&mut self) -> Option<Head> {
        self.store.pop()
    }
    /// Marks a packet that was taken out, if it is ECN-capable and the queue marks; it is still there then. Else it is dropped.
    pub fn signal(&mut self, head: Head, why: DropReason) -> Option<Head> {
        if self.setup.ecn == EcnMode::Mark && self.mark_if_capable(&head) {
            return Some(head);
        }
        self.drop(head, why);
        None
    }
    /// Marks a packet that was taken out if it is ECN-capable, whatever the queue does with those that its law picks.
    pub fn mark_if_capable(&mut self, head: &Head) -> bool {
        let is_capable = self.cx.packet(head.id).ecn().is_capable();
        if is_capable {
            self.cx.mark(head.id);
        }
        is_capable
    }
    /// Drops a packet that was taken out.
    pub fn drop(&mut self, head: Head, why: DropReason) {
        self.cx.drop(head.id, why);
    }
    /// Puts in a packet that arrives, and that the queue around it has let in.
    pub(super) fn push(&mut self, id: PacketId) {
        let len = u32::from(self.cx.packet(id).len);
        self.store.push(id, len, self.cx.now);
    }
    /// Puts in what was taken out of another queue.
    pub(super) fn put_back(&mut self, head: Head) {
        self.store.push(head.id, head.len, head.since);
    }
    /// Drops a packet that arrives, for the queue around it.
    pub(super) fn refuse_arrival(&mut self, id: PacketId, why: DropReason) {
        self.cx.drop(id, why);
    }
    /// Drops the packet at this place.
    pub(super) fn drop_at(&mut self, i: usize, why: DropReason) {
        if let Some(gone) = self.store.take(i) {
            self.drop(gone, why);
        }
    }

    /// A packet comes to this queue.
    #[inline]
    fn arrives(&mut self, id: PacketId) -> Arrival {
        let overhead = self.setup.overhead;
        let (backlog, len) = (self.store.backlog().with_overhead(overhead), u32::from(self.cx.packet(id).len));
        self.arriving = Some(id);
        Arrival { backlog, len: len + overhead.0 as u32, now: self.cx.now }
    }

    /// Offers the queue a packet.
    #[inline]
    pub(super) fn offer<A: Aqm<Draws = D>>(mut self, law: &mut A, id: PacketId) {
        let (a, len) = (self.arrives(id), u32::from(self.cx.packet(id).len));
        let is_marked = match law.on_enqueue(&a, &mut self) {
            Verdict::Pass => false,
            Verdict::Signal(_) if self.setup.ecn == EcnMode::Mark && self.cx.packet(id).ecn().is_capable() => true,
            Verdict::Signal(why) | Verdict::Drop(why) => return self.refuse(law, &a, why),
        };
        if !self.setup.admits(self.store.backlog(), len) && !self.makes_room(law, len) {
            return self.refuse(law, &a, DropReason::QueueFull);
        }
        if is_marked {
            self.cx.mark(id);
        }
        self.store.push(id, len, a.now);
        law.on_admitted(&a);
    }

    /// Drops those that are chosen, for a reason that is not the queue's.
    pub(super) fn remove<A: Aqm<Draws = D>>(
        self,
        law: &mut A,
        mut goes: impl FnMut(&Head, &Cx<'_>) -> bool,
        why: DropReason,
    ) {
        let (store, cx) = (self.store, self.cx);
        let before = store.backlog().packets;
        let mut place = 0;
        store.sort_out(|head| {
            let is_gone = goes(head, cx);
            if is_gone {
                cx.drop(head.id, why);
                law.on_taken_out(place);
            } else {
                place += 1;
            }
            is_gone
        });
        let left = store.backlog();
        if left.packets < before {
            law.on_removed(left, cx.now);
        }
    }

    /// Refuses a packet because all queues beside each other are full; the law is told.
    #[cold]
    pub(super) fn turn_away<A: Aqm<Draws = D>>(mut self, law: &mut A, id: PacketId) {
        let a = self.arrives(id);
        self.refuse(law, &a, DropReason::QueueFull);
    }

    fn refuse<A: Aqm<Draws = D>>(&mut self, law: &mut A, a: &Arrival, why: DropReason) {
        law.on_refused(a, why);
        if let Some(id) = self.arriving {
            self.cx.drop(id, why);
        }
    }

    /// Drops others until a packet of `len` bytes fits, if the law says so.
    #[cold]
    fn makes_room<A: Aqm<Draws = D>>(&mut self, law: &mut A, len: u32) -> bool {
        if !self.setup.admits(Backlog::default(), len) {
            return false;
        }
        while !self.setup.admits(self.store.backlog(), len) {
            match law.victim(Excess::Arrival, self) {
                Victim::Newest | Victim::Nobody => return false,
                Victim::Oldest => self.drop_at(0, DropReason::QueueFull),
                Victim::At(i) => self.drop_at(i, DropReason::QueueFull),
            }
        }
        true
    }

    /// Drops what the limits do not allow.
    fn shrink<A: Aqm<Draws = D>>(&mut self, law: &mut A) {
        while self.setup.is_exceeded_by(self.store.backlog()) {
            let i = match law.victim(Excess::Change, self) {
                Victim::Newest => self.store.backlog().packets as usize - 1,
                Victim::Oldest => 0,
                Victim::At(i) => i,
                Victim::Nobody => return,
            };
            self.drop_at(i, DropReason::QueueFull);
        }
    }
}

/// A law of a queue: it decides, the shell does. Every question but [`Aqm::change`] has an answer of its own, that of a FIFO.
pub trait Aqm {
    /// Where its random numbers come from: a stream, or `()` for a law without chance.
    type Draws;

    /// A packet arrives.
    fn on_enqueue(&mut self, _a: &Arrival, _q: &mut Lent<'_, '_, Self::Draws>) -> Verdict {
        Verdict::Pass
    }
    /// It was let in, and is in the queue.
    fn on_admitted(&mut self, _a: &Arrival) {}
    /// It was dropped, by the law or because it did not fit.
    fn on_refused(&mut self, _a: &Arrival, _why: DropReason) {}
    /// The link asks for a packet. The law takes it, and may signal or drop others on the way.
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Self::Draws>) -> Option<Head> {
        q.pop()
    }
    /// The packet at this place was removed, for a reason that is not the queue's; those behind it have moved up.
    fn on_taken_out(&mut self, _place: usize) {}
    /// Packets were removed from anywhere, for reasons that are not the queue's; this is left.
    fn on_removed(&mut self, _left: Backlog, _now: Time) {}
    /// So many packets were dropped at its head because all queues together held too much.
    fn on_cut(&mut self, _packets: u32, _now: Time) {}
    /// Who goes when there is too much.
    fn victim(&mut self, _why: Excess, _q: &mut Lent<'_, '_, Self::Draws>) -> Victim {
        Victim::Newest
    }
    /// New values for some parameters; the past stays.
    fn read_change(&self, set: &Map<String, Value>, setup: &Setup) -> Result<Setting, ConfigError>;
    /// What has been read holds from now on.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Self::Draws>) -> Result<Setup, ConfigError>;
    /// See [`QueueDisc::past`]; nothing waits.
    fn past(&self, _now: Time) -> Option<Past> {
        None
    }
    fn resume(&mut self, _past: Past, _gap: Dur) {
        unreachable!("only what has a past resumes")
    }
    fn sample(&self, _now: Time, _out: &mut dyn FnMut(&'static str, f64)) {}
    fn report(&self, _out: &mut dyn Metrics) {}

    /// See [`QueueDisc::may_pass`]; the packet fits.
    fn may_pass(&mut self) -> bool {
        false
    }
    /// Whether the oldest packet is the one that leaves next, for certain.
    fn gives_oldest(&self) -> bool {
        true
    }
    /// See [`QueueDisc::decides_on_arrival`].
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// Whether all that fits is let in.
    fn admits_what_fits(&self) -> bool {
        false
    }
    fn removal(&self) -> Removal {
        Removal::Possible
    }
}

/// A queue of one law.
pub struct AqmQueue<A: Aqm> {
    law: A,
    setup: Setup,
    store: Fifo,
    draws: A::Draws,
}

impl<A: Aqm> AqmQueue<A> {
    pub fn around(law: A, setup: Setup, draws: A::Draws) -> AqmQueue<A> {
        AqmQueue { law, setup, store: Fifo::new(), draws }
    }
    pub fn law(&self) -> &A {
        &self.law
    }
}

impl<A: Aqm> QueueDisc for AqmQueue<A> {
    #[inline]
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        Lent::new(&self.setup, &mut self.store, &mut self.draws, cx).offer(&mut self.law, id);
    }
    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.law.on_dequeue(&mut Lent::new(&self.setup, &mut self.store, &mut self.draws, cx))
    }
    #[inline]
    fn may_pass(&mut self, len: u32) -> bool {
        self.setup.admits(Backlog::default(), len) && self.law.may_pass()
    }
    #[inline]
    fn peek(&self) -> Option<Head> {
        if self.law.gives_oldest() { self.store.front() } else { None }
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
    #[inline]
    fn decides_on_arrival(&self) -> bool {
        self.law.decides_on_arrival()
    }
    fn always_admits(&self, below: Backlog) -> bool {
        self.law.admits_what_fits() && !self.setup.is_exceeded_by(below)
    }
    fn removal(&self) -> Removal {
        self.law.removal()
    }
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        Lent::new(&self.setup, &mut self.store, &mut self.draws, cx).remove(&mut self.law, goes, why);
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.law.read_change(set, &self.setup)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.setup = self.law.change(new, &mut Lent::new(&self.setup, &mut self.store, &mut self.draws, cx))?;
        Lent::new(&self.setup, &mut self.store, &mut self.draws, cx).shrink(&mut self.law);
        Ok(())
    }
    fn past(&mut self, now: Time) -> Option<Past> {
        if self.store.backlog().packets > 0 {
            self.law.on_removed(Backlog::default(), now);
        }
        self.law.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.law.resume(past, gap)
    }
    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.law.sample(now, out)
    }
    fn report(&self, out: &mut dyn Metrics) {
        self.law.report(out)
    }
}
