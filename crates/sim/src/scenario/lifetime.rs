//! How long the packets of a flow are worth having, and what becomes of those that are not.

use super::limits::DURATION_LIMIT;
use crosswind_base::packet::{Expired, Life, Lifetime};
use crosswind_base::units::{parse_dur, show_dur};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule that gives each packet its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LifetimeRule {
    /// That of its data.
    #[default]
    Data,
    /// The retransmission timeout when it is sent, with its back-off: afterwards it would be retransmitted.
    Rto,
    /// The shorter one of the two.
    Min,
}

/// How a lifetime is written in the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LifetimeForm {
    /// What is left of it; routers take off what a packet waits in them.
    #[default]
    Relative,
    /// The moment at which it ends; clocks agree.
    Absolute,
}

/// From when on the lifetime of data counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LifetimeFrom {
    /// Each packet from when it is sent.
    #[default]
    Packet,
    /// All packets of a burst from when the burst begins: they are one object.
    Object,
}

/// Lifetimes of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(with = "Written")]
pub struct LifetimeParams {
    /// Lifetime of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Dur>,
    pub rule: LifetimeRule,
    pub from: LifetimeFrom,
    pub form: LifetimeForm,
    pub expired: Expired,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a span such as \"5 s\", \"rto\", or a table with data, rule, from, form, expired")]
#[allow(dead_code)] // the schema reads it
enum Written {
    /// A lifetime of data such as "5 s", or "rto" for the retransmission timeout; what is over is discarded.
    Short(String),
    Table(Table),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Lifetime of the data.
    data: Option<Dur>,
    #[serde(default)]
    rule: Option<LifetimeRule>,
    #[serde(default)]
    from: LifetimeFrom,
    #[serde(default)]
    form: LifetimeForm,
    #[serde(default)]
    expired: Expired,
}

impl<'de> Deserialize<'de> for LifetimeParams {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<LifetimeParams, D::Error> {
        use serde::de::Error;
        let table = match serde_json::Value::deserialize(d)? {
            // Key by key, so that what is wrong has a name.
            keys @ serde_json::Value::Object(_) => Table::deserialize(keys).map_err(D::Error::custom)?,
            other => {
                let Ok(Written::Short(text)) = serde_json::from_value(other) else {
                    return Err(D::Error::custom("expected a span such as \"5 s\", \"rto\", or a table"));
                };
                let data = parse_dur(&text);
                if data.is_none() && text != "rto" {
                    return Err(D::Error::custom("expected a span such as \"5 s\", or \"rto\""));
                }
                let none = LifetimeForm::Relative;
                let (from, expired) = (LifetimeFrom::Packet, Expired::Discard);
                Table { data, rule: None, from, form: none, expired }
            }
        };
        let rule = table.rule.unwrap_or(if table.data.is_some() { LifetimeRule::Data } else { LifetimeRule::Rto });
        let Table { data, from, form, expired, .. } = table;
        Ok(LifetimeParams { data, rule, from, form, expired })
    }
}

/// The longest span that the option can tell.
const RELATIVE_LIMIT: Dur = Dur::from_millis(65_534);

impl LifetimeParams {
    /// What the types cannot say. Paths are relative to the flow.
    pub(super) fn check(&self, over: Over) -> Result<(), ConfigError> {
        let needs_data = self.rule != LifetimeRule::Rto;
        match self.data {
            None if needs_data => Err(ConfigError::new("lifetime.data", "nothing", "the lifetime of the data")),
            Some(d) if self.form == LifetimeForm::Relative && d > RELATIVE_LIMIT => {
                let expected = format!("at most {} as a relative lifetime", show_dur(RELATIVE_LIMIT));
                Err(ConfigError::new("lifetime.data", show_dur(d), expected)
                    .hint("form = \"absolute\" reaches further"))
            }
            Some(d) if d > DURATION_LIMIT || d == Dur::ZERO => {
                Err(ConfigError::new("lifetime.data", show_dur(d), "more than zero and at most 1000000 s"))
            }
            _ if over == Over::Stack => {
                Err(ConfigError::new("lifetime", "`lifetime` of a flow over a real stack", "nothing"))
            }
            _ if over != Over::Udp && self.from == LifetimeFrom::Object => {
                let found = "`object` of a flow whose transport knows no bursts";
                Err(ConfigError::new("lifetime.from", found, "`packet`, or bursts over UDP (`cbr`, `on-off`)"))
            }
            _ if over != Over::Tcp && self.rule != LifetimeRule::Data => {
                let found = "the timeout of datagrams that are never retransmitted";
                Err(ConfigError::new("lifetime.rule", found, "`data`"))
            }
            _ => Ok(()),
        }
    }

    /// What a packet carries that is sent at `now`, whose object began at `began`.
    pub fn of_packet(&self, now: Time, began: Time, timeout: Dur) -> Life {
        let since = if self.from == LifetimeFrom::Object { began } else { now };
        let of_data = self.data.map(|d| d.saturating_sub(now.since(since)));
        let left = match (self.rule, of_data) {
            (LifetimeRule::Data, Some(d)) => d,
            (LifetimeRule::Min, Some(d)) => d.min(timeout),
            _ => timeout,
        };
        let lifetime = match self.form {
            LifetimeForm::Relative => Lifetime::Left(left.min(RELATIVE_LIMIT)),
            LifetimeForm::Absolute => Lifetime::Until(now + left),
        };
        Life { lifetime, expired: self.expired, is_cut: false }
    }
}

/// What carries a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Over {
    Tcp,
    Udp,
    /// Any other transport: packets of its own making.
    Other,
    /// A stack of other people, whose packets are its own business.
    Stack,
}
