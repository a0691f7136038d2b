//! # BIC
//!
//! **Source**: xu-harfoush-rhee-2004 section III; linux-2.6 `net/ipv4/tcp_bic.c` (the divisor of the search).
//!
//! **Idea**: after a loss the window searches between where it was cut (`max_win`) and where it was cut to: each window of
//! ACKs adds `(max_win - cwnd) / search_divisor`, at most `s_max` and at least `s_min` segments. Beyond `max_win` it probes, as slow start
//! does, from one segment per window up to `s_max`. A loss below the last `max_win` sets `max_win` lower (fast convergence).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `bic.low_window` | segments | 14 | xu-harfoush-rhee-2004; below it is TCP |
//! | `bic.s_max` | segments | 32 | xu-harfoush-rhee-2004 |
//! | `bic.s_min` | segments | 0.01 | xu-harfoush-rhee-2004 |
//! | `bic.beta` | - | 0.125 | xu-harfoush-rhee-2004 |
//! | `bic.search_divisor` | - | 4 | linux-2.6 `BICTCP_B`, which fits the loss rates of bhandarkar-2006; the paper halves: 2 |
//! | `bic.fast_convergence` | - | `on` | xu-harfoush-rhee-2004 |
//!
//! **Deviations**: 1. The search moves with every ACK and not once per round trip, as in both sources' code. 2. A timeout is a
//! loss as any other, as the paper does not tell them apart (linux-2.6 forgets `max_win` and probes from zero). 3. A loss while
//! probing beyond `max_win` is no reason for fast convergence, as in linux-2.6: in the pseudo-code of the paper it is, because
//! probing has set `max_win` to its largest value.
//!
//! **Checked by**: `law/oracle/bic.rs` (the pseudo-code of the paper), the measured response function.

use super::{AckCredit, Controller, Start, Window, within};
use crate::tcp::choices::{AvoidanceCounting, Switch};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of BIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BicParams {
    /// Below this window it is TCP, in segments.
    pub low_window: f64,
    /// Most segments added per window of ACKs.
    pub s_max: f64,
    /// Fewest segments added per window of ACKs.
    pub s_min: f64,
    /// Share of the window that a loss costs.
    pub beta: f64,
    /// A window of ACKs adds this part of the distance to `max_win`.
    pub search_divisor: f64,
    /// A loss below the last `max_win` sets the new one lower.
    pub fast_convergence: Switch,
}

impl Default for BicParams {
    fn default() -> Self {
        BicParams {
            low_window: 14.0,
            s_max: 32.0,
            s_min: 0.01,
            beta: 0.125,
            search_divisor: 4.0,
            fast_convergence: Switch::On,
        }
    }
}

impl BicParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("low_window", self.low_window, 0.0..=1e9)?;
        within("s_max", self.s_max, 0.01..=1e6)?;
        within("s_min", self.s_min, 0.0..=self.s_max)?;
        within("beta", self.beta, 0.001..=0.999)?;
        within("search_divisor", self.search_divisor, 1.0..=1e3)
    }
}

#[derive(Clone, Debug)]
pub struct Bic {
    w: Window,
    counting: AvoidanceCounting,
    params: BicParams,
    /// Where the last loss met the window, in segments; infinite before the first.
    max_win: f64,
    probe: Option<Probe>,
}

/// Growth beyond `max_win`: `step` segments per window of ACKs until the window reaches `until`.
#[derive(Clone, Copy, Debug)]
struct Probe {
    step: f64,
    until: f64,
}

impl Bic {
    pub fn new(p: &BicParams, start: Start) -> Bic {
        let (w, counting) = (start.window, start.counting);
        Bic { w, counting, params: p.clone(), max_win: f64::INFINITY, probe: None }
    }

    /// Segments to add per window of ACKs.
    fn increase(&self, segments: f64) -> f64 {
        match self.probe {
            Some(p) => p.step,
            None => {
                ((self.max_win - segments) / self.params.search_divisor).clamp(self.params.s_min, self.params.s_max)
            }
        }
    }

    fn after_growth(&mut self) {
        let segments = self.w.segments();
        match &mut self.probe {
            None if segments >= self.max_win => {
                self.probe = Some(Probe { step: 1.0, until: segments + 1.0 });
                self.max_win = f64::INFINITY;
            }
            Some(p) if segments >= p.until => {
                p.step *= 2.0;
                p.until = segments + p.step;
                if p.step >= self.params.s_max {
                    self.probe = None;
                }
            }
            _ => {}
        }
    }
}

impl Controller for Bic {
    fn grow(&mut self, a: &Ack) {
        if self.w.slow_start(a, self.counting) {
            return;
        }
        let segments = self.w.segments();
        let credit = AckCredit(self.w.credit(a, self.counting));
        if segments < self.params.low_window {
            return self.w.add(1.0, credit);
        }
        self.w.add(self.increase(segments), credit);
        self.after_growth();
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let segments = base / self.w.mss;
        self.probe = None;
        if segments < self.params.low_window {
            self.max_win = segments;
            return self.w.fall_to(base / 2.0, why);
        }
        let kept = 1.0 - self.params.beta;
        let converges = self.params.fast_convergence.on() && segments < self.max_win && self.max_win.is_finite();
        self.max_win = if converges { segments * (1.0 + kept) / 2.0 } else { segments };
        self.w.fall_to(base * kept, why);
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
