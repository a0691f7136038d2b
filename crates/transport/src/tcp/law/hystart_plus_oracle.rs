//! HyStart++ against the pseudo-code of RFC 9406 section 4.2, in milliseconds and segments, on random rounds; and its growth.

use super::hystart_plus::{Baseline, HystartPlus};
use super::segments_per_ack;
use super::{Controller, Law};
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::params::{SlowStart, TcpParams};
use crate::tcp::preset;
use crosswind_base::{Dur, Streams, Time};

const INF: f64 = f64::INFINITY;

/// Section 4.2 with its names; `L` and windows in segments.
struct Rfc {
    l: f64,
    cwnd: f64,
    ssthresh: f64,
    last_round_min_rtt: f64,
    current_round_min_rtt: f64,
    rtt_sample_count: u32,
    window_end: u64,
    css_baseline_min_rtt: Option<f64>,
    css_rounds: u32,
}

impl Rfc {
    fn ack(&mut self, n: f64, curr_rtt: f64, ack: u64, snd_nxt: u64) {
        if self.cwnd >= self.ssthresh {
            return;
        }
        let limited = n.min(self.l);
        self.cwnd += if self.css_baseline_min_rtt.is_some() { limited / 4.0 } else { limited };
        if ack >= self.window_end {
            self.window_end = snd_nxt;
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = INF;
            self.rtt_sample_count = 0;
            if self.css_baseline_min_rtt.is_some() {
                self.css_rounds += 1;
                if self.css_rounds == 5 {
                    self.ssthresh = self.cwnd;
                    return;
                }
            }
        }
        self.current_round_min_rtt = self.current_round_min_rtt.min(curr_rtt);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count < 8 {
            return;
        }
        match self.css_baseline_min_rtt {
            None if self.last_round_min_rtt != INF => {
                let rtt_thresh = (self.last_round_min_rtt / 8.0).clamp(4.0, 16.0);
                if self.current_round_min_rtt >= self.last_round_min_rtt + rtt_thresh {
                    self.css_baseline_min_rtt = Some(self.current_round_min_rtt);
                    self.css_rounds = 0;
                }
            }
            Some(baseline) if self.current_round_min_rtt < baseline => self.css_baseline_min_rtt = None,
            _ => {}
        }
    }
}

fn params() -> TcpParams {
    preset::preset("rfc").expect("a preset").with(|p| p.controller.slow_start = SlowStart::HystartPlus)
}

/// A law and its watcher, with segments that are acknowledged one by one or several at once.
struct Flow {
    law: Law,
    watch: HystartPlus,
    mss: u64,
    una: u64,
    now: u64,
}

impl Flow {
    fn new(p: &TcpParams) -> Flow {
        Flow {
            law: Law::new(p),
            watch: HystartPlus::new(p.controller.hystart.baseline, segments_per_ack(p)),
            mss: p.connection.mss.0,
            una: 1,
            now: 1,
        }
    }
    fn cwnd(&self) -> f64 {
        self.law.cwnd() / self.mss as f64
    }
    fn is_over(&self) -> bool {
        !self.law.window().in_slow_start()
    }
    /// Returns the ACK number and the next new byte.
    fn ack(&mut self, segments: u64, rtt: Dur) -> (u64, u64) {
        self.una += segments * self.mss;
        self.now += 1_000_000;
        let nxt = self.una + (self.cwnd() as u64) * self.mss;
        let a = Ack {
            now: Time(self.now),
            ack: self.una,
            bytes: segments * self.mss,
            rtt: Some(rtt),
            window_limited: true,
            ..Ack::default()
        };
        self.law.grow(&a);
        if let Some(change) = self.watch.on_ack(&a, nxt, self.law.window()) {
            self.law.change(change);
        }
        (self.una, nxt)
    }
    /// A round trip of ACKs for one segment each; by how much the window has grown.
    fn round(&mut self, rtt_ms: f64) -> f64 {
        let before = self.cwnd();
        for _ in 0..before as u64 {
            self.ack(1, Dur::from_secs_f64(rtt_ms / 1e3));
        }
        self.cwnd() / before
    }
}

