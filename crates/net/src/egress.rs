//! The egress: one queue, one link and one loss model joined into a single stage.
//!
//! Packets on the link wait in a ring ordered by arrival time, so a link with a fixed delay costs one pending wake, not
//! one for every packet in flight. At one instant deliveries come first, then the queue is served.

use crate::link::loss::none::NoLoss;
use crate::link::loss::{LossModel, LossPoint};
use crate::link::{Fate, Link};
use crate::queue::{Backlog, Head, QueueDisc};
use crosswind_base::{ConfigError, Cx, DropReason, Histogram, Metrics, PacketId, Stage, Time};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// A packet between the queue and the far end of the link.
#[derive(Clone, Copy)]
struct InFlight {
    at: Time,
    id: PacketId,
    lost: Option<DropReason>,
}

/// A queue in front of a link.
pub struct Egress<Q, L, M = NoLoss> {
    queue: Q,
    link: L,
    loss: M,
    ring: VecDeque<InFlight>,
    free_at: Time,
    /// When it is worth asking the queue: the link is free then, and the queue has not refused since its last wake.
    ask_at: Time,
    wake_at: Time,
    stats: Stats,
}

/// Totals of an egress.
#[derive(Default)]
struct Stats {
    arrived_packets: u64,
    /// Of the arrived ones, those that found an empty queue and a free link: their delay and the backlog they saw are zero.
    passed_packets: u64,
    sent_packets: u64,
    sent_bytes: u64,
    delivered_packets: u64,
    /// Retransmissions below IP.
    resent_packets: u64,
    queue_bytes_max: u64,
    /// Integral of the queue over time, in byte nanoseconds, up to `integral_at`.
    queue_integral: u128,
    integral_at: Time,
    /// Backlog since `integral_at`.
    queue_bytes: u64,
    /// Transmission time up to the start of the present busy period, and that period.
    busy_ns: u64,
    busy_from: Time,
    busy_until: Time,
    queue_delay_ns: Histogram,
    queue_bytes_seen: Histogram,
}

impl Stats {
    /// Takes note of a backlog that may have changed, now.
    #[inline]
    fn queue_is(&mut self, backlog: Backlog, now: Time) {
        if backlog.bytes != self.queue_bytes {
            self.queue_integral += self.queue_bytes as u128 * (now - self.integral_at).0 as u128;
            self.integral_at = now;
            self.queue_bytes = backlog.bytes;
        }
    }
    #[inline]
    fn transmission(&mut self, from: Time, until: Time) {
        if from != self.busy_until {
            self.busy_ns += (self.busy_until - self.busy_from).0;
            self.busy_from = from;
        }
        self.busy_until = until;
    }
    /// Time the line was busy up to now; transmissions that are only planned do not count.
    fn busy_by(&self, now: Time) -> u64 {
        self.busy_ns + self.busy_until.min(now).since(self.busy_from).0
    }
    fn queue_mean_bytes(&self, now: Time) -> f64 {
        let integral = self.queue_integral + self.queue_bytes as u128 * now.since(self.integral_at).0 as u128;
        if now == Time::ZERO { 0.0 } else { integral as f64 / now.0 as f64 }
    }
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
            ring: VecDeque::new(),
            free_at: Time::ZERO,
            ask_at: Time::ZERO,
            wake_at: Time::NEVER,
            stats: Stats::default(),
        }
    }

    /// What waits in the queue now.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Packets between the queue and the far end of the link.
    pub fn in_flight_packets(&self) -> usize {
        self.ring.len()
    }

    /// Serves the queue as long as the link takes packets.
    #[inline]
    fn pump(&mut self, cx: &mut Cx<'_>) {
        while cx.now >= self.free_at {
            let Some(head) = self.queue.dequeue(cx) else {
                self.ask_at = Time::NEVER;
                break;
            };
            self.transmit(head, cx);
        }
    }

    /// Does what was due since the last call, each thing at its own time: the queue's own alarms, and serving it. What
    /// waits now was admitted while the link was busy or the queue held it back.
    #[inline]
    fn serve_until_now(&mut self, cx: &mut Cx<'_>) {
        if !self.link.is_in_order() {
            return;
        }
        let now = cx.now;
        // The last alarm that was served: a queue may repeat it until it is asked.
        let mut heard = None;
        loop {
            let ask_at = if self.queue.backlog().packets > 0 { self.ask_at } else { Time::NEVER };
            let alarm = self.queue.next_wake().filter(|at| Some(*at) > heard).unwrap_or(Time::NEVER);
            if ask_at.min(alarm) > now {
                break;
            }
            cx.now = ask_at.min(alarm);
            if alarm <= ask_at {
                self.queue.wake(cx);
                heard = Some(alarm);
                self.ask_at = self.free_at.max(cx.now);
            } else if let Some(head) = self.queue.dequeue(cx) {
                self.transmit(head, cx);
            } else {
                self.ask_at = Time::NEVER;
            }
            self.stats.queue_is(self.queue.backlog(), cx.now);
        }
        cx.now = now;
    }

    #[inline]
    fn transmit(&mut self, head: Head, cx: &mut Cx<'_>) {
        self.stats.queue_delay_ns.record(cx.now.since(head.since).0);
        self.put_on_link(head, cx);
    }

    #[inline]
    fn put_on_link(&mut self, head: Head, cx: &mut Cx<'_>) {
        let packet = cx.packet(head.id);
        let plan = self.link.transmit(packet, cx.now);
        let listed = if self.loss.point() == LossPoint::Exit { self.loss.lose(packet) } else { None };
        let (at, lost) = match plan.fate {
            Fate::Deliver(at) => (at, listed),
            Fate::Lost(at) => (at, Some(DropReason::LinkError)),
        };
        self.free_at = plan.free_at;
        self.ask_at = plan.free_at;
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += head.len as u64;
        self.stats.resent_packets += plan.attempts as u64 - 1;
        self.stats.transmission(plan.tx_start, plan.tx_end);
        self.launch(InFlight { at, id: head.id, lost });
    }

    /// Puts a packet into the ring behind everything that arrives no later than it.
    #[inline]
    fn launch(&mut self, packet: InFlight) {
        if self.ring.back().is_none_or(|last| last.at <= packet.at) {
            self.ring.push_back(packet);
        } else {
            self.overtake(packet);
        }
    }

    /// The rare case of a link that reorders.
    #[cold]
    fn overtake(&mut self, packet: InFlight) {
        let i = self.ring.iter().rposition(|p| p.at <= packet.at).map_or(0, |i| i + 1);
        self.ring.insert(i, packet);
    }

    #[inline]
    fn deliver(&mut self, cx: &mut Cx<'_>) {
        while let Some(first) = self.ring.front().copied()
            && first.at <= cx.now
        {
            self.ring.pop_front();
            match first.lost {
                None => {
                    self.stats.delivered_packets += 1;
                    cx.forward(first.id);
                }
                Some(why) => cx.drop(first.id, why),
            }
        }
    }

    /// Notes the backlog and when to be woken next.
    #[inline]
    fn settle(&mut self, backlog: Backlog, now: Time) {
        self.stats.queue_is(backlog, now);
        let mut wake_at = self.ring.front().map_or(Time::NEVER, |p| p.at);
        let waits_for_delivery = self.link.is_in_order() && wake_at != Time::NEVER;
        if backlog.packets > 0 && self.free_at > now && !waits_for_delivery {
            wake_at = wake_at.min(self.free_at);
        }
        if let Some(at) = self.queue.next_wake().filter(|at| *at > now) {
            wake_at = wake_at.min(at);
        }
        self.wake_at = wake_at;
    }
}

