//! # Prague
//!
//! **Source**: rfc9331 section 4 (what is required); tcp-prague (the module for Linux, versions 0.5 and 0.6).
//!
//! **Idea**: DCTCP for the Internet. Alpha is kept in 2^-20, sixteen times, so that no remainder is lost, and stays 1 until the first mark,
//! which ends slow start. Every unmarked segment adds `A / cwnd`, also in the round trip after a mark; marks cost `alpha cwnd / 2` once a round trip,
//! paid one segment an ACK; losses cost half. Below a virtual round trip T, `A = (R / T)^2`, and alpha and marks count once in T, so that flows with
//! shorter ways get equal rates. Segments leave at `cwnd / srtt`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `prague.rtt_scaling` | - | `rate` | tcp-prague 0.6; `off` in 0.5 |
//! | `prague.target_rtt` | time | 25 ms | tcp-prague 0.6; 15 ms in 0.5 |
//! | `prague.transition_rounds` | rounds | 500 | tcp-prague 0.6; 100 in 0.5 |
//! | `prague.fallback` | - | `off` | tcp-prague; `on` takes a queue that is not L4S for what it is |
//! | `prague.pacing` | - | `window` | tcp-prague 0.6; `largest-of-window-and-flight` in 0.5 |
//!
//! **Deviations**: 1. Windows are real numbers. 2. Segments leave one by one; the module sends what fits into 2^-12 s at once. 3. Round trips are smoothed
//! over every sample (gain 1/8). 4. Without AccECN it is Reno without ECT; the module hands over to `reno`.
//!
//! **Checked by**: `law/prague/oracle.rs` (the module's fixed point on random ACKs, all four modes), unit tests (two marks a round trip, the recursion of alpha, equal rates of unequal ways, the fall-back's score).

use super::super::detect::Phase;
use super::super::ecn::Agreed;
use super::{AckSample, Change, Controller, Start, Window};
use crate::tcp::choices::choice;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod fallback;
pub use fallback::Fallback;
use fallback::Score;

choice!(
    /// How far the rate depends on the round trip.
    #[derive(Default)]
    RttScaling {
        /// As far as DCTCP's.
        Off,
        /// Ways shorter than the target get equal rates.
        #[default]
        Rate,
        /// One mark in eight round trips even on the shortest ways.
        Scalable,
        /// As if every way were longer by the target.
        Additive,
    }
);
choice!(
    /// What is paced.
    #[derive(Default)]
    PragueRate {
        #[default]
        Window,
        LargestOfWindowAndFlight,
    }
);

/// Parameters of Prague.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PragueParams {
    /// How far the rate depends on the round trip.
    pub rtt_scaling: RttScaling,
    /// The virtual round trip.
    pub target_rtt: Dur,
    /// Rounds after slow start before the round trip is scaled.
    pub transition_rounds: u32,
    /// What is done about marks of a queue that is not L4S.
    pub fallback: Fallback,
    /// What is paced.
    pub pacing: PragueRate,
}

impl Default for PragueParams {
    fn default() -> Self {
        PragueParams {
            rtt_scaling: RttScaling::Rate,
            target_rtt: Dur::from_millis(25),
            transition_rounds: 500,
            fallback: Fallback::Off,
            pacing: PragueRate::Window,
        }
    }
}

impl PragueParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        match self.target_rtt.0 {
            0 => Err(ConfigError::new("target_rtt", "0", "a positive time")),
            _ => Ok(()),
        }
    }
}

/// One, in the units of alpha.
const ONE: u64 = 1 << 20;
/// Alpha is kept sixteen times.
const GAIN_BITS: u32 = 4;
/// Longer round trips are never scaled.
const UNSCALED: Dur = Dur::from_millis(100);
/// `scalable`: both in seconds.
const R0: f64 = 0.016_384;
const R1: f64 = 0.001_536;

#[derive(Clone, Debug)]
pub struct Prague {
    /// `cwnd`: the window in use, which follows `exact` downwards by one segment an ACK.
    w: Window,
    exact: f64,
    params: PragueParams,
    /// Sixteen times alpha in 2^-20.
    alpha: u64,
    has_seen_mark: bool,
    round_end: u64,
    rounds: u32,
    delivered: u64,
    marked: u64,
    alpha_at: Time,
    reduced_at: Time,
    now: Time,
    srtt: f64,
    in_flight: f64,
    score: Score,
    agreed: Agreed,
}

impl Prague {
    pub fn new(p: &PragueParams, start: Start) -> Prague {
        let w = start.window;
        Prague {
            exact: w.cwnd,
            w,
            params: p.clone(),
            alpha: ONE << GAIN_BITS,
            has_seen_mark: false,
            round_end: 0,
            rounds: 0,
            delivered: 0,
            marked: 0,
            alpha_at: Time::ZERO,
            reduced_at: Time::ZERO,
            now: Time::ZERO,
            srtt: 0.0,
            in_flight: 0.0,
            score: Score::new(p.fallback),
            agreed: Agreed::Nothing,
        }
    }

