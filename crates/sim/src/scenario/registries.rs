//! The real [`Catalogue`]: the registry of `net` for queues, links and losses, the presets of `transport` for its protocols.

use super::catalogue::{Catalogue, Kind, Row};
use crosswind_base::ConfigError;
use crosswind_net::registry;
use crosswind_transport::tcp::{TcpParams, preset as tcp};
use crosswind_transport::tfrc::{TfrcParams, preset as tfrc};
use crosswind_transport::udt::{UdtParams, params as udt};
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
        Kind::Holdup => Some(registry::Kind::Holdup),
        Kind::Tcp | Kind::Tfrc | Kind::Udt => None,
    }
}

fn preset_row(name: &'static str, title: &str, schema: schemars::Schema) -> Row {
    Row { name, title: title.to_string(), schema: schema.to_value() }
}

/// The parameters of a protocol, with the name of the preset that they began from.
fn named(params: impl Serialize, value: &Value, default: &str) -> Value {
    let name = value.get("preset").cloned().unwrap_or_else(|| default.into());
    let mut full = Map::new();
    full.insert("preset".into(), name);
    if let Value::Object(keys) = serde_json::to_value(params).expect("parameters are plain data with text keys") {
        full.extend(keys);
    }
    Value::Object(full)
}

impl Catalogue for Registries {
    fn rows(&self, kind: Kind) -> Vec<Row> {
        if kind == Kind::Udt {
            let row = |p: &udt::Preset| preset_row(p.name, p.title, schema_for!(UdtParams));
            return udt::PRESETS.iter().map(row).collect();
        }
        if kind == Kind::Tfrc {
            let row = |p: &tfrc::Preset| preset_row(p.name, p.title, schema_for!(TfrcParams));
            return tfrc::PRESETS.iter().map(row).collect();
        }
        let Some(kind) = of_net(kind) else {
            let row = |p: &tcp::Preset| preset_row(p.name, p.title, schema_for!(TcpParams));
            return tcp::PRESETS.iter().map(row).collect();
        };
        let rows = registry::ROWS.iter().filter(|r| r.kind == kind);
        rows.map(|r| Row { name: r.name, title: r.title.to_string(), schema: (r.schema)().to_value() }).collect()
    }

    fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
        match (of_net(kind), kind) {
            (Some(kind), _) => registry::normalise(kind, value, path),
            (None, Kind::Tfrc) => Ok(named(tfrc::read(value, path)?, value, tfrc::PRESETS[0].name)),
            (None, Kind::Udt) => Ok(named(udt::read(value, path)?, value, udt::PRESETS[0].name)),
            (None, _) => Ok(named(tcp::read(value, path)?, value, tcp::PRESETS[0].name)),
        }
    }
}
