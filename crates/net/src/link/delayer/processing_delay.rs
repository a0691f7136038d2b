//! # Slow path
//!
//! **Source**: gurtov-2004 sections 5.1.2 and 5.5.2.
//!
//! **Idea**: routers forward plain packets in hardware; one with an option in its IP header goes through the processor. At the
//! entrance of the link such a packet waits `delay` before it joins the queue, overtaken by others, or is refused with probability
//! `refused` (a firewall that lets no options through has 1).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `delay` | time | U(0.6, 8.5) ms | gurtov-2004 section 5.5.2: 19 hops there and back make 191 ms with an option 214 to 515 ms |
//! | `refused` | probability | 0 | gurtov-2004 section 5.5.2: seen behind one firewall |
//!
//! **Deviations**: 1. The delay is the same for all loads: the source has one measurement. 2. In an emulation the options of real
//! packets are not looked at, so nothing is slow there. The option's own eight bytes are part of every packet's length anyway.
//!
//! **Checked by**: `crates/sim/tests/lifetimes.rs`.

use super::{change_in_front, read_in_front};
use crate::build::BoxStage;
use crate::params::{self, Params};
use crate::spread::Spread;
use crosswind_base::{
    ConfigError, Cx, DropReason, Dur, Histogram, Left, Metrics, Packet, PacketId, Rng, Setting, Stage, Time,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Parameters of the slow path.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessingDelayParams {
    /// How long a packet with an option takes before it reaches the queue.
    pub delay: Spread,
    /// Probability that it is refused.
    pub refused: f64,
}

impl Default for ProcessingDelayParams {
    fn default() -> Self {
        ProcessingDelayParams { delay: Spread::Uniform([Dur::from_micros(600), Dur::from_micros(8500)]), refused: 0.0 }
    }
}

impl Params for ProcessingDelayParams {
    fn check(&self) -> Result<(), ConfigError> {
        self.delay.check("delay")?;
        params::check_range("refused", self.refused, 0.0..=1.0)
    }
}

/// An egress whose router looks at options slowly.
pub struct ProcessingDelay {
    inner: BoxStage,
    params: ProcessingDelayParams,
    rng: Rng,
    /// Packets in the processor and when each is done, in that order.
    busy_with: VecDeque<(Time, PacketId)>,
    refused_packets: u64,
}

/// Adds to the packets that have arrived at the link those that its queue has not seen.
pub(super) struct WithArrived<'a>(pub &'a mut dyn Metrics, pub u64);

impl Metrics for WithArrived<'_> {
    fn value(&mut self, name: &'static str, v: f64) {
        let more = if name == "arrived_packets" { self.1 } else { 0 };
        self.0.value(name, v + more as f64);
    }
    fn histogram(&mut self, name: &'static str, h: &Histogram) {
        self.0.histogram(name, h);
    }
    fn wants_histograms(&self) -> bool {
        self.0.wants_histograms()
    }
}

fn has_option(id: PacketId, cx: &Cx<'_>) -> bool {
    let ext = cx.pool.ext(cx.packet(id));
    ext.is_some_and(|e| e.life.is_some() || e.wait.longest.is_some() || e.wait.left.is_some())
}

impl ProcessingDelay {
    pub fn new(inner: BoxStage, params: ProcessingDelayParams, rng: Rng) -> ProcessingDelay {
        ProcessingDelay { inner, params, rng, busy_with: VecDeque::new(), refused_packets: 0 }
    }

    fn hand_over(&mut self, cx: &mut Cx<'_>) {
        while let Some((at, id)) = self.busy_with.front().copied()
            && at <= cx.now
        {
            self.busy_with.pop_front();
            self.inner.accept(id, cx);
        }
    }
}

impl Stage for ProcessingDelay {
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        if !has_option(id, cx) {
            return self.inner.accept(id, cx);
        }
        if self.rng.chance(self.params.refused) {
            self.refused_packets += 1;
            return cx.drop(id, DropReason::Policed);
        }
        let done = cx.now + self.params.delay.draw(&mut self.rng);
        let place = self.busy_with.partition_point(|(at, _)| *at <= done);
        self.busy_with.insert(place, (done, id));
    }
    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.inner.next_wake().is_some_and(|at| at <= cx.now) {
            self.inner.wake(cx);
        }
        self.hand_over(cx);
    }
    fn next_wake(&self) -> Option<Time> {
        let done = self.busy_with.front().map(|(at, _)| *at);
        [done, self.inner.next_wake()].into_iter().flatten().min()
    }
    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        self.inner.catch_up(cx)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        read_in_front("processing_delay", &self.params, &self.inner, set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        change_in_front(&mut self.params, &mut self.inner, new, cx)
    }
    fn purge(&mut self, goes: &mut dyn FnMut(&Packet) -> bool, why: DropReason, cx: &mut Cx<'_>) {
        self.inner.purge(goes, why, cx)
    }
    fn leave(&mut self, now: Time) -> Left {
        self.inner.leave(now)
    }
    fn resume(&mut self, left: Left, gap: Dur) {
        self.inner.resume(left, gap)
    }
    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.inner.sample(now, out)
    }
    fn report(&self, now: Time, out: &mut dyn Metrics) {
        let unseen = self.refused_packets + self.busy_with.len() as u64;
        self.inner.report(now, &mut WithArrived(out, unseen))
    }
}
