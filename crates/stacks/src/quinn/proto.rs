//! quinn-proto under the name that the driver knows, and what stands on nothing else.

pub use quinn_proto::*;

/// The release that is built in.
pub const RELEASE: &str = "quinn-proto 0.11.19";

pub fn violation(what: &str) -> TransportError {
    TransportError { code: TransportErrorCode::PROTOCOL_VIOLATION, frame: None, reason: what.to_string() }
}

/// The connection counts its packets itself.
#[derive(Default)]
pub struct Packets;
