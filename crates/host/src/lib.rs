//! Crosswind's own TCP as a host: in real time, over a TUN device, opposite the TCP of this machine's kernel.
//!
//! | module | holds |
//! |---|---|
//! | [`transfer`] | the application of the own host: so many bytes one way |
//! | [`end`] | an own end: the stack and its application |
//! | [`opposite`] | the port of the emulator at which one host is the kernel and the other one our own |
//! | [`twin`] | the same in virtual time, with our own stack in the kernel's place |
//! | [`kernel`] | the kernel's end: socket and application |
//! | [`witness`] | what is seen of one flow, packets and windows; [`tcp_info`], what the kernel says of its own |
//! | [`examine`] | a kernel in a scenario, under the eyes of a witness |
//! | [`namespace`] | a network namespace for the kernel's side |
//! | [`trial`] | one transfer over a link, and what is left of it; [`transfer_run`], asked for in JSON |
//! | [`over_udp`] | a stack of somebody else over a UDP socket, in real time; [`stream_end`], its application |
//!
//! Between the two hosts stands the network of the emulator, with its queues, losses and delays. `crosswind-emu` itself knows no
//! transport: what is told the time here is a [`Stack`](crosswind_transport::stack::Stack).

#![cfg(target_os = "linux")]

pub mod end;
pub mod examine;
pub mod kernel;
pub mod namespace;
pub mod opposite;
pub mod over_udp;
pub mod stream_end;
pub mod tcp_info;
pub mod transfer;
pub mod transfer_run;
pub mod trial;
pub mod twin;
pub mod witness;

pub use transfer_run::capture;
pub use trial::{Direction, Outcome, Trial};
