//! # Wire
//!
//! **Source**: ns-2.35 (SimpleLink, DelayLink, its `avoidReordering_`); gurtov-2004 appendix A.2; ns3-device (a queue of 100 packets
//! behind a queue discipline, which stops when that is full).
//!
//! **Idea**: a packet of `L` bytes occupies the line for `8 L / rate` and arrives `delay` after its last bit has left:
//! `tx_end = tx_start + 8 L / rate`, `arrival = tx_end + delay`. A device in front of the line takes packets out of the queue ahead of
//! time: so many more than the one on the line, and of these so many bytes as `device_limits` allows. They wait there, where no queue
//! discipline sees them, and no queueing delay is counted.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 10 Mbit/s | ours: the access links of most published scenarios |
//! | `delay` | time | 10 ms | ours |
//! | `device_packets` | packets | 0 | ours: the queue is all that waits. ns-3.37: 100, where nobody sets it and no byte queue limits are on (ns3-device) |
//! | `device_limits` | - | `none` | Linux: none where the driver has no byte queue limits. `linux`: with them; `ns-3`: ns-3's, which count a packet until it begins |
//! | `device_hold` | time | 1 s | Linux, ns-3: for how long slack is looked at before the limit of bytes shrinks |
//!
//! **Deviations**: none. Times are whole nanoseconds; within a busy period the remainder is carried, so back-to-back
//! packets never drift. When `rate` or `delay` change during a run, what is on the line stays as it was planned, and
//! nothing overtakes: a packet that would arrive before the one sent ahead of it arrives its own `8 L / rate` after that one.
//! The device stays as it is during a run. Its card reports each packet by itself, where real ones join reports, which needs larger limits.
//!
//! **Checked by**: conformance suite; a million packets at an awkward rate; oracle `wire` with rates and delays that change; a device
//! before the line changes no arrival; oracle `device`: a device with its queue, its events and the kernel's counters, step by step;
//! ns-3.37's own device below its CoDel (`validation/tests/test_ns3.py`).

use super::device::Device;
pub use super::device::DeviceLimits;
use super::{Fate, Link, TxPlan};
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Serializer, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// No packet is shorter: the headers of IP and UDP.
pub const SHORTEST_BYTES: u64 = 28;

/// Parameters of a wire.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WireParams {
    /// Bits per second on the line.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Dur,
    /// Packets that the device in front of the line holds besides the one that is being sent.
    #[schemars(range(max = 1_000_000))]
    pub device_packets: u32,
    /// Which bytes it may hold.
    pub device_limits: DeviceLimits,
    /// Slack of the limit of bytes is looked at for so long before it is taken off.
    pub device_hold: Dur,
}

impl Default for WireParams {
    fn default() -> Self {
        WireParams {
            rate: BitRate(10_000_000),
            delay: Dur::from_millis(10),
            device_packets: 0,
            device_limits: DeviceLimits::None,
            device_hold: Dur::from_secs(1),
        }
    }
}

impl Params for WireParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_range("device_packets", f64::from(self.device_packets), 0.0..=1e6)?;
        if self.device_limits != DeviceLimits::None && self.device_packets == 0 {
            let hint = "`device_packets`, e.g. 256: the ring of the card";
            return Err(ConfigError::new("device_limits", "limits of bytes for no device", "a device").hint(hint));
        }
        params::check_delay("device_hold", self.device_hold)?;
        params::check_delay("delay", self.delay)
    }
}

impl WireParams {
    fn device(&self) -> (u32, DeviceLimits, Dur) {
        (self.device_packets, self.device_limits, self.device_hold)
    }
}

/// A line of constant rate and delay.
pub struct Wire {
    params: WireParams,
    serializer: Serializer,
    busy_until: Time,
    /// When the packet sent last arrives; it matters after the delay has become shorter.
    latest: Time,
    device: Option<Device>,
}

impl Wire {
    pub fn new(params: WireParams) -> Wire {
        let serializer = Serializer::new(params.rate);
        let device = Device::new(params.device_packets, params.device_limits, params.device_hold);
        let device = (params.device_packets > 0).then_some(device);
        Wire { params, serializer, busy_until: Time::ZERO, latest: Time::ZERO, device }
    }
}

impl Link for Wire {
    #[inline]
    fn is_in_order(&self) -> bool {
        true
    }
    #[inline]
    fn steady_rate(&self) -> Option<BitRate> {
        self.device.is_none().then(|| self.serializer.rate())
    }
    fn is_even(&self) -> bool {
        true
    }
    fn least_delay(&self) -> Dur {
        self.params.delay
    }
    #[inline]
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        self.transmit_bytes(u64::from(p.len), now)
    }
    fn nominal_rate(&self) -> Option<BitRate> {
        Some(self.params.rate)
    }
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        let new: WireParams = new.get();
        if new.rate != self.params.rate {
            self.serializer.set_rate(new.rate);
        }
        self.params = new;
        Ok(())
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let of_device = set.keys().find(|k| k.starts_with("device_"));
        let new = params::setting(&self.params, set)?;
        match of_device {
            Some(key) if new.get::<WireParams>().device() != self.params.device() => {
                Err(ConfigError::new(key, set[key].to_string(), "the device as it is"))
            }
            _ => Ok(new),
        }
    }
}

