//! # FAST TCP
//!
//! **Source**: jin-wei-low-2004 section III; igarashi section 2.13.
//!
//! **Idea**: once per round trip `w = min(2 w, (1 - gamma) w + gamma (base_rtt / rtt w + alpha))`: the flow settles where it keeps
//! `alpha` segments in the queues. The round-trip time is smoothed with the weight `min(3 / w, 1/4)`. A loss halves the window.
//! With `version = "published"` that is all: there is no slow start, and while the path is empty `alpha = empty_growth w`; the sender
//! is to spread a window over the round trip (`pacing = "window"`). In the older reading, `stepwise`, the window moves to its new
//! value in steps, one with every ACK, after an ordinary slow start, and `alpha` on an empty path is at least `empty_growth w`.
//! With `policy = "by-rate"` alpha goes with the rate `w / rtt`, looked at once per round trip: `alpha` above `middle_rate`, less
//! below.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `fast.version` | - | `stepwise` | ours: results stay what they were |
//! | `fast.alpha` | segments | 100 | ours: bhandarkar-2006 does not say; jin-wei-low-2004 uses 200 at 1 Gbit/s |
//! | `fast.gamma` | - | 0.5 | jin-wei-low-2004 |
//! | `fast.empty_growth` | - | 0 | off: alpha is what it is; igarashi section 2.13: `alpha(w, 0) = a w`, `a` is not given. From `1 / gamma` on an empty path doubles the window |
//! | `fast.policy` | - | `fixed` | - |
//! | `fast.low_alpha` | segments | 8 | igarashi section 2.13: up to 10 Mbit/s |
//! | `fast.low_rate` | bit/s | 10 Mbit/s | the same |
//! | `fast.middle_alpha` | segments | 20 | the same: up to 100 Mbit/s |
//! | `fast.middle_rate` | bit/s | 100 Mbit/s | the same |
//! | `fast.empty_delay` | time | 1 ms | ours: a queueing delay that counts as none |
//!
//! **Deviations**: 1. `published` times the segment that left last of those that an ACK delivers, by the sender's own clock and not by
//! timestamps, and takes an ACK of n segments for n samples: neither the receiver's habits nor a coarse clock change the course. A round
//! trip is over when something has arrived that left after the window was set. 2. `published`: the window grows to twice what was in
//! flight in the round at most, so that a flow that something else limits does not double for ever. It needs `grow_when = "always"`,
//! because the equation lowers windows, too. 3. `stepwise`: slow start ends when the queue holds `alpha` segments, or with a loss.
//! 4. `by-rate` takes the window over the smoothed round-trip time for the measured rate, payload alone; the code of its time is not
//! published. 5. The source's burst control, a part of its own beside the window, is left out, as in FAST for ns-2.
//!
//! **Checked by**: `law/oracle/fast.rs` (both versions, both policies); `tests/fast.rs` (an empty path, habits of receivers);
//! `crates/sim/tests/fast.rs` (the equilibrium behind a queue).

use super::rtt_filter::Round;
use super::{Controller, Start, Window, within};
use crate::tcp::choices::{AvoidanceCounting, GrowWhen};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::units::show_rate;
use crosswind_base::{BitRate, ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many segments a flow keeps in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaPolicy {
    /// `alpha`.
    Fixed,
    /// `low_alpha`, `middle_alpha` or `alpha`, by its rate.
    ByRate,
}

/// How the window takes its course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastVersion {
    /// Slow start, then a step with every ACK.
    Stepwise,
    /// No slow start; set once per round trip.
    Published,
}

/// Parameters of FAST TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FastParams {
    /// How the window takes its course.
    pub version: FastVersion,
    /// Segments that the flow keeps in queues.
    pub alpha: f64,
    /// How much of the way to its new value the window goes in a round trip.
    pub gamma: f64,
    /// While the queue is empty, `alpha` is this share of the window (`stepwise`: at least this); 0: it is what it is.
    pub empty_growth: f64,
    /// Up to this queueing delay the queue counts as empty.
    pub empty_delay: Dur,
    /// How many segments a flow keeps in queues.
    pub policy: AlphaPolicy,
    /// `by-rate`: segments up to `low_rate`.
    pub low_alpha: f64,
    pub low_rate: BitRate,
    /// `by-rate`: segments from there up to `middle_rate`.
    pub middle_alpha: f64,
    pub middle_rate: BitRate,
}

