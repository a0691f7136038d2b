//! The real [`Catalogue`]: the registry of `net` for queues, links and losses, the presets of `transport` for its protocols.

use super::catalogue::{Catalogue, Kind, Row};
use crosswind_base::ConfigError;
use crosswind_net::registry;
use crosswind_transport::rate::protocol::RateRow;
use crosswind_transport::rate::table;
use crosswind_transport::tcp::{TcpParams, preset as tcp};
use schemars::schema_for;
use serde::Serialize;
use serde_json::{Map, Value};

/// Everything that is built in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registries;

fn of_net(kind: Kind) -> Option<registry::Kind> {
    match kind {
        Kind::Queue => Some(registry::Kind::Queue),
        Kind::Link => Some(registry::Kind::Link),
        Kind::Loss => Some(registry::Kind::Loss),
        Kind::Meter => Some(registry::Kind::Meter),
        Kind::Delayer => Some(registry::Kind::Delayer),
        Kind::Tcp | Kind::Rate(_) => None,
    }
}

/// A preset as a scenario chooses from them.
fn preset(name: &'static str, title: &str, schema: schemars::Schema) -> Row {
    Row { name, title: title.to_string(), schema: schema.to_value() }
}

/// The presets of a transport that sends at a rate.
fn presets(row: &RateRow) -> Vec<Row> {
    let all = (row.build.presets)();
    all.iter().filter_map(|p| Some(preset(p.name, p.title, row.schema()?))).collect()
}

fn plain(params: impl Serialize) -> Value {
    serde_json::to_value(params).expect("parameters are plain data with text keys")
}

fn row_of(name: &str) -> &'static RateRow {
    table::find(name).expect("kinds of rate-based transports have the names of rows")
}

/// The parameters of a protocol, with the name of the preset that they began from. Parameters leave out what is as in a type's
/// default; where the preset is not, what was written has to stay, or reading them again would bring the preset's back.
fn named(params: Value, value: &Value, default: &str, preset: impl Fn(&str) -> Option<Value>) -> Value {
    let keys = |p: &Value| p.as_object().cloned().unwrap_or_default();
    let name = value.get("preset").cloned().unwrap_or_else(|| default.into());
    let base = name.as_str().and_then(preset).as_ref().map(keys).unwrap_or_default();
    let mut full = Map::new();
    full.insert("preset".into(), name);
    full.extend(keys(&params));
    for (key, written) in value.as_object().into_iter().flatten() {
        if base.contains_key(key) && !full.contains_key(key) {
            full.insert(key.clone(), written.clone());
        }
    }
    Value::Object(full)
}

impl Catalogue for Registries {
    fn rows(&self, kind: Kind) -> Vec<Row> {
        let rows = |kind| registry::ROWS.iter().filter(move |r| r.kind == kind);
        let row = |r: &registry::Row| Some(Row { name: r.name, title: r.title(), schema: r.schema()?.to_value() });
        match of_net(kind) {
            Some(kind) => rows(kind).filter_map(row).collect(),
            None => match kind {
                Kind::Rate(name) => presets(row_of(name)),
                _ => tcp::PRESETS.iter().map(|p| preset(p.name, p.title, schema_for!(TcpParams))).collect(),
            },
        }
    }

    fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
        match (of_net(kind), kind) {
            (Some(kind), _) => registry::normalise(kind, value, path),
            (None, Kind::Rate(name)) => {
                let row = &row_of(name).build;
                let params = row.read(value, path, None)?;
                let all = (row.presets)();
                let preset = |name: &str| all.iter().find(|p| p.name == name).map(|p| p.params.clone());
                Ok(named(params.value(), value, all[0].name, preset))
            }
            (None, _) => {
                let preset = |name: &str| tcp::preset(name).map(plain);
                Ok(named(plain(tcp::read(value, path)?), value, tcp::PRESETS[0].name, preset))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_flow_undoes_of_its_preset_stays_undone_when_the_scenario_is_read_again() {
        let written = json!({ "preset": "linux-2.4.17", "reduction": "at-once" });
        let once = Registries.normalise(Kind::Tcp, &written, "flow.a.tcp").expect("a valid table");
        assert_eq!(once["reduction"], "at-once");
        let twice = tcp::read(&once, "flow.a.tcp").expect("its own words");
        assert_eq!(twice, tcp::read(&written, "flow.a.tcp").expect("a valid table"));
        let plain = Registries.normalise(Kind::Tcp, &json!({ "preset": "rfc", "reduction": "at-once" }), "x");
        assert!(
            plain.expect("a valid table").get("reduction").is_none(),
            "nothing is written that goes without saying"
        );
    }
}
