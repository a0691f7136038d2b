//! What a stack that is built in tells of itself.

use crosswind_base::ConfigError;
use crosswind_transport::stack::Maker;
use serde_json::Value;

/// From the keys of a scenario without `type`, and where they stand, to all of its parameters and what makes its ends.
pub type Read = fn(&Value, &str) -> Result<(Value, Maker), ConfigError>;

/// What a stack that is built in is, and what reads its parameters.
pub struct Release {
    pub name: &'static str,
    pub read: Read,
    /// Whether it can log what it does (qlog).
    pub logs: bool,
}

/// A stack that is built in; its name is that of `transport = { type = ".." }`.
pub type Row = crosswind_base::registry::Row<&'static str, Release>;
