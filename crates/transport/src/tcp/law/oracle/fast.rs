//! FAST as its equation has it: a new window for the next round trip, reached in equal steps.

use super::*;
use crate::tcp::choices::GrowWhen;
use crate::tcp::law::fast::{AlphaPolicy, FastParams, FastVersion};
use crosswind_base::BitRate;

#[derive(Default)]
struct PlainFast {
    /// The three steps of alpha, and the windows over round-trip times (segments per second) between them.
    steps: Option<([f64; 3], [f64; 2])>,
    alpha: f64,
    base_rtt: f64,
    avg_rtt: f64,
    left: f64,
    from: f64,
    to: f64,
    leaves_slow_start: Option<f64>,
}

impl Plain for PlainFast {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        if self.avg_rtt == 0.0 {
            (self.avg_rtt, self.base_rtt) = (s.rtt_s, s.rtt_s);
        }
        let eta = if 3.0 / cwnd < 0.25 { 3.0 / cwnd } else { 0.25 };
        self.avg_rtt = (1.0 - eta) * self.avg_rtt + eta * s.rtt_s;
        self.base_rtt = self.base_rtt.min(s.rtt_s);
        self.left -= 1.0;
        let over = self.left <= 0.0;
        if over {
            self.left = s.in_flight;
        }
        match self.steps {
            None => self.alpha = 100.0,
            Some(([low, middle, high], [first, second])) => {
                let rate = cwnd / self.avg_rtt;
                if over {
                    self.alpha = if rate > second {
                        high
                    } else if rate > first {
                        middle
                    } else {
                        low
                    };
                } else if self.alpha == 0.0 {
                    self.alpha = low;
                }
            }
        }
        if cwnd < ssthresh {
            if cwnd - cwnd * self.base_rtt / self.avg_rtt < self.alpha {
                return cwnd + 1.0;
            }
            self.leaves_slow_start = Some(cwnd);
            (self.from, self.to) = (cwnd, cwnd);
        }
        if over {
            self.from = cwnd;
            self.to = f64::min(2.0 * cwnd, 0.5 * cwnd + 0.5 * (self.base_rtt / self.avg_rtt * cwnd + self.alpha));
        }
        let step = if self.from > 0.0 { (self.to - self.from) / self.from } else { 0.0 };
        let next = cwnd + step;
        let next = if step < 0.0 { next.max(self.to) } else { next.min(self.to.max(cwnd)) };
        next.max(2.0)
    }
    fn cut(&mut self, _: Trigger, cwnd: f64) -> f64 {
        (self.from, self.to) = (0.0, 0.0);
        cwnd / 2.0
    }
    fn own_threshold(&mut self) -> Option<f64> {
        self.leaves_slow_start.take()
    }
}

#[test]
fn fast_is_its_equation() {
    compare(&params(LawName::Fast), 0.0005, || Box::new(PlainFast::default()));
}

#[test]
fn fast_with_an_alpha_by_rate_is_its_equation_with_three_constants() {
    // Segments of 1000 bytes at 100 ms: 5 and 12 Mbit/s are 63 and 150 segments, which these windows pass again and again.
    let p = params(LawName::Fast);
    let fast = FastParams {
        policy: AlphaPolicy::ByRate,
        alpha: 60.0,
        low_rate: BitRate(5_000_000),
        middle_rate: BitRate(12_000_000),
        ..p.controller.fast.clone()
    };
    let p = p.with(|p| p.controller.fast = fast);
    let steps = Some(([8.0, 20.0, 60.0], [5e6 / 8000.0, 12e6 / 8000.0]));
    compare(&p, 0.0005, || Box::new(PlainFast { steps, ..PlainFast::default() }));
}

/// FAST as it was published, in segments and seconds: nothing but the equation, at every end of a round trip.
struct Published {
    alpha: f64,
    gamma: f64,
    a: f64,
    w: f64,
    base_rtt: f64,
    avg_rtt: Option<f64>,
    /// Segments that left before this do not end the round; after a reduction there is no round.
    set_at: Option<f64>,
    most_out: f64,
}

