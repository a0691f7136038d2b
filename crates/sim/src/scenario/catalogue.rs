//! How a scenario reaches the registries: a narrow view, so that this module knows no queue, link or law by name.

use crosswind_base::ConfigError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The families of elements that a scenario chooses from by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Queue,
    Link,
    Loss,
    Meter,
    /// What holds packets up between queue and link: named by its key in the link, not by a `type`.
    Delayer,
    /// TCP presets; `preset` instead of `type` chooses.
    Tcp,
    /// Presets of the transport of that name, one that sends at a rate; likewise.
    Rate(&'static str),
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Queue => "queue",
            Kind::Link => "link",
            Kind::Loss => "loss",
            Kind::Meter => "meter",
            Kind::Delayer => "delayer",
            Kind::Tcp => "tcp",
            Kind::Rate(name) => name,
        }
    }
    /// The key that names the row.
    pub fn key(self) -> &'static str {
        if matches!(self, Kind::Tcp | Kind::Rate(_)) { "preset" } else { "type" }
    }
}

/// One element that can be chosen.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: &'static str,
    pub title: String,
    /// JSON Schema of its parameters.
    pub schema: Value,
}

/// What a scenario needs to know of the registries.
pub trait Catalogue {
    fn rows(&self, kind: Kind) -> Vec<Row>;
    /// Transports beside those that are built in: whoever runs the plan brings them.
    fn brought(&self) -> Vec<&str> {
        Vec::new()
    }
    /// `value` (an object that names its row) with all defaults filled in; doing it twice changes nothing.
    fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError>;
}

/// Remembers what a catalogue has answered while a scenario is read: thousands of flows have a handful of tables.
pub(super) struct Remembering<'a> {
    pub(super) cat: &'a dyn Catalogue,
    /// By kind and the table as JSON.
    answers: BTreeMap<(Kind, String), Value>,
}

impl<'a> Remembering<'a> {
    pub(super) fn new(cat: &'a dyn Catalogue) -> Self {
        Remembering { cat, answers: BTreeMap::new() }
    }

    /// As [`Catalogue::normalise`]. What is refused is refused anew: its message has a path.
    pub(super) fn normalise(&mut self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
        Ok(match self.answers.entry((kind, value.to_string())) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => place.insert(self.cat.normalise(kind, value, path)?).clone(),
        })
    }
}

/// The names of the parameters of one row, or nothing when there is no such row.
pub(super) fn parameters(cat: &dyn Catalogue, kind: Kind, name: &str) -> Option<Vec<String>> {
    let row = cat.rows(kind).into_iter().find(|r| r.name == name)?;
    let keys = row.schema.get("properties").and_then(Value::as_object);
    Some(keys.map(|m| m.keys().cloned().collect()).unwrap_or_default())
}

/// The object at `path`, or an error that says what stands there.
pub(super) fn object<'a>(value: &'a Value, path: &str, expected: &str) -> Result<&'a Map<String, Value>, ConfigError> {
    value.as_object().ok_or_else(|| ConfigError::new(path, shown(value), expected))
}

/// A value as an error message shows it: short.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 60 { format!("{}...", text.chars().take(57).collect::<String>()) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::Cell;

    /// Counts what it is asked, and refuses tables with the key `wrong`.
    #[derive(Default)]
    struct Counting(Cell<u32>);

    impl Catalogue for Counting {
        fn rows(&self, _: Kind) -> Vec<Row> {
            Vec::new()
        }

        fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
            self.0.set(self.0.get() + 1);
            match value.get("wrong") {
                Some(_) => Err(ConfigError::new(format!("{path}.wrong"), "`wrong`", "another key")),
                None => Ok(json!({ "kind": kind.word(), "number": self.0.get() })),
            }
        }
    }

    #[test]
    fn equal_tables_of_one_kind_are_read_once_and_refused_ones_are_told_by_their_own_path() {
        let counting = Counting::default();
        let mut cat = Remembering::new(&counting);
        let mut of = |kind, table: &Value, path| cat.normalise(kind, table, path);
        let table = json!({ "preset": "rfc" });
        let first = of(Kind::Tcp, &table, "flow.a.tcp").unwrap();
        assert_eq!(of(Kind::Tcp, &table, "flow.b.tcp").unwrap(), first);
        assert_ne!(of(Kind::Queue, &table, "link.c.queue").unwrap(), first);
        assert_ne!(of(Kind::Tcp, &json!({ "preset": "rfc", "mss": "1000 B" }), "flow.d.tcp").unwrap(), first);
        for path in ["flow.e.tcp", "flow.f.tcp"] {
            assert_eq!(of(Kind::Tcp, &json!({ "wrong": 1 }), path).unwrap_err().path, format!("{path}.wrong"));
        }
        assert_eq!(counting.0.get(), 5, "the first table of each kind, and each that is refused");
    }
}
