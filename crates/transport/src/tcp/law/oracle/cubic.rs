//! RFC 9438 section 4, equation by equation, in segments and seconds.

use super::*;

#[derive(Default)]
struct PlainCubic {
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<(f64, f64)>,
    w_est: f64,
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
            (s.now_s, cwnd)
        });
        // Section 4.8 and 4.10: without a loss before, or above it, w_max is the window and K is zero.
        self.w_max = self.w_max.max(cwnd_epoch);
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
    fn cut(&mut self, _: Trigger, cwnd: f64) -> f64 {
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        BETA * cwnd
    }
}

#[test]
fn cubic_is_rfc_9438() {
    compare(&params(LawName::Cubic), 0.0005, || Box::new(PlainCubic::default()));
}
