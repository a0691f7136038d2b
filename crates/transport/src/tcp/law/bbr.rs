//! # BBR, version 1
//!
//! **Source**: cardwell-2017; linux-6.18 `tcp_bbr.c`.
//!
//! **Idea**: the path is a rate and a delay: `rate`, the largest delivery rate of ten round trips, and `rtt_min`, the least round trip of
//! ten seconds. Segments leave at `gain rate`, and `2 rate rtt_min` at most are under way. `Startup` (gain 2.89) lasts until three
//! round trips brought less than a quarter more; `Drain` (0.34) until one `rate rtt_min` is under way; then a cycle of eight phases,
//! each about `rtt_min` long, with gains 1.25, 0.75 and six times 1. When nothing has lowered `rtt_min` for ten seconds the
//! window is four segments for 200 ms. Losses do not lower the rate, but two times a fifth lost at the same rate mean a policer.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `bbr.probe_gain` | - | 1.25 | `bbr_pacing_gain` |
//! | `bbr.window_gain` | - | 2 | `bbr_cwnd_gain` |
//! | `bbr.rate_rounds` | - | 10 | `bbr_bw_rtts` |
//! | `bbr.rtt_window` | time | 10 s | `bbr_min_rtt_win_sec` |
//! | `bbr.probe_rtt` | time | 200 ms | `bbr_probe_rtt_mode_ms` |
//! | `bbr.refresh` | - | `below` | linux-6.18; `not-above`: until 5.10, a queue that empties puts the small window off |
//! | `bbr.policer` | - | `on` | `bbr_lt_bw_sampling` |
//!
//! **Deviations**: 1. Segments leave one by one, in Linux several at once (`pacing_burst = "linux"`: two, below 24 Mbit/s); the window has
//! room for three such bursts as in Linux. 2. Rates and windows are real numbers. 3. Marks (ECN) and a full queue of the host do not reduce the window, as
//! in Linux; they are counted as reductions. 4. A connection without a random stream begins its cycle in the first phase of gain 1.
//! 5. A timeout counts as a loss for the search of policers when the next ACK comes.
//!
//! **Checked by**: `law/bbr_oracle.rs` (a second copy of the source on random paths: gains, full pipe, drain, cycle, small window,
//! recovery; unit tests of timeouts and policers), `crates/sim/tests/bbr.rs` (one and ten products of queue; losses).

use super::super::detect::Phase;
use super::{AckSample, Change, Controller, Delivery, SentFacts, Start, Window, within};
use crate::tcp::choices::{Switch, choice};
use crate::tcp::facts::Trigger;
use crosswind_base::{ConfigError, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod largest;
mod policer;
pub(super) use largest::Largest;
use policer::Policer;

choice!(
    /// Which samples count as proof that the least round trip still is the least.
    Refresh {
        /// Smaller ones.
        Below,
        /// Equal ones, too (Linux until 5.10).
        NotAbove,
    }
);

/// Parameters of BBR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BbrParams {
    /// How much faster than the path it sends in the first phase of a cycle; the second makes up for it.
    pub probe_gain: f64,
    /// Most in flight, in products of rate and least round trip.
    pub window_gain: f64,
    /// Round trips over which the largest rate is taken.
    pub rate_rounds: u32,
    /// How long the least round trip is believed.
    pub rtt_window: Dur,
    /// How long the small window lasts that measures it anew; zero: it is never measured anew.
    pub probe_rtt: Dur,
    /// Which samples put that off.
    pub refresh: Refresh,
    /// Whether a path that loses much at a steady rate is taken for one with a policer.
    pub policer: Switch,
}

impl Default for BbrParams {
    fn default() -> Self {
        BbrParams {
            probe_gain: 1.25,
            window_gain: 2.0,
            rate_rounds: 10,
            rtt_window: Dur::from_secs(10),
            probe_rtt: Dur::from_millis(200),
            refresh: Refresh::Below,
            policer: Switch::On,
        }
    }
}

