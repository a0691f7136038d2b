//! The JSON Schema of a scenario file: generated from the types of `types.rs`, with the parameters of every registered
//! queue, link, loss and TCP preset plugged in under the `type` (or `preset`) that chooses them.

use super::catalogue::{Catalogue, Kind, Row};
use super::types::Scenario;
use crosswind_net::link::delayer::KEYS;
use crosswind_net::profile::PROFILES;
use crosswind_transport::rate::table;
use crosswind_transport::tcp::preset::FORMER_KEYS;
use schemars::schema_for;
use serde_json::{Map, Value, json};

type Keys = Map<String, Value>;

/// The schema of a whole scenario (JSON Schema, draft 2020-12).
pub fn json_schema(cat: &dyn Catalogue) -> Value {
    let mut root = schema_for!(Scenario).to_value();
    let mut defs = match root.get_mut("$defs").map(Value::take) {
        Some(Value::Object(defs)) => defs,
        _ => Keys::new(),
    };
    let queues = rows(cat, Kind::Queue, &mut defs);
    let links = rows(cat, Kind::Link, &mut defs);
    let losses = rows(cat, Kind::Loss, &mut defs);
    let meters = rows(cat, Kind::Meter, &mut defs);
    let presets = rows(cat, Kind::Tcp, &mut defs);
    for row in table::ROWS {
        let presets = rows(cat, Kind::Rate(row.name), &mut defs);
        defs.insert(row.name.into(), preset_table(&presets));
    }
    let delayers = rows(cat, Kind::Delayer, &mut defs);
    for (key, name) in KEYS {
        let Some(row) = delayers.iter().find(|r| r.name == name) else { continue };
        let table = json!({
            "title": row.title, "type": "object", "properties": properties(row), "additionalProperties": false,
        });
        defs.insert(key.into(), json!({"oneOf": [{"const": "none"}, table]}));
    }
    for body in ["Link", "LinkBody"] {
        let ends =
            defs.get(body).and_then(|d| d.get("properties")).and_then(Value::as_object).cloned().unwrap_or_default();
        let table = link(&links, &ends);
        // A link of a template may be the bare name of a profile.
        let body_of_template = json!({"anyOf": [profiles(), table]});
        defs.insert(body.into(), if ends.is_empty() { body_of_template } else { table });
    }
    let differing = reverse(&links);
    defs.insert("LinkDifference".into(), json!({"anyOf": [profiles(), difference(differing.clone())]}));
    defs.insert("reverse".into(), differing);
    defs.insert("queue".into(), named(&queues, Some("droptail")));
    defs.insert("loss".into(), named(&losses, None));
    defs.insert("meter".into(), named(&meters, None));
    defs.insert("tcp".into(), tcp_table(&presets));
    defs.insert("transport".into(), transport());
    if let Some(flow) = defs.get_mut("Flow").and_then(|f| f["properties"].as_object_mut()) {
        for row in table::ROWS {
            let reference = format!("#/$defs/{}", row.name);
            flow.insert(row.name.into(), json!({"description": row.build.key, "$ref": reference}));
        }
    }
    if let Some(links) = root.pointer_mut("/properties/link") {
        // One link alone may be the bare name of a profile.
        let tables = links.take();
        let text = tables.get("description").cloned().unwrap_or_default();
        *links = json!({"description": text, "anyOf": [profiles(), tables]});
    }
    if let Some(root) = root.as_object_mut() {
        root.insert("$defs".into(), Value::Object(defs));
    }
    root
}

/// The transport of a flow: its name, or a table with its name and its parameters.
fn transport() -> Value {
    let names = super::transport::names();
    let table = json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]});
    json!({"anyOf": [{"enum": names}, {"anyOf": super::stacks::tables()}, table]})
}

/// The rows of one kind; what their schemas define for themselves moves to the common definitions.
fn rows(cat: &dyn Catalogue, kind: Kind, defs: &mut Keys) -> Vec<Row> {
    let mut rows = cat.rows(kind);
    for row in &mut rows {
        let Some(own) = row.schema.as_object_mut().and_then(|s| s.remove("$defs")) else { continue };
        let Value::Object(own) = own else { continue };
        for (name, definition) in own {
            let taken = defs.get(&name).is_some_and(|d| *d != definition);
            let new = if taken { format!("{}-{}-{name}", kind.word(), row.name) } else { name.clone() };
            if taken {
                rename(&mut row.schema, [&format!("#/$defs/{name}"), &format!("#/$defs/{new}")]);
            }
            defs.insert(new, definition);
        }
    }
    rows
}

