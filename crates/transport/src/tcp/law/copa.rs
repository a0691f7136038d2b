//! # Copa
//!
//! **Source**: arun-balakrishnan-2018 sections 2.1 and 2.2.
//!
//! **Idea**: the rate goes towards `1 / (delta dq)` segments a second, where `dq` is what queues take: the least round trip of half a smoothed one
//! (`standing`) less the least of ten seconds. An ACK moves the window by `v / (delta cwnd)` segments; `v` doubles each round trip after
//! three in one direction, and is one after a turn. Slow start doubles until the rate exceeds its target. Where the queue has not been nearly empty
//! for five round trips, somebody else fills it: `1/delta` then grows by one a round trip and halves with a loss. Segments leave at
//! `2 cwnd / standing`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `copa.delta` | 1/segments | 0.5 | section 2.1 |
//! | `copa.competes` | - | `off` | section 2.2 has it on; see deviation 5 |
//!
//! **Deviations**: 1. Minima over time are those of three samples (as in Linux, `lib/minmax.c`): exact when they fall, and at times a little old when
//! they rise. 2. A loss changes the window only where it competes, and there by `delta`; a timeout leaves one segment and begins slow start anew.
//! 3. Marks (ECN) count as losses. 4. The window is two segments at least. 5. Whether somebody else fills the queue is asked by our reading of section
//! 2.2, by which a flow alone at times takes the queue of its own slow start for another's, and goes back and forth (13 segments wait on average
//! instead of two in the model of the tests): so it is not the default.
//!
//! **Checked by**: `law/copa_oracle.rs` (the rules of the paper on random delays; the queue of one flow), `crates/sim/tests/scavengers.rs`.

use super::rtt_filter::RttFilter;
use super::{AckSample, Change, Controller, Start, Window};
use crate::tcp::choices::Switch;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Copa.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CopaParams {
    /// One over the segments that a flow keeps in the queue.
    pub delta: f64,
    /// Whether it notices others that fill the queue, and keeps up with them.
    pub competes: Switch,
}

impl Default for CopaParams {
    fn default() -> Self {
        CopaParams { delta: 0.5, competes: Switch::Off }
    }
}

impl CopaParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        super::within("delta", self.delta, 1e-4..=10.0)
    }
}

const LEAST_FOR_S: f64 = 10.0;
/// Round trips: over which the largest is taken, within which the queue must have been nearly empty, and before `v` doubles.
const LARGEST_ROUNDS: usize = 4;
const EMPTY_ROUNDS: f64 = 5.0;
const STEADY_ROUNDS: u32 = 3;
/// Share of the range of round trips that counts as nearly empty.
const NEARLY: f64 = 0.1;
const LEAST_WINDOW: f64 = 2.0;

/// The least of a time span, told by the best three samples: when and value, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least([(f64, f64); 3]);

