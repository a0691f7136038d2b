//! # Fast Reset
//!
//! **Source**: gurtov-2004 section 6.6.
//!
//! **Idea**: when a reset of a connection has crossed the link one way, what waits at that router to go the other way and
//! belongs to the same connection is of no use to anybody: it is dropped at once. Nothing is remembered, so a reset that
//! is lost later is repeated when the sender's timer makes the receiver send another one.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | (none) | | | `fast_reset = {}` switches it on |
//!
//! **Deviations**: 1. A connection is known by the flow that it is, which is its five-tuple here.
//!
//! **Checked by**: `crates/sim/tests/aborts.rs`.

use super::Delayer;
use crate::build::BoxStage;
use crate::params::Params;
use crosswind_base::{
    ConfigError, Cx, DropReason, Dur, Left, Metrics, Packet, PacketId, Setting, Stage, TcpFlags, Time,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Fast Reset has no parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FastResetParams {}

impl Params for FastResetParams {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// It holds up nothing.
pub struct NoDelay;

impl Delayer for NoDelay {
    fn ready_at(&mut self, now: Time) -> Time {
        now
    }
    fn read_change(&self, new: &Value) -> Result<Setting, ConfigError> {
        Err(ConfigError::new("", new.to_string(), "no change: Fast Reset has no parameters"))
    }
    fn change(&mut self, _new: &Setting, _now: Time) -> Result<(), ConfigError> {
        unreachable!("only what has been read is changed")
    }
}

/// An egress at whose far end resets are noticed.
pub struct FastReset {
    inner: BoxStage,
}

impl FastReset {
    pub fn new(inner: BoxStage) -> FastReset {
        FastReset { inner }
    }

    fn watched(&mut self, cx: &mut Cx<'_>, call: impl FnOnce(&mut BoxStage, &mut Cx<'_>)) {
        let before = cx.out.len();
        call(&mut self.inner, cx);
        for id in &cx.out[before..] {
            let p = cx.pool.get(*id);
            if p.flags.has(TcpFlags::RST) {
                cx.ledger.reset_passed(cx.stage, p);
                cx.has_notifications = true;
            }
        }
    }
}

impl Stage for FastReset {
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.watched(cx, |s, cx| s.accept(id, cx));
    }
    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.watched(cx, |s, cx| s.wake(cx));
    }
    fn next_wake(&self) -> Option<Time> {
        self.inner.next_wake()
    }
    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        self.inner.catch_up(cx)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.inner.read_change(set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.inner.change(new, cx)
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
        self.inner.report(now, out)
    }
}
