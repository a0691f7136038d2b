//! The egress: one queue, one link and one loss model joined into a single stage.
//!
//! Packets on the link wait in the order of their arrival, so a link with a fixed delay costs one pending wake, not
//! one for every packet in flight. At one instant deliveries come first, then the queue is served.
//!
//! A driver that knows the whole network may let an egress look ahead ([`Permission`]). When the queue refuses packets on
//! arrival or never, and the link is steady, a packet's delivery is known when it arrives: the link is asked at once, and what
//! the queue holds is worked off later, each packet at its own time, whenever somebody reads totals. Results are the same.

mod batch;
mod flight;
mod look_ahead;
mod remembered;
mod stats;

use crate::link::loss::none::NoLoss;
use crate::link::loss::{LossModel, LossPoint};
use crate::link::{Fate, Link, delayer};
use crate::queue::{Backlog, Head, QueueDisc, Removal};
use batch::Batch;
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Metrics, Packet, PacketId, Permission, Setting, Stage, Time};
use flight::{Flight, InFlight};
use look_ahead::{Arriving, PendingArrival, Permitted};
use remembered::Remembered;
use serde_json::{Map, Value};
use stats::Stats;
use std::collections::VecDeque;

/// The keys of a part that are to change.
fn table<'a>(value: &'a Value, key: &str) -> Result<&'a Map<String, Value>, ConfigError> {
    value.as_object().ok_or_else(|| ConfigError::new(key, value.to_string(), "a table of the keys that change"))
}

/// New parameters of the parts of an egress.
#[derive(Clone, Default)]
struct NewParts {
    queue: Option<Setting>,
    loss: Option<Setting>,
    delayers: Vec<NewDelayer>,
    link: Option<Setting>,
}

#[derive(Clone)]
struct NewDelayer {
    key: &'static str,
    of_link: Option<Setting>,
    of_queue: Option<Setting>,
}

/// A queue in front of a link.
pub struct Egress<Q, L, M = NoLoss> {
    queue: Q,
    link: L,
    loss: M,
    flight: Flight,
    free_at: Time,
    /// When it is worth asking the queue: the link is free then, and the queue has not refused since its last wake.
    ask_at: Time,
    wake_at: Time,
    permitted: Permitted,
    /// With a plan: when the packets in the queue will leave it.
    starts: VecDeque<Time>,
    /// Pending arrivals that one upstream link has forwarded early, and those that wait since.
    pending: VecDeque<PendingArrival>,
    /// Of the pending ones, those that have arrived, and their bytes.
    waiting: Backlog,
    /// With several upstream links: what will arrive.
    batch: Option<Box<Batch>>,
    /// Of a link that forwards early: what is in flight.
    remembered: Remembered,
    stats: Stats,
}

impl<Q: QueueDisc, L: Link> Egress<Q, L> {
    pub fn new(queue: Q, link: L) -> Egress<Q, L> {
        Egress::with_loss(queue, link, NoLoss)
    }
}

impl<Q: QueueDisc, L: Link, M: LossModel> Egress<Q, L, M> {
    pub fn with_loss(queue: Q, link: L, loss: M) -> Egress<Q, L, M> {
        Egress {
            queue,
            link,
            loss,
            flight: Flight::default(),
            free_at: Time::ZERO,
            ask_at: Time::NEVER,
            wake_at: Time::NEVER,
            permitted: Permitted::default(),
            starts: VecDeque::new(),
            pending: VecDeque::new(),
            waiting: Backlog::default(),
            batch: None,
            remembered: Remembered::default(),
            stats: Stats::default(),
        }
    }

    /// What waits in the queue now.
    pub fn backlog(&self) -> Backlog {
        if self.permitted.has_one_upstream { self.waiting } else { self.queue.backlog() }
    }

    /// What holds packets up is in front of the link, in the queue, or in both.
    fn read_delayer(&self, key: &'static str, new: &Value) -> Result<NewDelayer, ConfigError> {
        let of_link = self.link.read_delayer(key, new)?;
        let of_queue = if key == "spikes" { self.queue.read_gate(new)? } else { None };
        if of_link.is_some() || of_queue.is_some() {
            return Ok(NewDelayer { key, of_link, of_queue });
        }
        let expected = format!("a link that has `{key}` from the start, or spikes that do what they did before");
        Err(ConfigError::new("", new.to_string(), expected))
    }

    /// Packets between the queue and the far end of the link.
    pub fn in_flight_packets(&self) -> usize {
        self.flight.len() + self.remembered.len()
    }

