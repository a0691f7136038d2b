//! # Random exponential marking
//!
//! **Source**: athuraliya-2001 section II; ns-2.35 `queue/rem.cc` (defaults); bhandarkar-2006 IV.C.8 (equations 4.1, 4.2).
//!
//! **Idea**: every `period` a price moves with the queue above its target and with arrivals above capacity:
//! `price += gamma (alpha (b - target) + x - c)`, never below zero. A packet is selected with the probability `1 - phi^-price`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | ours |
//! | `target` | packets | 20 | ns-2.35 `pbo_` |
//! | `gamma` | - | 0.001 | ns-2.35 `gamma_` |
//! | `alpha` | - | 0.1 | ns-2.35 (a constant of the code) |
//! | `phi` | - | 1.001 | ns-2.35 `phi_` |
//! | `period` | time | 2 ms | ns-2.35 `pupdtime_` |
//! | `mean_packet` | bytes | 1040 B | ours; ns-2.35 `mean_pktsize_` 1000 |
//! | `ecn` | - | mark | bhandarkar-2006 IV.C.8 |
//! | `rate` | bit/s | the link's | - |
//!
//! **Deviations**: 1. Packets are selected when they leave, as in ns-2; without ECN a selected packet is dropped there, and the link
//! asks for the next one at once.
//!
//! **Checked by**: conformance suite; the law below against equation 4.1 written out.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup, Verdict};
use crate::params::{self, Params};
use crosswind_base::units::show_dur;
use crosswind_base::{BitRate, ConfigError, DropReason, Dur, Limit, Rng, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of REM.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RemParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Queue at which the price rests, in packets.
    pub target: f64,
    /// How fast the price follows.
    pub gamma: f64,
    /// Weight of the queue beside the rates.
    pub alpha: f64,
    /// Base of the probability.
    pub phi: f64,
    /// Time between two steps of the price.
    pub period: Dur,
    /// Typical packet, for the capacity in packets.
    pub mean_packet: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// Rate of the link; its own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
}

impl Default for RemParams {
    fn default() -> Self {
        RemParams {
            limit: Limit::Packets(1000),
            target: 20.0,
            gamma: 0.001,
            alpha: 0.1,
            phi: 1.001,
            period: Dur::from_millis(2),
            mean_packet: Size(1040),
            ecn: EcnMode::Mark,
            rate: None,
        }
    }
}

impl Params for RemParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_packet_size("mean_packet", self.mean_packet)?;
        params::check_range("target", self.target, 0.0..=1e9)?;
        params::check_range("gamma", self.gamma, 1e-9..=10.0)?;
        params::check_range("alpha", self.alpha, 1e-9..=10.0)?;
        params::check_range("phi", self.phi, 1.000_000_1..=10.0)?;
        if let Some(rate) = self.rate {
            params::check_rate("rate", rate)?;
        }
        if self.period < PERIOD_MIN {
            let expected = format!("at least {}", show_dur(PERIOD_MIN));
            return Err(ConfigError::new("period", show_dur(self.period), expected));
        }
        Ok(())
    }
}

/// The shortest time between two steps.
const PERIOD_MIN: Dur = Dur::from_micros(10);
/// Steps that are made one by one with a queue that does not change; further ones are made at once.
const SINGLE_STEPS_MAX: u32 = 10_000;

/// The price of a link.
#[derive(Clone, Debug)]
pub struct Price {
    params: RemParams,
    rate: BitRate,
    /// Packets that the link carries in a period.
    capacity: f64,
    price: f64,
    arrived: u32,
    next: Time,
}

impl Price {
    pub fn new(params: RemParams, rate: BitRate) -> Price {
        let per_s = rate.as_f64() / (8.0 * params.mean_packet.0 as f64);
        let capacity = per_s * params.period.as_secs_f64();
        Price { next: Time::ZERO + params.period, params, rate, capacity, price: 0.0, arrived: 0 }
    }
    /// Makes the steps that were due up to now, with the queue as it has been since.
    #[inline]
    fn catch_up(&mut self, now: Time, packets: u32) {
        let mut made = 0;
        while self.next <= now {
            let (p, before) = (&self.params, (self.price, self.arrived));
            let mismatch = p.alpha * (f64::from(packets) - p.target) + f64::from(self.arrived) - self.capacity;
            self.price = (self.price + p.gamma * mismatch).max(0.0);
            self.arrived = 0;
            self.next += p.period;
            made += 1;
            if before == (self.price, 0) || made == SINGLE_STEPS_MAX {
                self.leap(now, packets);
            }
        }
    }

