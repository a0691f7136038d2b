//! # Path MTU
//!
//! **Source**: rfc1191 sections 3, 4 and 6.3 (a router drops what is too large and says what would fit; the sender obeys).
//!
//! **Idea**: a TCP packet that is longer than `size` is dropped at the entrance of the link, and an ICMP message of 56 bytes travels
//! back to its sender over the links of the other direction, through their queues. The sender cuts what is under way anew, sends it again
//! and goes on with segments that fit; its window does not fall.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `size` | B | 1500 | Ethernet |
//!
//! **Deviations**: 1. Nobody asks later whether more fits (rfc1191 section 6.3: after 10 minutes). 2. Datagrams of UDP pass, as if they
//! were cut into fragments. 3. Messages are in no capture and in no event log. 4. In an emulation `emulate.link_mtu` does this.
//!
//! **Checked by**: `crates/sim/tests/path_mtu.rs`, tapes `path_mtu_*`.

use super::processing_delay::WithArrived;
use super::{change_in_front, read_in_front};
use crate::build::BoxStage;
use crate::params::Params;
use crosswind_base::packet::Proto;
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Left, Metrics, Packet, PacketId, Setting, Size, Stage, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of the largest packet of a link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MtuParams {
    /// Bytes of the largest IP packet that the link takes.
    pub size: Size,
}

impl Default for MtuParams {
    fn default() -> Self {
        MtuParams { size: Size(1500) }
    }
}

/// Every network takes packets of this size (rfc791), and a header with options and a byte fits.
const LEAST: u64 = 100;

impl Params for MtuParams {
    fn check(&self) -> Result<(), ConfigError> {
        match self.size.0 {
            LEAST..=65_535 => Ok(()),
            n => Err(ConfigError::new("size", format!("{n} B"), format!("from {LEAST} B to 65535 B"))),
        }
    }
}

/// An egress in front of which packets are measured.
pub struct Mtu {
    inner: BoxStage,
    params: MtuParams,
    refused_packets: u64,
}

impl Mtu {
    pub fn new(inner: BoxStage, params: MtuParams) -> Mtu {
        Mtu { inner, params, refused_packets: 0 }
    }
}

impl Stage for Mtu {
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let p = *cx.packet(id);
        let size = self.params.size.0;
        if p.proto != Proto::Tcp || u64::from(p.len) <= size {
            return self.inner.accept(id, cx);
        }
        cx.ledger.too_big(cx.stage, &p, size as u32);
        cx.has_notifications = true;
        self.refused_packets += 1;
        cx.drop(id, DropReason::TooBig);
    }
    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.inner.wake(cx);
    }
    fn next_wake(&self) -> Option<Time> {
        self.inner.next_wake()
    }
    fn catch_up(&mut self, cx: &mut Cx<'_>) {
        self.inner.catch_up(cx)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        read_in_front("path_mtu", &self.params, &self.inner, set)
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
        self.inner.report(now, &mut WithArrived(out, self.refused_packets))
    }
}
