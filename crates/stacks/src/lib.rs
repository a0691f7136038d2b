//! Stacks of other people as ends of flows, in virtual time: unmodified releases that are told the time, draw from seeds and
//! encrypt nothing.
//!
//! Each is a [`Stack`](crosswind_transport::stack::Stack). What hides randomness in them, and what is done about it, is in
//! `docs/how-to/stacks.md`.

#[cfg(feature = "quinn")]
pub mod quinn;

use crosswind_base::ConfigError;
use crosswind_transport::stack::Maker;
use schemars::Schema;
use serde_json::Value;

/// From the keys of a scenario without `type`, and where they stand, to all of its parameters and what makes its ends.
pub type Read = fn(&Value, &str) -> Result<(Value, Maker), ConfigError>;

/// A stack that is built in.
pub struct Row {
    /// What scenarios call it: `transport = { type = ".." }`.
    pub name: &'static str,
    /// What exactly it is.
    pub release: &'static str,
    pub schema: fn() -> Schema,
    pub read: Read,
}

/// Every stack that is built in.
pub const ROWS: &[Row] = &[
    #[cfg(feature = "quinn")]
    quinn::ROW,
];
