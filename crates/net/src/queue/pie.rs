//! # PIE
//!
//! **Source**: rfc8033 sections 4.1 to 4.4, 5.1, 5.2, 5.4 and 5.5; linux-sch-pie (profile `linux`).
//!
//! **Idea**: every `t_update` the probability moves by `alpha (q - target) + beta (q - q_last)`, in smaller steps the smaller it is.
//! An arriving packet is picked with it. Short bursts and short queues are spared, and picks are kept apart: none before the
//! probabilities of the packets add up to 0.85, one for certain at 8.5.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | rfc8033 | real numbers; `linux` computes as the kernel, in ticks of 64 ns and parts of 2^56 - 1 |
//! | `limit` | bytes or packets | 1000 packets | linux-sch-pie; the law has none |
//! | `target` | time | 15 ms | rfc8033 section 4.2 |
//! | `t_update` | time | 15 ms | rfc8033 section 4.2 |
//! | `alpha` | Hz | 0.125 | rfc8033 section 4.2; `linux`: in sixteenths |
//! | `beta` | Hz | 1.25 | rfc8033 section 4.2; `linux`: in sixteenths |
//! | `max_burst` | time | 150 ms | rfc8033 section 4.4 |
//! | `estimator` | - | timestamp | linux-sch-pie; `rate`: backlog over the rate at which packets leave (rfc8033 section 5.2) |
//! | `derandomise` | - | true | rfc8033 section 5.4; `linux` always does |
//! | `byte_mode` | - | false | linux-sch-pie: the probability grows with the size of the packet |
//! | `mean_packet` | bytes | 1500 B (`rfc8033`), 1514 B (`linux`) | two of these are spared, and `byte_mode` goes by it: ours, the packet of an Ethernet |
//! | `ecn` | - | mark (`rfc8033`), drop (`linux`) | rfc8033 section 5.1; `tc` marks when it is told to |
//! | `ecn_below` | - | 0.1 | rfc8033 section 5.1: from this probability on ECN-capable packets are dropped, too; `linux`: above it, not settable |
//!
//! **Deviations**: 1. Updates are made when a packet comes or leaves, one for each `t_update` that has passed: with what they would
//! have seen at their time. 2. `t_update` is not rounded to the ticks of a kernel's timer (16 ms at 250 Hz). 3. The law is always
//! active (rfc8033 section 5.3 is absent). 4. With timestamps the delay is that of the packet that left last, 0 when it left the
//! queue empty, in both profiles.
//!
//! **Checked by**: oracle `pie` on random traces, both profiles and estimators; probabilities and gaps of `crates/testkit/tests/pie.rs`;
//! conformance suite.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Rng, Setting, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How it computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As the RFC is written, in real numbers.
    #[default]
    Rfc8033,
    /// As the kernel, in whole numbers.
    Linux,
}

/// How the delay is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// What the packet that left last had waited.
    #[default]
    Timestamp,
    /// The backlog over the rate at which packets leave.
    Rate,
}

/// Parameters of PIE.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PieParams {
    /// How it computes.
    pub profile: Profile,
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// The delay at which the probability rests.
    pub target: Dur,
    /// Between two updates of the probability.
    pub t_update: Dur,
    /// Gain of the deviation from the target, in Hz.
    pub alpha: f64,
    /// Gain of the change since the last update, in Hz.
    pub beta: f64,
    /// For how long a queue that was short may be long.
    pub max_burst: Dur,
    /// How the delay is found.
    pub estimator: Estimator,
    /// Whether picks are kept apart.
    pub derandomise: bool,
    /// Whether the probability grows with the size of the packet.
    pub byte_mode: bool,
    /// The usual packet.
    pub mean_packet: Size,
    /// Whether picked ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// From this probability on they are dropped in any case.
    pub ecn_below: f64,
}

impl Default for PieParams {
    fn default() -> Self {
        PieParams {
            profile: Profile::Rfc8033,
            limit: Limit::Packets(1000),
            target: Dur::from_millis(15),
            t_update: Dur::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Dur::from_millis(150),
            estimator: Estimator::Timestamp,
            derandomise: true,
            byte_mode: false,
            mean_packet: Size(1500),
            ecn: EcnMode::Mark,
            ecn_below: 0.1,
        }
    }
}

