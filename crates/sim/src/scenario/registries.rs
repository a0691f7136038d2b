//! The real [`Catalogue`]: the registry of `net` for queues, links and losses, the presets of `transport` for TCP.

use super::catalogue::{Catalogue, Kind, Row};
use crosswind_base::ConfigError;
use crosswind_net::registry;
use crosswind_transport::tcp::{params::TcpParams, preset};
use schemars::schema_for;
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
        Kind::Tcp => None,
    }
}

impl Catalogue for Registries {
    fn rows(&self, kind: Kind) -> Vec<Row> {
        let Some(kind) = of_net(kind) else {
            let row = |p: &preset::Preset| Row {
                name: p.name,
                title: p.title.to_string(),
                schema: schema_for!(TcpParams).to_value(),
            };
            return preset::PRESETS.iter().map(row).collect();
        };
        let rows = registry::ROWS.iter().filter(|r| r.kind == kind);
        rows.map(|r| Row { name: r.name, title: r.title.to_string(), schema: (r.schema)().to_value() }).collect()
    }

    fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
        if let Some(kind) = of_net(kind) {
            return registry::normalise(kind, value, path);
        }
        let params = preset::read(value, path)?;
        let name = value.get("preset").cloned().unwrap_or_else(|| preset::PRESETS[0].name.into());
        let mut full = Map::new();
        full.insert("preset".into(), name);
        if let Value::Object(keys) = serde_json::to_value(params).expect("parameters are plain data with text keys") {
            full.extend(keys);
        }
        Ok(Value::Object(full))
    }
}
