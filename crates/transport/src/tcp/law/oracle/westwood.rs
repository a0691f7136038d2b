//! Westwood: the filter in its trapezoidal form, and a threshold from rate and least round trip.

use super::*;

#[derive(Default)]
struct PlainWestwood {
    bwe: Option<f64>,
    last_sample: f64,
    last_at: Option<f64>,
    count: f64,
    rtt_min: f64,
}

impl Plain for PlainWestwood {
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64 {
        self.rtt_min = if self.rtt_min == 0.0 { s.rtt_s } else { self.rtt_min.min(s.rtt_s) };
        self.count += 1.0;
        match self.last_at {
            None => (self.last_at, self.count) = (Some(s.now_s), 0.0),
            Some(at) if s.now_s > at => {
                let dt = s.now_s - at;
                let sample = self.count / dt;
                let before = self.bwe.unwrap_or(sample);
                let last = if self.bwe.is_some() { self.last_sample } else { sample };
                // (2 tau / dt - 1) / (2 tau / dt + 1), as the paper writes it, with tau = 0.5 s.
                let a = f64::max((1.0 / dt - 1.0) / (1.0 / dt + 1.0), 0.0);
                self.bwe = Some(a * before + (1.0 - a) * (sample + last) / 2.0);
                (self.last_sample, self.last_at, self.count) = (sample, Some(s.now_s), 0.0);
            }
            Some(_) => {}
        }
        cwnd + if cwnd < ssthresh { 1.0 } else { 1.0 / cwnd }
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        let ssthresh = self.bwe.map_or(cwnd / 2.0, |b| b * self.rtt_min);
        if why == Trigger::Timeout { ssthresh } else { ssthresh.min(cwnd) }
    }
}

#[test]
fn westwood_is_its_filter_and_its_threshold() {
    compare(&params(LawName::Westwood), 0.003, || Box::new(PlainWestwood::default()));
}

#[test]
fn a_steady_stream_is_measured_exactly() {
    let p = params(LawName::Westwood);
    let mut law = Law::new(&p);
    for i in 1..=1000u64 {
        law.grow(&ack(Step { now_s: 0.01 * i as f64, rtt_s: 0.1, in_flight: 10.0 }, i));
    }
    law.reduce(Trigger::Loss, law.cwnd());
    // 100 segments a second over 0.1 s.
    assert!((law.cwnd() / MSS as f64 - 10.0).abs() < 1e-6, "{}", law.cwnd());
}

#[test]
fn without_a_round_trip_time_a_loss_halves() {
    for why in [Trigger::Loss, Trigger::Timeout] {
        let p = params(LawName::Westwood).with(|p| p.window.initial_ssthresh = Size(MSS));
        let mut law = Law::new(&p);
        for i in 1..=100u64 {
            // ACKs of what was sent twice are no samples.
            law.grow(&Ack { rtt: None, ..ack(Step { now_s: 0.01 * i as f64, rtt_s: 0.1, in_flight: 10.0 }, i) });
        }
        let before = law.cwnd();
        law.reduce(why, before);
        assert!((law.ssthresh() - before / 2.0).abs() < 1.0, "{why:?}: {} of {before}", law.ssthresh());
    }
}
