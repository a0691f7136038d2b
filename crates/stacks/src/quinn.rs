//! quinn-proto: what differs from the other QUIC stacks that the same driver runs.

pub(crate) use quinn_proto as proto;

#[path = "quic/driver.rs"]
mod driver;
#[path = "quic/null.rs"]
mod null;
#[path = "quic/params.rs"]
mod params;
#[path = "quic/seeded.rs"]
mod seeded;
#[path = "quic/watch.rs"]
mod watch;

pub use driver::Quic as Quinn;
pub use params::{Congestion, QuicParams as QuinnParams};

/// The release that is built in.
pub const RELEASE: &str = "quinn-proto 0.11.19";
