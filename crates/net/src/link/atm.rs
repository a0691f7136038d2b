//! # ATM line
//!
//! **Source**: rfc2684 section 4 (LLC/SNAP); itu-i363-5 (AAL5: a trailer of 8 bytes, padding to whole cells).
//!
//! **Idea**: a wire whose `rate` counts cells. A packet of `L` bytes travels in `n = ceil((L + encapsulation + 8) / 48)` cells of 53
//! bytes and occupies the line for `8 * 53 n / rate`; it arrives `delay` after its last cell. With 1500 bytes 88 % of the rate are
//! left for IP, with an acknowledgement of 52 bytes half.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 155.52 Mbit/s | ours: STM-1 |
//! | `delay` | time | 10 ms | as `wire` |
//! | `encapsulation` | bytes | 8 B | rfc2684 section 5.1 (routed, LLC/SNAP); 0 B: one protocol per circuit |
//!
//! **Deviations**: 1. The cells of a packet leave together: circuits that share a line are not interleaved, cells are neither lost nor
//! policed. (The delay of small packets behind large ones of another circuit is overstated.)
//!
//! **Checked by**: conformance suite; numbers of cells by hand; the efficiency that igarashi prints.

use super::{Link, TxPlan, wire};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Bytes of a cell, of its payload, and of AAL5's trailer.
const CELL_BYTES: u64 = 53;
const CELL_PAYLOAD_BYTES: u64 = 48;
const TRAILER_BYTES: u64 = 8;

/// Parameters of an ATM line.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtmParams {
    /// Bits of cells per second on the line.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Dur,
    /// Bytes in front of a packet within its AAL5 frame.
    pub encapsulation: Size,
}

impl Default for AtmParams {
    fn default() -> Self {
        AtmParams { rate: BitRate(155_520_000), delay: Dur::from_millis(10), encapsulation: Size(8) }
    }
}

impl AtmParams {
    /// Cells of a packet.
    fn cells(&self, len: u16) -> u64 {
        (u64::from(len) + self.encapsulation.0 + TRAILER_BYTES).div_ceil(CELL_PAYLOAD_BYTES)
    }
}

impl Params for AtmParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)?;
        if self.encapsulation.0 > 1000 {
            let found = format!("{} B", self.encapsulation.0);
            return Err(ConfigError::new("encapsulation", found, "at most 1000 B"));
        }
        Ok(())
    }
}

/// Longer packets lose a smaller share of the line to cells than the shortest of these do.
const LONGEST_BYTES: u16 = 1600;

/// A line of cells.
pub struct Atm {
    params: AtmParams,
    line: wire::Wire,
}

impl Atm {
    pub fn new(params: AtmParams) -> Atm {
        let line =
            wire::Wire::new(wire::WireParams { rate: params.rate, delay: params.delay, ..wire::WireParams::default() });
        Atm { params, line }
    }
}

