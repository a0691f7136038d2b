//! What an egress does before its time, where the driver permits it to look ahead.

use super::Egress;
use super::flight::InFlight;
use super::stats::NotYet;
use crate::link::loss::LossModel;
use crate::link::wire::SHORTEST_BYTES;
use crate::link::{Fate, Link};
use crate::queue::{Backlog, QueueDisc};
use crosswind_base::{Cx, Dur, PacketId, Time, Upstream};

/// A packet that was forwarded before its arrival, and will have to wait.
#[derive(Clone, Copy)]
pub(super) struct PendingArrival {
    pub arrives: Time,
    pub starts: Time,
    pub len: u32,
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Arriving {
    /// Everything happens at its own time.
    #[default]
    Now,
    /// Its delivery is planned.
    Planned,
    /// It has been forwarded before its time, by the one upstream link.
    FromUpstream,
    /// It has been forwarded before its time, by one of several upstream links.
    Batched,
}

/// What the driver has permitted.
#[derive(Clone, Copy, Default)]
pub(super) struct Permitted {
    pub arriving: Arriving,
    pub defers: bool,
    pub plans: bool,
    pub has_one_upstream: bool,
    pub forwards_early: bool,
    /// It is sampled during the run.
    pub is_sampled: bool,
}

impl<Q: QueueDisc, L: Link, M: LossModel> Egress<Q, L, M> {
    /// The next wake-up, with a plan: a link that forwards early needs none for deliveries.
    #[inline]
    pub(super) fn planned_wake(&self) -> Time {
        let delivery = if self.permitted.forwards_early { Time::NEVER } else { self.flight.first_at() };
        self.batch.as_ref().map_or(delivery, |b| delivery.min(b.deadline()))
    }

    /// Processes packets of the batch that have arrived, each at its own time; as many as can be forwarded early at once.
    #[inline]
    pub(super) fn take_batch(&mut self, cx: &mut Cx<'_>) {
        let reached = cx.reached;
        while let Some(first) = self.batch.as_mut().and_then(|b| b.pop_until(reached)) {
            if let Some(next) = self.batch.as_ref().and_then(|b| b.nearly_next()) {
                cx.pool.prefetch(next);
            }
            cx.now = first.at;
            self.accept_planning(first.id(), cx);
            if !cx.can_forward_early() {
                cx.has_more = self.batch.as_ref().is_some_and(|b| b.first_at() <= reached);
                break;
            }
        }
        cx.now = reached;
    }

    /// A packet arrives, now, and its delivery is planned.
    #[inline]
    pub(super) fn accept_planning(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        let now = cx.now;
        if !self.starts.is_empty() {
            self.work_off_planned(cx);
        }
        if self.loses_at_entry(id, cx) {
            return self.wake_at;
        }
        let len = cx.packet(id).len as u32;
        if now >= self.free_at && self.queue.may_pass(len) {
            self.stats.passed(len);
            self.stats.sent(len);
            self.put_on_link(id, cx);
        } else {
            self.queue_and_plan(id, cx);
        }
        self.wake_at = self.planned_wake();
        self.wake_at
    }

    pub(super) fn queue_and_plan(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let now = cx.now;
        if self.joins_queue(id, cx) {
            let start = self.free_at.max(now);
            self.starts.push_back(start);
            cx.now = start;
            self.put_on_link(id, cx);
            cx.now = now;
            if start == now {
                self.work_off_planned(cx);
            }
        }
        self.stats.queue_is(self.queue.backlog(), now);
    }

    /// A packet will arrive at `cx.now`, which may lie in the future; see [`Permission::OneUpstream`]. What it will do to the counters is done
    /// now, and a report takes back what lies after its own time.
    #[inline(never)]
    pub(super) fn accept_from_upstream(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        let arrives = cx.now;
        let starts = self.free_at.max(arrives);
        let packet = cx.packet(id);
        let len = packet.len;
        let plan = self.link.transmit(packet, starts);
        let Fate::Deliver(at) = plan.fate else { unreachable!("a steady link loses nothing") };
        self.free_at = plan.free_at;
        self.stats.transmission(starts, plan.tx_end);
        let has_waited = starts > arrives;
        if has_waited {
            self.pending.push_back(PendingArrival { arrives, starts, len: u32::from(len) });
        } else {
            self.stats.passed_packets += 1;
            self.stats.sent(u32::from(len));
        }
        if self.permitted.forwards_early && !self.pending.is_empty() {
            // Nothing else would wake this stage.
            self.work_off_pending(cx.reached);
        }
        let flight = InFlight { at, starts, ends: plan.tx_end, id, len, lost: None, counted_early: !has_waited };
        self.launch(flight, cx);
        self.wake_at = self.planned_wake();
        self.wake_at
    }

