//! # RED of ns-2
//!
//! **Source**: ns-2.35 (`queue/red.cc`, defaults of `ns-default.tcl`); floyd-gummadi-shenker-2001 (adaptive);
//! floyd-2000 (gentle).
//!
//! **Idea**: the published law with four additions. *Gentle*: from `max_th` to `2 max_th` the probability rises from
//! `max_p` to 1. *Wait*: after a pick none follows for 1/p_b packets, then `p_a = p_b / (2 - count p_b)`. *Adaptive*:
//! every `interval` max_p falls by the factor `beta` or grows by `alpha` to keep the average in the middle of the
//! thresholds. *Byte mode*: a packet's probability is proportional to its size.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 50 packets | ns-2.35 `limit_` |
//! | `admission` | - | overshoot | ns-2.35: tested without the arriving packet |
//! | `ecn` | - | drop | ns-2.35 `setbit_` false |
//! | `mark_p` | 1 | 0.1 | ns-2.35 `mark_p_` (with `use_mark_p_`): from this probability on packets are dropped |
//! | `min_th` | bytes or packets | max(5 packets, target_delay/2) | ns-2.35 `thresh_` 0 |
//! | `max_th` | bytes or packets | 3 min_th | ns-2.35 `maxthresh_` 0 |
//! | `measure` | - | bytes | ns-2.35 `queue_in_bytes_` |
//! | `drop_by` | - | bytes | ns-2.35 `bytes_` |
//! | `mean_packet` | bytes | 500 B | ns-2.35 `mean_pktsize_` |
//! | `w_q` | 1, or a rule | "rtt" | ns-2.35 `q_weight_` -1 |
//! | `max_p` | 1 | 0.1 | ns-2.35 `linterm_` 10 is its inverse |
//! | `gentle` | - | true | ns-2.35 `gentle_` |
//! | `wait` | - | true | ns-2.35 `wait_` |
//! | `adaptive` | - | false | ns-2.35 `adaptive_` |
//! | `alpha` | 1 | 0.01 | ns-2.35 `alpha_`, at most max_p/4 a step |
//! | `beta` | 1 | 0.9 | ns-2.35 `beta_` |
//! | `interval` | time | 500 ms | ns-2.35 `interval_` |
//! | `top` | 1 | 0.5 | ns-2.35 `top_` |
//! | `bottom` | 1 | min(0.01, 80 kbit/s / rate) | ns-2.35 `bottom_` 0 |
//! | `target_delay` | time | 5 ms | ns-2.35 `targetdelay_` |
//! | `rate` | bit/s | the link's | - |
//! | `delay` | time | the link's | used by the rule "rtt" |
//!
//! Rules for `w_q`, C = packets of `mean_packet` a second: "capacity" `1 - exp(-1/C)`; "capacity-10" `1 - exp(-10/C)`;
//! "rtt" `1 - exp(-1/(10 r C))`, r = 3 (delay + 1/C), at least 100 ms.
//!
//! **Deviations**: 1. `limit` in packets counts packets even when `measure` is bytes; ns-2 multiplies by `mean_packet`.
//! Write the limit in bytes for that. 2. A packet that does not fit counts as dropped only, even if it had been marked.
//! 3. Experimental switches (`cautious_`, `feng_adaptive_`, `drop_front_`, `drop_rand_`) are absent; the arriving one
//! is always the one that is dropped. 4. Idle time begins when the last packet has left the line at `rate`.
//!
//! **Checked by**: conformance suite; oracle `red::Ns2`.

use super::super::store::Admission;
use super::law::{Arrival, EcnMode, Law, Limits, Measure, Verdict, check_common, check_weight};
use crate::params::{self, Params};
use crate::queue::aqm::Setup;
use crosswind_base::{BitRate, ConfigError, DropReason, Dur, Limit, Rng, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How the weight of the average is found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Weight {
    /// As a number.
    Value(f64),
    /// From the link.
    Rule(WeightRule),
}

/// Rules that find a weight from the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WeightRule {
    Capacity,
    #[serde(rename = "capacity-10")]
    Capacity10,
    Rtt,
}

/// What the link of the queue is like, for parameters that depend on it.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    pub rate: BitRate,
    pub delay: Dur,
}

