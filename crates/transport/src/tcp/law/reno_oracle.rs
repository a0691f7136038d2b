//! Reno's three ways of counting against the routines that they imitate, in those routines' own units.

use super::Controller;
use super::Start;
use super::reno::Reno;
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::preset;
use crosswind_base::units::Size;
use crosswind_base::{Streams, Time};

const MSS: u64 = 1000;

fn ack(bytes: u64) -> Ack {
    Ack {
        now: Time::ZERO,
        ack: 0,
        bytes,
        segments: 1,
        sacked: 0,
        duplicate: false,
        newly_delivered: 0,
        newly_ce: 0,
        ce_bytes: 0,
        rtt: None,
        in_flight_before: 0,
        window_limited: true,
        covers_retransmitted: false,
        covers_original: false,
        ..Ack::default()
    }
}

trait Plain {
    fn on_ack(&mut self, bytes: u64);
    fn reduce(&mut self, why: Trigger, base: f64);
    /// cwnd and ssthresh in bytes.
    fn window(&self) -> (f64, f64);
}

/// Linux 2.4 `tcp_cong_avoid` and `tcp_recalc_ssthresh`: segments, and an ACK that finds the count full grows the
/// window instead of being counted.
struct Linux {
    cwnd: u64,
    ssthresh: u64,
    count: u64,
}

impl Plain for Linux {
    fn on_ack(&mut self, _: u64) {
        if self.cwnd <= self.ssthresh {
            self.cwnd += 1;
        } else if self.count >= self.cwnd {
            self.cwnd += 1;
            self.count = 0;
        } else {
            self.count += 1;
        }
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        self.ssthresh = u64::max((base as u64 / MSS) / 2, 2);
        self.cwnd = if why == Trigger::Timeout { 1 } else { self.ssthresh };
        self.count = 0;
    }
    fn window(&self) -> (f64, f64) {
        ((self.cwnd * MSS) as f64, (self.ssthresh * MSS) as f64)
    }
}

/// RFC 5681 section 3.1 with the byte counting of equation 2's second form, in bytes.
struct Rfc {
    cwnd: f64,
    ssthresh: f64,
    acked: f64,
}

impl Plain for Rfc {
    fn on_ack(&mut self, bytes: u64) {
        if self.cwnd < self.ssthresh {
            self.cwnd += u64::min(bytes, MSS) as f64;
            return;
        }
        self.acked += bytes as f64;
        if self.acked >= self.cwnd {
            self.acked -= self.cwnd;
            self.cwnd += MSS as f64;
        }
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        self.ssthresh = f64::max(base / 2.0, 2.0 * MSS as f64);
        self.cwnd = if why == Trigger::Timeout { MSS as f64 } else { self.ssthresh };
        self.acked = 0.0;
    }
    fn window(&self) -> (f64, f64) {
        (self.cwnd, self.ssthresh)
    }
}

/// ns-2 `opencwnd` and `slowdown` with `precisionReduce_`: segments, cwnd a double, ssthresh an int.
struct Ns2 {
    cwnd: f64,
    ssthresh: i64,
}

impl Plain for Ns2 {
    fn on_ack(&mut self, _: u64) {
        if self.cwnd < self.ssthresh as f64 {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        let half = base / MSS as f64 / 2.0;
        self.ssthresh = i64::max(2, half as i64);
        self.cwnd = if why == Trigger::Timeout { 1.0 } else { half };
    }
    fn window(&self) -> (f64, f64) {
        (self.cwnd * MSS as f64, self.ssthresh as f64 * MSS as f64)
    }
}

fn compare(counting: AvoidanceCounting, make: impl Fn() -> Box<dyn Plain>) {
    for seed in 0..100 {
        let mut r = Streams::new(seed).named("reno");
        let rfc = preset::preset("rfc").expect("a preset");
        let p = rfc.with(|p| {
            p.connection.mss = Size(MSS);
            p.window.avoidance_counting = counting;
            p.window.initial_window_segments = 4;
            p.window.initial_ssthresh = Size(40 * MSS);
        });
        let mut ours = Reno::new(Start::of(&p));
        let mut plain = make();
        for step in 0..2000 {
            if r.chance(0.005) {
                let why = if r.chance(0.3) { Trigger::Timeout } else { Trigger::Loss };
                // Whole segments in flight for Linux; any window for the others.
                let window = plain.window().0 / MSS as f64;
                let base = if counting == AvoidanceCounting::Acks { window.floor() } else { window } * MSS as f64;
                ours.reduce(why, base);
                plain.reduce(why, base);
            } else {
                let bytes = MSS * (1 + r.below(2)) - if r.chance(0.1) { 300 } else { 0 };
                ours.grow(&ack(bytes));
                plain.on_ack(bytes);
            }
            let (cwnd, ssthresh) = plain.window();
            assert!((ours.cwnd() - cwnd).abs() < 1e-6, "{counting:?} seed {seed} step {step}: {} {cwnd}", ours.cwnd());
            assert_eq!(ours.ssthresh(), ssthresh, "{counting:?} seed {seed} step {step}");
        }
    }
}

#[test]
fn counting_acks_is_linux_2_4() {
    compare(AvoidanceCounting::Acks, || Box::new(Linux { cwnd: 4, ssthresh: 40, count: 0 }));
}

#[test]
fn counting_bytes_is_rfc_5681() {
    compare(AvoidanceCounting::Bytes, || Box::new(Rfc { cwnd: 4000.0, ssthresh: 40_000.0, acked: 0.0 }));
}

#[test]
fn counting_fractions_is_ns2() {
    compare(AvoidanceCounting::Fraction, || Box::new(Ns2 { cwnd: 4.0, ssthresh: 40 }));
}
