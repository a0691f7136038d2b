//! # BBR, version 3
//!
//! **Source**: draft-ietf-ccwg-bbr sections 2 and 5; google-bbr-v3 `tcp_bbr.c` where the draft is silent or contradicts itself.
//!
//! **Idea**: `max_bw`, the largest delivery rate of two probe cycles, and `min_rtt`, the least round trip of ten seconds, say what the path
//! holds; `inflight_longterm` what it held without losing 2 %, `bw_shortterm` and `inflight_shortterm` what it delivers while it loses
//! outside of probes. Startup (rate gain 2.77) ends after three rounds without a quarter more, or by loss; Drain (0.5) empties the queue; then a
//! cycle: DOWN (0.9) until the queue is gone, CRUISE (1.0), after 2 to 3 s or 63 rounds REFILL (one round) and UP (1.25). Without a new least
//! round trip for 5 s half a product is in flight for 200 ms (ProbeRTT).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `bbr3.version` | - | `draft` | `google`: the rules below that differ |
//! | `bbr3.startup_gain` | - | 2.77 | section 2.5 (google: 2.773) |
//! | `bbr3.drain_gain` | - | 0.5 | section 2.5 (google: 0.347) |
//! | `bbr3.down_gain` | - | 0.9 | section 5.3.3.1 (google: 0.906) |
//! | `bbr3.up_gain` | - | 1.25 | section 5.3.3.4 |
//! | `bbr3.kept` | - | 0.7 | Beta, section 2.5 (google: 0.703) |
//! | `bbr3.loss_threshold` | - | 0.02 | LossThresh (google: 5/256) |
//! | `bbr3.startup_losses` | ranges | 6 | section 5.3.1.3 |
//! | `bbr3.headroom` | - | 0.15 | section 2.5 |
//! | `bbr3.drain_rounds` | rounds | 3 | section 5.3.2; 0: no limit (google) |
//! | `bbr3.probe_rtt_interval` | time | 5 s | section 2.14.2 |
//! | `bbr3.probe_rtt` | time | 200 ms | section 2.14 |
//! | `bbr3.rtt_window` | time | 10 s | MinRTTFilterLen |
//! | `bbr3.ecn` | - | off | section 5 leaves it open; on: alpha of 1/16, a third of it off the short-term cap, half marked is too much, to 5 ms (google) |
//!
//! **Deviations**: 1. Segments leave one by one, so the offload budget is one segment and the floor of four segments binds. 2. Gains and caps of
//! each state are those of the draft's table where its routines set none; Drain keeps to both caps on what is in flight. 3. `max_bw`, not
//! `bw`, says when Drain and DOWN end (google). 4. In UP, what is in flight is that before the ACK, and reaches the cap when one more
//! segment would not fit. 5. An ACK without a rate ends no round (google). 6. The size of a flight at its loss is cut below at the flight without the
//! lost segment (google). 7. A loss that ends Startup sets `full_bw_now`, too. 8. `version = "google"`: plateau looked at on every ACK;
//! margin on the first rate; Startup's window grows below two initial ones; equal round trips refresh `min_rtt`; ACK bunches of two times
//! five rounds, 100 ms at most; CRUISE begins with the long-term cap as the short-term one; flights as they will be when the next segment
//! leaves; too much loss is looked for on every ACK; no state comes back with an undo. Its response to ECN is `bbr3.ecn`, off
//! in both: connections should not negotiate ECN then. 9. It counts marks by rounds, google by the flight of each ACK, and ends no Startup by them.
//! 10. What an undo brings back is saved when an episode of losses begins, as the draft's prose and google have it; its routine for each loss would save
//! again after the first has ended UP, and forget UP.
//!
//! **Checked by**: `law/bbr3_oracle.rs` (the draft's pseudo-code over plain variables on random paths; the number vectors of its rules),
//! `crates/sim/tests/bbr3.rs`, `crosswind reproduce bbr-draft` (the example cases of the draft's appendix).

