//! # PIE
//!
//! **Source**: rfc8033 sections 4.1 to 4.4, 5.1 to 5.5; linux-sch-pie (profile `linux`).
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
//! | `active_from` | bytes or packets | none | rfc8033 section 5.3, which proposes a third of the limit: below it the law rests until the queue is so long; none: it never rests |
//! | `inactive_when` | - | short | rfc8033 section 5.3: probability 0 and both delays below half the target; `empty`: both 0 (its appendix B) |
//! | `derandomise` | - | true | rfc8033 section 5.4; `linux` always does |
//! | `byte_mode` | - | false | linux-sch-pie: the probability grows with the size of the packet |
//! | `mean_packet` | bytes | 1500 B (`rfc8033`), 1514 B (`linux`) | two of these are spared, and `byte_mode` goes by it: ours, the packet of an Ethernet |
//! | `ecn` | - | mark (`rfc8033`), drop (`linux`) | rfc8033 section 5.1; `tc` marks when it is told to |
//! | `ecn_below` | - | 0.1 | rfc8033 section 5.1: from this probability on ECN-capable packets are dropped, too; `linux`: above it, not settable |
//!
//! **Deviations**: 1. Updates are made when a packet comes or leaves, one for each `t_update` that has passed: with what they would
//! have seen at their time. 2. `t_update` is not rounded to the ticks of a kernel's timer (16 ms at 250 Hz). 3. rfc8033 contradicts itself on
//! when a resting law forgets: here it does when it turns active, as in appendix B, and it updates nothing while it rests but the rate at which
//! packets leave: forgotten, too, the law would turn inactive with the packet that woke it. 4. With timestamps the delay is that of the packet that left last, 0 when it left the
//! queue empty, in both profiles.
//!
//! **Checked by**: oracle `pie` on random traces, both profiles and estimators; probabilities and gaps of `crates/testkit/tests/pie.rs`;
//! conformance suite.

mod linux;
mod rfc;

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use crate::params::{self, Params};
use crate::switch::Switch;
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Rng, Setting, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use linux::{Linux, ticks};
pub use linux::{MAX_P, gains};
use rfc::Rfc;

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

/// When a law that may rest does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quiet {
    /// Nothing is picked, and the delay was below half the target twice.
    #[default]
    Short,
    /// Nothing is picked, and there was no delay twice.
    Empty,
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
    /// How much waits when the law turns active, or "none" for one that always is.
    pub active_from: Switch<Limit>,
    /// When it turns inactive.
    pub inactive_when: Quiet,
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
            active_from: Switch::Off,
            inactive_when: Quiet::Short,
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
        self.active_from.as_ref().map_or(Ok(()), |l| params::check_limit("active_from", *l))?;
        if self.profile == Profile::Linux {
            let told = [
                ("derandomise", !self.derandomise, "false".to_string()),
                ("ecn_below", self.ecn_below != 0.1, self.ecn_below.to_string()),
                ("active_from", !self.active_from.is_off(), "a length".into()),
                ("inactive_when", self.inactive_when != Quiet::Short, "`empty`".into()),
            ];
            if let Some((key, _, found)) = told.into_iter().find(|(_, differs, _)| *differs) {
                return Err(ConfigError::new(key, found, "the default with the profile `linux`, which cannot be told"));
            }
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
    /// Up to this probability of the kernel packets are marked.
    mark_up_to: u64,
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
        Pie { next: Time::ZERO + first, mark_up_to: MAX_P / 10, params, state }
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

    /// The kernel's law marks up to so many percent.
    pub fn mark_up_to(&mut self, percent: u64) {
        self.mark_up_to = MAX_P / 100 * percent;
    }

    /// The updates that are due, with a backlog that has not changed since.
    #[inline]
    pub fn catch_up(&mut self, now: Time, bytes: u64) {
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
                s.may_turn_active(&self.params, &a.backlog);
                let is_picked = does_fit && s.picks(&self.params, a, q.draws);
                let may_mark = s.p < self.params.ecn_below;
                s.arm(&self.params, a.backlog.bytes);
                (is_picked, may_mark)
            }
            State::Linux(s) => (does_fit && s.picks(&self.params, a, q.draws), s.p <= self.mark_up_to),
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
    /// Packets leave in their order, and what the law learns from them is known when the next one comes.
    fn decides_on_arrival(&self) -> bool {
        true
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

/// A queue with PIE.
pub fn queue(p: PieParams, rng: Rng) -> AqmQueue<Pie> {
    let setup = p.setup();
    AqmQueue::around(Pie::new(p), setup, rng)
}
