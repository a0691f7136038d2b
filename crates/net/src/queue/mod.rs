//! Queue disciplines: what waits in front of a link, who is let in and who is thrown out.

pub mod aqm;
pub mod blue;
pub mod bounded;
pub mod cake;
pub mod cobalt;
pub mod codel;
pub mod droptail;
pub mod dualpi2;
pub mod early_discard;
pub mod flows;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod lpd;
pub mod pi;
pub mod pi2;
pub mod pie;
pub mod red;
pub mod rem;
pub mod rio;
pub mod sfb;
pub mod sfq;
pub mod store;

use auto_impl::auto_impl;
pub use crosswind_base::Backlog;
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Metrics, PacketId, Past, Setting, Time};
use serde_json::{Map, Value};

/// A discipline chosen at run time.
pub type BoxQueue = Box<dyn QueueDisc + Send>;

/// A packet that leaves a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub id: PacketId,
    pub len: u32,
    /// When it was admitted: `now - since` is its sojourn.
    pub since: Time,
}

/// Whether a discipline can give up packets from its middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removal {
    Possible,
    Impossible,
}

/// Says of each packet that waits, the oldest first, whether it goes.
pub type Chooser<'a> = dyn FnMut(&Head, &Cx<'_>) -> bool + 'a;

/// A queue discipline. It owns the packets that it holds; it loses them only through `Cx::drop`.
#[auto_impl(Box)]
pub trait QueueDisc {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>);
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head>;
    /// The queue is empty and the link is free: whether a packet of `len` bytes may go straight through. Saying yes must
    /// leave the discipline as `enqueue` followed by `dequeue` would; saying no is always right.
    fn may_pass(&mut self, _len: u32) -> bool {
        false
    }
    /// The packet that `dequeue` would give now, for disciplines that know it and would give it for certain.
    fn peek(&self) -> Option<Head> {
        None
    }
    fn backlog(&self) -> Backlog;
    /// Packets are refused on arrival or not at all, and leave in order of arrival.
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// No packet is refused as long as what waits stays below this.
    fn always_admits(&self, _below: Backlog) -> bool {
        false
    }
    /// For disciplines that hold packets back although the link is free, or that keep time of their own. When this time
    /// has come, and `wake` has been called, it is worth asking `dequeue` again.
    fn next_wake(&self) -> Option<Time> {
        None
    }
    fn wake(&mut self, _cx: &mut Cx<'_>) {}
    fn removal(&self) -> Removal {
        Removal::Impossible
    }
    /// Drops those that wait and are chosen. Only where [`QueueDisc::removal`] says that it is possible.
    fn remove(&mut self, _goes: &mut Chooser<'_>, _why: DropReason, _cx: &mut Cx<'_>) {
        unreachable!("asked only where removal is possible")
    }
    /// New values for some parameters, from now on.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        Err(ConfigError::cannot_change(set))
    }
    /// What has been read holds from now on.
    fn change(&mut self, _new: &Setting, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        unreachable!("only what has been read is changed")
    }
    /// Both at once, for whoever is told during a run.
    fn read_and_change(&mut self, set: &Map<String, Value>, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let new = self.read_change(set)?;
        self.change(&new, cx)
    }
    /// New delay spikes, where this queue knows of them.
    fn read_gate(&self, _new: &Value) -> Result<Option<Setting>, ConfigError> {
        Ok(None)
    }
    /// What has been read holds from now on.
    fn change_gate(&mut self, _new: &Setting, _now: Time) -> Result<(), ConfigError> {
        unreachable!("only what has been read is changed")
    }
    /// The run is over at `now`, and what waits is gone: what this queue knows of the past, for one that is built alike and begins
    /// later. `None`: it knows something, and cannot hand it on.
    fn past(&mut self, _now: Time) -> Option<Past> {
        None
    }
    /// It begins so long after the end of a run from which this past was taken.
    fn resume(&mut self, _past: Past, _gap: Dur) {
        unreachable!("only what has a past resumes")
    }
    /// Momentary values of the law (an average queue, a drop probability), name ending in its unit.
    fn sample(&self, _now: Time, _out: &mut dyn FnMut(&'static str, f64)) {}
    /// Totals that only this discipline has.
    fn report(&self, _out: &mut dyn Metrics) {}
}
