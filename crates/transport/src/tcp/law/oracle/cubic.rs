//! RFC 9438 section 4, equation by equation, in segments and seconds.

use super::*;
use crate::tcp::choices::Switch;
use crate::tcp::law::cubic::{CubicParams, CubicVersion};
use crate::tcp::law::cubic_linux::Counting;

#[derive(Default)]
struct PlainCubic {
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<(f64, f64)>,
    w_est: f64,
    after_timeout: bool,
    srtt: Option<f64>,
}

const C: f64 = 0.4;
const BETA: f64 = 0.7;

impl Plain for PlainCubic {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        let rtt = smooth(&mut self.srtt, s.rtt_s);
        if cwnd < ssthresh {
            return cwnd + 1.0;
        }
        let (epoch_start, cwnd_epoch) = *self.epoch.get_or_insert_with(|| {
            self.w_est = cwnd;
            // Section 4.8: the first congestion avoidance after a timeout has the window at its beginning as w_max, so that K
            // is zero. Section 4.10: so has one that begins without a loss, or above the window of the last one.
            if std::mem::take(&mut self.after_timeout) || cwnd > self.w_max {
                self.w_max = cwnd;
            }
            (s.now_s, cwnd)
        });
        let k = ((self.w_max - cwnd_epoch) / C).powf(1.0 / 3.0);
        let w_cubic = |t: f64| C * (t - k) * (t - k) * (t - k) + self.w_max;
        let t = s.now_s - epoch_start;
        // Figure 4, with alpha_cubic = 1 once w_est has reached cwnd_prior.
        let alpha = if self.w_est < self.cwnd_prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        self.w_est += alpha / cwnd;
        if w_cubic(t) < self.w_est {
            return self.w_est.max(cwnd);
        }
        let target = if w_cubic(t + rtt) < cwnd { cwnd } else { w_cubic(t + rtt).min(1.5 * cwnd) };
        cwnd + (target - cwnd) / cwnd
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        // cwnd_prior is saved with ssthresh, which the same segment does not lower again (RFC 5681 section 3.1).
        if !(self.after_timeout && why == Trigger::Timeout && cwnd <= 1.0) {
            self.cwnd_prior = cwnd;
        }
        self.after_timeout = why == Trigger::Timeout;
        self.epoch = None;
        BETA * cwnd
    }
}

#[test]
fn cubic_is_rfc_9438() {
    compare(&params(LawName::Cubic), 0.0005, || Box::new(PlainCubic::default()));
}

/// Linux 6.18 with the kernel's names, its whole numbers and its jiffies (250 a second); the cube root is exact.
#[derive(Default)]
struct Kernel {
    cnt: u32,
    last_max_cwnd: u32,
    last_cwnd: u32,
    last_time: i64,
    bic_origin_point: u32,
    bic_k: u64,
    delay_min_us: Option<u64>,
    epoch_start: Option<i64>,
    ack_cnt: u32,
    tcp_cwnd: u32,
    snd_cwnd_cnt: u32,
}

const HZ: i64 = 250;
const KERNEL_BETA: u32 = 717;

impl Kernel {
    fn update(&mut self, jiffies: i64, cwnd: u32) {
        self.ack_cnt += 1;
        if self.last_cwnd == cwnd && jiffies - self.last_time <= HZ / 32 {
            return;
        }
        if self.epoch_start.is_none() || jiffies != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = jiffies;
            self.cubic(jiffies, cwnd);
        }
        let scale = 8 * (1024 + KERNEL_BETA) / 3 / (1024 - KERNEL_BETA);
        let delta = (cwnd * scale) >> 3;
        while self.ack_cnt > delta {
            self.ack_cnt -= delta;
            self.tcp_cwnd += 1;
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
        self.cnt = self.cnt.max(2);
    }

    fn cubic(&mut self, jiffies: i64, cwnd: u32) {
        if self.epoch_start.is_none() {
            self.epoch_start = Some(jiffies);
            self.ack_cnt = 1;
            self.tcp_cwnd = cwnd;
            (self.bic_k, self.bic_origin_point) = (0, cwnd);
            if self.last_max_cwnd > cwnd {
                let cube_factor = (1u64 << 40) as f64 / 410.0;
                self.bic_k = (cube_factor * f64::from(self.last_max_cwnd - cwnd)).cbrt() as u64;
                self.bic_origin_point = self.last_max_cwnd;
            }
        }
        let delay_min = (self.delay_min_us.unwrap_or(0) * HZ as u64).div_ceil(1_000_000);
        let t = (((jiffies - self.epoch_start.unwrap_or(0)) as u64 + delay_min) << 10) / HZ as u64;
        let offs = t.abs_diff(self.bic_k);
        let delta = ((410 * offs * offs * offs) >> 40) as u32;
        let target =
            if t < self.bic_k { self.bic_origin_point.saturating_sub(delta) } else { self.bic_origin_point + delta };
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max_cwnd == 0 && self.cnt > 20 {
            self.cnt = 20;
        }
    }
}

