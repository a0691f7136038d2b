//! FAST as its equation has it: a new window for the next round trip, reached in equal steps.

use super::*;

#[derive(Default)]
struct PlainFast {
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
        if cwnd < ssthresh {
            if cwnd - cwnd * self.base_rtt / self.avg_rtt < 100.0 {
                return cwnd + 1.0;
            }
            self.leaves_slow_start = Some(cwnd);
            (self.from, self.to) = (cwnd, cwnd);
        }
        if over {
            self.from = cwnd;
            self.to = f64::min(2.0 * cwnd, 0.5 * cwnd + 0.5 * (self.base_rtt / self.avg_rtt * cwnd + 100.0));
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
