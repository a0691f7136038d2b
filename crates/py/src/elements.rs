//! Every name a scenario may use, gathered from the registries.

use crosswind_net::profile::PROFILES;
use crosswind_net::registry as net;
use crosswind_record::metric::METRICS;
use crosswind_transport::tcp::{preset, registry as tcp};
use serde_json::{Value, json};

pub fn all() -> Value {
    let mut rows = Vec::new();
    for row in net::ROWS {
        rows.push(json!({"kind": row.kind.name(), "name": row.name, "title": row.title, "doc": row.doc(), "params": (row.schema)()}));
    }
    for p in PROFILES {
        let params = Value::Object(p.body());
        rows.push(json!({"kind": "profile", "name": p.name, "title": p.title, "doc": format!("**Source**: {}", p.source), "params": params}));
    }
    for row in tcp::rows() {
        rows.push(
            json!({"kind": row.kind, "name": row.name, "title": row.title(), "doc": row.doc(), "params": Value::Null}),
        );
    }
    for row in crosswind_transport::registry::ROWS {
        rows.push(
            json!({"kind": row.kind, "name": row.name, "title": row.title(), "doc": row.doc(), "params": Value::Null}),
        );
    }
    for p in crosswind_transport::tfrc::preset::PRESETS {
        let params = serde_json::to_value((p.make)()).unwrap_or(Value::Null);
        rows.push(json!({"kind": "preset", "name": p.name, "title": p.title, "doc": format!("**Source**: {}", p.source), "params": params}));
    }
    for p in crosswind_transport::udt::params::PRESETS {
        let params = serde_json::to_value((p.make)()).unwrap_or(Value::Null);
        rows.push(json!({"kind": "preset", "name": p.name, "title": p.title, "doc": format!("**Source**: {}", p.source), "params": params}));
    }
    for p in preset::PRESETS {
        let params = serde_json::to_value((p.make)()).unwrap_or(Value::Null);
        rows.push(json!({"kind": "preset", "name": p.name, "title": p.title, "doc": format!("**Source**: {}", p.source), "params": params}));
    }
    for row in crosswind_sim::flows::workload::ROWS {
        rows.push(json!({"kind": "workload", "name": row.name, "title": row.title(), "doc": row.doc(), "params": (row.schema)()}));
    }
    for m in METRICS {
        rows.push(json!({
            "kind": "metric", "name": m.name, "title": m.definition, "doc": m.definition,
            "params": serde_json::to_value(m).unwrap_or(Value::Null),
        }));
    }
    Value::Array(rows)
}
