//! Changing one value of a written scenario by its dotted path, as `--set` and `--vary` do.

use super::catalogue::shown;
use super::names;
use super::parse::spelled_out;
use crosswind_base::ConfigError;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) const TOP: [&str; 14] = [
    "name", "title", "seed", "duration", "until", "topology", "link", "domain", "contract", "flow", "timeline",
    "sharing", "record", "emulate",
];

/// Puts `value` at `path` (such as `link.last-hop.queue.limit`) of a scenario in JSON.
///
/// Links and flows must exist already, so that a slip in a name does not make a new one. Tables below them are made
/// where they are missing; whether their keys are known is for [`super::parse_value`] to say.
pub fn set(scenario: &mut Value, path: &str, value: Value) -> Result<(), ConfigError> {
    let keys: Vec<&str> = path.split('.').collect();
    if path.is_empty() || keys.iter().any(|k| k.is_empty()) {
        let expected = "a dotted path such as link.last-hop.queue.limit";
        return Err(ConfigError::new(path, format!("`{path}`"), expected));
    }
    if !TOP.contains(&keys[0]) {
        return Err(ConfigError::unknown(path, keys[0], "a key of a scenario", &TOP));
    }
    if let Cow::Owned(whole) = spelled_out(scenario)? {
        *scenario = whole;
    }
    if matches!(keys[0], "link" | "flow" | "domain" | "contract") {
        exists(scenario, &keys)?;
    }
    let mut at = scenario;
    for (depth, key) in keys[..keys.len() - 1].iter().enumerate() {
        at = descend(at, key, &keys[..depth])?;
    }
    *descend(at, keys[keys.len() - 1], &keys[..keys.len() - 1])? = value;
    Ok(())
}

/// The link or flow that the path goes through must be in the scenario.
fn exists(scenario: &Value, keys: &[&str]) -> Result<(), ConfigError> {
    let section = scenario.get(keys[0]).and_then(Value::as_object);
    let names: Vec<&str> = section.map(|s| s.keys().map(String::as_str).collect()).unwrap_or_default();
    let path = keys.join(".");
    let Some(name) = keys.get(1) else {
        return Err(ConfigError::new(path, "the whole section", format!("a path below one {}", keys[0])));
    };
    if names.contains(name) {
        return Ok(());
    }
    if names.is_empty() {
        let e = ConfigError::new(path, format!("`{name}`"), format!("a {} of the scenario, which has none", keys[0]));
        return Err(e.hint("links of a template are set below `topology`"));
    }
    Err(names::unknown(name, &path, &format!("a {} of the scenario", keys[0]), &names))
}

/// The place of `key` in a table (made if missing) or in a list (must be there).
fn descend<'a>(at: &'a mut Value, key: &str, above: &[&str]) -> Result<&'a mut Value, ConfigError> {
    if at.is_null() {
        *at = Value::Object(Map::new());
    }
    if at.is_string() && matches!(above.last(), Some(&"queue" | &"loss")) {
        // A bare name stands for a table with this `type`.
        *at = serde_json::json!({"type": at.take()});
    }
    match at {
        Value::Object(map) => Ok(map.entry(key).or_insert(Value::Null)),
        Value::Array(items) => {
            let path = format!("{}.{key}", above.join("."));
            let expected = format!("an index below {}", items.len());
            let index = key.parse::<usize>().ok();
            index.and_then(|i| items.get_mut(i)).ok_or_else(|| ConfigError::new(path, format!("`{key}`"), expected))
        }
        other => {
            let e = ConfigError::new(above.join("."), shown(other), format!("a table that can hold `{key}`"));
            Err(e.hint("set the whole value instead"))
        }
    }
}
