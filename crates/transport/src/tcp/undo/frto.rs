//! # F-RTO: forward RTO-recovery
//!
//! **Source**: rfc5682 sections 2 and 3 (rfc4138); jarvinen-2006 section 2.6.3; linux-2.6 `tcp_process_frto`; linux-6.18
//! `tcp_process_loss`.
//!
//! **Idea**: after a timeout send the first segment again, then *new* data on the next ACK that advances. If the ACK after
//! that advances too, it was caused by a segment of the original flight: the timeout was spurious.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `frto` | - | `off` | per preset: `off`, `basic`, `sack`, `linux-6` |
//! | `frto_peer_resends` | - | `ignore` | `count-as-duplicate` is the defect of [Järvinen 2006] section 5.3.1 |
//!
//! **Deviations**: 1. The response is the conservative one: the window stays at the halved threshold; nothing is
//! restored. 2. A timeout while F-RTO or another timeout's recovery is under way is taken as genuine (rfc5682 step 1).
//! 3. Linux, not the RFC: in the basic variant a second ACK that covers everything sent before the timeout is no proof,
//! so that a timeout in a window of two is never judged spurious. 4. `linux-6` does not judge a timer that expires again
//! before there is news, which the kernel does.
//!
//! **Checked by**: `tests/tapes/frto_*.tape` (claims J28 to J32), `undo/frto_oracle.rs` (every step on random ACKs).

use super::super::Ack;
use super::super::params::Frto as Variant;
use super::{Expiry, Judge, Judgement};

/// Where the algorithm stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Idle,
    /// The first segment was sent again; waiting for the first ACK.
    First,
    /// Two new segments were sent; waiting for the second ACK.
    Second,
}

#[derive(Clone, Debug)]
pub struct Frto {
    variant: Variant,
    step: Step,
    /// Highest sequence number sent before the timeout.
    high: u64,
    /// End of the segment that the timeout sent again.
    resent_end: u64,
}

impl Frto {
    pub fn new(variant: Variant) -> Frto {
        Frto { variant, step: Step::Idle, high: 0, resent_end: 0 }
    }
    fn first(&self, a: &Ack, variant: Variant) -> Judgement {
        if a.bytes > 0 && self.resent_end <= a.ack && a.ack < self.high {
            return Judgement::ProbeWithNewData;
        }
        // With SACK a duplicate only updates the scoreboard (rfc5682 section 3.1 step 2).
        if a.bytes == 0 && variant == Variant::Sack {
            return Judgement::Wait;
        }
        if a.bytes == 0 && !a.duplicate {
            return Judgement::Wait;
        }
        Judgement::Genuine { window_segments: 2 }
    }

    /// Linux 6 (`tcp_process_loss`): any original segment that arrives is proof, at whatever step, in order or by SACK.
    fn linux(&self, a: &Ack) -> Judgement {
        match self.step {
            _ if a.covers_original => Judgement::Spurious,
            Step::First if a.bytes > 0 && a.ack < self.high => Judgement::ProbeWithNewData,
            Step::First if a.bytes > 0 => Judgement::Genuine { window_segments: 2 },
            Step::Second if a.bytes > 0 || a.duplicate => Judgement::Genuine { window_segments: 3 },
            _ => Judgement::Wait,
        }
    }

    fn second_basic(&self, a: &Ack) -> Judgement {
        if a.bytes > 0 && a.ack < self.high {
            Judgement::Spurious
        } else if a.bytes > 0 || a.duplicate {
            Judgement::Genuine { window_segments: 3 }
        } else {
            Judgement::Wait
        }
    }

    fn second_sack(&self, a: &Ack) -> Judgement {
        if a.covers_original {
            Judgement::Spurious
        } else if a.bytes > 0 || a.duplicate {
            Judgement::Genuine { window_segments: 3 }
        } else {
            Judgement::Wait
        }
    }
}

impl Judge for Frto {
    fn start(&mut self, e: &Expiry) {
        self.step = Step::First;
        (self.high, self.resent_end) = (e.high, e.resent_end);
    }

    fn stop(&mut self) {
        self.step = Step::Idle;
    }

    fn is_active(&self) -> bool {
        self.step != Step::Idle
    }

    fn high(&self) -> u64 {
        self.high
    }

    fn judge(&mut self, a: &Ack) -> Judgement {
        let verdict = match (self.step, self.variant) {
            (Step::Idle, _) => return Judgement::None,
            (_, Variant::Linux6) => self.linux(a),
            (Step::First, v) => self.first(a, v),
            (Step::Second, Variant::Sack) => self.second_sack(a),
            (Step::Second, _) => self.second_basic(a),
        };
        match verdict {
            Judgement::ProbeWithNewData => self.step = Step::Second,
            Judgement::Spurious | Judgement::Genuine { .. } => self.step = Step::Idle,
            _ => {}
        }
        verdict
    }
}
