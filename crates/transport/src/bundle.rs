//! Reading a table of parameters that begins with the name of a bundle: `{ preset = "rfc", key = other value }`.

use crosswind_base::{ConfigError, config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The parameters of the bundle that `value` names, or of the first one, with everything else in the table as overrides.
/// `make` gives the parameters of a bundle of `names`.
pub fn read<T: Serialize + DeserializeOwned>(
    value: &Value,
    path: &str,
    names: &[&'static str],
    make: impl Fn(&str) -> Option<T>,
) -> Result<T, ConfigError> {
    config::read(&Value::Object(merged(value, path, names, make)?), path)
}

/// The complete table behind [`read`], with keys that there may not be.
pub fn merged<T: Serialize>(
    value: &Value,
    path: &str,
    names: &[&'static str],
    make: impl Fn(&str) -> Option<T>,
) -> Result<Map<String, Value>, ConfigError> {
    let empty = Map::new();
    let table = match value {
        Value::Null => &empty,
        Value::Object(m) => m,
        other => {
            let expected = format!("a table such as {{ preset = \"{}\" }}", names[0]);
            return Err(ConfigError::new(path, other.to_string(), expected));
        }
    };
    let name = match table.get("preset") {
        None => names[0],
        Some(Value::String(s)) => s.as_str(),
        Some(other) => return Err(ConfigError::new(format!("{path}.preset"), other.to_string(), "a name in quotes")),
    };
    let base = make(name).ok_or_else(|| ConfigError::unknown(format!("{path}.preset"), name, "a preset", names))?;
    let Ok(Value::Object(mut target)) = serde_json::to_value(base) else {
        unreachable!("parameters of a preset serialise as a table")
    };
    for (k, v) in table.iter().filter(|(k, _)| *k != "preset") {
        match (target.get_mut(k), v) {
            // A table inside: what it does not say stays as the preset has it.
            (Some(Value::Object(own)), Value::Object(given)) => own.extend(given.clone()),
            _ => {
                target.insert(k.clone(), v.clone());
            }
        }
    }
    Ok(target)
}