impl Default for FastParams {
    fn default() -> Self {
        FastParams {
            version: FastVersion::Stepwise,
            alpha: 100.0,
            gamma: 0.5,
            empty_growth: 0.0,
            empty_delay: Dur::from_millis(1),
            policy: AlphaPolicy::Fixed,
            low_alpha: 8.0,
            low_rate: BitRate(10_000_000),
            middle_alpha: 20.0,
            middle_rate: BitRate(100_000_000),
        }
    }
}

impl FastParams {
    /// Refuses the published law where something else decides whether the window was used.
    pub fn check_growth(&self, grow_when: GrowWhen) -> Result<(), ConfigError> {
        if self.version == FastVersion::Published && grow_when != GrowWhen::Always {
            let found = "\"published\" with another `grow_when` than \"always\"";
            return Err(ConfigError::new(
                "version",
                found,
                "tcp.grow_when = \"always\": the law itself sees how far its window was used",
            ));
        }
        Ok(())
    }
    pub fn check(&self) -> Result<(), ConfigError> {
        within("alpha", self.alpha, 0.1..=1e9)?;
        within("gamma", self.gamma, 0.01..=1.0)?;
        within("empty_growth", self.empty_growth, 0.0..=100.0)?;
        within("low_alpha", self.low_alpha, 0.1..=1e9)?;
        within("middle_alpha", self.middle_alpha, 0.1..=1e9)?;
        if self.low_rate > self.middle_rate {
            let expected = format!("at most `middle_rate` ({})", show_rate(self.middle_rate));
            return Err(ConfigError::new("low_rate", show_rate(self.low_rate), expected));
        }
        Ok(())
    }
    /// Segments to keep in queues at a rate of payload.
    pub fn alpha_at(&self, rate_bps: f64) -> f64 {
        match self.policy {
            AlphaPolicy::Fixed => self.alpha,
            AlphaPolicy::ByRate if rate_bps <= self.low_rate.as_f64() => self.low_alpha,
            AlphaPolicy::ByRate if rate_bps <= self.middle_rate.as_f64() => self.middle_alpha,
            AlphaPolicy::ByRate => self.alpha,
        }
    }
    /// The window that follows `w`, in segments, with so many in the queue at rest, after a least and a smoothed round-trip
    /// time in seconds.
    fn next(&self, w: f64, at_rest: f64, min_s: f64, smoothed_s: f64) -> f64 {
        let is_empty = self.empty_growth > 0.0 && smoothed_s - min_s <= self.empty_delay.as_secs_f64();
        let alpha = match self.version {
            _ if !is_empty => at_rest,
            FastVersion::Stepwise => at_rest.max(self.empty_growth * w),
            FastVersion::Published => self.empty_growth * w,
        };
        (2.0 * w).min((1.0 - self.gamma) * w + self.gamma * (min_s / smoothed_s * w + alpha))
    }
}

/// A round trip of `published`.
#[derive(Clone, Copy, Debug)]
struct Trip {
    /// When the window was set; unknown after a reduction: the next ACK begins a round.
    began: Option<Time>,
    /// Most bytes in flight since.
    used: u64,
}

#[derive(Clone, Debug)]
pub struct Fast {
    w: Window,
    counting: AvoidanceCounting,
    params: FastParams,
    /// Least round-trip time in seconds.
    min_s: f64,
    /// Smoothed with FAST's own weight, in seconds; zero before the first sample.
    rtt_s: f64,
    round: Round,
    published: Trip,
    /// Segments to keep in queues, as of the last round.
    alpha: f64,
    /// The window for which the round ends, in bytes, and what one acknowledged byte adds on the way there.
    target: f64,
    slope: f64,
}

impl Fast {
    pub fn new(p: &FastParams, start: Start) -> Fast {
        let mut w = start.window;
        if p.version == FastVersion::Published {
            w.ssthresh = 2.0 * w.mss;
        }
        Fast {
            target: w.cwnd,
            w,
            counting: start.counting,
            alpha: p.alpha_at(0.0),
            params: p.clone(),
            min_s: f64::INFINITY,
            rtt_s: 0.0,
            round: Round::default(),
            published: Trip { began: Some(Time::ZERO), used: 0 },
            slope: 0.0,
        }
    }

    /// Takes a sample in seconds for so many segments.
    fn smooth(&mut self, rtt_s: f64, segments: u32) {
        self.min_s = self.min_s.min(rtt_s);
        let weight = (3.0 / self.w.segments()).min(0.25);
        let weight = if segments > 1 { 1.0 - (1.0 - weight).powi(segments as i32) } else { weight };
        self.rtt_s = if self.rtt_s == 0.0 { rtt_s } else { self.rtt_s + weight * (rtt_s - self.rtt_s) };
    }

