//! Classification: which class of a classful discipline a packet belongs to.
//!
//! Filters are tried in order; the first that matches decides. All keys of a filter must hold; a list stands for any of
//! its elements. What no filter takes goes to the default class.

use crate::build::BuildCx;
pub use crate::build::FlowNames;
use crosswind_base::packet::Proto;
use crosswind_base::{ConfigError, Dscp, Ecn, Packet, Size, units};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::ops::Range;

/// One value, or a list of which any may match.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyOf<T>(Vec<T>);

impl<T> AnyOf<T> {
    pub fn items(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for AnyOf<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let items = match Value::deserialize(d)? {
            Value::Array(items) if items.is_empty() => return Err(D::Error::custom("expected at least one value")),
            Value::Array(items) => items,
            one => vec![one],
        };
        let read = |v: Value| serde_json::from_value(v).map_err(D::Error::custom);
        items.into_iter().map(read).collect::<Result<_, _>>().map(AnyOf)
    }
}

impl<T: Serialize> Serialize for AnyOf<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(s),
            many => many.serialize(s),
        }
    }
}

impl<T: JsonSchema> JsonSchema for AnyOf<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("AnyOf{}", T::schema_name()).into()
    }
    fn json_schema(g: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = g.subschema_for::<T>();
        schemars::json_schema!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})
    }
}

/// A transport protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    Tcp,
    Udp,
}

/// Whether a packet carries application data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    None,
    Some,
}

/// A codepoint of the ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    NotEct,
    Ect0,
    Ect1,
    Ce,
}

impl Codepoint {
    fn ecn(self) -> Ecn {
        match self {
            Codepoint::NotEct => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
            Codepoint::Ce => Ecn::Ce,
        }
    }
}

/// Which packets go to a class.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// The class that matching packets belong to.
    pub class: String,
    /// Groups of flows or single flows, both directions. A group stands for what a port number says on a real network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<AnyOf<String>>,
    /// Code points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<AnyOf<Dscp>>,
    /// Codepoints of ECN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<AnyOf<Codepoint>>,
    /// Transport protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proto: Option<Protocol>,
    /// Least length of the packet, IP header included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_min: Option<Size>,
    /// Greatest length of the packet, IP header included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_max: Option<Size>,
    /// With data, or without (pure acknowledgements, SYN, FIN).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
}

impl Filter {
    fn takes_all(&self) -> bool {
        let Filter { class: _, flow, dscp, ecn, proto, size_min, size_max, payload } = self;
        flow.is_none()
            && dscp.is_none()
            && ecn.is_none()
            && proto.is_none()
            && size_min.is_none()
            && size_max.is_none()
            && payload.is_none()
    }
}

/// The classes of a discipline, as filters see them.
pub struct Classes<'a> {
    /// Those that packets can belong to.
    pub leaves: Vec<&'a str>,
    /// Those with classes below them.
    pub inner: Vec<&'a str>,
}