impl Params for PieParams {
    fn fill(written: &mut Map<String, Value>) {
        if written.get("profile").is_some_and(|p| p == "linux") {
            written.entry("mean_packet").or_insert_with(|| "1514 B".into());
            written.entry("ecn").or_insert_with(|| "drop".into());
        }
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_span("target", self.target, [Dur::from_micros(2), Dur::from_secs(100)], "from 2 us to 100 s")?;
        check_span("t_update", self.t_update, [Dur::from_micros(100), Dur::from_secs(100)], "from 100 us to 100 s")?;
        check_span("max_burst", self.max_burst, [Dur::ZERO, Dur::from_secs(100)], "at most 100 s")?;
        params::check_packet_size("mean_packet", self.mean_packet)?;
        params::check_range("ecn_below", self.ecn_below, 0.0..=1.0)?;
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            params::check_range(key, gain, 0.0..=100.0)?;
            if self.profile == Profile::Linux && (gain * 16.0).fract() != 0.0 {
                return Err(ConfigError::new(key, gain.to_string(), "sixteenths with the profile `linux`"));
            }
        }
        if self.profile == Profile::Linux && (!self.derandomise || self.ecn_below != 0.1) {
            let key = if self.derandomise { "ecn_below" } else { "derandomise" };
            let found = if self.derandomise { self.ecn_below.to_string() } else { "false".into() };
            return Err(ConfigError::new(key, found, "the default with the profile `linux`, which cannot be told"));
        }
        Ok(())
    }
}

fn check_span(key: &str, d: Dur, [least, most]: [Dur; 2], expected: &str) -> Result<(), ConfigError> {
    if (least..=most).contains(&d) { Ok(()) } else { Err(ConfigError::new(key, units::show_dur(d), expected)) }
}

impl PieParams {
    fn setup(&self) -> Setup {
        Setup::fits(self.limit, self.ecn)
    }
}

/// What the law remembers.
#[derive(Clone, PartialEq, Debug)]
enum State {
    Rfc(Rfc),
    Linux(Linux),
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pie {
    params: PieParams,
    next: Time,
    state: State,
}

/// The timer of the kernel starts half a second after the queue.
const FIRST_UPDATE_LINUX: Dur = Dur::from_millis(500);

impl Pie {
    pub fn new(params: PieParams) -> Pie {
        let (first, state) = match params.profile {
            Profile::Rfc8033 => (params.t_update, State::Rfc(Rfc::new(&params))),
            Profile::Linux => (FIRST_UPDATE_LINUX, State::Linux(Linux::new(&params))),
        };
        Pie { next: Time::ZERO + first, params, state }
    }

    /// One update with the delay that was found, and a queue that is empty or not.
    pub fn update(&mut self, delay: Dur, is_empty: bool) {
        match &mut self.state {
            State::Rfc(s) => s.update(&self.params, delay.as_secs_f64()),
            State::Linux(s) => s.update(&self.params, ticks(delay.0), is_empty),
        }
    }
    /// The probability now.
    pub fn probability(&self) -> f64 {
        match &self.state {
            State::Rfc(s) => s.p,
            State::Linux(s) => s.p as f64 / MAX_P as f64,
        }
    }
    /// The probability of the kernel, in parts of 2^56 - 1.
    pub fn parts(&self) -> Option<u64> {
        match &self.state {
            State::Rfc(_) => None,
            State::Linux(s) => Some(s.p),
        }
    }