/// Parameters of RED as ns-2 has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ns2Params {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Whether the limit is tested with the arriving packet (fits) or without it (overshoot, linux-2.4).
    pub admission: Admission,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// From this probability on ECN-capable packets are dropped too; 1 marks them up to certainty.
    pub mark_p: f64,
    /// Average queue below which no packet is selected; found from `target_delay` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_th: Option<Limit>,
    /// Average queue from which every packet is selected (or, if gentle, the probability rises faster).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_th: Option<Limit>,
    /// Whether the average is over bytes or packets.
    pub measure: Measure,
    /// Whether the probability of a packet is proportional to its size.
    pub drop_by: Measure,
    /// Typical packet, for idle time and for converting between bytes and packets.
    pub mean_packet: Size,
    /// Weight of one arrival in the average: a number, or "capacity", "capacity-10", "rtt".
    pub w_q: Weight,
    /// Probability of being selected at `max_th`.
    pub max_p: f64,
    /// Raise the probability from max_p to 1 between max_th and twice max_th.
    pub gentle: bool,
    /// Leave at least 1/p_b packets between picks.
    pub wait: bool,
    /// Move max_p so that the average stays between the thresholds.
    pub adaptive: bool,
    /// What an adaptive step adds to max_p.
    pub alpha: f64,
    /// What an adaptive step multiplies max_p by.
    pub beta: f64,
    /// Time between adaptive steps.
    pub interval: Dur,
    /// The highest adaptive max_p.
    pub top: f64,
    /// The lowest adaptive max_p; found from the rate when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottom: Option<f64>,
    /// Queueing delay that an absent `min_th` aims at.
    pub target_delay: Dur,
    /// Rate of the link; its own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Propagation delay of the link; its own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Dur>,
}

impl Default for Ns2Params {
    fn default() -> Self {
        Ns2Params {
            limit: Limit::Packets(50),
            admission: Admission::Overshoot,
            ecn: EcnMode::Drop,
            mark_p: 0.1,
            min_th: None,
            max_th: None,
            measure: Measure::Bytes,
            drop_by: Measure::Bytes,
            mean_packet: Size(500),
            w_q: Weight::Rule(WeightRule::Rtt),
            max_p: 0.1,
            gentle: true,
            wait: true,
            adaptive: false,
            alpha: 0.01,
            beta: 0.9,
            interval: Dur::from_millis(500),
            top: 0.5,
            bottom: None,
            target_delay: Dur::from_millis(5),
            rate: None,
            delay: None,
        }
    }
}

impl Params for Ns2Params {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_packet_size("mean_packet", self.mean_packet)?;
        if let Weight::Value(w) = self.w_q {
            check_weight(w)?;
        }
        for (key, p) in [("mark_p", self.mark_p), ("beta", self.beta), ("alpha", self.alpha), ("top", self.top)] {
            params::check_range(key, p, 0.0..=1.0)?;
        }
        params::check_range("bottom", self.bottom.unwrap_or(0.01), 0.0..=self.top)?;
        let (min, max) = match (self.min_th, self.max_th) {
            (None, None) => (1.0, 3.0),
            (None, Some(max)) => {
                return Err(ConfigError::new("min_th", "nothing", "a threshold, because max_th is given")
                    .hint(format!("for example a third of {}", crosswind_base::units::show_limit(max))));
            }
            (Some(min), max) => {
                let min = self.measure.threshold(min, self.mean_packet);
                (min, max.map_or(3.0 * min, |m| self.measure.threshold(m, self.mean_packet)))
            }
        };
        check_common(Limits { min, max, unit: self.measure.unit() }, self.max_p, self.rate)
    }
}

impl Ns2Params {
    pub fn common(&self) -> Setup {
        Setup { admission: self.admission, ..Setup::fits(self.limit, self.ecn) }
    }

    /// C of the rules: packets of the mean size that the link sends in a second.
    fn packets_per_s(&self, rate: BitRate) -> f64 {
        rate.as_f64() / (8.0 * self.mean_packet.0 as f64)
    }

    pub fn weight(&self, link: LinkFacts) -> f64 {
        let c = self.packets_per_s(link.rate);
        match self.w_q {
            Weight::Value(w) => w,
            Weight::Rule(WeightRule::Capacity) => 1.0 - (-1.0 / c).exp(),
            Weight::Rule(WeightRule::Capacity10) => 1.0 - (-10.0 / c).exp(),
            Weight::Rule(WeightRule::Rtt) => {
                let rtt = (3.0 * (link.delay.as_secs_f64() + 1.0 / c)).max(0.1);
                1.0 - (-1.0 / (10.0 * rtt * c)).exp()
            }
        }
    }

    /// Both thresholds, in the measure of the average.
    pub fn thresholds(&self, rate: BitRate) -> (f64, f64) {
        let unit = self.measure.threshold(Limit::Packets(1), self.mean_packet);
        let target = self.target_delay.as_secs_f64() * self.packets_per_s(rate);
        let min = self.min_th.map_or((target / 2.0).max(5.0) * unit, |m| self.measure.threshold(m, self.mean_packet));
        (min, self.max_th.map_or(3.0 * min, |m| self.measure.threshold(m, self.mean_packet)))
    }

