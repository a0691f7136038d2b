//! What carries the data of a flow: `transport = { type = "..", .. }`. The keys `tcp`, `tfrc` and `udt` say the same, each for its
//! own transport, and without any of them the workload decides.

use super::catalogue::{object, shown};
use super::types::Flow;
use super::workloads::WorkloadParams;
use crate::stacks;
use crosswind_base::ConfigError;
use serde_json::{Map, Value};

/// The transports that are built in, as `type` wants them. Programs may bring others ([`crate::transport::Brought`]).
pub const NAMES: [&str; 4] = ["tcp", "udp", "tfrc", "udt"];

/// A transport with its normalised parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum TransportPlan {
    Tcp(Value),
    Udp,
    Tfrc(Value),
    Udt(Value),
    /// One that a program brings, by its name, with the parameters as they are written.
    Brought(String, Value),
}

impl TransportPlan {
    /// The transport of a flow whose keys have been read.
    pub(super) fn of(f: &Flow) -> TransportPlan {
        let keys = || f.transport.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        match (&f.transport, &f.tfrc, &f.udt) {
            (Some(Value::String(s)), ..) if s == "tcp" => TransportPlan::Tcp(f.tcp.clone()),
            (Some(_), ..) => {
                let mut keys = keys();
                let name = keys.shift_remove("type").and_then(|t| t.as_str().map(String::from)).unwrap_or_default();
                TransportPlan::Brought(name, Value::Object(keys))
            }
            (_, Some(tfrc), _) => TransportPlan::Tfrc(tfrc.clone()),
            (_, _, Some(udt)) => TransportPlan::Udt(udt.clone()),
            _ if f.workload.is_messages() => TransportPlan::Udp,
            _ => TransportPlan::Tcp(f.tcp.clone()),
        }
    }

    /// Its name, as `type` has it.
    pub fn name(&self) -> &str {
        match self {
            TransportPlan::Tcp(_) => "tcp",
            TransportPlan::Udp => "udp",
            TransportPlan::Tfrc(_) => "tfrc",
            TransportPlan::Udt(_) => "udt",
            TransportPlan::Brought(name, _) => name,
        }
    }

    pub fn is_tcp(&self) -> bool {
        matches!(self, TransportPlan::Tcp(_))
    }

    /// Whether it sends at a rate of its own: packets of one size, which it makes of what it is given.
    pub fn has_rate(&self) -> bool {
        matches!(self, TransportPlan::Tfrc(_) | TransportPlan::Udt(_))
    }
}

/// The flow with its transport under the key of its own, where that is built in. What only `transport` can say, it goes on saying:
/// messages over TCP, and a transport that a program brings.
pub(super) fn spelled<S>(
    mut written: Flow<S, Value>,
    workload: &WorkloadParams,
    path: &str,
    brought: &[&str],
) -> Result<Flow<S, Value>, ConfigError> {
    let at = format!("{path}.transport");
    let (name, keys) = match written.transport.take() {
        None => return Ok(written),
        Some(Value::String(name)) => (name, Map::new()),
        Some(table) => {
            let mut keys =
                object(&table, &at, "a name, or a table such as { type = \"udt\", packet_size = \"1500 B\" }")?.clone();
            let found = keys.shift_remove("type").unwrap_or(Value::Null);
            let Some(name) = found.as_str() else {
                let expected = format!("the transport: one of {}", NAMES.join(", "));
                return Err(ConfigError::new(format!("{at}.type"), shown(&found), expected));
            };
            (name.to_string(), keys)
        }
    };
    let has_tcp = written.tcp.as_object().is_none_or(|t| !t.is_empty());
    let others = [("tcp", has_tcp), ("tfrc", written.tfrc.is_some()), ("udt", written.udt.is_some())];
    if let Some((other, _)) = others.iter().find(|(key, is_there)| *is_there && (*key != name || !keys.is_empty())) {
        let found = format!("`transport` beside `{other}`");
        return Err(ConfigError::new(at, found, "the transport and its parameters in one place"));
    }
    match name.as_str() {
        "tcp" if matches!(workload, WorkloadParams::Ping(_)) => {
            return Err(ConfigError::new(at, "`tcp`", "udp: `ping` sends datagrams that are answered"));
        }
        "tcp" => {
            if !keys.is_empty() {
                written.tcp = Value::Object(keys);
            }
            written.transport = workload.is_messages().then(|| Value::from("tcp"));
        }
        "udp" if !workload.is_messages() => {
            return Err(ConfigError::new(at, "`udp`", "a reliable transport: one of tcp, udt"));
        }
        "udp" => {
            if let Some(key) = keys.keys().next() {
                return Err(ConfigError::new(
                    format!("{at}.{key}"),
                    format!("`{key}`"),
                    "nothing: UDP has no parameters",
                ));
            }
        }
        "tfrc" if !keys.is_empty() || written.tfrc.is_none() => written.tfrc = Some(Value::Object(keys)),
        "udt" if !keys.is_empty() || written.udt.is_none() => written.udt = Some(Value::Object(keys)),
        "tfrc" | "udt" => {}
        other if stacks::KNOWN.contains(&other) => {
            written.transport = Some(stacks::normalised(other, &keys, workload, &at)?);
        }
        other if brought.contains(&other) => {
            let mut table = Map::new();
            table.insert("type".into(), other.into());
            table.extend(keys);
            written.transport = Some(Value::Object(table));
        }
        other => {
            let names: Vec<&str> = NAMES.iter().copied().chain(stacks::KNOWN).chain(brought.iter().copied()).collect();
            return Err(ConfigError::unknown(format!("{at}.type"), other, "a transport", &names));
        }
    }
    Ok(written)
}