/// Points every `$ref` to `old` at `new`.
fn rename(schema: &mut Value, [old, new]: [&str; 2]) {
    match schema {
        Value::Object(keys) => {
            for (k, v) in keys.iter_mut() {
                if k == "$ref" && v.as_str() == Some(old) {
                    *v = new.into();
                } else {
                    rename(v, [old, new]);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|v| rename(v, [old, new])),
        _ => {}
    }
}

fn properties(row: &Row) -> Keys {
    row.schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// One alternative: the parameters of a row, the `type` that chooses it, and what else may stand in the table.
fn alternative(row: &Row, default: Option<&str>, more: &Keys) -> Value {
    let mut keys = Keys::new();
    keys.insert("type".into(), json!({"const": row.name}));
    keys.extend(properties(row));
    keys.extend(more.clone());
    let mut required: Vec<Value> = row.schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if default != Some(row.name) {
        required.push("type".into());
    }
    json!({
        "title": row.title, "type": "object", "properties": keys, "required": required, "additionalProperties": false,
    })
}

/// A queue or a loss: a table, or the bare name of a row.
fn named(rows: &[Row], default: Option<&str>) -> Value {
    let names: Vec<&str> = rows.iter().map(|r| r.name).collect();
    let mut alternatives = vec![json!({"title": "Name alone, all defaults", "enum": names})];
    alternatives.extend(rows.iter().map(|r| alternative(r, default, &Keys::new())));
    json!({"oneOf": alternatives})
}

fn attachments() -> Keys {
    let mut keys = Keys::new();
    keys.insert("queue".into(), json!({"$ref": "#/$defs/queue", "description": "What waits in front of the link."}));
    let several = json!({"type": "array", "items": {"$ref": "#/$defs/loss"}});
    let text = "Which packets are lost on the link: one loss, or a list of them.";
    keys.insert("loss".into(), json!({"anyOf": [{"$ref": "#/$defs/loss"}, several], "description": text}));
    for (key, name) in KEYS {
        let text = format!("What holds packets up between queue and link: {name}; \"none\" ends what is inherited.");
        keys.insert(key.into(), json!({"$ref": format!("#/$defs/{key}"), "description": text}));
    }
    keys
}

fn profiles() -> Value {
    let names: Vec<&str> = PROFILES.iter().map(|p| p.name).collect();
    json!({"title": "An access system by name", "enum": names})
}

fn link(rows: &[Row], ends: &Keys) -> Value {
    let mut more = ends.clone();
    more.extend(attachments());
    more.insert("profile".into(), profiles());
    let text = "Keys that differ in the other direction; everything else is inherited.";
    more.insert("reverse".into(), json!({"$ref": "#/$defs/reverse", "description": text}));
    let alternatives: Vec<Value> = rows.iter().map(|r| alternative(r, Some("wire"), &more)).collect();
    let required: Vec<&String> = ends.keys().collect();
    json!({"type": "object", "required": required, "oneOf": alternatives})
}

/// Any key that some link knows: which ones are right depends on what is inherited.
fn reverse(rows: &[Row]) -> Value {
    let names: Vec<&str> = rows.iter().map(|r| r.name).collect();
    let mut keys = Keys::new();
    keys.insert("type".into(), json!({"enum": names}));
    for row in rows {
        for (name, schema) in properties(row) {
            keys.entry(name).or_insert(schema);
        }
    }
    keys.extend(attachments());
    // A queue without its type is one that changes some keys of the inherited one.
    keys.insert("queue".into(), json!({"anyOf": [{"$ref": "#/$defs/queue"}, {"type": "object"}]}));
    keys.insert("loss".into(), json!({"anyOf": [{"$ref": "#/$defs/loss"}, {"type": ["object", "array"]}]}));
    json!({"type": "object", "properties": keys, "additionalProperties": false})
}

/// As the reverse direction, and that one with it.
fn difference(mut keys: Value) -> Value {
    keys["properties"]["profile"] = profiles();
    keys["properties"]["reverse"] = json!({"$ref": "#/$defs/reverse"});
    keys
}

/// Former names of keys are no properties, so that nobody is offered them, but patterns: they stay valid.
fn tcp_table(presets: &[Row]) -> Value {
    let mut table = preset_table(presets);
    let of = |present: &str| table["properties"].get(present).cloned().unwrap_or(Value::Bool(true));
    let former: Keys = FORMER_KEYS.iter().map(|(old, new)| (format!("^{old}$"), of(new))).collect();
    table["patternProperties"] = Value::Object(former);
    table
}

fn preset_table(presets: &[Row]) -> Value {
    let names: Vec<Value> = presets.iter().map(|r| json!({"const": r.name, "title": r.title})).collect();
    let mut keys = Keys::new();
    keys.insert(
        "preset".into(),
        json!({"oneOf": names, "description": "The bundle that gives every key not set here."}),
    );
    if let Some(first) = presets.first() {
        keys.extend(properties(first));
    }
    json!({"type": "object", "properties": keys, "additionalProperties": false})
}
