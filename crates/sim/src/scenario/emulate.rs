//! What real hosts need and simulated ones do not. A simulation ignores it.

use crosswind_base::{ConfigError, Dur, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Settings for `crosswind emulate` and `crosswind run --mode emulate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Emulate {
    /// Node in whose place the command runs. Left out: the receiver of the first flow, or the last node with one link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Node that stands for the outside world when `--uplink` is given. Left out: the sender of the first flow, or the
    /// first node with one link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink: Option<String>,
    /// MTU of every host's network device.
    pub mtu: Size,
    /// MTU of links, by name, both directions: a longer packet is cut (IPv4 that may be) or its sender is told (path MTU
    /// discovery). A host's device has the largest MTU of its own links, if that is less than `mtu`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub link_mtu: BTreeMap<String, Size>,
    /// Lateness that one packet in a hundred may exceed; a run beyond it is marked as not to be trusted.
    pub lateness: Dur,
    /// Programs that run beside the command, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub serve: BTreeMap<String, Serve>,
    /// Kernel settings of every host, such as `"net.ipv4.tcp_sack" = 1`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub sysctl: Map<String, Value>,
}

impl Default for Emulate {
    fn default() -> Emulate {
        Emulate {
            client: None,
            uplink: None,
            mtu: Size(1500),
            link_mtu: BTreeMap::new(),
            lateness: Dur::from_millis(1),
            serve: BTreeMap::new(),
            sysctl: Map::new(),
        }
    }
}

/// A program on one of the hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// Node in whose place it runs.
    pub node: String,
    /// The program and its arguments, as in a shell.
    pub command: String,
}

/// Every link carries 68 bytes of IPv4 (RFC 791).
const LINK_MTU_RANGE: std::ops::RangeInclusive<u64> = 68..=65_535;
const MTU_RANGE: std::ops::RangeInclusive<u64> = 576..=65_535;

impl Emulate {
    pub fn is_default(&self) -> bool {
        *self == Emulate::default()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !MTU_RANGE.contains(&self.mtu.0) {
            let expected = "an MTU from 576 B to 65535 B (1280 B or more for IPv6)";
            return Err(ConfigError::new("emulate.mtu", units::show_size(self.mtu), expected));
        }
        if let Some((link, mtu)) = self.link_mtu.iter().find(|(_, m)| !LINK_MTU_RANGE.contains(&m.0)) {
            let path = format!("emulate.link_mtu.{link}");
            return Err(ConfigError::new(path, units::show_size(*mtu), "an MTU from 68 B to 65535 B"));
        }
        for (name, value) in &self.sysctl {
            let path = format!("emulate.sysctl.{name}");
            if !name.starts_with("net.") {
                return Err(ConfigError::new(path, format!("`{name}`"), "a setting of the network, net.*"));
            }
            if !(value.is_string() || value.is_number()) {
                return Err(ConfigError::new(path, value.to_string(), "a number or text"));
            }
        }
        match self.serve.iter().find(|(_, s)| s.command.trim().is_empty()) {
            Some((name, _)) => Err(ConfigError::new(format!("emulate.serve.{name}.command"), "nothing", "a program")),
            None => Ok(()),
        }
    }
}
