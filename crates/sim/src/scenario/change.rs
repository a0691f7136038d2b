//! Changes during a run as a plan has them: what is new for one egress or one flow from one moment on.

use super::lifetime::LifetimeParams;
use super::workloads::WorkloadParams;
use crosswind_base::{Dscp, Setting, Time};
use crosswind_transport::tcp::TcpParams;
use serde_json::{Map, Value};
use std::sync::Arc;

type Keys = Map<String, Value>;

/// What changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// Index into [`Plan::egresses`].
    Egress(u32),
    /// Index into [`Plan::flows`].
    Flow(u32),
}

impl Target {
    pub fn egress(self) -> Option<u32> {
        match self {
            Target::Egress(i) => Some(i),
            Target::Flow(_) => None,
        }
    }
}

/// Which end of a connection drops it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AbortedBy {
    Sender,
    Receiver,
}

/// One change of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub at: Time,
    pub target: Target,
    /// As it is written.
    pub set: Keys,
    /// Of an egress: the new parameters.
    pub setting: Option<Setting>,
    /// The end of the flow that drops its connection.
    pub abort: Option<AbortedBy>,
    /// Of a flow: what it is from then on.
    pub of_flow: OfFlow,
    /// Where it stands in the scenario.
    pub entry: u32,
}

impl Change {
    pub fn path(&self) -> String {
        format!("timeline[{}].set", self.entry)
    }
}

/// What is new for a flow from one moment on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfFlow {
    pub workload: Option<Changed>,
    pub tcp: Option<Arc<TcpParams>>,
    pub paced: Option<Setting>,
    pub dscp: Option<Dscp>,
    pub lifetime: Option<LifetimeParams>,
}

/// A workload before and after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub before: WorkloadParams,
    pub now: WorkloadParams,
}
