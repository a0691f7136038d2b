//! Every name a scenario may use, gathered from the registries.

use crosswind_base::registry::{Preset, Row};
use crosswind_net::profile::PROFILES;
use crosswind_net::registry as net;
use crosswind_record::metric::METRICS;
use crosswind_transport::rate::table as rate;
use crosswind_transport::tcp::{preset, registry as tcp};
use serde::Serialize;
use serde_json::{Value, json};

fn element<K, B>(kind: &str, row: &Row<K, B>) -> Value {
    json!({"kind": kind, "name": row.name, "title": row.title(), "doc": row.doc(), "params": row.schema()})
}

/// A named bundle: its values, and where they are from.
fn bundle(kind: &str, name: &str, title: &str, source: &str, params: Value) -> Value {
    json!({"kind": kind, "name": name, "title": title, "doc": format!("**Source**: {source}"), "params": params})
}

fn presets<P: Serialize>(of: &[Preset<P>]) -> impl Iterator<Item = Value> + use<'_, P> {
    let values = |p: &Preset<P>| serde_json::to_value((p.make)()).unwrap_or(Value::Null);
    of.iter().map(move |p| bundle("preset", p.name, p.title, p.source, values(p)))
}

pub fn all() -> Value {
    let mut rows: Vec<Value> = net::ROWS.iter().map(|row| element(row.kind.name(), row)).collect();
    rows.extend(PROFILES.iter().map(|p| bundle("profile", p.name, p.title, p.source, Value::Object(p.body()))));
    rows.extend(tcp::rows().map(|row| element(row.kind, row)));
    rows.extend(rate::ROWS.iter().map(|row| element(row.kind, row)));
    rows.extend(crosswind_transport::registry::ROWS.iter().map(|row| element(row.kind, row)));
    for row in rate::ROWS {
        let all = (row.build.presets)();
        rows.extend(all.into_iter().map(|p| bundle("preset", p.name, p.title, p.source, p.params)));
    }
    rows.extend(presets(preset::PRESETS));
    rows.extend(crosswind_sim::flows::workload::ROWS.iter().map(|row| element(row.kind, row)));
    #[cfg(feature = "stacks")]
    rows.extend(crosswind_sim::stacks::ROWS.iter().map(|row| element(row.kind, row)));
    rows.extend(METRICS.iter().map(|m| {
        let params = serde_json::to_value(m).unwrap_or(Value::Null);
        json!({"kind": "metric", "name": m.name, "title": m.definition, "doc": m.definition, "params": params})
    }));
    Value::Array(rows)
}
