//! Copa against its rules as the paper lists them, in segments and seconds, on random delays and losses; and the queue of a flow alone.

use super::Start;
use super::copa::{Copa, Least};
use super::{AckSample, Controller};
use crate::tcp::choices::Switch;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::params::TcpParams;
use crate::tcp::preset;
use crosswind_base::units::Size;
use crosswind_base::{Dur, Streams, Time};

const MSS: u64 = 1000;

/// Section 2.1, steps 1 to 4, and section 2.2.
struct Paper {
    cwnd: f64,
    srtt: Option<f64>,
    rtt_min: Least,
    rtt_standing: Least,
    /// Largest round trip of each round trip so far.
    largest: Vec<f64>,
    slow_start: bool,
    v: f64,
    up: bool,
    same: u32,
    cwnd_at_round: f64,
    round_at: Option<f64>,
    nearly_empty: f64,
    one_over_delta: f64,
    lost: bool,
}

impl Paper {
    fn ack(&mut self, now: f64, rtt: f64) {
        let srtt = self.srtt.map_or(rtt, |s| s + (rtt - s) / 8.0);
        self.srtt = Some(srtt);
        if self.round_at.is_none() {
            (self.round_at, self.nearly_empty) = (Some(now), now);
        }
        self.rtt_min.take(10.0, now, rtt);
        self.rtt_standing.take(srtt / 2.0, now, rtt);
        let last = self.largest.len() - 1;
        self.largest[last] = self.largest[last].max(rtt);
        let (min, standing) = (self.rtt_min.get(), self.rtt_standing.get());
        let max = self.largest.iter().rev().take(4).fold(0.0, |m: f64, r| m.max(*r));
        let d_q = standing - min;
        if d_q < 0.1 * (max - min) || max <= min {
            self.nearly_empty = now;
        }
        let delta = 1.0 / self.one_over_delta;
        let lambda_t = if d_q > 0.0 { 1.0 / (delta * d_q) } else { f64::INFINITY };
        let lambda = self.cwnd / standing;
        if self.slow_start && lambda <= lambda_t {
            self.cwnd += 1.0;
        } else {
            self.slow_start = false;
            let step = self.v / (delta * self.cwnd);
            self.cwnd = f64::max(if lambda <= lambda_t { self.cwnd + step } else { self.cwnd - step }, 2.0);
        }
        if now - self.round_at.unwrap_or(now) >= srtt {
            let up = self.cwnd > self.cwnd_at_round;
            if up == self.up {
                self.same += 1;
                if self.same > 3 && !self.slow_start {
                    self.v *= 2.0;
                }
            } else {
                (self.up, self.same, self.v) = (up, 1, 1.0);
            }
            if now - self.nearly_empty <= 5.0 * srtt {
                self.one_over_delta = 2.0;
            } else if !self.lost {
                self.one_over_delta += 1.0;
            }
            self.largest.push(0.0);
            (self.cwnd_at_round, self.round_at, self.lost) = (self.cwnd, Some(now), false);
        }
    }
    fn loss(&mut self) {
        if !self.lost {
            self.one_over_delta = f64::max(self.one_over_delta / 2.0, 2.0);
        }
        self.lost = true;
    }
}

fn params() -> TcpParams {
    preset::preset("linux-6").expect("a preset").with(|p| p.connection.mss = Size(MSS))
}

fn tell(law: &mut Copa, now_ns: u64, rtt_ns: u64) {
    let a = Ack {
        now: Time(now_ns),
        bytes: MSS,
        delivered: MSS,
        rtt: Some(Dur(rtt_ns)),
        window_limited: true,
        ..Ack::default()
    };
    law.on_ack(&AckSample::of(&a));
}

#[test]
fn copa_is_its_paper_on_random_delays() {
    let (mut fast, mut competes) = (0, 0);
    for seed in 0..20 {
        let mut r = Streams::new(seed).named("copa");
        let mut p = params();
        p.controller.copa.competes = Switch::On;
        let mut law = Copa::new(&p.controller.copa, Start::of(&p));
        let mut paper = Paper {
            cwnd: 10.0,
            srtt: None,
            rtt_min: Least::new(),
            rtt_standing: Least::new(),
            largest: vec![0.0],
            slow_start: true,
            v: 1.0,
            up: true,
            same: 0,
            cwnd_at_round: 10.0,
            round_at: None,
            nearly_empty: 0.0,
            one_over_delta: 2.0,
            lost: false,
        };
        let (mut now, mut queue, mut others) = (1_000_000_000u64, 0.0, 0.0);
        for step in 0..8_000 {
            now += (r.exponential(0.04 / law.cwnd() * MSS as f64) * 1e9) as u64 + 1;
            if r.chance(0.0005) {
                others = if others > 0.0 { 0.0 } else { 0.03 };
            }
            queue = f64::clamp(queue + r.between(-0.001, 0.001), 0.0, 0.01);
            let rtt = ((0.04 + others + queue) * 1e9) as u64;
            if r.chance(0.002) {
                law.reduce(Trigger::Loss, 0.0);
                paper.loss();
            }
            tell(&mut law, now, rtt);
            paper.ack(now as f64 / 1e9, rtt as f64 / 1e9);
            let ours = law.cwnd() / MSS as f64;
            assert!((ours / paper.cwnd - 1.0).abs() < 1e-6, "seed {seed} step {step}: {ours} and {}", paper.cwnd);
            assert_eq!(
                (law.velocity(), law.one_over_delta()),
                (paper.v, paper.one_over_delta),
                "seed {seed} step {step}"
            );
            fast += u32::from(paper.v > 1.0);
            competes += u32::from(paper.one_over_delta > 2.0);
            paper.cwnd = ours;
        }
    }
    assert!(fast > 1000 && competes > 1000, "{fast} {competes}");
}

#[test]
fn a_flow_alone_keeps_about_two_segments_in_the_queue() {
    let mean = alone(Switch::Off);
    assert!((0.5..6.0).contains(&mean), "{mean} segments wait");
}

/// Mean queue of a flow alone.
fn alone(competes: Switch) -> f64 {
    let mut p = params();
    p.controller.copa.competes = competes;
    let mut law = Copa::new(&p.controller.copa, Start::of(&p));
    // One segment a millisecond, 40 ms: what was above 40 in the window a round trip ago waits, in whole segments.
    let mut past = std::collections::VecDeque::from(vec![10.0f64; 40]);
    let (mut waits, mut count) = (0.0, 0);
    for k in 1..60_000u64 {
        let queue = f64::max(past.pop_front().map_or(0.0, f64::floor) - 40.0, 0.0);
        past.push_back(law.cwnd() / MSS as f64);
        tell(&mut law, 1_000_000_000 + k * 1_000_000, ((0.04 + queue / 1000.0) * 1e9) as u64);
        if k > 10_000 {
            (waits, count) = (waits + queue, count + 1);
        }
    }
    waits / f64::from(count)
}
