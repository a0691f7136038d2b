//! Loss detectors: which segments are lost, how many bytes are in the network, what to retransmit next.
//!
//! One file per rule, one row each in `table.rs`, which settles what the names of scenario files stand for. A detector sees facts and
//! the scoreboard; it sends nothing.

mod begin;
pub mod delayed_response;
#[cfg(test)]
mod delayed_response_oracle;
pub mod delivered;
pub mod detector;
#[cfg(test)]
mod edges;
pub mod fack;
pub mod hole_sack;
pub mod newreno;
#[cfg(test)]
mod newreno_oracle;
pub mod pipe_sack;
pub mod rack;
#[cfg(test)]
mod rack_oracle;
pub mod sack;
mod table;
pub mod tlp;

pub use detector::{Delay, Detect, Phase, RecoveryPointScope, RecoveryPolicy, Release, Status, Verdict, View};
pub(super) use table::ROWS;
pub use table::{Clock, Detection, Detector, RecoveryParams};
