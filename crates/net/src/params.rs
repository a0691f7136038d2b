//! What the parameters of every element have in common: defaults, a schema, and a check that goes beyond types.

use crate::build::Kind;
use crosswind_base::{BitRate, ConfigError, Limit, Setting, Size, config, units};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Fills in all defaults of an element inside another one, whatever its type: kind, table, and where the table stands.
pub type Complete = dyn Fn(Kind, &Value, &str) -> Result<Value, ConfigError>;

/// The parameters of one element.
pub trait Params: Clone + Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Refuses values that have the right type and still make no sense. Paths are relative to the element.
    fn check(&self) -> Result<(), ConfigError>;
    /// Fills in what lies below other tables, such as the queues inside a queue. Called before `check`.
    fn complete(&mut self, _inside: &Complete) -> Result<(), ConfigError> {
        Ok(())
    }
    /// Fills in defaults that depend on other keys, before the parameters are read.
    fn fill(_written: &mut Map<String, Value>) {}
}

/// Reads and checks parameters; `value` may carry the `type` key that chose the element. Tables of elements inside it are left as they are.
pub fn read<P: Params>(value: &Value, path: &str) -> Result<P, ConfigError> {
    read_with(value, path, &|_, inside, _| Ok(inside.clone()))
}

/// The same, with a way to complete what lies inside.
pub fn read_with<P: Params>(value: &Value, path: &str, complete: &Complete) -> Result<P, ConfigError> {
    let mut own = value.clone();
    if let Some(map) = own.as_object_mut() {
        map.shift_remove("type");
        P::fill(map);
    }
    let mut params: P = config::read(&own, path)?;
    params.complete(complete).and_then(|()| params.check()).map_err(|e| e.under(path))?;
    Ok(params)
}

/// The same parameters with new values for some keys, at any depth. The `type` among them can only be the same.
pub fn merged<P: Params>(old: &P, set: &Map<String, Value>) -> Result<P, ConfigError> {
    let mut all = serde_json::to_value(old).expect("parameters are plain data with text keys");
    if let Some(keys) = all.as_object_mut() {
        merge(keys, set);
    }
    read(&all, "")
}

/// The same, ready for the element that it belongs to.
pub fn setting<P: Params>(old: &P, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
    merged(old, set).map(Setting::new)
}

/// Names of distributions: a table with one of them is a value, and is replaced as a whole.
const DRAWN: [&str; 3] = ["fixed", "uniform", "exponential"];

/// Puts new values into a table, at any depth.
pub fn merge(old: &mut Map<String, Value>, set: &Map<String, Value>) {
    let is_value = |v: &Map<String, Value>| DRAWN.iter().any(|d| v.contains_key(*d));
    for (key, new) in set {
        match (old.get_mut(key).and_then(Value::as_object_mut), new.as_object()) {
            (Some(below), Some(new)) if !is_value(below) && !is_value(new) => merge(below, new),
            _ => drop(old.insert(key.clone(), new.clone())),
        }
    }
}

/// No queue or buffer of the laboratory is larger: 1 TB, or 10^9 packets.
const LIMIT_BYTES_MAX: u64 = 1_000_000_000_000;
const LIMIT_PACKETS_MAX: u64 = 1_000_000_000;

/// A queue limit that can hold something and is not a slip of the keyboard.
pub fn check_limit(key: &str, limit: Limit) -> Result<(), ConfigError> {
    let (n, max) = match limit {
        Limit::Bytes(n) => (n, LIMIT_BYTES_MAX),
        Limit::Packets(n) => (n, LIMIT_PACKETS_MAX),
    };
    let found = units::show_limit(limit);
    if n == 0 {
        return Err(ConfigError::new(key, found, "a limit above zero").hint(
            "a buffer of zero size can hold no packet, not even the one being sent; use at least \"1 packets\"",
        ));
    }
    if n > max {
        return Err(ConfigError::new(
            key,
            found,
            format!("at most {LIMIT_PACKETS_MAX} packets or {LIMIT_BYTES_MAX} B"),
        ));
    }
    Ok(())
}

/// A rate that is positive and can be simulated in nanoseconds.
pub fn check_rate(key: &str, rate: BitRate) -> Result<(), ConfigError> {
    if rate.0 == 0 || rate.0 > 10_000_000_000_000 {
        return Err(ConfigError::new(key, units::show_rate(rate), "a rate from 1 bit/s to 10000 Gbit/s"));
    }
    Ok(())
}

/// A delay below one day.
pub fn check_delay(key: &str, delay: crosswind_base::Dur) -> Result<(), ConfigError> {
    if delay > crosswind_base::Dur::from_secs(86_400) {
        return Err(ConfigError::new(key, units::show_dur(delay), "a delay of at most 24 h"));
    }
    Ok(())
}

/// A packet size that an IP packet can have.
pub fn check_packet_size(key: &str, size: Size) -> Result<(), ConfigError> {
    if !(1..=65_535).contains(&size.0) {
        return Err(ConfigError::new(key, units::show_size(size), "a packet size from 1 B to 65535 B"));
    }
    Ok(())
}

/// A number within `low..=high`.
pub fn check_range(key: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(key, value.to_string(), format!("a number from {} to {}", range.start(), range.end())))
}
