//! What BBR version 3 believes of the path: rates, round trips, bunches of ACKs, and the caps that losses set.

use super::{BUNCH_ROUNDS, Bbr3, Delivery, Lost, Sample, Saved, State, Version, Was};
use crosswind_base::Time;

/// Rounds of a bucket, and seconds of rate that bunches may come to (google).
const BUCKET_ROUNDS: u32 = 5;
const BUNCH_S: f64 = 0.1;

/// A flight of which too much was lost, and what had been delivered when that was found out.
pub(super) struct TooHigh {
    pub now: Time,
    pub delivered: u64,
    pub tx_in_flight: f64,
    pub is_app_limited: bool,
}

impl Bbr3 {
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Sample, d: &Delivery) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(rs.rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        if d.rate.is_some() && rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = d.delivered;
            self.loss_round_start = true;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &Sample) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (rs.rate, rs.delivered);
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    pub(super) fn update_congestion_signals(&mut self, rs: &Sample, d: &Delivery) {
        self.update_round(rs, d);
        if rs.rate > 0.0 && (rs.rate >= self.max_bw || !rs.is_app_limited) {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(rs.rate);
            self.max_bw = self.max_bw_filter[0].max(self.max_bw_filter[1]);
        }
        if !self.loss_round_start {
            return;
        }
        if self.loss_in_round && !self.is_probing_bw() {
            self.adapt_lower_bounds();
        }
        self.loss_in_round = false;
        (self.lost_ranges_before, self.lost_ranges) = (self.lost_ranges, 0);
    }

    fn update_round(&mut self, rs: &Sample, d: &Delivery) {
        self.round_start = d.rate.is_some() && rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(d.delivered);
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
    }

    pub(super) fn start_round(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = self.w.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(self.params.kept * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(self.params.kept * self.inflight_shortterm);
    }

    /// A cycle of the filter is over: the one before is forgotten, unless the new one has brought nothing.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[1] > 0.0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0.0];
        }
        if self.params.version == Version::Google {
            self.max_bw = self.max_bw_filter[0];
        }
    }

    pub(super) fn update_ack_aggregation(&mut self, rs: &Sample) {
        let mut expected = self.bw * rs.now.since(self.extra_acked_interval_start).as_secs_f64();
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_interval_start, expected) = (0.0, rs.now, 0.0);
        }
        self.extra_acked_delivered += rs.newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(self.w.cwnd);
        if self.params.version == Version::Draft {
            let rounds = if self.full.reached { BUNCH_ROUNDS } else { 1 };
            self.extra_acked_filter.take(rounds, self.round_count, extra);
            self.extra_acked = self.extra_acked_filter.get();
            return;
        }
        if self.round_start {
            self.bunch_rounds += 1;
            if self.bunch_rounds >= if self.full.reached { BUCKET_ROUNDS } else { 1 } {
                self.bunches = [self.bunches[1], 0.0];
                self.bunch_rounds = 0;
            }
        }
        self.bunches[1] = self.bunches[1].max(extra);
        self.extra_acked = self.bunches[0].max(self.bunches[1]).min(BUNCH_S * self.bw);
    }

    pub(super) fn update_min_rtt(&mut self, rs: &Sample) {
        let is_google = self.params.version == Version::Google;
        self.probe_rtt_expired = rs.now > self.probe_rtt_min_stamp + self.params.probe_rtt_interval;
        if let Some(rtt) = rs.rtt {
            let may_replace = self.probe_rtt_expired && !(is_google && rs.may_have_waited);
            if self.probe_rtt_min_delay.is_none_or(|least| rtt < least) || may_replace {
                (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (Some(rtt), rs.now);
            }
        }
        let Some(delay) = self.probe_rtt_min_delay else { return };
        let is_old = rs.now > self.min_rtt_stamp + self.params.rtt_window;
        if self.min_rtt.is_none_or(|least| delay < least || (is_google && delay == least)) || is_old {
            (self.min_rtt, self.min_rtt_stamp) = (Some(delay), self.probe_rtt_min_stamp);
        }
    }

    /// With selective acknowledgements: whether more than the threshold of a flight was lost.
    pub(super) fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.params.loss_threshold
    }

    pub(super) fn handle_lost_packet(&mut self, l: &Lost) {
        self.heard_delivered = l.delivered;
        if !self.loss_in_round {
            self.loss_round_delivered = l.delivered;
        }
        if self.was == Was::Open && !self.has_saved {
            self.save_state_upon_loss();
        }
        self.loss_in_round = true;
        if l.start != self.lost_end || self.lost_ranges == 0 {
            self.lost_ranges += 1;
        }
        self.lost_end = l.start + l.len;
        let (lost, flight) = (l.lost_since as f64, l.flight as f64);
        if self.is_bw_probe_sample && self.is_inflight_too_high(lost, flight) {
            let at_loss = self.inflight_at_loss(flight, lost, l.len as f64);
            self.handle_inflight_too_high(&TooHigh {
                now: l.now,
                delivered: l.delivered,
                tx_in_flight: at_loss,
                is_app_limited: l.is_app_limited,
            });
        }
    }

    /// The flight at which the losses crossed the threshold, within the lost segment.
    pub(super) fn inflight_at_loss(&self, flight: f64, lost: f64, size: f64) -> f64 {
        let (before, lost_before) = (flight - size, lost - size);
        let threshold = self.params.loss_threshold;
        before + ((threshold * before - lost_before) / (1.0 - threshold)).max(0.0)
    }

    pub(super) fn handle_inflight_too_high(&mut self, s: &TooHigh) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !s.is_app_limited {
            self.inflight_longterm = s.tx_in_flight.max(self.target_inflight() * self.params.kept);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(s.now, s.delivered);
        }
    }

    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.has_saved = true;
        self.undo = Saved {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    pub(super) fn handle_spurious_loss(&mut self) {
        self.restore_cwnd();
        self.loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        let before = self.undo.state.take();
        if self.params.version == Version::Google {
            return;
        }
        match before {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => {
                self.start_refill(self.heard_delivered);
            }
            _ => {}
        }
    }
}
