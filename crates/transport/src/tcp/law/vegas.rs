//! # Vegas
//!
//! **Source**: brakmo-peterson-1995 section 3; ns-2.35 `VegasTcpAgent` (defaults).
//!
//! **Idea**: once per round trip `diff = cwnd (1 - base_rtt / rtt)` segments stand in queues: the window grows by one if there
//! are fewer than `alpha`, and shrinks by one if there are more than `beta`. Slow start doubles every other round trip and
//! ends, an eighth lower, when more than `gamma` stand there after a round trip with a fixed window. The round-trip time of a
//! round is the mean of its samples. In ns-2 `base_rtt` is the least of these means, and `diff` is rounded to whole segments, so
//! a flow that begins behind a queue takes it for its path, for with many flows no whole round is free of it: late flows get
//! more (bhandarkar-2006 figure 50). In the paper `base_rtt` is the least of all samples, and fractions count. In Linux the round
//! trip of a round is its least sample too, so that a burst of slow start hides nothing; slow start grows in every round and falls to what the
//! path holds, and `diff` is taken at the rate of `base_rtt`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `vegas.alpha` | segments | 1 | ns-2.35; bhandarkar-2006 IV |
//! | `vegas.beta` | segments | 3 | ns-2.35; bhandarkar-2006 IV |
//! | `vegas.gamma` | segments | 1 | ns-2.35 |
//! | `vegas.rates` | - | `ns-2` | ns-2.35, which bhandarkar-2006 ran; `paper`: brakmo-peterson-1995; `linux`: linux-6.18 `tcp_vegas.c` |
//! | `vegas.keep` | - | 0.75 | brakmo-peterson-1995: share kept after a loss |
//!
//! **Deviations**: 1. Losses are found by the connection's detector, not by the source's finer timeouts: recovery from several
//! losses is that of the detector. 2. A timeout halves. 3. `linux`: `alpha`, `beta`, `gamma` and `keep` stay those given here, in Linux they
//! are 2, 4, 1 and a half; idle time leaves `base_rtt` as it is.
//!
//! **Checked by**: `law/oracle/vegas.rs`, a test of the resting point.

use super::rtt_filter::Round;
use super::{Controller, Start, Window, within};
use crate::tcp::choices::{AvoidanceCounting, choice};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// How the expected rate and the actual one are compared.
    VegasRates {
        /// The base is the least mean of a round, and the difference is a number of whole segments (ns-2.35).
        #[serde(rename = "ns-2")]
        Ns2,
        /// The base is the least sample, and fractions of a segment count (the paper).
        Paper,
        /// The base is the least sample, a round's round trip its least one, and slow start grows in every round (Linux).
        Linux,
    }
);

/// Parameters of Vegas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VegasParams {
    /// The window grows while fewer segments than this stand in queues.
    pub alpha: f64,
    /// The window shrinks while more segments than this stand in queues.
    pub beta: f64,
    /// Slow start ends when more segments than this stand in queues.
    pub gamma: f64,
    /// Share of the window that a loss keeps.
    pub keep: f64,
    /// How the expected rate and the actual one are compared.
    pub rates: VegasRates,
}

impl Default for VegasParams {
    fn default() -> Self {
        VegasParams { alpha: 1.0, beta: 3.0, gamma: 1.0, keep: 0.75, rates: VegasRates::Ns2 }
    }
}

impl VegasParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("alpha", self.alpha, 0.0..=1e9)?;
        within("beta", self.beta, self.alpha..=1e9)?;
        within("gamma", self.gamma, 0.0..=1e9)?;
        within("keep", self.keep, 0.01..=0.99)
    }
}

/// Samples of a round by which Linux does not judge.
const FEW_SAMPLES: u32 = 2;

#[derive(Clone, Debug)]
pub struct Vegas {
    w: Window,
    counting: AvoidanceCounting,
    params: VegasParams,
    /// Least round-trip time: of a round, or of a sample.
    base_s: f64,
    round: Round,
    sum_s: f64,
    min_rtt_s: f64,
    samples: u32,
    /// In slow start: whether the present round trip grows.
    grows: bool,
}

