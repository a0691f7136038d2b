//! The pseudo-code of the draft, with its names. Where the draft is silent or contradicts itself, the decisions that `bbr3.rs` states.

use super::super::Delivery;
use super::{P, SMSS};
use crate::tcp::detect::Phase;
use crosswind_base::Rng;

mod control;

const IW: f64 = 10.0 * SMSS;
const INF: f64 = f64::INFINITY;

/// `RS`.
#[derive(Clone, Copy, Default)]
pub(super) struct Rs {
    delivery_rate: f64,
    delivered: f64,
    prior_delivered: u64,
    newly_acked: f64,
    lost: f64,
    tx_in_flight: f64,
    is_app_limited: bool,
    rtt: Option<u64>,
    has_rate: bool,
}

/// `BBR` and what it needs of `C`. Times in nanoseconds.
pub(super) struct Draft {
    pub state: &'static str,
    pub max_bw: f64,
    pub pacing_rate: f64,
    pub cwnd: f64,
    pub inflight_longterm: f64,
    pub bw_shortterm: f64,
    pub undone_to: Option<&'static str>,
    inflight_shortterm: f64,
    rng: Rng,
    rs: Rs,
    now: u64,
    c_delivered: u64,
    inflight: f64,
    inflight_before: f64,
    phase: &'static str,
    bw: f64,
    /// Samples of the filter: cycle and rate.
    max_bw_samples: Vec<(u64, f64)>,
    cycle_count: u64,
    min_rtt: Option<u64>,
    min_rtt_stamp: u64,
    probe_rtt_min_delay: Option<u64>,
    probe_rtt_min_stamp: u64,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: u64,
    probe_rtt_round_done: bool,
    prior_cwnd: f64,
    undo_state: Option<&'static str>,
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
    saved_now: bool,
    idle_restart: bool,
    extra_acked: f64,
    extra_acked_interval_start: u64,
    extra_acked_delivered: f64,
    extra_acked_filter: super::super::bbr::Largest,
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    probe_up_acked_per_inc: f64,
    bw_probe_up_acked: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    ack_phase: &'static str,
    cycle_stamp: u64,
    bw_probe_wait: u64,
    bw_latest: f64,
    inflight_latest: f64,
    is_loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    lost_ranges: u32,
    lost_ranges_of_round: u32,
    last_lost_id: u64,
    next_round_delivered: u64,
    round_start: bool,
    round_count: u64,
    drain_start_round: u64,
    limited_rounds: [bool; 2],
}

impl Draft {
    pub(super) fn new(rng: Rng) -> Draft {
        Draft {
            state: "Startup",
            max_bw: 0.0,
            pacing_rate: 2.77 * IW / 0.001,
            cwnd: IW,
            inflight_longterm: INF,
            bw_shortterm: INF,
            undone_to: None,
            inflight_shortterm: INF,
            rng,
            rs: Rs::default(),
            now: 0,
            c_delivered: 0,
            inflight: 0.0,
            inflight_before: 0.0,
            phase: "open",
            bw: 0.0,
            max_bw_samples: Vec::new(),
            cycle_count: 0,
            min_rtt: None,
            min_rtt_stamp: 0,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: 0,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: 0,
            probe_rtt_round_done: false,
            prior_cwnd: 0.0,
            undo_state: None,
            undo_bw_shortterm: 0.0,
            undo_inflight_shortterm: 0.0,
            undo_inflight_longterm: 0.0,
            saved_now: false,
            idle_restart: false,
            extra_acked: 0.0,
            extra_acked_interval_start: 0,
            extra_acked_delivered: 0.0,
            extra_acked_filter: Default::default(),
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            probe_up_acked_per_inc: INF,
            bw_probe_up_acked: 0.0,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            ack_phase: "INIT",
            cycle_stamp: 0,
            bw_probe_wait: 0,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            lost_ranges: 0,
            lost_ranges_of_round: 0,
            last_lost_id: 0,
            next_round_delivered: 0,
            round_start: false,
            round_count: 0,
            drain_start_round: 0,
            limited_rounds: [false; 2],
        }
    }

