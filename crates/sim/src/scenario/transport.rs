//! What carries the data of a flow: `transport = { type = "..", .. }`. A key with the name of a transport that has parameters says the
//! same, and without any of them the workload decides.

use super::catalogue::{object, shown};
use super::lifetime::Over;
use super::stacks;
use super::types::Flow;
use super::workloads::WorkloadParams;
use crosswind_base::packet::Life;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, config};
use crosswind_transport::rate::protocol::{Parameters, RateRow};
use crosswind_transport::rate::table;
use crosswind_transport::stack::Maker;
use crosswind_transport::tcp::{self, TcpParams};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// The transports that are built in, as `type` wants them. Programs may bring others.
pub fn names() -> Vec<&'static str> {
    ["tcp", "udp"].into_iter().chain(table::ROWS.iter().map(|r| r.name)).collect()
}

/// Those of them that bring all data in order.
fn reliable() -> Vec<&'static str> {
    ["tcp"].into_iter().chain(table::ROWS.iter().filter(|r| r.build.is_reliable()).map(|r| r.name)).collect()
}

/// Takes the tables of transports that send at a rate out of the keys of a flow.
pub(super) fn taken_out(keys: &mut Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for row in table::ROWS {
        if let Some(table) = keys.shift_remove(row.name).filter(|t| !t.is_null()) {
            out.insert(row.name.into(), table);
        }
    }
    out
}

/// A transport as a scenario has it, with its normalised parameters.
pub(super) enum Chosen<'a> {
    Tcp(&'a Value),
    Udp,
    /// One that sends at a rate.
    Rate(&'static RateRow, &'a Value),
    /// A real stack that is built in.
    Stack(&'static str, Value),
    /// One that a program brings, by its name, with the parameters as they are written.
    Brought(String, Value),
}

/// Parameters of TCP by their table as JSON: thousands of flows have a handful of them.
pub(super) type Shared = BTreeMap<String, Arc<TcpParams>>;

impl<'a> Chosen<'a> {
    /// The transport of a flow whose keys have been read.
    pub fn of(f: &'a Flow) -> Chosen<'a> {
        let rate = table::ROWS.iter().find_map(|row| Some((row, f.rate.get(row.name)?)));
        match (&f.transport, rate) {
            (Some(Value::String(s)), _) if s == "tcp" => Chosen::Tcp(&f.tcp),
            (Some(table), _) => {
                let mut keys = table.as_object().cloned().unwrap_or_default();
                let name = keys.shift_remove("type").and_then(|t| t.as_str().map(String::from)).unwrap_or_default();
                match stacks::known(&name) {
                    Some(name) => Chosen::Stack(name, Value::Object(keys)),
                    None => Chosen::Brought(name, Value::Object(keys)),
                }
            }
            (None, Some((row, keys))) => Chosen::Rate(row, keys),
            _ if f.workload.is_messages() => Chosen::Udp,
            _ => Chosen::Tcp(&f.tcp),
        }
    }

    pub fn is_tcp(&self) -> bool {
        matches!(self, Chosen::Tcp(_))
    }

    /// As far as lifetimes are concerned.
    pub fn over(&self) -> Over {
        match self {
            Chosen::Tcp(_) => Over::Tcp,
            Chosen::Udp => Over::Udp,
            Chosen::Stack(..) => Over::Stack,
            Chosen::Rate(..) | Chosen::Brought(..) => Over::Other,
        }
    }

    pub fn is_udp(&self) -> bool {
        matches!(self, Chosen::Udp)
    }

    pub fn is_stack(&self) -> bool {
        matches!(self, Chosen::Stack(..))
    }

    /// Whether it can log what it does (qlog).
    pub fn logs(&self) -> bool {
        matches!(self, Chosen::Stack(name, _) if stacks::logs(name))
    }

    /// Its parameters as types, for the flows of one group; `shared` has those of the groups before.
    pub fn read(&self, group: &str, f: &Flow, shared: &mut Shared) -> Result<TransportPlan, ConfigError> {
        let at = |key: &str| format!("flow.{group}.{key}");
        match self {
            Chosen::Tcp(keys) => Ok(TransportPlan::Tcp(match shared.entry(keys.to_string()) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(place) => place.insert(Arc::new(tcp::preset::read(keys, &at("tcp"))?)).clone(),
            })),
            Chosen::Udp => Ok(TransportPlan::Udp),
            Chosen::Rate(row, keys) => {
                let path = at(row.name);
                let params = row.build.read(keys, &path, f.workload.payload())?;
                has_room(params.packet_size(), f.lifetime.is_some(), &format!("{path}.packet_size"))?;
                Ok(TransportPlan::Rate(params))
            }
            Chosen::Stack(name, keys) => {
                let maker = stacks::maker(name, keys, &at("transport"))?;
                Ok(TransportPlan::Stack(StackPlan { name, maker }))
            }
            Chosen::Brought(name, keys) => {
                let (name, keys) = (name.clone(), keys.clone());
                Ok(TransportPlan::Brought(BroughtPlan { name, keys, path: at("transport") }))
            }
        }
    }
}

/// The option with a lifetime has to fit, too. `path`: of the key that an error names.
pub(super) fn has_room(packet: Size, has_lifetime: bool, path: &str) -> Result<(), ConfigError> {
    let option = if has_lifetime { u64::from(Life::OPTION_BYTES) } else { 0 };
    let limit = u64::from(u16::MAX) - option;
    if packet.0 <= limit {
        return Ok(());
    }
    let expected = format!("at most {limit} B with a lifetime, which is an option of the packet");
    Err(ConfigError::new(path, format!("{} B", packet.0), expected))
}

/// The transport of a group of flows, its parameters read and checked.
#[derive(Clone, Debug)]
pub enum TransportPlan {
    Tcp(Arc<TcpParams>),
    Udp,
    /// One that sends at a rate.
    Rate(Arc<dyn Parameters>),
    Stack(StackPlan),
    Brought(BroughtPlan),
}

/// A real stack that is built in.
#[derive(Clone)]
pub struct StackPlan {
    pub name: &'static str,
    pub maker: Maker,
}

impl std::fmt::Debug for StackPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A transport that a program brings: its name, and the parameters as they are written.
#[derive(Clone, Debug)]
pub struct BroughtPlan {
    pub name: String,
    keys: Value,
    /// Where it stands in the scenario.
    pub path: String,
}

impl BroughtPlan {
    /// Reads the parameters. An error names the key in the scenario.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, ConfigError> {
        config::read(&self.keys, &self.path)
    }
}

