//! Access systems by name: what `profile = "gprs"` in a link means. The forward direction is the downlink.

use crosswind_base::ConfigError;
use serde_json::{Map, Value, json};

/// One system.
pub struct Profile {
    pub name: &'static str,
    pub title: &'static str,
    /// Where the numbers come from.
    pub source: &'static str,
    make: fn() -> Value,
}

/// Rate, rate of the uplink, one-way delay, and how many packets wait in front of either direction.
fn duplex(rate: &str, up: &str, delay: &str, limit_packets: u32) -> Value {
    let queue = json!({"type": "droptail", "limit": format!("{limit_packets} packets")});
    json!({"type": "wire", "rate": rate, "delay": delay, "queue": queue, "reverse": {"rate": up}})
}

fn gprs_allocating() -> Value {
    let mut link = duplex("30 kbit/s", "10 kbit/s", "100 ms", 10);
    let channel = |delay: [&str; 2], hold: [&str; 2]| json!({"delay": {"uniform": delay}, "hold": {"uniform": hold}});
    link["channel_allocation"] = channel(["160 ms", "190 ms"], ["2 s", "5 s"]);
    link["reverse"]["channel_allocation"] = channel(["500 ms", "600 ms"], ["10 ms", "400 ms"]);
    link
}

const THESIS: &str = "gurtov-2004 Table 2.1 (delays are half its round-trip times) and section 6.2 (buffers); uplink rates: ns-2.35 \
                      (`mtp.tcl`)";
const SCRIPT: &str = "ns-2.35 (`mtp.tcl`)";

/// All of them, in the order of the reference.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "gsm",
        title: "GSM data: 9.6 kbit/s, 500 ms one way, 10 packets",
        source: SCRIPT,
        make: || duplex("9.6 kbit/s", "9.6 kbit/s", "500 ms", 10),
    },
    Profile {
        name: "gprs",
        title: "GPRS: 30 kbit/s down, 10 kbit/s up, 300 ms one way, 7 packets",
        source: THESIS,
        make: || duplex("30 kbit/s", "10 kbit/s", "300 ms", 7),
    },
    Profile {
        name: "gprs-allocating",
        title: "GPRS whose channels are allocated on demand: 30 and 10 kbit/s, 100 ms one way, 10 packets",
        source: "ns-2.35 (`mtp.tcl`, `runall.cmd`); gurtov-2004 section 3.3.2",
        make: gprs_allocating,
    },
    Profile {
        name: "umts",
        title: "UMTS: 384 kbit/s down, 64 kbit/s up, 150 ms one way, 20 packets",
        source: THESIS,
        make: || duplex("384 kbit/s", "64 kbit/s", "150 ms", 20),
    },
    Profile {
        name: "wlan",
        title: "Wireless LAN: 11 Mbit/s, 5 ms one way, 7 packets",
        source: THESIS,
        make: || duplex("11 Mbit/s", "11 Mbit/s", "5 ms", 7),
    },
    Profile {
        name: "lan",
        title: "LAN: 100 Mbit/s, 0.5 ms one way, 20 packets",
        source: "gurtov-2004 Table 2.1; the buffer is ours",
        make: || duplex("100 Mbit/s", "100 Mbit/s", "0.5 ms", 20),
    },
    Profile {
        name: "geo",
        title: "Geostationary satellite: 2 Mbit/s down, 200 kbit/s up, 250 ms one way, 20 packets",
        source: SCRIPT,
        make: || duplex("2 Mbit/s", "200 kbit/s", "250 ms", 20),
    },
];

impl Profile {
    /// The keys of the link that it stands for.
    pub fn body(&self) -> Map<String, Value> {
        match (self.make)() {
            Value::Object(keys) => keys,
            _ => unreachable!("profiles are tables"),
        }
    }
}

/// The keys of the link that a profile stands for; `path` is where its name is written.
pub fn body(name: &str, path: &str) -> Result<Map<String, Value>, ConfigError> {
    match PROFILES.iter().find(|p| p.name == name) {
        Some(p) => Ok(p.body()),
        None => {
            let names: Vec<&str> = PROFILES.iter().map(|p| p.name).collect();
            Err(ConfigError::unknown(path, name, "a profile", &names))
        }
    }
}