    pub(super) fn update_on_ack(&mut self, d: &Delivery, phase: Phase, now: u64, before: f64, after: f64) {
        let phase = match phase {
            Phase::Open | Phase::Echo { .. } => "open",
            Phase::Recovery { .. } => "recovery",
            Phase::Timeout { .. } => "rto",
        };
        (self.now, self.c_delivered, self.inflight_before, self.inflight) = (now, d.delivered, before, after);
        if self.phase == "open" && phase == "recovery" && !self.saved_now {
            self.save_state_upon_loss();
        }
        if self.phase != "open" && phase == "open" {
            self.restore_cwnd();
        }
        (self.phase, self.saved_now) = (phase, false);
        self.rs = Rs {
            delivery_rate: d.rate.unwrap_or(0.0),
            delivered: if d.rate.is_some() { (d.delivered - d.prior_delivered) as f64 } else { 0.0 },
            prior_delivered: d.prior_delivered,
            newly_acked: d.newly as f64,
            lost: d.lost_since as f64,
            tx_in_flight: d.flight as f64,
            is_app_limited: d.is_app_limited,
            rtt: d.trip.map(|t| t.0),
            has_rate: d.rate.is_some(),
        };
        if let (None, Some(rtt)) = (self.min_rtt, self.rs.rtt) {
            self.min_rtt = Some(rtt);
            (self.min_rtt_stamp, self.probe_rtt_min_stamp, self.extra_acked_interval_start) = (now, now, now);
            self.pacing_rate = 2.77 * IW / (rtt as f64 / 1e9);
        }
        self.update_model_and_state();
        self.set_pacing_rate_with_gain(self.pacing_gain());
        self.set_cwnd();
    }