impl TransportPlan {
    pub fn tcp(&self) -> Option<&Arc<TcpParams>> {
        match self {
            TransportPlan::Tcp(params) => Some(params),
            _ => None,
        }
    }

    /// As far as lifetimes are concerned.
    pub(super) fn over(&self) -> Over {
        match self {
            TransportPlan::Tcp(_) => Over::Tcp,
            TransportPlan::Udp => Over::Udp,
            TransportPlan::Stack(_) => Over::Stack,
            TransportPlan::Rate(_) | TransportPlan::Brought(_) => Over::Other,
        }
    }

    pub fn is_tcp(&self) -> bool {
        self.tcp().is_some()
    }

    /// Whether it is somebody else's: it may end for reasons of its own.
    pub fn is_foreign(&self) -> bool {
        matches!(self, TransportPlan::Stack(_) | TransportPlan::Brought(_))
    }

    /// Whether it sends at a rate of its own: packets of one size, which it makes of what it is given.
    pub fn has_rate(&self) -> bool {
        matches!(self, TransportPlan::Rate(_))
    }
}

/// The name of a transport and its parameters, of a table or a name alone.
fn name_and_keys(written: Value, at: &str) -> Result<(String, Map<String, Value>), ConfigError> {
    let table = match written {
        Value::String(name) => return Ok((name, Map::new())),
        table => table,
    };
    let expected = "a name, or a table such as { type = \"udt\", packet_size = \"1500 B\" }";
    let mut keys = object(&table, at, expected)?.clone();
    let found = keys.shift_remove("type").unwrap_or(Value::Null);
    match found.as_str() {
        Some(name) => Ok((name.to_string(), keys)),
        None => {
            let expected = format!("the transport: one of {}", names().join(", "));
            Err(ConfigError::new(format!("{at}.type"), shown(&found), expected))
        }
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
    let Some(transport) = written.transport.take() else { return Ok(written) };
    let (name, keys) = name_and_keys(transport, &at)?;
    let has_tcp = written.tcp.as_object().is_none_or(|t| !t.is_empty());
    let mut others = has_tcp.then_some("tcp").into_iter().chain(written.rate.keys().map(String::as_str));
    if let Some(other) = others.find(|key| *key != name || !keys.is_empty()) {
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
            return Err(ConfigError::new(
                at,
                "`udp`",
                format!("a reliable transport: one of {}", reliable().join(", ")),
            ));
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
        rate if table::find(rate).is_some() => {
            if !keys.is_empty() || written.rate.is_empty() {
                written.rate.insert(name, Value::Object(keys));
            }
        }
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
            let names: Vec<&str> = names().into_iter().chain(stacks::KNOWN).chain(brought.iter().copied()).collect();
            return Err(ConfigError::unknown(format!("{at}.type"), other, "a transport", &names));
        }
    }
    Ok(written)
}
