//! # Reordering wire
//!
//! **Source**: bhandarkar-2006 II.B.2 (random delay, two paths), V.C.2.d (a misconfigured router); ns-2.35 (ErrorModel, changed).
//!
//! **Idea**: a wire on which some packets take longer: each is chosen with probability `share` and arrives later by a draw from a
//! normal distribution, never earlier; the others overtake it. Or packets go in turns over two paths (`paths = "two"`): every
//! second one arrives `difference` later. `jitter` is ns-2's `overhead_`: every packet takes up to so much longer, and none
//! overtakes another by it.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 10 Mbit/s | as `wire` |
//! | `delay` | time | 10 ms | as `wire` |
//! | `share` | - | 0 | ours: nothing is late until asked |
//! | `late_mean` | time | 25 ms | bhandarkar-2006 II.B.2 |
//! | `late_deviation` | time | 8 ms | bhandarkar-2006 II.B.2 (chapter V prints it as the variance: open point O5) |
//! | `packets` | - | none | ours: numbers (from 0) of the packets with payload that are late by `late_mean` exactly |
//! | `counts` | - | data | ours: acknowledgements are not touched |
//! | `paths` | - | one | bhandarkar-2006 II.B.2.b |
//! | `difference` | time | 0 | bhandarkar-2006 II.B.2.b |
//! | `jitter` | time | 0 | bhandarkar-2006 V.B.1 (8 us, one packet at 1 Gbit/s): uniform, against phase effects |
//! | `tick` | time | 0 | linux-2.4 (netem): 10 ms; 0 is an exact clock |
//!
//! A `tick` makes it the delay of a host (netem) whose clock is that coarse: packets are kept for `delay` and until the clock
//! ticks next, all of them, and then leave at the line's rate.
//!
//! **Deviations**: 1. Both paths have one line in front of them, so two paths have the rate of one; the source gives none. 2. A draw
//! below zero is zero: one in a thousand.
//!
//! **Checked by**: conformance suite; the moments of the delays, the order of arrivals.

use super::loss::Counts;
use super::{Fate, Link, TxPlan, wire};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Rng, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How many paths there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// One.
    One,
    /// Two; packets take them in turns.
    Two,
}

/// Parameters of a reordering wire.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReorderingParams {
    /// Bits per second on the line.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Dur,
    /// Probability that a packet is late.
    pub share: f64,
    /// Mean of the extra delay of late packets.
    pub late_mean: Dur,
    /// Standard deviation of the extra delay.
    pub late_deviation: Dur,
    /// Packets that are late by `late_mean` exactly, as numbers (from 0) among those that count.
    pub packets: Vec<u64>,
    /// Which packets can be late: those with payload, or all.
    pub counts: Counts,
    /// One path, or two that packets take in turns.
    pub paths: Paths,
    /// How much longer the second path is.
    pub difference: Dur,
    /// Every packet that counts takes longer by a uniform draw of up to this; the order is kept.
    pub jitter: Dur,
    /// All packets, acknowledgements too, are kept until this clock ticks; 0: a clock that is exact.
    pub tick: Dur,
}

impl Default for ReorderingParams {
    fn default() -> Self {
        let line = wire::WireParams::default();
        ReorderingParams {
            rate: line.rate,
            delay: line.delay,
            share: 0.0,
            late_mean: Dur::from_millis(25),
            late_deviation: Dur::from_millis(8),
            packets: Vec::new(),
            counts: Counts::Data,
            paths: Paths::One,
            difference: Dur::ZERO,
            jitter: Dur::ZERO,
            tick: Dur::ZERO,
        }
    }
}

impl Params for ReorderingParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)?;
        params::check_delay("late_mean", self.late_mean)?;
        params::check_delay("difference", self.difference)?;
        params::check_delay("jitter", self.jitter)?;
        params::check_delay("tick", self.tick)?;
        params::check_range("share", self.share, 0.0..=1.0)
    }
}

impl ReorderingParams {
    /// Nothing but the jitter delays packets, and it delays all of them.
    fn is_in_order(&self) -> bool {
        let none_is_late = self.share == 0.0 && self.packets.is_empty() && self.paths == Paths::One;
        none_is_late && (self.jitter == Dur::ZERO || self.counts == Counts::All)
    }
}

/// A wire on which packets overtake each other.
pub struct Reordering {
    params: ReorderingParams,
    is_in_order: bool,
    line: wire::Wire,
    rng: Rng,
    /// Packets so far that count.
    seen: u64,
    /// When the packet before comes out of the jitter.
    steady: Time,
    /// Where the order is kept: when the packet before arrives.
    latest: Time,
    /// When the last packet that a tick released has left.
    released: Time,
}

