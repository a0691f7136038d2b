//! What a run leaves behind: tables, the registry of metric names, event logs, packet captures, the manifest.
//!
//! | module | holds |
//! |---|---|
//! | [`table`] | columns that grow, tables of one run, merging the tables of many runs |
//! | [`class`] | the rows of the classes of queues |
//! | [`metric`] | one row per metric and column: unit, definition, source |
//! | [`eventlog`] | an observer that keeps the events of chosen flows, up to a limit |
//! | [`wire`] | simulated packets as real IPv4, TCP and UDP headers |
//! | [`option`] | the lifetime of a packet as an option of the IP header |
//! | [`pcapng`] | an observer that streams those headers to any writer as a pcapng capture |
//! | [`manifest`] | which code, scenario and seed made the tables, and whether they are to be trusted |
//!
//! Nothing here changes what happens in a run. Nothing here opens a file either: captures go to an
//! [`std::io::Write`] that the caller brings, and tables are turned into files on the Python side.

/// A packet like another one, but for some fields: the tests' short form.
#[cfg(test)]
macro_rules! packet {
    ($like:expr; $($field:ident: $value:expr),*) => {{
        let change = |p: &mut crosswind_base::Packet| {
            $(p.$field = $value;)*
        };
        let mut p = $like;
        change(&mut p);
        p
    }};
}

pub mod class;
pub mod eventfile;
pub mod eventlog;
pub mod manifest;
pub mod metric;
pub mod option;
pub mod pcapng;
pub mod samples;
pub mod table;
pub mod wire;

mod flows;
mod recorder;

pub use eventfile::EventFile;
pub use eventlog::{EVENT_BYTES, EventLimit, EventLog};
pub use flows::Flows;
pub use manifest::{Manifest, Mode, scenario_hash};
pub use metric::{METRICS, Metric, MetricKind, Unit};
pub use pcapng::{PcapngOptions, PcapngSummary, PcapngWriter, Snap, Vantages};
pub use recorder::{Parts, Recorder};
pub use samples::{Entity, Samples};
pub use table::{Cell, Code, Col, Column, ColumnType, RunEnd, RunKey, Sample, Subject, Table, Tables, Text};
pub use wire::{TcpOptions, tcp_header_len};
