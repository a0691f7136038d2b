//! Stacks of other people as ends of flows, in virtual time: unmodified releases that are told the time, draw from seeds and
//! encrypt nothing.
//!
//! Each is a [`Stack`](crosswind_transport::stack::Stack). What hides randomness in them, and what is done about it, is in
//! `docs/how-to/stacks.md`.

#[cfg(feature = "quinn")]
pub mod quinn;
