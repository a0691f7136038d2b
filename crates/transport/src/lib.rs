//! Transports as pure state machines: they are told the time and handed packets, and answer with packets.
//!
//! Nothing here knows queues or links. Whoever drives a connection implements [`tcp::Io`].

pub mod bundle;
pub mod rate;
pub mod registry;
pub mod stack;
pub mod tcp;
pub mod tfrc;
pub mod udp;
pub mod udt;