impl Reordering {
    pub fn new(params: ReorderingParams, rng: Rng) -> Reordering {
        let line =
            wire::Wire::new(wire::WireParams { rate: params.rate, delay: params.delay, ..wire::WireParams::default() });
        Reordering {
            is_in_order: params.is_in_order(),
            params,
            line,
            rng,
            seen: 0,
            steady: Time::ZERO,
            latest: Time::ZERO,
            released: Time::ZERO,
        }
    }

    /// How much later than others the next packet that counts arrives.
    fn extra(&mut self) -> Dur {
        let number = self.seen;
        self.seen += 1;
        if self.is_in_order {
            return Dur::ZERO;
        }
        let p = &self.params;
        if p.packets.contains(&number) {
            return p.late_mean;
        }
        if p.share > 0.0 && self.rng.chance(p.share) {
            let z = normal(&mut self.rng);
            let late_s = p.late_mean.as_secs_f64() + z * p.late_deviation.as_secs_f64();
            return Dur::from_secs_f64(late_s.max(0.0));
        }
        if p.paths == Paths::Two && number % 2 == 1 { p.difference } else { Dur::ZERO }
    }
}

impl Reordering {
    /// When a packet leaves the jitter.
    #[inline]
    fn jittered(&mut self, at: Time) -> Time {
        if self.params.jitter > Dur::ZERO {
            let taken = self.params.jitter.mul_f64(self.rng.uniform());
            self.steady = self.steady.max(at + taken);
            return self.steady;
        }
        at
    }
}

impl Reordering {
    /// A packet leaves when the clock ticks after its delay, one after the other.
    fn kept(&mut self, p: &Packet, plan: TxPlan) -> TxPlan {
        let Fate::Deliver(at) = plan.fate else { return plan };
        let ticks = Dur(at.0).ceil_to(self.params.tick);
        self.released = self.released.max(Time(ticks.0)) + self.params.rate.tx_time(u64::from(p.len));
        TxPlan { fate: Fate::Deliver(self.released), ..plan }
    }
}

impl Reordering {
    fn delayed(&mut self, p: &Packet, plan: TxPlan) -> TxPlan {
        if !self.params.counts.covers(p) {
            return plan;
        }
        let extra = self.extra();
        match plan.fate {
            Fate::Deliver(at) => TxPlan { fate: Fate::Deliver(self.jittered(at) + extra), ..plan },
            Fate::Lost(_) => plan,
        }
    }
}

/// A draw from the standard normal distribution (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.uniform(), rng.uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

