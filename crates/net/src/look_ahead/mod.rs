//! # Looking ahead
//!
//! An egress that decides what becomes of a packet when it arrives, or before: a second implementation of the stage that
//! [`Egress`] is, for queues that refuse packets on arrival or never, in front of steady links. There a packet's delivery is known at
//! once; the link is asked, and what the queue holds is worked off later, each packet at its own time, whenever somebody reads
//! totals. Where the next stage looks ahead as well, the packet is forwarded before its time.
//!
//! The driver chooses: it asks [`steady`] stages what they can say early, and has those that help it changed
//! ([`crosswind_base::Stage::looking_ahead`]). Results are the same, bit by bit; `tests/look_ahead.rs` of the test kit and
//! `crates/sim/tests/recording` compare both.

mod batch;
mod remembered;

use crate::egress::Egress;
use crate::egress::flight::InFlight;
use crate::egress::stats::NotYet;
use crate::link::loss::LossModel;
use crate::link::wire::SHORTEST_BYTES;
use crate::link::{Fate, Link};
use crate::queue::{Backlog, QueueDisc};
use batch::Batch;
use crosswind_base::{
    Arrivals, Cx, Departures, Dur, EarlyPacket, Left, LooksAhead, Metrics, PacketId, Stage, Steady, Time, Upstream,
};
use remembered::Remembered;
use std::collections::VecDeque;

/// What is known early of an egress, where its queue and its link allow it.
pub fn steady<Q: QueueDisc, L: Link, M: LossModel>(egress: &Egress<Q, L, M>) -> Option<&dyn Steady> {
    let can_plan = egress.queue.decides_on_arrival() && egress.link.steady_rate().is_some();
    can_plan.then_some(egress as &dyn Steady)
}

impl<Q: QueueDisc, L: Link, M: LossModel> Steady for Egress<Q, L, M> {
    fn is_even(&self) -> bool {
        self.link.is_even()
    }

    fn takes_time(&self) -> bool {
        self.link.least_delay() > Dur::ZERO
    }

    fn is_lossless(&self) -> bool {
        self.loss.loses_nothing()
    }

    /// While one packet of the greatest length is being sent here, what
    /// arrives is at most as many bytes, in packets no shorter than a bare header, and the upstream link needs at least as
    /// long for the next long one.
    fn always_admits_from(&self, upstream: Upstream) -> bool {
        let Some(rate) = self.link.steady_rate().filter(|r| *r >= upstream.rate) else { return false };
        let longest = u64::from(upstream.longest);
        let meanwhile = longest * upstream.rate.0 / rate.0;
        let packets = (meanwhile / SHORTEST_BYTES + 3) as u32;
        self.queue.always_admits(Backlog { bytes: meanwhile + 3 * longest, packets })
    }
}

/// A packet that was forwarded before its arrival, and will have to wait.
#[derive(Clone, Copy)]
struct PendingArrival {
    arrives: Time,
    starts: Time,
    len: u32,
}

/// An egress that looks ahead.
pub struct Early<Q, L, M> {
    plain: Egress<Q, L, M>,
    how: LooksAhead,
    /// It is sampled during the run.
    is_sampled: bool,
    /// When the packets in the queue will leave it.
    starts: VecDeque<Time>,
    /// Pending arrivals that one upstream link has forwarded early, and those that wait since.
    pending: VecDeque<PendingArrival>,
    /// Of the pending ones, those that have arrived, and their bytes.
    waiting: Backlog,
    /// With several upstream links: what will arrive.
    batch: Option<Box<Batch>>,
    /// Of a link that forwards early: what is in flight.
    remembered: Remembered,
}

impl<Q: QueueDisc, L: Link, M: LossModel> Early<Q, L, M> {
    /// `plain` is steady, and has done nothing yet.
    pub fn new(plain: Egress<Q, L, M>, how: LooksAhead) -> Early<Q, L, M> {
        let mut early = Early {
            plain,
            how,
            is_sampled: false,
            starts: VecDeque::new(),
            pending: VecDeque::new(),
            waiting: Backlog::default(),
            batch: None,
            remembered: Remembered::default(),
        };
        if how.arrivals == Arrivals::FromSeveral {
            early.batch = Some(Box::new(Batch::new(early.may_wait())));
        }
        early
    }

