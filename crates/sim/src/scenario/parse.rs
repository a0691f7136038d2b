//! From JSON text to a checked [`Scenario`], and back with every default filled in.

use super::body::{Body, Differing};
use super::catalogue::{Catalogue, Kind, Remembering, object, shown};
use super::check;
use super::domains;
use super::former;
use super::names;
use super::start::{StartRule, WrittenRule};
use super::transport;
use super::types::{AccessTree, Chain, Dumbbell, Flow, Link, Scenario, Topology};
use super::workloads::{self, Bulk, Close, WorkloadParams};
use crosswind_base::{BitRate, ConfigError, Dur, config};
use crosswind_transport::rate::protocol::RateRow;
use crosswind_transport::rate::table;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

const START_RULES: [&str; 4] = ["uniform", "stratified", "every", "poisson"];

/// Longest scenario text that is read.
const TEXT_LIMIT_BYTES: usize = 64 << 20;

/// Reads a scenario from JSON text. No text makes it panic.
pub fn parse(text: &str, cat: &dyn Catalogue) -> Result<Scenario, ConfigError> {
    if text.len() > TEXT_LIMIT_BYTES {
        let expected = format!("at most {TEXT_LIMIT_BYTES} bytes of JSON");
        return Err(ConfigError::new("", format!("{} bytes", text.len()), expected));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|e| ConfigError::new("", e.to_string(), "a scenario as valid JSON"))?;
    parse_value(&value, cat)
}

/// Reads a scenario from a JSON value.
pub fn parse_value(value: &Value, cat: &dyn Catalogue) -> Result<Scenario, ConfigError> {
    object(value, "", "a table with the keys name, duration, link, flow, ..")?;
    let mut known = Remembering::new(cat);
    let value = &spelled_out(value)?;
    let value = &former::renamed(value)?;
    let written: Scenario<Value, Value, Value> = read(value, "")?;
    let scenario = Scenario {
        name: written.name,
        title: written.title,
        seed: written.seed,
        duration: written.duration,
        until: written.until,
        topology: written.topology.map(|t| topology(&t, cat)).transpose()?,
        link: each(&written.link, "link", |v, path| link(v, cat, path))?,
        flow: each(&written.flow, "flow", |v, path| flow(v, &mut known, path))?,
        domain: named(written.domain, "domain")?,
        contract: named(written.contract, "contract")?
            .into_iter()
            .map(|(name, c)| Ok((name.clone(), domains::complete(c, cat, &format!("contract.{name}"))?)))
            .collect::<Result<_, ConfigError>>()?,
        timeline: written.timeline,
        sharing: written.sharing,
        record: written.record,
        emulate: written.emulate,
    };
    check::scenario(&scenario)?;
    Ok(scenario)
}

/// `link = "gprs"` is a network of one link: the last hop between `server` and `mobile`, of an access system by name.
pub(super) fn spelled_out(value: &Value) -> Result<Cow<'_, Value>, ConfigError> {
    let Some(Value::String(profile)) = value.get("link") else { return Ok(Cow::Borrowed(value)) };
    crosswind_net::profile::body(profile, "link")?;
    let mut value = value.clone();
    value["link"] = serde_json::json!({ "last-hop": { "from": "server", "to": "mobile", "profile": profile } });
    Ok(Cow::Owned(value))
}

/// The scenario as JSON with every default filled in. Doing it twice changes nothing.
pub fn normalise(scenario: &Scenario) -> Value {
    serde_json::to_value(scenario).expect("a scenario holds only text keys and finite numbers")
}

/// The same as JSON text, which needs no copy of the values: a scenario of thousands of flows is large.
pub fn normalised_text(scenario: &Scenario) -> String {
    serde_json::to_string(scenario).expect("a scenario holds only text keys and finite numbers")
}

fn each<T>(
    written: &BTreeMap<String, Value>,
    section: &str,
    mut read_one: impl FnMut(&Value, &str) -> Result<T, ConfigError>,
) -> Result<BTreeMap<String, T>, ConfigError> {
    let mut out = BTreeMap::new();
    for (name, value) in written {
        let path = format!("{section}.{name}");
        names::name(name, &path)?;
        out.insert(name.clone(), read_one(value, &path)?);
    }
    Ok(out)
}

/// Members of a table that the user names.
fn named<T>(members: BTreeMap<String, T>, section: &str) -> Result<BTreeMap<String, T>, ConfigError> {
    members.keys().try_for_each(|name| names::name(name, &format!("{section}.{name}")))?;
    Ok(members)
}

/// `config::read` with Rust's names of types put into plain words.
fn read<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, ConfigError> {
    config::read(value, path).map_err(|mut e| {
        let plain = match e.expected.as_str() {
            "u64" | "u32" => "a whole number, zero or more",
            t if t.starts_with("struct ") || t == "a map" => "a table",
            "a sequence" => "a list",
            "a string" => "text",
            _ => return e,
        };
        e.expected = plain.into();
        e
    })
}

