//! FAST as its equation has it: a new window for the next round trip, reached in equal steps.

use super::*;
use crate::tcp::law::fast::{AlphaPolicy, FastParams};
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
        ..p.fast.clone()
    };
    let p = TcpParams { fast, ..p };
    let steps = Some(([8.0, 20.0, 60.0], [5e6 / 8000.0, 12e6 / 8000.0]));
    compare(&p, 0.0005, || Box::new(PlainFast { steps, ..PlainFast::default() }));
}
