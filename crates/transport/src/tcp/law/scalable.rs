//! # Scalable TCP
//!
//! **Source**: kelly-2003 sections 3 and 4; bhandarkar-2006 III.A.4; linux-2.6 `tcp_scalable.c`, which ns-2.35 runs as `Agent/TCP/Linux`.
//!
//! **Idea**: every ACK adds a fixed part of a segment, `cwnd += a`, and a loss costs a fixed share, `cwnd -= b cwnd`, so the
//! time between losses does not depend on the rate. Up to the legacy window it is TCP.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `scalable.version` | - | `kelly-2003` | - |
//! | `scalable.per_ack` | segments | 0.01 | kelly-2003; `linux-2.6`: 0.02, for receivers that delay ACKs |
//! | `scalable.beta` | - | 0.125 | kelly-2003 |
//! | `scalable.legacy_window` | segments | 16 | kelly-2003 |
//!
//! `linux-2.6` counts ACKs in whole numbers: one segment more after `min(w, 1 / per_ack) + 1` of them. There is no legacy window; a
//! loss costs an eighth of the window, rounded down, and so does a timeout for the threshold.
//!
//! **Deviations**: 1. `kelly-2003`: a timeout halves the threshold, as in TCP. 2. `linux-2.6` was the kernel's until 5.4, which counts
//! acknowledged segments, and 100 of them.
//!
//! **Checked by**: `law/oracle/scalable.rs` (the paper, the kernel's integers), the measured response function.

use super::{AckCredit, Controller, Start, Window, within};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose Scalable TCP it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum ScalableVersion {
    #[serde(rename = "kelly-2003")]
    Kelly2003,
    /// The kernel's, in whole segments (2.6.13 to 5.3); ns-2's `Agent/TCP/Linux`.
    #[serde(rename = "linux-2.6")]
    Linux26,
}

/// Parameters of Scalable TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScalableParams {
    /// Whose it is.
    pub version: ScalableVersion,
    /// What an ACK adds, in segments. `None` (left out): 0.01, or 0.02 with `version = "linux-2.6"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_ack: Option<f64>,
    /// Share of the window that a loss costs.
    pub beta: f64,
    /// `kelly-2003`: up to this window it is TCP, in segments.
    pub legacy_window: f64,
}

impl Default for ScalableParams {
    fn default() -> Self {
        ScalableParams { version: ScalableVersion::Kelly2003, per_ack: None, beta: 0.125, legacy_window: 16.0 }
    }
}

impl ScalableParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("per_ack", self.per_ack(), 1e-6..=1.0)?;
        within("beta", self.beta, 0.001..=0.999)?;
        within("legacy_window", self.legacy_window, 0.0..=1e9)
    }
    /// What an ACK adds, in segments.
    pub fn per_ack(&self) -> f64 {
        self.per_ack.unwrap_or(match self.version {
            ScalableVersion::Kelly2003 => 0.01,
            ScalableVersion::Linux26 => 0.02,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Scalable {
    w: Window,
    counting: AvoidanceCounting,
    params: ScalableParams,
    /// `linux-2.6`: ACKs since the window last grew.
    counted: f64,
}

impl Scalable {
    pub fn new(p: &ScalableParams, start: Start) -> Scalable {
        Scalable { w: start.window, counting: start.counting, params: p.clone(), counted: 0.0 }
    }
    fn is_legacy(&self, segments: f64) -> bool {
        segments <= self.params.legacy_window
    }
    /// `linux-2.6`: one segment after so many ACKs, in integers; the ACK that finds the count full is counted too.
    fn count(&mut self) {
        let full = self.w.segments().floor().min((1.0 / self.params.per_ack()).round());
        self.counted += 1.0;
        if self.counted > full {
            (self.counted, self.w.cwnd) = (0.0, self.w.cwnd + self.w.mss);
        }
    }
}

impl Controller for Scalable {
    fn grow(&mut self, a: &Ack) {
        let linux = self.params.version == ScalableVersion::Linux26;
        // The kernel stays in slow start until the window exceeds the threshold.
        if linux && self.w.cwnd == self.w.ssthresh {
            self.w.cwnd += self.w.mss;
            return;
        }
        if self.w.slow_start(a, self.counting) {
            return;
        }
        if linux {
            return self.count();
        }
        let segments = self.w.segments();
        let per_window = if self.is_legacy(segments) { 1.0 } else { self.params.per_ack() * segments };
        let credit = AckCredit(self.w.credit(a, self.counting));
        self.w.add(per_window, credit);
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        self.counted = 0.0;
        if self.params.version == ScalableVersion::Linux26 {
            let segments = (base / self.w.mss).floor();
            let kept = segments - (segments * self.params.beta).floor();
            return self.w.fall_to(kept * self.w.mss, why);
        }
        let halves = why == Trigger::Timeout || self.is_legacy(base / self.w.mss);
        self.w.fall_to(base * if halves { 0.5 } else { 1.0 - self.params.beta }, why);
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
