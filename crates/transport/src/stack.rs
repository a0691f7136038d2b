//! Transports of other people, seen from outside: bytes in, bytes out, and told the time.
//!
//! A [`Stack`] is one end of a connection whose packets are real bytes. Whoever drives it hands it datagrams, wakes it when its
//! timer is due, and takes what it wants to send. What it transfers are the bytes of [`pattern`], so that both ends know
//! what must arrive.

use crosswind_base::{Ecn, Rng, Time};
use std::io::Write;
use std::sync::Arc;

/// Which end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It opens the connection.
    Client,
    /// It answers.
    Server,
}

/// Number of a stream at the end that names it; what it is inside is the stack's own affair.
pub type StreamId = u64;

/// One end of a connection.
pub trait Stack: Send {
    /// The client connects; a server has nothing to do.
    fn open(&mut self, now: Time);
    /// Bytes have arrived, with the ECN field of the packet that they came in.
    fn on_datagram(&mut self, now: Time, data: Vec<u8>, ecn: Ecn);
    /// The time of [`Stack::next_timer`] has come.
    fn on_timer(&mut self, now: Time);
    fn next_timer(&self) -> Option<Time>;
    /// Hands over all that may leave now, in order. Called after anything else, until nothing comes.
    fn transmit(&mut self, now: Time, out: &mut dyn FnMut(&[u8], Ecn));
    /// The application's side.
    fn streams(&mut self) -> &mut dyn Streams;
    /// The application has all that it wanted: the connection is closed in order.
    fn close(&mut self, now: Time);
    fn state(&self) -> State;
    /// What may be sampled.
    fn probe(&self) -> Probe;
    /// Bytes of the headers around each of its datagrams: IP and UDP. None where they are whole packets.
    fn headers_bytes(&self) -> u16 {
        28
    }
    /// How many bytes of one of its datagrams are no headers: all, where the network does not look inside.
    fn payload_of(&self) -> fn(&[u8]) -> usize {
        <[u8]>::len
    }
    /// Reductions of the window since this was last asked, oldest first.
    fn cuts(&mut self, _out: &mut dyn FnMut(Cut)) {}
    /// What it logs of itself (qlog) goes there, if it has not begun. False: it keeps no log. Nothing else may change by it.
    fn log_to(&mut self, _out: Box<dyn Write + Send + Sync>) -> bool {
        false
    }
}

/// Makes one end. Everything that it draws comes from the generator.
pub type Maker = Arc<dyn Fn(Role, Rng) -> Box<dyn Stack> + Send + Sync>;

/// How far a connection has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Not opened, or in its handshake.
    Opening,
    Established,
    /// Closed in order.
    Closed,
    /// Lost, and why.
    Failed(String),
}

/// What an application does with a connection. Bytes written and read are those of [`pattern`].
pub trait Streams {
    /// A new stream for both directions, as far as the peer allows.
    fn open(&mut self) -> Option<StreamId>;
    /// A stream that the peer has opened.
    fn accept(&mut self) -> Option<StreamId>;
    /// Writes the next bytes of a stream; returns how many were taken.
    fn write(&mut self, stream: StreamId, bytes: u64) -> u64;
    /// Nothing more will be written.
    fn finish(&mut self, stream: StreamId);
    /// Reads what has arrived.
    fn read(&mut self, stream: StreamId) -> Reading;
    /// Whether the peer has confirmed all of a stream that was finished.
    fn is_acknowledged(&self, stream: StreamId) -> bool;
}

/// What a read found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    pub bytes: u64,
    /// The peer has finished, and everything has been read.
    pub is_end: bool,
}

/// What a stack says of itself; each only where it tells.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Probe {
    pub cwnd_bytes: Option<u64>,
    pub ssthresh_bytes: Option<u64>,
    pub pacing_rate_bps: Option<u64>,
    pub srtt_ns: Option<u64>,
    pub min_rtt_ns: Option<u64>,
    pub in_flight_bytes: Option<u64>,
    /// Packets that it has sent, of whatever kind.
    pub sent_packets: Option<u64>,
    /// Packets that it has declared lost.
    pub lost_packets: Option<u64>,
    pub lost_bytes: Option<u64>,
    /// Packets with data that it had sent before.
    pub retransmitted_packets: Option<u64>,
    /// Reductions for loss or congestion marks.
    pub congestion_events: Option<u64>,
    pub timeouts: Option<u64>,
}

/// One reduction of a window, as the controller made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    pub at: Time,
    pub before_bytes: u64,
    pub after_bytes: u64,
    pub why: CutBecause,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutBecause {
    Loss,
    EcnCe,
    PersistentCongestion,
}

/// After this many bytes the pattern begins again: a prime, so that no block of a power of two is like the next.
pub const PATTERN_PERIOD: u64 = 251;

/// The byte at an offset of every stream.
#[inline]
pub fn pattern(offset: u64) -> u8 {
    (offset % PATTERN_PERIOD) as u8
}

/// Compares what has arrived with what must have been sent. Knows a stretch of the pattern, and is fast.
pub struct Pattern(Vec<u8>);

impl Pattern {
    /// Stretches of up to this many bytes are compared at once.
    const STRETCH: usize = 1 << 16;

    /// The stretch itself: from any offset below the period, at least [`Pattern::STRETCH`] bytes follow.
    pub fn bytes() -> Vec<u8> {
        (0..Self::STRETCH as u64 + PATTERN_PERIOD).map(pattern).collect()
    }

    /// Where the byte at an offset of a stream stands in [`Pattern::bytes`].
    #[inline]
    pub fn place(offset: u64) -> usize {
        (offset % PATTERN_PERIOD) as usize
    }

    /// How many bytes may be taken from there at once.
    pub const fn stretch() -> usize {
        Self::STRETCH
    }

    pub fn matches(&self, offset: u64, data: &[u8]) -> bool {
        let mut at = offset;
        data.chunks(Self::STRETCH).all(|part| {
            let from = Self::place(at);
            at += part.len() as u64;
            self.0[from..from + part.len()] == *part
        })
    }
}

impl Default for Pattern {
    fn default() -> Pattern {
        Pattern(Pattern::bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_known_at_every_offset_and_a_wrong_byte_is_found() {
        let known = Pattern::default();
        let mut data: Vec<u8> = (1_000_000..1_200_000).map(pattern).collect();
        assert!(known.matches(1_000_000, &data));
        assert!(!known.matches(1_000_001, &data), "it is not the same everywhere");
        data[150_000] ^= 1;
        assert!(!known.matches(1_000_000, &data));
    }
}
