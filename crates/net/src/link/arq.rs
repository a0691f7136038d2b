//! # Repairing wireless link
//!
//! **Source**: bhandarkar-2006 II.A.5, II.C.2.
//!
//! **Idea**: a wireless line whose packets are corrupted at random. A corrupted packet is retransmitted, ahead of all that wait, one
//! round trip of the line later, as if a negative acknowledgement had come back: `tx_end + 2 delay`. Packets that
//! were received meanwhile go up at once, so TCP's receiver sees a hole and later the packet that fills it.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 1 Mbit/s | bhandarkar-2006 II.C.2 |
//! | `delay` | time | 20 ms | bhandarkar-2006 II.C.2 |
//! | `error` | - | 0 | ours: the chance of an attempt; with exponential distances of 1/e packets on average it is 1 - exp(-e) |
//! | `attempts_max` | - | 0 | ours: 0 is no limit; 1 makes no repair (a plain lossy line) |
//! | `counts` | - | data | ours: acknowledgements are not touched |
//!
//! **Deviations**: 1. A repetition that falls into another packet's transmission is delivered as if the line had been free, and the
//! line is taken for it afterwards: the carried load is exact, single deliveries are early by at most one transmission. 2. Errors
//! fall on packets independently.
//!
//! **Checked by**: conformance suite; share of attempts, time of the repair and utilisation in closed form.

use super::loss::Counts;
use super::{Fate, Link, TxPlan};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Rng, Serializer, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Parameters of a repairing wireless link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArqParams {
    /// Bits per second on the line.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Dur,
    /// Probability that an attempt is corrupted.
    pub error: f64,
    /// Attempts after which a packet is given up; 0: never.
    pub attempts_max: u32,
    /// Which packets can be corrupted: those with payload, or all.
    pub counts: Counts,
}

impl Default for ArqParams {
    fn default() -> Self {
        ArqParams {
            rate: BitRate(1_000_000),
            delay: Dur::from_millis(20),
            error: 0.0,
            attempts_max: 0,
            counts: Counts::Data,
        }
    }
}

impl Params for ArqParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)?;
        params::check_range("error", self.error, 0.0..=0.99)
    }
}

/// A line that repairs losses and keeps no order.
pub struct Arq {
    params: ArqParams,
    serializer: Serializer,
    rng: Rng,
    free_at: Time,
    /// When the last first attempt began, and how long the repetitions before it took.
    began: Time,
    repeated: Dur,
    /// Repetitions to come: when each takes the line, and for how long; in order of time.
    booked: VecDeque<(Time, Dur)>,
}

impl Arq {
    pub fn new(params: ArqParams, rng: Rng) -> Arq {
        let serializer = Serializer::new(params.rate);
        Arq {
            params,
            serializer,
            rng,
            free_at: Time::ZERO,
            began: Time::ZERO,
            repeated: Dur::ZERO,
            booked: VecDeque::new(),
        }
    }

    fn book(&mut self, at: Time, takes: Dur) {
        let i = self.booked.partition_point(|b| b.0 <= at);
        self.booked.insert(i, (at, takes));
    }

    /// When a transmission can begin that is wanted at `now`: after the repetitions whose time has come.
    fn begins(&mut self, now: Time) -> Time {
        let mut start = self.free_at.max(now);
        while let Some(&(due, takes)) = self.booked.front()
            && due <= start
        {
            self.booked.pop_front();
            self.free_at = self.free_at.max(due) + takes;
            self.repeated = self.repeated + takes;
            start = self.free_at.max(now);
        }
        start
    }
}

