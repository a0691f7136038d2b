//! Stacks of other people as ends of flows, in virtual time: unmodified releases that are told the time, draw from seeds and
//! encrypt nothing.
//!
//! Each is a [`Stack`](crosswind_transport::stack::Stack). What hides randomness in them, and what is done about it, is in
//! `docs/how-to/stacks.md`.

#![expect(clippy::duplicate_mod, reason = "one driver of QUIC stacks, compiled for each of them")]

#[macro_use]
#[path = "quic/congestion.rs"]
mod congestion;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
pub mod registry;

pub use registry::{Read, Release, Row};

/// Every stack that is built in.
pub const ROWS: &[Row] = &[
    #[cfg(feature = "quinn")]
    quinn::ROW,
    #[cfg(feature = "noq")]
    noq::ROW,
];
