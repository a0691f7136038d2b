//! Stacks of other people as ends of flows, in virtual time: unmodified releases that are told the time, draw from seeds and
//! encrypt nothing (or, where asked, as they would). Beside them Crosswind's own TCP in real bytes, which speaks to those that speak TCP.
//!
//! Each is a [`Stack`](crosswind_transport::stack::Stack). What hides randomness in them, and what is done about it, is in
//! `docs/how-to/stacks.md`.

#![cfg_attr(
    all(feature = "quinn", feature = "noq"),
    expect(clippy::duplicate_mod, reason = "one driver of QUIC stacks, compiled for each of them")
)]

#[cfg(any(feature = "quinn", feature = "noq"))]
#[macro_use]
#[path = "quic/congestion.rs"]
mod congestion;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
pub mod registry;
#[cfg(feature = "smoltcp")]
pub mod smoltcp;
#[cfg(feature = "tcp")]
pub mod tcp;
#[cfg(feature = "tls")]
mod tls;

pub use registry::{Read, Release, Row};

/// Every stack that is built in.
pub const ROWS: &[Row] = &[
    #[cfg(feature = "quinn")]
    quinn::ROW,
    #[cfg(feature = "noq")]
    noq::ROW,
    #[cfg(feature = "smoltcp")]
    smoltcp::ROW,
];
