//! A part of an element that may be absent: `"none"`, or its parameters.

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Parameters of a part, or `"none"` in its place. Unlike an absent key, `"none"` can end something inherited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Switch<T> {
    #[default]
    Off,
    On(T),
}

impl<T> Switch<T> {
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            Switch::Off => None,
            Switch::On(t) => Some(t),
        }
    }
    pub fn is_off(&self) -> bool {
        matches!(self, Switch::Off)
    }
}

impl<T: Serialize> Serialize for Switch<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Switch::Off => s.serialize_str("none"),
            Switch::On(t) => t.serialize(s),
        }
    }
}

struct SwitchVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SwitchVisitor<T> {
    type Value = Switch<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its parameters, or \"none\"")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Switch<T>, E> {
        if text == "none" {
            return Ok(Switch::Off);
        }
        T::deserialize(StrDeserializer::<E>::new(text)).map(Switch::On).map_err(|e| {
            // Text where a table belongs; other complaints are about the text itself.
            let of_kind = e.to_string().starts_with("invalid type");
            if of_kind { E::custom("expected a table of its parameters, or \"none\"") } else { e }
        })
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Switch<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Switch::On)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Switch<T>, D::Error> {
        d.deserialize_any(SwitchVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Switch<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}OrNone", T::schema_name()).into()
    }
    fn json_schema(g: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let on = g.subschema_for::<T>();
        schemars::json_schema!({"anyOf": [{"const": "none"}, on]})
    }
}
