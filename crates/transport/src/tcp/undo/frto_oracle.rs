//! F-RTO against a plain transcription of RFC 5682 sections 2.1 and 3.1, with the rules of the two Linux.

use super::frto::Frto;
use super::{DetectSpurious, Expiry, SpuriousVerdict};
use crate::tcp::facts::Ack;
use crate::tcp::params::Frto as Variant;
use crosswind_base::{Rng, Streams, Time};

/// What a sender does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Do {
    /// Conventional recovery with this window.
    Conventional(u32),
    SendTwoNew,
    Spurious,
    Stay,
    NotRunning,
}

/// One connection's algorithm as prose.
struct Plain {
    sack: bool,
    linux: bool,
    /// `tcp_process_frto`.
    old_linux: bool,
    step: u32,
    recover: u64,
    /// What the timeout retransmitted: [una, una + mss).
    retransmitted_end: u64,
}

impl Plain {
    fn on_ack(&mut self, a: &Ack) -> Do {
        let advances = a.bytes > 0;
        let covers_recover = a.ack >= self.recover;
        let out = match (self.step, self.sack) {
            (0, _) => Do::NotRunning,
            // tcp_process_loss: FLAG_ORIG_SACK_ACKED undoes the loss; then steps 3.a and 2.b.
            _ if self.linux && a.covers_original => Do::Spurious,
            (2, _) if self.linux && advances && !covers_recover => Do::SendTwoNew,
            (2, _) if self.linux && advances => Do::Conventional(2),
            (3, _) if self.linux && (advances || a.duplicate) => Do::Conventional(3),
            _ if self.linux => Do::Stay,
            // 2.1 (2a): a duplicate, or an ACK that covers `recover`, or one that does not cover all that step 1 sent.
            (2, false) if advances && (covers_recover || a.ack < self.retransmitted_end) => Do::Conventional(2),
            (2, false) if !advances && a.duplicate => Do::Conventional(2),
            // (2b): it advances: two new segments.
            (2, false) if advances => Do::SendTwoNew,
            // 3.1 (2a): covers `recover`. (2b): a duplicate updates the scoreboard. (2c): advances.
            (2, true) if advances && (covers_recover || a.ack < self.retransmitted_end) => Do::Conventional(2),
            (2, true) if advances => Do::SendTwoNew,
            // 2.1 (3a): duplicate. Linux 2.6: so is an ACK of everything sent before the timeout.
            (3, false) if self.old_linux && advances && covers_recover => Do::Conventional(3),
            (3, false) if advances => Do::Spurious,
            (3, false) if a.duplicate => Do::Conventional(3),
            // 3.1 (3b): something that was outstanding at the timeout and never retransmitted has arrived.
            (3, true) if a.covers_original && a.ack <= self.recover => Do::Spurious,
            (3, true) if advances || a.duplicate => Do::Conventional(3),
            _ => Do::Stay,
        };
        self.step = match out {
            Do::Conventional(_) | Do::Spurious | Do::NotRunning => 0,
            Do::SendTwoNew => 3,
            Do::Stay => self.step,
        };
        out
    }
}

fn ack(r: &mut Rng, una: u64, high: u64) -> Ack {
    let advances = r.chance(0.6);
    let ack = if !advances {
        una
    } else if r.chance(0.15) {
        una + 1 + r.below(999)
    } else {
        (una + 1000 * (1 + r.below(4))).min(high.max(una) + 2000)
    };
    Ack {
        now: Time::ZERO,
        ack,
        bytes: ack - una,
        segments: 1,
        sacked: 0,
        duplicate: !advances && r.chance(0.8),
        newly_delivered: 0,
        newly_ce: 0,
        ce_bytes: 0,
        rtt: None,
        in_flight_before: 0,
        window_limited: true,
        covers_retransmitted: false,
        covers_original: r.chance(0.4),
        ..Ack::default()
    }
}