fn link(value: &Value, cat: &dyn Catalogue, path: &str) -> Result<Link, ConfigError> {
    let keys = object(value, path, "a table with the keys from, to, rate, delay, ..")?;
    let end = |key: &str| -> Result<String, ConfigError> {
        let at = format!("{path}.{key}");
        match keys.get(key) {
            Some(Value::String(s)) => names::name(s, &at).map(|()| s.clone()),
            Some(other) => Err(ConfigError::new(at, shown(other), "the name of a node")),
            None => Err(ConfigError::new(at, "nothing", "the name of a node")),
        }
    };
    let (from, to) = (end("from")?, end("to")?);
    let body: Map<String, Value> = keys
        .iter()
        .filter(|(k, _)| !matches!(k.as_str(), "from" | "to"))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    Ok(Link { from, to, body: Body::read(&body, cat, path)? })
}

fn topology(value: &Value, cat: &dyn Catalogue) -> Result<Topology, ConfigError> {
    let (name, rest) = tagged(value, "template", "topology", &["dumbbell", "chain", "access-tree"])?;
    let keys = |v: &Value, at: &str| -> Result<Map<String, Value>, ConfigError> {
        // A bare name is that of a profile.
        let v = &v.as_str().map_or_else(|| v.clone(), |name| serde_json::json!({"profile": name}));
        object(v, at, "a table with the keys rate, delay, queue, ..").cloned()
    };
    let body = |v: &Value, key: &str| -> Result<Body, ConfigError> {
        let at = format!("topology.{key}");
        Body::read(&keys(v, &at)?, cat, &at)
    };
    let host_link = |written: Option<Value>, key: &str| -> Result<Option<Body>, ConfigError> {
        body(&written.unwrap_or_else(default_access), key).map(Some)
    };
    Ok(match name.as_str() {
        "dumbbell" => {
            let d: Dumbbell<Value, Value> = read(&rest, "topology")?;
            let written = d.access.unwrap_or_else(default_access);
            let (access, bottleneck) = (Some(body(&written, "access")?), body(&d.bottleneck, "bottleneck")?);
            let usual = keys(&written, "topology.access")?;
            let differing = |(k, own): (u32, Value)| -> Result<(u32, Differing), ConfigError> {
                let at = format!("topology.pair.{k}");
                Ok((k, Differing(Body::read_over(&usual, &keys(&own, &at)?, cat, &at)?)))
            };
            let pair = d.pair.into_iter().map(differing).collect::<Result<_, _>>()?;
            Topology::Dumbbell(Dumbbell { pairs: d.pairs, access, pair, bottleneck })
        }
        "chain" => {
            let c: Chain<Value> = read(&rest, "topology")?;
            let (access, hop) = (host_link(c.access, "access")?, body(&c.hop, "hop")?);
            Topology::Chain(Chain { hops: c.hops, pairs: c.pairs, access, hop })
        }
        _ => {
            let t: AccessTree<Value> = read(&rest, "topology")?;
            let (trunk, last_hop) = (host_link(t.trunk, "trunk")?, body(&t.last_hop, "last_hop")?);
            Topology::AccessTree(AccessTree { clients: t.clients, trunk, last_hop })
        }
    })
}

/// The link between a host and its router where the file says nothing: fast enough never to be the bottleneck.
fn default_access() -> Value {
    let (rate, delay) = (BitRate(1_000_000_000), Dur::from_millis(1));
    serde_json::json!({"rate": rate, "delay": delay})
}

