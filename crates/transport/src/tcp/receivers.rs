//! Receiving systems by name: what the key `receiver` stands for, as a preset stands for a sender. The page is that of ACK habits
//! ([`super::conn::habit`]).

use crate::tcp::choices::{Switch, choice};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

choice!(
    /// Whose habits the receiving end has: an operating system as [Igarashi 2007] measured it.
    #[derive(Default)]
    ReceiverOs {
        /// As the other keys say.
        #[default]
        AsGiven,
        /// Red Hat 9, Linux 2.4.20.
        #[serde(rename = "linux-2.4")]
        Linux24,
        /// Windows 2000, service pack 3.
        #[serde(rename = "windows-2000")]
        Windows2000,
        /// Windows XP, service pack 2.
        WindowsXp,
        /// Solaris 9.
        #[serde(rename = "solaris-9")]
        Solaris9,
        /// FreeBSD 4.7, without SACK.
        #[serde(rename = "freebsd-4.7")]
        FreeBsd47,
        /// FreeBSD 5.3.
        #[serde(rename = "freebsd-5.3")]
        FreeBsd53,
    }
);

/// The keys of `tcp` that a receiving system stands for.
pub fn keys(os: ReceiverOs) -> Map<String, Value> {
    let chunks = |least: u32, mean: f64, most: u32| {
        json!({
            "delayed_ack": "2 ms",
            "ack_habit": { "least_segments": least, "mean_segments": mean, "most_segments": most },
        })
    };
    let doubles = json!({
        "delayed_ack": "100 ms", "delayed_ack_timer": "heartbeat", "ack_every_segments": 2,
        "ack_habit": { "empty_share": 0.2 },
    });
    let mut table = match os {
        ReceiverOs::AsGiven => json!({}),
        ReceiverOs::Linux24 => chunks(1, 2.0, 14),
        ReceiverOs::Windows2000 => chunks(1, 4.0, 14),
        ReceiverOs::WindowsXp => chunks(4, 8.0, 16),
        ReceiverOs::Solaris9 => {
            let mut own = chunks(1, 1.5, 2);
            own["delayed_ack"] = "50 ms".into();
            own
        }
        ReceiverOs::FreeBsd47 | ReceiverOs::FreeBsd53 => doubles,
    };
    if os == ReceiverOs::FreeBsd47 {
        (table["sack"], table["recovery"]) = (json!(Switch::Off), "newreno".into());
    }
    table.as_object_mut().map(std::mem::take).unwrap_or_default()
}

/// Puts the keys of a receiving system under those that a `tcp` table gives itself.
pub fn expanded(value: &Value, path: &str) -> Result<Value, ConfigError> {
    let Some(name) = value.get("receiver") else { return Ok(value.clone()) };
    let os: ReceiverOs = crosswind_base::config::read(name, &format!("{path}.receiver"))?;
    let mut table = keys(os);
    for (k, v) in value.as_object().into_iter().flatten() {
        match (table.get_mut(k), v) {
            (Some(Value::Object(own)), Value::Object(given)) => own.extend(given.clone()),
            _ => {
                table.insert(k.clone(), v.clone());
            }
        }
    }
    Ok(Value::Object(table))
}