impl Least {
    pub(super) fn new() -> Least {
        Least([(0.0, f64::INFINITY); 3])
    }
    pub(super) fn get(&self) -> f64 {
        self.0[0].1
    }
    pub(super) fn take(&mut self, window: f64, now: f64, value: f64) {
        let (new, best) = ((now, value), &mut self.0);
        if value <= best[0].1 || now - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if value <= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if value <= best[2].1 {
            best[2] = new;
        }
        while now - best[0].0 > window {
            *best = [best[1], best[2], new];
        }
        let age = now - best[0].0;
        if best[1].0 == best[0].0 && age > window / 4.0 {
            (best[1], best[2]) = (new, new);
        } else if best[2].0 == best[1].0 && age > window / 2.0 {
            best[2] = new;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up,
    Down,
}

#[derive(Clone, Debug)]
pub struct Copa {
    w: Window,
    params: CopaParams,
    rtts: RttFilter,
    least: Least,
    standing: Least,
    /// The largest round trips of the last rounds, the present one first.
    largest: [f64; LARGEST_ROUNDS],
    nearly_empty_at: f64,
    one_over_delta: f64,
    is_in_slow_start: bool,
    velocity: f64,
    direction: Direction,
    /// Rounds in this direction; the window at the begin of this round, and when it began.
    rounds: u32,
    round_cwnd: f64,
    round_at: f64,
    lost_in_round: bool,
}

impl Copa {
    pub fn new(p: &CopaParams, start: Start) -> Copa {
        let w = start.window;
        Copa {
            params: p.clone(),
            rtts: RttFilter::new(),
            least: Least::new(),
            standing: Least::new(),
            largest: [0.0; LARGEST_ROUNDS],
            nearly_empty_at: 0.0,
            one_over_delta: 1.0 / p.delta,
            is_in_slow_start: true,
            velocity: 1.0,
            direction: Direction::Up,
            rounds: 0,
            round_cwnd: w.segments(),
            round_at: 0.0,
            lost_in_round: false,
            w,
        }
    }

    pub fn velocity(&self) -> f64 {
        self.velocity
    }
    pub fn one_over_delta(&self) -> f64 {
        self.one_over_delta
    }
    fn is_competing(&self, now: f64) -> bool {
        self.params.competes.on() && now - self.nearly_empty_at > EMPTY_ROUNDS * self.rtts.smoothed_s
    }

    fn take(&mut self, rtt: f64, now: f64) {
        if self.round_at == 0.0 {
            (self.round_at, self.nearly_empty_at) = (now, now);
        }
        self.least.take(LEAST_FOR_S, now, rtt);
        self.standing.take(self.rtts.smoothed_s / 2.0, now, rtt);
        self.largest[0] = self.largest[0].max(rtt);
        let range = self.largest.iter().fold(0.0, |m: f64, r| m.max(*r)) - self.least.get();
        if self.standing.get() - self.least.get() < NEARLY * range || range <= 0.0 {
            self.nearly_empty_at = now;
        }
    }

    /// A round trip is over.
    fn end_round(&mut self, now: f64) {
        let is_up = self.w.segments() > self.round_cwnd;
        let direction = if is_up { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.rounds += 1;
            if self.rounds > STEADY_ROUNDS && !self.is_in_slow_start {
                self.velocity *= 2.0;
            }
        } else {
            (self.direction, self.rounds, self.velocity) = (direction, 1, 1.0);
        }
        let own = 1.0 / self.params.delta;
        if !self.is_competing(now) {
            self.one_over_delta = own;
        } else if !self.lost_in_round {
            self.one_over_delta += 1.0;
        }
        self.largest.rotate_right(1);
        self.largest[0] = 0.0;
        (self.round_cwnd, self.round_at, self.lost_in_round) = (self.w.segments(), now, false);
    }

    fn steer(&mut self, acked: f64) {
        let (segments, standing) = (self.w.segments(), self.standing.get());
        let queueing = standing - self.least.get();
        let is_below = segments * queueing <= self.one_over_delta * standing;
        if self.is_in_slow_start && is_below {
            self.w.cwnd += acked * self.w.mss;
            return;
        }
        self.is_in_slow_start = false;
        let step = self.velocity * self.one_over_delta * acked / segments;
        let moved = if is_below { segments + step } else { segments - step };
        self.w.cwnd = moved.max(LEAST_WINDOW) * self.w.mss;
    }
}

/// The round trip that an ACK shows: that of the segment which left last, by the sender's own clock.
fn trip(a: &Ack) -> Option<Dur> {
    a.last_trip().or(a.rtt)
}

impl Controller for Copa {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        let (Some(rtt), now) = (trip(s.ack), s.ack.now) else { return };
        self.rtts.take_sample(Some(rtt));
        let now = now.since(Time::ZERO).as_secs_f64();
        self.take(rtt.as_secs_f64(), now);
        if s.ack.delivered > 0 && s.ack.window_limited {
            self.steer(s.ack.delivered as f64 / self.w.mss);
        }
        if now - self.round_at >= self.rtts.smoothed_s {
            self.end_round(now);
        }
    }

    fn reduce(&mut self, why: Trigger, _base: f64) {
        if !std::mem::replace(&mut self.lost_in_round, true) {
            self.one_over_delta = (self.one_over_delta / 2.0).max(1.0 / self.params.delta);
        }
        if why == Trigger::Timeout {
            self.w.cwnd = self.w.mss;
            (self.is_in_slow_start, self.velocity, self.rounds) = (true, 1.0, 0);
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            // What a recovery releases it says itself.
            Change::CapToThreshold
            | Change::ReducingTo(_)
            | Change::Reduced
            | Change::Deflate(_)
            | Change::EndSlowStart => {}
            _ => self.w.apply(change),
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        let standing = self.standing.get();
        (standing.is_finite() && standing > 0.0).then(|| 2.0 * self.w.cwnd / standing)
    }
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = self.pacing_rate() {
            out("pacing_rate_bps", rate * 8.0);
            out("least_rtt_ns", self.least.get() * 1e9);
        }
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