fn flow(value: &Value, known: &mut Remembering<'_>, path: &str) -> Result<Flow, ConfigError> {
    let mut keys = object(value, path, "a table with the keys from, to, workload, ..")?.clone();
    let rate = transport::taken_out(&mut keys);
    let mut written: Flow<Value, Value> = Flow { rate, ..read(&Value::Object(keys), path)? };
    let at = format!("{path}.start");
    let start = match written.start.take() {
        None => StartRule::Fixed(Dur::ZERO),
        Some(Value::Object(keys)) if keys.len() != 1 => {
            let found = format!("{} keys", keys.len());
            return Err(ConfigError::new(at, found, "one of the keys uniform, stratified, every, poisson"));
        }
        Some(Value::Object(keys)) => {
            if let Some(key) = keys.keys().find(|k| !START_RULES.contains(&k.as_str())) {
                return Err(ConfigError::unknown(format!("{at}.{key}"), key, "a rule for starts", &START_RULES));
            }
            read::<WrittenRule>(&Value::Object(keys), &at)?.into()
        }
        Some(v) => StartRule::Fixed(read(&v, &at).map_err(|e| e.hint("or a rule such as { every = \"10 ms\" }"))?),
    };
    let at = format!("{path}.workload");
    let (kind, rest) = tagged(&written.workload, "type", &at, &workloads::NAMES)?;
    let workload = match kind.as_str() {
        "page" => WorkloadParams::Page(read(&rest, &at)?),
        "cbr" => WorkloadParams::Cbr(read(&rest, &at)?),
        "on-off" => WorkloadParams::OnOff(read(&rest, &at)?),
        "ping" => WorkloadParams::Ping(read(&rest, &at)?),
        "web" => WorkloadParams::Web(read(&rest, &at)?),
        _ => WorkloadParams::Bulk(read(&rest, &at)?),
    };
    let written = transport::spelled(written, &workload, path, &known.cat.brought())?;
    let at = format!("{path}.tcp");
    let keys = object(&written.tcp, &at, "a table such as { preset = \"rfc\", mss = \"1460 B\" }")?;
    let mut names = written.rate.keys();
    let rate = names.next();
    if let (Some(one), Some(other)) = (rate, names.next()) {
        return Err(ConfigError::new(format!("{path}.{other}"), format!("`{other}` beside `{one}`"), "one transport"));
    }
    let over = match (&written.transport, rate) {
        (Some(Value::String(_)), _) => None,
        (Some(_), _) => Some("the flow runs over another transport".to_string()),
        (_, Some(name)) => Some(format!("the flow runs over {}", name.to_uppercase())),
        _ => workload.is_messages().then(|| format!("`{kind}` runs over UDP")),
    };
    let tcp = match over {
        Some(_) if keys.is_empty() => written.tcp,
        Some(over) => return Err(ConfigError::new(at, shown(&written.tcp), format!("nothing: {over}"))),
        None => known.normalise(Kind::Tcp, &written.tcp, &at)?,
    };
    let mut rate = Map::new();
    for (row, table) in table::ROWS.iter().filter_map(|row| Some((row, written.rate.get(row.name)?))) {
        rate.insert(row.name.into(), paced(table, row, &workload, known, path)?);
    }
    let Flow { from, to, count, dscp, queue_delay_limits, lifetime, host_queue, transport, .. } = written;
    let start = Some(start);
    Ok(Flow { from, to, count, start, dscp, queue_delay_limits, lifetime, host_queue, workload, transport, tcp, rate })
}

/// The parameters of a rate-based transport, if the workload can run over it.
fn paced(
    written: &Value,
    row: &'static RateRow,
    workload: &WorkloadParams,
    known: &mut Remembering<'_>,
    path: &str,
) -> Result<Value, ConfigError> {
    let refuse = |key: &str, found: &str, expected: &str| {
        Err(ConfigError::new(format!("{path}.workload.{key}"), format!("{found} over {}", row.name), expected))
    };
    let is_reliable = row.build.is_reliable();
    match workload {
        WorkloadParams::Page(_) | WorkloadParams::Web(_) if is_reliable => {}
        WorkloadParams::Bulk(b)
            if is_reliable && *b == (Bulk { size: b.size, write: b.write, close: b.close, ..Bulk::default() }) => {}
        WorkloadParams::Page(_) => return refuse("type", "`page`", "one of bulk, cbr, on-off"),
        WorkloadParams::Ping(_) => return refuse("type", "`ping`", "one of bulk, cbr, on-off"),
        WorkloadParams::Web(_) => return refuse("type", "`web`", "one of bulk, cbr, on-off"),
        WorkloadParams::Bulk(b) if b.write.is_some() => {
            return refuse("write", "`write`", "nothing: data is taken as packets");
        }
        WorkloadParams::Bulk(b) if b.close == Close::Never => {
            return refuse("close", "`never`", "nothing: without a `size` the flow never ends");
        }
        WorkloadParams::Bulk(b) if *b != (Bulk { size: b.size, ..Bulk::default() }) => {
            return refuse("type", "`bulk` with keys of its connection", "`size` alone");
        }
        _ => {}
    }
    let at = format!("{path}.{}", row.name);
    object(written, &at, "a table such as { preset = \"..\" }")?;
    known.normalise(Kind::Rate(row.name), written, &at)
}

/// Splits a table into the name under `key` and everything else.
fn tagged(value: &Value, key: &str, path: &str, valid: &[&str]) -> Result<(String, Value), ConfigError> {
    let keys = object(value, path, &format!("a table with the key {key}"))?;
    let at = format!("{path}.{key}");
    let what = format!("the {key}");
    let found = match keys.get(key) {
        Some(Value::String(s)) => s,
        Some(other) => return Err(ConfigError::new(at, shown(other), format!("{what}: one of {}", valid.join(", ")))),
        None => return Err(ConfigError::new(at, "nothing", format!("{what}: one of {}", valid.join(", ")))),
    };
    if !valid.contains(&found.as_str()) {
        return Err(ConfigError::unknown(at, found, &what, valid));
    }
    let rest: Map<String, Value> =
        keys.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.clone(), v.clone())).collect();
    Ok((found.clone(), Value::Object(rest)))
}
