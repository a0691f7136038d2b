//! # PI2
//!
//! **Source**: de-schepper-2016; rfc9332 appendix A.1 and A.2 (gains, rules of overload).
//!
//! **Idea**: every `t_update` a probability `p'` moves by `alpha (q - target) + beta (q - q_last)`, with `q` the wait of the oldest packet.
//! A Classic sender's rate goes with one over the root of what it loses, so its packets are selected with `p'^2`; a Scalable sender's with
//! one over it, so its packets (ECT(1), CE) are marked with `coupling p'`. Hence both get about the same from one queue, and the gains
//! need no table as those of PIE do.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | ours |
//! | `target` | time | 15 ms | rfc9332 appendix A.1 |
//! | `rtt_max` | time | 100 ms | rfc9332 appendix A.1: the next three follow from it where they are not written |
//! | `t_update` | time | 15 ms | rfc9332 appendix A.1: the lesser of `target` and a third of `rtt_max` |
//! | `alpha` | Hz | 0.15 | rfc9332 appendix A.1: 0.1 `t_update` / `rtt_max`^2 |
//! | `beta` | Hz | 3 | rfc9332 appendix A.1: 0.3 / `rtt_max` |
//! | `scalable` | - | coupled | `as-classic`: packets with ECT(1) are Classic, too |
//! | `coupling` | - | 2 | rfc9332 section 2.1 |
//! | `decides` | - | arrival | as PIE; `departure` (rfc9332) signals earlier by the wait in the queue |
//! | `ecn` | - | mark | rfc9332 appendix A.1 |
//! | `ecn_below` | - | 0.25 | rfc9332 appendix A.2: from this `p'^2` on Classic packets are dropped in any case |
//!
//! **Deviations**: 1. Updates are made when a packet comes or leaves, one for each `t_update` that has passed: with what they would
//! have seen at their time. 2. Where `coupling p'` reaches 1, Scalable packets are dropped with `p'^2` and all others marked (rfc9332
//! appendix A.2); the paper, read in its abstract only, may differ in this.
//!
//! **Checked by**: oracle `pi2` on random traces; shares of a Classic and a Scalable sender's answers in `crates/testkit/tests/pi2.rs`;
//! conformance suite.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Dur, Ecn, Limit, Rng, Setting, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What packets of Scalable senders are taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scalable {
    /// They are marked in proportion.
    #[default]
    Coupled,
    /// They are like all others.
    AsClassic,
}

/// When a packet is selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decides {
    /// When it comes.
    #[default]
    Arrival,
    /// When it is about to leave.
    Departure,
}

/// Parameters of PI2.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pi2Params {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// The delay at which the probability rests.
    pub target: Dur,
    /// The longest round trip that is to be stable.
    pub rtt_max: Dur,
    /// Between two updates of the probability.
    pub t_update: Dur,
    /// Gain of the deviation from the target, in Hz.
    pub alpha: f64,
    /// Gain of the change since the last update, in Hz.
    pub beta: f64,
    /// What packets of Scalable senders are taken for.
    pub scalable: Scalable,
    /// How many times the probability of a Scalable packet is that before it is squared.
    pub coupling: f64,
    /// When a packet is selected.
    pub decides: Decides,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// From this squared probability on Classic packets are dropped in any case.
    pub ecn_below: f64,
}

/// As long as the target allows, and three times in the longest round trip.
fn update_period(target: Dur, rtt_max: Dur) -> Dur {
    target.min(Dur(rtt_max.0 / 3))
}

/// What the gains follow from, in ns.
const RTT_MAX: Dur = Dur::from_millis(100);
const TARGET: Dur = Dur::from_millis(15);