    /// The updates that are due, with a backlog that has not changed since.
    #[inline]
    fn catch_up(&mut self, now: Time, bytes: u64) {
        while self.next <= now {
            let before = self.state.clone();
            match &mut self.state {
                State::Rfc(s) => s.update(&self.params, s.delay(&self.params, bytes)),
                State::Linux(s) => s.update(&self.params, s.delay(&self.params, bytes), bytes == 0),
            }
            self.next += self.params.t_update;
            if self.state == before && self.next <= now {
                // All further ones change nothing either.
                let more = (now - self.next).0 / self.params.t_update.0 + 1;
                self.next += self.params.t_update.saturating_mul(more);
            }
        }
    }
}

impl Aqm for Pie {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.catch_up(a.now, a.backlog.bytes);
        let does_fit = q.fits(a);
        let (is_picked, may_mark) = match &mut self.state {
            State::Rfc(s) => {
                let is_picked = does_fit && s.picks(&self.params, a, q.draws);
                let may_mark = s.p < self.params.ecn_below;
                s.arm(&self.params, a.backlog.bytes);
                (is_picked, may_mark)
            }
            State::Linux(s) => (does_fit && s.picks(&self.params, a, q.draws), s.p <= MAX_P / 10),
        };
        match (is_picked, may_mark) {
            (false, _) => Verdict::Pass,
            (true, true) => Verdict::Signal(DropReason::EarlyDrop),
            (true, false) => Verdict::Drop(DropReason::EarlyDrop),
        }
    }
    fn on_refused(&mut self, _a: &Arrival, _why: DropReason) {
        match &mut self.state {
            State::Rfc(s) => s.accu = 0.0,
            State::Linux(s) => s.accu = 0,
        }
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        self.catch_up(q.now(), q.backlog().bytes);
        let head = q.pop()?;
        let (now, left) = (q.now(), q.backlog().bytes);
        match &mut self.state {
            State::Rfc(s) => s.departed(&self.params, &head, now, left),
            State::Linux(s) => s.departed(&self.params, &head, now, left),
        }
        Some(head)
    }
    /// The probability and its time stay. What does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.catch_up(q.now(), q.backlog().bytes);
        let new: PieParams = new.get();
        self.continue_as(new)?;
        Ok(self.params.setup())
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("aqm_p_ratio", self.probability().min(1.0));
    }
}

impl Pie {
    /// Other parameters with the same past; profile and estimator stay.
    pub fn continue_as(&mut self, new: PieParams) -> Result<(), ConfigError> {
        if new.profile != self.params.profile {
            return Err(ConfigError::new("profile", "another profile", "the profile as it is"));
        }
        if new.estimator != self.params.estimator {
            return Err(ConfigError::new("estimator", "another estimator", "the estimator as it is"));
        }
        self.params = new;
        Ok(())
    }
}

/// Bytes that must wait before the rate is measured, and that one measurement takes.
const CYCLE_BYTES: u64 = 1 << 14;

/// What the RFC remembers; times in seconds.
#[derive(Clone, PartialEq, Debug)]
struct Rfc {
    p: f64,
    accu: f64,
    /// The wait of the packet that left last.
    waited: f64,
    last_delay: f64,
    burst: Dur,
    /// When the measurement began, and what has left since.
    cycle: Option<(Time, u64)>,
    /// How long a cycle takes on average; 0: not known yet.
    cycle_time: f64,
}

/// Below each probability steps are so much smaller.
const LADDER: [(f64, f64); 6] = [
    (0.000_001, 1.0 / 2048.0),
    (0.000_01, 1.0 / 512.0),
    (0.000_1, 1.0 / 128.0),
    (0.001, 1.0 / 32.0),
    (0.01, 1.0 / 8.0),
    (0.1, 0.5),
];

impl Rfc {
    fn new(p: &PieParams) -> Rfc {
        Rfc { p: 0.0, accu: 0.0, waited: 0.0, last_delay: 0.0, burst: p.max_burst, cycle: None, cycle_time: 0.0 }
    }

    fn delay(&self, p: &PieParams, bytes: u64) -> f64 {
        match p.estimator {
            Estimator::Timestamp => self.waited,
            Estimator::Rate => bytes as f64 * self.cycle_time / CYCLE_BYTES as f64,
        }
    }

