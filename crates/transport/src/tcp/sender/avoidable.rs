//! Timeouts that a longer timer would have avoided, as [Järvinen 2006] section 4.7 defines spurious ones: "the subset of RTOs that could
//! have been avoided by having a larger RTT estimate". The segment whose timer expired, or a copy of it that was in flight, had
//! arrived or was still to arrive. A segment that was lost together with its retransmission is none, whatever else arrives.
//!
//! The simulator knows of every ACK when the packet left that caused it. The first ACK that covers the segment decides: timeouts that
//! occurred after that packet had left were avoidable. A segment whose ACKs were all lost counts as one that was lost.

use super::Sender;
use super::state::Undecided;
use crosswind_base::{Packet, Time};

impl Sender {
    /// The timer of the first segment has expired.
    pub(super) fn leave_undecided(&mut self, now: Time) {
        match &mut self.undecided {
            Some(u) if u.start == self.una => u.at.push(now),
            other => *other = Some(Box::new(Undecided { start: self.una, at: vec![now] })),
        }
    }

    /// An ACK has come; `una` is what it acknowledges.
    #[cold]
    pub(super) fn decide(&mut self, pkt: &Packet, blocks: &[(u64, u64)]) {
        let Some(u) = &self.undecided else { return };
        let covers = self.una > u.start || blocks.iter().any(|b| b.0 <= u.start && u.start < b.1);
        if covers {
            let avoidable = u.at.iter().filter(|at| pkt.cause < **at).count();
            self.stats.avoidable_timeouts += avoidable as u32;
            self.undecided = None;
        }
    }
}
