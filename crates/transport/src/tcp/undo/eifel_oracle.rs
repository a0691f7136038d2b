//! Eifel detection against the pseudo-code of [Gurtov 2004] section 4.2.2, with a clock that wraps.

use super::eifel::Eifel;
use super::{DetectSpurious, Episode, Expiry, SpuriousVerdict};
use crate::tcp::detect::Phase;
use crate::tcp::facts::Ack;
use crosswind_base::Streams;

/// The variables of the text. Timestamps count without wrapping.
#[derive(Default)]
struct Plain {
    in_check: bool,
    retrans_ts: u64,
    n_spurious: u32,
    n_genuine: u32,
}

impl Plain {
    fn on_rto(&mut self, now_ts: u64) {
        if !self.in_check {
            self.retrans_ts = now_ts;
            self.in_check = true;
        }
    }
    fn on_ack(&mut self, advances: u64, tsecr: u64) {
        if advances > 0 && self.in_check {
            self.in_check = false;
            if tsecr < self.retrans_ts {
                self.n_spurious += 1;
            } else {
                self.n_genuine += 1;
            }
        }
    }
}

#[test]
fn every_verdict_is_that_of_the_pseudo_code() {
    let mut seen = [0; 2];
    for seed in 0..500 {
        let mut r = Streams::new(seed).named("eifel");
        // The wire clock starts close below its end.
        let offset = u64::from(u32::MAX) - 50;
        let (mut ours, mut plain, mut counted) = (Eifel::default(), Plain::default(), [0u32; 2]);
        let mut now = 1 + r.below(100);
        for step in 0..60 {
            now += r.below(20);
            let wire = (now + offset) as u32;
            if r.chance(0.3) {
                plain.on_rto(now);
                let fresh = ours.on_expiry(Phase::Timeout { high: 1 }, true);
                assert_eq!(fresh == Episode::New, !ours.is_active(), "seed {seed} step {step}");
                ours.start(&Expiry { high: now, retransmitted_end: 0, stamp: wire });
            } else {
                let sent = now.saturating_sub(r.below(40));
                let bytes = r.below(3) * 1000;
                plain.on_ack(bytes, sent);
                let ts_ecr = (sent + offset) as u32;
                if ts_ecr == 0 {
                    // No timestamp on the wire: there is nothing to compare.
                    ours.stop();
                    (plain.in_check, counted) = (false, [plain.n_spurious, plain.n_genuine]);
                    continue;
                }
                match ours.on_ack(&Ack { bytes, ts_ecr, ..Ack::default() }) {
                    SpuriousVerdict::Spurious => counted[0] += 1,
                    SpuriousVerdict::Conventional => counted[1] += 1,
                    SpuriousVerdict::Wait => assert!(bytes == 0 && plain.in_check),
                    _ => assert!(!plain.in_check),
                }
            }
            assert_eq!(counted, [plain.n_spurious, plain.n_genuine], "seed {seed} step {step}");
            assert_eq!(ours.is_active(), plain.in_check, "seed {seed} step {step}");
        }
        seen[0] += counted[0];
        seen[1] += counted[1];
    }
    assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
}
