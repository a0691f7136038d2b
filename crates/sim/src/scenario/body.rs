//! The body of a link: queue, link and loss of both directions, with the inheritance from forward to reverse.
//!
//! The reverse direction inherits every key of the forward one. Under `reverse` a key replaces the inherited one,
//! except that `queue` and `loss` tables of the same `type` are merged key by key. A reverse link of another `type`
//! inherits the keys that it knows. `loss = "none"` ends an inherited loss.

use super::catalogue::{Catalogue, Kind, object, parameters, shown};
use crosswind_base::units::{parse_dur, parse_rate};
use crosswind_base::{BitRate, ConfigError, Dur};
use crosswind_net::link::delayer::KEYS;
use crosswind_net::profile;
use crosswind_net::registry::Parts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

type Keys = Map<String, Value>;

/// Which way along a duplex link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Forward,
    Reverse,
}

impl Direction {
    pub fn word(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }
}

/// What one direction of a link is made of. All values name their row and hold every default.
#[derive(Clone, Debug, PartialEq)]
pub struct EgressSpec {
    pub link: Value,
    pub queue: Value,
    pub loss: Option<Value>,
    /// The keys that hold packets up between queue and link, with their tables.
    pub delayers: Value,
    /// The `rate` of the link, for types that have one.
    pub rate: Option<BitRate>,
    /// The `delay` of the link; zero for types that have none.
    pub delay: Dur,
}

impl EgressSpec {
    /// As the registry wants it.
    pub fn parts(&self) -> Parts<'_> {
        Parts { queue: &self.queue, link: &self.link, loss: self.loss.as_ref(), delayers: &self.delayers }
    }
    /// Whether a reset that crosses it empties the queue of the other direction.
    pub fn resets(&self) -> bool {
        self.delayers.get("fast_reset").is_some()
    }
    /// How many classes its queue and those inside it name.
    pub fn classes(&self) -> u64 {
        classes_of(&self.queue)
    }
    /// Whether senders are told of packets that it does not take.
    pub fn answers(&self) -> bool {
        self.delayers.get("path_mtu").is_some()
    }
}

fn classes_of(queue: &Value) -> u64 {
    let inside = |class: &Value| 1 + class.get("queue").map_or(0, classes_of);
    let of = queue.get("class").and_then(Value::as_object);
    of.map_or_else(|| queue.get("queue").map_or(0, classes_of), |named| named.values().map(inside).sum())
}

/// Both directions of a link. Links made from one template share their specifications.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    pub forward: Arc<EgressSpec>,
    pub reverse: Arc<EgressSpec>,
}

/// The body of a link that differs from another in the keys that are written. Written out it leaves nothing to inherit.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing(pub Body);

const DEFAULT_LINK: &str = "wire";
const DEFAULT_QUEUE: &str = "droptail";
/// Ends what is inherited.
const NONE: &str = "none";

impl Body {
    /// Reads the keys of a link; `from` and `to` are no part of its body.
    pub(super) fn read(keys: &Keys, cat: &dyn Catalogue, path: &str) -> Result<Body, ConfigError> {
        let keys = &expanded(keys, path)?;
        let forward = Written::split(keys);
        let mut reverse = forward.clone();
        let below = format!("{path}.reverse");
        if let Some(over) = keys.get("reverse") {
            let over = object(over, &below, "a table of keys that differ in the reverse direction")?;
            if over.contains_key("reverse") {
                return Err(ConfigError::new(format!("{below}.reverse"), "`reverse`", "no further reverse direction"));
            }
            reverse.override_with(&Written::split(over), cat);
        }
        let forward = Arc::new(forward.resolve(cat, path)?);
        let reverse = match keys.get("reverse") {
            None => forward.clone(),
            Some(_) => Arc::new(reverse.resolve(cat, &below)?),
        };
        Ok(Body { forward, reverse })
    }

    /// As [`Body::read`], but what `over` does not say is as in `base`, which has been read without an error. A link or
    /// a reverse direction of another type inherits nothing.
    pub(super) fn read_over(base: &Keys, over: &Keys, cat: &dyn Catalogue, path: &str) -> Result<Body, ConfigError> {
        let (mut all, over) = (expanded(base, path)?, expanded(over, path)?);
        let wire = Value::from(DEFAULT_LINK);
        let own = |keys: &Keys| keys.get("type").cloned();
        let kind = own(&all).unwrap_or(wire);
        if own(&over).is_some_and(|t| t != kind) {
            return Body::read(&over, cat, path);
        }
        let reverse = |keys: &Keys| own(keys.get("reverse")?.as_object()?);
        if reverse(&over).is_some_and(|t| t != reverse(&all).unwrap_or(kind)) {
            all.remove("reverse");
        }
        overlay(&mut all, over);
        Body::read(&all, cat, path)
    }

