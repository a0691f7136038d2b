//! # LTCP, layered TCP
//!
//! **Source**: bhandarkar-2006 III.A.2, III.A.3 (equations 3.11 to 3.14, 3.28) and III.B (equation 3.41).
//!
//! **Idea**: a flow in layer K grows like K virtual flows. Layer K begins at `W_K = K (K+1) (K-1) W_T / 6` segments and is
//! `delta_K = K (K+1) W_T / 2` long: `cwnd += K_R (K + (cwnd - W_K) / delta_K) / cwnd` per ACK. A loss costs
//! `beta cwnd`: a fixed share, or `beta_K = 1 / (K + 1)`, interpolated in the layer. `K_R = kr_ref (rtt_min / kr_ref_rtt)^kr_exponent`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ltcp.threshold` | segments | 50 | bhandarkar-2006 III.A.3 (W_T) |
//! | `ltcp.decrease` | - | `fixed` | bhandarkar-2006 III.A; `variable`: III.B |
//! | `ltcp.beta` | - | 0.15 | bhandarkar-2006 III.A.3 |
//! | `ltcp.kr_ref` | - | 2.4 | inferred from the loss rates of bhandarkar-2006 tables II, XI and XV; 1 in its analysis |
//! | `ltcp.kr_ref_rtt` | time | 120 ms | the round trip of those tables |
//! | `ltcp.kr_exponent` | - | 1/3 | bhandarkar-2006 III.A.3.d; 0 with `kr_ref = 1` switches the compensation off |
//!
//! **Deviations**: 1. The layer follows the window, whatever moved it; with `fixed` above layer 19 a loss may cost more
//! than one layer, where the source would count one. 2. A timeout halves the threshold, as it does in TCP: the source
//! leaves timeouts alone.
//!
//! **Checked by**: `law/oracle/ltcp.rs` (the source's pseudo-code), tests of the layer table, the measured response function.

use super::rtt_filter::RttFilter;
use super::{AckCredit, Controller, Start, Window, within};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a loss costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decrease {
    /// The share `beta` of the window.
    Fixed,
    /// 1 / (K + 1) of it, interpolated within the layer.
    Variable,
}

/// Parameters of LTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LtcpParams {
    /// Where the second layer begins, in segments (W_T).
    pub threshold: f64,
    /// What a loss costs.
    pub decrease: Decrease,
    /// Share of the window that a loss costs, if it is fixed.
    pub beta: f64,
    /// The compensation factor K_R at `kr_ref_rtt`.
    pub kr_ref: f64,
    /// Round-trip time at which K_R is `kr_ref`.
    pub kr_ref_rtt: Dur,
    /// Power of the least round-trip time in K_R.
    pub kr_exponent: f64,
}

impl Default for LtcpParams {
    fn default() -> Self {
        LtcpParams {
            threshold: 50.0,
            decrease: Decrease::Fixed,
            beta: 0.15,
            kr_ref: 2.4,
            kr_ref_rtt: Dur::from_millis(120),
            kr_exponent: 1.0 / 3.0,
        }
    }
}

impl LtcpParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("threshold", self.threshold, 1.0..=1e9)?;
        within("beta", self.beta, 0.001..=0.999)?;
        within("kr_ref", self.kr_ref, 1e-3..=1e3)?;
        within("kr_exponent", self.kr_exponent, 0.0..=1.0)?;
        within("kr_ref_rtt (in seconds)", self.kr_ref_rtt.as_secs_f64(), 1e-6..=1e3)
    }
    /// Where layer `k` begins, in segments.
    fn floor(&self, k: f64) -> f64 {
        k * (k + 1.0) * (k - 1.0) / 6.0 * self.threshold
    }
}

#[derive(Clone, Debug)]
pub struct Ltcp {
    w: Window,
    counting: AvoidanceCounting,
    params: LtcpParams,
    rtts: RttFilter,
    kr: f64,
    /// The layer K, where it begins and where it ends, in segments.
    layer: f64,
    floor: f64,
    ceiling: f64,
}

