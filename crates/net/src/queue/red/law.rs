//! What the profiles of RED have in common: what a law answers, how a queue asks it, and the checks of thresholds.

use crate::params;
use crate::queue::aqm::{Aqm, AqmQueue, Lent, Setup};
pub use crate::queue::aqm::{Arrival, EcnMode, Verdict};
use crate::queue::{Backlog, Head};
use crosswind_base::{BitRate, ConfigError, DropReason, Dur, Limit, Past, Rng, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::Deref;

/// In what the law measures the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    Bytes,
    Packets,
}

impl Measure {
    pub(super) fn of(self, backlog: Backlog) -> f64 {
        match self {
            Measure::Bytes => backlog.bytes as f64,
            Measure::Packets => backlog.packets as f64,
        }
    }
    /// A threshold in this measure; packets and bytes convert through the mean packet size.
    pub(in crate::queue) fn threshold(self, limit: Limit, mean_packet: Size) -> f64 {
        let mean = mean_packet.0 as f64;
        match (self, limit) {
            (Measure::Bytes, Limit::Bytes(b)) => b as f64,
            (Measure::Bytes, Limit::Packets(p)) => p as f64 * mean,
            (Measure::Packets, Limit::Bytes(b)) => b as f64 / mean,
            (Measure::Packets, Limit::Packets(p)) => p as f64,
        }
    }
    pub(in crate::queue) fn unit(self) -> &'static str {
        if self == Measure::Bytes { "B" } else { "packets" }
    }
    /// Bytes that one unit stands for.
    pub(super) fn bytes(self, mean_packet: Size) -> f64 {
        if self == Measure::Bytes { 1.0 } else { mean_packet.0 as f64 }
    }
}

/// For how long a queue has been empty: since a time of this run, and so long before the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Idle {
    pub since: Time,
    before: Dur,
}

impl Idle {
    pub fn begins(since: Time) -> Idle {
        Idle { since, before: Dur::ZERO }
    }
    /// So long before a run begins.
    pub fn before(run: Dur) -> Idle {
        Idle { since: Time::ZERO, before: run }
    }
    pub fn lasts(&self, now: Time) -> Dur {
        now.since(self.since) + self.before
    }
}

/// A profile of RED.
pub trait Law {
    /// A packet arrives: update the average and decide.
    fn arrive(&mut self, a: &Arrival, rng: &mut Rng) -> Verdict;
    /// The queue holds nothing from now on. `last_len` is the length of the packet that has just been handed to the
    /// link, 0 if the queue was empty before.
    fn emptied(&mut self, now: Time, last_len: u32);
    /// The packet that had just arrived did not fit.
    fn overflowed(&mut self) {}
    /// The average queue, in bytes.
    fn avg_bytes(&self) -> f64;
    /// What it knows at `now` of the past; see [`QueueDisc::past`](crate::queue::QueueDisc::past).
    fn past(&self, _now: Time) -> Option<Past> {
        None
    }
    fn resume(&mut self, _past: Past, _gap: Dur) {
        unreachable!("only what has a past resumes")
    }
    /// The present maximum marking probability.
    fn max_p(&self) -> f64;
    /// New values for some parameters; the average and what follows from the past stay.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError>;
    /// What has been read holds from now on.
    fn change(&mut self, new: &Setting) -> Result<Setup, ConfigError>;
}

/// A profile as the law of a queue.
pub struct Profiled<L>(L);

/// A RED queue.
pub type Red<L> = AqmQueue<Profiled<L>>;

impl<L: Law> Red<L> {
    pub fn new(setup: Setup, law: L, rng: Rng) -> Red<L> {
        AqmQueue::around(Profiled(law), setup, rng)
    }
}

impl<L> Deref for Profiled<L> {
    type Target = L;
    fn deref(&self) -> &L {
        &self.0
    }
}

impl<L: Law> Aqm for Profiled<L> {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.0.arrive(a, q.draws)
    }
    fn on_refused(&mut self, a: &Arrival, why: DropReason) {
        if why == DropReason::QueueFull {
            self.0.overflowed();
        }
        if a.backlog.packets == 0 {
            self.0.emptied(a.now, 0);
        }
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        let head = q.pop()?;
        if q.backlog().packets == 0 {
            self.0.emptied(q.now(), head.len);
        }
        Some(head)
    }
    fn on_removed(&mut self, left: Backlog, now: Time) {
        if left.packets == 0 {
            self.0.emptied(now, 0);
        }
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    /// What does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.0.change(new)
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        self.0.read_change(set)
    }
    fn past(&self, now: Time) -> Option<Past> {
        self.0.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.0.resume(past, gap)
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("red_avg_bytes", self.0.avg_bytes());
        out("red_max_p_ratio", self.0.max_p());
    }
}

/// The rate that idle damping counts with: the given one, else the link's.
pub fn damping_rate(given: Option<BitRate>, link: Option<BitRate>) -> Result<BitRate, ConfigError> {
    given.or(link).ok_or_else(|| {
        ConfigError::new("rate", "nothing", "the rate of the link that empties this queue")
            .hint("it is taken from the link when the link has a `rate`")
    })
}

/// Both thresholds, in the measure of the average.
pub(in crate::queue) struct Limits {
    pub min: f64,
    pub max: f64,
    pub unit: &'static str,
}

/// The checks that all profiles share.
pub(in crate::queue) fn check_common(th: Limits, max_p: f64, rate: Option<BitRate>) -> Result<(), ConfigError> {
    let Limits { min, max, unit } = th;
    if min <= 0.0 {
        return Err(ConfigError::new("min_th", "0", "a threshold above zero"));
    }
    if min >= max {
        return Err(ConfigError::new("min_th", format!("{min} {unit}"), format!("less than max_th ({max} {unit})")));
    }
    if max_p == 0.0 {
        return Err(ConfigError::new("max_p", "0", "a probability above 0 and up to 1"));
    }
    params::check_range("max_p", max_p, 0.0..=1.0)?;
    rate.map_or(Ok(()), |r| params::check_rate("rate", r))
}

/// An averaging weight lies in (0, 1].
pub(in crate::queue) fn check_weight(w_q: f64) -> Result<(), ConfigError> {
    if w_q > 0.0 && w_q <= 1.0 {
        return Ok(());
    }
    Err(ConfigError::new("w_q", w_q.to_string(), "a weight above 0 and up to 1"))
}
