//! LEDBAT++ by the rules of its draft, in segments and seconds.

use super::*;

const TARGET: f64 = 0.02;

#[derive(Default)]
struct PlainLedbat {
    rtts: Vec<(f64, f64)>,
    srtt: Option<f64>,
    first_is_over: bool,
    lost: bool,
    slows_at: f64,
    small: Option<(f64, f64)>,
    back: Option<f64>,
    threshold: Option<f64>,
    minute_at: f64,
    minutes: Vec<f64>,
}

impl Plain for PlainLedbat {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        let srtt = smooth(&mut self.srtt, s.rtt_s);
        self.rtts.push((s.now_s, s.rtt_s));
        if self.minutes.is_empty() || s.now_s - self.minute_at >= 60.0 {
            // The law's first minute begins with time itself.
            self.minute_at = if self.minutes.is_empty() { 0.0 } else { s.now_s };
            self.minutes.push(s.rtt_s);
        }
        let last = self.minutes.len() - 1;
        self.minutes[last] = self.minutes[last].min(s.rtt_s);
        let base = self.minutes.iter().rev().take(10).fold(f64::INFINITY, |m, r| m.min(*r));
        let current = self.rtts.iter().rev().take(4).fold(f64::INFINITY, |m, r| m.min(r.1));
        let delay = current - base;
        let gain = 1.0 / f64::min(16.0, (2.0 * TARGET / base).ceil());
        let grown = |w: f64| f64::min(w + gain, f64::max(ssthresh, w));
        if std::mem::take(&mut self.lost) {
            (self.first_is_over, self.slows_at) = (true, s.now_s + 2.0 * srtt);
            return cwnd;
        }
        if !self.first_is_over {
            if delay > 0.75 * TARGET {
                self.threshold = Some(cwnd);
                (self.first_is_over, self.slows_at) = (true, s.now_s + 2.0 * srtt);
                return cwnd;
            }
            let w = grown(cwnd);
            if w >= ssthresh {
                (self.first_is_over, self.slows_at) = (true, s.now_s + 2.0 * srtt);
            }
            return w;
        }
        if let Some((since, until)) = self.small {
            if s.now_s >= until {
                (self.small, self.back) = (None, Some(since));
            }
            return cwnd;
        }
        if let Some(since) = self.back {
            let w = grown(cwnd);
            if w >= ssthresh {
                self.back = None;
                self.slows_at = s.now_s + 9.0 * (s.now_s - since);
            }
            return w;
        }
        if s.now_s >= self.slows_at {
            self.threshold = Some(cwnd.max(2.0));
            self.small = Some((s.now_s, s.now_s + 2.0 * srtt));
            return 2.0;
        }
        if cwnd < ssthresh {
            return grown(cwnd);
        }
        let per_rtt = if delay < TARGET { gain } else { f64::max(gain - cwnd * (delay / TARGET - 1.0), -cwnd / 2.0) };
        f64::max(cwnd + per_rtt / cwnd, 2.0)
    }
    fn cut(&mut self, _why: Trigger, cwnd: f64) -> f64 {
        self.lost |= !self.first_is_over;
        cwnd / 2.0
    }
    fn own_threshold(&mut self) -> Option<f64> {
        self.threshold.take()
    }
}

#[test]
fn ledbat_is_its_draft() {
    let mut p = params(LawName::Ledbat);
    p.controller.ledbat.target = Dur::from_secs_f64(TARGET);
    compare(&p, 0.001, || Box::new(PlainLedbat::default()));
}

#[test]
fn the_queue_of_a_flow_alone_rests_at_the_target() {
    let mut p = params(LawName::Ledbat);
    p.controller.ledbat.slowdown = crate::tcp::params::Switch::Off;
    let mut law = Law::new(&p);
    let (mut now, mut rtt) = (1.0, 0.04);
    // One segment a millisecond: what is above 40 in the window waits.
    for number in 1..200_000 {
        now += 0.001;
        law.grow(&ack(Step { now_s: now, rtt_s: rtt, in_flight: law.cwnd() / MSS as f64 }, number));
        rtt = f64::max(0.04, law.cwnd() / MSS as f64 / 1000.0);
    }
    assert!((rtt - 0.1).abs() < 0.003, "60 ms of queue: {rtt}");
}
