//! What became of packets: why they were dropped, and the totals of one class of a queue.

use crate::{Histogram, Size, Time};
use std::ops::AddAssign;

/// Why a packet ceased to exist before reaching its destination. Closed on purpose: a new way of losing packets is a
/// new row here, with its metric.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The queue's limit was reached.
    QueueFull = 0,
    /// An AQM law dropped a packet that it could not mark, before the limit was reached.
    EarlyDrop = 1,
    /// An AQM law dropped because its average exceeded the hard maximum.
    ForcedDrop = 2,
    /// A link lost the packet (bit errors, retransmissions exhausted).
    LinkError = 3,
    /// A listed drop of a test or validation scenario.
    Listed = 4,
    /// Nobody listens for this packet (its connection is closed).
    NoEndpoint = 5,
    /// A policer at the boundary of a domain dropped what its contract does not cover.
    Policed = 6,
    /// A queue expected a longer wait than the packet's limit for one queue (MTQ).
    LocalDelay = 7,
    /// A queue expected a longer wait than what was left of the packet's budget (QTL).
    DelayBudget = 8,
    /// Lost because of a handover or a break of the radio link: on arrival, or out of the old cell's buffer.
    Handover = 9,
    /// Its lifetime was over.
    Expired = 10,
    /// Its connection was reset while it waited.
    Reset = 11,
    /// It is larger than the link takes.
    TooBig = 12,
    /// All queues together held too much, and it was at the head of the longest of them.
    FatFlow = 13,
    /// An acknowledgement that a newer one behind it has made needless.
    AckFilter = 14,
}

impl DropReason {
    pub const COUNT: usize = 15;
    pub const NAMES: [&'static str; Self::COUNT] = [
        "queue_full",
        "early_drop",
        "forced_drop",
        "link_error",
        "listed",
        "no_endpoint",
        "policed",
        "local_delay",
        "delay_budget",
        "handover",
        "expired",
        "reset",
        "too_big",
        "fat_flow",
        "ack_filter",
    ];
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
    /// Lost on a link, as opposed to dropped by a queue.
    pub fn is_loss(self) -> bool {
        matches!(self, DropReason::LinkError | DropReason::Listed | DropReason::Handover)
    }
    /// Dropped by a queue (a sign of congestion), as opposed to lost on a link.
    pub fn is_congestion(self) -> bool {
        use DropReason::{DelayBudget, EarlyDrop, FatFlow, ForcedDrop, LocalDelay, QueueFull};
        matches!(self, QueueFull | EarlyDrop | ForcedDrop | LocalDelay | DelayBudget | FatFlow)
    }
}

/// Packets that were dropped, by reason, and marked.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Fates {
    drops: [u32; DropReason::COUNT],
    marks: u32,
    /// Of either kind.
    all: u32,
}

impl Fates {
    pub(crate) fn dropped(&mut self, why: DropReason) {
        self.drops[why as usize] += 1;
        self.all += 1;
    }
    pub(crate) fn marked(&mut self) {
        self.marks += 1;
        self.all += 1;
    }
}

/// What a queue holds now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    pub bytes: u64,
    pub packets: u32,
}

impl Backlog {
    /// What is left when so much of it goes.
    #[inline]
    pub fn without(self, gone: Backlog) -> Backlog {
        Backlog { bytes: self.bytes - gone.bytes, packets: self.packets - gone.packets }
    }
    /// The same with so many link-layer bytes counted for every packet.
    #[inline]
    pub fn with_overhead(self, overhead: Size) -> Backlog {
        Backlog { bytes: self.bytes + overhead.0 * u64::from(self.packets), packets: self.packets }
    }
}

impl AddAssign for Backlog {
    #[inline]
    fn add_assign(&mut self, more: Backlog) {
        self.bytes += more.bytes;
        self.packets += more.packets;
    }
}

/// Totals of one class.
#[derive(Clone, Default, Debug)]
pub struct ClassTotals {
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub drops_packets: [u64; DropReason::COUNT],
    pub marks_packets: u64,
    /// From the arrival of a packet at the queue of the class until it left it.
    pub queue_delay_ns: Histogram,
}

impl ClassTotals {
    #[inline]
    pub fn arrived(&mut self, len: u32) {
        self.arrived_packets += 1;
        self.arrived_bytes += u64::from(len);
    }
    /// A packet that has waited since then goes on.
    #[inline]
    pub fn sent(&mut self, len: u32, since: Time, now: Time) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(len);
        self.queue_delay_ns.record(now.since(since).0);
    }
    /// Counts what was dropped and marked between two moments.
    #[inline]
    pub(crate) fn meets(&mut self, before: &Fates, after: &Fates) {
        if after.all != before.all {
            self.count(before, after);
        }
    }

    #[cold]
    fn count(&mut self, before: &Fates, after: &Fates) {
        for (sum, (b, a)) in self.drops_packets.iter_mut().zip(before.drops.iter().zip(after.drops)) {
            *sum += u64::from(a - b);
        }
        self.marks_packets += u64::from(after.marks - before.marks);
    }
}
