//! What a user may set on a UDT or SABUL flow, and the versions: values of this type under a name.

use crate::tcp::choices::{Switch, choice};
use crosswind_base::registry::Preset;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

choice!(
    /// Which rule raises the rate.
    Increase {
        /// By the capacity that packet pairs leave unused (UDT).
        Capacity,
        /// By the rate itself, while few packets are lost (SABUL).
        Rate,
    }
);
choice!(
    /// After which control intervals the rate is raised.
    Raise {
        /// All whose acknowledgement is new (the authors' agent for ns-2).
        Always,
        /// Those in which no loss was reported (igarashi section 2.17).
        Unreported,
    }
);
choice!(
    /// When further reports of one congestion reduce the rate again.
    Repeat {
        /// After a random number of them, about as many as came the time before (UDT).
        Random,
        /// After 16, 32, 64 .. of them (SABUL).
        Doubling,
    }
);
choice!(
    /// When the receiver reports losses that last.
    Again {
        /// All of them together: after two round-trip times, three, four .. (UDT).
        Rounds,
        /// Each one and a half round-trip times of an idle path after it was reported last, 20 ms at least; every 20 ms the
        /// receiver looks which these are (SABUL).
        Each,
    }
);

/// Parameters of UDT and SABUL, of both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdtParams {
    /// Bytes of a packet on the wire, IP header included. A `cbr` or `on-off` application decides it by its `payload`.
    pub packet_size: Size,
    /// Datagrams that wait when the application is faster than the rate; the newest is refused.
    pub send_queue_packets: u32,
    /// Time between two changes of the rate (`SYN`).
    pub control_interval: Dur,
    /// Time between two acknowledgements, a multiple of `control_interval`.
    pub ack_interval: Dur,
    /// When losses that last are reported again.
    pub report_again: Again,
    /// Which rule raises the rate.
    pub increase: Increase,
    /// With `increase = "capacity"`: after which control intervals.
    pub raise: Raise,
    /// Every n-th packet is followed at once by the next, so that the receiver can measure the capacity; 0 = never.
    pub pair_every_packets: u32,
    /// The window doubles until the first loss, without a rate.
    pub slow_start: Switch,
    /// Unacknowledged packets are limited to what arrives in a round-trip time and a control interval.
    pub window_control: Switch,
    /// Most packets that are unacknowledged.
    pub window_limit_packets: u32,
    /// Time between packets at the beginning.
    pub first_interval: Dur,
    /// Shortest and longest time between packets.
    pub interval_min: Dur,
    /// See `interval_min`.
    pub interval_max: Dur,
    /// The smoothed round-trip time is the longest time between packets, if it is shorter than `interval_max`.
    pub round_trip_bounds_interval: Switch,
    /// Factor on the time between packets in answer to a new congestion.
    pub decrease: f64,
    /// When further reports of one congestion reduce the rate again.
    pub repeat: Repeat,
    /// With `increase = "rate"`: the share of lost packets above which the rate is not raised.
    pub loss_limit: f64,
    /// With `increase = "rate"`: weight of the old value in the mean share of lost packets.
    pub loss_memory: f64,
    /// Time without any report after which all unacknowledged packets are retransmitted.
    pub expiry: Dur,
}