impl Link for Reordering {
    #[inline]
    fn is_in_order(&self) -> bool {
        self.is_in_order
    }
    /// Draws follow the order of packets.
    fn steady_rate(&self) -> Option<BitRate> {
        self.line.steady_rate()
    }
    fn nominal_rate(&self) -> Option<BitRate> {
        Some(self.params.rate)
    }
    /// With a jitter below the shortest packet no more of them arrive at a time than on a wire, but for one.
    fn is_even(&self) -> bool {
        let is_small =
            self.params.jitter < self.params.rate.tx_time(wire::SHORTEST_BYTES) && self.params.tick == Dur::ZERO;
        self.is_in_order && is_small
    }
    fn least_delay(&self) -> Dur {
        self.params.delay
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let new: ReorderingParams = params::merged(&self.params, set)?;
        let line = set.iter().filter(|(key, _)| ["rate", "delay"].contains(&key.as_str()));
        let line = self.line.read_change(&line.map(|(k, v)| (k.clone(), v.clone())).collect())?;
        Ok(Setting::new((new, line)))
    }
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        let (new, line): (ReorderingParams, Setting) = new.get();
        self.line.change(&line, now)?;
        // What is late already stays late.
        self.is_in_order &= new.is_in_order();
        self.params = new;
        Ok(())
    }
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        let plan = self.line.transmit(p, now);
        let plan = if self.params.tick > Dur::ZERO { self.kept(p, plan) } else { self.delayed(p, plan) };
        match plan.fate {
            // What a jitter or a tick kept back before a change of the parameters is not overtaken.
            Fate::Deliver(at) if self.is_in_order => {
                self.latest = self.latest.max(at);
                TxPlan { fate: Fate::Deliver(self.latest), ..plan }
            }
            _ => plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    fn delays(params: ReorderingParams, n: usize) -> Vec<f64> {
        let base = params.delay;
        let mut link = Reordering::new(params, Streams::new(3).named("detour"));
        let packet = Packet { len: 1040, payload: 1000, ..Packet::default() };
        let mut now = Time::ZERO;
        (0..n)
            .map(|_| {
                let plan = link.transmit(&packet, now);
                now = plan.free_at;
                let Fate::Deliver(at) = plan.fate else { panic!("a wire loses nothing") };
                at.since(plan.tx_end + base).as_secs_f64()
            })
            .collect()
    }

    #[test]
    fn jitter_is_uniform_and_keeps_the_order() {
        let jitter = Dur::from_micros(100);
        let params = ReorderingParams { jitter, ..ReorderingParams::default() };
        let fast = ReorderingParams { rate: BitRate(10_000_000_000), ..params.clone() };
        let mut link = Reordering::new(fast, Streams::new(3).named("detour"));
        let packet = Packet { len: 1040, payload: 1000, ..Packet::default() };
        // Far apart: the draw is all there is. Back to back at 10 Mbit/s packets are 832 us apart as well.
        let late: Vec<f64> = delays(params, 10_000);
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert!((mean - 50e-6).abs() < 1e-6 && late.iter().all(|d| (0.0..=100e-6).contains(d)), "{mean}");
        // Much closer than the jitter: none overtakes.
        let (mut now, mut before) = (Time::ZERO, Time::ZERO);
        for _ in 0..1000 {
            let plan = link.transmit(&packet, now);
            now = plan.free_at;
            let Fate::Deliver(at) = plan.fate else { panic!("a wire loses nothing") };
            assert!(at >= before);
            before = at;
        }
    }

    #[test]
    fn nothing_overtakes_when_a_jitter_or_a_tick_ends() {
        let packet = Packet { len: 1040, payload: 1000, ..Packet::default() };
        let kept = [
            ReorderingParams { jitter: Dur::from_secs(2), counts: Counts::All, ..ReorderingParams::default() },
            ReorderingParams { tick: Dur::from_secs(1), ..ReorderingParams::default() },
        ];
        for params in kept {
            let mut link = Reordering::new(params, Streams::new(3).named("detour"));
            assert!(link.is_in_order());
            let mut arrivals = Vec::new();
            for i in 0..20u64 {
                let now = Time(i * 1_000_000);
                if i == 10 {
                    let set = serde_json::json!({"jitter": "0 ms", "tick": "0 ms"});
                    link.read_and_change(set.as_object().expect("a table"), now).expect("both can change");
                }
                let Fate::Deliver(at) = link.transmit(&packet, now).fate else { panic!("a wire loses nothing") };
                arrivals.push(at);
            }
            assert!(arrivals.is_sorted(), "{arrivals:?}");
        }
    }

    #[test]
    fn a_tick_releases_packets_together_and_in_order() {
        let params =
            ReorderingParams { tick: Dur::from_millis(10), delay: Dur::from_millis(25), ..ReorderingParams::default() };
        let line = ReorderingParams { rate: BitRate(1_000_000_000), counts: Counts::Data, ..params };
        let mut link = Reordering::new(line, Streams::new(3).named("detour"));
        let ack = Packet { len: 40, payload: 0, ..Packet::default() };
        // Every 2 ms for 20 ms: those that are through by 30 ms leave then, the others at 40 and 50 ms.
        let at: Vec<u64> = (0..10u64)
            .map(|i| match link.transmit(&ack, Time(i * 2_000_000)).fate {
                Fate::Deliver(at) => at.0,
                Fate::Lost(_) => panic!("a wire loses nothing"),
            })
            .collect();
        let group = |tick: u64, n: u64| (1..=n).map(move |k| tick * 1_000_000 + 320 * k);
        assert_eq!(at, group(30, 3).chain(group(40, 5)).chain(group(50, 2)).collect::<Vec<_>>());
    }

    #[test]
    fn the_chosen_share_is_late_by_a_normal_draw() {
        let late: Vec<f64> = delays(ReorderingParams { share: 0.2, ..ReorderingParams::default() }, 200_000)
            .into_iter()
            .filter(|d| *d > 0.0)
            .collect();
        let n = late.len() as f64;
        let mean = late.iter().sum::<f64>() / n;
        let deviation = (late.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n).sqrt();
        // Four standard errors: 40 000 draws with a deviation of 8 ms.
        assert!((n / 200_000.0 - 0.2).abs() < 0.0036, "{n}");
        assert!((mean - 0.025).abs() < 0.00016 && (deviation - 0.008).abs() < 0.00012, "{mean} {deviation}");
    }

    #[test]
    fn listed_packets_are_late_and_two_paths_take_turns() {
        let listed = ReorderingParams { packets: vec![2], ..ReorderingParams::default() };
        assert_eq!(delays(listed, 4), [0.0, 0.0, 0.025, 0.0]);
        let two =
            ReorderingParams { paths: Paths::Two, difference: Dur::from_millis(7), ..ReorderingParams::default() };
        assert_eq!(delays(two, 4), [0.0, 0.007, 0.0, 0.007]);
    }
}
