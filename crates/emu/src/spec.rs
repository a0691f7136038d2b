//! What is emulated: hosts, egresses, routes. Plain data that is built from a scenario elsewhere and travels as JSON, so
//! that a tape can carry it and be replayed alone.

use crate::too_big::Router;
use crosswind_net::diffserv::terms::BoundarySpec;
use crosswind_net::sched::classify::FlowNames;
use crosswind_record::option::TimeOfDay;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Everything that decides what the network does to an arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    /// Base seed, and which repetition this is: together they name the random streams, as in a simulation.
    pub seed: u64,
    pub rep: u32,
    pub hosts: Vec<Host>,
    pub egresses: Vec<EgressSpec>,
    pub routes: Vec<Route>,
    /// The boundaries of DiffServ domains. Their flows are those of `subjects`.
    #[serde(default)]
    pub boundaries: Vec<BoundarySpec>,
    /// What contracts tell apart: the data of declared flows, and what else goes from one host to another.
    #[serde(default)]
    pub subjects: Vec<Subject>,
    /// Flow `i` of the scenario is known by this port plus `i`; there are so many of them.
    pub flow_ports: FlowPorts,
    /// The host that receives the data of each declared flow; what they wait in queues is measured there.
    #[serde(default)]
    pub receivers: Vec<u32>,
    /// What filters may call them: the numbers of each name, from and up to.
    #[serde(default)]
    pub flow_names: BTreeMap<String, Vec<[u32; 2]>>,
    /// Index of the host to which everything goes that is addressed to nobody here.
    #[serde(default)]
    pub gateway: Option<u32>,
    /// The time of day at logical zero, for packets that carry a deadline.
    #[serde(default)]
    pub start: TimeOfDay,
}

impl FlowNames for Spec {
    fn ids(&self, name: &str) -> Option<Vec<Range<u32>>> {
        self.flow_names.get(name).map(|all| all.iter().map(|[from, to]| *from..*to).collect())
    }
    fn groups(&self) -> Vec<&str> {
        self.flow_names.keys().map(String::as_str).collect()
    }
    /// Packets say themselves where they come from.
    fn hosts(&self) -> Arc<[[u32; 2]]> {
        Arc::from([])
    }
}

/// An end of routes: a namespace with a network device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: String,
}

/// One direction of a link, in the words of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressSpec {
    pub link: String,
    pub direction: String,
    pub from: String,
    pub to: String,
    pub rate_bps: u64,
    pub body: Value,
    pub queue: Value,
    #[serde(default)]
    pub loss: Option<Value>,
    #[serde(default)]
    pub delayers: Value,
    /// Longer packets are cut, or their sender is told; none without.
    #[serde(default)]
    pub mtu_bytes: Option<u16>,
}

/// The egresses between two hosts, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub from: u32,
    pub to: u32,
    pub hops: Vec<u32>,
    /// The declared flow that goes this way; `None`: whatever else goes from host to host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// Boundaries on the way, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<Crossing>,
}

impl Route {
    /// The way of whatever goes from host to host.
    pub fn of_all(from: u32, to: u32, hops: Vec<u32>) -> Route {
        Route { from, to, hops, flow: None, crossings: Vec::new() }
    }
}

/// A route crosses a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crossing {
    /// Index of the hop behind which it stands.
    pub behind: u32,
    pub boundary: u32,
    /// Whose contracts count there.
    pub subject: u32,
}

/// Traffic that contracts tell from other traffic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    pub name: String,
    /// Empty for what belongs to no declared flow.
    pub group: String,
}

/// How packets of declared flows are told from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPorts {
    pub first: u16,
    pub flows: u32,
}

/// The addresses of host `i` are `i + 1` within these networks. 198.18.0.0/15 is set aside for tests of networks
/// (RFC 2544), fd63:7773::/64 is a unique local prefix (RFC 4193): neither is anybody's.
pub const V4_NETWORK: [u8; 4] = [198, 18, 0, 0];
pub const V4_PREFIX_BITS: u32 = 15;
pub const V6_NETWORK: [u8; 16] = [0xfd, 0x63, 0x77, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
pub const V6_PREFIX_BITS: u32 = 64;
/// More hosts than this have no place in one machine.
pub const HOSTS_MAX: usize = 1024;

pub fn v4_of(host: usize) -> [u8; 4] {
    let n = u32::from_be_bytes(V4_NETWORK) + host as u32 + 1;
    n.to_be_bytes()
}

pub fn v6_of(host: usize) -> [u8; 16] {
    let mut a = V6_NETWORK;
    a[12..].copy_from_slice(&(host as u32 + 1).to_be_bytes());
    a
}

/// Where the numbers of routers begin within the same networks, beyond all hosts.
const V4_ROUTERS: u32 = 1 << 15;
const V6_ROUTERS: u32 = 1 << 16;

/// The addresses from which a router speaks. Nobody can be reached there.
pub fn router(number: usize) -> Router {
    let mut v6 = V6_NETWORK;
    v6[12..].copy_from_slice(&(V6_ROUTERS + number as u32 + 1).to_be_bytes());
    let v4 = u32::from_be_bytes(V4_NETWORK) + V4_ROUTERS + number as u32 + 1;
    Router { v4: v4.to_be_bytes(), v6 }
}

/// The host that an address belongs to.
pub fn host_of_v4(a: [u8; 4]) -> Option<usize> {
    let n = u32::from_be_bytes(a).wrapping_sub(u32::from_be_bytes(V4_NETWORK));
    (1..=HOSTS_MAX as u32).contains(&n).then(|| n as usize - 1)
}

pub fn host_of_v6(a: [u8; 16]) -> Option<usize> {
    let n = u32::from_be_bytes([a[12], a[13], a[14], a[15]]);
    (a[..12] == V6_NETWORK[..12] && (1..=HOSTS_MAX as u32).contains(&n)).then(|| n as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_addresses_that_lead_back_to_it() {
        for h in [0, 1, 254, 255, 256, HOSTS_MAX - 1] {
            assert_eq!(host_of_v4(v4_of(h)), Some(h));
            assert_eq!(host_of_v6(v6_of(h)), Some(h));
        }
        assert_eq!(v4_of(0), [198, 18, 0, 1]);
        assert_eq!((host_of_v4([198, 18, 0, 0]), host_of_v4([8, 8, 8, 8])), (None, None));
        assert_eq!(host_of_v6([0xff; 16]), None);
        assert_eq!((host_of_v4(router(0).v4), host_of_v6(router(0).v6)), (None, None));
    }
}