    #[inline]
    fn forwards_early(&self) -> bool {
        self.how.departures == Departures::Early
    }

    /// What waits in the queue now.
    fn backlog(&self) -> Backlog {
        if self.how.arrivals == Arrivals::FromOneUpstream { self.waiting } else { self.plain.queue.backlog() }
    }

    /// Does what was due since the last call, each thing at its own time.
    fn work_off(&mut self, cx: &mut Cx<'_>) {
        if self.how.arrivals == Arrivals::FromOneUpstream {
            self.work_off_pending(cx.now);
        } else {
            self.work_off_planned(cx);
        }
    }

    /// Sends a packet on its way.
    #[inline(always)]
    fn launch(&mut self, packet: InFlight, cx: &mut Cx<'_>) {
        if self.forwards_early() {
            self.forward_early(packet, cx);
        } else {
            self.plain.flight.push(packet);
        }
    }

    /// A wake-up of an egress with a plan.
    #[inline(always)]
    fn wake_planned(&mut self, cx: &mut Cx<'_>) {
        if self.batch.is_some() {
            self.take_batch(cx);
        }
        if !self.pending.is_empty() {
            self.work_off_pending(cx.now);
        }
        if !self.forwards_early() {
            self.plain.deliver(cx);
        }
        self.plain.wake_at = self.planned_wake();
    }

    /// A packet goes on to the next stage before its time.
    #[inline(always)]
    fn forward_early(&mut self, packet: InFlight, cx: &mut Cx<'_>) {
        debug_assert!(packet.at >= cx.now, "never into the past");
        cx.ahead.forward(EarlyPacket { id: packet.id, at: packet.at, from: cx.stage });
        let horizon = if self.is_sampled { cx.ahead.sample_horizon } else { cx.ahead.report_horizon };
        if packet.at <= horizon {
            // It will have reached the far end before anybody reads totals.
            self.plain.stats.delivered(packet.len);
        } else {
            self.remember(packet, cx.ahead.reached);
        }
    }

    /// Apart from the copy inside the loop over a batch, so that the dispatch of arrivals stays small.
    #[inline(never)]
    fn accept_planned(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        self.accept_planning(id, cx)
    }

    /// The next wake-up, with a plan: a link that forwards early needs none for deliveries.
    #[inline]
    fn planned_wake(&self) -> Time {
        let delivery = if self.forwards_early() { Time::NEVER } else { self.plain.flight.first_at() };
        self.batch.as_ref().map_or(delivery, |b| delivery.min(b.deadline()))
    }

    /// Processes packets of the batch that have arrived, each at its own time; as many as can be forwarded early at once.
    #[inline]
    fn take_batch(&mut self, cx: &mut Cx<'_>) {
        let reached = cx.ahead.reached;
        while let Some(first) = self.batch.as_mut().and_then(|b| b.pop_until(reached)) {
            if let Some(next) = self.batch.as_ref().and_then(|b| b.nearly_next()) {
                cx.pool.prefetch(next);
            }
            cx.now = first.at;
            self.accept_planning(first.id(), cx);
            if !cx.ahead.can_forward() {
                cx.ahead.has_more = self.batch.as_ref().is_some_and(|b| b.first_at() <= reached);
                break;
            }
        }
        cx.now = reached;
    }

    /// A packet arrives, now, and its delivery is planned.
    #[inline(always)]
    fn accept_planning(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        let now = cx.now;
        if !self.starts.is_empty() {
            self.work_off_planned(cx);
        }
        if self.plain.loses_at_entry(id, cx) {
            return self.plain.wake_at;
        }
        let len = cx.packet(id).len as u32;
        if now >= self.plain.free_at && self.plain.queue.may_pass(len) {
            self.plain.stats.passed(len);
            self.plain.stats.sent(len);
            let packet = self.plain.transmit(id, cx);
            self.launch(packet, cx);
        } else {
            self.queue_and_plan(id, cx);
        }
        self.plain.wake_at = self.planned_wake();
        self.plain.wake_at
    }

