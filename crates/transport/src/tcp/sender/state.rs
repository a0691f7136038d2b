//! What the files of a sender share: what it puts on the wire, and what it remembers between packets.

use crate::tcp::conn::rtt::Estimate;
use crate::tcp::detect::Verdict;
use crate::tcp::io::Io;
use crate::tcp::law::Law;
use crosswind_base::{TcpFlags, Time};

/// What is put on the wire; the connection adds the rest of the header.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    pub seq: u64,
    pub payload: u32,
    pub fin: bool,
    pub retransmit: bool,
    pub cwr: bool,
    /// It asks a closed window for room.
    pub probe: bool,
    pub push: bool,
}

impl Outgoing {
    /// Those of the flags that few segments have.
    #[cold]
    pub fn flags(&self) -> TcpFlags {
        let set = |f: TcpFlags, is_set: bool, flag: TcpFlags| if is_set { f.with(flag) } else { f };
        let fin = set(TcpFlags::ACK, self.fin, TcpFlags::FIN);
        set(set(fin, self.cwr, TcpFlags::CWR), self.push, TcpFlags::PSH)
    }
}

/// Bytes as a real number. Going through the signed type takes one instruction on most processors, not ten.
#[inline]
pub(super) fn real(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// A timeout that may still turn out to have been spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingTimeout {
    pub at: Time,
    pub high: u64,
}

/// Connection-level services that the sender needs while it handles one call.
pub trait Line: Io {
    fn emit(&mut self, s: Outgoing);
}

/// Timeouts of one segment that are not decided yet.
#[derive(Debug)]
pub(super) struct Undecided {
    pub start: u64,
    pub at: Vec<Time>,
}

/// What has been found out about an ACK before the controller hears of it.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub verdict: Verdict,
    /// Bytes held lost that were not before.
    pub lost: u64,
    pub may_grow: bool,
}

/// Probes since the window closed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probing {
    /// How many have left.
    pub sent: u32,
    /// Since something was last heard of the peer.
    pub unanswered: u32,
    /// The next byte (or FIN) has been sent as a probe; it counts as sent when it is acknowledged.
    pub beyond: bool,
}

impl Probing {
    pub(super) fn is_on(&self) -> bool {
        self.sent > 0
    }
    /// The window has room again.
    #[inline]
    pub(super) fn end(&mut self) {
        *self = Probing::default();
    }
}

/// The last round trip, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The window was full.
    pub is_full: bool,
    /// Most segments that were out, SACKed ones included.
    pub most_out: u64,
    /// The round trip ends when this byte is acknowledged.
    pub until: u64,
}

/// The sender as it was when the first timeout of an episode occurred.
#[derive(Clone, Debug)]
pub(super) struct Before {
    /// With its window and threshold; until the verdict.
    pub law: Option<Law>,
    pub flight: f64,
    pub estimate: Estimate,
    /// Back-off that its expiries came to.
    pub backoff: u32,
    /// RFC 4015 step 9 waits for the acknowledgement of data sent after this byte; zero = it does not wait.
    pub lift_above: u64,
}