    /// Every key of the link except its ends.
    pub(super) fn to_map(&self) -> Keys {
        let mut map = side(&self.forward);
        if self.forward != self.reverse {
            let mut reverse = side(&self.reverse);
            if self.forward.loss.is_some() && self.reverse.loss.is_none() {
                reverse.insert("loss".into(), NONE.into());
            }
            for (key, _) in KEYS {
                if self.forward.delayers.get(key).is_some() && self.reverse.delayers.get(key).is_none() {
                    reverse.insert(key.into(), NONE.into());
                }
            }
            map.insert("reverse".into(), Value::Object(reverse));
        }
        map
    }
}

impl serde::Serialize for Body {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.to_map().serialize(s)
    }
}

impl schemars::JsonSchema for Body {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LinkBody".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        written_body_schema(&[])
    }
}

impl serde::Serialize for Differing {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let whole = |spec: &EgressSpec| {
            let mut keys = side(spec);
            for key in KEYS.iter().map(|(key, _)| *key).chain(["loss"]) {
                keys.entry(key).or_insert(NONE.into());
            }
            keys
        };
        let mut map = whole(&self.0.forward);
        map.insert("reverse".into(), Value::Object(whole(&self.0.reverse)));
        map.serialize(s)
    }
}

impl schemars::JsonSchema for Differing {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LinkDifference".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        written_body_schema(&[])
    }
}

/// A place holder for the schema of a link with some further required keys; `schema.rs` adds the keys of each `type`.
pub(super) fn written_body_schema(ends: &[(&str, &str)]) -> schemars::Schema {
    let ends: Keys = ends
        .iter()
        .map(|(k, text)| (k.to_string(), serde_json::json!({"type": "string", "description": text})))
        .collect();
    let required: Vec<&String> = ends.keys().collect();
    schemars::json_schema!({"type": "object", "x-link-body": true, "properties": ends, "required": required})
}

fn side(spec: &EgressSpec) -> Keys {
    let mut map = spec.link.as_object().cloned().unwrap_or_default();
    map.insert("queue".into(), spec.queue.clone());
    if let Some(loss) = &spec.loss {
        map.insert("loss".into(), loss.clone());
    }
    map.extend(spec.delayers.as_object().cloned().unwrap_or_default());
    map
}

/// One direction as written.
#[derive(Clone)]
struct Written {
    link: Keys,
    queue: Option<Value>,
    loss: Option<Value>,
    delayers: Keys,
}

impl Written {
    fn split(keys: &Keys) -> Written {
        const OTHERS: [&str; 3] = ["queue", "loss", "reverse"];
        let is_delayer = |k: &str| KEYS.iter().any(|(key, _)| *key == k);
        let own = keys.iter().filter(|(k, _)| !OTHERS.contains(&k.as_str()) && !is_delayer(k));
        let delayers = keys.iter().filter(|(k, _)| is_delayer(k));
        Written {
            link: own.map(|(k, v)| (k.clone(), v.clone())).collect(),
            queue: keys.get("queue").map(|q| if q.is_array() { q.clone() } else { spelled_out(q) }),
            loss: keys.get("loss").map(spelled_out),
            delayers: delayers.map(|(k, v)| (k.clone(), v.clone())).collect(),
        }
    }

    fn override_with(&mut self, over: &Written, cat: &dyn Catalogue) {
        let name = |keys: &Keys| keys.get("type").and_then(Value::as_str).unwrap_or(DEFAULT_LINK).to_string();
        if over.link.contains_key("type")
            && name(&over.link) != name(&self.link)
            && let Some(known) = parameters(cat, Kind::Link, &name(&over.link))
        {
            self.link.retain(|k, _| known.iter().any(|n| n == k));
        }
        self.link.extend(over.link.clone());
        self.queue = merged(self.queue.take(), over.queue.clone(), Some(DEFAULT_QUEUE));
        self.loss = merged(self.loss.take(), over.loss.clone(), None);
        self.delayers.extend(over.delayers.clone());
    }

    fn resolve(&self, cat: &dyn Catalogue, path: &str) -> Result<EgressSpec, ConfigError> {
        let link = cat.normalise(Kind::Link, &named(&self.link, DEFAULT_LINK), path)?;
        let at = format!("{path}.queue");
        let queue = match &self.queue {
            None => named(&Keys::new(), DEFAULT_QUEUE),
            Some(q) => {
                named(object(q, &at, "a table such as { type = \"droptail\", limit = \"20 packets\" }")?, DEFAULT_QUEUE)
            }
        };
        let queue = cat.normalise(Kind::Queue, &queue, &at)?;
        let loss = self.resolve_loss(cat, &format!("{path}.loss"))?;
        let delayers = self.resolve_delayers(cat, path)?;
        let text = |key: &str| link.get(key).and_then(Value::as_str).map(String::from);
        let (rate, delay) = (text("rate"), text("delay"));
        Ok(EgressSpec {
            rate: rate.and_then(|t| parse_rate(&t)),
            delay: delay.and_then(|t| parse_dur(&t)).unwrap_or(Dur::ZERO),
            link,
            queue,
            loss,
            delayers,
        })
    }