#[test]
fn every_step_is_that_of_rfc_5682() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..4000 {
        let mut r = Streams::new(seed).named("frto");
        let variant = [Variant::Basic, Variant::Sack, Variant::AnyOriginal, Variant::EveryTimeout][(seed % 4) as usize];
        let high = 1 + 1000 * (1 + r.below(6));
        let mut ours = Frto::new(variant);
        ours.start(&Expiry { high, retransmitted_end: 1001, stamp: 0 });
        let old_linux = variant == Variant::EveryTimeout;
        let (sack, linux) = (variant != Variant::Basic && !old_linux, variant == Variant::AnyOriginal);
        let mut plain = Plain { sack, linux, old_linux, step: 2, recover: high, retransmitted_end: 1001 };
        let mut una = 1;
        for step in 0..6 {
            let a = ack(&mut r, una, high);
            una = a.ack;
            let want = plain.on_ack(&a);
            let got = match ours.on_ack(&a) {
                SpuriousVerdict::None => Do::NotRunning,
                SpuriousVerdict::Wait => Do::Stay,
                SpuriousVerdict::ProbeWithNewData => Do::SendTwoNew,
                SpuriousVerdict::Spurious => Do::Spurious,
                SpuriousVerdict::Genuine { window_segments } => Do::Conventional(window_segments),
                SpuriousVerdict::Conventional => unreachable!("F-RTO says with which window"),
            };
            assert_eq!(got, want, "seed {seed} step {step} {a:?}");
            *seen.entry(format!("{got:?}")).or_insert(0) += 1;
        }
    }
    // Every outcome was reached: NotRunning, Stay, SendTwoNew, Spurious, Conventional(2), Conventional(3).
    assert_eq!(seen.len(), 6, "{seen:?}");
}

#[test]
fn a_timeout_within_another_episode_is_judged_as_the_rules_say() {
    use super::Episode::{Continued, New, Refused};
    use crate::tcp::detect::Phase;
    let (open, recovery, timeout) = (Phase::Open, Phase::Recovery { high: 9 }, Phase::Timeout { high: 9 });
    let first = || Ack { ack: 2, bytes: 1, segments: 1, ..Ack::default() };
    // Rows: fresh and in these phases; while the first ACK is awaited, again and for another segment; while the second one is.
    for (variant, fresh, awaits_first, awaits_second) in [
        (Variant::Basic, [New, New, Refused], Continued, Refused),
        (Variant::Sack, [New, Refused, Refused], Continued, Refused),
        (Variant::EveryTimeout, [New, New, New], Continued, New),
    ] {
        for (phase, expected) in [open, recovery, timeout].into_iter().zip(fresh) {
            assert_eq!(Frto::new(variant).on_expiry(phase, false), expected, "{variant:?} {phase:?}");
        }
        let judging = || {
            let mut f = Frto::new(variant);
            f.start(&Expiry { high: 9, retransmitted_end: 2, stamp: 0 });
            f
        };
        let mut f = judging();
        assert_eq!((f.on_expiry(timeout, true), f.is_active()), (awaits_first, false), "{variant:?}");
        let mut f = judging();
        assert_eq!(f.on_ack(&first()), SpuriousVerdict::ProbeWithNewData);
        assert_eq!(f.on_expiry(timeout, false), awaits_second, "{variant:?}");
    }
}

#[test]
fn linux_hears_a_timer_that_expires_again_for_the_same_segment() {
    use super::Episode;
    use crate::tcp::detect::Phase;
    // `tcp_enter_loss`: below Recovery, or after an expiry without progress.
    let told = |phase, is_repeated| Frto::new(Variant::AnyOriginal).on_expiry(phase, is_repeated);
    assert_eq!(told(Phase::Open, false), Episode::New);
    assert_eq!(told(Phase::Echo { high: 9 }, false), Episode::New);
    assert_eq!(told(Phase::Recovery { high: 9 }, false), Episode::Refused);
    assert_eq!(told(Phase::Timeout { high: 9 }, false), Episode::Refused);
    assert_eq!(told(Phase::Timeout { high: 9 }, true), Episode::Continued);
}
