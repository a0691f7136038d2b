//! What lies between hosts: queues, links, and the egress that joins one of each.

pub mod build;
pub mod diffserv;
pub mod egress;
pub mod link;
mod look_ahead;
pub mod params;
pub mod profile;
pub mod queue;
pub mod registry;
pub mod sched;
pub mod spread;
pub mod switch;

pub use egress::Egress;
pub use registry::{BuildCx, Kind};
