//! The allowed rate as ns-2's sender set it before 20 October 2004: slow start begins at a packet per round-trip time and
//! is taken up packet by packet from then on, and an expiry of the no-feedback timer ends it for good.

use super::law::View;
use super::ns2::SMALL;
use super::params::TfrcParams;
use crosswind_base::Time;

/// Packets per round-trip time up to which an idle sender is spared.
const SPARED_PACKETS: f64 = 4.0;

#[derive(Clone, Debug)]
pub struct OldNs2 {
    /// `rate_`
    pub rate: f64,
    /// `oldrate_`, which rises towards the rate by `delta_` a packet.
    ramp: f64,
    step: f64,
    is_slow_start: bool,
    /// `maxrate_` and `ss_maxrate_`.
    limit: f64,
    slow_start_limit: f64,
    changed_at: Time,
}

impl OldNs2 {
    pub fn new(rate: f64) -> OldNs2 {
        let (limit, slow_start_limit, changed_at) = (0.0, 0.0, Time::ZERO);
        OldNs2 { rate, ramp: rate, step: 0.0, is_slow_start: true, limit, slow_start_limit, changed_at }
    }

    /// The rate at which the next packet follows, and whether it is the ramp's.
    pub fn next_rate(&mut self) -> (f64, bool) {
        if self.is_slow_start && self.ramp + SMALL < self.rate {
            self.ramp += self.step;
            return (self.ramp, true);
        }
        (self.rate, false)
    }

    /// A report has come. Whether a packet is to be sent at once.
    pub fn on_feedback(&mut self, v: &View, p: &TfrcParams) -> bool {
        // The first report cannot know a rate yet and says a packet per second.
        let received = if v.is_first && v.receive_rate <= 0.0 { p.packet_size.0 as f64 } else { v.receive_rate };
        self.limit = v.gain(p) * received;
        self.slow_start_limit = 2.0 * received;
        if v.is_first || self.is_slow_start && v.p <= 0.0 {
            self.slow_start(v, p);
            return true;
        }
        if self.is_slow_start {
            self.is_slow_start = false;
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

    fn slow_start(&mut self, v: &View, p: &TfrcParams) {
        let (least, limit) = (v.packet_per_rtt(p), self.slow_start_limit);
        let has_waited = v.now.since(self.changed_at) > v.rtt;
        if self.rate < least {
            self.ramp = self.rate;
            self.aim_at(least, v, p);
        } else if limit <= 0.0 || (2.0 * self.rate < limit && has_waited) {
            self.aim_at(2.0 * self.rate, v, p);
        } else if self.ramp > limit {
            (self.rate, self.ramp, self.step) = (limit / 2.0, limit / 2.0, 0.0);
            self.changed_at = v.now;
        } else if self.rate > limit || has_waited {
            self.aim_at(limit, v, p);
        }
    }

    /// Another rate, which the ramp reaches from where it is in a round-trip time.
    fn aim_at(&mut self, rate: f64, v: &View, p: &TfrcParams) {
        self.rate = rate;
        self.step = (rate - self.ramp) / (rate / v.packet_per_rtt(p));
        self.changed_at = v.now;
    }

    fn increase(&mut self, v: &View, p: &TfrcParams) {
        let per_rtt = v.packet_per_rtt(p);
        let most = self.limit.max(per_rtt).min(v.equation_rate);
        self.rate = (self.rate + per_rtt * v.rounds_since(self.changed_at)).min(most);
        self.changed_at = v.now;
    }

    /// No feedback came: half the rate, unless the application was silent and the rate is low; and no slow start any more.
    pub fn on_expiry(&mut self, v: &View, is_idle: bool, p: &TfrcParams) {
        self.is_slow_start = false;
        if !is_idle || self.rate > SPARED_PACKETS * v.packet_per_rtt(p) {
            self.rate /= 2.0;
        }
    }
}
