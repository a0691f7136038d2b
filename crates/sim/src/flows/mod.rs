//! Flows: their ends, the transports bound to applications, and what the applications do.

mod arrivals;
mod bound;
mod build;
mod endpoint;
mod ends;
mod host_queue;
mod own;
mod parameters;
mod port;
mod retransmissions;
mod stream;
mod transport;
mod waits;
pub mod workload;

pub use arrivals::{Arrivals, Freshness, Heard};
pub use build::{flow_ends, pages};
pub use endpoint::{Endpoint, FlowEnd};
pub use ends::{Brought, Ends, Reads};
pub use own::Own;
pub use parameters::{OwnLaws, Parameters};
pub use port::{EndIo, Milestone, Port, Setup};
pub use retransmissions::DroppedRetransmission;
pub use stream::{Stream, Wrote};
pub use transport::{Broken, Transport};
pub use waits::Recorded;
pub use workload::App;