impl Ltcp {
    pub fn new(p: &LtcpParams, start: Start) -> Ltcp {
        let params = p.clone();
        let ceiling = params.floor(2.0);
        Ltcp {
            w: start.window,
            counting: start.counting,
            kr: if params.kr_exponent == 0.0 { params.kr_ref } else { 1.0 },
            params,
            rtts: RttFilter::new(),
            layer: 1.0,
            floor: 0.0,
            ceiling,
        }
    }

    /// The layer in which `segments` lie.
    #[inline]
    fn settle(&mut self, segments: f64) {
        while segments >= self.ceiling {
            (self.layer, self.floor) = (self.layer + 1.0, self.ceiling);
            self.ceiling = self.params.floor(self.layer + 1.0);
        }
        while segments < self.floor {
            (self.layer, self.ceiling) = (self.layer - 1.0, self.floor);
            self.floor = self.params.floor(self.layer);
        }
    }

    /// How far into its layer the window is, from 0 to 1.
    fn share(&self, segments: f64) -> f64 {
        (segments - self.floor) / (self.ceiling - self.floor)
    }

    fn beta(&self, segments: f64) -> f64 {
        match self.params.decrease {
            Decrease::Fixed => self.params.beta,
            Decrease::Variable => {
                let (here, next) = (1.0 / (self.layer + 1.0), 1.0 / (self.layer + 2.0));
                here + (next - here) * self.share(segments)
            }
        }
    }
}

impl Controller for Ltcp {
    fn grow(&mut self, a: &Ack) {
        if self.rtts.take(a) && self.params.kr_exponent > 0.0 {
            let ratio = self.rtts.min_smoothed_s / self.params.kr_ref_rtt.as_secs_f64();
            self.kr = self.params.kr_ref * ratio.powf(self.params.kr_exponent);
        }
        if self.w.slow_start(a, self.counting) {
            return;
        }
        let segments = self.w.segments();
        self.settle(segments);
        let credit = AckCredit(self.w.credit(a, self.counting));
        self.w.add(self.kr * (self.layer + self.share(segments)), credit);
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let segments = base / self.w.mss;
        self.settle(segments);
        let beta = if why == Trigger::Timeout { 0.5 } else { self.beta(segments) };
        self.w.fall_to(base * (1.0 - beta), why);
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
    use super::super::super::preset;
    use super::*;

    fn law(params: LtcpParams) -> Ltcp {
        Ltcp::new(&params, Start::of(&preset::preset("rfc").expect("a preset")))
    }

    #[test]
    fn layers_begin_where_table_1_of_the_thesis_has_them() {
        let mut l = law(LtcpParams::default());
        let table = [(2, 50.0), (3, 200.0), (4, 500.0), (6, 1750.0), (13, 18_200.0), (20, 66_500.0), (25, 130_000.0)];
        for (k, begins) in table {
            assert_eq!(l.params.floor(k as f64), begins);
            l.settle(begins);
            assert_eq!((l.layer, l.share(begins)), (k as f64, 0.0));
            l.settle(begins - 0.5);
            assert_eq!(l.layer, (k - 1) as f64);
        }
    }

    #[test]
    fn a_loss_costs_at_most_one_layer() {
        for (decrease, layers) in [(Decrease::Fixed, 19), (Decrease::Variable, 60)] {
            let mut l = law(LtcpParams { decrease, ..LtcpParams::default() });
            for k in 2..=layers {
                for share in [0.0, 0.25, 0.5, 0.99] {
                    let (low, high) = (l.params.floor(k as f64), l.params.floor(k as f64 + 1.0));
                    let before = low + share * (high - low);
                    l.w.cwnd = before * l.w.mss;
                    l.reduce(Trigger::Loss, l.w.cwnd);
                    let after = l.w.segments() + 1e-9;
                    assert!(after >= l.params.floor(k as f64 - 1.0), "{decrease:?} {k} {share}: {before} to {after}");
                }
            }
        }
    }
}