impl Plain for Kernel {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        let rtt_us = (s.rtt_s * 1e6).round() as u64;
        self.delay_min_us = Some(self.delay_min_us.map_or(rtt_us, |d| d.min(rtt_us)));
        if cwnd < ssthresh {
            return (cwnd + 1.0).min(ssthresh);
        }
        let mut window = cwnd as u32;
        self.update((s.now_s * HZ as f64) as i64, window);
        if self.snd_cwnd_cnt >= self.cnt {
            self.snd_cwnd_cnt = 0;
            window += 1;
        }
        self.snd_cwnd_cnt += 1;
        if self.snd_cwnd_cnt >= self.cnt {
            let delta = self.snd_cwnd_cnt / self.cnt;
            self.snd_cwnd_cnt -= delta * self.cnt;
            window += delta;
        }
        f64::from(window)
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        let cwnd = cwnd as u32;
        let fast = cwnd < self.last_max_cwnd;
        self.last_max_cwnd = if fast { cwnd * (1024 + KERNEL_BETA) / 2048 } else { cwnd };
        (self.epoch_start, self.snd_cwnd_cnt) = (None, 0);
        if why == Trigger::Timeout {
            *self = Kernel { delay_min_us: self.delay_min_us, ..Kernel::default() };
        }
        f64::from(cwnd * KERNEL_BETA / 1024)
    }
}

#[test]
fn cubic_of_linux_6_is_the_kernels() {
    let p = params(LawName::Cubic);
    let cubic = CubicParams { version: CubicVersion::Linux6, ..p.controller.cubic.clone() };
    let p = p.with(|p| {
        p.controller.cubic = cubic;
        p.window.avoidance_counting = AvoidanceCounting::Segments;
    });
    compare(&p, 0.0005, || Box::new(Kernel::default()));
}

#[test]
fn the_arithmetic_of_linux_6_bears_the_flattest_and_the_steepest_curve() {
    for c in [1e-6, 1e6] {
        let cubic = CubicParams { version: CubicVersion::Linux6, c, ..CubicParams::default() };
        cubic.check().expect("within the bounds");
        let p = params(LawName::Cubic).with(|p| {
            p.controller.cubic = cubic;
            p.window.initial_window_segments = 40_000_000;
        });
        let mut law = Law::new(&p);
        law.reduce(Trigger::Loss, law.cwnd());
        for i in 1..1000u64 {
            law.grow(&ack(Step { now_s: i as f64, rtt_s: 0.1, in_flight: 1.0 }, i));
        }
        assert!(law.cwnd().is_finite() && law.cwnd() > 0.0);
    }
}

/// Rhee and Xu 2005, section 3, with the names of the paper; `beta` is the share that a loss takes. What the law's page lists
/// as deviations is so here too: K from the window at the epoch's first ACK, a smoothed round trip, a segment per ACK at most
/// on the way to `w_tcp`, and RFC 9438's answer to timeouts, of which the paper says nothing.
struct Paper {
    c: f64,
    beta: f64,
    s_max: f64,
    friendly: Switch,
    convergence: Switch,
    w_max: f64,
    epoch: Option<(f64, f64)>,
    after_timeout: bool,
    srtt: Option<f64>,
}

impl Paper {
    fn new(p: &CubicParams) -> Paper {
        Paper {
            c: p.c,
            beta: 0.2,
            s_max: p.s_max,
            friendly: p.friendly,
            convergence: p.fast_convergence,
            w_max: 0.0,
            epoch: None,
            after_timeout: false,
            srtt: None,
        }
    }
}

impl Plain for Paper {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        let rtt = smooth(&mut self.srtt, s.rtt_s);
        if cwnd < ssthresh {
            return cwnd + 1.0;
        }
        if self.epoch.is_none() {
            if self.after_timeout || cwnd > self.w_max {
                self.w_max = cwnd;
                self.after_timeout = false;
            }
            let k = ((self.w_max - cwnd) / self.c).powf(1.0 / 3.0);
            self.epoch = Some((s.now_s, k));
        }
        let (epoch_start, k) = self.epoch.expect("set above");
        let t = s.now_s - epoch_start;
        // W(t + RTT) is the window for one round trip later; no faster than S_max a second.
        let ahead = t + rtt - k;
        let target = self.c * ahead * ahead * ahead + self.w_max;
        let mut next = cwnd;
        if target > cwnd {
            let steepest = cwnd + self.s_max * rtt;
            next += (if target < steepest { target } else { steepest } - cwnd) / cwnd;
        }
        let w_tcp = self.w_max * (1.0 - self.beta) + 3.0 * self.beta / (2.0 - self.beta) * (t / rtt);
        if self.friendly.on() && next < w_tcp {
            next = if w_tcp - cwnd < 1.0 { w_tcp } else { cwnd + 1.0 };
        }
        next
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        let gives_way = cwnd < self.w_max && self.convergence.on();
        self.w_max = if gives_way { cwnd * (2.0 - self.beta) / 2.0 } else { cwnd };
        self.after_timeout = why == Trigger::Timeout;
        self.epoch = None;
        cwnd * (1.0 - self.beta)
    }
}

