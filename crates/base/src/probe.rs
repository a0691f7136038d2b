//! What observers may be told. Off by default; when off, a probe is one test of a flag.

use crate::packet::Datagram;
use crate::{FlowId, Packet, Pool, Time};

/// The kinds of event in the `event` table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A segment left its sender for the first time. seq, len = payload.
    Send = 0,
    /// A segment was retransmitted.
    Retransmit = 1,
    /// An acknowledgement reached the sender. seq = cumulative ACK.
    Ack = 2,
    /// A segment reached its receiver.
    Receive = 3,
    /// A queue dropped a packet. aux = stage.
    Drop = 4,
    /// A link lost a packet. aux = stage.
    Lost = 5,
    /// A queue set CE. aux = stage.
    Mark = 6,
    /// The retransmission timer expired. seq = first unacknowledged byte.
    Timeout = 7,
    /// Loss recovery began.
    Recovery = 8,
    /// Loss recovery ended.
    Recovered = 9,
    /// The congestion window was reduced on an ECN echo.
    EcnReduce = 10,
    /// A timeout was judged spurious by the sender.
    Spurious = 11,
    /// The connection opened (first SYN sent).
    Open = 12,
    /// The connection closed (FIN acknowledged).
    Close = 13,
    /// One SACK block of an arriving ACK: seq = left edge, len = length.
    Sack = 14,
    /// Congestion window in bytes after a change: seq = cwnd, aux = ssthresh (saturating).
    Cwnd = 15,
    /// One RTT sample: seq = nanoseconds.
    Rtt = 16,
}

impl EventKind {
    pub const NAMES: [&'static str; 17] = [
        "send",
        "retransmit",
        "ack",
        "receive",
        "drop",
        "lost",
        "mark",
        "timeout",
        "recovery",
        "recovered",
        "ecn_reduce",
        "spurious",
        "open",
        "close",
        "sack",
        "cwnd",
        "rtt",
    ];
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// One row of the `event` table.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub at: Time,
    pub end: End,
    pub kind: EventKind,
    pub seq: u64,
    pub len: u32,
    /// Send, retransmit, ack, receive: TCP flags (or the kind of datagram) in bits 0 to 7, the ECN field in bits 8 and 9. Otherwise see the kind.
    pub aux: u32,
}

/// One end of a flow: the one that an event happened at, or that a packet in the network came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    pub flow: FlowId,
    pub seen: Vantage,
}

impl End {
    /// The end that sent this packet.
    pub fn source_of(p: &Packet) -> End {
        let seen = if p.meta.is_reverse() { Vantage::Receiver } else { Vantage::Sender };
        End { flow: p.flow, seen }
    }
}

/// What `aux` holds for events about one segment.
pub fn header_bits(p: &Packet) -> u32 {
    let kind = if p.proto.is_udp() { Datagram::of(p) as u8 } else { p.flags.0 };
    u32::from(kind) | (p.ecn() as u32) << 8
}

/// Where a packet was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Vantage {
    /// Leaving or reaching the end that opened the flow (the data sender of a one-way transfer).
    Sender = 0,
    /// Leaving or reaching the other end.
    Receiver = 1,
}

impl Vantage {
    pub const NAMES: [&'static str; 2] = ["sender", "receiver"];
}

/// Something that watches a run: an event log, a packet capture. Never changes what happens.
pub trait Observer {
    /// Whether events of this flow are wanted; asked before an [`Event`] is built.
    fn wants(&self, flow: FlowId) -> bool;
    fn event(&mut self, e: Event);
    /// A packet passed an end host. `pool` gives its side-table entry.
    fn packet(&mut self, at: Time, seen: Vantage, p: &Packet, pool: &Pool);
}
