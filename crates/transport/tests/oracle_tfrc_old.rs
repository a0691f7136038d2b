//! ns-2's sender of TFRC before October 2004 against its source written down again, branch by branch, on random reports.

use crosswind_base::{Dur, Streams, Time};
use crosswind_transport::tfrc::TfrcParams;
use crosswind_transport::tfrc::law::View;
use crosswind_transport::tfrc::ns2_old::OldNs2;
use crosswind_transport::tfrc::preset::preset;

const SIZE: f64 = 1000.0;

fn params() -> TfrcParams {
    preset("ns2-tfrc-old").expect("a preset of that name")
}

#[derive(PartialEq)]
enum Change {
    SlowStart,
    OutOfSlowStart,
    Increase,
    Decrease,
}

/// The variables of the source, in seconds and bytes per second.
struct Source {
    rate: f64,
    old_rate: f64,
    delta: f64,
    change: Change,
    last_change: f64,
    max_rate: f64,
    ss_max_rate: f64,
    first_report_came: bool,
}

impl Source {
    fn new(rate: f64) -> Source {
        let (delta, last_change, max_rate, ss_max_rate) = (0.0, 0.0, 0.0, 0.0);
        let change = Change::SlowStart;
        Source { rate, old_rate: rate, delta, change, last_change, max_rate, ss_max_rate, first_report_came: false }
    }

    fn next_packet(&mut self) -> f64 {
        if self.change == Change::SlowStart && self.old_rate + 1e-7 < self.rate {
            self.old_rate += self.delta;
            self.old_rate
        } else {
            self.rate
        }
    }

    fn report(&mut self, now: f64, rtt: f64, p: f64, packets_per_s: f64, fair_rate: f64) {
        self.ss_max_rate = if packets_per_s > 0.0 { 2.0 * packets_per_s * SIZE } else { 0.0 };
        self.max_rate = self.ss_max_rate;
        if !self.first_report_came {
            self.first_report_came = true;
            self.slow_start(now, rtt);
        } else if self.change == Change::SlowStart && p > 0.0 {
            self.change = Change::OutOfSlowStart;
            self.rate = fair_rate;
            self.old_rate = fair_rate;
        } else if self.change == Change::SlowStart {
            self.slow_start(now, rtt);
        } else if fair_rate > self.rate {
            let rounds = f64::min((now - self.last_change) / rtt, 2.0);
            self.rate += SIZE / rtt * rounds;
            let most = f64::min(f64::max(self.max_rate, SIZE / rtt), fair_rate);
            self.rate = f64::min(self.rate, most);
            self.change = Change::Increase;
            self.last_change = now;
        } else {
            self.rate = f64::min(fair_rate, f64::max(self.max_rate, SIZE / rtt));
            self.change = Change::Decrease;
            self.last_change = now;
        }
    }

    fn slow_start(&mut self, now: f64, rtt: f64) {
        let changed = self.last_change;
        let mut is_ramp = true;
        if self.rate < SIZE / rtt {
            self.old_rate = self.rate;
            self.rate = SIZE / rtt;
        } else if self.ss_max_rate <= 0.0 || 2.0 * self.rate < self.ss_max_rate && now - changed > rtt {
            self.rate *= 2.0;
        } else if self.old_rate > self.ss_max_rate {
            self.rate = 0.5 * self.ss_max_rate;
            self.old_rate = self.rate;
            self.delta = 0.0;
            self.last_change = now;
            is_ramp = false;
        } else if self.rate > self.ss_max_rate || now - changed > rtt {
            self.rate = self.ss_max_rate;
        } else {
            is_ramp = false;
        }
        if is_ramp {
            self.delta = (self.rate - self.old_rate) / (self.rate * rtt / SIZE);
            self.last_change = now;
        }
    }

    fn no_feedback(&mut self, rtt: f64, is_idle: bool) {
        self.change = Change::Decrease;
        if !is_idle || self.rate > 4.0 * SIZE / rtt {
            self.rate *= 0.5;
        }
    }
}

