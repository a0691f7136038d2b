//! # Wire
//!
//! **Source**: ns-2.35 (SimpleLink, DelayLink).
//!
//! **Idea**: a packet of `L` bytes occupies the line for `8 L / rate` and arrives `delay` after its last bit has left:
//! `tx_end = tx_start + 8 L / rate`, `arrival = tx_end + delay`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 10 Mbit/s | ours: the access links of most published scenarios |
//! | `delay` | time | 10 ms | ours |
//!
//! **Deviations**: none. Times are whole nanoseconds; within a busy period the remainder is carried, so back-to-back
//! packets never drift.
//!
//! **Checked by**: conformance suite; a million packets at an awkward rate.

use super::{Fate, Link, TxPlan};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Serializer, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of a wire.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WireParams {
    /// Bits per second on the line.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Dur,
}

impl Default for WireParams {
    fn default() -> Self {
        WireParams { rate: BitRate(10_000_000), delay: Dur::from_millis(10) }
    }
}

impl Params for WireParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)
    }
}

/// A line of constant rate and delay.
pub struct Wire {
    delay: Dur,
    serializer: Serializer,
    busy_until: Time,
}

impl Wire {
    pub fn new(params: WireParams) -> Wire {
        Wire { delay: params.delay, serializer: Serializer::new(params.rate), busy_until: Time::ZERO }
    }
}

impl Link for Wire {
    #[inline]
    fn is_in_order(&self) -> bool {
        true
    }
    #[inline]
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        debug_assert!(now >= self.busy_until, "the previous packet is still on the line");
        if now > self.busy_until {
            self.serializer.restart();
        }
        let tx_end = now + self.serializer.take(p.len as u32);
        self.busy_until = tx_end;
        TxPlan { free_at: tx_end, fate: Fate::Deliver(tx_end + self.delay), attempts: 1, tx_start: now, tx_end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(len: u16) -> Packet {
        Packet { len, ..Packet::default() }
    }

    #[test]
    fn a_packet_arrives_after_serialisation_and_propagation() {
        let mut w = Wire::new(WireParams { rate: BitRate(64_000), delay: Dur::from_millis(300) });
        let plan = w.transmit(&packet(576), Time::from_secs_f64(1.0));
        assert_eq!(plan.free_at, Time::from_secs_f64(1.072));
        assert_eq!(plan.fate, Fate::Deliver(Time::from_secs_f64(1.372)));
    }

    #[test]
    fn a_busy_period_does_not_drift_and_an_idle_line_starts_afresh() {
        let mut w = Wire::new(WireParams { rate: BitRate(3_000_000), delay: Dur::ZERO });
        // 1000 bytes take 2 666 666.67 ns.
        let mut now = Time::ZERO;
        let mut ends = Vec::new();
        for _ in 0..3 {
            now = w.transmit(&packet(1000), now).free_at;
            ends.push(now.0);
        }
        assert_eq!(ends, [2_666_666, 5_333_333, 8_000_000]);
        let first = w.transmit(&packet(1000), now).free_at;
        let later = first + Dur(1);
        assert_eq!(w.transmit(&packet(1000), later).free_at - later, Dur(2_666_666), "the carry of 2/3 ns is gone");
    }
}
