//! [Bhandarkar 2006] III.A.3.f with the table of layers written out, and the decrease of III.B.

use super::*;
use crate::tcp::law::ltcp::{Decrease, LtcpParams};

struct PlainLtcp {
    starts: Vec<f64>,
    decrease: Decrease,
    srtt: Option<f64>,
    min_rtt: f64,
}

impl PlainLtcp {
    fn new(decrease: Decrease) -> PlainLtcp {
        // Equation 3.10: W_K = (K + 1) / (K - 2) W_(K-1), from W_2 = 50.
        let mut starts = vec![f64::NAN, 0.0, 50.0];
        for k in 3..60 {
            let before = starts[k - 1];
            starts.push((k + 1) as f64 / (k - 2) as f64 * before);
        }
        PlainLtcp { starts, decrease, srtt: None, min_rtt: f64::INFINITY }
    }
    fn place(&self, cwnd: f64) -> (f64, f64) {
        let k = (1..59).rev().find(|&k| self.starts[k] <= cwnd).expect("layer 1 begins at 0");
        let share = (cwnd - self.starts[k]) / (self.starts[k + 1] - self.starts[k]);
        (k as f64, share)
    }
}

impl Plain for PlainLtcp {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        self.min_rtt = self.min_rtt.min(smooth(&mut self.srtt, s.rtt_s));
        if cwnd < ssthresh {
            return cwnd + 1.0;
        }
        let k_r = 2.4 * (self.min_rtt / 0.12).cbrt();
        let (k, share) = self.place(cwnd);
        cwnd + k_r * (k + share) / cwnd
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        let (k, share) = self.place(cwnd);
        let beta = match (why, self.decrease) {
            (Trigger::Timeout, _) => 0.5,
            (_, Decrease::Fixed) => 0.15,
            (_, Decrease::Variable) => (1.0 - share) / (k + 1.0) + share / (k + 2.0),
        };
        cwnd * (1.0 - beta)
    }
}

#[test]
fn ltcp_is_its_pseudo_code() {
    for decrease in [Decrease::Fixed, Decrease::Variable] {
        let p = params(LawName::Ltcp).with(|p| p.controller.ltcp = LtcpParams { decrease, ..LtcpParams::default() });
        compare(&p, 0.0005, || Box::new(PlainLtcp::new(decrease)));
    }
}