    /// The steps that are left, with a queue that stays as it is and nothing that arrives: all of them are the same.
    #[cold]
    fn leap(&mut self, now: Time, packets: u32) {
        if self.next > now {
            return;
        }
        let p = &self.params;
        let steps = (now - self.next).0 / p.period.0 + 1;
        let mismatch = p.alpha * (f64::from(packets) - p.target) - self.capacity;
        self.price = (self.price + steps as f64 * p.gamma * mismatch).max(0.0);
        self.next += p.period.saturating_mul(steps);
    }
    pub fn probability(&self) -> f64 {
        1.0 - self.params.phi.powf(-self.price)
    }
}

/// A queue with REM.
pub type Rem = AqmQueue<Price>;

impl Rem {
    pub fn new(params: RemParams, rate: BitRate, rng: Rng) -> Rem {
        let setup = Setup::fits(params.limit, params.ecn);
        AqmQueue::around(Price::new(params, rate), setup, rng)
    }
}

impl Aqm for Price {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, _q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.catch_up(a.now, a.backlog.packets);
        self.arrived += 1;
        Verdict::Pass
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        loop {
            self.catch_up(q.now(), q.backlog().packets);
            let head = q.pop()?;
            if !q.draws.chance(self.probability()) {
                return Some(head);
            }
            if let Some(marked) = q.signal(head, DropReason::EarlyDrop) {
                return Some(marked);
            }
        }
    }
    fn gives_oldest(&self) -> bool {
        false
    }
    /// The price stays, and the clock where its period stays. What does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.catch_up(q.now(), q.backlog().packets);
        let new: RemParams = new.get();
        let rate = new.rate.unwrap_or(self.rate);
        let next = if new.period == self.params.period { self.next } else { q.now() + new.period };
        *self = Price { price: self.price, arrived: self.arrived, next, ..Price::new(new, rate) };
        Ok(Setup::fits(self.params.limit, self.params.ecn))
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("aqm_p_ratio", self.probability());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    #[test]
    fn a_rate_of_nothing_is_refused() {
        let with = |rate| RemParams { rate: Some(rate), ..RemParams::default() }.check();
        assert!(with(BitRate(1_000_000)).is_ok());
        assert_eq!(with(BitRate(0)).expect_err("no price can be worked out").path, "rate");
    }

    #[test]
    fn the_price_is_equation_4_1_step_by_step() {
        let rate = BitRate(10_000_000);
        for seed in 0..20 {
            let mut r = Streams::new(seed).named("rem");
            let mut law = Price::new(RemParams::default(), rate);
            let c = 10e6 / 8.0 / 1040.0 * 0.002;
            let (mut price, mut now, mut queue) = (0.0f64, Time::ZERO, 0u32);
            let mut arrivals: Vec<Time> = Vec::new();
            let mut step_at = 2_000_000u64;
            for _ in 0..3000 {
                now += Dur::from_secs_f64(r.exponential(0.0009));
                // Every step up to now, with the arrivals of its own period and the queue as it is.
                while step_at <= now.0 {
                    let x = arrivals.iter().filter(|t| t.0 < step_at && t.0 + 2_000_000 >= step_at).count();
                    price = f64::max(0.0, price + 0.001 * (0.1 * (f64::from(queue) - 20.0) + x as f64 - c));
                    step_at += 2_000_000;
                }
                law.catch_up(now, queue);
                law.arrived += 1;
                arrivals.push(now);
                queue = (queue + r.below(4) as u32).saturating_sub(1).min(400);
                let p = 1.0 - 1.001f64.powf(-price);
                assert!((law.probability() - p).abs() < 1e-9, "seed {seed}: {} and {p}", law.probability());
            }
        }
    }

    #[test]
    fn a_long_silence_costs_no_time_and_leaves_what_step_by_step_would() {
        let (rate, late) = (BitRate(1_000_000), Time::ZERO + Dur::from_secs(1_000_000));
        let params = RemParams { period: Dur::from_micros(10), ..RemParams::default() };
        for packets in [0, 20, 400] {
            let mut law = Price { price: 3.0, arrived: 2, ..Price::new(params.clone(), rate) };
            let capacity = law.capacity;
            law.catch_up(late, packets);
            let mismatch = 0.1 * (f64::from(packets) - 20.0) - capacity;
            let expected = (3.0 + 0.001 * (2.0 + 1e11 * mismatch)).max(0.0);
            assert!((law.price - expected).abs() <= 1e-6 * expected, "{packets}: {} and {expected}", law.price);
            assert!(law.next > late);
        }
        let check = |period| RemParams { period, ..RemParams::default() }.check();
        assert!(check(Dur::from_micros(10)).is_ok() && check(Dur(1)).is_err());
    }
}