use super::super::detect::Phase;
use super::{AckSample, Change, Controller, Delivery, Lost, SentFacts, Start, Window, bbr::Largest, within};
use crate::tcp::choices::{Switch, choice};
use crate::tcp::facts::Trigger;
use crosswind_base::{ConfigError, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod cycle;
mod marks;
mod model;
#[cfg(test)]
mod vectors;
mod window;

choice!(
    /// Whose rules, where the draft and the code that runs differ.
    Version {
        Draft,
        Google,
    }
);

/// Parameters of BBR version 3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bbr3Params {
    /// Whose rules, where they differ.
    pub version: Version,
    /// Rates of the states, in shares of the path's.
    pub startup_gain: f64,
    pub drain_gain: f64,
    pub down_gain: f64,
    pub up_gain: f64,
    /// What is kept of a cap at most when there is too much loss.
    pub kept: f64,
    /// Share of a flight that may be lost.
    pub loss_threshold: f64,
    /// Lost ranges in one round that end Startup.
    pub startup_losses: u32,
    /// Share of the long-term cap that is left to others.
    pub headroom: f64,
    /// Rounds after which Drain ends in any case; 0 = none.
    pub drain_rounds: u32,
    /// How long the least round trip of ProbeRTT is believed.
    pub probe_rtt_interval: Dur,
    /// How long ProbeRTT lasts at least; zero: there is none.
    pub probe_rtt: Dur,
    /// How long the least round trip of the path is believed.
    pub rtt_window: Dur,
    /// Whether congestion marks reduce what is in flight.
    pub ecn: Switch,
}

impl Default for Bbr3Params {
    fn default() -> Self {
        Bbr3Params {
            version: Version::Draft,
            startup_gain: 2.77,
            drain_gain: 0.5,
            down_gain: 0.9,
            up_gain: 1.25,
            kept: 0.7,
            loss_threshold: 0.02,
            startup_losses: 6,
            headroom: 0.15,
            drain_rounds: 3,
            probe_rtt_interval: Dur::from_secs(5),
            probe_rtt: Dur::from_millis(200),
            rtt_window: Dur::from_secs(10),
            ecn: Switch::Off,
        }
    }
}

impl Bbr3Params {
    /// Those of the code that Google runs.
    pub fn google() -> Bbr3Params {
        Bbr3Params {
            version: Version::Google,
            startup_gain: 710.0 / 256.0,
            drain_gain: 1000.0 / 2885.0,
            down_gain: 232.0 / 256.0,
            kept: 180.0 / 256.0,
            loss_threshold: 5.0 / 256.0,
            drain_rounds: 0,
            ..Bbr3Params::default()
        }
    }

    pub fn check(&self) -> Result<(), ConfigError> {
        within("startup_gain", self.startup_gain, 1.0..=10.0)?;
        within("drain_gain", self.drain_gain, 0.01..=1.0)?;
        within("down_gain", self.down_gain, 0.01..=1.0)?;
        within("up_gain", self.up_gain, 1.0..=3.0)?;
        within("kept", self.kept, 0.01..=1.0)?;
        within("loss_threshold", self.loss_threshold, 0.0..=0.99)?;
        within("headroom", self.headroom, 0.0..=0.99)?;
        within("rtt_window (in seconds)", self.rtt_window.as_secs_f64(), 1e-3..=1e6)?;
        within("probe_rtt_interval (in seconds)", self.probe_rtt_interval.as_secs_f64(), 1e-3..=1e6)
    }
    fn is_google(&self) -> bool {
        self.version == Version::Google
    }
}

/// Segments of the least window.
const LEAST_WINDOW: f64 = 4.0;
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Rounds over which the largest bunch of ACKs is remembered.
const BUNCH_ROUNDS: u64 = 10;

/// States of the draft.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// What the ACKs that come in tell of (`ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The plateau of the rate (`full_bw*`).
#[derive(Clone, Copy, Debug, Default)]
struct Full {
    bw: f64,
    count: u32,
    now: bool,
    reached: bool,
}

/// Where the connection stood at the last ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Was {
    Open,
    Recovering,
    TimedOut,
}

/// What is remembered at the first loss, in case there was none.
#[derive(Clone, Copy, Debug)]
struct Saved {
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

/// Packets of this round, and the share of marked ones in rounds before.
#[derive(Clone, Copy, Debug)]
struct Marks {
    alpha: f64,
    delivered: u64,
    marked: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Marks { alpha: 1.0, delivered: 0, marked: 0 }
    }
}

