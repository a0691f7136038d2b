//! Controllers, also called window laws: how the congestion window grows, and to what it is reduced.
//!
//! A controller sees the facts of every ACK and answers with a window. It owns no packets, no timers and no recovery state; nobody
//! else writes the window ([`window`]).

pub mod aimd;
pub mod bbr;
pub mod bbr3;
#[cfg(test)]
mod bbr3_oracle;
#[cfg(test)]
mod bbr_oracle;
mod begin;
pub mod bic;
pub mod controller;
pub mod copa;
#[cfg(test)]
mod copa_oracle;
pub mod cubic;
pub mod cubic_linux;
pub mod dctcp;
#[cfg(test)]
mod dctcp_oracle;
pub mod drive;
pub mod fast;
pub mod hstcp;
pub mod htcp;
pub mod hystart;
#[cfg(test)]
mod hystart_oracle;
pub mod hystart_plus;
#[cfg(test)]
mod hystart_plus_oracle;
pub mod ledbat;
pub mod limited_slow_start;
pub mod ltcp;
#[cfg(test)]
mod oracle;
pub mod own;
pub mod prague;
pub mod praguecc;
#[cfg(test)]
mod praguecc_oracle;
pub mod reno;
#[cfg(test)]
mod reno_oracle;
pub(in crate::tcp) mod rtt_filter;
pub mod sample;
pub mod scalable;
#[cfg(test)]
mod scalable_drive;
pub mod search;
mod table;
pub mod tabulated;
pub mod vegas;
pub mod westwood;
pub mod window;

pub use super::conn::ledger::{Delivery, Lost};
pub use begin::{check, segments_per_ack};
pub use controller::Controller;
pub(in crate::tcp) use controller::within;
pub use sample::{AckSample, Needs, SentFacts};
pub(super) use table::ROWS;
pub use table::{ControllerParams, Law, LawName};
pub use window::{AckCredit, Change, Start, Window};