impl BbrParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("probe_gain", self.probe_gain, 1.0..=2.0)?;
        within("window_gain", self.window_gain, 1.0..=100.0)?;
        within("rate_rounds", f64::from(self.rate_rounds), 2.0..=1000.0)?;
        within("rtt_window (in seconds)", self.rtt_window.as_secs_f64(), 1e-3..=1e6)
    }
}

const HIGH_GAIN: f64 = 739.0 / 256.0;
const DRAIN_GAIN: f64 = 88.0 / 256.0;
const CYCLE: usize = 8;
/// Share of the rate at which segments leave: a queue that exists shrinks.
const MARGIN: f64 = 0.99;
/// Segments of the small window, and of the least one.
const LEAST_WINDOW: f64 = 4.0;
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Segments delivered before which Startup grows whatever the target.
const FIRST_SEGMENTS: f64 = 10.0;
/// Bytes per second below which a burst may be one segment.
const SLOW: f64 = 150_000.0;
/// Bytes and segments of the largest burst.
const BURST_BYTES: f64 = 65_215.0;
const BURST_SEGMENTS: f64 = 127.0;
/// ACKs in bunches: rounds a maximum lives, most time and segments that it stands for.
const BUNCH_ROUNDS: u32 = 5;
const BUNCH_S: f64 = 0.1;
const BUNCH_SEGMENTS: f64 = (1 << 20) as f64 - 1.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Startup,
    Drain,
    Cycle,
    SmallWindow,
}

/// Whether the pipe is full: the rate no longer grows.
#[derive(Clone, Copy, Debug, Default)]
struct Full {
    rate: f64,
    rounds: u32,
    reached: bool,
}

/// How far ACKs run ahead of the rate, in bytes: the largest of five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Bunches {
    largest: [f64; 2],
    at: usize,
    rounds: u32,
    since: Time,
    acked: f64,
}

/// Where the connection stood at the last ACK, as Linux sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Was {
    Open,
    Recovering,
    TimedOut,
}

