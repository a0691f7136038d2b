//! The registry: one row for each queue, link and loss model. A row gives an element its name in scenario files, its
//! reference page, its schema and the way to build it.

use crate::egress::Egress;
use crate::link::loss::{BoxLoss, list, none, uniform};
use crate::link::{BoxLink, Link, seawind, wire};
use crate::params::{self, Params};
use crate::queue::{BoxQueue, QueueDisc, droptail};
use crosswind_base::{ConfigError, Rng, Stage, Streams};
use schemars::{Schema, schema_for};
use serde_json::{Map, Value};

/// What a row builds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Queue,
    Link,
    Loss,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Queue => "queue",
            Kind::Link => "link",
            Kind::Loss => "loss",
        }
    }
    /// What is meant when a scenario names no type.
    pub fn default_type(self) -> &'static str {
        match self {
            Kind::Queue => "droptail",
            Kind::Link => "wire",
            Kind::Loss => "none",
        }
    }
}

/// What building an element needs besides its parameters.
#[derive(Clone, Copy)]
pub struct BuildCx<'a> {
    pub streams: &'a Streams,
    /// Name of the component, e.g. `link/last-hop/forward`; its random streams are named below it.
    pub component: &'a str,
}

impl BuildCx<'_> {
    /// The random stream of one part of the component.
    pub fn rng(&self, part: &str) -> Rng {
        self.streams.named(&format!("{}/{part}", self.component))
    }
}

type BuildFn<T> = fn(&Value, &str, &BuildCx<'_>) -> Result<T, ConfigError>;

#[derive(Clone, Copy)]
enum Build {
    Queue(BuildFn<BoxQueue>),
    Link(BuildFn<BoxLink>),
    Loss(BuildFn<BoxLoss>),
}

/// One element.
pub struct Row {
    pub kind: Kind,
    /// The `type` in scenario files.
    pub name: &'static str,
    pub title: &'static str,
    /// JSON Schema of the parameters.
    pub schema: fn() -> Schema,
    source: &'static str,
    normalise: fn(&Value, &str) -> Result<Value, ConfigError>,
    build: Build,
}

impl Row {
    /// The reference page of the element: the header of its file, in Markdown.
    pub fn doc(&self) -> String {
        let header = self.source.lines().map_while(|l| l.strip_prefix("//!"));
        header.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect::<Vec<_>>().join("\n")
    }
}

fn normalised<P: Params>(value: &Value, path: &str) -> Result<Value, ConfigError> {
    let params: P = params::read(value, path)?;
    Ok(serde_json::to_value(params).expect("parameters are plain data with text keys"))
}

macro_rules! rows {
    ($($kind:ident $name:literal $title:literal $file:literal $params:ty => $build:expr;)*) => {
        &[$(Row {
            kind: Kind::$kind,
            name: $name,
            title: $title,
            schema: || schema_for!($params),
            source: include_str!($file),
            normalise: normalised::<$params>,
            build: Build::$kind(|value, path, cx| {
                let params: $params = params::read(value, path)?;
                let build: fn($params, &BuildCx<'_>) -> _ = $build;
                Ok(Box::new(build(params, cx)))
            }),
        }),*]
    };
}

/// All elements, in the order of the reference.
pub static ROWS: &[Row] = rows! {
    Queue "droptail" "Drop-tail queue" "queue/droptail.rs" droptail::DropTailParams
        => |p, _| droptail::DropTail::new(p);
    Link "wire" "Wire" "link/wire.rs" wire::WireParams
        => |p, _| wire::Wire::new(p);
    Link "seawind" "Seawind link, error-free" "link/seawind.rs" seawind::SeawindParams
        => |p, _| seawind::Seawind::new(p);
    Loss "none" "No loss" "link/loss/none.rs" none::NoLossParams
        => |_, _| none::NoLoss;
    Loss "list" "Listed losses" "link/loss/list.rs" list::ListParams
        => |p, _| list::List::new(p);
    Loss "uniform" "Independent losses" "link/loss/uniform.rs" uniform::UniformParams
        => |p, cx| uniform::Uniform::new(p, cx.rng("loss"));
};

/// Names of one kind, in the order of the reference.
pub fn names(kind: Kind) -> Vec<&'static str> {
    ROWS.iter().filter(|r| r.kind == kind).map(|r| r.name).collect()
}

/// The `type` of an element. `"droptail"` is short for `{ type = "droptail" }`; without a type the kind's default counts.
fn type_of<'a>(kind: Kind, value: &'a Value, path: &str) -> Result<&'a str, ConfigError> {
    match value {
        Value::Null => Ok(kind.default_type()),
        Value::String(name) => Ok(name),
        Value::Object(map) => match map.get("type") {
            None => Ok(kind.default_type()),
            Some(Value::String(name)) => Ok(name),
            Some(other) => Err(ConfigError::new(format!("{path}.type"), other.to_string(), "the name of a type")),
        },
        other => {
            let expected = format!("a {} such as {{ type = \"{}\" }}", kind.name(), kind.default_type());
            Err(ConfigError::new(path, other.to_string(), expected))
        }
    }
}

