//! # The throughput equation of TFRC
//!
//! **Source**: rfc5348 section 3.1; rfc3448 section 3.1; padhye-1998; ns-2.35 `tcp/formula.h`.
//!
//! **Idea**: `X = s / (R sqrt(2 b p / 3) + t_RTO 3 sqrt(3 b p / 8) p (1 + 32 p^2))`, the rate of a TCP that meets loss events
//! at the rate `p`; and its inverse, the loss event rate that allows a given rate.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `equation` | - | `rfc` | `ns-2` keeps the factor `3 sqrt(3 b p / 8)` at or below 1, and the rate at or below 25 MB/s |
//! | `segments_per_ack` | - | 1 | rfc5348 section 3.1 (`b`) |
//!
//! **Deviations**: 1. `s` is the whole packet, headers included, as in ns-2; the RFC leaves headers out. At 1000 bytes the
//! allowed rate is 4 % higher in bytes of data, and the same in packets.
//!
//! **Checked by**: `tests/oracle_tfrc.rs` (values worked out by hand, the inverse, and the asymptote of small `p`).

use super::params::{Equation, TfrcParams};

/// Highest rate that ns-2's formula gives, in bytes per second.
const NS2_MAX_RATE: f64 = 25_000_000.0;
const NS2_SMALL: f64 = 1e-7;

/// The equation with everything in it that does not change.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    kind: Equation,
    /// `b`: segments that one ACK covers.
    b: f64,
    /// `s`, bytes.
    s: f64,
}

/// What the path and the sender contribute, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct PathTimes {
    /// `R`
    pub rtt_s: f64,
    /// `t_RTO`
    pub t_rto_s: f64,
}

impl Formula {
    pub fn new(p: &TfrcParams) -> Formula {
        Formula { kind: p.equation, b: f64::from(p.segments_per_ack), s: p.packet_size.0 as f64 }
    }

    /// Allowed rate in bytes per second at a loss event rate `p`; infinite without losses.
    pub fn rate(&self, p: f64, t: PathTimes) -> f64 {
        if p <= 0.0 {
            return f64::INFINITY;
        }
        let mut factor = 3.0 * (3.0 * self.b * p / 8.0).sqrt();
        if self.kind == Equation::Ns2 {
            factor = factor.min(1.0);
        }
        let per_packet = t.rtt_s * (2.0 * self.b * p / 3.0).sqrt() + factor * t.t_rto_s * p * (1.0 + 32.0 * p * p);
        match self.kind {
            Equation::Rfc => self.s / per_packet,
            Equation::Ns2 if per_packet < NS2_SMALL => NS2_MAX_RATE,
            Equation::Ns2 => (self.s / per_packet).min(NS2_MAX_RATE),
        }
    }

    /// The loss event rate at which the equation allows `rate` bytes per second.
    pub fn loss_event_rate(&self, rate: f64, t: PathTimes) -> f64 {
        match self.kind {
            Equation::Rfc => self.bisect(rate, t),
            Equation::Ns2 => self.halve_steps(rate, t),
        }
    }

    /// Bisection of the exponent: the rate falls as `p` rises.
    fn bisect(&self, rate: f64, t: PathTimes) -> f64 {
        let (mut low, mut high) = (-40.0f64, 0.0f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.rate(middle.exp(), t) > rate {
                low = middle;
            } else {
                high = middle;
            }
        }
        (0.5 * (low + high)).exp()
    }

    /// As ns-2 searches: from 0.5 in halved steps until the rate is met within 5 %.
    fn halve_steps(&self, rate: f64, t: PathTimes) -> f64 {
        let (mut p, mut step) = (0.5, 0.25);
        for _ in 0..31 {
            let found = self.rate(p, t);
            if found > 0.95 * rate && found < 1.05 * rate {
                break;
            }
            p += if found > rate { step } else { -step };
            step /= 2.0;
        }
        p
    }
}
