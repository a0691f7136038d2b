//! # H-TCP
//!
//! **Source**: leith-shorten-2004; linux-2.6 `net/ipv4/tcp_htcp.c`.
//!
//! **Idea**: growth depends on the time D since the last loss: a window of ACKs adds `2 (1 - beta) f(D)` segments with
//! `f = 1` in the first second, then `1 + 10 (D - 1) + ((D - 1) / 2)^2`, times `rtt / 100 ms` if scaled. A loss keeps the share
//! `beta = rtt_min / rtt_max` (within its limits), so that the queue just empties, or half of it when the rate has changed.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `htcp.adaptive_backoff` | - | `on` | leith-shorten-2004 |
//! | `htcp.rtt_scaling` | - | `on` | linux-2.6; bhandarkar-2006 T-V asks for it |
//! | `htcp.low_speed` | time | 1 s | leith-shorten-2004 |
//! | `htcp.beta_min`, `htcp.beta_max` | - | 0.5, 0.8 | leith-shorten-2004 |
//! | `htcp.rate_change` | - | 0.2 | leith-shorten-2004 |
//!
//! **Deviations**: 1. Real numbers instead of jiffies and 1/128: with rates of gigabits the steps of Linux are visible, here
//! they are not. 2. Round-trip times and rates are those of ACKs that may grow the window, outside recovery. 3. Time since
//! the last loss begins with the first such ACK after it. 4. A timeout halves.
//!
//! **Checked by**: `law/oracle/htcp.rs` (the routines of Linux in real numbers), the measured response function.

use super::rtt_filter::RttFilter;
use super::{AckCredit, Controller, Start, Window, within};
use crate::tcp::choices::{AvoidanceCounting, Switch};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of H-TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HtcpParams {
    /// Keep the share of the window that just empties the queue, not half of it.
    pub adaptive_backoff: Switch,
    /// Multiply growth by the round-trip time over 100 ms (between 0.1 and 2).
    pub rtt_scaling: Switch,
    /// How long after a loss growth is that of TCP.
    pub low_speed: Dur,
    /// Least share of the window that is kept.
    pub beta_min: f64,
    /// Largest share of the window that is kept.
    pub beta_max: f64,
    /// Relative change of the rate between losses above which half of the window is given up.
    pub rate_change: f64,
}

impl Default for HtcpParams {
    fn default() -> Self {
        HtcpParams {
            adaptive_backoff: Switch::On,
            rtt_scaling: Switch::On,
            low_speed: Dur::from_secs(1),
            beta_min: 0.5,
            beta_max: 0.8,
            rate_change: 0.2,
        }
    }
}

impl HtcpParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("beta_min", self.beta_min, 0.01..=0.99)?;
        within("beta_max", self.beta_max, self.beta_min..=0.99)?;
        within("rate_change", self.rate_change, 0.0..=1e3)
    }
    /// Segments per window of ACKs, `since_s` seconds after the last loss, without scaling and share.
    pub fn growth(&self, since_s: f64) -> f64 {
        let high = (since_s - self.low_speed.as_secs_f64()).max(0.0);
        1.0 + 10.0 * high + (high / 2.0) * (high / 2.0)
    }
}

/// The rate that is compared between losses.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Segments acknowledged since `from`.
    acked: f64,
    from: Time,
    /// Smoothed, in segments per second; zero before the first window.
    smooth: f64,
    greatest: f64,
    /// The greatest one before the loss before.
    old_greatest: f64,
}

#[derive(Clone, Debug)]
pub struct Htcp {
    w: Window,
    counting: AvoidanceCounting,
    params: HtcpParams,
    rtts: RttFilter,
    greatest_rtt_s: f64,
    beta: f64,
    alpha: f64,
    /// Segments towards the next computation of `alpha`: it is made when the window has grown by one, as in Linux.
    counted: f64,
    since: Option<Time>,
    rate: Rate,
    /// A first loss has been seen with a steady rate.
    adaptive: bool,
}