    /// Serves the queue as long as the link takes packets.
    #[inline]
    fn pump(&mut self, cx: &mut Cx<'_>) {
        while cx.now >= self.free_at && (self.queue.backlog().packets > 0 || cx.now >= self.ask_at) {
            let Some(head) = self.queue.dequeue(cx) else {
                self.ask_at = Time::NEVER;
                break;
            };
            self.leaves_queue(head, cx.now);
            self.put_on_link(head.id, cx);
        }
    }

    /// Does what was due since the last call, each thing at its own time: the queue's own alarms, and serving it. What
    /// waits now was admitted while the link was busy or the queue held it back.
    #[inline]
    fn work_off(&mut self, cx: &mut Cx<'_>) {
        if self.permitted.has_one_upstream {
            self.work_off_pending(cx.now);
        } else if self.permitted.plans {
            self.work_off_planned(cx);
        } else if self.permitted.defers && self.link.is_in_order() {
            self.serve_until_now(cx);
        } else {
            self.ask_emptied(cx);
        }
    }

    /// The link has become free and nothing waits: the queue is asked once, as of that time, and so learns that it is empty.
    #[inline]
    fn ask_emptied(&mut self, cx: &mut Cx<'_>) {
        if self.ask_at <= cx.now && self.queue.backlog().packets == 0 {
            let now = std::mem::replace(&mut cx.now, self.ask_at);
            let nothing = self.queue.dequeue(cx);
            debug_assert!(nothing.is_none(), "nothing waits");
            (cx.now, self.ask_at) = (now, Time::NEVER);
        }
    }

    fn serve_until_now(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        // The last alarm that was served: a queue may repeat it until it is asked.
        let mut heard = None;
        loop {
            let ask_at = self.ask_at;
            let alarm = self.queue.next_wake().filter(|at| Some(*at) > heard).unwrap_or(Time::NEVER);
            if ask_at.min(alarm) > now {
                break;
            }
            cx.now = ask_at.min(alarm);
            if alarm <= ask_at {
                self.queue.wake(cx);
                heard = Some(alarm);
                if self.queue.backlog().packets > 0 {
                    self.ask_at = self.free_at.max(cx.now);
                }
            } else if let Some(head) = self.queue.dequeue(cx) {
                self.leaves_queue(head, cx.now);
                self.put_on_link(head.id, cx);
            } else {
                self.ask_at = Time::NEVER;
            }
            self.stats.queue_is(self.queue.backlog(), cx.now);
        }
        cx.now = now;
    }

    #[inline]
    fn leaves_queue(&mut self, head: Head, now: Time) {
        self.stats.queue_delay_ns.record(now.since(head.since).0);
        self.stats.sent(head.len);
    }

    /// Returns whether it was admitted.
    #[inline]
    fn joins_queue(&mut self, id: PacketId, cx: &mut Cx<'_>) -> bool {
        let before = self.queue.backlog();
        self.stats.queue_bytes_seen.record(before.bytes);
        self.queue.enqueue(id, cx);
        let after = self.queue.backlog();
        self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(after.bytes);
        after.packets > before.packets
    }

    /// Asks the link when the packet will arrive; `cx.now` is the time at which it leaves the queue.
    #[inline(always)]
    fn put_on_link(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let packet = cx.packet(id);
        let len = packet.len;
        let plan = self.link.transmit(packet, cx.now);
        let is_at_exit = self.loss.point() == LossPoint::Exit;
        let listed = if is_at_exit { self.loss.lose(packet, cx.now) } else { None };
        if is_at_exit && listed.is_none() && self.loss.marks() {
            mark_if_capable(id, cx);
        }
        let (at, lost) = match plan.fate {
            Fate::Deliver(at) => (at, listed),
            Fate::Lost(at) => (at, Some(DropReason::LinkError)),
        };
        self.free_at = plan.free_at;
        self.ask_at = plan.free_at;
        if plan.attempts > 1 {
            self.stats.retransmitted_packets += u64::from(plan.attempts - 1);
        }
        self.stats.transmission(plan.tx_start, plan.tx_end);
        let flight = InFlight { at, starts: plan.tx_start, ends: plan.tx_end, id, len, lost, counted_early: false };
        self.launch(flight, cx);
    }

    /// Sends a packet on its way.
    #[inline(always)]
    fn launch(&mut self, packet: InFlight, cx: &mut Cx<'_>) {
        if !self.permitted.forwards_early {
            self.flight.push(packet);
            return;
        }
        cx.forward_early(packet.id, packet.at);
        let horizon = if self.permitted.is_sampled { cx.sample_horizon } else { cx.report_horizon };
        if packet.at <= horizon {
            // It will have reached the far end before anybody reads totals.
            self.stats.delivered(packet.len);
        } else {
            self.remember(packet, cx.reached);
        }
    }

