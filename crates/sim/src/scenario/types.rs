//! The scenario file as types: the one source of truth for its keys, defaults and schema.
//!
//! `Scenario`, `Flow` and the templates are generic in the parts that carry a `type` or belong to a registry. With
//! `serde_json::Value` in those places they read a file key by key; with the final types they hold the checked result.

use super::body::{Body, Differing, written_body_schema};
use super::domains::{Contract, Domain};
use super::emulate::Emulate;
use super::host_queue::HostQueueParams;
use super::lifetime::LifetimeParams;
use super::sharing::Sharing;
use super::start::StartRule;
use super::timed::Timed;
use super::workloads::WorkloadParams;
use crosswind_base::{Dscp, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What to run: a network, the flows on it, and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario<T = Topology, L = Link, F = Flow> {
    /// Short name, also the name of the folder of results: a-z, 0-9, `-` and `_`.
    pub name: String,
    /// One line shown in reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Base seed of all random streams.
    #[serde(default = "one")]
    pub seed: u64,
    /// Hard stop. A run ends earlier when all finite flows are closed.
    pub duration: Dur,
    /// Flows (or groups of flows) whose end is the end of the run, whatever the others still do. Left out: all flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub until: Vec<String>,
    /// A template that creates nodes and links. Without one the links alone define the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<T>,
    /// Duplex links by name. Or the name of an access system such as "gprs" alone: the link `last-hop` from `server` to
    /// `mobile`.
    #[serde(default = "BTreeMap::<String, L>::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub link: BTreeMap<String, L>,
    /// Groups of equal flows by name.
    #[serde(default = "BTreeMap::<String, F>::new")]
    pub flow: BTreeMap<String, F>,
    /// DiffServ domains by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub domain: BTreeMap<String, Domain>,
    /// What domains promise to the traffic that enters them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contract: BTreeMap<String, Contract>,
    /// Changes while the run goes on, of links and flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Timed>,
    /// What hosts remember of ended connections.
    #[serde(default, skip_serializing_if = "Sharing::is_default")]
    pub sharing: Sharing,
    /// What is recorded beyond the summary tables.
    #[serde(default)]
    pub record: Record,
    /// What real hosts need; a simulation ignores it.
    #[serde(default, skip_serializing_if = "Emulate::is_default")]
    pub emulate: Emulate,
}

fn one() -> u64 {
    1
}

/// A duplex link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub from: String,
    pub to: String,
    pub body: Body,
}

impl Serialize for Link {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = Map::new();
        map.insert("from".into(), Value::from(self.from.as_str()));
        map.insert("to".into(), Value::from(self.to.as_str()));
        map.extend(self.body.to_map());
        map.serialize(s)
    }
}

impl JsonSchema for Link {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Link".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        written_body_schema(&[
            ("from", "Name of the node at one end; the link's forward direction starts here."),
            ("to", "Name of the node at the other end."),
        ])
    }
}

/// Ready-made networks. `template` chooses one; the other keys are its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "template", rename_all = "kebab-case")]
pub enum Topology {
    Dumbbell(Dumbbell),
    Chain(Chain),
    AccessTree(AccessTree),
}

/// `left-k -- router-left -- router-right -- right-k`: pairs of hosts that share one bottleneck.
///
/// Links: `left-1`.., `bottleneck`, `right-1`... A flow from `left` to `right` spreads its members over the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell<B = Body, P = Differing> {
    /// Number of hosts on each side.
    #[serde(default = "one_u32")]
    #[schemars(range(min = 1))]
    pub pairs: u32,
    /// Every link between a host and its router; forward is the direction from left to right. Default 1 Gbit/s, 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<B>,
    /// What differs from `access` on both host links of a pair, by its number: `2 = { delay = "40 ms" }`. Both links count
    /// in both directions: the round trip is four times this delay and twice that of the bottleneck.
    #[serde(default = "BTreeMap::<u32, P>::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub pair: BTreeMap<u32, P>,
    /// The link between the routers; forward is the direction from left to right.
    pub bottleneck: B,
}

/// `source-k -- router-0 -- router-1 -- .. -- router-n -- sink-k`: a row of bottlenecks with cross traffic on each.
///
/// Links: `source-1`.., `hop-1`.., `sink-1`.., and for hop k the hosts and links `cross-in-k` (at its first router) and
/// `cross-out-k` (at its second). A flow from `cross-in` to `cross-out` spreads its members over the hops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain<B = Body> {
    /// Number of links between routers.
    #[serde(default = "two_u32")]
    #[schemars(range(min = 1, max = 250))]
    pub hops: u32,
    /// Number of end-to-end pairs of a source and a sink.
    #[serde(default = "one_u32")]
    #[schemars(range(min = 1))]
    pub pairs: u32,
    /// Every link between a host and its router. Default 1 Gbit/s, 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<B>,
    /// Every link between two routers.
    pub hop: B,
}

/// `server -- router -- client-k`: one server, one router, and a last hop for each client.
///
/// Links: `trunk` (server to router) and `client-1`... A flow from or to `client` spreads its members over the clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessTree<B = Body> {
    /// Number of clients.
    #[serde(default = "one_u32")]
    #[schemars(range(min = 1))]
    pub clients: u32,
    /// The link from the server to the router. Default 1 Gbit/s, 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trunk: Option<B>,
    /// Every link from the router to a client.
    pub last_hop: B,
}

