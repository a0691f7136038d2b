//! # Pacing
//!
//! **Source**: bhandarkar-2006 V.C (TCP-LDP, point 4).
//!
//! **Idea**: segments leave at least `srtt / cwnd` apart, so that a late packet whose arrival releases a large cumulative ACK
//! does not release a burst. Without pacing they leave as soon as the window allows.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `pacing` | - | `off` | bhandarkar-2006: `window` in TCP-LDP |
//!
//! **Deviations**: 1. The first segment of a recovery leaves at once. 2. The interval uses the smoothed round-trip time of the
//! retransmission timer, and the window at the time of sending. Where that timer's clock is coarse (10 ms in the Linux 2.4
//! presets) the rate is as much too low, and the window grows beyond what is in flight before a queue is felt.
//!
//! **Checked by**: `tests/patience.rs` (claim B130).

use super::params::{Pacing, TcpParams};
use crosswind_base::{Dur, Time};

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    next: Time,
    /// Something had to wait since the last alarm.
    is_wanted: Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    No,
    Yes,
}

impl Pacer {
    pub fn asked_for(p: &TcpParams) -> Option<Pacer> {
        (p.pacing == Pacing::Window).then_some(Pacer { next: Time::ZERO, is_wanted: Wanted::No })
    }
    /// Whether a segment that could leave now has to wait.
    pub fn holds(&mut self, now: Time) -> bool {
        let holds = now < self.next;
        if holds {
            self.is_wanted = Wanted::Yes;
        }
        holds
    }
    /// A segment has left; `window` in segments.
    pub fn left(&mut self, now: Time, srtt: Dur, window: f64) {
        self.next = self.next.max(now) + srtt.mul_f64(1.0 / window.max(1.0));
    }
    pub fn alarm(&self) -> Time {
        if self.is_wanted == Wanted::Yes { self.next } else { Time::NEVER }
    }
    pub fn on_alarm(&mut self) {
        self.is_wanted = Wanted::No;
    }
}
