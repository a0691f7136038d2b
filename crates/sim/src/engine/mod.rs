//! The event loop, and what it knows of the network: who is woken next, what is on its way, who lost what.

pub mod agenda;
mod boundaries;
mod calendar;
mod deliveries;
mod horizon;
mod ledger;
mod look_ahead;
mod machine;
mod manner;
mod messages;
mod relay;
mod simultaneous;
mod world;

pub use machine::{available_bytes, is_short};
pub use manner::{LookAhead, Manner, Ties};
pub use world::{Outcome, World};