fn one_u32() -> u32 {
    1
}
fn two_u32() -> u32 {
    2
}

/// A group of equal flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow<S = StartRule, W = WorkloadParams> {
    /// Node that sends the data, or a group of nodes of the template.
    pub from: String,
    /// Node that receives the data, or a group of nodes of the template.
    pub to: String,
    /// Number of members. They are named `name-1`, `name-2`..; a single one has the name of the group.
    #[serde(default = "one_u32")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// When the members start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<S>,
    /// DiffServ code point of all packets of the flow, in both directions: a name such as `EF`, or a number.
    #[serde(default, skip_serializing_if = "is_default_treatment")]
    pub dscp: Dscp,
    /// Sums of queueing delays beyond which packets come too late for the application; their number is counted for each
    /// (`late_1_packets`..). For flows over UDP whose queues know the option (type `early-discard`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    pub queue_delay_limits: Vec<Dur>,
    /// How long a packet is worth having: a span such as "5 s", "rto", or a table. Links with an `lpd` queue heed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<LifetimeParams>,
    /// The queue of the sending host, where its own interface is the bottleneck: `{ limit_packets = 30, rate = "100 Mbit/s" }`. The
    /// sender blocks while it is full. For flows over UDP; over TCP it is `tcp.host_queue`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<HostQueueParams>,
    /// What the application does.
    pub workload: W,
    /// What carries the data: a name, or a table with its `type` and its parameters. Left out: TCP, or UDP for workloads that send
    /// messages. A key with the name of a transport that has parameters (`tcp`, `udt`..) is another way to say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "transport_reference")]
    pub transport: Option<Value>,
    /// A preset and what differs from it. Workloads over UDP have none.
    #[serde(default = "empty_object")]
    #[schemars(schema_with = "tcp_reference")]
    pub tcp: Value,
    /// Of a transport that sends at a rate: its parameters, under the key of its own. What reads a flow takes such keys out before
    /// the others are read, so that the table of transports alone lists them.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub rate: Map<String, Value>,
}

fn is_default_treatment(d: &Dscp) -> bool {
    *d == Dscp::DEFAULT
}
fn empty_object() -> Value {
    Value::Object(Map::new())
}
fn tcp_reference(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"$ref": "#/$defs/tcp"})
}

fn transport_reference(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"$ref": "#/$defs/transport"})
}

/// What is recorded beyond the summary tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Interval of the time series. Left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Dur>,
    /// What the time series hold.
    #[serde(skip_serializing_if = "Series::is_default")]
    pub series: Series,
    /// Flows, groups of flows and links that have time series. Left out: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Vec<String>>,
    /// Flows (or groups of flows) whose events are logged.
    pub events: Events,
    /// Parts of the run, each from a time on until before another, in which events and packets are recorded. Left out: all of
    /// it. The log in memory holds the first four million events of a run, fewer if many runs leave no room for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<Part>,
    /// Flows (or groups of flows) whose histograms are kept: round-trip times, delays, delay variations. A time series
    /// keeps those of all flows and links.
    pub hist: Events,
    /// File to which these events stream, as a NumPy array of records, below the folder of the results. Left out: they are kept in memory, for the tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_file: Option<String>,
    /// File for the packets, in pcapng format, below the folder of the results. Left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcap: Option<String>,
    /// Where the packets are captured.
    pub pcap_at: PcapAt,
    /// Folder for what QUIC stacks log of themselves (qlog): `<flow>-client.sqlog` and `<flow>-server.sqlog`, below the folder of the
    /// results. Left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qlog: Option<String>,
}

/// A part of a run: from a time on until before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "two times, such as [\"30 s\", \"31 s\"]")]
pub struct Part(pub Dur, pub Dur);

/// What time series hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Series {
    /// Momentary values: windows, backlogs, rates since the sample before.
    #[default]
    Gauges,
    /// What has been counted since the start of the run; the difference of two samples is what happened between them. Of
    /// links also the backlog in packets at that time.
    Totals,
}

impl Series {
    fn is_default(&self) -> bool {
        *self == Series::default()
    }
}

/// The ends of a flow at which its packets are captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PcapAt {
    /// At both ends. The file has one interface for each: a packet is in it as it was sent and as it arrived.
    #[default]
    Both,
    /// At the sender of data only. Programs that know nothing of interfaces, such as tcptrace, need one end.
    Sender,
    /// At the receiver of data only.
    Receiver,
}

/// `"all"`, or the names of flows or groups of flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Events {
    All(AllWord),
    Of(Vec<String>),
}

/// The word `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AllWord {
    #[serde(rename = "all")]
    All,
}

impl Default for Events {
    fn default() -> Events {
        Events::Of(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Events, D::Error> {
        use serde::de::Error;
        let wrong = || D::Error::custom("expected \"all\" or a list of flow names");
        match Value::deserialize(d)? {
            Value::String(s) if s == "all" => Ok(Events::All(AllWord::All)),
            Value::Array(items) => {
                let names = items.iter().map(|v| v.as_str().map(String::from)).collect::<Option<Vec<_>>>();
                Ok(Events::Of(names.ok_or_else(wrong)?))
            }
            _ => Err(wrong()),
        }
    }
}
