//! From the parameters of a connection to its detector.

use super::table::{Clock, Detector};
use crate::tcp::params::TcpParams;

impl Detector {
    /// Without SACK at both ends a rule that needs it gives way to NewReno.
    pub fn new(p: &TcpParams, sack_negotiated: bool) -> Detector {
        let clock = Clock { tick: p.connection.timestamp_tick, is_used: p.connection.timestamps.on() };
        Detector::of(&p.recovery, clock, sack_negotiated)
    }
}