    /// The estimated share of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha as f64 / (ONE << GAIN_BITS) as f64
    }

    /// The virtual round trip, where the real one is shorter.
    fn target(&self) -> Option<f64> {
        let t = self.params.target_rtt.as_secs_f64();
        let target = match self.params.rtt_scaling {
            RttScaling::Off => return None,
            RttScaling::Rate | RttScaling::Scalable => t,
            RttScaling::Additive => t + self.srtt,
        };
        let is_due = self.rounds >= self.params.transition_rounds && self.agreed == Agreed::Accurate;
        (is_due && self.srtt > 0.0 && self.srtt < target && self.srtt <= UNSCALED.as_secs_f64()).then_some(target)
    }

    /// What an unmarked segment adds, in segments a window.
    fn increase(&self) -> f64 {
        let Some(target) = self.target() else { return 1.0 };
        match self.params.rtt_scaling {
            RttScaling::Scalable => scalable_increase(self.srtt),
            _ => (self.srtt / target).powi(2),
        }
    }

    /// Once a round trip, and once in the virtual one.
    fn has_passed(&self, since: Time) -> bool {
        self.target().is_none_or(|t| self.now.since(since).as_secs_f64() >= t)
    }

    fn end_round(&mut self, nxt: u64) {
        self.round_end = nxt;
        if !self.w.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        if self.has_seen_mark {
            self.score.on_round();
        }
        if !self.has_passed(self.alpha_at) {
            return;
        }
        self.alpha_at = self.now;
        let (delivered, marked) = (std::mem::take(&mut self.delivered), std::mem::take(&mut self.marked));
        if self.has_seen_mark {
            self.alpha = next_alpha(self.alpha, delivered, marked);
        }
    }

    /// Unmarked segments make the window grow, whatever was answered just now.
    fn grow_by(&mut self, s: &AckSample<'_>) {
        let unmarked = f64::from(s.ack.newly_delivered) - f64::from(s.ack.newly_ce);
        let repairs = matches!(s.phase, Phase::Recovery { .. } | Phase::Timeout { .. }) && !self.w.in_slow_start();
        let is_recovery = matches!(s.phase, Phase::Recovery { .. });
        if unmarked <= 0.0 || is_recovery || repairs || !s.ack.window_limited {
            return;
        }
        if self.w.in_slow_start() {
            self.exact = (self.exact + unmarked * self.w.mss).min(self.w.ssthresh.max(self.exact));
        } else {
            self.exact += unmarked * self.increase() * self.w.mss * self.w.mss / self.exact;
        }
    }

    /// The window in use: up at once, down by a segment.
    fn follow(&mut self) {
        let mss = self.w.mss;
        if self.w.cwnd > self.exact {
            self.w.cwnd = (self.w.cwnd - mss).max(self.exact);
            self.w.ssthresh = self.w.cwnd;
        } else {
            self.w.cwnd = self.exact;
        }
    }

    fn answer_marks(&mut self) {
        if self.has_seen_mark && !self.has_passed(self.reduced_at) {
            return;
        }
        self.reduced_at = self.now;
        self.has_seen_mark = true;
        let share = self.score.at_least(self.alpha());
        self.exact = (self.exact * (1.0 - share / 2.0)).max(2.0 * self.w.mss);
        // Slow start is over.
        self.w.ssthresh = self.w.ssthresh.min(self.w.cwnd);
    }
}

/// One more round of so many packets.
fn next_alpha(alpha: u64, delivered: u64, marked: u64) -> u64 {
    let share = (marked.min(delivered) * ONE) / delivered.max(1);
    (alpha - (alpha >> GAIN_BITS) + share).min(ONE << GAIN_BITS)
}

/// The third rule of the module.
fn scalable_increase(rtt_s: f64) -> f64 {
    (R0 / 8.0 + (rtt_s - R1).clamp(0.0, R0)) * rtt_s / (R0 * R0)
}

impl Controller for Prague {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        let a = s.ack;
        (self.now, self.agreed, self.in_flight) = (a.now, s.agreed, s.in_flight as f64);
        if let Some(rtt) = a.rtt {
            let r = rtt.as_secs_f64();
            self.srtt = if self.srtt > 0.0 { self.srtt + (r - self.srtt) / 8.0 } else { r };
            self.score.take(r, self.w.ssthresh / self.w.mss);
        }
        self.delivered += u64::from(a.newly_delivered);
        self.marked += u64::from(a.newly_ce);
        if a.ack >= self.round_end {
            self.end_round(s.nxt);
        }
        self.grow_by(s);
        self.exact = self.exact.min(s.limit);
        if !matches!(s.phase, Phase::Recovery { .. }) {
            self.follow();
        }
    }
    fn grow(&mut self, a: &Ack) {
        self.on_ack(&AckSample::of(a));
    }
    fn reduce(&mut self, why: Trigger, _base: f64) {
        if why == Trigger::Echo {
            return self.answer_marks();
        }
        self.w.fall_to(self.exact / 2.0, why);
        self.exact = self.w.cwnd;
    }
    fn change(&mut self, change: Change) {
        let before = self.w.cwnd;
        self.w.apply(change);
        // What a recovery releases is on its way to the window that the reduction has left.
        match change {
            Change::ReducingTo(_) => {}
            Change::Cap(_) if self.w.cwnd == before => {}
            _ => self.exact = self.w.cwnd,
        }
    }
    fn undo(&mut self, before: &Self) {
        let most = before.exact.max(self.exact);
        (self.exact, self.w.cwnd, self.w.ssthresh) = (most, most, before.w.ssthresh);
    }
    fn pacing_rate(&self) -> Option<f64> {
        if self.srtt == 0.0 {
            return None;
        }
        let window = match self.params.pacing {
            PragueRate::Window => self.exact,
            PragueRate::LargestOfWindowAndFlight => self.w.cwnd.max(self.in_flight),
        };
        let ratio = if self.w.cwnd < self.w.ssthresh / 2.0 { 2.0 } else { 1.0 };
        Some(ratio * window / self.srtt)
    }
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("marked_ratio", self.alpha());
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