/// Rates in bytes per second, flights in bytes. Names are those of the draft.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    w: Window,
    params: Bbr3Params,
    dice: Option<Rng>,
    initial_cwnd: f64,
    state: State,
    pacing_rate: f64,
    knows_rtt: bool,

    max_bw: f64,
    /// Largest rates of the cycle before and of this one.
    max_bw_filter: [f64; 2],
    bw: f64,
    bw_shortterm: f64,
    inflight_longterm: f64,
    inflight_shortterm: f64,
    min_rtt: Option<Dur>,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Option<Dur>,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,

    next_round_delivered: u64,
    round_start: bool,
    round_count: u64,
    full: Full,
    drain_start_round: u64,

    rounds_since_probe_up: u64,
    bw_probe_wait: Dur,
    cycle_stamp: Time,
    ack_phase: Feedback,
    probe_up_acked_per_inc: f64,
    bw_probe_up_acked: f64,
    bw_probe_up_rounds: u32,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,

    bw_latest: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Lost ranges of this round and of the one before, and where the last of them ends.
    lost_ranges: u32,
    lost_ranges_before: u32,
    lost_end: u64,
    undo: Saved,
    /// This ACK has saved already what an undo may bring back.
    has_saved: bool,
    prior_cwnd: f64,
    was: Was,

    extra_acked: f64,
    extra_acked_filter: Largest,
    extra_acked_interval_start: Time,
    extra_acked_delivered: f64,
    /// Two times five rounds (google).
    bunches: [f64; 2],
    bunch_rounds: u32,
    marks: Marks,

    idle_restart: bool,
    /// What had been delivered when it heard last.
    heard_delivered: u64,
    /// The window was full in this round, and in the one before.
    is_full_now: bool,
    was_full: bool,
}

/// One ACK as the rules want it: `RS` of the draft.
#[derive(Clone, Copy)]
struct Sample {
    now: Time,
    rate: f64,
    delivered: f64,
    prior_delivered: u64,
    newly_acked: f64,
    lost: f64,
    tx_in_flight: f64,
    is_app_limited: bool,
    rtt: Option<Dur>,
    may_have_waited: bool,
    /// What is in flight before and after.
    before: f64,
    after: f64,
    all_delivered: u64,
}

impl Bbr3 {
    pub fn new(p: &Bbr3Params, start: Start) -> Bbr3 {
        let w = start.window;
        let mut bbr = Bbr3 {
            params: p.clone(),
            dice: None,
            initial_cwnd: w.cwnd,
            state: State::Startup,
            pacing_rate: 0.0,
            knows_rtt: false,
            max_bw: 0.0,
            max_bw_filter: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            next_round_delivered: 0,
            round_start: false,
            round_count: 0,
            full: Full::default(),
            drain_start_round: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Dur::ZERO,
            cycle_stamp: Time::ZERO,
            ack_phase: Feedback::Init,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_acked: 0.0,
            bw_probe_up_rounds: 0,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            lost_ranges: 0,
            lost_ranges_before: 0,
            lost_end: 0,
            undo: Saved { state: None, bw_shortterm: 0.0, inflight_shortterm: 0.0, inflight_longterm: 0.0 },
            has_saved: false,
            prior_cwnd: 0.0,
            was: Was::Open,
            extra_acked: 0.0,
            extra_acked_filter: Largest::default(),
            extra_acked_interval_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            bunches: [0.0; 2],
            bunch_rounds: 0,
            marks: Marks::default(),
            idle_restart: false,
            heard_delivered: 0,
            is_full_now: false,
            was_full: false,
            w,
        };
        bbr.init_pacing_rate(Dur::from_millis(1));
        bbr
    }

    pub fn state(&self) -> State {
        self.state
    }
    pub fn max_bw(&self) -> f64 {
        self.max_bw
    }
    fn mss(&self) -> f64 {
        self.w.mss
    }

    /// The first round trip that is heard of: the handshake's, or that of the first segment.
    fn learn_first_rtt(&mut self, rtt: Dur, now: Time) {
        if self.knows_rtt {
            return;
        }
        self.knows_rtt = true;
        self.init_pacing_rate(rtt);
        (self.min_rtt, self.min_rtt_stamp, self.probe_rtt_min_stamp) = (Some(rtt), now, now);
        self.extra_acked_interval_start = now;
    }

    /// Recoveries begin and end.
    fn follow(&mut self, phase: Phase) {
        let is = match phase {
            Phase::Open | Phase::Echo { .. } => Was::Open,
            Phase::Recovery { .. } => Was::Recovering,
            Phase::Timeout { .. } => Was::TimedOut,
        };
        if is == Was::Recovering && self.was == Was::Open && !self.has_saved {
            self.save_state_upon_loss();
        }
        if is == Was::Open && self.was != Was::Open {
            self.restore_cwnd();
        }
        (self.was, self.has_saved) = (is, false);
    }

