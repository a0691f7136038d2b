//! noq-proto under the name that the driver knows, and what stands on nothing else.

pub use noq_proto::*;
use std::sync::atomic::AtomicU64;

/// The release that is built in.
pub const RELEASE: &str = "noq-proto 1.4.0";

pub fn violation(what: &str) -> TransportError {
    TransportError::new(TransportErrorCode::PROTOCOL_VIOLATION, what.to_string())
}

/// What the controller was told of packets, since the counters of the path can only be had by writing to the connection.
#[derive(Default)]
pub struct Packets {
    pub sent: AtomicU64,
    pub lost: AtomicU64,
    pub lost_bytes: AtomicU64,
    pub congestion_events: AtomicU64,
}
