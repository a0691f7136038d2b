//! The vocabulary that every other crate shares: time and sizes, packets, random streams, and the contract between a
//! component (a *stage*) and whoever drives it.
//!
//! Nothing here reads a clock, opens a file or spawns a thread: components are told the time.

pub mod config;
pub mod doc;
pub mod ds;
pub mod fate;
pub mod hist;
mod look_ahead;
pub mod packet;
mod past;
mod prefetch;
pub mod probe;
pub mod registry;
pub mod rng;
mod setting;
pub mod stage;
pub mod time;
pub mod units;

pub use config::ConfigError;
pub use ds::{Colour, DsByte, Dscp, Ecn};
pub use fate::{Backlog, ClassTotals, DropReason, Fates};
pub use hist::{Histogram, LinearHistogram};
pub use look_ahead::{Ahead, Arrivals, Departures, EarlyPacket, LooksAhead, Steady, Upstream};
pub use packet::{FlowId, Packet, PacketId, Pool, SackList, TcpFlags, Waiting};
pub use past::{Left, Past};
pub use prefetch::prefetch;
pub use probe::{End, Event, EventKind, Observer, Vantage};
pub use rng::{Rng, Streams};
pub use setting::Setting;
pub use stage::{Clock, Cx, Ledger, Metrics, Outbox, Stage, Sync, VirtualClock};
pub use time::{BitRate, Dur, Moment, Serializer, Time};
pub use units::{Limit, Size};
