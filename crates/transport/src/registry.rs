//! The transports, and those of their parts that have a reference page. The elements of TCP have a registry of their own.

use crate::tcp::registry::Row;

pub const ROWS: &[Row] = &[
    Row { kind: "transport", name: "udp", source: include_str!("udp/mod.rs") },
    Row { kind: "transport", name: "tfrc", source: include_str!("tfrc/mod.rs") },
    Row { kind: "transport", name: "tfrc-equation", source: include_str!("tfrc/equation.rs") },
    Row { kind: "transport", name: "tfrc-loss-intervals", source: include_str!("tfrc/history.rs") },
    Row { kind: "transport", name: "udt", source: include_str!("udt/mod.rs") },
    Row { kind: "transport", name: "udt-rate", source: include_str!("udt/law.rs") },
];