impl Htcp {
    pub fn new(p: &HtcpParams, start: Start) -> Htcp {
        Htcp {
            w: start.window,
            counting: start.counting,
            beta: p.beta_min,
            params: p.clone(),
            rtts: RttFilter::new(),
            greatest_rtt_s: 0.0,
            alpha: 1.0,
            counted: f64::INFINITY,
            since: None,
            rate: Rate { acked: 0.0, from: Time::ZERO, smooth: 0.0, greatest: 0.0, old_greatest: 0.0 },
            adaptive: false,
        }
    }

    fn measure(&mut self, a: &Ack) {
        self.rtts.take(a);
        if let Some(r) = a.rtt.map(|r| r.as_secs_f64()) {
            // Linux distrusts jumps of more than 20 ms.
            self.greatest_rtt_s = self.greatest_rtt_s.max(self.rtts.min_s);
            if r > self.greatest_rtt_s && r <= self.greatest_rtt_s + 0.02 {
                self.greatest_rtt_s = r;
            }
        }
        let since = *self.since.get_or_insert(a.now);
        let rate = &mut self.rate;
        rate.acked += a.bytes as f64 / self.w.mss;
        let span_s = a.now.since(rate.from).as_secs_f64();
        if rate.acked < self.w.segments() - self.alpha.max(1.0) || span_s < self.rtts.min_s {
            return;
        }
        let now = rate.acked / span_s;
        if a.now.since(since).as_secs_f64() / self.rtts.min_s < 4.0 {
            (rate.smooth, rate.greatest) = (now, now);
        } else {
            rate.smooth += (now - rate.smooth) / 4.0;
            rate.greatest = rate.greatest.max(rate.smooth);
        }
        (rate.acked, rate.from) = (0.0, a.now);
    }

    fn update_alpha(&mut self, now: Time) {
        let since_s = self.since.map_or(0.0, |t| now.since(t).as_secs_f64());
        let scale = if self.params.rtt_scaling.on() && self.rtts.min_s.is_finite() {
            (self.rtts.min_s / 0.1).clamp(0.1, 2.0)
        } else {
            1.0
        };
        self.alpha = 2.0 * (1.0 - self.beta) * (self.params.growth(since_s) * scale).max(1.0);
    }

    fn update_beta(&mut self) {
        let (new, old) = (self.rate.greatest, self.rate.old_greatest);
        self.rate.old_greatest = new;
        let steady = new >= old * (1.0 - self.params.rate_change) && new <= old * (1.0 + self.params.rate_change);
        if !self.params.adaptive_backoff.on() || !steady {
            (self.beta, self.adaptive) = (self.params.beta_min, false);
        } else if self.adaptive && self.rtts.min_s > 0.01 {
            let share = self.rtts.min_s / self.greatest_rtt_s;
            self.beta = share.clamp(self.params.beta_min, self.params.beta_max);
        } else {
            (self.beta, self.adaptive) = (self.params.beta_min, true);
        }
    }
}

impl Controller for Htcp {
    fn grow(&mut self, a: &Ack) {
        self.measure(a);
        if self.w.slow_start(a, self.counting) {
            return;
        }
        let credit = self.w.credit(a, self.counting);
        self.counted += credit * self.alpha;
        if self.counted >= self.w.segments() {
            self.counted = 0.0;
            self.update_alpha(a.now);
        }
        self.w.add(self.alpha, AckCredit(credit));
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        self.update_beta();
        let kept = if why == Trigger::Timeout { 0.5 } else { self.beta };
        self.w.fall_to(base * kept, why);
        let least = self.rtts.min_s;
        if least.is_finite() && self.greatest_rtt_s > least {
            self.greatest_rtt_s = least + 0.95 * (self.greatest_rtt_s - least);
        }
        self.since = None;
        self.rate.acked = 0.0;
        self.counted = f64::INFINITY;
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
