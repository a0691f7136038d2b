//! # AIMD(a, b)
//!
//! **Source**: ns-2.35 `TcpAgent::opencwnd`, `TcpAgent::slowdown` (`increase_num_`, `decrease_num_`).
//!
//! **Idea**: a window without loss adds a segments, `w += a / w` for every ACK; a loss costs the share b, `w -= b w`. TCP is AIMD(1, 1/2).
//! Under one loss in 1/p packets the mean window is sqrt(a (2 - b) / (2 b p)), so AIMD(3 b / (2 - b), b) has the mean rate of TCP.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `aimd.increase` | segments | 1 | ns-2.35 `increase_num_` |
//! | `aimd.decrease` | - | 0.5 | ns-2.35 `1 - decrease_num_` |
//! | `aimd.first_decrease` | - | `half` | ns-2.35 `first_decrease_` |
//!
//! As in ns-2 a timeout and a reduction in slow start halve, and so does the first reduction of a connection (`first_decrease = "half"`).
//!
//! **Deviations**: 1. With `avoidance_counting = "fraction"` the threshold is rounded down to whole segments and the window is not, as in
//! ns-2, nor is it at least two segments there; otherwise neither is rounded.
//!
//! **Checked by**: `law/oracle/aimd.rs` (ns-2's routine in its own units; the mean window under periodic losses); the ns-2 comparison,
//! segment by segment.

use super::{AckCredit, Controller, Start, Window, within};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// By how much the first reduction of a connection falls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstDecrease {
    /// By half, whatever `decrease` says.
    Half,
    /// By `decrease`, as all others.
    Same,
}

/// Parameters of AIMD(a, b).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AimdParams {
    /// a: segments that a window without loss adds.
    pub increase: f64,
    /// b: share of the window that a loss costs.
    pub decrease: f64,
    /// By how much the first reduction falls.
    pub first_decrease: FirstDecrease,
}

impl Default for AimdParams {
    fn default() -> Self {
        AimdParams { increase: 1.0, decrease: 0.5, first_decrease: FirstDecrease::Half }
    }
}

impl AimdParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("increase", self.increase, 1e-6..=1e6)?;
        within("decrease", self.decrease, 0.001..=0.999)
    }
}

#[derive(Clone, Debug)]
pub struct Aimd {
    w: Window,
    counting: AvoidanceCounting,
    params: AimdParams,
    /// No reduction has been made yet.
    is_first: bool,
}

impl Aimd {
    pub fn new(p: &AimdParams, start: Start) -> Aimd {
        Aimd { w: start.window, counting: start.counting, params: p.clone(), is_first: true }
    }
}

impl Controller for Aimd {
    fn grow(&mut self, a: &Ack) {
        if !self.w.slow_start(a, self.counting) {
            self.w.add(self.params.increase, AckCredit(self.w.credit(a, self.counting)));
        }
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let first = self.is_first && self.params.first_decrease == FirstDecrease::Half;
        let halves = first || why == Trigger::Timeout || self.w.in_slow_start();
        let kept = base * if halves { 0.5 } else { 1.0 - self.params.decrease };
        self.is_first = false;
        let w = &mut self.w;
        w.fall_to(kept, why);
        if self.counting == AvoidanceCounting::Fraction {
            w.ssthresh = ((kept / w.mss).floor() * w.mss).max(2.0 * w.mss);
            w.cwnd = if why == Trigger::Timeout { w.mss } else { kept };
        }
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
