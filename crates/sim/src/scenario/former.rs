//! Former names of keys and types, which stay valid in scenario files. Nothing else knows them.

use crosswind_base::ConfigError;
use serde_json::Value;
use std::borrow::Cow;

/// Keys of links: what they are called now.
const KEYS: [(&str, &str); 2] = [("on_demand", "channel_allocation"), ("slow_path", "processing_delay")];
/// Types of links.
const TYPES: [(&str, &str); 2] = [("detour", "reordering"), ("repair", "arq")];

/// The scenario with present names. One key by both names is refused.
pub(super) fn renamed(scenario: &Value) -> Result<Cow<'_, Value>, ConfigError> {
    if !is_old(scenario) {
        return Ok(Cow::Borrowed(scenario));
    }
    let mut scenario = scenario.clone();
    rename(&mut scenario, "")?;
    Ok(Cow::Owned(scenario))
}

fn present<'a>(names: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    names.iter().find(|(former, _)| *former == name).map(|(_, present)| *present)
}

fn type_of(key: &str, value: &Value) -> Option<&'static str> {
    if key == "type" { value.as_str().and_then(|t| present(&TYPES, t)) } else { None }
}

fn is_old(value: &Value) -> bool {
    match value {
        Value::Object(table) => {
            table.iter().any(|(k, v)| present(&KEYS, k).is_some() || type_of(k, v).is_some() || is_old(v))
        }
        Value::Array(items) => items.iter().any(is_old),
        _ => false,
    }
}

fn rename(value: &mut Value, path: &str) -> Result<(), ConfigError> {
    match value {
        Value::Object(table) => {
            for (former, present) in KEYS {
                let Some(moved) = table.remove(former) else { continue };
                if table.contains_key(present) {
                    let found = format!("`{former}` beside `{present}`");
                    return Err(ConfigError::new(below(path, former), found, "one of them: both are the same key"));
                }
                table.insert(present.into(), moved);
            }
            for (key, inner) in table.iter_mut() {
                match type_of(key, inner) {
                    Some(present) => *inner = present.into(),
                    None => rename(inner, &below(path, key))?,
                }
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                rename(item, &format!("{path}[{i}]"))?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use crate::scenario::parse::{normalise, parse_value};
    use crate::scenario::{Registries, json_schema};
    use serde_json::{Value, json};

    #[test]
    fn former_keys_and_types_of_links_stay_valid_and_are_not_offered() {
        let flow = json!({"f": {"from": "a", "to": "b", "workload": {"type": "bulk"}}});
        let with = |link: Value| json!({"name": "s", "duration": "10 s", "flow": flow, "link": {"l": link}});
        let of = |kind: &str, extra: [&str; 2]| {
            with(json!({"from": "a", "to": "b", "type": kind, extra[0]: {}, "reverse": {extra[1]: {}}}))
        };
        for (former, present) in [("detour", "reordering"), ("repair", "arq")] {
            let old = of(former, ["on_demand", "slow_path"]);
            let new = of(present, ["channel_allocation", "processing_delay"]);
            let (old, new) = (parse_value(&old, &Registries).unwrap(), parse_value(&new, &Registries).unwrap());
            assert_eq!(normalise(&old), normalise(&new));
        }
        let both = with(json!({"from": "a", "to": "b", "slow_path": {}, "processing_delay": {}}));
        assert_eq!(parse_value(&both, &Registries).unwrap_err().path, "link.l.slow_path");
        let schema = json_schema(&Registries).to_string();
        assert!(!schema.contains("slow_path") && !schema.contains("\"detour\"") && schema.contains("processing_delay"));
    }
}
