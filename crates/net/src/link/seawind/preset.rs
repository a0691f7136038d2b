//! The link types of the source, as defaults of the link's keys.

use super::{AckOrder, ArqParams, ChannelParams, ErrorUnit, Hold, Order, SeawindParams};
use crate::switch::Switch;
use crosswind_base::{BitRate, Dur, Limit, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
pub(super) fn fill(written: &mut Map<String, Value>) {
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
