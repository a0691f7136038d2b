//! The table of TCP parameters in a file: the keys of all groups side by side.

use super::*;
use crosswind_base::{ConfigError, config};
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde_json::{Map, Value};

/// Parameters out of a complete table. Errors carry the path of the key below `path`.
pub fn read(table: &Map<String, Value>, path: &str) -> Result<TcpParams, ConfigError> {
    let mut deal = Deal { table, path, known: Vec::with_capacity(table.len()) };
    let params = TcpParams {
        connection: deal.group()?,
        window: deal.group()?,
        controller: deal.group()?,
        recovery: deal.group()?,
        timers: deal.group()?,
        undo: deal.group()?,
        ecn: deal.group()?,
        host: deal.group()?,
        receiver: deal.group()?,
        sharing: deal.group()?,
    };
    match table.keys().find(|k| !deal.known.contains(&k.as_str())) {
        None => Ok(params),
        Some(key) => Err(ConfigError::unknown(format!("{path}.{key}"), key, "a known key", &deal.known)),
    }
}

/// Deals out the keys of a table to the groups that have them.
struct Deal<'a> {
    table: &'a Map<String, Value>,
    path: &'a str,
    known: Vec<&'static str>,
}

impl Deal<'_> {
    fn group<T: DeserializeOwned>(&mut self) -> Result<T, ConfigError> {
        let mut keys: &[&str] = &[];
        // It refuses once it has heard the keys.
        let _ = T::deserialize(Keys(&mut keys));
        self.known.extend(keys);
        let part = keys.iter().filter_map(|&k| Some((k.to_string(), self.table.get(k)?.clone()))).collect();
        config::read(&Value::Object(part), self.path)
    }
}

/// Hears which keys a struct has, and gives none.
struct Keys<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Keys<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("keys"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