    fn update(&mut self, p: &PieParams, delay: f64) {
        let step = p.alpha * (delay - p.target.as_secs_f64()) + p.beta * (delay - self.last_delay);
        let scale = LADDER.iter().find(|(below, _)| self.p < *below).map_or(1.0, |(_, scale)| *scale);
        let step = step * scale;
        self.p += if self.p >= 0.1 { step.min(0.02) } else { step };
        if delay == 0.0 && self.last_delay == 0.0 {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(p.t_update);
        self.last_delay = delay;
    }

    fn picks(&mut self, p: &PieParams, a: &Arrival, rng: &mut Rng) -> bool {
        let is_short = self.last_delay < p.target.as_secs_f64() / 2.0 && self.p < 0.2;
        if self.burst > Dur::ZERO || is_short || a.backlog.bytes <= 2 * p.mean_packet.0 {
            return false;
        }
        let chance = if p.byte_mode { self.p * f64::from(a.len) / p.mean_packet.0 as f64 } else { self.p };
        if !p.derandomise {
            return rng.chance(chance);
        }
        self.accu = if chance == 0.0 { 0.0 } else { self.accu + chance };
        if self.accu < 0.85 || self.accu >= 8.5 {
            return self.accu >= 8.5;
        }
        let is_picked = rng.chance(chance);
        if is_picked {
            self.accu = 0.0;
        }
        is_picked
    }

    /// A queue that has been short for long may have a burst again.
    fn arm(&mut self, p: &PieParams, bytes: u64) {
        let half = p.target.as_secs_f64() / 2.0;
        if self.p == 0.0 && self.delay(p, bytes) < half && self.last_delay < half {
            self.burst = p.max_burst;
        }
    }

    fn departed(&mut self, p: &PieParams, head: &Head, now: Time, left: u64) {
        if p.estimator == Estimator::Timestamp {
            self.waited = if left == 0 { 0.0 } else { now.since(head.since).as_secs_f64() };
            return;
        }
        if left >= CYCLE_BYTES && self.cycle.is_none() {
            self.cycle = Some((now, 0));
        }
        let Some((began, bytes)) = &mut self.cycle else { return };
        *bytes += u64::from(head.len);
        if *bytes >= CYCLE_BYTES {
            let took = now.since(*began).as_secs_f64();
            self.cycle_time = if self.cycle_time == 0.0 { took } else { 0.25 * took + 0.75 * self.cycle_time };
            self.cycle = if left < CYCLE_BYTES { None } else { Some((now, 0)) };
        }
    }
}

/// Certainty, for the kernel.
pub const MAX_P: u64 = (1 << 56) - 1;
const TICKS_PER_SECOND: u64 = 15_625_000;

/// A tick of the kernel is 2^6 ns.
fn ticks(ns: u64) -> u64 {
    ns >> 6
}

/// What the kernel remembers; times in ticks.
#[derive(Clone, PartialEq, Debug)]
struct Linux {
    p: u64,
    accu: u64,
    delay: u64,
    last_delay: u64,
    burst: u64,
    departure: Option<u64>,
    cycle_bytes: Option<u64>,
    /// 256 bytes a tick; 0: not known yet.
    rate: u64,
}

/// The gains of the kernel, in parts a tick: these sixteenths of a Hz, smaller for smaller probabilities.
pub fn gains(sixteenths: [u64; 2], p: u64) -> [u64; 2] {
    let mut shift = if p < MAX_P / 10 { 1 } else { 0 };
    let mut power = 100;
    while shift > 0 && power <= 1_000_000 && p < MAX_P / power {
        shift += 2;
        power *= 10;
    }
    sixteenths.map(|g| (g * (MAX_P / TICKS_PER_SECOND)) >> 4 >> shift)
}

impl Linux {
    fn new(p: &PieParams) -> Linux {
        let burst = ticks(p.max_burst.0);
        Linux { p: 0, accu: 0, delay: 0, last_delay: 0, burst, departure: None, cycle_bytes: None, rate: 0 }
    }

    fn delay(&self, p: &PieParams, bytes: u64) -> u64 {
        match p.estimator {
            Estimator::Timestamp => self.delay,
            Estimator::Rate if self.rate == 0 => 0,
            Estimator::Rate => (bytes << 8) / self.rate,
        }
    }

