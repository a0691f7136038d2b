//! A contract at work: meter, then mark or police by colour, write delay options, and shape (RFC 2475 section 2.3.3).

use super::{BoxMeter, Meter, Metered};
use crate::queue::{BoxQueue, QueueDisc};
use crosswind_base::{Colour, Cx, DropReason, Dscp, Dur, Histogram, PacketId, Time};
use serde::{Deserialize, Serialize};

/// What happens to the packets of one colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Keep,
    Mark(Dscp),
    Drop,
}

/// What a contract asks for.
pub struct Terms {
    /// Without one everything is green.
    pub meter: Option<BoxMeter>,
    /// By colour: green, yellow, red.
    pub actions: [Action; 3],
    /// The longest wait in any one queue that packets are given (MTQ).
    pub longest_wait: Option<Dur>,
    /// The sum of all waits that they are given (QTL).
    pub wait_budget: Option<Dur>,
    /// Holds back what leaves, and drops what it cannot hold.
    pub shaper: Option<BoxQueue>,
    /// Whether the times between green packets that come are recorded.
    pub intervals: Intervals,
}

/// Whether the times between green packets are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intervals {
    #[default]
    Ignored,
    Recorded,
}

/// A contract at work.
pub struct Conditioner {
    terms: Terms,
    /// Times between green packets that came, and when the last one did.
    pub green_interval_ns: Histogram,
    last_green: Option<Time>,
}

/// What a policer says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Passes,
    /// The packet is gone.
    Policed,
}

impl Conditioner {
    pub fn new(terms: Terms) -> Conditioner {
        Conditioner { terms, green_interval_ns: Histogram::new(), last_green: None }
    }

    /// Whether it does the same to a packet at any time, and lets every packet go at once.
    pub fn is_timeless(&self) -> bool {
        let t = &self.terms;
        t.meter.is_none()
            && t.shaper.is_none()
            && t.intervals == Intervals::Ignored
            && !t.actions.contains(&Action::Drop)
    }

    /// Does to a packet what the contract says, up to sending it on.
    pub fn condition(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Fate {
        let p = *cx.packet(id);
        if self.terms.intervals == Intervals::Recorded && p.dscp().colour() == Some(Colour::Green) {
            self.note_interval(cx.now);
        }
        let was = p.dscp().colour().unwrap_or(Colour::Green);
        let metered = Metered { len: u32::from(p.len), was, now: cx.now };
        let colour = self.terms.meter.as_mut().map_or(was, |m| m.colour(&metered));
        match self.terms.actions[colour as usize] {
            Action::Keep => {}
            Action::Mark(dscp) => cx.pool.get_mut(id).set_dscp(dscp),
            Action::Drop => {
                cx.drop(id, DropReason::Policed);
                return Fate::Policed;
            }
        }
        self.write_options(id, cx);
        Fate::Passes
    }

    /// Sends a packet on, or gives it to the shaper.
    pub fn send(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        match &mut self.terms.shaper {
            None => cx.forward(id),
            Some(shaper) => {
                shaper.enqueue(id, cx);
                self.release(cx);
            }
        }
    }

    fn note_interval(&mut self, now: Time) {
        if let Some(last) = self.last_green.replace(now) {
            self.green_interval_ns.record((now - last).0);
        }
    }

    fn write_options(&self, id: PacketId, cx: &mut Cx<'_>) {
        if self.terms.longest_wait.is_none() && self.terms.wait_budget.is_none() {
            return;
        }
        let wait = &mut cx.pool.ext_mut(id).wait;
        wait.longest = self.terms.longest_wait.or(wait.longest);
        wait.left = self.terms.wait_budget.or(wait.left);
    }

    /// Sends on what the shaper lets go now.
    pub fn release(&mut self, cx: &mut Cx<'_>) {
        let Some(shaper) = &mut self.terms.shaper else { return };
        if shaper.next_wake().is_some_and(|at| at <= cx.now) {
            shaper.wake(cx);
        }
        while let Some(head) = shaper.dequeue(cx) {
            cx.forward(head.id);
        }
    }

    /// When the shaper wants to be woken.
    pub fn next_wake(&self) -> Option<Time> {
        self.terms.shaper.as_ref().and_then(|s| s.next_wake())
    }
}
