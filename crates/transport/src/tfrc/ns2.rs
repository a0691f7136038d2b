//! The allowed rate as ns-2's sender sets it (`tcp/tfrc.cc` of ns-2.35): steps of slow start with each report, taken up
//! packet by packet, then increase and decrease as two cases with limits of their own.

use super::law::View;
use super::params::{InitialWindow, SlowStart, TfrcParams};
use crosswind_base::Time;

/// Bytes per second that do not count: the ramp has arrived (ns-2's `SMALLFLOAT`).
pub(super) const SMALL: f64 = 1e-7;

/// How the rate was set last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    SlowStart,
    Avoidance,
}

#[derive(Clone, Debug)]
pub struct Ns2 {
    /// `rate_`
    pub rate: f64,
    /// `oldrate_`, from which slow start rises by `delta_` a packet.
    ramp: f64,
    step: f64,
    phase: Phase,
    /// Reports and expiries so far (`round_id`).
    rounds: u64,
    /// `maxrate_` and `ss_maxrate_`.
    limit: f64,
    slow_start_limit: f64,
    changed_at: Time,
}

impl Ns2 {
    pub fn new(rate: f64) -> Ns2 {
        Ns2 {
            rate,
            ramp: rate,
            step: 0.0,
            phase: Phase::SlowStart,
            rounds: 0,
            limit: 0.0,
            slow_start_limit: 0.0,
            changed_at: Time::ZERO,
        }
    }

    /// The rate at which the next packet follows, and whether it is the ramp's.
    pub fn next_rate(&mut self, p: &TfrcParams) -> (f64, bool) {
        let rises = p.slow_start == SlowStart::Ramp && self.rounds > 2 && self.phase == Phase::SlowStart;
        if rises && self.ramp + SMALL < self.rate {
            self.ramp += self.step;
            return (self.ramp, true);
        }
        (self.rate, false)
    }

    /// A report has come. Whether a packet is to be sent at once.
    pub fn on_feedback(&mut self, v: &View, p: &TfrcParams) -> bool {
        self.rounds += 1;
        let has_rate = self.rounds > 1 && v.receive_rate > 0.0;
        self.limit = if has_rate { v.gain(p) * v.receive_rate } else { 0.0 };
        self.slow_start_limit = if has_rate { 2.0 * v.receive_rate } else { 0.0 };
        if self.phase == Phase::SlowStart && (v.is_first || v.p <= 0.0) {
            self.slow_start(v, p);
            return true;
        }
        if self.phase == Phase::SlowStart {
            self.phase = Phase::Avoidance;
            self.rate = v.equation_rate;
            self.ramp = self.rate;
        } else if v.equation_rate > self.rate {
            self.increase(v, p);
        } else {
            self.rate = v.equation_rate.min(self.limit.max(v.packet_per_rtt(p)));
            self.changed_at = v.now;
        }
        false
    }

    fn ramp_up(&mut self, from: f64, to: f64, v: &View, p: &TfrcParams) {
        (self.ramp, self.rate) = (from, to);
        self.step = (to - from) / (to / v.packet_per_rtt(p));
        self.changed_at = v.now;
    }

    fn slow_start(&mut self, v: &View, p: &TfrcParams) {
        let old = self.rate;
        if self.rounds <= 2 || self.slow_start_limit > 0.0 && v.is_data_limited && self.slow_start_limit < v.initial {
            self.ramp_up(old, old.max(v.initial), v, p);
        } else if self.slow_start_limit <= 0.0 {
            self.ramp_up(old, v.packet_per_rtt(p), v, p);
            self.step = 0.0;
        } else if old < self.slow_start_limit && v.now.since(self.changed_at) > v.rtt {
            let to = (2.0 * old).min(self.slow_start_limit).max(v.packet_per_rtt(p));
            self.ramp_up(old, to, v, p);
        } else if old > self.slow_start_limit {
            let half = self.slow_start_limit / 2.0;
            self.ramp_up(half, half, v, p);
        }
    }

    fn increase(&mut self, v: &View, p: &TfrcParams) {
        let per_rtt = v.packet_per_rtt(p);
        let least = if v.is_data_limited { v.initial } else { per_rtt };
        let most = self.limit.max(least).min(v.equation_rate);
        self.rate = (self.rate + per_rtt * v.rounds_since(self.changed_at)).min(most);
        self.changed_at = v.now;
    }

    /// No feedback came: half the rate, unless the application was silent and the rate is near the initial one. With an initial
    /// rate of a window it does not stay above that.
    pub fn on_expiry(&mut self, v: &View, is_idle: bool, p: &TfrcParams) {
        self.rounds += 1;
        if !is_idle || self.rate > 2.0 * v.initial {
            self.rate /= 2.0;
        } else if self.rate > v.initial && p.initial_window == InitialWindow::Rfc3390 {
            self.rate = v.initial;
        }
    }
}
