//! What an egress does before its time, where the driver permits it to look ahead.

mod ahead;
mod batch;
mod remembered;

use super::Egress;
use super::flight::InFlight;
use super::stats::NotYet;
use crate::link::loss::LossModel;
use crate::link::wire::SHORTEST_BYTES;
use crate::link::{Fate, Link};
use crate::queue::{Backlog, QueueDisc};
pub(super) use ahead::{Ahead, Arriving};
use ahead::{PendingArrival, Permitted};
use batch::Batch;
use crosswind_base::{Cx, Dur, PacketId, Permission, Time, Upstream};

impl<Q: QueueDisc, L: Link, M: LossModel> Egress<Q, L, M> {
    /// Whether it makes use of this permission.
    pub(super) fn permit(&mut self, how: Permission) -> bool {
        let can_plan = self.queue.decides_on_arrival() && self.link.steady_rate().is_some();
        let is_lossless = self.loss.loses_nothing();
        let may = match how {
            Permission::Defer => {
                self.ahead.permitted.defers = true;
                return true;
            }
            Permission::Plan => can_plan,
            Permission::SoleUpstream => return can_plan && self.link.is_even(),
            Permission::ForwardEarly => can_plan && is_lossless,
            Permission::OneUpstream(upstream) => can_plan && is_lossless && self.always_admits_from(upstream),
            Permission::Batch => can_plan && self.link.least_delay() > Dur::ZERO,
        };
        let f = &mut self.ahead.permitted;
        f.plans |= may;
        f.forwards_early |= may && how == Permission::ForwardEarly;
        f.has_one_upstream |= may && matches!(how, Permission::OneUpstream(_));
        if may && how == Permission::Batch {
            self.ahead.batch = Some(Box::new(Batch::new(self.may_wait())));
        }
        self.ahead.permitted.arriving = match self.ahead.permitted {
            _ if self.ahead.batch.is_some() => Arriving::Batched,
            Permitted { has_one_upstream: true, .. } => Arriving::FromUpstream,
            Permitted { plans: true, .. } => Arriving::Planned,
            _ => Arriving::Now,
        };
        may
    }

