//! Drives a law that counts marks alone, ACK by ACK, over a path that marks every n-th segment, or all above a step. For tests.

use super::super::detect::Phase;
use super::super::ecn::Agreed;
use super::super::params::TcpParams;
use super::{AckSample, Controller, Law};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{Dur, Time};

/// What marks, and how long the way is.
pub struct Path {
    /// Every n-th segment is marked; zero: none.
    pub every: u64,
    /// What leaves in a round that begins with more segments than this is marked.
    pub step: f64,
    pub rtt_s: f64,
}

impl Path {
    pub fn every(segments: u64, rtt_s: f64) -> Path {
        Path { every: segments, step: f64::INFINITY, rtt_s }
    }
    pub fn step(segments: f64, rtt_s: f64) -> Path {
        Path { every: 0, step: segments, rtt_s }
    }
}

/// Means over the second half of the rounds; windows in segments.
pub struct Outcome {
    pub mean_window: f64,
    pub alpha: f64,
    pub marks_a_round: f64,
    /// Segments a second.
    pub rate: f64,
}

fn marked_share(law: &Law) -> f64 {
    let mut share = 0.0;
    law.sample(&mut |name, value| share = if name == "marked_ratio" { value } else { share });
    share
}

/// So many round trips, one ACK a segment, each mark answered as the sender does: once a round.
pub fn drive(p: &TcpParams, path: Path, rounds: u32) -> Outcome {
    let (mut law, mut sent) = (Law::new(p), 0u64);
    let mss = p.connection.mss.0;
    let (mut una, mut phase, mut now) = (1u64, Phase::Open, 0.0);
    let (mut windows, mut alphas, mut marks, mut acks, mut counted, mut seconds) = (0.0, 0.0, 0u64, 0u64, 0u32, 0.0);
    for round in 0..rounds {
        let segments = (law.cwnd() / mss as f64).floor().max(1.0) as u64;
        let is_counted = round >= rounds / 2;
        let is_above = law.cwnd() / mss as f64 > path.step;
        for _ in 0..segments {
            now += path.rtt_s / segments as f64;
            sent += 1;
            let is_marked = is_above || (path.every > 0 && sent.is_multiple_of(path.every));
            una += mss;
            if matches!(phase, Phase::Echo { high } if una > high) {
                phase = Phase::Open;
            }
            let a = Ack {
                now: Time::from_secs_f64(now),
                ack: una,
                bytes: mss,
                delivered: mss,
                segments: 1,
                newly_delivered: 1,
                newly_ce: u32::from(is_marked),
                ce_bytes: u64::from(is_marked) * mss,
                rtt: Some(Dur::from_secs_f64(path.rtt_s)),
                in_flight_before: segments * mss,
                window_limited: true,
                ..Ack::default()
            };
            let may_grow = phase == Phase::Open && !is_marked;
            let nxt = una + (segments - 1) * mss;
            law.on_ack(&AckSample { may_grow, phase, nxt, agreed: Agreed::Accurate, ..AckSample::of(&a) });
            if is_marked && phase == Phase::Open {
                law.reduce(Trigger::Echo, law.cwnd());
                phase = Phase::Echo { high: nxt };
            }
            marks += u64::from(is_counted && is_marked);
            windows += if is_counted { law.cwnd() / mss as f64 } else { 0.0 };
        }
        if is_counted {
            alphas += marked_share(&law);
            acks += segments;
            seconds += path.rtt_s;
            counted += 1;
        }
    }
    let n = f64::from(counted);
    Outcome {
        mean_window: windows / acks as f64,
        alpha: alphas / n,
        marks_a_round: marks as f64 / n,
        rate: acks as f64 / seconds,
    }
}