    fn resolve_delayers(&self, cat: &dyn Catalogue, path: &str) -> Result<Value, ConfigError> {
        let mut all = Keys::new();
        for (key, row) in KEYS {
            let Some(written) = self.delayers.get(key).filter(|v| v.as_str() != Some(NONE)) else { continue };
            let at = format!("{path}.{key}");
            let keys = object(written, &at, "a table, or \"none\"")?;
            if let Some(own) = keys.get("type") {
                return Err(ConfigError::new(format!("{at}.type"), shown(own), "no type: there is one kind"));
            }
            let full = cat.normalise(Kind::Delayer, &named(keys, row), &at)?;
            let full = full.as_object().into_iter().flatten().filter(|(k, _)| *k != "type");
            all.insert(key.into(), Value::Object(full.map(|(k, v)| (k.clone(), v.clone())).collect()));
        }
        Ok(Value::Object(all))
    }

    fn resolve_loss(&self, cat: &dyn Catalogue, at: &str) -> Result<Option<Value>, ConfigError> {
        let Some(written) = &self.loss else { return Ok(None) };
        let keys = object(written, at, "a table with a `type`, a list of such tables, or \"none\"")?;
        match keys.get("type") {
            None => Err(ConfigError::new(format!("{at}.type"), "nothing", "the type of the loss")),
            Some(Value::String(t)) if t == NONE && keys.len() == 1 => Ok(None),
            Some(Value::String(_)) => cat.normalise(Kind::Loss, written, at).map(Some),
            Some(other) => Err(ConfigError::new(format!("{at}.type"), shown(other), "the name of a loss, as text")),
        }
    }
}

/// The keys of a link with those of its `profile` filled in. What is written stands above the profile; `queue`, `loss` and
/// `reverse` are merged key by key.
pub(super) fn expanded(keys: &Keys, path: &str) -> Result<Keys, ConfigError> {
    let Some(name) = keys.get("profile") else { return Ok(keys.clone()) };
    let at = format!("{path}.profile");
    let Some(name) = name.as_str() else {
        return Err(ConfigError::new(at, shown(name), "the name of a profile, as text"));
    };
    let mut all = profile::body(name, &at)?;
    let written: Keys = keys.iter().filter(|(k, _)| *k != "profile").map(|(k, v)| (k.clone(), v.clone())).collect();
    overlay(&mut all, written);
    Ok(all)
}

/// Puts `over` above `base`.
fn overlay(base: &mut Keys, over: Keys) {
    for (key, value) in over {
        let default = match key.as_str() {
            "queue" => Some(DEFAULT_QUEUE),
            "loss" => None,
            "reverse" => {
                match (base.get_mut("reverse"), value) {
                    (Some(Value::Object(b)), Value::Object(o)) => overlay(b, o),
                    (_, value) => {
                        base.insert(key, value);
                    }
                }
                continue;
            }
            _ => {
                base.insert(key, value);
                continue;
            }
        };
        let below = base.get(&key).map(spelled_out);
        if let Some(both) = merged(below, Some(spelled_out(&value)), default) {
            base.insert(key, both);
        }
    }
}

/// A bare name is short for a table with this `type`, and a list (of losses) for all of them together.
fn spelled_out(value: &Value) -> Value {
    match value {
        Value::Array(of) => serde_json::json!({"type": "several", "of": of}),
        Value::String(name) => serde_json::json!({"type": name}),
        other => other.clone(),
    }
}

/// `keys` with `type` filled in.
fn named(keys: &Keys, default: &str) -> Value {
    let mut all = Keys::new();
    all.insert("type".into(), default.into());
    all.extend(keys.clone());
    Value::Object(all)
}

/// The inherited table with the keys of `over`; or `over` alone when it is of another type.
fn merged(base: Option<Value>, over: Option<Value>, default: Option<&str>) -> Option<Value> {
    let Some(over) = over else { return base };
    let name = |v: &Value| v.get("type").and_then(Value::as_str).or(default).map(String::from);
    match (base, over) {
        (Some(Value::Object(mut b)), Value::Object(o)) => {
            let of_base = name(&Value::Object(b.clone()));
            let of_over = name(&Value::Object(o.clone()));
            if o.contains_key("type") && of_base != of_over {
                return Some(Value::Object(o));
            }
            b.extend(o);
            Some(Value::Object(b))
        }
        (_, over) => Some(over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn classes_that_a_queue_names_take_room_at_any_depth() {
        let inner = json!({"type": "prio", "default": "b", "class": {"a": {"prio": 1}, "b": {"prio": 2}}});
        let queue = json!({"type": "prio", "default": "c", "class": {"c": {"prio": 1, "queue": inner}}});
        assert_eq!(classes_of(&queue), 3);
        assert_eq!(classes_of(&json!({"type": "tbf", "rate": "1 Mbit/s", "queue": inner})), 2);
        assert_eq!(classes_of(&json!({"type": "droptail"})), 0);
    }
}