fn view(now: Time, rtt: Dur, p: f64, receive_rate: f64, equation_rate: f64, is_first: bool) -> View {
    let (p_before, lost_packets, is_data_limited, floor, initial) = (0.0, 0, false, 0.0, 0.0);
    View { now, rtt, p, p_before, receive_rate, lost_packets, equation_rate, is_data_limited, is_first, floor, initial }
}

fn assert_close(ours: f64, theirs: f64) {
    assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} and {theirs}");
}

#[test]
fn the_rate_is_that_of_the_source_on_random_reports_and_silences() {
    let (mut rng, p) = (Streams::new(11).named("reports"), params());
    let mut left_by = [0, 0];
    for _ in 0..400 {
        let first = 300.0;
        let (mut ours, mut theirs) = (OldNs2::new(first), Source::new(first));
        let (mut now, mut is_first) = (Time::ZERO, true);
        for _ in 0..150 {
            // Never as long as the time between two events, which only whole nanoseconds would tell apart.
            let rtt = Dur::from_micros(100_500 + 1000 * rng.below(900));
            now += Dur::from_millis(50 + rng.below(1500));
            let (rtt_s, now_s) = (rtt.as_secs_f64(), now.as_secs_f64());
            match rng.below(20) {
                0 if !is_first => {
                    let is_idle = rng.chance(0.5);
                    ours.on_expiry(&view(now, rtt, 0.0, 0.0, 0.0, false), is_idle, &p);
                    left_by[0] += i32::from(theirs.change == Change::SlowStart);
                    theirs.no_feedback(rtt_s, is_idle);
                }
                1..6 => {
                    let (a, b) = (ours.next_rate().0, theirs.next_packet());
                    assert_close(a, b);
                }
                _ => {
                    // The first report says one packet per second, for it knows no round-trip time.
                    let received = if is_first { 0.0 } else { theirs.rate * (0.2 + 1.5 * rng.uniform()) };
                    let loss =
                        if rng.chance(0.03) || !is_first && theirs.change != Change::SlowStart { 0.01 } else { 0.0 };
                    let fair = if loss > 0.0 { theirs.rate * (0.5 + rng.uniform()) } else { f64::INFINITY };
                    let loss = if is_first { 0.0 } else { loss };
                    left_by[1] += i32::from(theirs.change == Change::SlowStart && loss > 0.0);
                    let at_once = ours.on_feedback(&view(now, rtt, loss, received, fair, is_first), &p);
                    assert_eq!(at_once, is_first || theirs.change == Change::SlowStart && loss == 0.0);
                    theirs.report(now_s, rtt_s, loss, if is_first { 1.0 } else { received / SIZE }, fair);
                    is_first = false;
                }
            }
            assert_close(ours.rate, theirs.rate);
        }
    }
    assert!(left_by.iter().all(|n| *n > 20), "slow start ends by silence and by loss: {left_by:?}");
}

#[test]
fn a_silence_ends_slow_start_and_the_rate_comes_back_by_a_packet_per_round_trip_time() {
    let (mut law, p, rtt) = (OldNs2::new(300.0), params(), Dur::from_millis(500));
    let at = |k: u64| Time::ZERO + rtt.saturating_mul(k) + Dur::from_millis(k);
    law.on_feedback(&view(at(1), rtt, 0.0, 0.0, f64::INFINITY, true), &p);
    assert_close(law.rate, 2000.0);
    for k in 2..5 {
        law.on_feedback(&view(at(k), rtt, 0.0, law.rate * 1.2, f64::INFINITY, false), &p);
    }
    assert_close(law.rate, 16_000.0);
    law.on_expiry(&view(at(7), rtt, 0.0, 0.0, f64::INFINITY, false), false, &p);
    assert_close(law.rate, 8000.0);
    law.on_feedback(&view(at(8), rtt, 0.0, 8000.0, f64::INFINITY, false), &p);
    // Two round-trip times' worth at most, one packet of 1000 B in 500 ms each.
    assert_close(law.rate, 12_000.0);
}
