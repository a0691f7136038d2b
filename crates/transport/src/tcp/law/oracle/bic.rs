//! Xu, Harfoush and Rhee 2004, the pseudo-code of section III with min_win, max_win and target_win, and the deviations that
//! the law's page lists.

use super::*;
use crate::tcp::law::bic::BicParams;

struct PlainBic {
    divisor: f64,
    max_win: f64,
    is_ss: bool,
    ss_cwnd: f64,
    ss_target: f64,
}

const DEFAULT_MAX_WIN: f64 = 1e18;

impl Plain for PlainBic {
    fn ack(&mut self, _: Step, mut cwnd: f64, ssthresh: f64) -> f64 {
        if cwnd < ssthresh {
            return cwnd + 1.0;
        }
        if cwnd < 14.0 {
            return cwnd + 1.0 / cwnd;
        }
        if !self.is_ss {
            // min_win is the window, so target_win - cwnd is the distance to max_win over the divisor.
            let target_win = cwnd + (self.max_win - cwnd) / self.divisor;
            let step = target_win - cwnd;
            cwnd += if step < 32.0 { step.max(0.01) / cwnd } else { 32.0 / cwnd };
            if self.max_win <= cwnd {
                self.is_ss = true;
                self.ss_cwnd = 1.0;
                self.ss_target = cwnd + 1.0;
                self.max_win = DEFAULT_MAX_WIN;
            }
        } else {
            cwnd += self.ss_cwnd / cwnd;
            if cwnd >= self.ss_target {
                self.ss_cwnd *= 2.0;
                self.ss_target = cwnd + self.ss_cwnd;
            }
            if self.ss_cwnd >= 32.0 {
                self.is_ss = false;
            }
        }
        cwnd
    }
    fn cut(&mut self, _: Trigger, cwnd: f64) -> f64 {
        self.is_ss = false;
        if cwnd < 14.0 {
            self.max_win = cwnd;
            return cwnd * 0.5;
        }
        let prev_max = self.max_win;
        self.max_win = cwnd;
        let min_win = cwnd * (1.0 - 0.125);
        if prev_max > self.max_win && prev_max < DEFAULT_MAX_WIN {
            self.max_win = (self.max_win + min_win) / 2.0;
        }
        min_win
    }
}

#[test]
fn bic_is_its_pseudo_code() {
    for divisor in [2.0, 4.0] {
        let p = params(LawName::Bic)
            .with(|p| p.controller.bic = BicParams { search_divisor: divisor, ..BicParams::default() });
        // With the second share of losses most of them come below the fourteen segments of `low_window`.
        for lossy in [0.0005, 0.02] {
            compare(&p, lossy, || {
                Box::new(PlainBic { divisor, max_win: DEFAULT_MAX_WIN, is_ss: false, ss_cwnd: 0.0, ss_target: 0.0 })
            });
        }
    }
}

#[test]
fn a_timeout_keeps_the_search() {
    let mut law = Law::new(&params(LawName::Bic).with(|p| p.window.initial_window_segments = 100));
    law.reduce(Trigger::Timeout, law.cwnd());
    // Back at the threshold: a quarter of the way to the hundred segments of the loss.
    law.change(Change::Threshold(0.0));
    law.window_mut().cwnd = 87.5 * MSS as f64;
    let before = law.cwnd();
    law.grow(&ack(Step { now_s: 1.0, rtt_s: 0.1, in_flight: 87.5 }, 1));
    let per_window = (law.cwnd() - before) / MSS as f64 * 87.5;
    assert!((per_window - 12.5 / 4.0).abs() < 0.01, "{per_window} segments a window");
}