impl UdtParams {
    /// Refuses combinations that make no sense. `path` is where the parameters stand in the scenario.
    pub fn check(&self, path: &str) -> Result<(), ConfigError> {
        let wrong = |key: &str, found: String, expected: &str| {
            Err(ConfigError::new(format!("{path}.{key}"), found, expected.to_string()))
        };
        let headers = u64::from(super::packet::DATA_HEADERS_BYTES);
        if !(headers + 1..=65_535).contains(&self.packet_size.0) {
            let found = format!("{} B", self.packet_size.0);
            return wrong("packet_size", found, &format!("from {} B (headers and a byte) to 65535 B", headers + 1));
        }
        for (key, value) in
            [("send_queue_packets", self.send_queue_packets), ("window_limit_packets", self.window_limit_packets)]
        {
            if !(2..=100_000_000).contains(&value) {
                return wrong(key, value.to_string(), "from 2 to 100000000");
            }
        }
        for (key, value) in [
            ("control_interval", self.control_interval),
            ("ack_interval", self.ack_interval),
            ("first_interval", self.first_interval),
            ("interval_min", self.interval_min),
            ("expiry", self.expiry),
        ] {
            if value == Dur::ZERO || value > Dur::from_secs(3600) {
                return wrong(key, crosswind_base::units::show_dur(value), "more than zero, at most an hour");
            }
        }
        // What a clock does is work, whether there is news or not.
        for (key, value) in [("control_interval", self.control_interval), ("expiry", self.expiry)] {
            if value < Dur::from_micros(1) {
                return wrong(key, crosswind_base::units::show_dur(value), "at least 1 us");
            }
        }
        if self.ack_interval.0 % self.control_interval.0 != 0 {
            let found = crosswind_base::units::show_dur(self.ack_interval);
            return wrong("ack_interval", found, "a multiple of `control_interval`");
        }
        if self.interval_max < self.interval_min {
            return wrong(
                "interval_max",
                crosswind_base::units::show_dur(self.interval_max),
                "at least `interval_min`",
            );
        }
        if !(1.0..=16.0).contains(&self.decrease) {
            return wrong("decrease", self.decrease.to_string(), "from 1 to 16");
        }
        for (key, value) in [("loss_limit", self.loss_limit), ("loss_memory", self.loss_memory)] {
            if !(0.0..=1.0).contains(&value) {
                return wrong(key, value.to_string(), "from 0 to 1");
            }
        }
        Ok(())
    }
}

/// Every version; the first is the default.
pub const PRESETS: &[Preset<UdtParams>] = &[
    Preset { name: "udt-2", title: "UDT 2.0", source: "gu-udt-ns2, gu-grossman-2004", make: udt },
    Preset { name: "sabul-2.2", title: "SABUL 2.2", source: "gu-sabul", make: sabul },
];

fn udt() -> UdtParams {
    UdtParams {
        packet_size: Size(1500),
        send_queue_packets: 1000,
        control_interval: Dur::from_millis(10),
        ack_interval: Dur::from_millis(10),
        report_again: Again::Rounds,
        increase: Increase::Capacity,
        raise: Raise::Always,
        pair_every_packets: 16,
        slow_start: Switch::On,
        window_control: Switch::On,
        window_limit_packets: 100_000,
        first_interval: Dur::from_micros(1),
        interval_min: Dur::from_micros(1),
        interval_max: Dur::from_secs(3600),
        round_trip_bounds_interval: Switch::On,
        decrease: 1.125,
        repeat: Repeat::Random,
        loss_limit: 0.01,
        loss_memory: 0.125,
        expiry: Dur::from_secs(1),
    }
}

fn sabul() -> UdtParams {
    UdtParams {
        ack_interval: Dur::from_millis(100),
        report_again: Again::Each,
        increase: Increase::Rate,
        round_trip_bounds_interval: Switch::Off,
        pair_every_packets: 0,
        slow_start: Switch::Off,
        window_control: Switch::Off,
        window_limit_packets: 25_600,
        first_interval: Dur::from_micros(10),
        interval_min: Dur::from_micros(10),
        interval_max: Dur::from_millis(1),
        repeat: Repeat::Doubling,
        loss_limit: 0.001,
        loss_memory: 0.1,
        ..udt()
    }
}

/// Names of all versions.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|p| p.name).collect()
}

/// The parameters of a version.
pub fn preset(name: &str) -> Option<UdtParams> {
    PRESETS.iter().find(|p| p.name == name).map(|p| (p.make)())
}

/// Reads the `udt` table of a flow: `preset` with everything else as overrides.
pub fn read(value: &Value, path: &str) -> Result<UdtParams, ConfigError> {
    let params: UdtParams = crate::bundle::read(value, path, &names(), preset)?;
    params.check(path)?;
    Ok(params)
}
