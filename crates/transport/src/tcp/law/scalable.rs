//! # Scalable TCP
//!
//! **Source**: kelly-2003 sections 3 and 4; bhandarkar-2006 III.A.4.
//!
//! **Idea**: every ACK adds a fixed part of a segment, `cwnd += a`, and a loss costs a fixed share, `cwnd -= b cwnd`, so the
//! time between losses does not depend on the rate. Up to the legacy window it is TCP.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `scalable.per_ack` | segments | 0.01 | kelly-2003 |
//! | `scalable.beta` | - | 0.125 | kelly-2003 |
//! | `scalable.legacy_window` | segments | 16 | kelly-2003 |
//!
//! **Deviations**: 1. A timeout halves the threshold, as in TCP.
//!
//! **Checked by**: `law/oracle/scalable.rs`, the measured response function.

use super::super::params::{AvoidanceCounting, TcpParams};
use super::super::{Ack, Trigger};
use super::{Window, WindowLaw, Worth, within};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Scalable TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScalableParams {
    /// What an ACK adds, in segments.
    pub per_ack: f64,
    /// Share of the window that a loss costs.
    pub beta: f64,
    /// Up to this window it is TCP, in segments.
    pub legacy_window: f64,
}

impl Default for ScalableParams {
    fn default() -> Self {
        ScalableParams { per_ack: 0.01, beta: 0.125, legacy_window: 16.0 }
    }
}

impl ScalableParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("per_ack", self.per_ack, 1e-6..=1.0)?;
        within("beta", self.beta, 0.001..=0.999)?;
        within("legacy_window", self.legacy_window, 0.0..=1e9)
    }
}

#[derive(Clone, Debug)]
pub struct Scalable {
    w: Window,
    counting: AvoidanceCounting,
    params: ScalableParams,
}

impl Scalable {
    pub fn new(p: &TcpParams) -> Scalable {
        Scalable { w: Window::new(p), counting: p.avoidance_counting, params: p.scalable.clone() }
    }
    fn is_legacy(&self, segments: f64) -> bool {
        segments <= self.params.legacy_window
    }
}

impl WindowLaw for Scalable {
    fn on_ack(&mut self, a: &Ack) {
        if self.w.slow_start(a, self.counting) {
            return;
        }
        let segments = self.w.segments();
        let per_window = if self.is_legacy(segments) { 1.0 } else { self.params.per_ack * segments };
        let worth = Worth(self.w.worth(a, self.counting));
        self.w.add(per_window, worth);
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
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