/// Fills in `t_update`, `alpha` and `beta` by the rules of rfc9332.
pub fn fill_gains(written: &mut Map<String, Value>) {
    let span = |key: &str, default: Dur| {
        let text = written.get(key).and_then(Value::as_str);
        text.and_then(units::parse_dur).filter(|d| d.0 > 0).unwrap_or(default)
    };
    let (target, rtt_max) = (span("target", TARGET), span("rtt_max", RTT_MAX));
    let period = span("t_update", update_period(target, rtt_max));
    // Not to more digits than anybody would write.
    let rounded = |hz: f64| (hz * 1e9).round() / 1e9;
    let rtt = rtt_max.as_secs_f64();
    let [alpha, beta] = [0.1 * period.as_secs_f64() / (rtt * rtt), 0.3 / rtt].map(rounded);
    written.entry("t_update").or_insert_with(|| units::show_dur(period).into());
    written.entry("alpha").or_insert_with(|| alpha.into());
    written.entry("beta").or_insert_with(|| beta.into());
}

/// The same with new values: gains that are not among them follow from the others, if those change.
pub fn refill_gains(set: &Map<String, Value>, now: &Map<String, Value>) -> Map<String, Value> {
    let mut set = set.clone();
    if set.contains_key("rtt_max") {
        if let (false, Some(target)) = (set.contains_key("target"), now.get("target")) {
            set.insert("target".into(), target.clone());
        }
        fill_gains(&mut set);
    }
    set
}

impl Default for Pi2Params {
    fn default() -> Self {
        Pi2Params {
            limit: Limit::Packets(1000),
            target: TARGET,
            rtt_max: RTT_MAX,
            t_update: update_period(TARGET, RTT_MAX),
            alpha: 0.15,
            beta: 3.0,
            scalable: Scalable::Coupled,
            coupling: 2.0,
            decides: Decides::Arrival,
            ecn: EcnMode::Mark,
            ecn_below: 0.25,
        }
    }
}

impl Params for Pi2Params {
    fn fill(written: &mut Map<String, Value>) {
        fill_gains(written);
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_controller(self.target, self.rtt_max, self.t_update, [self.alpha, self.beta])?;
        params::check_range("coupling", self.coupling, 0.1..=1000.0)?;
        params::check_range("ecn_below", self.ecn_below, 0.0..=1.0)
    }
}

/// Spans and gains that a controller can work with.
pub fn check_controller(target: Dur, rtt_max: Dur, t_update: Dur, gains: [f64; 2]) -> Result<(), ConfigError> {
    for (key, span, least, expected) in [
        ("target", target, Dur::from_micros(2), "from 2 us to 100 s"),
        ("rtt_max", rtt_max, Dur::from_micros(10), "from 10 us to 100 s"),
        ("t_update", t_update, Dur::from_micros(2), "from 2 us to 100 s"),
    ] {
        if !(least..=Dur::from_secs(100)).contains(&span) {
            return Err(ConfigError::new(key, units::show_dur(span), expected));
        }
    }
    params::check_range("alpha", gains[0], 0.0..=1e6)?;
    params::check_range("beta", gains[1], 0.0..=1e6)
}

impl Pi2Params {
    fn setup(&self) -> Setup {
        Setup::fits(self.limit, self.ecn)
    }
    fn base(&self) -> Base {
        Base::new(self.target, self.t_update, [self.alpha, self.beta])
    }
}

/// The controller in real numbers; delays in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Base {
    target: f64,
    gains: [f64; 2],
    period: Dur,
    p: f64,
    last: f64,
    next: Time,
}

