//! # HyStart++
//!
//! **Source**: rfc9406 sections 4.2 and 4.3.
//!
//! **Idea**: when the least round trip of a round, of eight samples at least, exceeds that of the round before by an eighth (from 4 to
//! 16 ms), slow start goes on at a quarter of its pace (conservative slow start). If the round trip falls below where that began, it was
//! jitter, and slow start resumes; after five rounds the threshold is set to the window.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `slow_start` | - | `standard` | `hystart++` |
//! | `hystart.segments_per_ack` | segments | 8, none when paced | L of section 4.3 |
//! | `hystart.baseline` | - | `round` | section 4.2; `threshold`: resumes only below the round trip that began it |
//!
//! **Deviations**: 1. The ACK that ends a round is the first of the next one. 2. After a loss, a timeout or a mark it never returns: it is for
//! the first slow start (section 4.3). 3. The limit L replaces what `avoidance_counting` says of slow start; laws with a slow start of
//! their own (Vegas, FAST beyond its first phase, LEDBAT++, Copa, BBR) keep theirs.
//!
//! **Checked by**: `law/hystart_plus_oracle.rs` (the pseudo-code on random rounds; growth of 2 and 1.25 a round; a bump of one round).

use super::controller::within;
use super::window::{Change, Ramp, Window};
use crate::tcp::choices::choice;
use crate::tcp::facts::Ack;
use crosswind_base::{ConfigError, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// Below which round trip conservative slow start gives way to slow start.
    Baseline {
        /// That of the round which began it.
        Round,
        /// That which was just enough to begin it: small dips do not end it.
        Threshold,
    }
);

/// How slow start grows and ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlowStartParams {
    /// With `hystart++`: most segments that one ACK counts for. Left out: 8, or no limit with pacing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments_per_ack: Option<f64>,
    /// With `hystart++`: what ends its conservative part early.
    pub baseline: Baseline,
    /// With `limited`: the window above which growth is half of this a round, in segments.
    pub limit_segments: u32,
}

impl Default for SlowStartParams {
    fn default() -> Self {
        SlowStartParams { segments_per_ack: None, baseline: Baseline::Round, limit_segments: 100 }
    }
}

impl SlowStartParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(most) = self.segments_per_ack {
            within("segments_per_ack", most, 1.0..=1e6)?;
        }
        within("limit_segments", f64::from(self.limit_segments), 2.0..=1e9)
    }
}

const SAMPLES_MIN: u32 = 8;
const THRESHOLD_MIN: Dur = Dur::from_millis(4);
const THRESHOLD_MAX: Dur = Dur::from_millis(16);
const DIVISOR: u64 = 8;
const CONSERVATIVE_SHARE: f64 = 0.25;
const CONSERVATIVE_ROUNDS: u32 = 5;
const NONE: Dur = Dur(u64::MAX);

/// Where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    SlowStart,
    Conservative {
        baseline: Dur,
        rounds: u32,
    },
    /// Over for good; growth may still have to be set back.
    Over,
}

/// The first slow start of a connection.
#[derive(Clone, Copy, Debug)]
pub struct HystartPlus {
    per_ack: f64,
    rule: Baseline,
    stage: Stage,
    share: f64,
    last: Dur,
    current: Dur,
    samples: u32,
    window_end: u64,
}

impl HystartPlus {
    /// `per_ack`: what one ACK counts for at most, in segments.
    pub fn new(rule: Baseline, per_ack: f64) -> HystartPlus {
        HystartPlus {
            per_ack,
            rule,
            stage: Stage::SlowStart,
            share: 1.0,
            last: NONE,
            current: NONE,
            samples: 0,
            window_end: 0,
        }
    }

    /// A loss, a timeout or a mark.
    pub fn end(&mut self) {
        self.stage = Stage::Over;
    }

    fn grow_at(&mut self, share: f64) -> Option<Change> {
        if self.share == share {
            return None;
        }
        self.share = share;
        Some(Change::Ramp(Ramp::Counted { most: self.per_ack, share }))
    }

    /// Takes an ACK after the window has grown by it; `nxt` is the next new byte. Returns what becomes of slow start.
    pub fn on_ack(&mut self, a: &Ack, nxt: u64, w: &Window) -> Option<Change> {
        if !w.in_slow_start() {
            self.end();
        }
        if self.stage == Stage::Over {
            return self.grow_at(1.0);
        }
        if a.bytes == 0 {
            return None;
        }
        if a.ack >= self.window_end {
            (self.last, self.current, self.samples, self.window_end) = (self.current, NONE, 0, nxt);
            if let Stage::Conservative { rounds, .. } = &mut self.stage {
                *rounds += 1;
                if *rounds >= CONSERVATIVE_ROUNDS {
                    // The next ACK sets the growth back.
                    self.end();
                    return Some(Change::EndSlowStart);
                }
            }
        }
        if let Some(rtt) = a.rtt {
            self.current = self.current.min(rtt);
            self.samples += 1;
        }
        if self.samples < SAMPLES_MIN {
            return None;
        }
        match self.stage {
            Stage::SlowStart if self.last != NONE => {
                let least = self.last + Dur(self.last.0 / DIVISOR).clamp(THRESHOLD_MIN, THRESHOLD_MAX);
                if self.current < least {
                    return None;
                }
                let baseline = if self.rule == Baseline::Round { self.current } else { least };
                self.stage = Stage::Conservative { baseline, rounds: 0 };
                self.grow_at(CONSERVATIVE_SHARE)
            }
            Stage::Conservative { baseline, .. } if self.current < baseline => {
                self.stage = Stage::SlowStart;
                self.grow_at(1.0)
            }
            _ => None,
        }
    }
}
