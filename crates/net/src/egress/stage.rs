//! The plain egress as a stage: what drivers ask of it.

use super::Egress;
use crate::link::Link;
use crate::link::loss::LossModel;
use crate::look_ahead::{self, Early};
use crate::queue::{Backlog, QueueDisc, Removal};
use crosswind_base::{
    ConfigError, Cx, DropReason, Dur, Left, LooksAhead, Metrics, Packet, PacketId, Setting, Stage, Steady, Time,
};
use serde_json::{Map, Value};

impl<Q, L, M> Stage for Egress<Q, L, M>
where
    Q: QueueDisc + Send + 'static,
    L: Link + Send + 'static,
    M: LossModel + Send + 'static,
{
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.accepts(id, cx);
    }

    fn accepts(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Time {
        self.ask_emptied(cx);
        if self.loses_at_entry(id, cx) {
            return self.wake_at;
        }
        let len = cx.packet(id).len as u32;
        if cx.now >= self.free_at && self.queue.backlog().packets == 0 && self.queue.may_pass(len) {
            self.stats.passed(len);
            self.stats.sent(len);
            let before = self.flight.first_at();
            let packet = self.transmit(id, cx);
            self.flight.push(packet);
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

    fn wakes(&mut self, cx: &mut Cx<'_>) -> Time {
        self.wake(cx);
        self.wake_at
    }

    #[inline(always)]
    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.ask_emptied(cx);
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
        self.bring_up_to_now(cx);
    }

    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.read_parts(set).map(Setting::new)
    }

    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.change_parts(&new.get(), cx)
    }

    fn purge(&mut self, goes: &mut dyn FnMut(&Packet) -> bool, why: DropReason, cx: &mut Cx<'_>) {
        if self.queue.removal() == Removal::Possible {
            self.bring_up_to_now(cx);
            self.queue.remove(&mut |head, cx| goes(cx.packet(head.id)), why, cx);
            self.pump(cx);
            self.settle(self.queue.backlog(), cx.now);
        }
    }

    fn leave(&mut self, now: Time) -> Left {
        Left { queue: self.queue.past(now), link: self.link.begun() }
    }

    fn resume(&mut self, left: Left, gap: Dur) {
        if let Some(past) = left.queue {
            self.queue.resume(past, gap);
        }
        if let Some(earlier) = left.link {
            self.link.go_on_from(earlier);
        }
    }

    fn steady(&self) -> Option<&dyn Steady> {
        look_ahead::steady(self)
    }

    fn looking_ahead(self: Box<Self>, how: LooksAhead) -> Box<dyn Stage + Send> {
        Box::new(Early::new(*self, how))
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.sample_with(self.queue.backlog(), self.not_yet(now), now, out);
    }

    fn report(&self, now: Time, out: &mut dyn Metrics) {
        self.report_with(self.not_yet(now), 0, now, out);
    }
}
