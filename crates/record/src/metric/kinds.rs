//! What a row of the registry of metrics says.

use serde::Serialize;

/// Where a metric appears.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// A column of the table `run`: one row per run.
    Run,
    /// A column of the table `flow`: one row per flow and run.
    Flow,
    /// A column of the table `page`: one row per web page and run.
    Page,
    /// A column of the table `object`: one row per object of a web page and run.
    Object,
    /// A column of the table `link`: one row per direction of a link and run.
    Link,
    /// A column of the table `class`: one row per class of the queue of a link's direction and run, or kind of its flow queues.
    Class,
    /// A column of the table `boundary`: one row per flow with a contract at the boundary of a domain and run.
    Boundary,
    /// A name in the column `metric` of the table `sample`.
    Sample,
    /// A name in the column `metric` of the table `hist`.
    Hist,
    /// A column that says what the row of a table is about, or holds what its `metric` or `kind` names.
    Column,
}

/// What a metric is measured in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds of the run's clock.
    Ns,
    Bytes,
    /// Bits per second.
    #[serde(rename = "bps")]
    BitsPerSecond,
    /// Bytes per second.
    #[serde(rename = "Bps")]
    BytesPerSecond,
    Packets,
    Segments,
    /// A share of one.
    Ratio,
    /// How many times something happened.
    Count,
    /// The number of a thing, counted from zero, or a seed.
    Index,
    Text,
    /// The unit in which the name in the columns `metric` or `kind` of the same row ends.
    Varies,
}

impl Unit {
    /// What the names of such metrics end in.
    pub fn suffix(self) -> Option<&'static str> {
        match self {
            Unit::Ns => Some("ns"),
            Unit::Bytes => Some("bytes"),
            Unit::BitsPerSecond => Some("bps"),
            Unit::BytesPerSecond => Some("Bps"),
            Unit::Packets => Some("packets"),
            Unit::Segments => Some("segments"),
            Unit::Ratio => Some("ratio"),
            Unit::Count | Unit::Index | Unit::Text | Unit::Varies => None,
        }
    }
}

/// One row of the registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Metric {
    pub name: &'static str,
    pub unit: Unit,
    pub kind: MetricKind,
    pub definition: &'static str,
    /// An RFC, a key of the bibliography, or "Crosswind" for the bookkeeping of this program.
    pub source: &'static str,
}