    /// What the rules make of the ACK, from what the connection tells.
    fn read(&self, s: &AckSample<'_>, d: &Delivery) -> Sample {
        let (mut before, mut after) = (s.ack.in_flight_before as f64, s.in_flight as f64);
        if self.params.is_google() {
            let more = if self.pacing_gain() > 1.0 { self.mss() } else { 0.0 };
            let until = if d.departs_at > s.ack.now { d.departs_at.since(s.ack.now).as_secs_f64() } else { 0.0 };
            let then = |bytes: f64| (bytes + more - self.bw * until).max(0.0);
            (before, after) = (then(before), then(after));
        }
        Sample {
            now: s.ack.now,
            rate: d.rate.unwrap_or(0.0),
            delivered: if d.rate.is_some() { (d.delivered - d.prior_delivered) as f64 } else { 0.0 },
            prior_delivered: d.prior_delivered,
            newly_acked: d.newly as f64,
            lost: d.lost_since as f64,
            tx_in_flight: d.flight as f64,
            is_app_limited: d.is_app_limited,
            rtt: d.trip,
            may_have_waited: d.may_have_waited,
            before,
            after,
            all_delivered: d.delivered,
        }
    }

    fn note_use(&mut self, in_flight_before: u64) {
        if self.round_start {
            (self.was_full, self.is_full_now) = (self.is_full_now, false);
        }
        self.is_full_now |= in_flight_before as f64 + self.mss() > self.w.cwnd;
    }
    fn is_cwnd_limited(&self) -> bool {
        self.is_full_now || self.was_full
    }
}

impl Controller for Bbr3 {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        let Some(d) = s.delivery else { return };
        self.heard_delivered = d.delivered;
        self.follow(s.phase);
        if d.newly == 0 {
            return;
        }
        if let Some(rtt) = d.trip {
            self.learn_first_rtt(rtt, s.ack.now);
        }
        let rs = self.read(s, d);
        self.update_latest_delivery_signals(&rs, d);
        self.update_congestion_signals(&rs, d);
        self.hear_marks(s, &rs);
        self.note_use(s.ack.in_flight_before);
        self.update_ack_aggregation(&rs);
        self.check_full_bw_reached(&rs);
        self.check_startup_done(&rs);
        self.check_drain_done(&rs);
        self.update_probe_bw_cycle_phase(&rs);
        self.update_min_rtt(&rs);
        self.check_probe_rtt(&rs);
        self.advance_latest_delivery_signals(&rs);
        self.bw = self.max_bw().min(self.bw_shortterm);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(&rs);
    }

    fn on_lost(&mut self, l: &Lost) {
        self.handle_lost_packet(l);
    }

    fn reduce(&mut self, why: Trigger, _base: f64) {
        if why == Trigger::Timeout {
            // A timer that expires again belongs to the same episode.
            if !self.has_saved {
                self.save_state_upon_loss();
            }
            self.was = Was::TimedOut;
            self.w.cwnd = self.mss();
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

    fn hear_delivered(&mut self, bytes: u64) {
        self.heard_delivered = bytes;
    }

    fn undo(&mut self, _before: &Bbr3) {
        self.handle_spurious_loss();
    }

    fn on_sent(&mut self, s: &SentFacts) {
        if let Some(rtt) = s.srtt {
            self.learn_first_rtt(rtt, s.now);
        }
        if !(s.was_idle && s.is_app_limited) {
            return;
        }
        self.idle_restart = true;
        self.extra_acked_interval_start = s.now;
        match self.state {
            State::Down | State::Cruise | State::Refill | State::Up => self.set_pacing_rate(1.0),
            State::ProbeRtt => self.check_probe_rtt_done(s.now),
            State::Startup | State::Drain => {}
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }
    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("pacing_rate_bps", self.pacing_rate * 8.0);
        out("path_rate_bps", self.max_bw() * 8.0);
        if let Some(rtt) = self.min_rtt {
            out("least_rtt_ns", rtt.0 as f64);
        }
        out("bbr_state", f64::from(self.state as u8));
        out("bbr_rounds", self.round_count as f64);
        out("bbr_bunches_bytes", self.extra_acked);
        let mut finite = |name, value: f64| {
            if value.is_finite() {
                out(name, value)
            }
        };
        finite("rate_cap_bps", self.bw_shortterm * 8.0);
        finite("flight_cap_bytes", self.inflight_longterm);
        finite("flight_cap_now_bytes", self.inflight_shortterm);
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