impl Published {
    fn ack(&mut self, now: f64, rtt: f64, segments: u32, out: f64) {
        self.base_rtt = self.base_rtt.min(rtt);
        for _ in 0..segments {
            let eta = f64::min(3.0 / self.w, 0.25);
            self.avg_rtt = Some(self.avg_rtt.map_or(rtt, |mean| (1.0 - eta) * mean + eta * rtt));
        }
        self.most_out = self.most_out.max(out);
        let left_at = now - rtt;
        match self.set_at {
            Some(t) if left_at < t - 1e-12 => return,
            Some(_) => {
                let avg = self.avg_rtt.expect("there was an ACK");
                let qdelay = avg - self.base_rtt;
                let alpha = if qdelay <= 0.001 { self.a * self.w } else { self.alpha };
                let by_equation = (1.0 - self.gamma) * self.w + self.gamma * (self.base_rtt / avg * self.w + alpha);
                let mut next = by_equation.min(2.0 * self.w);
                if next > self.w {
                    next = next.min(2.0 * self.most_out).max(self.w);
                }
                self.w = next.max(2.0);
            }
            None => {}
        }
        (self.set_at, self.most_out) = (Some(now), 0.0);
    }
}

#[test]
fn fast_as_published_is_its_equation_once_per_round_trip_whatever_is_acknowledged_at_once() {
    let (alpha, gamma) = (30.0, 0.5);
    for (seed, a) in (0..24).map(|seed| (seed, [0.5, 2.0][seed as usize % 2])) {
        let fast =
            FastParams { version: FastVersion::Published, alpha, gamma, empty_growth: a, ..FastParams::default() };
        let p = params(LawName::Fast).with(|p| {
            p.controller.fast = fast;
            p.window.grow_when = GrowWhen::Always;
        });
        let mut r = Streams::new(seed).named("fast");
        let mut law = Law::new(&p);
        let mut plain = Published {
            alpha,
            gamma,
            a,
            w: 4.0,
            base_rtt: f64::INFINITY,
            avg_rtt: None,
            set_at: Some(0.0),
            most_out: 0.0,
        };
        let (mut now_ns, mut queue_s, mut acked) = (1_000_000_000u64, 0.0, 0u64);
        for step in 1..5000 {
            let segments = 1 + (r.uniform() * 14.0) as u32;
            now_ns += (r.exponential(0.1 * f64::from(segments) / plain.w) * 1e9) as u64;
            queue_s = f64::clamp(queue_s + r.between(-0.002, 0.002), 0.0, 0.04);
            let rtt_ns = ((0.08 + queue_s) * 1e9) as u64;
            let (now, rtt) = (now_ns as f64 / 1e9, rtt_ns as f64 / 1e9);
            if r.chance(0.002) {
                let why = if r.chance(0.1) { Trigger::Timeout } else { Trigger::Loss };
                law.reduce(why, law.cwnd());
                plain.w = if why == Trigger::Timeout { 1.0 } else { f64::max(2.0, plain.w / 2.0) };
                plain.set_at = None;
            } else {
                let out = (plain.w * r.between(0.3, 1.2)).floor();
                acked += u64::from(segments);
                let s = Step { now_s: now, rtt_s: rtt, in_flight: out };
                let (bytes, newest) = (u64::from(segments) * MSS, (Time(now_ns - rtt_ns), acked * MSS));
                law.grow(&Ack { now: Time(now_ns), bytes, segments, newest, rtt: None, ..ack(s, acked) });
                plain.ack(now, rtt, segments, out);
            }
            let ours = law.cwnd() / MSS as f64;
            assert!((ours / plain.w - 1.0).abs() < 1e-6, "seed {seed} step {step}: {ours} and {}", plain.w);
            plain.w = ours;
        }
    }
}
