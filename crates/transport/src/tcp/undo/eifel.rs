//! # Eifel detection
//!
//! **Source**: rfc3522 section 3.2; gurtov-2004 sections 4.2.2 and 4.3; rfc4015 section 3.2.
//!
//! **Idea**: the first ACK that advances after a timeout echoes a timestamp. If it is older than that of the first
//! retransmission, a segment sent before caused the ACK: the timeout was spurious. What follows is for
//! `spurious_response`, `spurious_timer` and `spurious_unlock` to say; new data goes on where it stopped.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `eifel` | - | `off` | needs timestamps (rfc7323) |
//! | `spurious_response` | - | `halved` | conservative; `option-1` to `option-4`: gurtov-2004 section 4.3.2; `rfc4015` |
//! | `spurious_timer` | - | `std` | gurtov-2004 section 4.3.3 |
//! | `spurious_unlock` | - | `on` | gurtov-2004 section 4.3.1 (rfc5682 step 3b) |
//!
//! **Deviations**: 1. Spurious fast retransmits are not looked for, as in the source. 2. A timeout of which nothing comes
//! back but duplicates stays open, as RFC 3522 has it, until an ACK advances.
//!
//! **Checked by**: `undo/eifel_oracle.rs` (detection and response on random ACKs), `tests/tapes/eifel_*.tape`,
//! `tests/undo.rs`.

use super::super::detect::Phase;
use super::{DetectSpurious, Episode, Expiry, SpuriousVerdict};
use crate::tcp::facts::{Ack, is_older};

/// The detection of one connection.
#[derive(Clone, Debug, Default)]
pub struct Eifel {
    waiting: bool,
    /// Timestamp of the first retransmission of the episode (`retrans_ts`).
    stamp: u32,
    high: u64,
}

impl DetectSpurious for Eifel {
    fn on_expiry(&mut self, _: Phase, _: bool) -> Episode {
        if self.waiting { Episode::Continued } else { Episode::New }
    }
    fn start(&mut self, e: &Expiry) {
        if !self.waiting {
            self.stamp = e.stamp;
        }
        (self.waiting, self.high) = (true, e.high);
    }
    fn stop(&mut self) {
        self.waiting = false;
    }
    fn is_active(&self) -> bool {
        self.waiting
    }
    fn high(&self) -> u64 {
        self.high
    }

    #[inline]
    fn on_ack(&mut self, a: &Ack) -> SpuriousVerdict {
        if !self.waiting {
            return SpuriousVerdict::None;
        }
        if a.bytes == 0 {
            return SpuriousVerdict::Wait;
        }
        self.waiting = false;
        if a.ts_ecr != 0 && is_older(a.ts_ecr, self.stamp) {
            SpuriousVerdict::Spurious
        } else {
            SpuriousVerdict::Conventional
        }
    }
}