fn of_2005(change: impl Fn(CubicParams) -> CubicParams) -> TcpParams {
    let p = params(LawName::Cubic);
    p.with(|t| {
        t.controller.cubic.version = CubicVersion::Pfldnet2005;
        t.controller.cubic = change(t.controller.cubic.clone());
    })
}

#[test]
fn cubic_of_2005_is_its_paper() {
    let variants = [
        of_2005(|c| c),
        of_2005(|c| CubicParams { friendly: Switch::Off, ..c }),
        of_2005(|c| CubicParams { fast_convergence: Switch::Off, ..c }),
        // So slow that the fastest growth is met within these traces.
        of_2005(|c| CubicParams { s_max: 5.0, ..c }),
    ];
    for p in variants {
        for lossy in [0.0005, 0.00005] {
            compare(&p, lossy, || Box::new(Paper::new(&p.controller.cubic)));
        }
    }
}

#[test]
fn cubic_of_2005_is_back_at_its_old_window_after_the_cube_root_of_what_it_lost_over_c() {
    // 1000 segments lose 200: K = (200 / 0.4)^(1/3) = 7.94 s. The window follows the curve one round trip ahead.
    let p = of_2005(|c| CubicParams { friendly: Switch::Off, ..c });
    let p = p.with(|p| {
        p.window.initial_ssthresh = Size(MSS);
        p.window.initial_window_segments = 1000;
    });
    let mut law = Law::new(&p);
    law.reduce(Trigger::Loss, law.cwnd());
    assert_eq!(law.cwnd(), 800.0 * MSS as f64);
    let window_after = |law: &mut Law, from_s: f64, to_s: f64| {
        let (mut now_s, mut acks) = (from_s, (from_s * 1e6) as u64);
        while now_s < to_s {
            now_s += 0.1 * MSS as f64 / law.cwnd();
            acks += 1;
            law.grow(&ack(Step { now_s, rtt_s: 0.1, in_flight: 1.0 }, acks));
        }
        law.cwnd() / MSS as f64
    };
    let half_way = window_after(&mut law, 1.0, 1.0 + 7.94 / 2.0);
    assert!((half_way - 975.0).abs() < 3.0, "{half_way}: an eighth of the way is left at half of the time");
    let back = window_after(&mut law, 1.0 + 7.94 / 2.0, 1.0 + 7.94);
    assert!((back - 1000.0).abs() < 0.1, "{back}");
}

#[test]
fn after_a_timeout_cubic_does_not_climb_back_to_the_old_window() {
    // From 100 segments: the threshold is 70, and slow start ends there. With K = 0 and w_max = 70 the curve is 70 + 0.4 t^3:
    // 70.4 segments a second later, where the way back to 100 would be at 100 - 0.4 (4.22 - 1)^3 = 86.7.
    let p = params(LawName::Cubic).with(|p| {
        p.window.initial_ssthresh = Size(MSS);
        p.window.initial_window_segments = 100;
    });
    let p = p.with(|t| t.controller.cubic.friendly = Switch::Off);
    let mut law = Law::new(&p);
    let (mut now_s, mut acks) = (1.0, 0u64);
    let mut run = |law: &mut Law, until: &dyn Fn(f64, f64) -> bool| {
        while !until(now_s, law.cwnd() / MSS as f64) {
            now_s += 0.1 * MSS as f64 / law.cwnd();
            acks += 1;
            law.grow(&ack(Step { now_s, rtt_s: 0.1, in_flight: 1.0 }, acks));
        }
        now_s
    };
    run(&mut law, &|now_s, _| now_s > 1.2);
    let before = law.cwnd() / MSS as f64;
    law.reduce(Trigger::Timeout, law.cwnd());
    let began_s = run(&mut law, &|_, window| window >= 0.7 * before);
    run(&mut law, &|now_s, _| now_s >= began_s + 1.0);
    let grown = law.cwnd() / MSS as f64 - 0.7 * before;
    // The window follows what the curve says one round trip ahead.
    assert!((0.2..1.6).contains(&grown), "{grown} segments above the threshold of {}", 0.7 * before);
}

