//! The transports, and those of their parts that have a reference page. The elements of TCP have a registry of their own.

use crosswind_base::registry::Row;

pub const ROWS: &[Row] = &[
    Row::page("transport", "udp", include_str!("udp/mod.rs")),
    Row::page("transport", "tfrc", include_str!("tfrc/mod.rs")),
    Row::page("transport", "tfrc-equation", include_str!("tfrc/equation.rs")),
    Row::page("transport", "tfrc-loss-intervals", include_str!("tfrc/history.rs")),
    Row::page("transport", "udt", include_str!("udt/mod.rs")),
    Row::page("transport", "udt-rate", include_str!("udt/law.rs")),
];
