//! Random early detection, in the three profiles that published results rest on.
//!
//! A profile is a [`Law`]: it is told of every arrival and answers with a verdict. [`Red`] owns the packets, the limit
//! and the random stream, and turns verdicts into marks and drops.

pub mod effective;
pub mod floyd_jacobson;
pub mod linux;
pub mod ns2;
pub mod trace;

pub use floyd_jacobson::FloydJacobson;
pub use linux::Linux;
pub use ns2::Ns2;

use super::store::{Admission, Fifo};
use super::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::params;
use crosswind_base::{BitRate, ConfigError, Cx, DropReason, Limit, PacketId, Rng, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What happens to an ECN-capable packet that the law has picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Set CE and let it in (RFC 3168).
    #[default]
    Mark,
    /// Treat it like any other packet.
    Drop,
}

/// In what the law measures the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    Bytes,
    Packets,
}

impl Measure {
    fn of(self, backlog: Backlog) -> f64 {
        match self {
            Measure::Bytes => backlog.bytes as f64,
            Measure::Packets => backlog.packets as f64,
        }
    }
    /// A threshold in this measure; packets and bytes convert through the mean packet size.
    pub(super) fn threshold(self, limit: Limit, mean_packet: Size) -> f64 {
        let mean = mean_packet.0 as f64;
        match (self, limit) {
            (Measure::Bytes, Limit::Bytes(b)) => b as f64,
            (Measure::Bytes, Limit::Packets(p)) => p as f64 * mean,
            (Measure::Packets, Limit::Bytes(b)) => b as f64 / mean,
            (Measure::Packets, Limit::Packets(p)) => p as f64,
        }
    }
    pub(super) fn unit(self) -> &'static str {
        if self == Measure::Bytes { "B" } else { "packets" }
    }
    /// Bytes that one unit stands for.
    fn bytes(self, mean_packet: Size) -> f64 {
        if self == Measure::Bytes { 1.0 } else { mean_packet.0 as f64 }
    }
}

/// What a law is told about an arriving packet, with the link-layer bytes that count. The backlog does not include it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub backlog: Backlog,
    pub len: u32,
    pub now: Time,
}

/// What a law wants done with an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Pass,
    /// Mark it if it is ECN-capable, drop it otherwise.
    Signal(DropReason),
    /// Drop it, whatever it is.
    Drop(DropReason),
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
    /// The present maximum marking probability.
    fn max_p(&self) -> f64;
    /// New values for some parameters; the average and what follows from the past stay.
    fn change(&mut self, set: &Map<String, Value>) -> Result<Common, ConfigError>;
}

/// What a RED queue has besides its law.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    pub limit: Limit,
    pub admission: Admission,
    pub ecn: EcnMode,
    /// Counted with every packet, beyond its IP length.
    pub overhead: Size,
}

/// A RED queue.
pub struct Red<L> {
    common: Common,
    law: L,
    store: Fifo,
    rng: Rng,
}

impl<L: Law> Red<L> {
    pub fn new(common: Common, law: L, rng: Rng) -> Red<L> {
        Red { common, law, store: Fifo::new(), rng }
    }

    pub fn law(&self) -> &L {
        &self.law
    }

    fn admit_or_drop(&mut self, id: PacketId, a: &Arrival, verdict: Verdict, cx: &mut Cx<'_>) {
        let is_marked = match verdict {
            Verdict::Pass => false,
            Verdict::Signal(_) if self.common.ecn == EcnMode::Mark && cx.packet(id).ecn().is_capable() => true,
            Verdict::Signal(why) | Verdict::Drop(why) => return cx.drop(id, why),
        };
        if !self.common.admission.admits(a.backlog, a.len, self.common.limit) {
            self.law.overflowed();
            return cx.drop(id, DropReason::QueueFull);
        }
        if is_marked {
            cx.mark(id);
        }
        self.store.push(id, a.len - self.common.overhead.0 as u32, a.now);
    }
}

impl<L: Law> QueueDisc for Red<L> {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let overhead = self.common.overhead;
        let backlog = self.store.backlog().with_overhead(overhead);
        let a = Arrival { backlog, len: cx.packet(id).len as u32 + overhead.0 as u32, now: cx.now };
        let verdict = self.law.arrive(&a, &mut self.rng);
        self.admit_or_drop(id, &a, verdict, cx);
        if self.store.is_empty() {
            self.law.emptied(cx.now, 0);
        }
    }
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        let head = self.store.pop()?;
        if self.store.is_empty() {
            self.law.emptied(cx.now, head.len);
        }
        Some(head)
    }
    fn peek(&self) -> Option<Head> {
        self.store.front()
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn removal(&self) -> Removal {
        Removal::Possible
    }
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        let before = self.store.backlog();
        self.store.remove(goes, why, cx);
        if self.store.is_empty() && before.packets > 0 {
            self.law.emptied(cx.now, 0);
        }
    }
    /// What does not fit into a new limit goes, the newest first.
    fn change(&mut self, set: &Map<String, Value>, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.common = self.law.change(set)?;
        self.store.shrink(self.common.limit, cx);
        Ok(())
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("red_avg_bytes", self.law.avg_bytes());
        out("red_max_p_ratio", self.law.max_p());
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
pub(super) struct Limits {
    pub min: f64,
    pub max: f64,
    pub unit: &'static str,
}

/// The checks that all profiles share.
pub(super) fn check_common(th: Limits, max_p: f64, rate: Option<BitRate>) -> Result<(), ConfigError> {
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
pub(super) fn check_weight(w_q: f64) -> Result<(), ConfigError> {
    if w_q > 0.0 && w_q <= 1.0 {
        return Ok(());
    }
    Err(ConfigError::new("w_q", w_q.to_string(), "a weight above 0 and up to 1"))
}