#[test]
fn slow_start_ends_as_rfc_9406_says_on_random_rounds() {
    let (mut ended, mut conservative, mut resumed) = (0, 0, 0);
    for seed in 0..300 {
        let mut r = Streams::new(seed).named("hystart++");
        let p = params();
        let mut flow = Flow::new(&p);
        let mut rfc = Rfc {
            l: 8.0,
            cwnd: 10.0,
            ssthresh: INF,
            last_round_min_rtt: INF,
            current_round_min_rtt: INF,
            rtt_sample_count: 0,
            window_end: 0,
            css_baseline_min_rtt: None,
            css_rounds: 0,
        };
        let (base, mut queue) = (10.0 + r.below(80) as f64, 0.0);
        let (slope, jitter) = (r.between(0.0, 0.5), r.between(0.0, 2.0));
        for step in 0..1500 {
            queue = f64::max(queue + slope * r.uniform() - if r.chance(0.002) { 20.0 } else { 0.0 }, 0.0);
            let rtt_us = ((base + queue + r.between(0.0, jitter)) * 1e3).round();
            let segments = 1 + r.below(12);
            let was = rfc.css_baseline_min_rtt.is_some();
            let (ack, nxt) = flow.ack(segments, Dur(rtt_us as u64 * 1000));
            rfc.ack(segments as f64, rtt_us / 1e3, ack, nxt);
            let is = rfc.css_baseline_min_rtt.is_some();
            conservative += u32::from(is && !was);
            resumed += u32::from(was && !is);
            assert!((flow.cwnd() - rfc.cwnd).abs() < 1e-6, "seed {seed} step {step}: {} and {}", flow.cwnd(), rfc.cwnd);
            assert_eq!(flow.is_over(), rfc.cwnd >= rfc.ssthresh, "seed {seed} step {step}");
            if flow.is_over() {
                ended += 1;
                break;
            }
        }
    }
    assert!(ended > 50 && conservative > 100 && resumed > 20, "{ended} {conservative} {resumed}");
}

#[test]
fn a_round_doubles_the_window_and_a_conservative_one_adds_a_quarter_until_the_fifth() {
    let mut flow = Flow::new(&params());
    assert!((flow.round(40.0) - 2.0).abs() < 0.01 && (flow.round(40.0) - 2.0).abs() < 0.01);
    // The delay rises by 12 ms: the eighth sample ends slow start.
    flow.round(52.0);
    let grown: Vec<f64> = (0..3).map(|_| flow.round(52.0)).collect();
    assert!(grown.iter().all(|g| (g - 1.25).abs() < 0.02), "{grown:?}");
    assert!(!flow.is_over());
    flow.round(52.0);
    flow.round(52.0);
    assert!(flow.is_over(), "five rounds, of which the first began in its middle");
}

#[test]
fn a_bump_of_one_round_costs_one_round_only() {
    let mut flow = Flow::new(&params());
    flow.round(40.0);
    flow.round(40.0);
    flow.round(52.0);
    flow.round(40.0);
    assert!((flow.round(40.0) - 2.0).abs() < 0.01, "slow start again");
    assert!(!flow.is_over());
}

#[test]
fn less_than_four_milliseconds_of_jitter_change_nothing() {
    let mut flow = Flow::new(&params());
    for k in 0..6 {
        assert!((flow.round(if k % 2 == 0 { 20.0 } else { 23.9 }) - 2.0).abs() < 0.01, "round {k}");
    }
}

#[test]
fn small_dips_end_the_conservative_part_by_the_baseline_of_the_rfc_but_not_by_the_other() {
    let exits = |baseline: Baseline| {
        let mut p = params();
        p.controller.hystart.baseline = baseline;
        let mut flow = Flow::new(&p);
        flow.round(40.0);
        flow.round(40.0);
        // Far above what is enough, then a little less, round by round.
        flow.round(60.0);
        (0..3).filter(|k| flow.round(59.0 - f64::from(*k)) > 1.5).count()
    };
    assert!(exits(Baseline::Round) > 0);
    assert_eq!(exits(Baseline::Threshold), 0, "still above 45 ms");
}

#[test]
fn after_a_loss_slow_start_is_the_standard_one() {
    let mut flow = Flow::new(&params());
    flow.round(40.0);
    flow.round(40.0);
    flow.round(60.0);
    flow.watch.end();
    let base = flow.law.cwnd();
    flow.law.reduce(Trigger::Timeout, base);
    flow.ack(1, Dur::from_millis(60));
    let before = flow.cwnd();
    flow.ack(1, Dur::from_millis(60));
    assert!((flow.cwnd() - before - 1.0).abs() < 1e-9, "a whole segment per ACK");
}
