//! Where a connection stands, what its ends have agreed on, and what its files remember between packets.

use crate::tcp::ecn::CodePoints;
use crate::tcp::ecn::rules::Agreed as EcnAgreed;
use crate::tcp::policies::OptionBytes;
use crosswind_base::{Ecn, Time};

/// Which end sends the SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opener {
    Active,
    Passive,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Closed,
    SynSent,
    SynReceived,
    Established,
    /// Both directions are finished.
    Done,
    /// Reset, or given up after too many timeouts.
    Aborted,
}

/// What was agreed in the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    pub sack: bool,
    pub timestamps: bool,
    pub scaled: bool,
    pub codepoints: CodePoints,
    /// Bytes that data segments leave free for the AccECN option.
    pub option_room: u64,
    /// What options add to the length of a packet.
    pub option_bytes: OptionBytes,
}

impl Agreed {
    pub(super) fn new(option_bytes: OptionBytes) -> Agreed {
        let codepoints = CodePoints::default();
        Agreed { sack: false, timestamps: false, scaled: false, codepoints, option_room: 0, option_bytes }
    }
    pub(super) fn terms(self, ecn: EcnAgreed) -> Terms {
        Terms { sack: self.sack, ecn, timestamps: self.timestamps }
    }
}

/// What the handshake has settled for a sender.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub sack: bool,
    pub ecn: EcnAgreed,
    pub timestamps: bool,
}

/// What is remembered of the handshake until it is over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shaking {
    /// In which code point the last SYN arrived.
    pub(super) syn_arrived: Ecn,
    /// How often the SYN-ACK has left.
    pub(super) answers: u32,
    /// A server has sent or received one without a request: it never sends ECT (RFC 9768 section 3.1.5).
    pub(super) is_spoilt: bool,
    /// The third segment is in hand: its number is not a count.
    pub(super) is_third: bool,
    /// The SYN-ACK said that our SYN had been marked.
    pub(super) syn_was_marked: bool,
}

/// How many challenge ACKs have left in the present span.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Challenges {
    pub(super) since: Time,
    pub(super) sent: u32,
}

/// What becomes of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Take,
    /// It is dropped, and an ACK says what is expected.
    Answer,
    /// The same, but not too often: somebody else may have sent it.
    Challenge,
}

/// What the receiver wants done about an ACK after a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckNow {
    /// Send one at once.
    Yes,
    /// Wait for another segment or the timer.
    Later,
    /// It came beyond a hole: others may be told of with it (SACK compression).
    Held,
    /// Nothing to acknowledge.
    No,
}
