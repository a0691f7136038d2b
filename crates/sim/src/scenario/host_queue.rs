//! What a host that sends datagrams has in front of the network: parameters of [`crate::host_queue`].

use crosswind_base::units::show_rate;
use crosswind_base::{BitRate, ConfigError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The queue of a host whose own interface is the bottleneck. A sender of datagrams blocks while it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostQueueParams {
    /// Packets that may be in the host: in its socket, its queue and the ring of its driver.
    #[schemars(range(min = 1))]
    pub limit_packets: u32,
    /// Bits per second, of IP, that its interface (or its bus) carries.
    pub rate: BitRate,
}

const LIMIT_PACKETS_MAX: u32 = 1_000_000;

impl HostQueueParams {
    /// Paths are relative to the flow.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=LIMIT_PACKETS_MAX).contains(&self.limit_packets) {
            let expected = format!("1 to {LIMIT_PACKETS_MAX} packets");
            return Err(ConfigError::new("host_queue.limit_packets", self.limit_packets.to_string(), expected));
        }
        crosswind_net::params::check_rate("host_queue.rate", self.rate)
            .map_err(|e| ConfigError { found: show_rate(self.rate), ..e })
    }
}