impl<Q: QueueDisc, L: Link, M: LossModel> Stage for Egress<Q, L, M> {
    #[inline]
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.serve_until_now(cx);
        self.stats.arrived_packets += 1;
        if self.loss.point() == LossPoint::Entry
            && let Some(why) = self.loss.lose(cx.packet(id))
        {
            return cx.drop(id, why);
        }
        let len = cx.packet(id).len as u32;
        if cx.now >= self.free_at && self.queue.backlog().packets == 0 && self.queue.may_pass(len) {
            self.stats.passed_packets += 1;
            self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(len as u64);
            let before = self.ring.front().map_or(Time::NEVER, |p| p.at);
            self.put_on_link(Head { id, len, since: cx.now }, cx);
            let first = self.ring.front().map_or(Time::NEVER, |p| p.at);
            if before == Time::NEVER || first < before || self.queue.next_wake().is_some() {
                self.settle(Backlog::default(), cx.now);
            }
            return;
        }
        self.stats.queue_bytes_seen.record(self.queue.backlog().bytes);
        self.queue.enqueue(id, cx);
        let mut backlog = self.queue.backlog();
        self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(backlog.bytes);
        if cx.now >= self.free_at {
            self.pump(cx);
            backlog = self.queue.backlog();
        }
        self.settle(backlog, cx.now);
    }

    #[inline]
    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.serve_until_now(cx);
        self.deliver(cx);
        if self.queue.next_wake().is_some_and(|at| at <= cx.now) {
            self.queue.wake(cx);
        }
        self.pump(cx);
        self.settle(self.queue.backlog(), cx.now);
    }

    #[inline]
    fn next_wake(&self) -> Option<Time> {
        if self.wake_at == Time::NEVER { None } else { Some(self.wake_at) }
    }

    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        self.serve_until_now(cx);
        self.pump(cx);
        self.settle(self.queue.backlog(), cx.now);
    }

    /// The link changes for whatever is transmitted from now on. Queue and loss model stay what they are.
    fn change(&mut self, set: &Map<String, Value>, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.catch_up(cx);
        self.link.change(set)
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let backlog = self.queue.backlog();
        out("queue_bytes", backlog.bytes as f64);
        out("queue_packets", backlog.packets as f64);
        self.queue.sample(now, out);
        self.link.sample(now, out);
    }

    fn report(&self, now: Time, out: &mut dyn Metrics) {
        let s = &self.stats;
        let busy_ns = s.busy_by(now);
        out.value("arrived_packets", s.arrived_packets as f64);
        out.value("sent_packets", s.sent_packets as f64);
        out.value("sent_bytes", s.sent_bytes as f64);
        out.value("delivered_packets", s.delivered_packets as f64);
        out.value("link_resent_packets", s.resent_packets as f64);
        out.value("busy_ns", busy_ns as f64);
        out.value("utilisation_ratio", if now == Time::ZERO { 0.0 } else { busy_ns as f64 / now.0 as f64 });
        out.value("queue_mean_bytes", s.queue_mean_bytes(now));
        out.value("queue_max_bytes", s.queue_bytes_max as f64);
        let with_passed = |h: &Histogram| {
            let mut all = h.clone();
            all.record_many(0, s.passed_packets);
            all
        };
        out.histogram("queue_delay_ns", &with_passed(&s.queue_delay_ns));
        out.histogram("queue_bytes", &with_passed(&s.queue_bytes_seen));
    }
}
