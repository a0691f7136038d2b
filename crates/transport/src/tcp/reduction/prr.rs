//! # Proportional rate reduction
//!
//! **Source**: rfc6937 section 3; rfc9937 section 6; linux-6.18 `tcp_cwnd_reduction`.
//!
//! **Idea**: in a recovery each ACK may release `ceil(delivered ssthresh / base) - out` segments while more than `ssthresh` is in the
//! network, so that the window falls to `ssthresh` over a round trip; below it, as many as were delivered, and
//! with `prr-ssrb` one more, never beyond `ssthresh`. The window is what is in the network and that; `ssthresh` at the end.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `reduction` | - | `at-once` | `prr-safe-ack` in the preset `linux-6` |
//! | `echo_reduction` | - | `at-once` | rfc3168 section 6.1.2 says by how much, not how; `as-losses` in the preset `linux-6` |
//!
//! **Deviations**: 1. `base` is what the profile reduces from (`reduce_from`), the window in Linux, the data outstanding in
//! rfc6937; with `prr-rfc9937` it is `RecoverFS` of that document. 2. Segments are counted as bytes over `mss`, rounded up where the source rounds bytes. 3. Where
//! losses are not told one by one (all detectors but
//! `rack`), an ACK that advances is always a safe one. 4. Without SACK only what is acknowledged counts as delivered, not a segment for each duplicate
//! ACK: the first partial ACK brings it all.
//!
//! **Checked by**: `reduction/prr_oracle.rs` (the pseudo-code in whole segments, on random recoveries); `tests/linux6.rs`;
//! `tests/tapes/ecn_reduction_over_a_round_trip.tape`.

use crate::tcp::choices::choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// How the window falls to the threshold when a loss was found by ACKs.
    #[derive(Default)]
    Reduction {
        /// At once (RFC 6675).
        #[default]
        AtOnce,
        /// PRR, bounded by what was delivered (rfc6937, conservative reduction bound).
        PrrCrb,
        /// PRR with one segment more an ACK below the threshold (rfc6937, slow-start reduction bound).
        PrrSsrb,
        /// PRR with one segment more when the ACK advances and shows no new loss (Linux; rfc9937).
        PrrSafeAck,
        /// The same, in proportion to what was in flight and not reported by SACK before (rfc9937).
        #[serde(rename = "prr-rfc9937")]
        PrrRfc9937,
        /// Half as fast as ACKs arrive, and never beyond what is in flight (Linux 2.4 to 3.1).
        #[serde(rename = "linux-2.4")]
        RateHalving,
    }
);

choice!(
    /// How the window falls to the threshold after an echo of ECN.
    #[derive(Default)]
    EchoReduction {
        /// At once: nothing leaves until less is in the network (RFC 3168, ns-2).
        #[default]
        AtOnce,
        /// As after a loss, over a round trip (Linux).
        AsLosses,
    }
);

/// One recovery.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    ssthresh: f64,
    base: f64,
    delivered: f64,
    out: f64,
}

/// What an ACK tells; in segments.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Delivered by this ACK, in order or by SACK.
    pub newly: f64,
    /// In the network after it.
    pub pipe: f64,
    /// It advances and shows no new loss.
    pub is_safe: Safety,
}

/// Whether recovery makes good progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    Safe,
    Unsafe,
}

impl Prr {
    /// A recovery begins: from `base` segments to `ssthresh`.
    pub fn new(base: f64, ssthresh: f64) -> Prr {
        Prr { ssthresh, base: base.max(1.0), delivered: 0.0, out: 0.0 }
    }

    /// So many segments have left.
    pub fn on_sent(&mut self, segments: f64) {
        self.out += segments;
    }

    /// How many segments this ACK may release.
    pub fn release(&mut self, p: Progress, how: Reduction) -> f64 {
        self.delivered += p.newly;
        let room = self.ssthresh - p.pipe;
        let owed = self.delivered - self.out;
        let count = if room < 0.0 {
            (self.ssthresh * self.delivered / self.base).ceil() - self.out
        } else {
            let limit = match (how, p.is_safe) {
                (Reduction::PrrSsrb, _) => owed.max(p.newly) + 1.0,
                (Reduction::PrrSafeAck | Reduction::PrrRfc9937, Safety::Safe) => owed.max(p.newly) + 1.0,
                (Reduction::PrrSafeAck | Reduction::PrrRfc9937, Safety::Unsafe) => owed.max(p.newly),
                _ => owed,
            };
            limit.min(room)
        };
        // The first retransmission always leaves.
        count.max(if self.out > 0.0 { 0.0 } else { 1.0 })
    }
}
