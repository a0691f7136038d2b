//! # HighSpeed TCP
//!
//! **Source**: rfc3649 section 5, appendix B (the table); ns-2.35 `TcpAgent::increase_param`.
//!
//! **Idea**: the constants of TCP depend on the window `w` above 38 segments. A loss costs `b(w)`, from 0.5 down to 0.1 on
//! the logarithm of `w`; a window of ACKs adds `a(w) = 2 w^2 p(w) b(w) / (2 - b(w))`. The loss rate `p(w)` that belongs to a window
//! is a straight line between (`low_window`, `low_p`) and (`high_window`, `high_p`), both axes logarithmic.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `hstcp.low_window` | segments | 38 | rfc3649 section 5 |
//! | `hstcp.high_window` | segments | 83000 | rfc3649 section 5 |
//! | `hstcp.high_decrease` | - | 0.1 | rfc3649 section 5 |
//! | `hstcp.low_p` | - | `1.5 / low_window^2` | rfc3649 section 5: the response of TCP; ns-2 |
//! | `hstcp.high_p` | - | 1e-7 | rfc3649 section 5 |
//!
//! **Deviations**: 1. `a(w)` is computed anew when the window has changed by a whole segment, not on every ACK. 2. A timeout
//! halves the threshold, as in TCP. 3. rfc3649 prints the line between its ends as `p(w) = 0.078 / w^1.2`, rounded, and its table
//! uses that: `a(83000)` is 71 there, 72 by its equation 2, and 4 % lower at small windows. Here it is the line, as in ns-2.
//!
//! **Checked by**: `law/oracle/hstcp.rs` (equations of section 5, ends that others have chosen, the table of appendix B), the
//! measured response function.

use super::{AckCredit, Controller, Start, Window, within};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of HighSpeed TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HstcpParams {
    /// Up to this window it is TCP, in segments.
    pub low_window: f64,
    /// The window at which a loss costs `high_decrease`, in segments.
    pub high_window: f64,
    /// Share of the window that a loss costs at `high_window`.
    pub high_decrease: f64,
    /// Loss rate that belongs to `low_window`. `None` (left out): that of TCP, `1.5 / low_window^2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_p: Option<f64>,
    /// Loss rate that belongs to `high_window`.
    pub high_p: f64,
}

impl Default for HstcpParams {
    fn default() -> Self {
        HstcpParams { low_window: 38.0, high_window: 83_000.0, high_decrease: 0.1, low_p: None, high_p: 1e-7 }
    }
}

impl HstcpParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("low_window", self.low_window, 1.0..=1e6)?;
        within("high_window", self.high_window, 2.0 * self.low_window..=1e9)?;
        within("high_decrease", self.high_decrease, 0.01..=0.5)?;
        within("low_p", self.low_p(), 1e-30..=1.0)?;
        within("high_p", self.high_p, 1e-30..=self.low_p())
    }
    fn low_p(&self) -> f64 {
        self.low_p.unwrap_or(1.5 / (self.low_window * self.low_window)).min(1.0)
    }
    /// Where a window lies between `low_window`, 0, and `high_window`, 1, on a logarithmic axis.
    fn place(&self, w: f64) -> f64 {
        (w / self.low_window).ln() / (self.high_window / self.low_window).ln()
    }
    /// p(w): the loss rate that belongs to a window.
    pub fn loss_rate(&self, w: f64) -> f64 {
        self.low_p() * (self.high_p / self.low_p()).powf(self.place(w))
    }
    /// b(w): the share that a loss costs.
    pub fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        (0.5 + (self.high_decrease - 0.5) * self.place(w)).max(0.01)
    }
    /// a(w): segments per window of ACKs.
    pub fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let (p, b) = (self.loss_rate(w), self.decrease(w));
        (2.0 * w * w * p * b / (2.0 - b)).max(1.0)
    }
}

#[derive(Clone, Debug)]
pub struct Hstcp {
    w: Window,
    counting: AvoidanceCounting,
    params: HstcpParams,
    /// `a(w)` and the whole number of segments that it was computed for.
    increase: f64,
    at: f64,
}

impl Hstcp {
    pub fn new(p: &HstcpParams, start: Start) -> Hstcp {
        let (w, counting) = (start.window, start.counting);
        Hstcp { w, counting, params: p.clone(), increase: 1.0, at: 0.0 }
    }
}

impl Controller for Hstcp {
    fn grow(&mut self, a: &Ack) {
        if self.w.slow_start(a, self.counting) {
            return;
        }
        let whole = self.w.segments().floor();
        if whole != self.at {
            (self.at, self.increase) = (whole, self.params.increase(whole));
        }
        let credit = AckCredit(self.w.credit(a, self.counting));
        self.w.add(self.increase, credit);
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        let b = if why == Trigger::Timeout { 0.5 } else { self.params.decrease(base / self.w.mss) };
        self.w.fall_to(base * (1.0 - b), why);
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
