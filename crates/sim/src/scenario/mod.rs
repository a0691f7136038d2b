//! Scenario files: what to run.
//!
//! A scenario passes through three forms, each checked before the next is made:
//!
//! 1. **written**: JSON (the Python side turns TOML into it), with defaults left out and links hidden in a template;
//! 2. [`Scenario`]: typed, every default filled in; this is what [`parse()`] returns and [`normalise`] writes;
//! 3. [`Plan`]: flat tables of nodes, egresses, routes and flows, from which a world is built many times.
//!
//! The types in `types.rs` are the only description of the format; [`json_schema`] is generated from them. Parameters
//! of queues, links, losses and TCP belong to their registries, reached through [`Catalogue`].

mod body;
mod boundary;
mod build;
mod catalogue;
mod change;
mod check;
mod compile;
mod domains;
mod draw;
mod emulate;
mod files;
mod former;
mod host_queue;
mod lifetime;
mod limits;
mod lookup;
mod names;
mod parse;
mod plan;
mod queues;
mod registries;
mod retuned;
mod routes;
mod schema;
mod set;
mod sharing;
mod stacks;
mod start;
mod timed;
mod timeline;
mod topology;
mod transport;
mod types;
mod work;
mod workloads;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod schema_check;
#[cfg(test)]
mod tests;

pub use body::{Body, Differing, Direction, EgressSpec};
pub use catalogue::{Catalogue, Kind, Row};
pub use change::{AbortedBy, Change, Changed, OfFlow, Target};
pub use compile::compile;
pub use domains::{BoundaryPlan, Contract, Crossing, Domain, Recording, RulePlan};
pub use draw::Draw;
pub use emulate::{Emulate, Serve};
pub use files::check_path;
pub use host_queue::HostQueueParams;
pub use lifetime::{LifetimeForm, LifetimeFrom, LifetimeParams, LifetimeRule};
pub use parse::{normalise, normalised_text, parse, parse_value};
pub use plan::{EgressPlan, FlowPlan, GroupPlan, Plan};
pub use registries::Registries;
pub use schema::json_schema;
pub use set::set;
pub use sharing::{Persist, Sharing};
pub use start::{Repetition, StartRule};
pub use timed::{Schedule, Timed, When};
pub use transport::{BroughtPlan, StackPlan, TransportPlan};
pub use types::{AccessTree, Chain, Dumbbell, Events, Flow, Link, Part, PcapAt, Record, Scenario, Series, Topology};
pub use workloads::{
    Activity, Bulk, Cbr, Close, FirstPeriod, OnOff, Page, Ping, Rounding, UDP_IP_HEADER, Web, WorkloadParams,
    interval_of,
};
