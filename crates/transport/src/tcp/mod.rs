//! TCP: one connection type built from small, independent axes.
//!
//! | folder | the question that it answers |
//! |---|---|
//! | [`conn`] | facts: scoreboard, round-trip time, receiver, handshake and teardown |
//! | [`detect`] | what is lost? |
//! | [`ecn`] | what was agreed about marks, and what is told of them? |
//! | [`signal`] | is there congestion without loss? |
//! | [`law`] | how large may the window be? |
//! | [`undo`] | was the reduction a mistake? |
//! | [`reduction`] | how does the window fall over a round trip? |
//! | [`pace`] | when may the next segment leave? |
//! | [`share`] | what do connections to one host tell each other? |
//!
//! Control flow lives in one place, [`sender`]; everything else is a question it asks.

pub mod choices;
pub mod conn;
pub mod detect;
pub mod ecn;
pub mod facts;
pub mod io;
pub mod law;
pub mod pace;
pub mod params;
pub mod policies;
pub mod preset;
pub mod receivers;
pub mod reduction;
pub mod registry;
pub mod sender;
pub mod share;
pub mod signal;
pub mod undo;

pub use conn::{Connection, Opener};
pub use facts::{Ack, CloseRule, Trigger};
pub use io::Io;
pub use params::TcpParams;
