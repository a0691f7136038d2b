//! Vegas round by round, with actual and expected rates as the paper compares them.

use super::*;
use crate::tcp::law::vegas::VegasRates;

#[derive(Default)]
struct PlainVegas {
    of_paper: bool,
    base_rtt: f64,
    rtts: Vec<f64>,
    left: f64,
    doubles: bool,
    leaves_slow_start: Option<f64>,
}

impl Plain for PlainVegas {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        self.rtts.push(s.rtt_s);
        if self.of_paper {
            self.base_rtt = if self.base_rtt == 0.0 { s.rtt_s } else { self.base_rtt.min(s.rtt_s) };
        }
        self.left -= 1.0;
        let mut diff = None;
        if self.left <= 0.0 {
            self.left = s.in_flight;
            let rtt = self.rtts.iter().sum::<f64>() / self.rtts.len() as f64;
            self.rtts.clear();
            self.base_rtt = if self.base_rtt == 0.0 { rtt } else { self.base_rtt.min(rtt) };
            let (expected, actual) = (cwnd / self.base_rtt, cwnd / rtt);
            let more = (expected - actual) * self.base_rtt;
            // ns-2 cuts off what is behind the point, after adding a half.
            diff = Some(if self.of_paper { more } else { (more + 0.5).trunc() });
        }
        if cwnd < ssthresh {
            if let Some(d) = diff {
                // A round that doubles is followed by one of rest, whose end is where rates are compared.
                if !self.doubles && d > 1.0 {
                    let down = f64::max(cwnd - cwnd / 8.0, 2.0);
                    self.leaves_slow_start = Some(down);
                    return down;
                }
                self.doubles = !self.doubles;
            }
            return if self.doubles { cwnd + 1.0 } else { cwnd };
        }
        match diff {
            Some(d) if d < 1.0 => cwnd + 1.0,
            Some(d) if d > 3.0 => f64::max(cwnd - 1.0, 2.0),
            _ => cwnd,
        }
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        self.rtts.clear();
        self.doubles = false;
        cwnd * if why == Trigger::Timeout { 0.5 } else { 0.75 }
    }
    fn own_threshold(&mut self) -> Option<f64> {
        self.leaves_slow_start.take()
    }
}

#[test]
fn vegas_is_its_paper_with_the_means_of_ns_2() {
    compare(&params(LawName::Vegas), 0.002, || Box::new(PlainVegas::default()));
}

#[test]
fn vegas_is_its_paper_with_the_least_sample_and_fractions() {
    let mut p = params(LawName::Vegas);
    p.controller.vegas.rates = VegasRates::Paper;
    compare(&p, 0.002, || Box::new(PlainVegas { of_paper: true, ..PlainVegas::default() }));
}

/// The kernel's, with its names.
#[derive(Default)]
struct PlainLinux {
    base_rtt: Option<f64>,
    min_rtt: Option<f64>,
    cnt_rtt: u32,
    left: f64,
    ssthresh: Option<f64>,
}

impl Plain for PlainLinux {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        let least = |a: Option<f64>| Some(a.map_or(s.rtt_s, |a| a.min(s.rtt_s)));
        (self.base_rtt, self.min_rtt) = (least(self.base_rtt), least(self.min_rtt));
        self.cnt_rtt += 1;
        self.left -= 1.0;
        let is_slow = cwnd < ssthresh;
        if self.left > 0.0 {
            return if is_slow { cwnd + 1.0 } else { cwnd };
        }
        self.left = s.in_flight;
        let (count, rtt) = (std::mem::take(&mut self.cnt_rtt), self.min_rtt.take().expect("a sample"));
        if count <= 2 {
            return if is_slow { cwnd + 1.0 } else { cwnd + 1.0 / cwnd };
        }
        let base = self.base_rtt.expect("a sample");
        let (target, diff) = (cwnd * base / rtt, cwnd * (rtt - base) / base);
        let (mut now, mut threshold) = (cwnd, ssthresh);
        if is_slow && diff > 1.0 {
            now = f64::min(cwnd, target.floor() + 1.0);
            threshold = f64::min(ssthresh, now - 1.0);
        } else if is_slow || diff < 2.0 {
            now = cwnd + 1.0;
        } else if diff > 4.0 {
            now = cwnd - 1.0;
            threshold = f64::min(ssthresh, now - 1.0);
        }
        now = f64::max(now, 2.0);
        self.ssthresh = Some(f64::max(threshold, 0.75 * now));
        now
    }
    fn cut(&mut self, _: Trigger, cwnd: f64) -> f64 {
        (self.min_rtt, self.cnt_rtt) = (None, 0);
        cwnd / 2.0
    }
    fn own_threshold(&mut self) -> Option<f64> {
        self.ssthresh.take()
    }
}

#[test]
fn vegas_of_linux_is_the_kernel_s_function() {
    let mut p = params(LawName::Vegas);
    let v = &mut p.controller.vegas;
    (v.rates, v.alpha, v.beta, v.gamma, v.keep) = (VegasRates::Linux, 2.0, 4.0, 1.0, 0.5);
    compare(&p, 0.002, || Box::new(PlainLinux::default()));
}
