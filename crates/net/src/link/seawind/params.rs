//! The parameters of the Seawind link; its page is in `seawind/mod.rs`.

use super::arq::{self, ArqParams, ErrorUnit};
use super::channel::ChannelParams;
use super::line::{BackgroundParams, OutagesParams, RateChangesParams};
use crate::params::{self, Params};
use crate::spread::Spread;
use crate::switch::Switch;
use crosswind_base::{BitRate, ConfigError, Dur, Limit, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Until when a packet's bytes take space in the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Until its transmission ends.
    #[default]
    Sent,
    /// Until the far end's confirmation has come back.
    Acknowledged,
}

/// What the far end confirms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckOrder {
    /// A frame when it is released, behind all its predecessors.
    #[default]
    InOrder,
    /// Each frame when it arrives.
    Each,
}

/// In which order packets leave the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they entered; later ones wait for a predecessor that is being repaired.
    #[default]
    Kept,
    /// As they arrive.
    AsArrived,
}

/// Allocation of a radio channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationParams {
    /// Time that it takes to get a channel before the first frame can be sent.
    pub delay: Spread,
    /// The channel is released when nothing was sent for this long.
    pub idle_timeout: Dur,
}

/// Delays of single packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomDelayParams {
    /// Probability that a packet is delayed.
    pub probability: f64,
    /// By how much.
    pub length: Spread,
}

/// Parameters of the Seawind link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeawindParams {
    /// A link type of the source; sets the defaults of the other keys.
    pub preset: Preset,
    /// Bits per second on the line.
    pub rate: BitRate,
    /// A transmission lasts a whole number of these, rounded down; 0 s: exactly as long as its bits.
    #[serde(skip_serializing_if = "is_exact")]
    pub tx_tick: Dur,
    /// One-way propagation delay.
    pub delay: Dur,
    /// What waits for transmission or is being transmitted, below the router's queue; with `hold = "acknowledged"` also
    /// what has not been confirmed.
    pub send_buffer: Limit,
    /// Bytes that the far end may hold while it waits for a frame under repair.
    pub receive_buffer: Size,
    /// Packets that may sit between the router and the send buffer before the router is stopped.
    pub in_transit: u32,
    /// The largest packet that is expected; the buffers must hold one.
    pub mtu: Size,
    /// A channel with a good and a bad state, or "none".
    pub channel: Switch<ChannelParams>,
    /// Error probability of an attempt where there is no channel.
    pub error: f64,
    /// Whether error probabilities are those of a frame, a byte or a bit.
    pub error_unit: ErrorUnit,
    /// Link-level retransmission, or "none": an error is a loss.
    pub arq: Switch<ArqParams>,
    /// Until when a packet takes space in the send buffer: "sent" or "acknowledged".
    pub hold: Hold,
    /// Time from release (or arrival) to the confirmation at the sending end; that of `delay` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<Dur>,
    /// Whether frames are confirmed in order or each on arrival.
    pub ack_order: AckOrder,
    /// Whether the order of packets is kept.
    pub order: Order,
    /// Bytes that each frame adds on the line.
    pub overhead: Size,
    /// Payload of a link frame, or "none": a packet is one frame.
    pub fragment: Switch<Size>,
    /// Allocation of the radio channel after idle times, or "none".
    pub allocation: Switch<AllocationParams>,
    /// Delays of single packets, or "none".
    pub random_delay: Switch<RandomDelayParams>,
    /// Changes of the rate, or "none".
    pub rate_changes: Switch<RateChangesParams>,
    /// Spans in which the line stands still, or "none".
    pub outages: Switch<OutagesParams>,
    /// Other users of the cell, or "none".
    pub background: Switch<BackgroundParams>,
}

pub(super) fn is_exact(tick: &Dur) -> bool {
    tick.0 == 0
}

impl Default for SeawindParams {
    fn default() -> Self {
        Preset::ErrorFree.params()
    }
}

