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
//! **Deviations**: 1. The first segment of a recovery leaves at once. 2. The round trip is smoothed as in rfc6298 over what the sender's
//! own clock says of the segments that are acknowledged, whatever the tick of timestamps and of the retransmission timer; that timer's
//! mean is used before the first segment is acknowledged. The window is that at the time of sending.
//!
//! **Checked by**: `tests/patience.rs` (claim B130); `tests/fast.rs` (a clock of 10 ms).

use super::Ack;
use super::law::seen::Seen;
use super::params::{Pacing, TcpParams};
use crosswind_base::{Dur, Time};

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    next: Time,
    seen: Seen,
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
        (p.pacing == Pacing::Window).then_some(Pacer { next: Time::ZERO, seen: Seen::new(), is_wanted: Wanted::No })
    }
    /// Whether a segment that could leave now has to wait.
    pub fn holds(&mut self, now: Time) -> bool {
        let holds = now < self.next;
        if holds {
            self.is_wanted = Wanted::Yes;
        }
        holds
    }
    /// An ACK tells how long its segments were under way.
    pub fn on_ack(&mut self, a: &Ack) {
        self.seen.take_sample(a.last_trip());
    }
    /// A segment has left; `window` in segments. `of_timer` is the round trip that the retransmission timer knows, if any.
    pub fn left(&mut self, now: Time, of_timer: Option<Dur>, window: f64) {
        let seen = (self.seen.smoothed_s > 0.0).then(|| Dur::from_secs_f64(self.seen.smoothed_s));
        if let Some(srtt) = seen.or(of_timer) {
            self.next = self.next.max(now) + srtt.mul_f64(1.0 / window.max(1.0));
        }
    }
    pub fn alarm(&self) -> Time {
        if self.is_wanted == Wanted::Yes { self.next } else { Time::NEVER }
    }
    pub fn on_alarm(&mut self) {
        self.is_wanted = Wanted::No;
    }
}
