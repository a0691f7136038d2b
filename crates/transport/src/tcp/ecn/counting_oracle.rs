//! The two routines of Linux 6.18 that read AccECN, line by line in their own units, against [`super::counting`].

use super::Thinning;
use super::counting::{Counting, Progress};
use crosswind_base::packet::{AccEcnOption, AccEcnOrder};
use crosswind_base::{Rng, Streams};

/// Fields of `tcp_sock`. Code points are numbers as in the IP header: 1 ECT(1), 2 ECT(0), 3 CE.
#[derive(Default)]
struct Sock {
    delivered_ce: u32,
    delivered_ecn_bytes: [u32; 3],
    est_ecnfield: usize,
    pkts_acked_ewma: u32,
    opt_failed: bool,
    saw_opt: bool,
}

impl Sock {
    fn process_option(&mut self, opt: Option<&AccEcnOption>, delivered_bytes: u32) -> bool {
        if self.opt_failed {
            return false;
        }
        let Some(opt) = opt else {
            if self.est_ecnfield != 0 {
                let i = self.est_ecnfield - 1;
                self.delivered_ecn_bytes[i] = self.delivered_ecn_bytes[i].wrapping_add(delivered_bytes);
                return true;
            }
            return false;
        };
        let order: [usize; 3] = if opt.order == AccEcnOrder::Ect1First { [1, 3, 2] } else { [2, 3, 1] };
        let wire: Vec<u32> = opt.in_order().collect();
        if !self.saw_opt {
            self.saw_opt = true;
            if wire.iter().zip(order).any(|(v, f)| f != 3 && *v == 0) {
                self.opt_failed = true;
                return false;
            }
        }
        let estimate = self.est_ecnfield;
        let (mut res, mut first_changed, mut ambiguous) = (estimate != 0, false, false);
        for (value, ecnfield) in wire.iter().zip(order) {
            let init_offset = if ecnfield == 3 { 0 } else { 1 };
            let cnt = &mut self.delivered_ecn_bytes[ecnfield - 1];
            let mut delta = (value.wrapping_sub(*cnt + init_offset) & 0xff_ffff) as i32;
            if delta & 0x80_0000 != 0 {
                delta -= 0x100_0000;
            }
            *cnt = cnt.wrapping_add(delta as u32);
            if delta != 0 {
                if delta < 0 {
                    (res, ambiguous) = (false, true);
                }
                if ecnfield != estimate {
                    if !first_changed {
                        self.est_ecnfield = ecnfield;
                        first_changed = true;
                    } else {
                        (res, ambiguous) = (false, true);
                    }
                }
            }
        }
        if ambiguous {
            self.est_ecnfield = 0;
        }
        res
    }

    fn process(&mut self, ace: u8, opt: Option<&AccEcnOption>, pkts: u32, bytes: u32, mss: u32, exact: bool) -> u32 {
        let old_ceb = self.delivered_ecn_bytes[2];
        let valid = self.process_option(opt, bytes);
        if pkts > 0 {
            if self.pkts_acked_ewma == 0 {
                self.pkts_acked_ewma = pkts << 6;
            } else {
                // ((64 - 1) ewma + (pkts << 6)) >> 6
                self.pkts_acked_ewma = (63 * self.pkts_acked_ewma + (pkts << 6)) >> 6;
            }
        }
        let corrected = u32::from(ace).wrapping_sub(5);
        let delta = corrected.wrapping_sub(self.delivered_ce) & 7;
        if pkts <= 7 {
            return delta;
        }
        let safe = pkts - ((pkts.wrapping_sub(delta)) & 7);
        if valid {
            let d_ceb = self.delivered_ecn_bytes[2].wrapping_sub(old_ceb);
            if d_ceb == 0 {
                return delta;
            }
            if pkts >= 16 && exact {
                if bytes <= d_ceb {
                    return safe;
                }
                let est = (u64::from(d_ceb) * u64::from(pkts)).div_ceil(u64::from(bytes)) as u32;
                return safe.min(delta + (est & !7));
            }
            if u64::from(d_ceb) > u64::from(delta) * u64::from(mss) {
                return safe;
            }
            if u64::from(d_ceb) < (u64::from(safe) * u64::from(mss)) >> 1 {
                return delta;
            }
        } else if self.pkts_acked_ewma > 4 << 6 {
            return delta;
        }
        safe
    }
}

/// A receiver whose counters are true; options are sometimes left out, cut, late or wrong.
struct Peer {
    ce: u32,
    bytes: [u32; 3],
}

impl Peer {
    fn take(&mut self, rng: &mut Rng, packets: u32, mark: f64) {
        for _ in 0..packets {
            let field = if rng.chance(mark) { 2 } else { usize::from(rng.chance(0.05)) };
            self.ce += u32::from(field == 2);
            self.bytes[field] = self.bytes[field].wrapping_add(1 + rng.below(1460) as u32) & 0xff_ffff;
        }
    }
    fn option(&self, rng: &mut Rng) -> Option<AccEcnOption> {
        let order = if rng.chance(0.5) { AccEcnOrder::Ect1First } else { AccEcnOrder::Ect0First };
        let fields = if rng.chance(0.8) { 3 } else { rng.below(4) as u8 };
        let lie = if rng.chance(0.02) { rng.below(1 << 24) as u32 } else { 0 };
        let one = |i: usize| self.bytes[i].wrapping_add(1) & 0xff_ffff;
        let option =
            AccEcnOption { order, fields, ceb: self.bytes[2].wrapping_add(lie) & 0xff_ffff, e0b: one(1), e1b: one(0) };
        rng.chance(0.7).then_some(option)
    }
}

#[test]
fn marks_are_counted_as_the_kernel_counts_them() {
    let (mut large, mut turns) = (0, 0);
    for seed in 0..200 {
        let mut rng = Streams::new(seed).named("accecn");
        let mut ours = Counting::new(Thinning::FromFour);
        let (mut kernel, mut peer) = (Sock::default(), Peer { ce: 0, bytes: [0; 3] });
        let mark = if rng.chance(0.3) { 0.9 } else { rng.between(0.0, 0.3) };
        let most = if rng.chance(0.5) { 3 } else { 40 };
        for step in 0..200 {
            let n = if rng.chance(0.1) { 30 } else { 1 + rng.below(most) as u32 };
            peer.take(&mut rng, n, mark);
            let (option, exact) = (peer.option(&mut rng), rng.chance(0.8));
            let bytes = n * 1000 + rng.below(400) as u32;
            let ace = (peer.ce + 5) as u8 & 7;
            let want = kernel.process(ace, option.as_ref(), n, bytes, 1460, exact);
            kernel.delivered_ce = kernel.delivered_ce.wrapping_add(want);
            let progress = Progress { packets: n, bytes: bytes.into(), mss: 1460, is_exact: exact };
            let got = ours.read(ace, option.as_ref(), progress).0;
            assert_eq!(got, want, "seed {seed}, step {step}: {option:?}");
            let [e1, e0, ce] = kernel.delivered_ecn_bytes;
            assert_eq!(ours.bytes(), [ce, e0, e1], "seed {seed}, step {step}");
            large += u32::from(n > 7);
            turns += u32::from(got > 7);
        }
    }
    assert!(large > 1000 && turns > 100, "{large} large ACKs, {turns} turns");
}
