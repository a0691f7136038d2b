//! Changing one value of a written scenario by its dotted path.
use crosswind_base::ConfigError;
use serde_json::Value;

pub fn set(_s: &mut Value, _path: &str, _value: Value) -> Result<(), ConfigError> {
    Ok(())
}
