//! One run of a scenario: the ends and the ledger around the event loop of `crosswind_engine`, and what it does not know:
//! milestones, pages, the timeline, which egresses may look ahead.

mod ends;
mod horizon;
mod ledger;
mod look_ahead;
mod machine;
mod manner;
mod messages;
mod run;
mod simultaneous;

pub use machine::{available_bytes, is_short};
pub use manner::{LookAhead, Manner, Ties};
pub use run::{Outcome, World};
