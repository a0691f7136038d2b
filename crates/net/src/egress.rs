//! The egress: one queue, one link and one loss model joined into a single stage.
//!
//! Packets on the link wait in the order of their arrival, so a link with a fixed delay costs one pending wake, not
//! one for every packet in flight. At one instant deliveries come first, then the queue is served.
//!
//! Everything happens at its own time. Where a driver knows the whole network, and queue and link are steady, it may have the same
//! egress as one that looks ahead ([`crate::look_ahead`]); results are the same.

mod changes;
pub(crate) mod flight;
mod stage;
pub(crate) mod stats;

use crate::link::loss::none::NoLoss;
use crate::link::loss::{LossModel, LossPoint};
use crate::link::{Fate, Link};
use crate::queue::{Backlog, Head, QueueDisc};
use crosswind_base::{Cx, DropReason, Ecn, Metrics, PacketId, Time};
use flight::{Flight, InFlight};
use stats::{NotYet, Stats};

/// A queue in front of a link.
pub struct Egress<Q, L, M = NoLoss> {
    pub(crate) queue: Q,
    pub(crate) link: L,
    pub(crate) loss: M,
    pub(crate) flight: Flight,
    pub(crate) free_at: Time,
    /// When it is worth asking the queue: the link is free then, and the queue has not refused since its last wake.
    ask_at: Time,
    pub(crate) wake_at: Time,
    pub(crate) stats: Stats,
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
        }
    }

    /// What waits in the queue now.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Packets between the queue and the far end of the link.
    pub fn in_flight_packets(&self) -> usize {
        self.flight.len()
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
            let packet = self.transmit(head.id, cx);
            self.flight.push(packet);
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
    pub(crate) fn joins_queue(&mut self, id: PacketId, cx: &mut Cx<'_>) -> bool {
        let before = self.queue.backlog();
        self.stats.queue_bytes_seen.record(before.bytes);
        self.queue.enqueue(id, cx);
        let after = self.queue.backlog();
        self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(after.bytes);
        after.packets > before.packets
    }

    /// Asks the link when the packet will arrive; `cx.now` is the time at which it leaves the queue.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, id: PacketId, cx: &mut Cx<'_>) -> InFlight {
        let packet = cx.packet(id);
        let len = packet.len;
        let plan = self.link.transmit(packet, cx.now);
        let is_at_exit = self.loss.point() == LossPoint::Exit;
        let listed = if is_at_exit { self.loss.lose_known(id, packet, cx.now) } else { None };
        if is_at_exit
            && listed.is_none()
            && let Some(to) = self.loss.rewrites()
        {
            rewrite(id, to, cx);
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
        InFlight { at, starts: plan.tx_start, ends: plan.tx_end, id, len, lost, counted_early: false }
    }

    #[inline]
    pub(crate) fn deliver(&mut self, cx: &mut Cx<'_>) {
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
        self.wake_at = self.flight.first_at();
        if backlog.packets > 0 && self.free_at > now {
            self.wake_at = self.wake_at.min(self.free_at);
        }
        if let Some(at) = self.queue.next_wake().filter(|at| *at > now) {
            self.wake_at = self.wake_at.min(at);
        }
    }

    fn bring_up_to_now(&mut self, cx: &mut Cx<'_>) {
        self.ask_emptied(cx);
        // The queue is not asked what is next: it would be asked at other times than when nobody looks.
        self.settle(self.queue.backlog(), cx.now);
    }

    /// What the counters say too much of packets that the link has taken, and will transmit later.
    fn not_yet(&self, now: Time) -> NotYet {
        let mut n = NotYet::default();
        self.flight.overtaken().chain(self.flight.in_order()).for_each(|p| n.takes_back(p, now));
        n
    }

    /// Momentary values, with this backlog; `not_yet`: what the counters say too much.
    pub(crate) fn sample_with(
        &self,
        backlog: Backlog,
        not_yet: NotYet,
        now: Time,
        out: &mut dyn FnMut(&'static str, f64),
    ) {
        out("queue_bytes", backlog.bytes as f64);
        if let Some(rate) = self.link.nominal_rate() {
            out("queue_delay_ns", backlog.bytes as f64 * 8e9 / rate.as_f64());
        }
        out("queue_packets", backlog.packets as f64);
        out("sent_bytes", (self.stats.sent_bytes - not_yet.bytes) as f64);
        self.queue.sample(now, out);
        self.link.sample(now, out);
    }

    /// Totals. `longest`: a packet that nobody counted.
    pub(crate) fn report_with(&self, not_yet: NotYet, longest: u64, now: Time, out: &mut dyn Metrics) {
        self.stats.report(now, not_yet, self.link.repeated(now), longest, out);
        self.queue.report(out);
    }

    #[inline]
    pub(crate) fn loses_at_entry(&mut self, id: PacketId, cx: &mut Cx<'_>) -> bool {
        self.loss.arrives(id);
        let is_here = self.loss.point() == LossPoint::Entry;
        let lost = if is_here { self.loss.lose_known(id, cx.packet(id), cx.now) } else { None };
        if let Some(why) = lost {
            self.stats.lost_at_entry_packets += 1;
            cx.drop(id, why);
        } else if is_here && let Some(to) = self.loss.rewrites() {
            rewrite(id, to, cx);
        }
        lost.is_some()
    }
}

/// Another ECN field. A listed mark stands for a router that would have marked the packet here.
#[cold]
fn rewrite(id: PacketId, to: Ecn, cx: &mut Cx<'_>) {
    if to != Ecn::Ce {
        cx.pool.get_mut(id).set_ecn(to);
    } else if cx.packet(id).ecn().is_capable() {
        cx.mark(id);
    }
}
