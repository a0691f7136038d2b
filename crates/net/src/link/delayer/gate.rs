//! The queue's part in delay spikes: packets that wait in the queue until the spike is over, are lost on arrival, or are
//! thrown out when it begins. [`super::spikes`] says which.

use super::spikes::{Holds, Spikes, SpikesParams};
use crate::queue::{Backlog, BoxQueue, Chooser, Head, QueueDisc, Removal};
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Metrics, PacketId, Past, Rng, Setting, Time};
use serde_json::{Map, Value};

/// A queue that knows of spikes.
pub struct Gate {
    queue: BoxQueue,
    spikes: Spikes,
    holds: Holds,
    loss: f64,
    discard: u32,
    rng: Rng,
    /// The end of the spike that was met last, and whether that time has not come yet.
    closed_until: Time,
    is_shut: bool,
}

impl Gate {
    /// `rng` is this direction's own, for losses.
    pub fn new(queue: BoxQueue, spikes: Spikes, p: &SpikesParams, rng: Rng) -> Result<Gate, ConfigError> {
        if p.discard > 0 && queue.removal() == Removal::Impossible {
            let found = format!("{} with a queue that gives out its packets in its own order only", p.discard);
            return Err(ConfigError::new("spikes.discard", found, "0, or a queue such as droptail or RED"));
        }
        let (holds, loss, discard) = (p.holds, p.loss, p.discard);
        Ok(Gate { queue, spikes, holds, loss, discard, rng, closed_until: Time::ZERO, is_shut: false })
    }

    /// Whether a spike goes on; when it has just begun, the queue loses what it is to lose.
    fn is_closed(&mut self, cx: &mut Cx<'_>) -> bool {
        if cx.now >= self.closed_until {
            let open = self.spikes.open_from(cx.now);
            self.is_shut = open > cx.now;
            if self.is_shut {
                self.closed_until = open;
                self.discard(cx);
            }
        }
        self.is_shut
    }

    fn discard(&mut self, cx: &mut Cx<'_>) {
        if self.discard == 0 {
            return;
        }
        let mut left = self.discard;
        let mut oldest = |_: &Head, _: &Cx<'_>| {
            let goes = left > 0;
            left = left.saturating_sub(1);
            goes
        };
        self.queue.remove(&mut oldest, DropReason::Handover, cx);
    }
}

impl QueueDisc for Gate {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        if self.is_closed(cx) && self.rng.chance(self.loss) {
            return cx.drop(id, DropReason::Handover);
        }
        self.queue.enqueue(id, cx);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        if self.is_closed(cx) && self.holds == Holds::Queue {
            return None;
        }
        self.queue.dequeue(cx)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn next_wake(&self) -> Option<Time> {
        let waits = self.queue.backlog().packets > 0;
        // A time that has passed would hide what the queue inside asks for.
        let reopens = Some(self.closed_until).filter(|_| self.is_shut && waits && self.holds == Holds::Queue);
        let begins = self.spikes.next_start().filter(|_| waits && self.discard > 0);
        [reopens, begins, self.queue.next_wake()].into_iter().flatten().min()
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.is_closed(cx);
        if self.queue.next_wake().is_some_and(|at| at <= cx.now) {
            self.queue.wake(cx);
        }
    }

    fn removal(&self) -> Removal {
        self.queue.removal()
    }

    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        self.queue.remove(goes, why, cx)
    }

    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.queue.read_change(set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.queue.change(new, cx)
    }
    fn read_gate(&self, new: &Value) -> Result<Option<Setting>, ConfigError> {
        self.spikes.read(new).map(Some)
    }
    fn change_gate(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        self.spikes.set(new, now);
        let p = self.spikes.params();
        if p.discard > 0 && self.queue.removal() == Removal::Impossible {
            return Err(ConfigError::new("discard", p.discard.to_string(), "0 with a queue that keeps its own order"));
        }
        (self.loss, self.discard) = (p.loss, p.discard);
        Ok(())
    }

    fn past(&mut self, now: Time) -> Option<Past> {
        self.queue.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.queue.resume(past, gap)
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.queue.sample(now, out)
    }

    fn report(&self, out: &mut dyn Metrics) {
        self.queue.report(out)
    }
}