impl SeawindParams {
    /// Whether nothing is asked for but buffers, rate and delay.
    pub fn is_plain(&self) -> bool {
        let on_the_line = self.overhead == Size(0) && self.fragment.is_off() && self.rate_changes.is_off();
        let in_time = self.allocation.is_off() && self.random_delay.is_off() && self.outages.is_off();
        let errors = !self.channel.is_off() || self.error > 0.0;
        on_the_line && in_time && !errors && self.background.is_off() && self.hold == Hold::Sent
    }

    /// Whether the rate may change while a frame is on the line.
    pub(super) fn line_changes(&self) -> bool {
        let by_channel = self.channel.as_ref().is_some_and(ChannelParams::has_rates);
        by_channel || !self.rate_changes.is_off() || !self.outages.is_off() || !self.background.is_off()
    }

    pub(super) fn check_buffers(&self) -> Result<(), ConfigError> {
        params::check_limit("send_buffer", self.send_buffer)?;
        params::check_limit("receive_buffer", Limit::Bytes(self.receive_buffer.0))?;
        let sizes = [("send_buffer", self.send_buffer), ("receive_buffer", Limit::Bytes(self.receive_buffer.0))];
        for (key, limit) in sizes {
            if matches!(limit, Limit::Bytes(n) if n < self.mtu.0) {
                return Err(ConfigError::new(
                    key,
                    units::show_limit(limit),
                    format!("at least one mtu ({} B)", self.mtu.0),
                )
                .hint("a packet enters the buffer only when it fits wholly; lower `mtu` if packets are smaller"));
            }
        }
        if !(1..=1_000_000).contains(&self.in_transit) {
            return Err(ConfigError::new("in_transit", self.in_transit.to_string(), "1 to 1000000 packets")
                .hint("the router's head must be in transit before the link can ask whether it fits"));
        }
        Ok(())
    }

    pub(super) fn check_errors(&self) -> Result<(), ConfigError> {
        params::check_range("error", self.error, 0.0..=1.0)?;
        if let Some(c) = self.channel.as_ref() {
            c.check().map_err(|e| e.under("channel"))?;
            if self.error > 0.0 {
                return Err(ConfigError::new("error", self.error.to_string(), "0 beside a channel").hint(
                    "the states of the channel have error probabilities: channel.good.error, channel.bad.error",
                ));
            }
            if c.has_rates() && !self.rate_changes.is_off() {
                return Err(ConfigError::new(
                    "rate_changes",
                    "changes of the rate",
                    "none where a channel state has a rate",
                ));
            }
        }
        match self.arq.as_ref() {
            None => Ok(()),
            Some(a) => a.check(&arq::error_probabilities(self.error, self.channel.as_ref()), self.error_unit),
        }
    }

    pub(super) fn check_tick(&self) -> Result<(), ConfigError> {
        let found = units::show_dur(self.tx_tick);
        if self.tx_tick > Dur::from_secs(1) {
            return Err(ConfigError::new("tx_tick", found, "at most 1 s"));
        }
        if self.tx_tick > Dur::ZERO && self.line_changes() {
            let expected = "0 s where the rate changes, and where the line stands still or is shared";
            return Err(ConfigError::new("tx_tick", found, expected));
        }
        Ok(())
    }

    pub(super) fn check_extras(&self) -> Result<(), ConfigError> {
        if self.overhead.0 > 65_535 {
            return Err(ConfigError::new("overhead", units::show_size(self.overhead), "at most 65535 B"));
        }
        if let Some(f) = self.fragment.as_ref() {
            params::check_packet_size("fragment", *f)?;
        }
        if let Some(a) = self.allocation.as_ref() {
            a.delay.check("allocation.delay")?;
            params::check_delay("allocation.idle_timeout", a.idle_timeout)?;
        }
        if let Some(r) = self.random_delay.as_ref() {
            params::check_range("random_delay.probability", r.probability, 0.0..=1.0)?;
            r.length.check("random_delay.length")?;
        }
        self.rate_changes.as_ref().map_or(Ok(()), RateChangesParams::check)?;
        self.outages.as_ref().map_or(Ok(()), OutagesParams::check)?;
        self.background.as_ref().map_or(Ok(()), BackgroundParams::check)
    }
}

