//! DCTCP against the kernel's routines in their own integers, and against RFC 8257 section 3.3 in real numbers, on random ACKs.

use super::Start;
use super::dctcp::{Dctcp, DctcpParams, DctcpProfile};
use super::{AckSample, Change, Controller};
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::preset;
use crosswind_base::Streams;

const MSS: u64 = 1000;

/// What both sources are told of an ACK, and what they say of a reduction.
trait Plain {
    fn ack(&mut self, una: u64, nxt: u64, packets: u32, marked: u32);
    fn alpha(&self) -> f64;
    /// The window of so many segments after marks.
    fn reduced(&self, segments: f64) -> f64;
}

/// `dctcp_update_alpha`, `dctcp_reset` and `dctcp_ssthresh`, with their names.
struct Kernel {
    delivered: u32,
    delivered_ce: u32,
    old_delivered: u32,
    old_delivered_ce: u32,
    next_seq: u64,
    dctcp_alpha: u32,
}

impl Plain for Kernel {
    fn ack(&mut self, una: u64, nxt: u64, packets: u32, marked: u32) {
        self.delivered += packets;
        self.delivered_ce += marked;
        if una < self.next_seq {
            return;
        }
        let delivered = self.delivered - self.old_delivered;
        let mut delivered_ce = self.delivered_ce - self.old_delivered_ce;
        let mut alpha = self.dctcp_alpha;
        let by_shift = alpha >> 4;
        alpha -= if by_shift == 0 { alpha } else { by_shift };
        if delivered_ce > 0 {
            delivered_ce <<= 10 - 4;
            delivered_ce /= delivered.max(1);
            alpha = (alpha + delivered_ce).min(1024);
        }
        self.dctcp_alpha = alpha;
        self.next_seq = nxt;
        (self.old_delivered, self.old_delivered_ce) = (self.delivered, self.delivered_ce);
    }
    fn alpha(&self) -> f64 {
        f64::from(self.dctcp_alpha) / 1024.0
    }
    fn reduced(&self, segments: f64) -> f64 {
        let cwnd = segments as u32;
        f64::from((cwnd - ((cwnd * self.dctcp_alpha) >> 11)).max(2))
    }
}

/// Steps 1 to 9 of the RFC. Bytes that SACK reports count when it does, and a window of observation is over with the ACK for all that
/// was in flight, as the text has it; step 4 takes the next one.
struct Rfc {
    window_end: u64,
    bytes_acked: u64,
    bytes_marked: u64,
    alpha: f64,
}

impl Plain for Rfc {
    fn ack(&mut self, una: u64, nxt: u64, packets: u32, marked: u32) {
        self.bytes_acked += u64::from(packets) * MSS;
        self.bytes_marked += u64::from(marked) * MSS;
        if una < self.window_end {
            return;
        }
        let m = if self.bytes_acked > 0 { self.bytes_marked as f64 / self.bytes_acked as f64 } else { 0.0 };
        self.alpha = self.alpha * (1.0 - 1.0 / 16.0) + m / 16.0;
        self.window_end = nxt;
        (self.bytes_acked, self.bytes_marked) = (0, 0);
    }
    fn alpha(&self) -> f64 {
        self.alpha
    }
    fn reduced(&self, segments: f64) -> f64 {
        (segments * (1.0 - self.alpha / 2.0)).max(2.0)
    }
}

fn compare(profile: DctcpProfile, plain: impl Fn() -> Box<dyn Plain>) {
    let base = preset::preset("linux-6-dctcp").expect("a preset");
    let mss = crosswind_base::units::Size(MSS);
    let params = base.with(|p| {
        p.connection.mss = mss;
        p.controller.dctcp = DctcpParams { profile, ..DctcpParams::default() };
    });
    let mut rounds = 0;
    for seed in 0..100 {
        let mut r = Streams::new(seed).named("dctcp-oracle");
        let (mut ours, mut plain) = (Dctcp::new(&params.controller.dctcp, Start::of(&params)), plain());
        ours.change(Change::StartFrom((4 + r.below(100)) as f64 * MSS as f64));
        let (mut una, mut mark) = (1, r.uniform());
        for step in 0..600 {
            if r.chance(0.02) {
                mark = if r.chance(0.3) { 0.0 } else { r.uniform() };
            }
            // Two of ten report blocks only.
            let packets = 1 + r.below(3) as u32;
            let advances = r.chance(0.8);
            una += if advances { u64::from(packets) * MSS } else { 0 };
            let marked = (0..packets).filter(|_| r.chance(mark)).count() as u32;
            let nxt = una + r.below(60) * MSS;
            let a = Ack {
                ack: una,
                bytes: if advances { u64::from(packets) * MSS } else { 0 },
                delivered: u64::from(packets) * MSS,
                newly_delivered: packets,
                newly_ce: marked,
                ce_bytes: u64::from(marked) * MSS,
                ..Ack::default()
            };
            let before = plain.alpha();
            ours.on_ack(&AckSample { may_grow: false, nxt, ..AckSample::of(&a) });
            plain.ack(una, nxt, packets, marked);
            rounds += u32::from(plain.alpha() != before);
            assert!(
                (ours.alpha() - plain.alpha()).abs() < 1e-9,
                "seed {seed} step {step}: {} {}",
                ours.alpha(),
                plain.alpha()
            );
            if r.chance(0.05) {
                let want = plain.reduced(ours.cwnd() / MSS as f64);
                ours.reduce(Trigger::Echo, 0.0);
                let got = ours.cwnd() / MSS as f64;
                assert!((got - want).abs() < 1e-6, "seed {seed} step {step}: {got} segments, not {want}");
                ours.change(Change::StartFrom((4 + r.below(100)) as f64 * MSS as f64));
            }
        }
    }
    assert!(rounds > 1000, "{rounds} rounds");
}

#[test]
fn alpha_and_reductions_are_the_kernels() {
    compare(DctcpProfile::Linux, || {
        let (delivered, delivered_ce, old_delivered, old_delivered_ce) = (0, 0, 0, 0);
        Box::new(Kernel { delivered, delivered_ce, old_delivered, old_delivered_ce, next_seq: 0, dctcp_alpha: 1024 })
    });
}

#[test]
fn alpha_and_reductions_are_those_of_rfc_8257() {
    compare(DctcpProfile::Rfc, || Box::new(Rfc { window_end: 0, bytes_acked: 0, bytes_marked: 0, alpha: 1.0 }));
}
