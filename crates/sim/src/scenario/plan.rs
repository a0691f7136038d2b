//! A scenario ready to be run: flat tables of nodes, egresses, routes and flows.

use super::body::{Direction, EgressSpec};
use super::change::Change;
use super::domains::{Crossing, EdgePlan};
use super::host_queue::HostQueueParams;
use super::lifetime::LifetimeParams;
use super::sharing::Sharing;
use super::start::{self, Repetition, StartRule};
use super::transport::TransportPlan;
use super::types::Record;
use super::workloads::WorkloadParams;
use crosswind_base::{Dscp, Dur, Time};
use crosswind_net::registry::EgressMaker;
use crosswind_net::sched::classify::FlowNames;
use std::ops::Range;
use std::sync::Arc;

/// One direction of a link. Egress `2 * i` is the forward direction of link i, `2 * i + 1` the reverse one.
#[derive(Clone, Debug)]
pub struct EgressPlan {
    /// Name of the link; both directions share it.
    pub name: String,
    pub direction: Direction,
    /// Indices into [`Plan::nodes`].
    pub from: u32,
    pub to: u32,
    /// Queue, link and loss. Links of one template share it, so it can be built from once per `Arc`.
    pub spec: Arc<EgressSpec>,
    /// Whether the timeline changes it.
    pub is_changed: bool,
}

/// What the members of a group of flows have in common.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    pub name: String,
    /// Number of flows: members times the connections of each.
    pub count: u32,
    /// Index of the first flow in [`Plan::flows`]; the others follow it.
    pub first: u32,
    pub dscp: Dscp,
    pub start: StartRule,
    pub lifetime: Option<LifetimeParams>,
    pub host_queue: Option<HostQueueParams>,
    pub workload: WorkloadParams,
    /// Sums of queueing delays beyond which packets are counted as late.
    pub queue_delay_limits: Vec<Dur>,
    pub transport: TransportPlan,
    /// Whether events of all members are logged.
    pub events: bool,
}

impl GroupPlan {
    /// Whether its flows run over something else than TCP: numbered packets, which one end sends and the other hears or not.
    pub fn is_datagrams(&self) -> bool {
        !self.transport.is_tcp()
    }
}

/// One flow. Its index in [`Plan::flows`] is its id.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    pub name: String,
    /// Index into [`Plan::groups`].
    pub group: u32,
    /// Number of the member of the group, from zero.
    pub index_in_group: u32,
    /// Number of the connection of this member, from zero: the members of most workloads have one.
    pub connection: u32,
    /// Indices into [`Plan::nodes`].
    pub from: u32,
    pub to: u32,
    /// Indices into [`Plan::routes`]: of the data, and of the acknowledgements.
    pub route_forward: u32,
    pub route_reverse: u32,
    /// Whether the events of this flow are logged.
    pub events: bool,
    /// Whether its histograms are kept.
    pub hist: bool,
    /// Whether the run goes on until it is over.
    pub is_awaited: bool,
}

impl FlowPlan {
    /// Name of the member that this flow belongs to: its own, without the connection.
    pub fn member(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(member, _)| member)
    }
}

/// A scenario ready to be run any number of times.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    pub title: String,
    pub seed: u64,
    pub duration: Dur,
    pub nodes: Vec<String>,
    pub egresses: Vec<EgressPlan>,
    /// What makes each of them. Links of one template share theirs.
    pub makers: Vec<Arc<EgressMaker>>,
    /// Each route is the list of its egresses, in order. No two routes are for the same pair of nodes.
    pub routes: Vec<Vec<u32>>,
    pub groups: Vec<GroupPlan>,
    pub flows: Vec<FlowPlan>,
    /// The edges of domains, and which flows cross them where, in the order of flows.
    pub edges: Vec<EdgePlan>,
    pub crossings: Vec<Crossing>,
    /// Changes during a run, in the order of time.
    pub timeline: Vec<Change>,
    pub sharing: Sharing,
    pub record: Record,
}

impl Plan {
    pub fn group(&self, flow: &FlowPlan) -> &GroupPlan {
        &self.groups[flow.group as usize]
    }
    /// Number of flows of the generator (the member of a group) that begins with each flow; 0 for its other connections.
    pub fn generators(&self) -> Vec<u32> {
        let of = |f: &FlowPlan| if f.connection > 0 { 0 } else { self.group(f).workload.connections() };
        self.flows.iter().map(of).collect()
    }
    /// When each flow starts in one repetition. The later connections of a member start when its application says so.
    pub fn starts(&self, rep: Repetition) -> Vec<Time> {
        let mut out = Vec::with_capacity(self.flows.len());
        for g in &self.groups {
            let of_group = &self.flows[g.first as usize..][..g.count as usize];
            match g.start {
                StartRule::Poisson(rate) => {
                    let mut arrivals = start::arrivals(rate, rep, &g.name);
                    let mut at = Time::ZERO;
                    out.extend(of_group.iter().map(|f| {
                        if f.connection == 0 {
                            at = arrivals.next().expect("arrivals never end");
                        }
                        at
                    }));
                }
                rule => out.extend(of_group.iter().map(|f| rule.resolve(rep, f.index_in_group, f.member()))),
            }
        }
        out
    }
}

impl Plan {
    /// Whether something has a time series. `names`: what it, or what it belongs to, is called.
    fn is_sampled(&self, names: &[&str]) -> bool {
        self.record.sampled.as_ref().is_none_or(|wanted| wanted.iter().any(|w| names.contains(&w.as_str())))
    }
    pub fn is_sampled_flow(&self, flow: usize) -> bool {
        let f = &self.flows[flow];
        self.is_sampled(&[&f.name, f.member(), &self.group(f).name])
    }
    /// Both directions of a link have a time series, or none.
    pub fn is_sampled_link(&self, egress: usize) -> bool {
        self.is_sampled(&[&self.egresses[egress].name])
    }
}

/// A name is that of a group, of a member of a group (with all its connections), or of one flow.
impl FlowNames for Plan {
    fn ids(&self, name: &str) -> Option<Vec<Range<u32>>> {
        if let Some(g) = self.groups.iter().find(|g| g.name == name) {
            return Some(std::iter::once(g.first..g.first + g.count).collect());
        }
        let named = |i: &u32| {
            let f = &self.flows[*i as usize];
            f.name == name || f.member() == name
        };
        let ids: Vec<Range<u32>> = (0..self.flows.len() as u32).filter(named).map(|i| i..i + 1).collect();
        (!ids.is_empty()).then_some(ids)
    }
    fn groups(&self) -> Vec<&str> {
        self.groups.iter().map(|g| g.name.as_str()).collect()
    }
    fn hosts(&self) -> Arc<[[u32; 2]]> {
        self.flows.iter().map(|f| [f.from, f.to]).collect()
    }
}