    #[inline]
    fn deliver(&mut self, cx: &mut Cx<'_>) {
        while let Some(first) = self.flight.pop_until(cx.now) {
            match first.lost {
                None => {
                    self.stats.delivered(first.len);
                    cx.forward(first.id);
                }
                Some(why) => {
                    self.stats.queue_was(first.len);
                    cx.drop(first.id, why);
                }
            }
        }
        if let Some(next) = self.flight.first() {
            cx.pool.prefetch(next.id);
        }
    }

    /// Notes the backlog and when to be woken next.
    #[inline]
    fn settle(&mut self, backlog: Backlog, now: Time) {
        self.stats.queue_is(backlog, now);
        if self.permitted.plans {
            self.wake_at = self.planned_wake();
            return;
        }
        self.wake_at = self.flight.first_at();
        let waits_for_delivery = self.permitted.defers && self.link.is_in_order() && self.wake_at != Time::NEVER;
        if backlog.packets > 0 && self.free_at > now && !waits_for_delivery {
            self.wake_at = self.wake_at.min(self.free_at);
        }
        if let Some(at) = self.queue.next_wake().filter(|at| *at > now) {
            self.wake_at = self.wake_at.min(at);
        }
    }

    /// A packet arrives, and what becomes of it will be seen.
    fn accept_now(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        self.work_off(cx);
        if self.loses_at_entry(id, cx) {
            return self.wake_at;
        }
        let len = cx.packet(id).len as u32;
        if cx.now >= self.free_at && self.queue.backlog().packets == 0 && self.queue.may_pass(len) {
            self.stats.passed(len);
            self.stats.sent(len);
            let before = self.flight.first_at();
            self.put_on_link(id, cx);
            if self.flight.first_at() < before || self.queue.next_wake().is_some() {
                self.settle(Backlog::default(), cx.now);
            }
            return self.wake_at;
        }
        self.joins_queue(id, cx);
        if cx.now >= self.free_at {
            self.pump(cx);
        }
        self.settle(self.queue.backlog(), cx.now);
        self.wake_at
    }

    /// Apart from the copy inside the loop over a batch, so that the dispatch of arrivals stays small.
    #[inline(never)]
    fn accept_planned(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        self.accept_planning(id, cx)
    }

    #[inline]
    fn loses_at_entry(&mut self, id: PacketId, cx: &mut Cx<'_>) -> bool {
        let lost = if self.loss.point() == LossPoint::Entry { self.loss.lose(cx.packet(id), cx.now) } else { None };
        if let Some(why) = lost {
            self.stats.lost_at_entry_packets += 1;
            cx.drop(id, why);
        } else if self.loss.marks() && self.loss.point() == LossPoint::Entry {
            mark_if_capable(id, cx);
        }
        lost.is_some()
    }
}

/// A listed mark: it stands for a router that would have marked the packet here.
#[cold]
fn mark_if_capable(id: PacketId, cx: &mut Cx<'_>) {
    if cx.packet(id).ecn().is_capable() {
        cx.mark(id);
    }
}