impl Base {
    pub fn new(target: Dur, period: Dur, gains: [f64; 2]) -> Base {
        Base { target: target.as_secs_f64(), gains, period, p: 0.0, last: 0.0, next: Time::ZERO + period }
    }
    /// Other parameters with the same past.
    pub fn goes_on_as(&mut self, new: Base) {
        *self = Base { p: self.p, last: self.last, next: self.next, ..new };
    }
    /// The probability before it is squared.
    #[inline]
    pub fn p(&self) -> f64 {
        self.p
    }
    /// One update with the delay that was found.
    #[inline]
    pub fn update(&mut self, delay: f64) {
        let [alpha, beta] = self.gains;
        let step = alpha * (delay - self.target) + beta * (delay - self.last);
        self.p = (self.p + step).clamp(0.0, 1.0);
        self.last = delay;
    }
    /// The updates that are due; `oldest`: since when the packet that has waited longest waits.
    #[inline]
    pub fn catch_up(&mut self, now: Time, oldest: Option<Time>) {
        while self.next <= now {
            let before = *self;
            self.update(oldest.map_or(0.0, |since| self.next.since(since).as_secs_f64()));
            if *self == before {
                // All further ones change nothing either.
                self.next += self.period.saturating_mul((now - self.next).0 / self.period.0);
            }
            self.next += self.period;
        }
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pi2 {
    params: Pi2Params,
    base: Base,
}

impl Pi2 {
    pub fn new(params: Pi2Params) -> Pi2 {
        Pi2 { base: params.base(), params }
    }
    /// One update with the delay that was found.
    pub fn update(&mut self, delay: Dur) {
        self.base.update(delay.as_secs_f64());
    }
    /// The probability before it is squared.
    pub fn base_probability(&self) -> f64 {
        self.base.p
    }

    fn verdict(&self, ecn: Ecn, rng: &mut Rng) -> Verdict {
        let p = self.base.p;
        if p == 0.0 {
            return Verdict::Pass;
        }
        let picks_twice = |rng: &mut Rng| rng.chance(p) && rng.chance(p);
        let is_scalable = self.params.scalable == Scalable::Coupled && matches!(ecn, Ecn::Ect1 | Ecn::Ce);
        if !is_scalable {
            return match picks_twice(rng) {
                false => Verdict::Pass,
                true if p * p >= self.params.ecn_below => Verdict::Drop(DropReason::EarlyDrop),
                true => Verdict::Signal(DropReason::EarlyDrop),
            };
        }
        let coupled = self.params.coupling * p;
        if coupled >= 1.0 {
            return if picks_twice(rng) {
                Verdict::Drop(DropReason::EarlyDrop)
            } else {
                Verdict::Signal(DropReason::EarlyDrop)
            };
        }
        if rng.chance(coupled) { Verdict::Signal(DropReason::EarlyDrop) } else { Verdict::Pass }
    }

    fn catch_up(&mut self, q: &Lent<'_, '_, Rng>) {
        self.base.catch_up(q.now(), q.front().map(|head| head.since));
    }
}

impl Aqm for Pi2 {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.catch_up(q);
        if self.params.decides == Decides::Departure || !q.fits(a) {
            return Verdict::Pass;
        }
        let ecn = q.arriving().ecn();
        self.verdict(ecn, q.draws)
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        self.catch_up(q);
        if self.params.decides == Decides::Arrival {
            return q.pop();
        }
        loop {
            let head = q.pop()?;
            let ecn = q.packet(&head).ecn();
            let left = match self.verdict(ecn, q.draws) {
                Verdict::Pass => Some(head),
                Verdict::Signal(why) => q.signal(head, why),
                Verdict::Drop(why) => {
                    q.drop(head, why);
                    None
                }
            };
            if left.is_some() {
                return left;
            }
        }
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        let now = serde_json::to_value(&self.params).expect("parameters are plain data with text keys");
        let set = refill_gains(set, now.as_object().expect("they are a table"));
        params::setting(&self.params, &set)
    }
    /// The probability and its time stay. What does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.catch_up(q);
        self.params = new.get();
        self.base.goes_on_as(self.params.base());
        Ok(self.params.setup())
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("aqm_p_ratio", self.base.p * self.base.p);
        out("aqm_base_p_ratio", self.base.p);
    }
    fn gives_oldest(&self) -> bool {
        self.params.decides == Decides::Arrival
    }
    fn decides_on_arrival(&self) -> bool {
        self.params.decides == Decides::Arrival
    }
}

/// A queue with PI2.
pub fn queue(p: Pi2Params, rng: Rng) -> AqmQueue<Pi2> {
    let setup = p.setup();
    AqmQueue::around(Pi2::new(p), setup, rng)
}