    fn update(&mut self, p: &PieParams, delay: u64, is_empty: bool) {
        let target = ticks(p.target.0);
        let last = self.last_delay;
        let [alpha, beta] = gains([p.alpha, p.beta].map(|g| (g * 16.0) as u64), self.p).map(|g| g as i64);
        let off = |from: u64| delay as i64 - from as i64;
        let mut step = alpha.wrapping_mul(off(target)).wrapping_add(beta.wrapping_mul(off(last)));
        if step > (MAX_P / 50) as i64 && self.p >= MAX_P / 10 {
            step = (MAX_P / 100 * 2) as i64;
        }
        if delay > ticks(250_000_000) {
            step = step.wrapping_add((MAX_P / 50) as i64);
        }
        // Only what 64 bits do not hold is cut.
        let may_decay = delay != 0 || is_empty;
        let (sum, may_decay) = match self.p.checked_add_signed(step) {
            Some(sum) => (sum, may_decay),
            None if step > 0 => (MAX_P, false),
            None => (0, may_decay),
        };
        self.p = sum;
        if delay == 0 && last == 0 && may_decay {
            self.p -= self.p / 64;
        }
        self.delay = delay;
        let is_measured = p.estimator == Estimator::Timestamp || self.rate > 0;
        if delay < target / 2 && last < target / 2 && self.p == 0 && is_measured {
            (self.burst, self.departure, self.accu) = (ticks(p.max_burst.0), None, 0);
            (self.cycle_bytes, self.rate) = (None, 0);
        }
        self.last_delay = delay;
    }

    fn picks(&mut self, p: &PieParams, a: &Arrival, rng: &mut Rng) -> bool {
        let is_short = self.delay < ticks(p.target.0) / 2 && self.p < MAX_P / 5;
        if self.burst > 0 || is_short || a.backlog.bytes < 2 * p.mean_packet.0 {
            return false;
        }
        let is_scaled = p.byte_mode && u64::from(a.len) <= p.mean_packet.0;
        let chance = if is_scaled { u64::from(a.len) * (self.p / p.mean_packet.0) } else { self.p };
        self.accu = if chance == 0 { 0 } else { self.accu.wrapping_add(chance) };
        if self.accu < MAX_P / 100 * 85 {
            return false;
        }
        if self.accu >= MAX_P / 2 * 17 {
            return true;
        }
        let is_picked = rng.bits() >> 8 < chance;
        if is_picked {
            self.accu = 0;
        }
        is_picked
    }

    fn departed(&mut self, p: &PieParams, head: &Head, now: Time, left: u64) {
        let now = ticks(now.0);
        let passed = match p.estimator {
            Estimator::Timestamp => {
                self.delay = if left == 0 { 0 } else { now - ticks(head.since.0) };
                let before = self.departure.replace(now);
                before.map_or(0, |t| now - t)
            }
            Estimator::Rate => self.measured(u64::from(head.len), now, left),
        };
        self.burst = self.burst.saturating_sub(passed);
    }

    /// How long a measurement of the rate took that ends here, or 0.
    fn measured(&mut self, len: u64, now: u64, left: u64) -> u64 {
        if left >= CYCLE_BYTES && self.cycle_bytes.is_none() {
            (self.departure, self.cycle_bytes) = (Some(now), Some(0));
        }
        let Some(bytes) = &mut self.cycle_bytes else { return 0 };
        *bytes += len;
        let took = now - self.departure.unwrap_or(now);
        if *bytes < CYCLE_BYTES || took == 0 {
            return 0;
        }
        let rate = (*bytes << 8) / took;
        self.rate = if self.rate == 0 { rate } else { self.rate - (self.rate >> 3) + (rate >> 3) };
        if left < CYCLE_BYTES {
            self.cycle_bytes = None;
        } else {
            (self.departure, self.cycle_bytes) = (Some(now), Some(0));
        }
        took
    }
}

/// A queue with PIE.
pub fn queue(p: PieParams, rng: Rng) -> AqmQueue<Pie> {
    let setup = p.setup();
    AqmQueue::around(Pie::new(p), setup, rng)
}
