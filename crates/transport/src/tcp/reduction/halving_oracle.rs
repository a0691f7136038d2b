//! Rate halving against the kernel's own integers, on random recoveries.

use super::bound::bound;
use super::halving::{Bounds, Halving};
use crosswind_base::Streams;

/// The kernel's counters, with its own names.
struct Kernel {
    snd_cwnd: u32,
    snd_cwnd_cnt: u32,
    snd_ssthresh: u32,
    /// `iip_ratehalving` of the kernel of [Järvinen 2006].
    ratehalving: bool,
}

impl Kernel {
    fn cwnd_down(&mut self, in_flight: u32) {
        if self.ratehalving {
            let decr = self.snd_cwnd_cnt + 1;
            self.snd_cwnd_cnt = decr & 1;
            if decr >> 1 > 0 && self.snd_cwnd > self.snd_ssthresh / 2 {
                self.snd_cwnd -= decr >> 1;
            }
        }
        self.snd_cwnd = self.snd_cwnd.min(in_flight + 1);
    }
}

#[test]
fn the_window_falls_as_the_kernel_lets_it_fall() {
    let mut floors = 0;
    for seed in 0..300 {
        let mut r = Streams::new(seed).named("halving");
        let start = 2 + r.below(60) as u32;
        let mut kernel =
            Kernel { snd_cwnd: start, snd_cwnd_cnt: 0, snd_ssthresh: (start / 2).max(2), ratehalving: true };
        let ssthresh = f64::from(kernel.snd_ssthresh);
        let (mut ours, mut cwnd) = (Halving::default(), f64::from(start));
        for step in 0..100 {
            let in_flight = r.below(u64::from(start) + 4) as u32;
            kernel.cwnd_down(in_flight);
            cwnd = ours.on_ack(Bounds { cwnd, ssthresh, pipe: f64::from(in_flight) });
            assert_eq!(cwnd, f64::from(kernel.snd_cwnd), "seed {seed} step {step}");
            floors += u32::from(kernel.snd_cwnd <= kernel.snd_ssthresh / 2);
        }
    }
    assert!(floors > 0, "some recoveries reach half the threshold");
}

#[test]
fn without_rate_halving_the_bound_alone_moves_the_window() {
    const MSS: f64 = 1000.0;
    let mut held = 0;
    for seed in 0..300 {
        let mut r = Streams::new(seed).named("bound");
        // The window is set to the threshold when the recovery begins.
        let start = (1 + r.below(30) as u32).max(2);
        let mut kernel = Kernel { snd_cwnd: start, snd_cwnd_cnt: 0, snd_ssthresh: start, ratehalving: false };
        let mut cwnd = f64::from(start) * MSS;
        for step in 0..60 {
            let in_flight = r.below(u64::from(start) + 4) as u32;
            kernel.cwnd_down(in_flight);
            cwnd = cwnd.min(bound(f64::from(in_flight) * MSS, MSS));
            assert_eq!(cwnd, f64::from(kernel.snd_cwnd) * MSS, "seed {seed} step {step}");
        }
        held += u32::from(kernel.snd_cwnd < start);
    }
    assert!(held > 250, "nearly every recovery meets the bound: {held}");
}
