//! What makes the two ends of a flow.

use super::endpoint::FlowEnd;
use super::own::Own;
use super::port::Setup;
use super::workload::App;
use crate::scenario::{BroughtPlan, GroupPlan};
use crosswind_base::ConfigError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What makes the ends of the flows of one group; its parameters have been read and checked.
pub trait Ends: Send + Sync {
    /// One end, with its application; `s.seen` says which.
    fn end(&self, app: App, s: &Setup, group: &GroupPlan, own: &Own<'_>) -> FlowEnd;
}

/// Reads the parameters of a transport: those that stand beside `type`.
pub type Reads = Arc<dyn Fn(&BroughtPlan) -> Result<Arc<dyn Ends>, ConfigError> + Send + Sync>;

/// Transports that a program brings, by the name that `transport.type` has in scenarios.
pub type Brought = BTreeMap<String, Reads>;
