//! # On-demand channel
//!
//! **Source**: gurtov-2004 section 3.3.2; ns-2.35 (`queue/delayer.cc`).
//!
//! **Idea**: a radio channel is given back after some time without traffic. A packet at time t with `t - last > hold` waits
//! `delay` for a new channel, everything behind it with it; `hold` is drawn anew for each packet, `last` is when the
//! transmission of the packet before began.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `delay` | time | U(160, 190) ms | ns-2's GPRS scripts, downlink (uplink: U(500, 600) ms) |
//! | `hold` | time | U(2, 5) s | ns-2's GPRS scripts, downlink (uplink: U(10, 400) ms) |
//!
//! **Deviations**: none.
//!
//! **Checked by**: `crates/testkit/tests/oracle_delayers.rs` (a transliteration of the Delayer, on random traffic).

use super::{Delayer, keys_of};
use crate::params::{self, Params};
use crate::spread::Spread;
use crosswind_base::{ConfigError, Dur, Rng, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of a channel that is allocated on demand.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelAllocationParams {
    /// How long it takes to get a channel.
    pub delay: Spread,
    /// After so long without traffic the channel is given back.
    pub hold: Spread,
}

impl Default for ChannelAllocationParams {
    fn default() -> Self {
        ChannelAllocationParams {
            delay: Spread::Uniform([Dur::from_millis(160), Dur::from_millis(190)]),
            hold: Spread::Uniform([Dur::from_secs(2), Dur::from_secs(5)]),
        }
    }
}

impl Params for ChannelAllocationParams {
    fn check(&self) -> Result<(), ConfigError> {
        self.delay.check("delay")?;
        self.hold.check("hold")
    }
}

/// A channel that must be allocated after a pause.
pub struct ChannelAllocation {
    params: ChannelAllocationParams,
    rng: Rng,
    last: Option<Time>,
}

impl ChannelAllocation {
    pub fn new(params: ChannelAllocationParams, rng: Rng) -> ChannelAllocation {
        ChannelAllocation { params, rng, last: None }
    }
}

impl Delayer for ChannelAllocation {
    fn ready_at(&mut self, now: Time) -> Time {
        let hold = self.params.hold.draw(&mut self.rng);
        let is_held = self.last.is_some_and(|last| now.since(last) <= hold);
        if is_held { now } else { now + self.params.delay.draw(&mut self.rng) }
    }

    fn read_change(&self, new: &Value) -> Result<Setting, ConfigError> {
        params::setting(&self.params, keys_of(new)?)
    }
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        self.params = new.get();
        Ok(())
    }

    fn sent(&mut self, at: Time) {
        self.last = Some(at);
    }
}
