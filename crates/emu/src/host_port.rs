//! Where a network that is emulated meets its hosts: frames in and out, and orders.

use crate::change::Change;
use crate::delivery::{Port, Sink};
use crosswind_base::{Clock, Time};

/// What comes in beside packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Change(Time, Change),
    Stop(Time),
}

/// Where the network meets hosts: a machine, or a tape.
pub trait HostPort: Clock + Sink {
    /// The next frame that waits, with the time of its arrival; stamps never run backwards.
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)>;
    /// The next order that waits.
    fn order(&mut self) -> Option<Order>;
}