#[test]
fn cubic_of_bytes_with_delayed_acks_keeps_its_curve() {
    // The curve is one of time: what an ACK counts for changes the steps, not the way.
    let after_ten_s = |counting: AvoidanceCounting, segments: u64| {
        let p = params(LawName::Cubic).with(|p| {
            p.window.initial_ssthresh = Size(MSS);
            p.window.initial_window_segments = 100;
        });
        let mut law = Law::new(&p.with(|p| p.window.avoidance_counting = counting));
        law.reduce(Trigger::Loss, law.cwnd());
        let (mut now_s, mut acks) = (1.0, 0u64);
        while now_s < 11.0 {
            now_s += 0.1 * (segments * MSS) as f64 / law.cwnd();
            acks += segments;
            let one = ack(Step { now_s, rtt_s: 0.1, in_flight: 1.0 }, acks);
            law.grow(&Ack { bytes: segments * MSS, segments: segments as u32, ..one });
        }
        law.cwnd() / MSS as f64
    };
    let plain = after_ten_s(AvoidanceCounting::Fraction, 1);
    let delayed = after_ten_s(AvoidanceCounting::Bytes, 2);
    assert!((delayed / plain - 1.0).abs() < 0.01, "{delayed} and {plain} segments");
}

#[test]
fn the_further_aimd_is_ahead_the_faster_cubic_of_linux_6_follows() {
    // An ACK for 5000 segments takes the AIMD window from 700 to 703 segments, while the curve stands still.
    let grown = |friendly: bool| {
        let mut kernel = Counting::default();
        kernel.reduce(700, 0.7, true);
        kernel.grow(Time::ZERO, 700, 1.0, 0.001, 410, friendly);
        kernel.grow(Time(40_000_000), 700, 5000.0, 0.001, 410, friendly)
    };
    // Three segments a window: one in 233.
    assert_eq!((grown(true), grown(false)), (5001 / 233, 0));
}

/// A flow that has lost at 100 segments, with an ACK each 10 ms and a round trip of 100 ms.
fn after_a_loss() -> (Law, u64) {
    let mut law = Law::new(&params(LawName::Cubic));
    law.change(Change::Restore { cwnd: 100.0 * MSS as f64, ssthresh: 50.0 * MSS as f64 });
    law.reduce(Trigger::Loss, 90.0 * MSS as f64);
    for n in 1..100 {
        tell(&mut law, n as f64 * 0.01, n, Limit::Window);
    }
    (law, 100)
}

#[derive(Clone, Copy, PartialEq)]
enum Limit {
    Window,
    Application,
}

fn tell(law: &mut Law, now_s: f64, number: u64, by: Limit) {
    let a = ack(Step { now_s: 10.0 + now_s, rtt_s: 0.1, in_flight: 70.0 }, number);
    let a = Ack { window_limited: by == Limit::Window, ..a };
    let s = crate::tcp::law::AckSample { may_grow: by == Limit::Window, ..crate::tcp::law::AckSample::of(&a) };
    law.on_ack(&s);
}

#[test]
fn the_largest_window_of_a_cubic_is_the_window_at_the_loss_not_what_was_in_flight() {
    let (law, _) = after_a_loss();
    let Law::Cubic(c) = &law else { panic!("a cubic") };
    assert!(format!("{c:?}").contains("w_max: 100.0"), "{c:?}");
    assert!((law.ssthresh() / MSS as f64 - 63.0).abs() < 1e-9, "but the threshold comes from the 90 in flight");
}

#[test]
fn ten_seconds_of_pause_or_of_an_idle_application_cost_no_more_than_a_round_of_growth() {
    for by in [Limit::Window, Limit::Application] {
        let (mut law, mut n) = after_a_loss();
        let before = law.cwnd() / MSS as f64;
        let round = 10.0;
        if by == Limit::Application {
            for k in 0..1000 {
                tell(&mut law, 1.0 + f64::from(k) * 0.01, n, Limit::Application);
                n += 1;
            }
        }
        for k in 0..round as u32 {
            tell(&mut law, 11.0 + f64::from(k) * 0.01, n, Limit::Window);
            n += 1;
        }
        let grown = law.cwnd() / MSS as f64 - before;
        assert!((0.0..2.0).contains(&grown), "{grown} segments in ten ACKs");
    }
}

#[test]
fn a_mistaken_reduction_is_given_back_unless_the_window_has_outgrown_it() {
    let (mut law, _) = after_a_loss();
    let before = law.clone();
    law.reduce(Trigger::Timeout, law.cwnd());
    law.undo(&before);
    assert_eq!(law.cwnd(), before.cwnd());
    law.change(Change::Restore { cwnd: 500.0 * MSS as f64, ssthresh: 50.0 * MSS as f64 });
    law.undo(&before);
    assert_eq!(law.cwnd(), 500.0 * MSS as f64);
}
