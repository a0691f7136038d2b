//! # LEDBAT++
//!
//! **Source**: draft-irtf-iccrg-ledbat-plus-plus sections 4.1 to 4.5; rfc6817 section 2.4.2 (delays).
//!
//! **Idea**: gives way to everybody else: the window is held where the queue takes `target`. Below, `GAIN` segments more a round trip;
//! above, `max(GAIN - W (delay / target - 1), -W / 2)`; `GAIN = 1 / min(16, ceil(2 target / base))`. `base` is the least round trip of ten
//! minutes, the delay the least of four samples less `base`. Slow start is slower by `GAIN` and ends at three quarters of the target. Two round
//! trips later, and then whenever nine times as long has passed as the last one took, the window is two segments for two round trips: the queue
//! empties, and `base` is seen by flows that came later.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ledbat.target` | time | 60 ms | section 4.1 |
//! | `ledbat.slowdown` | - | `on` | section 4.4 |
//!
//! **Deviations**: 1. Round-trip times are used as in the source's own form; a one-way delay of timestamps is not. 2. The first slowdown also
//! follows a slow start that a loss has ended. 3. A loss halves the window, a timeout leaves one segment (the connection's rules). 4. Delays are
//! taken on the ACKs that may grow the window.
//!
//! **Checked by**: `law/oracle/ledbat.rs` (the rules in segments and seconds on random delays), `crates/sim/tests/scavengers.rs`.

use super::rtt_filter::RttFilter;
use super::{Controller, Start, Window};
use crate::tcp::choices::{AvoidanceCounting, Switch};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of LEDBAT++.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LedbatParams {
    /// What the queue may take.
    pub target: Dur,
    /// Whether the window falls to two segments now and then.
    pub slowdown: Switch,
}

impl Default for LedbatParams {
    fn default() -> Self {
        LedbatParams { target: Dur::from_millis(60), slowdown: Switch::On }
    }
}

impl LedbatParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        super::within("target (in seconds)", self.target.as_secs_f64(), 1e-4..=100.0)
    }
}

const MINUTE: Dur = Dur::from_secs(60);
const MINUTES: usize = 10;
const RECENT: usize = 4;
const GAIN_LEAST: f64 = 1.0 / 16.0;
/// Share of the target at which slow start ends.
const START_ENDS: f64 = 0.75;
const SMALL_SEGMENTS: f64 = 2.0;
/// Round trips: of small window, and from the end of slow start to the first one.
const SMALL_ROUNDS: f64 = 2.0;
const APART: u64 = 9;
const NONE: Dur = Dur(u64::MAX);

/// Where it stands between two slowdowns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The first slow start, and after a loss that has ended it, until an ACK says what time it is.
    Start,
    Lost,
    /// The next slowdown comes then.
    Steady {
        slows_at: Time,
    },
    /// The window is small until then.
    Small {
        since: Time,
        until: Time,
    },
    /// It grows back to the threshold.
    Back {
        since: Time,
    },
}

#[derive(Clone, Debug)]
pub struct Ledbat {
    w: Window,
    counting: AvoidanceCounting,
    params: LedbatParams,
    rtts: RttFilter,
    /// The least round trip of each of the last minutes, the present one first, and when that began.
    minutes: [Dur; MINUTES],
    minute_at: Time,
    recent: [Dur; RECENT],
    samples: usize,
    stage: Stage,
}

impl Ledbat {
    pub fn new(p: &LedbatParams, start: Start) -> Ledbat {
        Ledbat {
            w: start.window,
            counting: start.counting,
            params: p.clone(),
            rtts: RttFilter::new(),
            minutes: [NONE; MINUTES],
            minute_at: Time::ZERO,
            recent: [NONE; RECENT],
            samples: 0,
            stage: Stage::Start,
        }
    }

    fn take(&mut self, rtt: Dur, now: Time) {
        if now.since(self.minute_at) >= MINUTE {
            self.minutes.rotate_right(1);
            (self.minutes[0], self.minute_at) = (rtt, now);
        }
        self.minutes[0] = self.minutes[0].min(rtt);
        self.recent[self.samples % RECENT] = rtt;
        self.samples += 1;
    }

    fn base_s(&self) -> f64 {
        self.minutes.iter().min().map_or(0.0, |d| d.as_secs_f64())
    }
    /// What the queue takes of the target.
    fn fullness(&self) -> f64 {
        let current = self.recent.iter().min().map_or(0.0, |d| d.as_secs_f64());
        (current - self.base_s()) / self.params.target.as_secs_f64()
    }
    fn gain(&self) -> f64 {
        (1.0 / (2.0 * self.params.target.as_secs_f64() / self.base_s()).ceil()).max(GAIN_LEAST)
    }

    fn rounds_on(&self, now: Time, rounds: f64) -> Time {
        now + Dur::from_secs_f64(rounds * self.rtts.smoothed_s)
    }

    /// Slow start, at `GAIN` of its pace; returns whether the threshold is reached.
    fn ramp(&mut self, credit: f64) -> bool {
        self.w.cwnd = (self.w.cwnd + self.gain() * credit * self.w.mss).min(self.w.ssthresh.max(self.w.cwnd));
        !self.w.in_slow_start()
    }

    fn settle(&mut self, now: Time) {
        self.stage = Stage::Steady { slows_at: self.rounds_on(now, SMALL_ROUNDS) };
    }

    fn steer(&mut self, credit: f64) {
        let (segments, full) = (self.w.segments(), self.fullness());
        let change = match full < 1.0 {
            true => self.gain(),
            false => (self.gain() - segments * (full - 1.0)).max(-segments / 2.0),
        };
        self.w.cwnd = (self.w.cwnd + change * credit / segments * self.w.mss).max(SMALL_SEGMENTS * self.w.mss);
    }
}

impl Controller for Ledbat {
    fn grow(&mut self, a: &Ack) {
        self.rtts.take(a);
        if let Some(rtt) = a.rtt {
            self.take(rtt, a.now);
        }
        if self.samples == 0 {
            return;
        }
        let credit = self.w.credit(a, self.counting);
        match self.stage {
            Stage::Start if self.fullness() > START_ENDS => {
                self.w.ssthresh = self.w.cwnd;
                self.settle(a.now);
            }
            Stage::Start => {
                if self.ramp(credit) {
                    self.settle(a.now);
                }
            }
            Stage::Lost => self.settle(a.now),
            Stage::Steady { slows_at } if a.now >= slows_at && self.params.slowdown.on() => {
                self.w.ssthresh = self.w.cwnd.max(SMALL_SEGMENTS * self.w.mss);
                self.w.cwnd = SMALL_SEGMENTS * self.w.mss;
                self.stage = Stage::Small { since: a.now, until: self.rounds_on(a.now, SMALL_ROUNDS) };
            }
            Stage::Steady { .. } if self.w.in_slow_start() => {
                self.ramp(credit);
            }
            Stage::Steady { .. } => self.steer(credit),
            Stage::Small { since, until } if a.now >= until => self.stage = Stage::Back { since },
            Stage::Small { .. } => {}
            Stage::Back { since } => {
                if self.ramp(credit) {
                    let took = a.now.since(since);
                    self.stage = Stage::Steady { slows_at: a.now + took.saturating_mul(APART) };
                }
            }
        }
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        self.w.fall_to(base / 2.0, why);
        if self.stage == Stage::Start {
            self.stage = Stage::Lost;
        }
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