impl Wire {
    /// So many bytes on the line, which may be more than the packet has.
    #[inline]
    pub(super) fn transmit_bytes(&mut self, bytes: u64, now: Time) -> TxPlan {
        debug_assert!(self.device.is_some() || now >= self.busy_until, "the previous packet is still on the line");
        if now > self.busy_until {
            self.serializer.restart();
        }
        let took = self.serializer.take(bytes as u32);
        let tx_start = now.max(self.busy_until);
        let tx_end = tx_start + took;
        self.busy_until = tx_end;
        let mut arrival = tx_end + self.params.delay;
        if arrival < self.latest {
            arrival = self.latest + took;
        }
        self.latest = arrival;
        let free_at = match &mut self.device {
            Some(device) => device.take(bytes, tx_start, tx_end, now),
            None => tx_end,
        };
        TxPlan { free_at, fate: Fate::Deliver(arrival), attempts: 1, tx_start, tx_end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(len: u16) -> Packet {
        Packet { len, ..Packet::default() }
    }

    #[test]
    fn a_device_takes_packets_ahead_of_time_and_changes_no_arrival() {
        let params = |device_packets| WireParams {
            rate: BitRate(1_000_000),
            delay: Dur::from_millis(5),
            device_packets,
            ..WireParams::default()
        };
        for held in [1, 3] {
            let (mut plain, mut device) = (Wire::new(params(0)), Wire::new(params(held)));
            let (mut free, mut begins) = ([Time::ZERO; 2], Vec::new());
            for i in 0..10 {
                let p = packet(125 * (1 + i % 3));
                let [a, b] = [(&mut plain, free[0]), (&mut device, free[1])].map(|(w, at)| w.transmit(&p, at));
                assert_eq!((a.fate, a.tx_start, a.tx_end), (b.fate, b.tx_start, b.tx_end));
                begins.push(b.tx_start);
                free = [a.free_at, b.free_at];
                // The next may come in when fewer than `held` wait behind the one on the line.
                let first = begins.len().checked_sub(held as usize).map_or(Time::ZERO, |n| begins[n]);
                assert_eq!(b.free_at, first, "packet {i}, {held} held");
            }
        }
        for set in [serde_json::json!({"device_packets": 2}), serde_json::json!({"device_limits": "linux"})] {
            assert!(Wire::new(params(1)).read_change(set.as_object().unwrap()).is_err());
        }
        assert!(WireParams { device_limits: DeviceLimits::Linux, ..params(0) }.check().is_err());
        assert!(Wire::new(params(1)).steady_rate().is_none());
    }

    #[test]
    fn a_packet_arrives_after_serialisation_and_propagation() {
        let mut w =
            Wire::new(WireParams { rate: BitRate(64_000), delay: Dur::from_millis(300), ..WireParams::default() });
        let plan = w.transmit(&packet(576), Time::from_secs_f64(1.0));
        assert_eq!(plan.free_at, Time::from_secs_f64(1.072));
        assert_eq!(plan.fate, Fate::Deliver(Time::from_secs_f64(1.372)));
    }

    #[test]
    fn a_change_counts_for_what_is_sent_after_it_and_nothing_overtakes() {
        let mut w =
            Wire::new(WireParams { rate: BitRate(8_000_000), delay: Dur::from_millis(100), ..WireParams::default() });
        let set = |json: Value| json.as_object().unwrap().clone();
        let first = w.transmit(&packet(1000), Time::ZERO);
        assert_eq!(first.fate, Fate::Deliver(Time::from_secs_f64(0.101)));
        w.read_and_change(&set(serde_json::json!({"delay": "10 ms", "rate": "80 Mbit/s"})), Time::ZERO).unwrap();
        let second = w.transmit(&packet(1000), first.free_at);
        assert_eq!(second.free_at, Time::from_secs_f64(0.0011), "at the new rate");
        assert_eq!(second.fate, Fate::Deliver(Time::from_secs_f64(0.1011)), "its own time behind the first");
        let third = w.transmit(&packet(1000), Time::from_secs_f64(0.2));
        assert_eq!(third.fate, Fate::Deliver(Time::from_secs_f64(0.2101)));
        let wrong = w.read_and_change(&set(serde_json::json!({"rat": "1 Mbit/s"})), Time::ZERO).unwrap_err();
        assert!(wrong.hint.contains("rate"), "{wrong}");
    }

    #[test]
    fn a_busy_period_does_not_drift_and_an_idle_line_starts_afresh() {
        let mut w = Wire::new(WireParams { rate: BitRate(3_000_000), delay: Dur::ZERO, ..WireParams::default() });
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
