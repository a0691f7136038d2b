//! # F-RTO: forward RTO-recovery
//!
//! **Source**: rfc5682 sections 2 and 3; rfc4138 and jarvinen-2006 section 2.6.3 (linux-2.6.20 `tcp_enter_frto`,
//! `tcp_process_frto`); linux-6.18 `tcp_process_loss`.
//!
//! **Idea**: after a timeout send the first segment again, then *new* data on the next ACK that advances. If the ACK after
//! that advances too, it was caused by a segment of the original flight: the timeout was spurious.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `frto` | - | `off` | per preset: `off`, `basic`, `sack`, `linux-2.6`, `linux-6` |
//! | `frto_peer_retransmissions` | - | `ignore` | `count-as-duplicate` is the defect of [Järvinen 2006] section 5.3.1 |
//!
//! **Deviations**: 1. The response is the conservative one: the window stays at the halved threshold; nothing is
//! restored. 2. A timeout in the recovery of another is taken as genuine (rfc5682 step 1), and with SACK one in fast recovery; one
//! that strikes the same segment again before an ACK advances is judged anew. 3. `linux-2.6`: every timeout is judged, whatever is
//! under way; a second ACK that covers everything sent before the timeout is no proof, so that a timeout in a window of two is
//! never found spurious. 4. `linux-6`: a timer that expires again before an ACK advances is looked at as well, also where the first
//! expiry was in a recovery (`tcp_enter_loss`).
//!
//! **Checked by**: `tests/tapes/frto_*.tape` (claims J28 to J32), `undo/frto_oracle.rs` (every step on random ACKs).

use super::super::choices::Frto as Variant;
use super::super::detect::Phase;
use super::{DetectSpurious, Episode, Expiry, SpuriousVerdict};
use crate::tcp::facts::Ack;

/// Where the algorithm stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Idle,
    /// The first segment was retransmitted; waiting for the first ACK.
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
    /// End of the segment that the timeout retransmitted.
    retransmitted_end: u64,
}

impl Frto {
    pub fn new(variant: Variant) -> Frto {
        Frto { variant, step: Step::Idle, high: 0, retransmitted_end: 0 }
    }
    fn first(&self, a: &Ack, variant: Variant) -> SpuriousVerdict {
        if a.bytes > 0 && self.retransmitted_end <= a.ack && a.ack < self.high {
            return SpuriousVerdict::ProbeWithNewData;
        }
        // With SACK a duplicate only updates the scoreboard (rfc5682 section 3.1 step 2).
        if a.bytes == 0 && variant == Variant::Sack {
            return SpuriousVerdict::Wait;
        }
        if a.bytes == 0 && !a.duplicate {
            return SpuriousVerdict::Wait;
        }
        SpuriousVerdict::Genuine { window_segments: 2 }
    }

    /// `tcp_process_loss`: any original segment that arrives is proof, at whatever step, in order or by SACK.
    fn any_original(&self, a: &Ack) -> SpuriousVerdict {
        match self.step {
            _ if a.covers_original => SpuriousVerdict::Spurious,
            Step::First if a.bytes > 0 && a.ack < self.high => SpuriousVerdict::ProbeWithNewData,
            Step::First if a.bytes > 0 => SpuriousVerdict::Genuine { window_segments: 2 },
            Step::Second if a.bytes > 0 || a.duplicate => SpuriousVerdict::Genuine { window_segments: 3 },
            _ => SpuriousVerdict::Wait,
        }
    }

    fn second_basic(&self, a: &Ack) -> SpuriousVerdict {
        let proves_nothing = self.variant == Variant::EveryTimeout && a.ack >= self.high;
        if a.bytes > 0 && !proves_nothing {
            SpuriousVerdict::Spurious
        } else if a.bytes > 0 || a.duplicate {
            SpuriousVerdict::Genuine { window_segments: 3 }
        } else {
            SpuriousVerdict::Wait
        }
    }

    fn second_sack(&self, a: &Ack) -> SpuriousVerdict {
        if a.covers_original && a.ack <= self.high {
            SpuriousVerdict::Spurious
        } else if a.bytes > 0 || a.duplicate {
            SpuriousVerdict::Genuine { window_segments: 3 }
        } else {
            SpuriousVerdict::Wait
        }
    }
}

impl DetectSpurious for Frto {
    fn on_expiry(&mut self, phase: Phase, is_repeated: bool) -> Episode {
        let nothing_came = is_repeated && self.step == Step::First;
        self.stop();
        match (self.variant, phase) {
            (Variant::AnyOriginal, Phase::Open | Phase::Echo { .. }) => Episode::New,
            (Variant::AnyOriginal, _) if is_repeated => Episode::Continued,
            (Variant::AnyOriginal, _) => Episode::Refused,
            _ if nothing_came => Episode::Continued,
            (Variant::EveryTimeout, _) => Episode::New,
            (Variant::Sack, Phase::Recovery { .. }) | (_, Phase::Timeout { .. }) => Episode::Refused,
            _ => Episode::New,
        }
    }

    fn start(&mut self, e: &Expiry) {
        self.step = Step::First;
        (self.high, self.retransmitted_end) = (e.high, e.retransmitted_end);
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

    fn on_ack(&mut self, a: &Ack) -> SpuriousVerdict {
        let verdict = match (self.step, self.variant) {
            (Step::Idle, _) => return SpuriousVerdict::None,
            (_, Variant::AnyOriginal) => self.any_original(a),
            (Step::First, v) => self.first(a, v),
            (Step::Second, Variant::Sack) => self.second_sack(a),
            (Step::Second, _) => self.second_basic(a),
        };
        match verdict {
            SpuriousVerdict::ProbeWithNewData => self.step = Step::Second,
            SpuriousVerdict::Spurious | SpuriousVerdict::Genuine { .. } => self.step = Step::Idle,
            _ => {}
        }
        verdict
    }
}