    fn update_model_and_state(&mut self) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        // C.is_cwnd_limited: in this packet-timed round trip or the one before.
        if self.round_start {
            self.limited_rounds = [self.limited_rounds[1], false];
        }
        self.limited_rounds[1] |= self.inflight_before + SMSS > self.cwnd;
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt();
        self.check_probe_rtt();
        if self.loss_round_start {
            self.bw_latest = self.rs.delivery_rate;
            self.inflight_latest = self.rs.delivered;
        }
        self.bw = self.max_bw.min(self.bw_shortterm);
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            "Startup" => 2.77,
            "Drain" => 0.5,
            "ProbeBW_DOWN" => 0.90,
            "ProbeBW_UP" => 1.25,
            _ => 1.0,
        }
    }
    fn cwnd_gain(&self) -> f64 {
        match self.state {
            "ProbeBW_UP" => 2.25,
            "ProbeRTT" => 0.5,
            _ => 2.0,
        }
    }
    fn is_in_a_probe_bw_state(&self) -> bool {
        self.state.starts_with("ProbeBW")
    }

    fn check_full_bw_reached(&mut self) {
        if self.full_bw_now || !self.round_start || self.rs.is_app_limited {
            return;
        }
        if self.rs.delivery_rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = self.rs.delivery_rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        if self.full_bw_now {
            self.full_bw_reached = true;
        }
    }
    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0.0, 0, false);
    }

    fn check_startup_done(&mut self) {
        let all = self.phase == "recovery"
            && self.loss_round_start
            && self.lost_ranges_of_round >= 6
            && self.rs.lost > 0.02 * self.rs.tx_in_flight;
        if self.state == "Startup" && all {
            self.undo_state = Some("Startup");
            (self.full_bw_reached, self.full_bw_now) = (true, true);
            self.inflight_longterm = self.bdp_multiple(self.bw, 1.0).max(self.inflight_latest);
        }
        if self.state == "Startup" && self.full_bw_reached {
            self.state = "Drain";
            self.drain_start_round = self.round_count;
        }
    }

    fn check_drain_done(&mut self) {
        if self.state == "Drain"
            && (self.inflight <= self.inflight_of(self.max_bw, 1.0) || self.round_count > self.drain_start_round + 3)
        {
            self.start_probe_bw_down();
        }
    }

    fn start_round(&mut self) {
        self.next_round_delivered = self.c_delivered;
    }
    fn start_probe_bw_down(&mut self) {
        (self.is_loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
        self.probe_up_acked_per_inc = INF;
        self.rounds_since_probe_up = self.rng.below(2);
        self.bw_probe_wait = 2_000_000_000 + crosswind_base::Dur::from_secs_f64(self.rng.uniform()).0;
        self.cycle_stamp = self.now;
        self.ack_phase = "PROBE_STOPPING";
        self.start_round();
        self.state = "ProbeBW_DOWN";
    }
    fn start_probe_bw_refill(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (INF, INF);
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0.0);
        self.prev_probe_precautionary = false;
        self.ack_phase = "REFILLING";
        self.start_round();
        self.state = "ProbeBW_REFILL";
    }
    fn start_probe_bw_up(&mut self) {
        self.ack_phase = "PROBE_STARTING";
        self.start_round();
        self.reset_full_bw();
        self.full_bw = self.rs.delivery_rate;
        self.state = "ProbeBW_UP";
        self.raise_inflight_longterm_slope();
    }

    fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_bw_reached || self.adapt_long_term_model() || !self.is_in_a_probe_bw_state() {
            return;
        }
        let state = self.state;
        match state {
            "ProbeBW_DOWN" => {
                if self.is_time_to_probe_bw() {
                    return;
                }
                if self.inflight <= self.inflight_with_headroom() && self.inflight <= self.inflight_of(self.max_bw, 1.0)
                {
                    self.state = "ProbeBW_CRUISE";
                }
            }
            "ProbeBW_CRUISE" => {
                self.is_time_to_probe_bw();
            }
            "ProbeBW_REFILL" if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up();
            }
            "ProbeBW_UP" if self.is_time_to_go_down() => {
                self.prev_probe_too_high = false;
                self.start_probe_bw_down();
            }
            _ => {}
        }
    }
    fn is_time_to_probe_bw(&mut self) -> bool {
        let reno_rounds = self.target_inflight() / SMSS;
        let yes = self.now > self.cycle_stamp + self.bw_probe_wait
            || self.rounds_since_probe_up as f64 >= reno_rounds.min(63.0);
        if yes {
            self.start_probe_bw_refill();
        }
        yes
    }
    fn is_time_to_go_down(&mut self) -> bool {
        // The ACK's own data still counts, and what is less than a segment of room is none.
        if self.prev_probe_too_high && self.inflight_before + SMSS > self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = self.rs.delivery_rate;
        } else if self.full_bw_now {
            return true;
        }
        false
    }
    fn is_cwnd_limited(&self) -> bool {
        self.limited_rounds[0] || self.limited_rounds[1]
    }
    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == INF {
            return INF;
        }
        let headroom = SMSS.max(0.15 * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(4.0 * SMSS)
    }
    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = (1u64 << self.bw_probe_up_rounds) as f64;
        self.bw_probe_up_rounds = 30.min(self.bw_probe_up_rounds + 1);
        self.probe_up_acked_per_inc = SMSS.max(self.cwnd / growth_this_round);
    }
    fn probe_inflight_longterm_upward(&mut self) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += self.rs.newly_acked;
        let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
        if delta >= 1.0 {
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * SMSS;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }
    fn adapt_long_term_model(&mut self) -> bool {
        if self.ack_phase == "PROBE_STARTING" && self.round_start {
            self.ack_phase = "PROBE_FEEDBACK";
        }
        if self.ack_phase == "PROBE_STOPPING" && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = "INIT";
            if self.is_in_a_probe_bw_state() && !self.rs.is_app_limited {
                self.cycle_count += 1;
            }
            if self.is_in_a_probe_bw_state() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if self.rs.lost <= 0.02 * self.rs.tx_in_flight {
            if self.inflight_longterm == INF {
                return false;
            }
            if self.rs.tx_in_flight > self.inflight_longterm {
                self.inflight_longterm = self.rs.tx_in_flight;
            }
            if self.state == "ProbeBW_UP" {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }

    fn update_min_rtt(&mut self) {
        self.probe_rtt_expired = self.now > self.probe_rtt_min_stamp + 5_000_000_000;
        if let Some(rtt) = self.rs.rtt
            && (self.probe_rtt_min_delay.is_none_or(|m| rtt < m) || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = self.now;
        }
        let min_rtt_expired = self.now > self.min_rtt_stamp + 10_000_000_000;
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }
    fn check_probe_rtt(&mut self) {
        if self.state != "ProbeRTT" && self.probe_rtt_expired && !self.idle_restart {
            self.state = "ProbeRTT";
            self.save_cwnd();
            self.probe_rtt_done_stamp = 0;
            self.ack_phase = "PROBE_STOPPING";
            self.start_round();
        }
        if self.state == "ProbeRTT" {
            if self.probe_rtt_done_stamp == 0 && self.inflight <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = self.now + 200_000_000;
                self.probe_rtt_round_done = false;
                self.start_round();
            } else if self.probe_rtt_done_stamp != 0 {
                if self.round_start {
                    self.probe_rtt_round_done = true;
                }
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done();
                }
            }
        }
        if self.rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }
    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done_stamp == 0 || self.now <= self.probe_rtt_done_stamp {
            return;
        }
        self.probe_rtt_min_stamp = self.now;
        self.restore_cwnd();
        (self.bw_shortterm, self.inflight_shortterm) = (INF, INF);
        if self.full_bw_reached {
            self.start_probe_bw_down();
            self.state = "ProbeBW_CRUISE";
        } else {
            self.state = "Startup";
        }
    }

    pub(super) fn on_transmit(&mut self, now: u64, is_idle_and_app_limited: bool) {
        self.now = now;
        if !is_idle_and_app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked_interval_start = now;
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == "ProbeRTT" {
            self.check_probe_rtt_done();
        }
    }

    fn update_congestion_signals(&mut self) {
        if self.rs.has_rate && self.rs.prior_delivered >= self.next_round_delivered {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.round_start = true;
        } else {
            self.round_start = false;
        }
        let rate = self.rs.delivery_rate;
        if rate > 0.0 && (rate >= self.max_bw || !self.rs.is_app_limited) {
            self.max_bw_samples.push((self.cycle_count, rate));
            let cycle = self.cycle_count;
            self.max_bw_samples.retain(|s| s.0 + 1 >= cycle);
            self.max_bw = self.max_bw_samples.iter().fold(0.0, |m, s| m.max(s.1));
        }
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !matches!(self.state, "Startup" | "ProbeBW_REFILL" | "ProbeBW_UP") {
            if self.bw_shortterm == INF {
                self.bw_shortterm = self.max_bw;
            }
            if self.inflight_shortterm == INF {
                self.inflight_shortterm = self.cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(0.7 * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(0.7 * self.inflight_shortterm);
        }
        self.is_loss_in_round = false;
        self.lost_ranges_of_round = std::mem::take(&mut self.lost_ranges);
    }
    fn update_latest_delivery_signals(&mut self) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(self.rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered);
        if self.rs.has_rate && self.rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = self.c_delivered;
            self.loss_round_start = true;
        }
    }
    fn update_ack_aggregation(&mut self) {
        let interval = (self.now - self.extra_acked_interval_start) as f64 / 1e9;
        let mut expected_delivered = self.bw * interval;
        if self.extra_acked_delivered <= expected_delivered {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = self.now;
            expected_delivered = 0.0;
        }
        self.extra_acked_delivered += self.rs.newly_acked;
        let extra = (self.extra_acked_delivered - expected_delivered).min(self.cwnd);
        let filter_len = if self.full_bw_reached { 10 } else { 1 };
        self.extra_acked_filter.take(filter_len, self.round_count, extra);
        self.extra_acked = self.extra_acked_filter.get();
    }

    /// `p` has been marked lost; `lost` packets have been since it was sent.
    pub(super) fn handle_lost_packet(&mut self, p: &P, lost: u64, delivered: u64, now: u64) {
        (self.now, self.c_delivered) = (now, delivered * SMSS as u64);
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.c_delivered;
        }
        // "Saving State Upon Loss Recovery": at the start of an episode. NoteLoss would do so again at the second loss, as entering DOWN
        // clears is_loss_in_round, and forget the state to go back to.
        if self.phase == "open" && !self.saved_now {
            self.save_state_upon_loss();
        }
        self.is_loss_in_round = true;
        if self.lost_ranges == 0 || p.id != self.last_lost_id + 1 {
            self.lost_ranges += 1;
        }
        self.last_lost_id = p.id;
        if !self.is_bw_probe_sample {
            return;
        }
        let (tx_in_flight, lost) = (p.flight as f64 * SMSS, lost as f64 * SMSS);
        if lost > tx_in_flight * 0.02 {
            let inflight_prev = tx_in_flight - SMSS;
            let lost_prev = lost - SMSS;
            let lost_prefix = (0.02 * inflight_prev - lost_prev) / (1.0 - 0.02);
            let inflight_at_loss = inflight_prev + lost_prefix.max(0.0);
            self.prev_probe_too_high = true;
            self.is_bw_probe_sample = false;
            if !p.is_app_limited {
                self.inflight_longterm = inflight_at_loss.max(self.target_inflight() * 0.7);
            }
            if self.state == "ProbeBW_UP" {
                self.undo_state = Some("ProbeBW_UP");
                self.start_probe_bw_down();
            }
        }
    }
}