impl Params for SeawindParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)?;
        params::check_packet_size("mtu", self.mtu)?;
        if let Some(d) = self.ack_delay {
            params::check_delay("ack_delay", d)?;
        }
        self.check_buffers()?;
        self.check_tick()?;
        self.check_errors()?;
        self.check_extras()
    }

    fn fill(written: &mut Map<String, Value>) {
        fill(written);
    }
}

/// A link type of jarvinen-2006.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// 64 kbit/s, always good, no ARQ (e0).
    #[default]
    ErrorFree,
    /// Good and bad states, one retransmission at most (r1).
    ArqLow,
    /// Good and bad states, two retransmissions at most (r2).
    ArqMedium,
    /// Good and bad states, four retransmissions at most (r4).
    ArqHigh,
    /// 384 kbit/s, 200 ms, larger buffers, always good, no ARQ.
    HighSpeed,
}

impl Preset {
    fn retransmissions(self) -> Option<u32> {
        match self {
            Preset::ErrorFree | Preset::HighSpeed => None,
            Preset::ArqLow => Some(1),
            Preset::ArqMedium => Some(2),
            Preset::ArqHigh => Some(4),
        }
    }

    /// All parameters of a link of this type.
    pub fn params(self) -> SeawindParams {
        let arq = self.retransmissions().map(|n| ArqParams { retransmissions: Some(n), ..ArqParams::default() });
        let fast = self == Preset::HighSpeed;
        let buffer = if fast { 42_000 } else { 12_000 };
        SeawindParams {
            preset: self,
            rate: BitRate(if fast { 384_000 } else { 64_000 }),
            tx_tick: Dur::ZERO,
            delay: Dur::from_millis(if fast { 200 } else { 300 }),
            send_buffer: Limit::Bytes(buffer),
            receive_buffer: Size(buffer),
            in_transit: 3,
            mtu: Size(576),
            channel: if arq.is_some() { Switch::On(ChannelParams::default()) } else { Switch::Off },
            error: 0.0,
            error_unit: ErrorUnit::Frame,
            hold: if arq.is_some() { Hold::Acknowledged } else { Hold::Sent },
            arq: arq.map_or(Switch::Off, Switch::On),
            ack_delay: None,
            ack_order: AckOrder::InOrder,
            order: Order::Kept,
            overhead: Size(0),
            fragment: Switch::Off,
            allocation: Switch::Off,
            random_delay: Switch::Off,
            rate_changes: Switch::Off,
            outages: Switch::Off,
            background: Switch::Off,
        }
    }
}

fn table_of<T: Serialize>(params: &T) -> Map<String, Value> {
    match serde_json::to_value(params) {
        Ok(Value::Object(map)) => map,
        _ => unreachable!("parameters are plain data with text keys"),
    }
}

/// Adds what `written` does not say. Tables are completed key by key.
fn complete(written: &mut Map<String, Value>, defaults: &Map<String, Value>, tables: &[&str]) {
    for (key, default) in defaults {
        match written.get_mut(key) {
            None => {
                written.insert(key.clone(), default.clone());
            }
            Some(Value::Object(inner)) if tables.contains(&key.as_str()) => {
                if let Value::Object(default) = default {
                    complete(inner, default, tables);
                }
            }
            Some(_) => {}
        }
    }
}

/// Completes the keys of a link by its preset, and a channel by that of the source.
fn fill(written: &mut Map<String, Value>) {
    let preset = written.get("preset").cloned().unwrap_or(Value::Null);
    let preset: Preset = serde_json::from_value(preset).unwrap_or_default();
    let mut defaults = table_of(&preset.params());
    if let Some(Value::Object(arq)) = written.get("arq") {
        // A threshold is another limit than a number of retransmissions, not one more.
        let mut default = defaults.get("arq").and_then(Value::as_object).cloned().unwrap_or_default();
        if arq.contains_key("drop_threshold") {
            default.shift_remove("retransmissions");
        }
        defaults.insert("arq".into(), Value::Object(default));
    }
    if let Some(Value::Object(channel)) = written.get_mut("channel") {
        complete(channel, &table_of(&ChannelParams::default()), &["good", "bad"]);
    }
    complete(written, &defaults, &["arq"]);
}
