//! What BBR version 3 controls: the rate at which segments leave, and the window.

use super::{Bbr3, LEAST_WINDOW, Sample, State, Version, Was};
use crosswind_base::Dur;

const GAIN: f64 = 2.0;
const UP_GAIN: f64 = 2.25;
const PROBE_RTT_GAIN: f64 = 0.5;
/// Share of the rate at which segments leave.
const MARGIN: f64 = 0.99;

impl Bbr3 {
    pub(super) fn init_pacing_rate(&mut self, rtt: Dur) {
        let margin = if self.params.is_google() { MARGIN } else { 1.0 };
        self.pacing_rate = self.params.startup_gain * margin * self.initial_cwnd / rtt.as_secs_f64().max(1e-6);
    }

    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.params.startup_gain,
            State::Drain => self.params.drain_gain,
            State::Down => self.params.down_gain,
            State::Up => self.params.up_gain,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }
    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => UP_GAIN,
            State::ProbeRtt => PROBE_RTT_GAIN,
            _ => GAIN,
        }
    }

    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * MARGIN;
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Products of a rate and the least round trip.
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_cwnd, |rtt| gain * bw * rtt.as_secs_f64())
    }
    pub(super) fn quantised(&self, inflight: f64) -> f64 {
        let more = if self.state == State::Up { 2.0 * self.mss() } else { 0.0 };
        inflight.max(LEAST_WINDOW * self.mss()) + more
    }
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.w.cwnd)
    }
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, PROBE_RTT_GAIN).max(LEAST_WINDOW * self.mss())
    }

    pub(super) fn set_cwnd(&mut self, s: &Sample) {
        let max_inflight = self.quantised(self.bdp_multiple(self.bw, self.cwnd_gain()) + self.extra_acked);
        let is_young = match self.params.version {
            Version::Draft => (s.all_delivered as f64) < self.initial_cwnd,
            Version::Google => self.w.cwnd < 2.0 * self.initial_cwnd,
        };
        if self.full.reached {
            self.w.cwnd = (self.w.cwnd + s.newly_acked).min(max_inflight);
        } else if self.w.cwnd < max_inflight || is_young {
            self.w.cwnd += s.newly_acked;
        }
        let least = LEAST_WINDOW * self.mss();
        self.w.cwnd = self.w.cwnd.max(least);
        if self.state == State::ProbeRtt {
            self.w.cwnd = self.w.cwnd.min(self.probe_rtt_cwnd());
        }
        let cap = match self.state {
            State::Startup => f64::INFINITY,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Drain | State::Down | State::Refill | State::Up => self.inflight_longterm,
        };
        self.w.cwnd = self.w.cwnd.min(cap.min(self.inflight_shortterm).max(least));
    }

    pub(super) fn save_cwnd(&mut self) {
        let is_whole = self.was == Was::Open && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_whole { self.w.cwnd } else { self.prior_cwnd.max(self.w.cwnd) };
    }
    pub(super) fn restore_cwnd(&mut self) {
        self.w.cwnd = self.w.cwnd.max(self.prior_cwnd);
    }
}
