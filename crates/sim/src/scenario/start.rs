//! When a flow starts: rules, and the draw for one repetition.

use crosswind_base::{Dur, Streams, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// When the members of a flow group start.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "WrittenStart")]
pub enum StartRule {
    /// All at one time.
    Fixed(Dur),
    /// Each member and repetition anywhere in the range, independently.
    Uniform(Dur, Dur),
    /// The range is cut into as many strata as there are repetitions; each repetition draws from its own.
    Stratified(Dur, Dur),
    /// Member k (counted from zero) at k times the interval.
    Every(Dur),
    /// Members arrive as a Poisson process of this many starts a second.
    Poisson(Frequency),
}

/// Events per second.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub struct Frequency(pub f64);

const FREQUENCIES: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e3), ("min", 1.0 / 60.0)];

impl<'de> Deserialize<'de> for Frequency {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Frequency, D::Error> {
        use serde::de::Error;
        let wrong =
            || D::Error::custom("expected a positive number of starts per time, such as \"1000 /s\" or \"3 /min\"");
        let text = match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(s) => s,
            _ => return Err(wrong()),
        };
        let (number, per) = text.split_once('/').ok_or_else(wrong)?;
        let n: f64 = number.trim().parse().map_err(|_| wrong())?;
        let (_, scale) = FREQUENCIES.iter().find(|(unit, _)| *unit == per.trim()).ok_or_else(wrong)?;
        let hz = n * scale;
        if hz.is_finite() && hz > 1e-9 && hz < 1e9 { Ok(Frequency(hz)) } else { Err(wrong()) }
    }
}

impl Serialize for Frequency {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("{} /s", self.0))
    }
}

/// A start rule as written in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum WrittenStart {
    /// One time for all members.
    At(Dur),
    Rule(WrittenRule),
}

/// A rule that gives each member or repetition its own start.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WrittenRule {
    /// Uniform in [from, to], drawn anew in each repetition.
    Uniform([Dur; 2]),
    /// Uniform in one of as many equal strata as there are repetitions. The order of the strata depends on the base
    /// seed and the flow's name alone, so repetition i has the same start in every configuration.
    Stratified([Dur; 2]),
    /// Member k starts at k intervals (k from zero).
    Every(Dur),
    /// Members start as a Poisson process: this many a second on average, such as `1000 /s`.
    Poisson(Frequency),
}

impl From<WrittenRule> for StartRule {
    fn from(w: WrittenRule) -> StartRule {
        match w {
            WrittenRule::Uniform([a, b]) => StartRule::Uniform(a, b),
            WrittenRule::Stratified([a, b]) => StartRule::Stratified(a, b),
            WrittenRule::Every(d) => StartRule::Every(d),
            WrittenRule::Poisson(f) => StartRule::Poisson(f),
        }
    }
}

impl Serialize for StartRule {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match *self {
            StartRule::Fixed(at) => WrittenStart::At(at),
            StartRule::Uniform(a, b) => WrittenStart::Rule(WrittenRule::Uniform([a, b])),
            StartRule::Stratified(a, b) => WrittenStart::Rule(WrittenRule::Stratified([a, b])),
            StartRule::Every(d) => WrittenStart::Rule(WrittenRule::Every(d)),
            StartRule::Poisson(f) => WrittenStart::Rule(WrittenRule::Poisson(f)),
        }
        .serialize(s)
    }
}

/// Which run of a set of repetitions is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The base seed, the same for all repetitions and configurations that are compared.
    pub seed: u64,
    /// Index of the repetition, from zero.
    pub index: u32,
    /// Number of repetitions.
    pub of: u32,
}

/// The starts of one group in one repetition, as a Poisson process.
pub fn arrivals(rate: Frequency, rep: Repetition, group: &str) -> impl Iterator<Item = Time> {
    let mut rng = Streams::new(rep.seed).named(&format!("start/{group}/arrivals/rep{}", rep.index));
    let mut at = 0.0;
    std::iter::repeat_with(move || {
        at += rng.exponential(1.0 / rate.0);
        Time::from_secs_f64(at.min(LATEST_S))
    })
}

/// Beyond the end of any run.
const LATEST_S: f64 = 1e8;

impl StartRule {
    /// The start of the member with this index (from zero) and name in one repetition. For Poisson arrivals, the name is
    /// that of the group, and the way to all members is [`arrivals`].
    pub fn resolve(&self, rep: Repetition, member: u32, flow: &str) -> Time {
        let streams = Streams::new(rep.seed);
        let draw = || streams.named(&format!("start/{flow}/rep{}", rep.index)).uniform();
        let within = |from: Dur, to: Dur, x: f64| {
            let width = to.saturating_sub(from).0;
            Time(from.0 + ((width as f64 * x) as u64).min(width))
        };
        match *self {
            StartRule::Fixed(at) => Time(at.0),
            StartRule::Every(interval) => Time(interval.saturating_mul(u64::from(member)).0),
            StartRule::Poisson(rate) => arrivals(rate, rep, flow).nth(member as usize).expect("arrivals never end"),
            StartRule::Uniform(from, to) => within(from, to, draw()),
            StartRule::Stratified(from, to) => {
                let of = rep.of.max(1);
                let mut order: Vec<u32> = (0..of).collect();
                streams.named(&format!("start/{flow}/strata")).shuffle(&mut order);
                let stratum = f64::from(order[(rep.index % of) as usize]);
                within(from, to, (stratum + draw()) / f64::from(of))
            }
        }
    }

    /// The latest time that the rule can give to a member of a group of `count`.
    pub(super) fn latest(&self, count: u32) -> Dur {
        match *self {
            StartRule::Fixed(at) => at,
            StartRule::Uniform(_, to) | StartRule::Stratified(_, to) => to,
            StartRule::Every(d) => d.saturating_mul(u64::from(count.saturating_sub(1))),
            // Members whose turn comes after the end of the run do not start.
            StartRule::Poisson(_) => Dur::ZERO,
        }
    }
}
