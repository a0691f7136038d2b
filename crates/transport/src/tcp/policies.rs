//! What `handshake` stands for beyond the exchange of three segments, settled once when a connection is made.
//!
//! The agents that `handshake = "ns-2"` imitates ([ns-2.35] `TcpAgent`, `TcpSink`) differ from RFC 9293 in small things that have
//! nothing to do with each other. Each is a decision here, named for what is done; who did it is asked in this file alone
//! (`tests/policies.rs` reads the other files). What one word of a scenario decides, such as `grow_when` or `paws`, needs no row here: the variants
//! of its type are named for what they do.

use super::params::TcpParams;
use crate::tcp::choices::Handshake;

/// What the options of SYN and SYN-ACK are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynOptions {
    /// Both ends use what both have named (RFC 9293, RFC 7323, RFC 2018).
    Negotiated,
    /// A bare SYN: both ends have the same parameters, and use what they say.
    Assumed,
}

/// What the opener sends when it has the SYN-ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThirdSegment {
    Ack,
    /// Nothing but its data.
    Data,
}

/// What the answering end does when nothing follows its SYN-ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynAckTimer {
    /// It sends it again.
    Runs,
    /// Nothing: the opener sends its SYN again.
    None,
}

/// A SYN that comes when the connection exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateSyn {
    /// An ACK says what is expected (RFC 9293 section 3.10.7.4).
    Answered,
    Ignored,
}

/// What is left of a SYN that had to be retransmitted when the connection exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterSynLoss {
    /// The timeout of data starts over (RFC 6298 section 5.7).
    FreshTimer,
    /// A window of one segment; the timer stays.
    WindowOfOne,
}

/// Bytes that options add to the length of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionBytes {
    /// Timestamps on a data segment.
    pub stamped_data: u16,
    /// Timestamps on an ACK.
    pub stamped_ack: u16,
    /// What stands around SACK blocks.
    pub around_blocks: u16,
}

/// Whether an ACK that acknowledges nothing and moves the window is a duplicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowUpdates {
    /// It is not (RFC 5681 section 2).
    NoDuplicates,
    Duplicates,
}

/// What becomes of the one segment that is being timed when it is retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimedSegment {
    /// It is timed no more (Karn).
    Dropped,
    Kept,
}

/// The ACK of a segment that ends where the next is expected and was there before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OldSegment {
    /// Sent at once (RFC 9293 section 3.10.7.4).
    AckedAtOnce,
    /// Delayed like that of a new one.
    Delayed,
}

/// Whether segments that are retransmitted may be marked, where new data may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetransmissionEct {
    /// As far as control packets may (RFC 3168 section 6.1.5).
    AsControl,
    AsData,
}

/// Which echoes of a mark are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EchoAnswers {
    /// The first of a round trip, outside recoveries (RFC 3168).
    #[default]
    OncePerRoundTrip,
    /// The first beyond the end of the last episode, whatever it was, and any after a timeout: one recovery point for all.
    BeyondRecoveryPoint,
}

/// Every decision that `handshake` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policies {
    pub syn_options: SynOptions,
    pub third_segment: ThirdSegment,
    pub syn_ack_timer: SynAckTimer,
    pub late_syn: LateSyn,
    pub after_syn_loss: AfterSynLoss,
    pub option_bytes: OptionBytes,
    pub window_updates: WindowUpdates,
    pub timed_segment: TimedSegment,
    pub old_segment: OldSegment,
    pub retransmission_ect: RetransmissionEct,
    pub echo_answers: EchoAnswers,
}

const STANDARD: Policies = Policies {
    syn_options: SynOptions::Negotiated,
    third_segment: ThirdSegment::Ack,
    syn_ack_timer: SynAckTimer::Runs,
    late_syn: LateSyn::Answered,
    after_syn_loss: AfterSynLoss::FreshTimer,
    option_bytes: OptionBytes { stamped_data: 12, stamped_ack: 12, around_blocks: 4 },
    window_updates: WindowUpdates::NoDuplicates,
    timed_segment: TimedSegment::Dropped,
    old_segment: OldSegment::AckedAtOnce,
    retransmission_ect: RetransmissionEct::AsControl,
    echo_answers: EchoAnswers::OncePerRoundTrip,
};

const ONE_WAY_AGENTS: Policies = Policies {
    syn_options: SynOptions::Assumed,
    third_segment: ThirdSegment::Data,
    syn_ack_timer: SynAckTimer::None,
    late_syn: LateSyn::Ignored,
    after_syn_loss: AfterSynLoss::WindowOfOne,
    // The option alone on data, nothing for it on ACKs; blocks without what stands around them.
    option_bytes: OptionBytes { stamped_data: 10, stamped_ack: 0, around_blocks: 0 },
    window_updates: WindowUpdates::Duplicates,
    timed_segment: TimedSegment::Kept,
    old_segment: OldSegment::Delayed,
    retransmission_ect: RetransmissionEct::AsData,
    echo_answers: EchoAnswers::BeyondRecoveryPoint,
};

impl Policies {
    pub fn of(p: &TcpParams) -> Policies {
        match p.connection.handshake {
            Handshake::ThreeWay => STANDARD,
            Handshake::Ns2 => ONE_WAY_AGENTS,
        }
    }
}

impl Default for Policies {
    fn default() -> Policies {
        STANDARD
    }
}