    /// Segments to keep in queues, by the rate of now.
    fn alpha(&self) -> f64 {
        self.params.alpha_at(self.w.cwnd * 8.0 / self.rtt_s)
    }

    /// The window for the next round trip, in bytes.
    fn next(&self) -> f64 {
        self.params.next(self.w.segments(), self.alpha, self.min_s, self.rtt_s) * self.w.mss
    }

    fn once_per_round_trip(&mut self, a: &Ack) {
        if let Some(r) = a.last_trip() {
            self.smooth(r.as_secs_f64(), a.segments);
        }
        let trip = &mut self.published;
        trip.used = trip.used.max(a.in_flight_before);
        let (used, is_over) = (2.0 * trip.used as f64, trip.began.is_some_and(|at| a.newest.0 >= at));
        if is_over && self.rtt_s > 0.0 {
            self.alpha = self.alpha();
            self.w.cwnd = self.next().min(used.max(self.w.cwnd)).max(2.0 * self.w.mss);
        }
        if is_over || self.published.began.is_none() {
            self.published = Trip { began: Some(a.now), used: 0 };
        }
    }

    fn step(&mut self, a: &Ack) {
        if let Some(r) = a.rtt {
            self.smooth(r.as_secs_f64(), 1);
        }
        let ended = self.round.take(a);
        if self.rtt_s == 0.0 {
            self.w.slow_start(a, self.counting);
            return;
        }
        if ended {
            self.alpha = self.alpha();
        }
        if self.w.in_slow_start() {
            if self.w.segments() * (1.0 - self.min_s / self.rtt_s) < self.alpha {
                self.w.slow_start(a, self.counting);
                return;
            }
            self.w.ssthresh = self.w.cwnd;
            self.target = self.w.cwnd;
        }
        if ended {
            self.target = self.next();
            self.slope = (self.target - self.w.cwnd) / self.w.cwnd;
        }
        let next = self.w.cwnd + self.slope * a.bytes as f64;
        // Never past the target, from whichever side.
        let next = if self.slope >= 0.0 { next.min(self.target.max(self.w.cwnd)) } else { next.max(self.target) };
        self.w.cwnd = next.max(2.0 * self.w.mss);
    }
}

impl Controller for Fast {
    fn grow(&mut self, a: &Ack) {
        match self.params.version {
            FastVersion::Published => self.once_per_round_trip(a),
            FastVersion::Stepwise => self.step(a),
        }
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        self.w.fall_to(base / 2.0, why);
        (self.target, self.slope) = (self.w.cwnd, 0.0);
        self.published.began = None;
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_rest_the_flow_keeps_alpha_segments_in_the_queue() {
        // A line that holds 1000 segments without a queue: rtt / base_rtt = w / 1000 above that.
        let params = FastParams::default();
        let mut w = 10.0;
        for _ in 0..200 {
            w = params.next(w, params.alpha, 0.1, 0.1 * f64::max(1.0, w / 1000.0));
        }
        assert!((w - 1100.0).abs() < 1e-6, "{w}");
    }

    #[test]
    fn by_rate_alpha_has_three_steps() {
        let params = FastParams { policy: AlphaPolicy::ByRate, alpha: 200.0, ..FastParams::default() };
        let at = [1e6, 10e6, 10.1e6, 100e6, 100.1e6, 1e9].map(|bps| params.alpha_at(bps));
        assert_eq!(at, [8.0, 8.0, 20.0, 20.0, 200.0, 200.0]);
        assert_eq!(FastParams { alpha: 200.0, ..FastParams::default() }.alpha_at(1e6), 200.0, "fixed");
        let crossed = FastParams { low_rate: BitRate(200_000_000), ..params };
        assert!(crossed.check().expect_err("the steps are in the wrong order").expected.contains("middle_rate"));
    }

    #[test]
    fn an_empty_queue_lets_the_window_grow_by_a_factor_and_a_full_one_does_not() {
        let params = FastParams { empty_growth: 0.5, ..FastParams::default() };
        assert_eq!(params.next(1000.0, 100.0, 0.1, 0.1005), 500.0 + 0.5 * (1000.0 * 0.1 / 0.1005 + 500.0));
        assert_eq!(params.next(1000.0, 100.0, 0.1, 0.11), 500.0 + 0.5 * (1000.0 * 0.1 / 0.11 + 100.0));
        // Small windows have alpha in any case.
        assert_eq!(params.next(100.0, 100.0, 0.1, 0.1), 150.0);
    }
}