    pub fn lowest_max_p(&self, rate: BitRate) -> f64 {
        self.bottom.unwrap_or_else(|| (80_000.0 / rate.as_f64()).min(0.01))
    }
}

/// The law of ns-2.
pub struct Ns2 {
    params: Ns2Params,
    link: LinkFacts,
    packets_per_s: f64,
    w_q: f64,
    min_th: f64,
    max_th: f64,
    bottom: f64,
    /// The present max_p, and when adaptation last changed it.
    cur_max_p: f64,
    last_set: Time,
    avg: f64,
    count: u64,
    count_bytes: u64,
    /// The average has been above `min_th` with packets waiting since an earlier arrival.
    is_above: bool,
    /// When the last packet handed to the link has left it.
    line_free: Time,
    idle_since: Option<Time>,
}

impl Ns2 {
    pub fn new(params: Ns2Params, link: LinkFacts) -> Ns2 {
        let (min_th, max_th) = params.thresholds(link.rate);
        Ns2 {
            link,
            packets_per_s: params.packets_per_s(link.rate),
            w_q: params.weight(link),
            min_th,
            max_th,
            bottom: params.lowest_max_p(link.rate),
            cur_max_p: params.max_p,
            last_set: Time::ZERO,
            avg: 0.0,
            count: 0,
            count_bytes: 0,
            is_above: false,
            line_free: Time::ZERO,
            idle_since: Some(Time::ZERO),
            params,
        }
    }

    fn average(&mut self, a: &Arrival) {
        let idle = self.idle_since.take().map_or(Dur::ZERO, |since| a.now.since(since));
        let m = (self.packets_per_s * idle.as_secs_f64()) as u64;
        if m > 0 {
            self.avg *= (1.0 - self.w_q).powf(m as f64);
        }
        self.avg = self.avg * (1.0 - self.w_q) + self.w_q * self.params.measure.of(a.backlog);
        if self.params.adaptive && a.now > self.last_set + self.params.interval {
            self.adapt(a.now);
        }
    }

    /// Moves max_p so that the average tends to the middle fifth between the thresholds.
    fn adapt(&mut self, now: Time) {
        let part = 0.4 * (self.max_th - self.min_th);
        if self.avg < self.min_th + part && self.cur_max_p > self.bottom {
            self.cur_max_p *= self.params.beta;
            self.last_set = now;
        } else if self.avg > self.max_th - part && self.cur_max_p < self.params.top {
            self.cur_max_p += self.params.alpha.min(0.25 * self.cur_max_p);
            self.last_set = now;
        }
    }

    /// The probability before spreading.
    fn p_b(&self) -> f64 {
        let p = if self.avg < self.max_th {
            self.cur_max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.params.gentle {
            // The slope is that of the configured max_p, even after adaptation has moved it: ns-2 sets it up once.
            (1.0 - self.params.max_p) / self.max_th * self.avg + 2.0 * self.params.max_p - 1.0
        } else {
            1.0
        };
        p.min(1.0)
    }

    /// The probability after spreading over `count` and weighting by size.
    fn p_a(&self, p_b: f64, len: u32) -> f64 {
        let by_bytes = self.params.drop_by == Measure::Bytes;
        let count = if by_bytes { self.count_bytes / self.params.mean_packet.0 } else { self.count };
        let used = count as f64 * p_b;
        let p = match self.params.wait {
            true if used < 1.0 => 0.0,
            true if used < 2.0 => p_b / (2.0 - used),
            false if used < 1.0 => p_b / (1.0 - used),
            _ => 1.0,
        };
        let weighted = if by_bytes && p < 1.0 { p * len as f64 / self.params.mean_packet.0 as f64 } else { p };
        weighted.min(1.0)
    }

    /// Other parameters, the same past. A max_p that adaptation has moved stays where it is unless it is set anew.
    pub fn continue_as(&mut self, fresh: Ns2) {
        let is_set = fresh.params.max_p != self.params.max_p || !fresh.params.adaptive;
        let old = std::mem::replace(self, fresh);
        self.avg = old.avg_bytes() / self.params.measure.bytes(self.params.mean_packet);
        self.cur_max_p = if is_set { self.params.max_p } else { old.cur_max_p };
        (self.last_set, self.count, self.count_bytes) = (old.last_set, old.count, old.count_bytes);
        (self.is_above, self.line_free, self.idle_since) = (old.is_above, old.line_free, old.idle_since);
    }

    fn restart_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}

impl Ns2 {
    /// The first half of `arrive`: moves the average, for a queue whose packets do not all ask this law.
    #[inline]
    pub fn observe(&mut self, a: &Arrival) {
        self.average(a);
    }

