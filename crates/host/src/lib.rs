//! Crosswind's own TCP as a host: in real time, over a TUN device, opposite the TCP of this machine's kernel.
//!
//! | module | holds |
//! |---|---|
//! | [`transfer`] | the application of the own host: so many bytes one way |
//! | [`end`] | an own end: the stack and its application |
//! | [`opposite`] | the port of the emulator at which one host is the kernel and the other one our own |
//! | [`twin`] | the same in virtual time, with our own stack in the kernel's place |
//! | [`namespace`] | a network namespace for the kernel's side |
//! | [`trial`] | one transfer over a link, and what is left of it |
//!
//! Between the two hosts stands the network of the emulator, with its queues, losses and delays. `crosswind-emu` itself knows no
//! transport: what is told the time here is a [`Stack`](crosswind_transport::stack::Stack).

#![cfg(target_os = "linux")]

pub mod end;
pub mod namespace;
pub mod opposite;
pub mod transfer;
pub mod trial;
pub mod twin;

pub use trial::{Direction, Outcome, Trial};
