//! What a connection asks of its driver.

use super::share;
use crosswind_base::packet::Ext;
use crosswind_base::{Dur, EventKind, Packet, Time};

/// What a connection needs from its surroundings.
pub trait Io {
    fn now(&self) -> Time;
    /// Puts a packet on the network. Addresses and routing are the driver's business.
    fn send(&mut self, p: Packet, ext: Option<Ext>);
    /// Data packets carry a lifetime that depends on the retransmission timer; [`Io::waits`] tells it before each.
    fn is_mortal(&self) -> bool {
        false
    }
    /// After so long the next packet would be retransmitted.
    fn waits(&mut self, _timeout: Dur) {}
    /// Tells observers; must not change anything.
    fn note(&mut self, kind: EventKind, seq: u64, len: u32, aux: u32);
    /// Whether anybody listens to notes; what costs something to note asks first.
    fn is_watched(&self) -> bool {
        true
    }
    /// What the host remembers about the peer, if control-block sharing is on.
    fn shared(&mut self) -> Option<&mut share::Cache>;
}