    /// The second half: what to do with the packet.
    #[inline]
    pub fn decide(&mut self, a: &Arrival, rng: &mut Rng) -> Verdict {
        self.count += 1;
        self.count_bytes += a.len as u64;
        if self.avg < self.min_th || self.params.measure.of(a.backlog) <= 1.0 {
            self.is_above = false;
            return Verdict::Pass;
        }
        if !self.is_above {
            self.is_above = true;
            self.count = 1;
            self.count_bytes = a.len as u64;
            return Verdict::Pass;
        }
        let p_b = self.p_b();
        if !rng.chance(self.p_a(p_b, a.len)) {
            return Verdict::Pass;
        }
        self.restart_count();
        let why = if p_b >= 1.0 { DropReason::ForcedDrop } else { DropReason::EarlyDrop };
        if p_b < self.params.mark_p { Verdict::Signal(why) } else { Verdict::Drop(why) }
    }
}

impl Law for Ns2 {
    fn arrive(&mut self, a: &Arrival, rng: &mut Rng) -> Verdict {
        self.observe(a);
        self.decide(a, rng)
    }
    fn emptied(&mut self, now: Time, last_len: u32) {
        if last_len > 0 {
            self.line_free = now + self.link.rate.tx_time(last_len as u64);
        }
        self.idle_since = Some(self.line_free.max(now));
    }
    fn overflowed(&mut self) {
        self.restart_count();
    }
    fn avg_bytes(&self) -> f64 {
        self.avg * self.params.measure.bytes(self.params.mean_packet)
    }
    fn max_p(&self) -> f64 {
        self.cur_max_p
    }
    fn change(&mut self, new: &Setting) -> Result<Setup, ConfigError> {
        let new: Ns2Params = new.get();
        let common = new.common();
        let link = LinkFacts { rate: new.rate.unwrap_or(self.link.rate), delay: new.delay.unwrap_or(self.link.delay) };
        let fresh = Ns2::new(new, link);
        self.continue_as(fresh);
        Ok(common)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkFacts = LinkFacts { rate: BitRate(10_000_000), delay: Dur::from_millis(20) };

    #[test]
    fn absent_parameters_follow_from_the_link() {
        let p = Ns2Params { mean_packet: Size(1000), measure: Measure::Packets, ..Ns2Params::default() };
        // C = 1250 packets/s: the target of 5 ms is 6.25 packets, half of it less than 5.
        assert_eq!(p.thresholds(LINK.rate), (5.0, 15.0));
        let slow_target = Ns2Params { target_delay: Dur::from_millis(20), ..p.clone() };
        assert_eq!(slow_target.thresholds(LINK.rate), (12.5, 37.5));
        let in_bytes = Ns2Params { measure: Measure::Bytes, ..p.clone() };
        assert_eq!(in_bytes.thresholds(LINK.rate), (5000.0, 15_000.0));
        // RTT = 3 (20 ms + 0.8 ms) = 62.4 ms counts as 100 ms: 1 - exp(-1/1250).
        assert!((p.weight(LINK) - (1.0 - (-1.0f64 / 1250.0).exp())).abs() < 1e-12);
        assert_eq!(p.lowest_max_p(BitRate(100_000_000)), 0.0008);
    }

    #[test]
    fn a_min_th_alone_brings_a_max_th_of_three_times_it() {
        let alone = Ns2Params { min_th: Some(Limit::Packets(5)), ..Ns2Params::default() };
        alone.check().expect("max_th is 7500 B");
        assert_eq!(alone.thresholds(LINK.rate), (2500.0, 7500.0));
    }

    #[test]
    fn max_p_stays_while_the_average_is_between_two_and_three_fifths_of_the_way() {
        let max_p_at = |avg: f64| {
            let p = Ns2Params { measure: Measure::Packets, adaptive: true, ..Ns2Params::default() };
            let mut law = Ns2::new(Ns2Params { min_th: Some(Limit::Packets(5)), ..p }, LINK);
            law.avg = avg;
            law.adapt(Time::ZERO);
            law.cur_max_p
        };
        assert_eq!([8.999, 9.0, 11.0, 11.001].map(max_p_at), [0.1 * 0.9, 0.1, 0.1, 0.1 + 0.01]);
    }

    #[test]
    fn gentle_rises_from_max_p_to_one_between_max_th_and_twice_max_th() {
        let p = Ns2Params { measure: Measure::Packets, ..Ns2Params::default() };
        let mut law = Ns2::new(p, LINK);
        law.avg = law.max_th;
        assert!((law.p_b() - 0.1).abs() < 1e-12);
        law.avg = 2.0 * law.max_th;
        assert!((law.p_b() - 1.0).abs() < 1e-12);
    }
}