impl Was {
    fn of(phase: Phase) -> Was {
        match phase {
            Phase::Open | Phase::Echo { .. } => Was::Open,
            Phase::Recovery { .. } => Was::Recovering,
            Phase::Timeout { .. } => Was::TimedOut,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Bbr {
    w: Window,
    params: BbrParams,
    dice: Option<Rng>,
    mode: Mode,
    /// Bytes per second.
    rates: Largest,
    min_rtt: Option<Dur>,
    least_rtt_at: Time,
    /// Rounds: their number, what ends the present one, whether an ACK has just begun one.
    rounds: u64,
    round_end: u64,
    begins_round: bool,
    pacing_gain: f64,
    window_gain: f64,
    /// Bytes per second.
    pacing_rate: f64,
    knows_rtt: bool,
    full: Full,
    phase: usize,
    phase_at: Time,
    /// When the small window may end; none before what is in flight has fallen to it.
    small_until: Option<Time>,
    small_for_a_round: bool,
    /// The window to come back to, in bytes.
    prior: f64,
    was: Was,
    /// The first round of a recovery: what leaves is what was delivered.
    conserves: bool,
    /// It sends again after the application had nothing to send.
    restarts: bool,
    bunches: Bunches,
    policer: Policer,
}

impl Bbr {
    pub fn new(p: &BbrParams, start: Start) -> Bbr {
        let w = start.window;
        let mut bbr = Bbr {
            params: p.clone(),
            dice: None,
            mode: Mode::Startup,
            rates: Largest::default(),
            min_rtt: None,
            least_rtt_at: Time::ZERO,
            rounds: 0,
            round_end: 0,
            begins_round: false,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            pacing_rate: 0.0,
            knows_rtt: false,
            full: Full::default(),
            phase: 0,
            phase_at: Time::ZERO,
            small_until: None,
            small_for_a_round: false,
            prior: 0.0,
            was: Was::Open,
            conserves: false,
            restarts: false,
            bunches: Bunches::default(),
            policer: Policer::default(),
            w,
        };
        bbr.guess_rate(Dur::from_millis(1));
        bbr
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }
    pub fn pacing_gain(&self) -> f64 {
        self.pacing_gain
    }

    /// What it holds the path's rate to be, in bytes per second.
    pub fn rate(&self) -> f64 {
        self.policer.rate().unwrap_or(self.rates.get())
    }

    /// The first rate: the window in one round trip.
    fn guess_rate(&mut self, rtt: Dur) {
        self.pacing_rate = HIGH_GAIN * MARGIN * self.w.cwnd / rtt.as_secs_f64().max(1e-6);
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * MARGIN * self.rate();
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Segments that Linux hands down at once.
    fn burst(&self) -> f64 {
        let least = if self.pacing_rate < SLOW { 1.0 } else { 2.0 };
        ((self.pacing_rate / 1024.0).min(BURST_BYTES) / self.w.mss).floor().clamp(least, BURST_SEGMENTS)
    }

    /// Products of rate and least round trip, in whole segments.
    fn products(&self, rate: f64, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) => (gain * rate * rtt.as_secs_f64() / self.w.mss).ceil(),
            None => FIRST_SEGMENTS,
        }
    }

    /// Room for bursts on top, in segments.
    fn with_bursts(&self, segments: f64) -> f64 {
        let even = ((segments + 3.0 * self.burst()) / 2.0).ceil() * 2.0;
        if self.mode == Mode::Cycle && self.phase == 0 { even + 2.0 } else { even }
    }

    /// What should be in flight, in bytes.
    fn target(&self, gain: f64) -> f64 {
        self.with_bursts(self.products(self.rates.get(), gain)) * self.w.mss
    }

    /// What will be in flight when the next segment leaves.
    fn at_departure(&self, in_flight: u64, now: Time, d: &Delivery) -> f64 {
        let burst = if self.pacing_gain > 1.0 { self.burst() * self.w.mss } else { 0.0 };
        let until = d.departs_at.since(now).as_secs_f64();
        (in_flight as f64 + burst - self.rate() * until).max(0.0)
    }

    fn take_rate(&mut self, s: &AckSample<'_>, d: &Delivery) {
        self.begins_round = false;
        let Some(rate) = d.rate else { return };
        if d.prior_delivered >= self.round_end {
            self.round_end = d.delivered;
            self.rounds += 1;
            self.begins_round = true;
            self.conserves = false;
        }
        self.look_for_policer(s.newly_lost, d);
        if !d.is_app_limited || rate >= self.rates.get() {
            self.rates.take(u64::from(self.params.rate_rounds), self.rounds, rate);
        }
    }

    fn look_for_policer(&mut self, newly_lost: u64, d: &Delivery) {
        if !self.params.policer.on() {
            return;
        }
        let probing = self.mode == Mode::Cycle;
        if self.policer.take(newly_lost, d, self.begins_round, probing) == policer::News::Over {
            self.begin_cycle(d.delivered_at);
        }
    }

    fn take_bunch(&mut self, now: Time, d: &Delivery) {
        if d.newly == 0 || d.rate.is_none() {
            return;
        }
        let (rate, b) = (self.rate(), &mut self.bunches);
        if self.begins_round {
            b.rounds += 1;
            if b.rounds >= BUNCH_ROUNDS {
                (b.rounds, b.at) = (0, 1 - b.at);
                b.largest[b.at] = 0.0;
            }
        }
        let newly = d.newly as f64;
        let mut expected = rate * now.since(b.since).as_secs_f64();
        let limit = BUNCH_SEGMENTS * self.w.mss;
        if b.acked <= expected || b.acked + newly >= limit {
            (b.acked, b.since, expected) = (0.0, d.delivered_at, 0.0);
        }
        b.acked = (b.acked + newly).min(limit);
        let ahead = (b.acked - expected).min(self.w.cwnd);
        b.largest[b.at] = b.largest[b.at].max(ahead);
    }

    fn begin_cycle(&mut self, now: Time) {
        self.mode = Mode::Cycle;
        // Any phase but the one of 0.75: the draw is made of the others, and the next one begins.
        let drawn = self.dice.as_mut().map_or(CYCLE - 2, |r| r.below(CYCLE as u64 - 1) as usize);
        self.phase = CYCLE - 1 - drawn;
        self.next_phase(now);
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE;
        self.phase_at = now;
    }

    fn phase_gain(&self) -> f64 {
        match self.phase {
            _ if self.policer.rate().is_some() => 1.0,
            0 => self.params.probe_gain,
            1 => 2.0 - self.params.probe_gain,
            _ => 1.0,
        }
    }

    fn walk_the_cycle(&mut self, s: &AckSample<'_>, d: &Delivery) {
        if self.mode != Mode::Cycle {
            return;
        }
        let is_long = self.min_rtt.is_some_and(|rtt| d.delivered_at.since(self.phase_at) > rtt);
        let before = self.at_departure(s.ack.in_flight_before, s.ack.now, d);
        let is_over = if self.pacing_gain > 1.0 {
            is_long && (s.newly_lost > 0 || before >= self.target(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            is_long || before <= self.target(1.0)
        } else {
            is_long
        };
        if is_over {
            self.next_phase(d.delivered_at);
        }
    }

    fn look_at_full(&mut self, d: &Delivery) {
        if self.full.reached || !self.begins_round || d.is_app_limited {
            return;
        }
        if self.rates.get() >= FULL_GROWTH * self.full.rate {
            (self.full.rate, self.full.rounds) = (self.rates.get(), 0);
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= FULL_ROUNDS;
    }

    fn drain(&mut self, s: &AckSample<'_>, d: &Delivery) {
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.w.ssthresh = self.target(1.0);
        }
        if self.mode == Mode::Drain && self.at_departure(s.in_flight, s.ack.now, d) <= self.target(1.0) {
            self.begin_cycle(d.delivered_at);
        }
    }

    fn take_rtt(&mut self, s: &AckSample<'_>, d: &Delivery) {
        let now = s.ack.now;
        let is_old = self.min_rtt.is_some() && now > self.least_rtt_at + self.params.rtt_window;
        if let Some(rtt) = d.trip {
            let lowers = self.min_rtt.is_none_or(|least| match self.params.refresh {
                Refresh::Below => rtt < least,
                Refresh::NotAbove => rtt <= least,
            });
            if lowers || (is_old && !d.may_have_waited) {
                (self.min_rtt, self.least_rtt_at) = (Some(rtt), now);
            }
        }
        if is_old && self.params.probe_rtt > Dur::ZERO && !self.restarts && self.mode != Mode::SmallWindow {
            (self.mode, self.small_until) = (Mode::SmallWindow, None);
            self.save_window();
        }
        if self.mode == Mode::SmallWindow {
            if self.small_until.is_some() {
                self.small_for_a_round |= self.begins_round;
                if self.small_for_a_round {
                    self.end_small_window(now);
                }
            } else if s.in_flight as f64 <= LEAST_WINDOW * self.w.mss {
                self.small_until = Some(now + self.params.probe_rtt);
                self.small_for_a_round = false;
                self.round_end = d.delivered;
            }
        }
        if d.newly > 0 {
            self.restarts = false;
        }
    }

    fn end_small_window(&mut self, now: Time) {
        if self.small_until.is_none_or(|until| now <= until) {
            return;
        }
        self.least_rtt_at = now;
        self.w.cwnd = self.w.cwnd.max(self.prior);
        if self.full.reached {
            self.begin_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn choose_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::Cycle => (self.phase_gain(), self.params.window_gain),
            Mode::SmallWindow => (1.0, 1.0),
        };
    }

    fn save_window(&mut self) {
        let is_whole = self.was == Was::Open && self.mode != Mode::SmallWindow;
        self.prior = if is_whole { self.w.cwnd } else { self.prior.max(self.w.cwnd) };
    }

    /// What a recovery makes of the window; whether it alone decides.
    fn recover(&mut self, s: &AckSample<'_>, d: &Delivery) -> bool {
        if s.newly_lost > 0 {
            self.w.cwnd = (self.w.cwnd - s.newly_lost as f64).max(self.w.mss);
        }
        let (is, was) = (Was::of(s.phase), self.was);
        let kept = ((s.in_flight + d.newly) as f64).max(self.w.mss);
        if is == Was::Recovering && was != Was::Recovering {
            (self.conserves, self.round_end) = (true, d.delivered);
            self.w.cwnd = kept;
        } else if was != Was::Open && is == Was::Open {
            self.conserves = false;
            self.w.cwnd = self.w.cwnd.max(self.prior);
        }
        self.was = is;
        if self.conserves {
            self.w.cwnd = self.w.cwnd.max(kept);
        }
        self.conserves
    }

    fn set_window(&mut self, s: &AckSample<'_>, d: &Delivery) {
        let (mss, acked) = (self.w.mss, d.newly as f64);
        if d.newly > 0 && !self.recover(s, d) {
            let bunches = if self.full.reached {
                let most = self.rate() * BUNCH_S;
                self.bunches.largest[0].max(self.bunches.largest[1]).min(most)
            } else {
                0.0
            };
            let target = self.with_bursts(self.products(self.rate(), self.window_gain) + (bunches / mss).floor()) * mss;
            if self.full.reached {
                self.w.cwnd = (self.w.cwnd + acked).min(target);
            } else if self.w.cwnd < target || (d.delivered as f64) < FIRST_SEGMENTS * mss {
                self.w.cwnd += acked;
            }
            self.w.cwnd = self.w.cwnd.max(LEAST_WINDOW * mss);
        }
        if self.mode == Mode::SmallWindow {
            self.w.cwnd = self.w.cwnd.min(LEAST_WINDOW * mss);
        }
    }
}

impl Controller for Bbr {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        let Some(d) = s.delivery else { return };
        if self.was == Was::Open && Was::of(s.phase) == Was::Recovering {
            self.save_window();
        }
        self.take_rate(s, d);
        self.take_bunch(s.ack.now, d);
        self.walk_the_cycle(s, d);
        self.look_at_full(d);
        self.drain(s, d);
        self.take_rtt(s, d);
        self.choose_gains();
        if let (false, Some(rtt)) = (self.knows_rtt, d.trip) {
            self.knows_rtt = true;
            self.guess_rate(rtt);
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_window(s, d);
    }

    fn reduce(&mut self, why: Trigger, _base: f64) {
        if why == Trigger::Timeout {
            self.save_window();
            self.was = Was::TimedOut;
            self.full.rate = 0.0;
            self.w.cwnd = self.w.mss;
            self.policer.hear_of_timeout();
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            // What a recovery releases, and what idle time costs, it says itself.
            Change::Cap(_) | Change::CapToThreshold | Change::ReducingTo(_) | Change::Reduced | Change::Deflate(_) => {}
            Change::EndSlowStart | Change::GiveUp(_) => {}
            Change::Restore { cwnd, .. } => self.w.cwnd = self.w.cwnd.max(cwnd),
            _ => self.w.apply(change),
        }
    }

    fn undo(&mut self, before: &Bbr) {
        self.w.cwnd = self.w.cwnd.max(before.w.cwnd);
        (self.full.rate, self.full.rounds) = (0.0, 0);
        self.policer = Policer::default();
    }

    fn on_sent(&mut self, s: &SentFacts) {
        if let (false, Some(rtt)) = (self.knows_rtt, s.srtt) {
            self.knows_rtt = true;
            self.guess_rate(rtt);
            if self.min_rtt.is_none() {
                // The handshake's round trip is the least one so far.
                (self.min_rtt, self.least_rtt_at) = (Some(rtt), s.now);
            }
        }
        if !(s.was_idle && s.is_app_limited) {
            return;
        }
        self.restarts = true;
        (self.bunches.since, self.bunches.acked) = (s.now, 0.0);
        match self.mode {
            Mode::Cycle => self.set_pacing_rate(1.0),
            Mode::SmallWindow => self.end_small_window(s.now),
            _ => {}
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }
    /// What is delivered with the small window says little of the path.
    fn holds_back(&self) -> bool {
        self.mode == Mode::SmallWindow
    }
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("pacing_rate_bps", self.pacing_rate * 8.0);
        out("path_rate_bps", self.rate() * 8.0);
        if let Some(rtt) = self.min_rtt {
            out("least_rtt_ns", rtt.0 as f64);
        }
    }
    fn take_dice(&mut self, dice: Rng) {
        self.dice = Some(dice);
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