impl Vegas {
    pub fn new(p: &VegasParams, start: Start) -> Vegas {
        Vegas {
            w: start.window,
            counting: start.counting,
            params: p.clone(),
            base_s: f64::INFINITY,
            round: Round::default(),
            sum_s: 0.0,
            min_rtt_s: f64::INFINITY,
            samples: 0,
            grows: false,
        }
    }

    /// An ACK as Linux takes it; `ends`: the first of a round.
    fn grow_as_linux(&mut self, a: &Ack, ends: bool) {
        let (samples, rtt_s) = (self.samples, self.min_rtt_s);
        if !ends {
            if self.w.in_slow_start() {
                self.w.slow_start(a, self.counting);
            }
            return;
        }
        (self.samples, self.min_rtt_s) = (0, f64::INFINITY);
        if samples <= FEW_SAMPLES {
            // Too few to judge by: as Reno.
            match self.w.in_slow_start() {
                true => self.w.climb(a, self.counting),
                false => self.w.cwnd += self.w.mss * a.bytes as f64 / self.w.cwnd,
            }
            return;
        }
        let segments = self.w.segments();
        let queued = segments * (rtt_s - self.base_s) / self.base_s;
        let below_window = |w: &Window| w.ssthresh.min(w.cwnd - w.mss);
        if self.w.in_slow_start() {
            if queued > self.params.gamma {
                let holds = (segments * self.base_s / rtt_s).floor() + 1.0;
                self.w.cwnd = self.w.cwnd.min(holds * self.w.mss);
                self.w.ssthresh = below_window(&self.w);
            } else {
                self.w.slow_start(a, self.counting);
            }
        } else if queued > self.params.beta {
            self.w.cwnd -= self.w.mss;
            self.w.ssthresh = below_window(&self.w);
        } else if queued < self.params.alpha {
            self.w.cwnd += self.w.mss;
        }
        self.w.cwnd = self.w.cwnd.max(2.0 * self.w.mss);
        self.w.ssthresh = self.w.ssthresh.max(0.75 * self.w.cwnd);
    }

    /// A round trip is over: segments in queues, if it had samples.
    fn queued(&mut self) -> Option<f64> {
        let mean_s = self.sum_s / f64::from(self.samples);
        let known = self.samples > 0;
        (self.sum_s, self.samples) = (0.0, 0);
        known.then(|| {
            self.base_s = self.base_s.min(mean_s);
            let queued = self.w.segments() * (1.0 - self.base_s / mean_s);
            if self.params.rates == VegasRates::Ns2 { queued.round() } else { queued }
        })
    }
}

impl Controller for Vegas {
    fn grow(&mut self, a: &Ack) {
        if let Some(r) = a.rtt {
            self.sum_s += r.as_secs_f64();
            self.samples += 1;
            self.min_rtt_s = self.min_rtt_s.min(r.as_secs_f64());
            if self.params.rates != VegasRates::Ns2 {
                self.base_s = self.base_s.min(r.as_secs_f64());
            }
        }
        let ends = self.round.take(a);
        if self.params.rates == VegasRates::Linux {
            return self.grow_as_linux(a, ends);
        }
        let queued = if ends { self.queued() } else { None };
        if self.w.in_slow_start() {
            // Only a round with a fixed window tells what stands in queues.
            if !self.grows && queued.is_some_and(|q| q > self.params.gamma) {
                self.w.cwnd = (self.w.cwnd * 7.0 / 8.0).max(2.0 * self.w.mss);
                self.w.ssthresh = self.w.cwnd;
                return;
            }
            self.grows ^= queued.is_some();
            if self.grows {
                self.w.slow_start(a, self.counting);
            }
            return;
        }
        match queued {
            Some(q) if q < self.params.alpha => self.w.cwnd += self.w.mss,
            Some(q) if q > self.params.beta => self.w.cwnd = (self.w.cwnd - self.w.mss).max(2.0 * self.w.mss),
            _ => {}
        }
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let kept = if why == Trigger::Timeout { 0.5 } else { self.params.keep };
        self.w.fall_to(base * kept, why);
        (self.sum_s, self.samples, self.grows) = (0.0, 0, false);
        self.min_rtt_s = f64::INFINITY;
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