impl<Q: QueueDisc, L: Link, M: LossModel> Stage for Egress<Q, L, M> {
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.accepts(id, cx);
    }

    fn accepts(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        match self.permitted.arriving {
            Arriving::FromUpstream => self.accept_from_upstream(id, cx),
            Arriving::Batched => self.accept_into_batch(id, cx),
            Arriving::Planned => self.accept_planned(id, cx),
            Arriving::Now => self.accept_now(id, cx),
        }
    }

    fn wakes(&mut self, cx: &mut Cx<'_>) -> Time {
        self.wake(cx);
        self.wake_at
    }

    #[inline(always)]
    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.permitted.plans {
            if self.batch.is_some() {
                self.take_batch(cx);
            }
            if !self.pending.is_empty() {
                self.work_off_pending(cx.now);
            }
            if !self.permitted.forwards_early {
                self.deliver(cx);
            }
            self.wake_at = self.planned_wake();
            return;
        }
        self.work_off(cx);
        self.deliver(cx);
        if self.queue.next_wake().is_some_and(|at| at <= cx.now) {
            self.queue.wake(cx);
        }
        self.pump(cx);
        if self.flight.first_at() <= cx.now {
            // What needs no time to get to the far end.
            self.deliver(cx);
        }
        self.settle(self.queue.backlog(), cx.now);
    }

    #[inline]
    fn next_wake(&self) -> Option<Time> {
        if self.wake_at == Time::NEVER { None } else { Some(self.wake_at) }
    }

    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        if self.batch.is_some() {
            self.take_batch(cx);
            if cx.has_more {
                return;
            }
        }
        self.work_off(cx);
        if self.permitted.forwards_early {
            self.review(cx.now);
        }
        // The queue is not asked here: it would be asked at other times than when nobody looks.
        self.settle(self.backlog(), cx.now);
    }

    /// `queue`, `loss` and what holds packets up are tables of their own.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let (mut of_link, mut new) = (set.clone(), NewParts::default());
        if let Some(queue) = of_link.shift_remove("queue") {
            new.queue = Some(self.queue.read_change(table(&queue, "queue")?).map_err(|e| e.under("queue"))?);
        }
        if let Some(loss) = of_link.shift_remove("loss") {
            new.loss = Some(self.loss.read_change(table(&loss, "loss")?).map_err(|e| e.under("loss"))?);
        }
        for (key, _) in delayer::KEYS {
            if let Some(written) = of_link.shift_remove(key) {
                new.delayers.push(self.read_delayer(key, &written).map_err(|e| e.under(key))?);
            }
        }
        if !of_link.is_empty() {
            new.link = Some(self.link.read_change(&of_link)?);
        }
        Ok(Setting::new(new))
    }

    /// The link changes for whatever is transmitted from now on. A driver that changes a stage does not let it look ahead.
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        debug_assert!(!self.permitted.plans, "what is planned cannot be changed");
        self.catch_up(cx);
        let new: NewParts = new.get();
        if let Some(queue) = &new.queue {
            self.queue.change(queue, cx).map_err(|e| e.under("queue"))?;
        }
        if let Some(loss) = &new.loss {
            self.loss.change(loss, cx.now).map_err(|e| e.under("loss"))?;
        }
        for h in &new.delayers {
            if let Some(of_link) = &h.of_link {
                self.link.change_delayer(h.key, of_link, cx.now).map_err(|e| e.under(h.key))?;
            }
            if let Some(of_queue) = &h.of_queue {
                self.queue.change_gate(of_queue, cx.now).map_err(|e| e.under(h.key))?;
            }
        }
        if let Some(link) = &new.link {
            self.link.change(link, cx.now)?;
        }
        // What a change makes due is due now: nobody would be woken for it later.
        if self.queue.next_wake().is_some_and(|at| at <= cx.now) {
            self.queue.wake(cx);
        }
        self.pump(cx);
        self.settle(self.queue.backlog(), cx.now);
        Ok(())
    }

    fn purge(&mut self, goes: &mut dyn FnMut(&Packet) -> bool, why: DropReason, cx: &mut Cx<'_>) {
        assert!(!self.permitted.plans, "what is planned cannot be thrown away");
        if self.queue.removal() == Removal::Possible {
            self.catch_up(cx);
            self.queue.remove(&mut |head, cx| goes(cx.packet(head.id)), why, cx);
            self.pump(cx);
            self.settle(self.queue.backlog(), cx.now);
        }
    }

    fn enable_look_ahead(&mut self, how: Permission) -> bool {
        let can_plan = self.queue.decides_on_arrival() && self.link.steady_rate().is_some();
        let is_lossless = self.loss.loses_nothing();
        let may = match how {
            Permission::Defer => {
                self.permitted.defers = true;
                return true;
            }
            Permission::Plan => can_plan,
            Permission::SoleUpstream => return can_plan && self.link.is_even(),
            Permission::ForwardEarly => can_plan && is_lossless,
            Permission::OneUpstream(upstream) => can_plan && is_lossless && self.always_admits_from(upstream),
            Permission::Batch => can_plan && self.link.least_delay() > Dur::ZERO,
        };
        let f = &mut self.permitted;
        f.plans |= may;
        f.forwards_early |= may && how == Permission::ForwardEarly;
        f.has_one_upstream |= may && matches!(how, Permission::OneUpstream(_));
        if may && how == Permission::Batch {
            self.batch = Some(Box::new(Batch::new(self.may_wait())));
        }
        self.permitted.arriving = match self.permitted {
            _ if self.batch.is_some() => Arriving::Batched,
            Permitted { has_one_upstream: true, .. } => Arriving::FromUpstream,
            Permitted { plans: true, .. } => Arriving::Planned,
            _ => Arriving::Now,
        };
        may
    }

    fn will_be_sampled(&mut self) {
        self.permitted.is_sampled = true;
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let backlog = self.backlog();
        out("queue_bytes", backlog.bytes as f64);
        out("queue_packets", backlog.packets as f64);
        out("sent_bytes", (self.stats.sent_bytes - self.not_yet(now).bytes) as f64);
        self.queue.sample(now, out);
        self.link.sample(now, out);
    }

    fn report(&self, now: Time, out: &mut dyn Metrics) {
        self.stats.report(now, self.not_yet(now), self.link.repeated(now), self.longest_begun(now), out);
        self.queue.report(out);
    }
}
