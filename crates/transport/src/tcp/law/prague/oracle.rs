//! Prague against the module's rules in its own fixed point (alpha and window in 2^-20), on random ACKs, marks and losses.

use super::super::super::detect::Phase;
use super::*;
use crate::tcp::preset;
use crosswind_base::Streams;

const ONE_SEGMENT: u64 = 1 << 20;

/// The module 0.6; times in nanoseconds, the smoothed round trip in seconds.
struct Module {
    mode: RttScaling,
    target_ns: u64,
    transition: u32,
    /// The window, of which what is sent by is rounded up, and the threshold in segments.
    frac_cwnd: u64,
    ssthresh: u64,
    upscaled_alpha: u64,
    saw_ce: bool,
    next_seq: u64,
    rounds: u32,
    delivered: u64,
    delivered_ce: u64,
    alpha_stamp: u64,
    cwr_stamp: u64,
    srtt: f64,
}

impl Module {
    fn in_slow_start(&self) -> bool {
        self.frac_cwnd.div_ceil(ONE_SEGMENT) < self.ssthresh
    }
    /// The virtual round trip in nanoseconds; none where the real one counts.
    fn target(&self) -> Option<f64> {
        if self.mode == RttScaling::Off || self.rounds < self.transition || self.srtt > 0.1 {
            return None;
        }
        let target = self.target_ns as f64 + if self.mode == RttScaling::Additive { self.srtt * 1e9 } else { 0.0 };
        (self.srtt * 1e9 < target).then_some(target)
    }
    fn has_passed(&self, now: u64, stamp: u64) -> bool {
        self.target().is_none_or(|t| (now - stamp) as f64 >= t)
    }
    fn ack(&mut self, now: u64, rtt: f64, una: u64, nxt: u64, n: (u64, u64), recovers: bool) {
        self.srtt = if self.srtt == 0.0 { rtt } else { self.srtt * 7.0 / 8.0 + rtt / 8.0 };
        self.delivered += n.0;
        self.delivered_ce += n.1;
        if una >= self.next_seq {
            self.next_seq = nxt;
            self.rounds += u32::from(!self.in_slow_start());
            if self.has_passed(now, self.alpha_stamp) {
                self.alpha_stamp = now;
                if self.saw_ce {
                    let f = (self.delivered_ce << 20) / self.delivered.max(1);
                    self.upscaled_alpha = (self.upscaled_alpha + f - self.upscaled_alpha / 16).min(1 << 24);
                }
                (self.delivered, self.delivered_ce) = (0, 0);
            }
        }
        let unmarked = n.0 - n.1;
        if unmarked == 0 || recovers {
            return;
        }
        if self.in_slow_start() {
            self.frac_cwnd = (self.frac_cwnd + unmarked * ONE_SEGMENT).min(self.ssthresh.saturating_mul(ONE_SEGMENT));
            return;
        }
        let a = self.target().map_or(1.0, |t| match self.mode {
            RttScaling::Scalable => {
                let (r0, r1) = (0.016_384, 0.001_536);
                (r0 / 8.0 + (self.srtt - r1).max(0.0).min(r0)) * self.srtt / (r0 * r0)
            }
            _ => (self.srtt * 1e9 / t).powi(2),
        });
        let more = (unmarked as f64 * a * (ONE_SEGMENT * ONE_SEGMENT) as f64) as u128 / u128::from(self.frac_cwnd);
        self.frac_cwnd += (more as u64).max(unmarked);
    }
    fn enter_cwr(&mut self, now: u64) {
        if self.saw_ce && !self.has_passed(now, self.cwr_stamp) {
            return;
        }
        (self.saw_ce, self.cwr_stamp) = (true, now);
        // Half of alpha's share, to the nearest.
        let reduction = (u128::from(self.upscaled_alpha) * u128::from(self.frac_cwnd) + (1 << 24)) >> 25;
        self.frac_cwnd = (self.frac_cwnd - reduction as u64).max(2 * ONE_SEGMENT);
        self.ssthresh = self.ssthresh.min(self.frac_cwnd.div_ceil(ONE_SEGMENT));
    }
    fn lose(&mut self) {
        self.frac_cwnd = (self.frac_cwnd / 2).max(2 * ONE_SEGMENT);
        self.ssthresh = self.ssthresh.min(self.frac_cwnd.div_ceil(ONE_SEGMENT));
    }
}

fn compare(mode: RttScaling, rtt_ms: f64) {
    let base = preset::preset("prague").expect("a preset");
    let prague = PragueParams { rtt_scaling: mode, transition_rounds: 4, ..PragueParams::default() };
    let params = base.with(|p| p.controller.prague = prague);
    let mss = params.connection.mss.0;
    for seed in 0..60 {
        let mut r = Streams::new(seed).named("prague-oracle");
        let mut ours = Prague::new(&params.controller.prague, Start::of(&params));
        let mut module = Module {
            mode,
            target_ns: 25_000_000,
            transition: 4,
            frac_cwnd: 10 * ONE_SEGMENT,
            ssthresh: u64::from(u32::MAX),
            upscaled_alpha: 1 << 24,
            saw_ce: false,
            next_seq: 0,
            rounds: 0,
            delivered: 0,
            delivered_ce: 0,
            alpha_stamp: 0,
            cwr_stamp: 0,
            srtt: 0.0,
        };
        let (mut una, mut now, mut mark) = (1, 0, 0.0);
        for step in 0..1500 {
            if r.chance(0.01) || step == 30 {
                mark = 0.3 * r.uniform();
            }
            now += 100_000 + r.below(2_000_000);
            let rtt = Dur::from_secs_f64(rtt_ms / 1e3 * (0.9 + 0.2 * r.uniform()));
            let packets = 1 + r.below(2) as u32;
            let marked = (0..packets).filter(|_| r.chance(mark)).count() as u32;
            una += u64::from(packets) * mss;
            let nxt = una + (1 + r.below(30)) * mss;
            let recovers = r.chance(0.02);
            let phase = if recovers { Phase::Recovery { high: nxt } } else { Phase::Open };
            let a = Ack {
                now: Time(now),
                ack: una,
                newly_delivered: packets,
                newly_ce: marked,
                rtt: Some(rtt),
                window_limited: true,
                ..Ack::default()
            };
            ours.on_ack(&AckSample { phase, nxt, agreed: Agreed::Accurate, ..AckSample::of(&a) });
            module.ack(now, rtt.as_secs_f64(), una, nxt, (packets.into(), marked.into()), recovers);
            if marked > 0 && !recovers {
                ours.reduce(Trigger::Echo, 0.0);
                module.enter_cwr(now);
            } else if r.chance(0.003) {
                ours.reduce(Trigger::Loss, 0.0);
                module.lose();
            }
            assert_eq!(ours.alpha, module.upscaled_alpha, "{mode:?} seed {seed} step {step}: alpha");
            let (got, want) = (ours.exact / mss as f64, module.frac_cwnd as f64 / ONE_SEGMENT as f64);
            assert!((got / want - 1.0).abs() < 1e-3, "{mode:?} seed {seed} step {step}: {got} segments, not {want}");
        }
        assert!(module.saw_ce && module.rounds > 20, "{} rounds", module.rounds);
    }
}

#[test]
fn windows_and_alpha_are_those_of_the_module_in_every_mode() {
    for mode in [RttScaling::Off, RttScaling::Rate, RttScaling::Scalable, RttScaling::Additive] {
        for rtt_ms in [5.0, 20.0, 60.0, 130.0] {
            compare(mode, rtt_ms);
        }
    }
}
