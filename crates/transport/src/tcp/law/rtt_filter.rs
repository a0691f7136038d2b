//! Round-trip times as a window law sees them: on the ACKs that may grow the window.

use crate::tcp::facts::Ack;
use crosswind_base::Dur;

/// Smoothed and least round-trip time of a connection, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct RttFilter {
    /// Weight 1/8, as in rfc6298; zero before the first sample.
    pub smoothed_s: f64,
    pub min_s: f64,
    /// The least of the smoothed times.
    pub min_smoothed_s: f64,
}

impl RttFilter {
    pub fn new() -> RttFilter {
        RttFilter { smoothed_s: 0.0, min_s: f64::INFINITY, min_smoothed_s: f64::INFINITY }
    }

    /// Takes the sample of an ACK, if it has one; returns whether the least smoothed time fell.
    #[inline]
    pub fn take(&mut self, a: &Ack) -> bool {
        self.take_sample(a.rtt)
    }

    #[inline]
    pub fn take_sample(&mut self, rtt: Option<Dur>) -> bool {
        let Some(r) = rtt.map(|r| r.as_secs_f64()) else { return false };
        self.smoothed_s = if self.smoothed_s == 0.0 { r } else { self.smoothed_s + (r - self.smoothed_s) / 8.0 };
        self.min_s = self.min_s.min(r);
        let fell = self.smoothed_s < self.min_smoothed_s;
        self.min_smoothed_s = self.min_smoothed_s.min(self.smoothed_s);
        fell
    }
}

/// Round trips, told by what is acknowledged: a round ends when what was in the network at its start has been acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    left: f64,
}

impl Round {
    /// Takes an ACK; returns whether it ends a round.
    #[inline]
    pub fn take(&mut self, a: &Ack) -> bool {
        self.left -= a.bytes as f64;
        let ends = self.left <= 0.0;
        if ends {
            self.left = a.in_flight_before as f64;
        }
        ends
    }
}
