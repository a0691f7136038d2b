//! # Westwood (NewReno)
//!
//! **Source**: mascolo-2001 sections 2 and 3; bhandarkar-2006 II.C.2.g.
//!
//! **Idea**: grow like TCP, but after a loss set the threshold to what the path carries: `ssthresh = bwe rtt_min`. The rate
//! `bwe` is estimated from ACKs: `b_k` = acknowledged bytes over the time since the ACK before, low-passed with
//! `bwe_k = a bwe_(k-1) + (1 - a) (b_k + b_(k-1)) / 2`, `a = (2 tau - dt) / (2 tau + dt)`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `westwood.tau` | time | 500 ms | mascolo-2001; bhandarkar-2006 |
//!
//! **Deviations**: 1. Bytes are counted from the acknowledgement number on ACKs that may grow the window: duplicates count when
//! the hole before them is filled, not one by one. 2. A silence longer than 2 tau is filtered as one sample; the source
//! pretends samples of zero. 3. It is the first filter, not that of Westwood+ (a sample a round trip): half of each sample is weighed
//! with the time to the next ACK, so ACKs that come together make the estimate too large. Twenty flows on 100 Mbit/s and 60 ms,
//! hosts busy for up to a packet's time: 8000 segments a second and more in the median where 40 to 1100 are true, 10 % of packets
//! dropped (SACK: 0.06 %); without busy hosts ten times too much, 1.1 %. Its authors' agent for ns-2, fed with the same ACKs (and
//! duplicates as samples of their own), says 8000 to 15 000; weighing each sample with its own interval is within a factor of four.
//!
//! **Checked by**: `law/oracle/westwood.rs`, a test that a steady stream is measured exactly.

use super::rtt_filter::RttFilter;
use super::{AckCredit, Controller, Start, Window};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Westwood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WestwoodParams {
    /// Time constant of the filter.
    pub tau: Dur,
}

impl Default for WestwoodParams {
    fn default() -> Self {
        WestwoodParams { tau: Dur::from_millis(500) }
    }
}

impl WestwoodParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        super::within("tau (in seconds)", self.tau.as_secs_f64(), 1e-6..=1e6)
    }
}

#[derive(Clone, Debug)]
pub struct Westwood {
    w: Window,
    counting: AvoidanceCounting,
    tau_s: f64,
    rtts: RttFilter,
    /// Bytes per second: the estimate and the last sample.
    bwe: f64,
    sample: f64,
    /// The last ACK: when it came and what it acknowledged.
    last: Option<(Time, u64)>,
}

impl Westwood {
    pub fn new(p: &WestwoodParams, start: Start) -> Westwood {
        Westwood {
            w: start.window,
            counting: start.counting,
            tau_s: p.tau.as_secs_f64(),
            rtts: RttFilter::new(),
            bwe: 0.0,
            sample: 0.0,
            last: None,
        }
    }

    fn measure(&mut self, a: &Ack) {
        self.rtts.take(a);
        let Some((at, ack)) = self.last else {
            self.last = Some((a.now, a.ack));
            return;
        };
        let dt = a.now.since(at).as_secs_f64();
        if dt <= 0.0 || a.ack <= ack {
            return;
        }
        let sample = (a.ack - ack) as f64 / dt;
        if self.bwe == 0.0 {
            (self.bwe, self.sample) = (sample, sample);
        }
        let keep = ((2.0 * self.tau_s - dt) / (2.0 * self.tau_s + dt)).max(0.0);
        self.bwe = keep * self.bwe + (1.0 - keep) * (sample + self.sample) / 2.0;
        self.sample = sample;
        self.last = Some((a.now, a.ack));
    }
}

impl Controller for Westwood {
    fn grow(&mut self, a: &Ack) {
        self.measure(a);
        if !self.w.slow_start(a, self.counting) {
            let credit = AckCredit(self.w.credit(a, self.counting));
            self.w.add(1.0, credit);
        }
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let is_known = self.bwe > 0.0 && self.rtts.min_s.is_finite();
        let kept = if is_known { self.bwe * self.rtts.min_s } else { base / 2.0 };
        // The threshold may lie above the window: then the window stays.
        self.w.fall_to(if why == Trigger::Timeout { kept } else { kept.min(base) }, why);
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
