//! The states of BBR version 3: what ends each, and what the next begins with.

use super::model::TooHigh;
use super::{Bbr3, FULL_GROWTH, FULL_ROUNDS, Feedback, Full, LEAST_WINDOW, Sample, State, Version, Was};
use crosswind_base::{Dur, Time};

/// Most rounds between two probes, and most doublings of the growth of a cap.
const MOST_ROUNDS: f64 = 63.0;
const MOST_DOUBLINGS: u32 = 30;
const LEAST_WAIT: Dur = Dur::from_secs(2);

impl Bbr3 {
    pub(super) fn reset_full_bw(&mut self) {
        self.full = Full { reached: self.full.reached, ..Full::default() };
    }

    pub(super) fn check_full_bw_reached(&mut self, rs: &Sample) {
        let is_each = self.params.version == Version::Google;
        if self.full.now || rs.is_app_limited || !(self.round_start || is_each) {
            return;
        }
        if rs.rate >= FULL_GROWTH * self.full.bw {
            self.reset_full_bw();
            self.full.bw = rs.rate;
            return;
        }
        if !self.round_start {
            return;
        }
        self.full.count += 1;
        self.full.now = self.full.count >= FULL_ROUNDS;
        self.full.reached |= self.full.now;
    }

    pub(super) fn check_startup_done(&mut self, rs: &Sample) {
        if self.state != State::Startup {
            return;
        }
        let many = self.lost_ranges_before >= self.params.startup_losses;
        let recovers_for_a_round = self.loss_round_start && self.was == Was::Recovering;
        if recovers_for_a_round && many && self.is_inflight_too_high(rs.lost, rs.tx_in_flight) {
            self.undo.state = Some(State::Startup);
            (self.full.now, self.full.reached) = (true, true);
            let bw = if self.params.version == Version::Google { self.max_bw() } else { self.bw };
            self.inflight_longterm = self.bdp_multiple(bw, 1.0).max(self.inflight_latest);
        }
        if self.full.reached {
            self.state = State::Drain;
            self.drain_start_round = self.round_count;
            self.w.ssthresh = self.holds();
        }
    }

    /// One product of the largest rate and the least round trip.
    fn holds(&self) -> f64 {
        self.quantised(self.bdp_multiple(self.max_bw(), 1.0))
    }

    pub(super) fn check_drain_done(&mut self, rs: &Sample) {
        let most = u64::from(self.params.drain_rounds);
        let is_late = most > 0 && self.round_count > self.drain_start_round + most;
        if self.state == State::Drain && (rs.after <= self.holds() || is_late) {
            self.start_down(rs.now, rs.all_delivered);
        }
    }

    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_stamp = now;
        self.ack_phase = Feedback::ProbeStopping;
        self.start_round(delivered);
        self.state = State::Down;
    }

    fn pick_probe_wait(&mut self) {
        let (round, share) = self.dice.as_mut().map_or((0, 0.5), |r| (r.below(2), r.uniform()));
        self.rounds_since_probe_up = round;
        self.bw_probe_wait = LEAST_WAIT + Dur::from_secs_f64(share);
    }

    fn start_cruise(&mut self) {
        if self.params.version == Version::Google {
            self.inflight_shortterm = self.inflight_shortterm.min(self.inflight_longterm);
        }
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self, delivered: u64) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0.0);
        self.prev_probe_precautionary = false;
        self.ack_phase = Feedback::Refilling;
        self.start_round(delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, rs: &Sample) {
        self.is_bw_probe_sample = true;
        self.ack_phase = Feedback::ProbeStarting;
        self.start_round(rs.all_delivered);
        self.reset_full_bw();
        self.full.bw = rs.rate;
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, rs: &Sample) {
        if !self.full.reached || self.adapt_long_term_model(rs) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(rs.now) => self.start_refill(rs.all_delivered),
            State::Down if rs.after <= self.inflight_with_headroom() && rs.after <= self.holds() => self.start_cruise(),
            State::Refill if self.round_start => self.start_up(rs),
            State::Up if self.is_time_to_go_down(rs) => {
                self.prev_probe_too_high = false;
                self.start_down(rs.now, rs.all_delivered);
            }
            _ => {}
        }
    }

    pub(super) fn is_time_to_probe(&self, now: Time) -> bool {
        let rounds = (self.target_inflight() / self.mss()).min(MOST_ROUNDS);
        now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds
    }

    fn is_time_to_go_down(&mut self, rs: &Sample) -> bool {
        if self.prev_probe_too_high && rs.before + self.mss() > self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.w.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full.bw = rs.rate;
            return false;
        }
        self.full.now
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let cap = self.inflight_longterm;
        if cap == f64::INFINITY {
            return cap;
        }
        (cap - (self.params.headroom * cap).max(self.mss())).max(LEAST_WINDOW * self.mss())
    }

    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MOST_DOUBLINGS);
        self.probe_up_acked_per_inc = (self.w.cwnd / growth).max(self.mss());
    }

    pub(super) fn probe_inflight_longterm_upward(&mut self, rs: &Sample) {
        if !self.is_cwnd_limited() || self.w.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let steps = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= steps * self.probe_up_acked_per_inc;
            self.inflight_longterm += steps * self.mss();
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// Whether it has decided on the next state.
    fn adapt_long_term_model(&mut self, rs: &Sample) -> bool {
        let is_cycling = matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up);
        if self.ack_phase == Feedback::ProbeStarting && self.round_start {
            self.ack_phase = Feedback::ProbeFeedback;
        }
        if self.ack_phase == Feedback::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = Feedback::Init;
            if is_cycling && !rs.is_app_limited {
                self.advance_max_bw_filter();
            }
            if is_cycling && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill(rs.all_delivered);
                return true;
            }
        }
        if self.is_inflight_too_high(rs.lost, rs.tx_in_flight) {
            if self.params.version == Version::Google && self.is_bw_probe_sample {
                self.handle_inflight_too_high(&TooHigh {
                    now: rs.now,
                    delivered: rs.all_delivered,
                    tx_in_flight: rs.tx_in_flight,
                    is_app_limited: rs.is_app_limited,
                });
            }
            return false;
        }
        if self.inflight_longterm < f64::INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(rs);
            }
        }
        false
    }

    pub(super) fn check_probe_rtt(&mut self, rs: &Sample) {
        let is_due = self.probe_rtt_expired && !self.idle_restart && self.params.probe_rtt > Dur::ZERO;
        if self.state != State::ProbeRtt && is_due {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.ack_phase = Feedback::ProbeStopping;
            self.start_round(rs.all_delivered);
        }
        if self.state == State::ProbeRtt {
            if self.probe_rtt_done_stamp.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(rs.now);
                }
            } else if rs.after <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = Some(rs.now + self.params.probe_rtt);
                self.probe_rtt_round_done = false;
                self.start_round(rs.all_delivered);
            }
        }
        if rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = now;
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full.reached {
            self.start_down(now, self.heard_delivered);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }
}
