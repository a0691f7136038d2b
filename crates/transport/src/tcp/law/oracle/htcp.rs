//! The routines of Linux's H-TCP in real numbers: `measure_rtt`, `measure_achieved_throughput`, `htcp_beta_update`,
//! `htcp_alpha_update`, `htcp_cong_avoid`.

use super::*;

#[derive(Default)]
struct PlainHtcp {
    alpha: f64,
    beta: f64,
    modeswitch: bool,
    packetcount: f64,
    min_rtt: f64,
    max_rtt: f64,
    last_cong: Option<f64>,
    max_b: f64,
    old_max_b: f64,
    bi: f64,
    lasttime: f64,
    /// Window that has been added since alpha was computed; negative: compute at once.
    grown: f64,
}

impl PlainHtcp {
    fn new() -> PlainHtcp {
        PlainHtcp { alpha: 1.0, beta: 0.5, grown: -1.0, ..PlainHtcp::default() }
    }
    fn measure(&mut self, s: Step, cwnd: f64) {
        if self.min_rtt == 0.0 || s.rtt_s < self.min_rtt {
            self.min_rtt = s.rtt_s;
        }
        if self.max_rtt < self.min_rtt {
            self.max_rtt = self.min_rtt;
        }
        if self.max_rtt < s.rtt_s && s.rtt_s <= self.max_rtt + 0.020 {
            self.max_rtt = s.rtt_s;
        }
        let last_cong = *self.last_cong.get_or_insert(s.now_s);
        self.packetcount += 1.0;
        if self.packetcount >= cwnd - self.alpha.max(1.0) && s.now_s - self.lasttime >= self.min_rtt {
            let cur = self.packetcount / (s.now_s - self.lasttime);
            if (s.now_s - last_cong) / self.min_rtt < 4.0 {
                self.max_b = cur;
                self.bi = cur;
            } else {
                self.bi = (3.0 * self.bi + cur) / 4.0;
                self.max_b = self.max_b.max(self.bi);
            }
            self.packetcount = 0.0;
            self.lasttime = s.now_s;
        }
    }
    fn alpha_update(&mut self, now_s: f64) {
        let mut factor = 1.0;
        let mut diff = now_s - self.last_cong.unwrap_or(now_s);
        if diff > 1.0 {
            diff -= 1.0;
            factor = 1.0 + 10.0 * diff + diff * diff / 4.0;
        }
        let scale = (0.1 / self.min_rtt).clamp(0.5, 10.0);
        factor = f64::max(factor / scale, 1.0);
        self.alpha = 2.0 * factor * (1.0 - self.beta);
    }
}

impl Plain for PlainHtcp {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        self.measure(s, cwnd);
        if cwnd < ssthresh {
            return cwnd + 1.0;
        }
        self.grown += self.alpha;
        if self.grown >= cwnd || self.grown < self.alpha {
            self.grown = 0.0;
            self.alpha_update(s.now_s);
        }
        cwnd + self.alpha / cwnd
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        let (max_b, old) = (self.max_b, self.old_max_b);
        self.old_max_b = max_b;
        if !(5.0 * max_b >= 4.0 * old && 5.0 * max_b <= 6.0 * old) {
            self.beta = 0.5;
            self.modeswitch = false;
        } else if self.modeswitch && self.min_rtt > 0.010 {
            self.beta = (self.min_rtt / self.max_rtt).clamp(0.5, 0.8);
        } else {
            self.beta = 0.5;
            self.modeswitch = true;
        }
        if self.min_rtt > 0.0 && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 0.95;
        }
        self.last_cong = None;
        self.packetcount = 0.0;
        self.grown = -1e18;
        if why == Trigger::Timeout { cwnd / 2.0 } else { cwnd * self.beta }
    }
}

#[test]
fn htcp_is_that_of_linux_in_real_numbers() {
    compare(&params(LawName::Htcp), 0.0003, || Box::new(PlainHtcp::new()));
}