/// The row that `value` asks for, and its parameters as a table.
fn resolve(kind: Kind, value: &Value, path: &str) -> Result<(&'static Row, Value), ConfigError> {
    let name = type_of(kind, value, path)?;
    let row = ROWS.iter().find(|r| r.kind == kind && r.name == name).ok_or_else(|| {
        let what = format!("a {} type", kind.name());
        ConfigError::unknown(format!("{path}.type"), name, &what, &names(kind))
    })?;
    let table = if value.is_object() { value.clone() } else { Value::Object(Map::new()) };
    Ok((row, table))
}

/// The same element with every default filled in and `type` first.
pub fn normalise(kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
    let (row, table) = resolve(kind, value, path)?;
    let mut full = Map::new();
    full.insert("type".to_string(), Value::String(row.name.to_string()));
    if let Value::Object(params) = (row.normalise)(&table, path)? {
        full.extend(params);
    }
    Ok(Value::Object(full))
}

macro_rules! builder {
    ($(#[$doc:meta])* $name:ident, $kind:ident, $t:ty) => {
        $(#[$doc])*
        pub fn $name(value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<$t, ConfigError> {
            let (row, table) = resolve(Kind::$kind, value, path)?;
            match row.build {
                Build::$kind(build) => build(&table, path, cx),
                _ => unreachable!("rows of a kind build that kind"),
            }
        }
    };
}

builder!(
    /// Builds a queue discipline.
    build_queue, Queue, BoxQueue
);
builder!(
    /// Builds a link.
    build_link, Link, BoxLink
);
builder!(
    /// Builds a loss model.
    build_loss, Loss, BoxLoss
);

/// An egress chosen at run time.
pub type BoxStage = Box<dyn Stage + Send>;

/// Builds the egress of one direction of a link. `path` is the link's path in the scenario; the queue's and the loss
/// model's are below it.
pub fn build_egress(
    queue: &Value,
    link: &Value,
    loss: Option<&Value>,
    path: &str,
    cx: &BuildCx<'_>,
) -> Result<BoxStage, ConfigError> {
    let queue_path = format!("{path}.queue");
    let loss = match loss {
        Some(value) if type_of(Kind::Loss, value, path)? != "none" => {
            Some(build_loss(value, &format!("{path}.loss"), cx)?)
        }
        _ => None,
    };
    let (queue_row, queue_table) = resolve(Kind::Queue, queue, &queue_path)?;
    // The pairs that most runs consist of are compiled as a whole; all others go through two virtual calls.
    match queue_row.name {
        "droptail" => with_link(droptail::DropTail::new(params::read(&queue_table, &queue_path)?), link, loss, path, cx),
        _ => with_link(build_queue(queue, &queue_path, cx)?, link, loss, path, cx),
    }
}

fn with_link<Q: QueueDisc + Send + 'static>(
    queue: Q,
    link: &Value,
    loss: Option<BoxLoss>,
    path: &str,
    cx: &BuildCx<'_>,
) -> Result<BoxStage, ConfigError> {
    let (row, table) = resolve(Kind::Link, link, path)?;
    Ok(match row.name {
        "wire" => join(queue, wire::Wire::new(params::read(&table, path)?), loss),
        "seawind" => join(queue, seawind::Seawind::new(params::read(&table, path)?), loss),
        _ => join(queue, build_link(link, path, cx)?, loss),
    })
}

fn join<Q, L>(queue: Q, link: L, loss: Option<BoxLoss>) -> BoxStage
where
    Q: QueueDisc + Send + 'static,
    L: Link + Send + 'static,
{
    match loss {
        None => Box::new(Egress::new(queue, link)),
        Some(loss) => Box::new(Egress::with_loss(queue, link, loss)),
    }
}
