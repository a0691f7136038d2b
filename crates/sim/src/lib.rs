//! The simulator: scenarios, worlds, and the driver of many runs.

pub mod agenda;
pub mod bench;
mod calendar;
pub mod collect;
pub mod datagrams;
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
pub mod paced;
mod parameters;
mod relay;
mod resends;
pub mod scenario;
pub mod simultaneous;
pub mod workload;
pub mod world;
