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
