//! What leaves the network, and how much came and went.

use crosswind_base::Time;

/// Index of a host.
pub type Port = u32;

/// A packet that leaves the network.
pub struct Delivery<'a> {
    /// Logical time at which it arrives.
    pub at: Time,
    pub port: Port,
    pub frame: &'a [u8],
}

/// Takes what the network delivers.
pub trait Sink {
    fn deliver(&mut self, d: Delivery<'_>);
}

/// What the network counts beside what its egresses do.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Totals {
    pub arrived_packets: u64,
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    /// No packets of IP, or with lengths that do not fit.
    pub refused_packets: u64,
    /// Addressed to nobody here: multicast, and whatever has no route.
    pub unrouted_packets: u64,
    /// Thrown away because a link could not carry them; their senders were told, where that may be.
    pub too_big_packets: u64,
    /// Cut into pieces in front of a link.
    pub fragmented_packets: u64,
}