impl Link for Atm {
    #[inline]
    fn is_in_order(&self) -> bool {
        true
    }
    /// The least rate at which any packet gets through.
    fn steady_rate(&self) -> Option<BitRate> {
        let share = |len: u16| f64::from(len) / (self.params.cells(len) * CELL_BYTES) as f64;
        let least = (wire::SHORTEST_BYTES as u16..LONGEST_BYTES).map(share).fold(1.0, f64::min);
        Some(BitRate((self.params.rate.0 as f64 * least) as u64)).filter(|r| r.0 > 0)
    }
    fn nominal_rate(&self) -> Option<BitRate> {
        Some(self.params.rate)
    }
    fn is_even(&self) -> bool {
        true
    }
    fn least_delay(&self) -> Dur {
        self.params.delay
    }
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        self.line.transmit_bytes(self.params.cells(p.len) * CELL_BYTES, now)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let new: AtmParams = params::merged(&self.params, set)?;
        let line = set.iter().filter(|(key, _)| ["rate", "delay"].contains(&key.as_str()));
        let line = self.line.read_change(&line.map(|(k, v)| (k.clone(), v.clone())).collect())?;
        Ok(Setting::new((new, line)))
    }
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        let (new, line): (AtmParams, Setting) = new.get();
        self.line.change(&line, now)?;
        self.params = new;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Fate;
    use super::*;

    fn cells(len: u16, encapsulation: u64) -> u64 {
        AtmParams { encapsulation: Size(encapsulation), ..AtmParams::default() }.cells(len)
    }

    #[test]
    fn a_packet_takes_whole_cells() {
        // 32 bytes, header and trailer fill one cell; one byte more takes a second one.
        assert_eq!([cells(32, 8), cells(33, 8), cells(80, 8), cells(81, 8)], [1, 2, 2, 3]);
        // A full Ethernet payload: 1516 bytes in 32 cells with 20 bytes of padding; an ACK with timestamps: 68 in two.
        assert_eq!([cells(1500, 8), cells(52, 8)], [32, 2]);
        // Without LLC/SNAP an acknowledgement of 40 bytes is exactly one cell.
        assert_eq!([cells(40, 0), cells(41, 0)], [1, 2]);
    }

    #[test]
    fn the_line_is_busy_for_its_cells_and_the_last_one_is_what_arrives() {
        // A cell takes 1 us.
        let params = AtmParams { rate: BitRate(424_000_000), delay: Dur::from_millis(50), ..AtmParams::default() };
        let mut atm = Atm::new(params);
        let plan = atm.transmit(&Packet { len: 1500, ..Packet::default() }, Time::from_secs_f64(1.0));
        assert_eq!(plan.free_at, Time::from_secs_f64(1.000_032));
        assert_eq!(plan.fate, Fate::Deliver(Time::from_secs_f64(1.050_032)));
        let set = serde_json::json!({"rate": "42400 kbit/s", "encapsulation": "0 B"});
        atm.read_and_change(set.as_object().expect("a table"), plan.free_at).expect("both can change");
        let slow = atm.transmit(&Packet { len: 40, ..Packet::default() }, plan.free_at);
        assert_eq!(slow.free_at, Time::from_secs_f64(1.000_042), "one cell of ten microseconds");
        let wrong = serde_json::json!({"encapsulation": "2000 B"});
        assert_eq!(slow.fate, Fate::Deliver(slow.free_at + Dur::from_millis(50)));
        assert!(atm.read_and_change(wrong.as_object().expect("a table"), slow.free_at).is_err());
    }

    #[test]
    fn no_packet_gets_through_at_less_than_the_rate_it_tells() {
        let mut atm = Atm::new(AtmParams { rate: BitRate(424_000_000), ..AtmParams::default() });
        let least = atm.steady_rate().expect("cells come at a steady rate");
        // 33 bytes take two cells: 106 bytes.
        assert_eq!(least, BitRate((424e6 * 33.0 / 106.0) as u64));
        let mut now = Time::ZERO;
        for len in wire::SHORTEST_BYTES as u16..9000 {
            let plan = atm.transmit(&Packet { len, ..Packet::default() }, now);
            assert!((plan.free_at - now) <= least.tx_time(u64::from(len)), "{len} bytes");
            now = plan.free_at;
        }
    }

    #[test]
    fn what_is_left_of_the_printed_cell_rates_is_near_the_printed_maxima() {
        // igarashi Table 4.4: 600 and 120 Mbit/s of cells, at the most 522 and 105 Mbit/s of TCP; segments have 1448 bytes.
        for (cell_mbps, printed) in [(600.0, 522.0), (120.0, 105.0)] {
            let share = 1448.0 / (cells(1500, 8) * CELL_BYTES) as f64;
            let left: f64 = cell_mbps * share;
            assert!((left / printed - 1.0).abs() < 0.03, "{left} of {printed}");
        }
    }
}
