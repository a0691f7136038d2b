//! What every detector of spurious timeouts answers.

use crate::tcp::detect::Phase;
use crate::tcp::facts::Ack;

/// What a detector says after an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpuriousVerdict {
    /// No opinion, or not under way.
    None,
    /// Still open: send up to two new segments and wait for the next ACK.
    ProbeWithNewData,
    /// Still open: wait.
    Wait,
    /// The timeout was spurious.
    Spurious,
    /// The timeout was genuine: recover conventionally, with this window in segments.
    Genuine { window_segments: u32 },
    /// The timeout was genuine, and the ACK that told so counts like any other.
    Conventional,
}

/// Facts about an expiry of the timer.
#[derive(Clone, Copy, Debug)]
pub struct Expiry {
    /// Highest sequence number sent before it.
    pub high: u64,
    /// End of the segment that is being retransmitted.
    pub retransmitted_end: u64,
    /// The timestamp that the retransmission carries.
    pub stamp: u32,
}

/// What an expiry of the timer is to a detector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Episode {
    /// No: conventional recovery.
    Refused,
    /// Yes, a new one.
    New,
    /// Yes: the timer expired again before the verdict.
    Continued,
}

/// Someone who decides after a timeout whether it was genuine.
pub trait DetectSpurious {
    /// The timer has expired in this phase, for the same segment as before if it is repeated. What is under way ends unless the episode is
    /// continued.
    fn on_expiry(&mut self, phase: Phase, _is_repeated: bool) -> Episode {
        let fresh = !self.is_active() && !matches!(phase, Phase::Timeout { .. });
        self.stop();
        if fresh { Episode::New } else { Episode::Refused }
    }
    /// An episode begins or goes on: what is being retransmitted, and when.
    fn start(&mut self, e: &Expiry);
    fn stop(&mut self);
    /// Between `start` and a verdict, while nothing but the first segment is held lost.
    fn is_active(&self) -> bool;
    /// No ACK without SACK blocks has anything to say of a timeout.
    fn is_over(&self) -> bool {
        !self.is_active()
    }
    /// Highest sequence number sent before the timeout in question.
    fn high(&self) -> u64;
    fn on_ack(&mut self, a: &Ack) -> SpuriousVerdict;
}