    /// Does what was due since the last call, each thing at its own time: the queue's own alarms, and serving it. What
    /// waits now was admitted while the link was busy or the queue held it back.
    #[inline]
    pub(super) fn work_off(&mut self, cx: &mut Cx<'_>) {
        if self.ahead.permitted.has_one_upstream {
            self.work_off_pending(cx.now);
        } else if self.ahead.permitted.plans {
            self.work_off_planned(cx);
        } else if self.ahead.permitted.defers && self.link.is_in_order() {
            self.serve_until_now(cx);
        } else {
            self.ask_emptied(cx);
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
                self.leaves_queue(head, cx);
                self.put_on_link(head.id, cx);
            } else {
                self.ask_at = Time::NEVER;
            }
            self.stats.queue_is(self.queue.backlog(), cx.now);
        }
        cx.now = now;
    }

    /// A wake-up of an egress with a plan.
    #[inline(always)]
    pub(super) fn wake_planned(&mut self, cx: &mut Cx<'_>) {
        if self.ahead.batch.is_some() {
            self.take_batch(cx);
        }
        if !self.ahead.pending.is_empty() {
            self.work_off_pending(cx.now);
        }
        if !self.ahead.permitted.forwards_early {
            self.deliver(cx);
        }
        self.wake_at = self.planned_wake();
    }

    /// A packet goes on to the next stage before its time.
    #[inline(always)]
    pub(super) fn forward_early(&mut self, packet: InFlight, cx: &mut Cx<'_>) {
        cx.forward_early(packet.id, packet.at);
        let horizon = if self.ahead.permitted.is_sampled { cx.sample_horizon } else { cx.report_horizon };
        if packet.at <= horizon {
            // It will have reached the far end before anybody reads totals.
            self.stats.delivered(packet.len);
        } else {
            self.remember(packet, cx.reached);
        }
    }

    /// Apart from the copy inside the loop over a batch, so that the dispatch of arrivals stays small.
    #[inline(never)]
    pub(super) fn accept_planned(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        self.accept_planning(id, cx)
    }

    /// The next wake-up, with a plan: a link that forwards early needs none for deliveries.
    #[inline]
    pub(super) fn planned_wake(&self) -> Time {
        let delivery = if self.ahead.permitted.forwards_early { Time::NEVER } else { self.flight.first_at() };
        self.ahead.batch.as_ref().map_or(delivery, |b| delivery.min(b.deadline()))
    }

    /// Processes packets of the batch that have arrived, each at its own time; as many as can be forwarded early at once.
    #[inline]
    pub(super) fn take_batch(&mut self, cx: &mut Cx<'_>) {
        let reached = cx.reached;
        while let Some(first) = self.ahead.batch.as_mut().and_then(|b| b.pop_until(reached)) {
            if let Some(next) = self.ahead.batch.as_ref().and_then(|b| b.nearly_next()) {
                cx.pool.prefetch(next);
            }
            cx.now = first.at;
            self.accept_planning(first.id(), cx);
            if !cx.can_forward_early() {
                cx.has_more = self.ahead.batch.as_ref().is_some_and(|b| b.first_at() <= reached);
                break;
            }
        }
        cx.now = reached;
    }

    /// A packet arrives, now, and its delivery is planned.
    #[inline]
    pub(super) fn accept_planning(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        let now = cx.now;
        if !self.ahead.starts.is_empty() {
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
            self.ahead.starts.push_back(start);
            // It may have arrived, and its number be another's, when it is taken out of the queue.
            cx.pool.note_in_queue(id, start - now);
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
            cx.pool.note_in_queue(id, starts - arrives);
            self.ahead.pending.push_back(PendingArrival { arrives, starts, len: u32::from(len) });
        } else {
            self.stats.passed_packets += 1;
            self.stats.sent(u32::from(len));
        }
        if self.ahead.permitted.forwards_early && !self.ahead.pending.is_empty() {
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
        if let Some(batch) = &mut self.ahead.batch {
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
        if !self.ahead.permitted.has_one_upstream {
            return 0;
        }
        let all = self.flight.in_order().chain(self.flight.overtaken()).chain(self.ahead.remembered.all());
        all.filter(|p| p.starts <= now).map(|p| u64::from(p.len)).max().unwrap_or(0)
    }

    /// What the counters of an egress with a plan say too much at `now`, the time of the last `catch_up`.
    pub(super) fn not_yet(&self, now: Time) -> NotYet {
        if self.ahead.permitted.forwards_early {
            return self.ahead.remembered.not_yet(now);
        }
        let mut n = NotYet::default();
        self.flight.overtaken().for_each(|p| n.takes_back(p, now));
        // A link with a plan transmits in the order of arrival at it.
        let plans = self.ahead.permitted.plans;
        let begun = self.flight.in_order().rev().take_while(|p| !plans || p.ends > now);
        begun.for_each(|p| n.takes_back(p, now));
        n
    }

    #[inline]
    pub(super) fn work_off_planned(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        while let Some(&start) = self.ahead.starts.front()
            && start <= now
        {
            self.ahead.starts.pop_front();
            cx.now = start;
            let head = self.queue.dequeue(cx).expect("the queue holds what is planned");
            self.stats.left_queue(start.since(head.since), head.len);
            self.stats.queue_is(self.queue.backlog(), start);
        }
        cx.now = now;
    }

    /// Arrivals and departures of the few pending packets that had to wait, in the order of time.
    pub(super) fn work_off_pending(&mut self, now: Time) {
        while let Some(&first) = self.ahead.pending.front() {
            let next = self.ahead.pending.get(self.ahead.waiting.packets as usize).filter(|a| a.arrives <= now);
            match next {
                Some(&a) if self.ahead.waiting.packets == 0 || a.arrives < first.starts => {
                    self.stats.queue_bytes_seen.record(self.ahead.waiting.bytes);
                    self.ahead.waiting.packets += 1;
                    self.ahead.waiting.bytes += u64::from(a.len);
                    self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(self.ahead.waiting.bytes);
                    self.stats.queue_is(self.ahead.waiting, a.arrives);
                }
                _ if self.ahead.waiting.packets > 0 && first.starts <= now => {
                    self.ahead.pending.pop_front();
                    self.stats.left_queue(first.starts - first.arrives, first.len);
                    self.ahead.waiting.packets -= 1;
                    self.ahead.waiting.bytes -= u64::from(first.len);
                    self.stats.queue_is(self.ahead.waiting, first.starts);
                }
                _ => break,
            }
        }
    }

    /// A packet that has been forwarded early is remembered until it has reached the far end.
    #[inline(never)]
    pub(super) fn remember(&mut self, packet: InFlight, reached: Time) {
        if self.ahead.remembered.is_full() {
            self.forget_arrived(reached);
        }
        self.ahead.remembered.add(packet);
    }

    fn forget_arrived(&mut self, reached: Time) {
        while let Some(p) = self.ahead.remembered.forget(reached) {
            self.stats.delivered(p.len);
        }
    }

    /// Brings what is remembered of packets that were forwarded early up to now.
    pub(super) fn review(&mut self, now: Time) {
        self.forget_arrived(now);
        self.ahead.remembered.advance(now);
        if !self.link.is_in_order() {
            self.ahead.remembered.forget_overtakers(now, |p| self.stats.delivered(p.len));
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
