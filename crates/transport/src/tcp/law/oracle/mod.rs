//! Window laws against second copies, written from the pseudo-code of their sources in segments and seconds.

mod aimd;
mod bic;
mod cubic;
mod fast;
mod hstcp;
mod htcp;
mod ledbat;
mod ltcp;
mod scalable;
mod vegas;
mod westwood;

use super::{Change, Controller, Law, LawName};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::params::TcpParams;
use crate::tcp::preset;
use crosswind_base::units::Size;
use crosswind_base::{Dur, Streams, Time};

const MSS: u64 = 1000;

/// One ACK of one segment, as a plain copy of a law sees it.
#[derive(Clone, Copy)]
pub struct Step {
    pub now_s: f64,
    pub rtt_s: f64,
    /// Segments in the network before it.
    pub in_flight: f64,
}

/// A law in segments. `cwnd` and `ssthresh` are kept by the harness, as a connection keeps them.
pub trait Plain {
    /// Congestion avoidance and, where the source changes it, slow start: the new window.
    fn ack(&mut self, s: Step, cwnd: f64, ssthresh: f64) -> f64;
    /// The window that a loss leaves.
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64;
    /// A threshold that the law itself has set, leaving slow start.
    fn own_threshold(&mut self) -> Option<f64> {
        None
    }
}

fn params(law: LawName) -> TcpParams {
    preset::preset("rfc").expect("a preset").with(|p| {
        p.connection.mss = Size(MSS);
        p.controller.law = law;
        p.window.avoidance_counting = AvoidanceCounting::Fraction;
        p.window.initial_window_segments = 4;
        p.window.initial_ssthresh = Size(60 * MSS);
    })
}

fn ack(s: Step, number: u64) -> Ack {
    Ack {
        now: Time::from_secs_f64(s.now_s),
        ack: number * MSS,
        bytes: MSS,
        segments: 1,
        rtt: Some(Dur::from_secs_f64(s.rtt_s)),
        in_flight_before: s.in_flight as u64 * MSS,
        window_limited: true,
        ..Ack::default()
    }
}

/// Drives the law and its plain copy through random ACKs, losses and timeouts. `lossy`: chance of a loss per ACK.
fn compare(p: &TcpParams, lossy: f64, make: impl Fn() -> Box<dyn Plain>) {
    for seed in 0..12 {
        let mut r = Streams::new(seed).named("law");
        let (mut law, mut plain) = (Law::new(p), make());
        let (mut cwnd, mut ssthresh) = (4.0, 60.0);
        let (mut now_s, mut queue_s, mut acks) = (1.0, 0.0, 0);
        for step in 1..20_000u64 {
            now_s += r.exponential(0.1 / cwnd);
            queue_s = f64::clamp(queue_s + r.between(-0.0005, 0.0005), 0.0, 0.04);
            // Whole nanoseconds, as a clock has them.
            let rtt_s = ((0.08 + queue_s) * 1e9).round() / 1e9;
            now_s = (now_s * 1e9).round() / 1e9;
            if r.chance(lossy) {
                let why = if r.chance(0.05) { Trigger::Timeout } else { Trigger::Loss };
                law.reduce(why, law.cwnd());
                ssthresh = plain.cut(why, cwnd).max(2.0);
                cwnd = if why == Trigger::Timeout { 1.0 } else { ssthresh };
            } else {
                let s = Step { now_s, rtt_s, in_flight: cwnd.floor() };
                acks += 1;
                law.grow(&ack(s, acks));
                cwnd = plain.ack(s, cwnd, ssthresh);
                ssthresh = plain.own_threshold().unwrap_or(ssthresh);
            }
            let (ours, kept) = (law.cwnd() / MSS as f64, law.ssthresh() / MSS as f64);
            assert!((ours / cwnd - 1.0).abs() < 1e-6, "seed {seed} step {step}: {ours} and {cwnd}");
            assert!((kept / ssthresh - 1.0).abs() < 1e-6, "seed {seed} step {step}: {kept} and {ssthresh}");
            // The two are kept from drifting apart by rounding alone.
            cwnd = ours;
            ssthresh = kept;
        }
    }
}

/// An average weighted 7 to 1, as rfc6298 smooths round-trip times.
fn smooth(mean: &mut Option<f64>, sample: f64) -> f64 {
    *mean.insert(mean.map_or(sample, |m| 0.875 * m + 0.125 * sample))
}
