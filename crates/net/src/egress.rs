//! The egress: one queue, one link and one loss model joined into a single stage.
//!
//! Packets on the link wait in the order of their arrival, so a link with a fixed delay costs one pending wake, not
//! one for every packet in flight. At one instant deliveries come first, then the queue is served.
//!
//! A driver that knows the whole network may let an egress look ahead ([`Permission`]). When the queue refuses packets on
//! arrival or never, and the link is steady, a packet's delivery is known when it arrives: the link is asked at once, and what
//! the queue holds is worked off later, each packet at its own time, whenever somebody reads totals. Results are the same.

mod changes;
mod flight;
mod look_ahead;
mod stats;

use crate::link::loss::none::NoLoss;
use crate::link::loss::{LossModel, LossPoint};
use crate::link::{Fate, Link};
use crate::queue::{Backlog, Head, QueueDisc, Removal};
use crosswind_base::{ConfigError, Cx, DropReason, Metrics, Packet, PacketId, Permission, Setting, Stage, Time};
use flight::{Flight, InFlight};
use look_ahead::{Ahead, Arriving};
use serde_json::{Map, Value};
use stats::Stats;

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
    stats: Stats,
    /// What is done before its time; nothing, unless the driver permits it.
    ahead: Ahead,
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
            stats: Stats::default(),
            ahead: Ahead::default(),
        }
    }

    /// What waits in the queue now.
    pub fn backlog(&self) -> Backlog {
        if self.ahead.permitted.has_one_upstream { self.ahead.waiting } else { self.queue.backlog() }
    }

    /// Packets between the queue and the far end of the link.
    pub fn in_flight_packets(&self) -> usize {
        self.flight.len() + self.ahead.remembered.len()
    }

    /// Serves the queue as long as the link takes packets.
    #[inline]
    fn pump(&mut self, cx: &mut Cx<'_>) {
        while cx.now >= self.free_at && (self.queue.backlog().packets > 0 || cx.now >= self.ask_at) {
            let Some(head) = self.queue.dequeue(cx) else {
                self.ask_at = Time::NEVER;
                break;
            };
            self.leaves_queue(head, cx);
            self.put_on_link(head.id, cx);
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

    #[inline]
    fn leaves_queue(&mut self, head: Head, cx: &mut Cx<'_>) {
        let time = cx.now.since(head.since);
        cx.pool.note_in_queue(head.id, time);
        self.stats.left_queue(time, head.len);
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
        if self.ahead.permitted.forwards_early {
            self.forward_early(packet, cx);
        } else {
            self.flight.push(packet);
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
        if self.ahead.permitted.plans {
            self.wake_at = self.planned_wake();
            return;
        }
        self.wake_at = self.flight.first_at();
        let waits_for_delivery = self.ahead.permitted.defers && self.link.is_in_order() && self.wake_at != Time::NEVER;
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
        match self.ahead.permitted.arriving {
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
        if self.ahead.permitted.plans {
            return self.wake_planned(cx);
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
        if self.ahead.batch.is_some() {
            self.take_batch(cx);
            if cx.has_more {
                return;
            }
        }
        self.work_off(cx);
        if self.ahead.permitted.forwards_early {
            self.review(cx.now);
        }
        // The queue is not asked here: it would be asked at other times than when nobody looks.
        self.settle(self.backlog(), cx.now);
    }

    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.read_parts(set).map(Setting::new)
    }

    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.change_parts(&new.get(), cx)
    }

    fn purge(&mut self, goes: &mut dyn FnMut(&Packet) -> bool, why: DropReason, cx: &mut Cx<'_>) {
        assert!(!self.ahead.permitted.plans, "what is planned cannot be thrown away");
        if self.queue.removal() == Removal::Possible {
            self.catch_up(cx);
            self.queue.remove(&mut |head, cx| goes(cx.packet(head.id)), why, cx);
            self.pump(cx);
            self.settle(self.queue.backlog(), cx.now);
        }
    }

    fn enable_look_ahead(&mut self, how: Permission) -> bool {
        self.permit(how)
    }

    fn will_be_sampled(&mut self) {
        self.ahead.permitted.is_sampled = true;
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
