//! Transports as pure state machines: they are told the time and handed packets, and answer with packets.
//!
//! Nothing here knows queues or links. Whoever drives a connection implements [`tcp::Io`].

pub mod tcp;
pub mod udp;