    fn queue_and_plan(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let now = cx.now;
        if self.plain.joins_queue(id, cx) {
            let start = self.plain.free_at.max(now);
            self.starts.push_back(start);
            // It may have arrived, and its number be another's, when it is taken out of the queue.
            cx.pool.note_in_queue(id, start - now);
            cx.now = start;
            let packet = self.plain.transmit(id, cx);
            self.launch(packet, cx);
            cx.now = now;
            if start == now {
                self.work_off_planned(cx);
            }
        }
        self.plain.stats.queue_is(self.plain.queue.backlog(), now);
    }

    /// A packet will arrive at `cx.now`, which may lie in the future; see [`Arrivals::FromOneUpstream`]. What it will do to the counters is done
    /// now, and a report takes back what lies after its own time.
    #[inline(never)]
    fn accept_from_upstream(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        let arrives = cx.now;
        let starts = self.plain.free_at.max(arrives);
        let packet = cx.packet(id);
        let len = packet.len;
        let plan = self.plain.link.transmit(packet, starts);
        let Fate::Deliver(at) = plan.fate else { unreachable!("a steady link loses nothing") };
        self.plain.free_at = plan.free_at;
        self.plain.stats.transmission(starts, plan.tx_end);
        let has_waited = starts > arrives;
        if has_waited {
            cx.pool.note_in_queue(id, starts - arrives);
            self.pending.push_back(PendingArrival { arrives, starts, len: u32::from(len) });
        } else {
            self.plain.stats.passed_packets += 1;
            self.plain.stats.sent(u32::from(len));
        }
        if self.forwards_early() && !self.pending.is_empty() {
            // Nothing else would wake this stage.
            self.work_off_pending(cx.ahead.reached);
        }
        let flight = InFlight { at, starts, ends: plan.tx_end, id, len, lost: None, counted_early: !has_waited };
        self.launch(flight, cx);
        self.plain.wake_at = self.planned_wake();
        self.plain.wake_at
    }

    /// A packet will arrive at `cx.now`, which may lie in the future, and others may before it.
    #[inline(never)]
    fn accept_into_batch(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        if let Some(batch) = &mut self.batch {
            batch.push(cx.now, cx.ahead.from, id);
        }
        self.plain.wake_at = self.planned_wake();
        self.plain.wake_at
    }

    /// How long nobody can notice that a packet has arrived: until it could reach the far end. A few packets at a time do,
    /// so that they are still in the processor's cache.
    fn may_wait(&self) -> Dur {
        const AT_A_TIME_BYTES: u64 = 32_000;
        let some = self.plain.link.steady_rate().map_or(Dur::ZERO, |r| r.tx_time(AT_A_TIME_BYTES));
        some.min(Dur(self.plain.link.least_delay().0 - 1))
    }

    /// The longest packet that has been let through at once and has not been counted: links with one upstream count it when it
    /// has reached the far end, the others when it arrives.
    fn longest_begun(&self, now: Time) -> u64 {
        if self.how.arrivals != Arrivals::FromOneUpstream {
            return 0;
        }
        let all = self.plain.flight.in_order().chain(self.plain.flight.overtaken()).chain(self.remembered.all());
        all.filter(|p| p.starts <= now).map(|p| u64::from(p.len)).max().unwrap_or(0)
    }

    /// What the counters of an egress with a plan say too much at `now`, the time of the last `catch_up`.
    fn not_yet(&self, now: Time) -> NotYet {
        if self.forwards_early() {
            return self.remembered.not_yet(now);
        }
        let mut n = NotYet::default();
        self.plain.flight.overtaken().for_each(|p| n.takes_back(p, now));
        // A link with a plan transmits in the order of arrival at it.
        let begun = self.plain.flight.in_order().rev().take_while(|p| p.ends > now);
        begun.for_each(|p| n.takes_back(p, now));
        n
    }

