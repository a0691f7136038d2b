//! What a controller is told: of every ACK the same facts, whatever it makes of them.

use super::super::Ack;
use super::super::detect::Phase;

/// One ACK, after the detector has said what is lost and before anything is done about it.
#[derive(Clone, Copy, Debug)]
pub struct AckSample<'a> {
    /// What it acknowledges, its round-trip sample, what was in flight before it, whether the window limited the sender.
    pub ack: &'a Ack,
    /// The profile lets the window grow on it: data is acknowledged, no recovery forbids it, the window was used.
    pub may_grow: bool,
    /// Bytes that count for growth: what is acknowledged, or delivered where segments are counted.
    pub credit: u64,
    /// Where the sender will stand when the ACK has been dealt with.
    pub phase: Phase,
    /// Bytes that it has shown to be lost.
    pub newly_lost: u64,
    /// Bytes in the network after it, before anything is sent in answer.
    pub in_flight: u64,
    /// Bytes delivered by an ACK that reports congestion marks (ECN).
    pub ce_bytes: u64,
}