impl Link for Arq {
    fn nominal_rate(&self) -> Option<BitRate> {
        Some(self.params.rate)
    }
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        let new: ArqParams = new.get();
        if new.rate != self.params.rate {
            self.serializer.set_rate(new.rate);
        }
        self.params = new;
        Ok(())
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        let start = self.begins(now);
        if start > self.free_at {
            self.serializer.restart();
        }
        self.began = start;
        let takes = self.serializer.take(p.len as u32);
        let tx_end = start + takes;
        self.free_at = tx_end;
        let (mut attempts, mut ends, mut is_lost) = (1, tx_end, false);
        while self.params.counts.covers(p) && self.rng.chance(self.params.error) {
            if attempts == self.params.attempts_max {
                is_lost = true;
                break;
            }
            let again = ends + self.params.delay + self.params.delay;
            self.book(again, takes);
            (attempts, ends) = (attempts + 1, again + takes);
        }
        let arrives = ends + self.params.delay;
        let fate = if is_lost { Fate::Lost(arrives) } else { Fate::Deliver(arrives) };
        TxPlan { free_at: self.free_at, fate, attempts, tx_start: start, tx_end }
    }

    fn repeated(&self, now: Time) -> Dur {
        // Nothing but repetitions lies between the call for the last packet and its first attempt.
        let ahead = self.began.since(now);
        let (mut free_at, mut since) = (self.free_at, Dur::ZERO);
        for &(due, takes) in self.booked.iter().take_while(|b| b.0 < now) {
            let from = free_at.max(due);
            free_at = from + takes;
            since = since + free_at.min(now).since(from);
        }
        self.repeated.saturating_sub(ahead) + since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    fn link(error: f64, attempts_max: u32) -> Arq {
        let params = ArqParams { error, attempts_max, ..ArqParams::default() };
        Arq::new(params, Streams::new(5).named("repair"))
    }

    #[test]
    fn a_repair_takes_a_round_trip_of_the_line_and_its_own_transmission() {
        let mut l = link(0.3, 0);
        let packet = Packet { len: 1000, payload: 960, ..Packet::default() };
        for i in 0..1000u64 {
            let now = Time::from_secs_f64(2.0 * i as f64);
            let plan = l.transmit(&packet, now);
            let Fate::Deliver(at) = plan.fate else { panic!("nothing is given up") };
            let expected = Dur::from_millis(28) + Dur::from_millis(48).saturating_mul(u64::from(plan.attempts - 1));
            assert_eq!(at.since(now), expected, "{} attempts", plan.attempts);
        }
    }

    #[test]
    fn a_busy_line_carries_the_inverse_of_the_mean_number_of_attempts() {
        let mut l = link(0.2, 0);
        let packet = Packet { len: 1000, payload: 960, ..Packet::default() };
        let mut now = Time::ZERO;
        for _ in 0..50_000 {
            now = l.transmit(&packet, now).free_at;
        }
        // 8 ms per attempt, 1 / 0.8 attempts per packet.
        let per_packet = now.as_secs_f64() / 50_000.0;
        assert!((per_packet / 0.010 - 1.0).abs() < 0.01, "{per_packet}");
    }

    #[test]
    fn with_one_attempt_it_is_a_lossy_line() {
        let mut l = link(0.25, 1);
        let packet = Packet { len: 1000, payload: 960, ..Packet::default() };
        let mut now = Time::ZERO;
        let mut lost = 0;
        for _ in 0..20_000 {
            let plan = l.transmit(&packet, now);
            now = plan.free_at;
            lost += u32::from(matches!(plan.fate, Fate::Lost(_)));
        }
        assert!((f64::from(lost) / 20_000.0 - 0.25).abs() < 0.0125, "{lost}");
    }

    #[test]
    fn a_line_that_is_never_idle_is_busy_all_the_time() {
        let packet = Packet { len: 1000, payload: 960, ..Packet::default() };
        for error in [0.0, 0.2, 0.5] {
            let mut l = link(error, 0);
            let (mut now, mut first_ns) = (Time::ZERO, 0);
            for _ in 0..20_000 {
                let plan = l.transmit(&packet, now);
                first_ns += (plan.tx_end - plan.tx_start).0;
                now = plan.free_at;
                let busy = first_ns + l.repeated(now).0;
                assert_eq!(busy, now.0, "{error}");
            }
            // Afterwards the repetitions that are left, and then nothing.
            let later = now + Dur::from_secs(1000);
            let rest = l.repeated(later).0 - l.repeated(now).0;
            assert_eq!(rest, l.booked.iter().map(|b| b.1.0).sum::<u64>());
        }
    }

    #[test]
    fn what_a_repetition_will_take_is_not_counted_before_its_time() {
        let mut l = link(0.9, 2);
        let packet = Packet { len: 1000, payload: 960, ..Packet::default() };
        while l.transmit(&packet, l.free_at).attempts == 1 {}
        let due = l.booked[0].0;
        assert_eq!(l.repeated(due), Dur::ZERO);
        assert_eq!(l.repeated(due + Dur::from_millis(3)), Dur::from_millis(3));
        assert_eq!(l.repeated(due + Dur::from_millis(300)), Dur::from_millis(8));
    }
}
