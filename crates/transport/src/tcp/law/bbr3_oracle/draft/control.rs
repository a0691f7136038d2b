//! What is saved, brought back and controlled.

use super::{Draft, INF, IW, SMSS};

impl Draft {
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.cwnd)
    }
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.saved_now = true;
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }
    pub(in super::super) fn handle_spurious_loss_detection(&mut self) {
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        self.undone_to = self.undone_to.or(self.undo_state);
        if self.undo_state == Some("Startup") && self.state != "Startup" {
            self.full_bw_reached = false;
            if self.state != "ProbeRTT" {
                self.state = "Startup";
            }
        } else if self.undo_state == Some("ProbeBW_UP") && !matches!(self.state, "ProbeBW_UP" | "ProbeRTT") {
            self.start_probe_bw_refill();
        }
        self.undo_state = None;
    }
    pub(in super::super) fn on_enter_rto(&mut self) {
        self.save_state_upon_loss();
        self.phase = "rto";
        self.cwnd = SMSS;
    }
    pub(super) fn save_cwnd(&mut self) {
        if self.phase == "open" && self.state != "ProbeRTT" {
            self.prior_cwnd = self.cwnd;
        } else {
            self.prior_cwnd = self.prior_cwnd.max(self.cwnd);
        }
    }
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn set_pacing_rate_with_gain(&mut self, pacing_gain: f64) {
        let rate = pacing_gain * self.bw * (100.0 - 1.0) / 100.0;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(IW, |rtt| gain * (bw * (rtt as f64 / 1e9)))
    }
    pub(super) fn inflight_of(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }
    pub(super) fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let cap = inflight_cap.max(4.0 * SMSS);
        if self.state == "ProbeBW_UP" { cap + 2.0 * SMSS } else { cap }
    }
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, 0.5).max(4.0 * SMSS)
    }
    pub(super) fn set_cwnd(&mut self) {
        let max_inflight = self.quantization_budget(self.bdp_multiple(self.bw, self.cwnd_gain()) + self.extra_acked);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + self.rs.newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || (self.c_delivered as f64) < IW {
            self.cwnd += self.rs.newly_acked;
        }
        self.cwnd = self.cwnd.max(4.0 * SMSS);
        if self.state == "ProbeRTT" {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let cap = match self.state {
            "ProbeBW_CRUISE" | "ProbeRTT" => self.inflight_with_headroom(),
            "Startup" => INF,
            _ => self.inflight_longterm,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(4.0 * SMSS));
    }
}