    #[inline]
    fn work_off_planned(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        while let Some(&start) = self.starts.front()
            && start <= now
        {
            self.starts.pop_front();
            cx.now = start;
            let head = self.plain.queue.dequeue(cx).expect("the queue holds what is planned");
            self.plain.stats.left_queue(start.since(head.since), head.len);
            self.plain.stats.queue_is(self.plain.queue.backlog(), start);
        }
        cx.now = now;
    }

    /// Arrivals and departures of the few pending packets that had to wait, in the order of time.
    fn work_off_pending(&mut self, now: Time) {
        while let Some(&first) = self.pending.front() {
            let next = self.pending.get(self.waiting.packets as usize).filter(|a| a.arrives <= now);
            match next {
                Some(&a) if self.waiting.packets == 0 || a.arrives < first.starts => {
                    self.plain.stats.queue_bytes_seen.record(self.waiting.bytes);
                    self.waiting.packets += 1;
                    self.waiting.bytes += u64::from(a.len);
                    self.plain.stats.queue_bytes_max = self.plain.stats.queue_bytes_max.max(self.waiting.bytes);
                    self.plain.stats.queue_is(self.waiting, a.arrives);
                }
                _ if self.waiting.packets > 0 && first.starts <= now => {
                    self.pending.pop_front();
                    self.plain.stats.left_queue(first.starts - first.arrives, first.len);
                    self.waiting.packets -= 1;
                    self.waiting.bytes -= u64::from(first.len);
                    self.plain.stats.queue_is(self.waiting, first.starts);
                }
                _ => break,
            }
        }
    }

    /// A packet that has been forwarded early is remembered until it has reached the far end.
    #[inline(never)]
    fn remember(&mut self, packet: InFlight, reached: Time) {
        if self.remembered.is_full() {
            self.forget_arrived(reached);
        }
        self.remembered.add(packet);
    }

    fn forget_arrived(&mut self, reached: Time) {
        while let Some(p) = self.remembered.forget(reached) {
            self.plain.stats.delivered(p.len);
        }
    }

    /// Brings what is remembered of packets that were forwarded early up to now.
    fn review(&mut self, now: Time) {
        self.forget_arrived(now);
        self.remembered.advance(now);
        if !self.plain.link.is_in_order() {
            self.remembered.forget_overtakers(now, |p| self.plain.stats.delivered(p.len));
        }
    }
}

impl<Q, L, M> Stage for Early<Q, L, M>
where
    Q: QueueDisc + Send + 'static,
    L: Link + Send + 'static,
    M: LossModel + Send + 'static,
{
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.accepts(id, cx);
    }

    fn accepts(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        match self.how.arrivals {
            Arrivals::FromOneUpstream => self.accept_from_upstream(id, cx),
            Arrivals::FromSeveral => self.accept_into_batch(id, cx),
            Arrivals::AtTheirTime => self.accept_planned(id, cx),
        }
    }

    fn wakes(&mut self, cx: &mut Cx<'_>) -> Time {
        self.wake_planned(cx);
        self.plain.wake_at
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.wake_planned(cx);
    }

    #[inline]
    fn next_wake(&self) -> Option<Time> {
        self.plain.next_wake()
    }

    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        if self.batch.is_some() {
            self.take_batch(cx);
            if cx.ahead.has_more {
                return;
            }
        }
        self.work_off(cx);
        if self.forwards_early() {
            self.review(cx.now);
        }
        self.plain.stats.queue_is(self.backlog(), cx.now);
        self.plain.wake_at = self.planned_wake();
    }

    fn leave(&mut self, now: Time) -> Left {
        self.plain.leave(now)
    }

    fn resume(&mut self, left: Left, gap: Dur) {
        self.plain.resume(left, gap)
    }

    fn will_be_sampled(&mut self) {
        self.is_sampled = true;
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.plain.sample_with(self.backlog(), self.not_yet(now), now, out);
    }

    fn report(&self, now: Time, out: &mut dyn Metrics) {
        self.plain.report_with(self.not_yet(now), self.longest_begun(now), now, out);
    }
}