    /// A packet will arrive at `cx.now`, which may lie in the future, and others may before it.
    #[inline(never)]
    pub(super) fn accept_into_batch(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        if let Some(batch) = &mut self.batch {
            batch.push(cx.now, cx.from, id);
        }
        self.wake_at = self.planned_wake();
        self.wake_at
    }

    /// How long nobody can notice that a packet has arrived: until it could reach the far end. A few packets at a time do,
    /// so that they are still in the processor's cache.
    pub(super) fn may_wait(&self) -> Dur {
        const AT_A_TIME_BYTES: u64 = 32_000;
        let some = self.link.steady_rate().map_or(Dur::ZERO, |r| r.tx_time(AT_A_TIME_BYTES));
        some.min(Dur(self.link.least_delay().0 - 1))
    }

    /// The longest packet that has been let through at once and has not been counted: links with one upstream count it when it
    /// has reached the far end, the others when it arrives.
    pub(super) fn longest_begun(&self, now: Time) -> u64 {
        if !self.permitted.has_one_upstream {
            return 0;
        }
        let all = self.flight.in_order().chain(self.flight.overtaken()).chain(self.remembered.all());
        all.filter(|p| p.starts <= now).map(|p| u64::from(p.len)).max().unwrap_or(0)
    }

    /// What the counters of an egress with a plan say too much at `now`, the time of the last `catch_up`.
    pub(super) fn not_yet(&self, now: Time) -> NotYet {
        if self.permitted.forwards_early {
            return self.remembered.not_yet(now);
        }
        let mut n = NotYet::default();
        self.flight.overtaken().for_each(|p| n.takes_back(p, now));
        // A link with a plan transmits in the order of arrival at it.
        let plans = self.permitted.plans;
        let begun = self.flight.in_order().rev().take_while(|p| !plans || p.ends > now);
        begun.for_each(|p| n.takes_back(p, now));
        n
    }

    #[inline]
    pub(super) fn work_off_planned(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        while let Some(&start) = self.starts.front()
            && start <= now
        {
            self.starts.pop_front();
            cx.now = start;
            let head = self.queue.dequeue(cx).expect("the queue holds what is planned");
            self.leaves_queue(head, start);
            self.stats.queue_is(self.queue.backlog(), start);
        }
        cx.now = now;
    }

    /// Arrivals and departures of the few pending packets that had to wait, in the order of time.
    pub(super) fn work_off_pending(&mut self, now: Time) {
        while let Some(&first) = self.pending.front() {
            let next = self.pending.get(self.waiting.packets as usize).filter(|a| a.arrives <= now);
            match next {
                Some(&a) if self.waiting.packets == 0 || a.arrives < first.starts => {
                    self.stats.queue_bytes_seen.record(self.waiting.bytes);
                    self.waiting.packets += 1;
                    self.waiting.bytes += u64::from(a.len);
                    self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(self.waiting.bytes);
                    self.stats.queue_is(self.waiting, a.arrives);
                }
                _ if self.waiting.packets > 0 && first.starts <= now => {
                    self.pending.pop_front();
                    self.stats.queue_delay_ns.record((first.starts - first.arrives).0);
                    self.stats.sent(first.len);
                    self.waiting.packets -= 1;
                    self.waiting.bytes -= u64::from(first.len);
                    self.stats.queue_is(self.waiting, first.starts);
                }
                _ => break,
            }
        }
    }

    /// A packet that has been forwarded early is remembered until it has reached the far end.
    #[inline(never)]
    pub(super) fn remember(&mut self, packet: InFlight, reached: Time) {
        if self.remembered.is_full() {
            self.forget_arrived(reached);
        }
        self.remembered.add(packet);
    }

    fn forget_arrived(&mut self, reached: Time) {
        while let Some(p) = self.remembered.forget(reached) {
            self.stats.delivered(p.len);
        }
    }

    /// Brings what is remembered of packets that were forwarded early up to now.
    pub(super) fn review(&mut self, now: Time) {
        self.forget_arrived(now);
        self.remembered.advance(now);
        if !self.link.is_in_order() {
            self.remembered.forget_overtakers(now, |p| self.stats.delivered(p.len));
        }
    }

    /// Whether an upstream link can never fill this queue: while one packet of the greatest length is being sent here, what
    /// arrives is at most as many bytes, in packets no shorter than a bare header, and the upstream link needs at least as
    /// long for the next long one.
    pub(super) fn always_admits_from(&self, upstream: Upstream) -> bool {
        let Some(rate) = self.link.steady_rate().filter(|r| *r >= upstream.rate) else { return false };
        let longest = u64::from(upstream.longest);
        let meanwhile = longest * upstream.rate.0 / rate.0;
        let packets = (meanwhile / SHORTEST_BYTES + 3) as u32;
        self.queue.always_admits(Backlog { bytes: meanwhile + 3 * longest, packets })
    }
}
