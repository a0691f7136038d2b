//! The simulator: scenarios, worlds, and the driver of many runs.

pub mod agenda;
pub mod bench;
pub mod bound;
mod calendar;
pub mod collect;
mod deliveries;
mod edges;
mod endless;
pub mod endpoint;
mod files;
pub mod foresight;
pub mod host_queue;
mod ledger;
mod manner;
pub mod many;
pub mod memory;
mod messages;
mod parameters;
mod relay;
mod resends;
pub mod scenario;
pub mod simultaneous;
pub mod stacks;
pub mod transport;
mod waits;
pub mod workload;
pub mod world;