impl Classes<'_> {
    /// A class that holds packets, by name.
    fn leaf(&self, name: &str, path: &str) -> Result<usize, ConfigError> {
        if let Some(i) = self.leaves.iter().position(|l| *l == name) {
            return Ok(i);
        }
        if self.inner.contains(&name) {
            let expected = format!("a class without classes below it: one of {}", self.leaves.join(", "));
            return Err(ConfigError::new(path, format!("`{name}`, which has classes below it"), expected));
        }
        Err(ConfigError::unknown(path, name, "a class of this queue", &self.leaves))
    }

    /// Whether filters and default fit the classes, and every class gets something.
    pub fn check(&self, filters: &[Filter], default: Option<&str>) -> Result<(), ConfigError> {
        let mut reached = vec![false; self.leaves.len()];
        let mut catch_all = None;
        for (i, f) in filters.iter().enumerate() {
            let path = format!("filter[{i}]");
            let class = self.leaf(&f.class, &format!("{path}.class"))?;
            if let Some(earlier) = catch_all {
                let found = format!("a filter behind filter[{earlier}], which takes every packet");
                return Err(ConfigError::new(path, found, "the filter without conditions at the end"));
            }
            if let (Some(min), Some(max)) = (f.size_min, f.size_max)
                && min > max
            {
                let expected = format!("at most size_max ({})", units::show_size(max));
                return Err(ConfigError::new(format!("{path}.size_min"), units::show_size(min), expected));
            }
            reached[class] = true;
            catch_all = f.takes_all().then_some(i);
        }
        match default {
            Some(name) => reached[self.leaf(name, "default")?] = true,
            None if catch_all.is_some() => {}
            None if self.leaves.len() == 1 => reached[0] = true,
            None => {
                let expected = format!("the class of packets that no filter takes: one of {}", self.leaves.join(", "));
                return Err(ConfigError::new("default", "nothing", expected));
            }
        }
        match reached.iter().position(|r| !r) {
            None => Ok(()),
            Some(i) => {
                let name = self.leaves[i];
                Err(ConfigError::new(format!("class.{name}"), "a class that no filter reaches", "a filter to it")
                    .hint(format!("add {{ class = \"{name}\", .. }} to `filter`, or make it the `default`")))
            }
        }
    }

    /// The classifier of checked filters; classes are numbered as in `leaves`.
    pub fn compile(
        &self,
        filters: &[Filter],
        default: Option<&str>,
        cx: &BuildCx<'_>,
    ) -> Result<Classifier, ConfigError> {
        let rule = |(i, f): (usize, &Filter)| -> Result<Rule, ConfigError> {
            let path = format!("filter[{i}]");
            Ok(Rule {
                flows: f.flow.as_ref().map(|names| flow_ids(&names.0, &format!("{path}.flow"), cx)).transpose()?,
                dscps: f.dscp.as_ref().map(|d| d.0.iter().fold(0, |set, d| set | 1 << d.bits())),
                ecns: f.ecn.as_ref().map(|e| e.0.iter().fold(0, |set, e| set | 1 << e.ecn() as u8)),
                proto: f.proto.map(|p| if p == Protocol::Udp { Proto::UDP } else { Proto::Tcp }),
                len: f.size_min.map_or(0, |s| s.0)..=f.size_max.map_or(u64::MAX, |s| s.0),
                payload: f.payload,
                class: self.leaf(&f.class, &format!("{path}.class"))?,
            })
        };
        let rules = filters.iter().enumerate().map(rule).collect::<Result<_, _>>()?;
        let default = default.map_or(Ok(0), |name| self.leaf(name, "default"))?;
        Ok(Classifier { rules, default })
    }
}

fn flow_ids(names: &[String], path: &str, cx: &BuildCx<'_>) -> Result<Vec<Range<u32>>, ConfigError> {
    let mut all = Vec::new();
    for name in names {
        let ids = cx.flows().and_then(|flows| flows.ids(name));
        let groups = cx.flows().map(|flows| flows.groups()).unwrap_or_default();
        all.extend(ids.ok_or_else(|| ConfigError::unknown(path, name, "a flow or a group of flows", &groups))?);
    }
    Ok(all)
}

/// One filter, ready to be asked.
#[derive(Clone, Debug)]
struct Rule {
    flows: Option<Vec<Range<u32>>>,
    /// One bit for each code point.
    dscps: Option<u64>,
    /// One bit for each codepoint.
    ecns: Option<u8>,
    proto: Option<Proto>,
    len: std::ops::RangeInclusive<u64>,
    payload: Option<Payload>,
    class: usize,
}

impl Rule {
    fn matches(&self, p: &Packet) -> bool {
        let payload = if p.payload == 0 { Payload::None } else { Payload::Some };
        self.flows.as_ref().is_none_or(|ranges| ranges.iter().any(|r| r.contains(&p.flow.0)))
            && self.dscps.is_none_or(|set| set >> p.dscp().bits() & 1 == 1)
            && self.ecns.is_none_or(|set| set >> p.ecn() as u8 & 1 == 1)
            && self.proto.is_none_or(|proto| proto.number() == p.proto.number())
            && self.len.contains(&(p.len as u64))
            && self.payload.is_none_or(|wanted| wanted == payload)
    }
}

/// Filters and default class, compiled.
#[derive(Clone, Debug)]
pub struct Classifier {
    rules: Vec<Rule>,
    default: usize,
}

impl Classifier {
    /// The class of a packet, as a number.
    #[inline]
    pub fn class_of(&self, p: &Packet) -> usize {
        self.rules.iter().find(|r| r.matches(p)).map_or(self.default, |r| r.class)
    }
}
