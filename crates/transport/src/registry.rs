//! UDP, and parts of transports that have a reference page. Transports that send at a rate stand in a table of their own
//! ([`crate::rate::table`]), the elements of TCP in another.

use crosswind_base::registry::Row;

pub const ROWS: &[Row] = &[
    Row::page("transport", "udp", include_str!("udp/mod.rs")),
    Row::page("transport", "tfrc-equation", include_str!("tfrc/equation.rs")),
    Row::page("transport", "tfrc-loss-intervals", include_str!("tfrc/history.rs")),
    Row::page("transport", "udt-rate", include_str!("udt/law.rs")),
];
