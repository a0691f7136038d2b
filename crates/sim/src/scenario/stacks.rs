//! Stacks of other people by name: those that are built in.

use super::workloads::{Bulk, WorkloadParams};
use crosswind_base::ConfigError;
use crosswind_transport::stack::Maker;
use serde_json::{Map, Value, json};

/// Names that scenarios may use, whether or not this build has the stack.
pub const KNOWN: [&str; 3] = ["quinn", "noq", "smoltcp"];

/// What reads one that is built in.
type Read = fn(&Value, &str) -> Result<(Value, Maker), ConfigError>;

#[cfg(feature = "stacks")]
fn built_in(name: &str) -> Option<Read> {
    crosswind_stacks::ROWS.iter().find(|r| r.name == name).map(|r| r.build.read)
}

#[cfg(not(feature = "stacks"))]
fn built_in(_: &str) -> Option<Read> {
    None
}

/// Whether one that is built in can log what it does.
#[cfg(feature = "stacks")]
pub fn logs(name: &str) -> bool {
    crosswind_stacks::ROWS.iter().any(|r| r.name == name && r.build.logs)
}

#[cfg(not(feature = "stacks"))]
pub fn logs(_: &str) -> bool {
    false
}

fn read(name: &str, keys: &Value, path: &str) -> Result<(Value, Maker), ConfigError> {
    let Some(read) = built_in(name) else {
        let found = format!("`{name}`, which this build does not have");
        let hint = "`make stacks` builds one (or `maturin develop --release --features stacks`); without it the other transports remain";
        return Err(ConfigError::new(format!("{path}.type"), found, "a build that has real stacks").hint(hint));
    };
    read(keys, path)
}

/// The name of one of them as it is kept.
pub fn known(name: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|k| *k == name)
}

/// The table of a transport with all its parameters, if the workload can run over it.
pub fn normalised(
    name: &str,
    keys: &Map<String, Value>,
    workload: &WorkloadParams,
    path: &str,
) -> Result<Value, ConfigError> {
    let (parameters, _) = read(name, &Value::Object(keys.clone()), path)?;
    let plain = |b: &Bulk| *b == Bulk { size: b.size, write: b.write, close: b.close, ..Bulk::default() };
    let found = match workload {
        WorkloadParams::Bulk(b) if !plain(b) => Some("`bulk` with other keys than size, write, close"),
        WorkloadParams::Ping(_) => Some("`ping`, whose datagrams are answered,"),
        _ => None,
    };
    if let Some(found) = found {
        let expected = "a `bulk`, `page`, `web`, `cbr` or `on-off` workload";
        return Err(ConfigError::new(path, format!("{found} over a real stack"), expected));
    }
    let mut full = Map::new();
    full.insert("type".into(), name.into());
    full.extend(parameters.as_object().cloned().unwrap_or_default());
    Ok(Value::Object(full))
}

/// What makes the ends of flows over it.
pub fn maker(name: &str, keys: &Value, path: &str) -> Result<Maker, ConfigError> {
    read(name, keys, path).map(|(_, maker)| maker)
}

/// The tables of `transport` in the JSON Schema, one for each stack.
pub fn tables() -> Vec<Value> {
    #[cfg(feature = "stacks")]
    let of = |name: &str| {
        crosswind_stacks::ROWS.iter().find(|r| r.name == name).and_then(|r| r.schema()).map(|s| s.to_value())
    };
    #[cfg(not(feature = "stacks"))]
    let of = |_: &str| None::<Value>;
    let table = |name: &str| {
        let mut keys = Map::new();
        keys.insert("type".into(), json!({ "const": name }));
        let own = of(name).map(|s| inlined(&s));
        let title = if own.is_some() { name.to_string() } else { format!("{name} (not in this build)") };
        let is_open = own.is_none();
        keys.extend(own.unwrap_or_default());
        json!({"title": title, "type": "object", "properties": keys, "required": ["type"], "additionalProperties": is_open})
    };
    KNOWN.into_iter().map(table).collect()
}

/// The properties of a schema, with what they refer to in their place.
fn inlined(schema: &Value) -> Map<String, Value> {
    fn resolve(v: &mut Value, defs: &Value) {
        match v {
            Value::Object(keys) => {
                let target = keys.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
                if let Some(found) = target.and_then(|name| defs.get(name)).cloned() {
                    keys.remove("$ref");
                    keys.extend(found.as_object().cloned().unwrap_or_default());
                }
                keys.values_mut().for_each(|v| resolve(v, defs));
            }
            Value::Array(items) => items.iter_mut().for_each(|v| resolve(v, defs)),
            _ => {}
        }
    }
    let mut properties = schema.get("properties").cloned().unwrap_or_default();
    resolve(&mut properties, schema.get("$defs").unwrap_or(&Value::Null));
    properties.as_object().cloned().unwrap_or_default()
}

#[cfg(all(test, not(feature = "stacks")))]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_stacks_says_how_to_get_one() {
        let workload = WorkloadParams::Bulk(Bulk::default());
        let e = normalised("quinn", &Map::new(), &workload, "flow.a.transport").expect_err("it is not there");
        assert_eq!(e.path, "flow.a.transport.type");
        assert!(e.to_string().contains("this build does not have") && e.to_string().contains("make stacks"), "{e}");
    }
}
