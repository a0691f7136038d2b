//! A scenario ready to be run: flat tables of nodes, egresses, routes and flows.

use super::body::{Direction, EgressSpec};
use super::change::Change;
use super::domains::{BoundaryPlan, Crossing};
use super::host_queue::HostQueueParams;
use super::lifetime::LifetimeParams;
use super::lookup::Lookup;
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
    /// The boundaries of domains, and which flows cross them where, in the order of flows.
    pub boundaries: Vec<BoundaryPlan>,
    pub crossings: Vec<Crossing>,
    /// Changes during a run, in the order of time.
    pub timeline: Vec<Change>,
    pub sharing: Sharing,
    pub record: Record,
    pub(super) lookup: Lookup,
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
    /// Both directions of the link with this name.
    pub(super) fn link(&self, name: &str) -> Option<[u32; 2]> {
        self.lookup.link(name)
    }
    pub fn is_sampled_flow(&self, flow: usize) -> bool {
        let f = &self.flows[flow];
        self.lookup.is_sampled(&[&f.name, f.member(), &self.group(f).name])
    }
    /// Both directions of a link have a time series, or none.
    pub fn is_sampled_link(&self, egress: usize) -> bool {
        self.lookup.is_sampled(&[&self.egresses[egress].name])
    }

    /// Groups stand in the order of their names.
    fn group_named(&self, name: &str) -> Option<&GroupPlan> {
        self.groups.binary_search_by(|g| g.name.as_str().cmp(name)).ok().map(|i| &self.groups[i])
    }

    /// The flows of one member of a group: `group` where there is one only, else `group-3`.
    fn member_named(&self, name: &str) -> Option<Range<u32>> {
        if let Some(g) = self.group_named(name) {
            return (g.members() == 1).then(|| g.first..g.first + g.count);
        }
        let (group, number) = name.rsplit_once('-')?;
        let g = self.group_named(group).filter(|g| g.members() > 1)?;
        let number = number.parse::<u32>().ok().filter(|k| (1..=g.members()).contains(k))?;
        let first = g.first + (number - 1) * g.workload.connections();
        let is_it = self.flows[first as usize].member() == name;
        is_it.then(|| first..first + g.workload.connections())
    }
}

impl GroupPlan {
    fn members(&self) -> u32 {
        self.count / self.workload.connections()
    }
}

/// A name is that of a group, of a member of a group (with all its connections), or of one flow.
impl FlowNames for Plan {
    fn ids(&self, name: &str) -> Option<Vec<Range<u32>>> {
        if let Some(g) = self.group_named(name) {
            return Some(std::iter::once(g.first..g.first + g.count).collect());
        }
        let (member, is_connection) = name.split_once('/').map_or((name, false), |(member, _)| (member, true));
        let mut flows = self.member_named(member)?;
        let ids = match is_connection {
            false => flows,
            true => flows.find(|i| self.flows[*i as usize].name == name).map(|i| i..i + 1)?,
        };
        Some(std::iter::once(ids).collect())
    }
    fn groups(&self) -> Vec<&str> {
        self.groups.iter().map(|g| g.name.as_str()).collect()
    }
    fn hosts(&self) -> Arc<[[u32; 2]]> {
        self.lookup.hosts()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gprs, plan};
    use super::*;
    use serde_json::json;

    /// What a walk through all flows finds.
    fn by_walking(plan: &Plan, name: &str) -> Vec<u32> {
        let is_named = |i: &u32| {
            let f = &plan.flows[*i as usize];
            plan.group(f).name == name || f.name == name || f.member() == name
        };
        (0..plan.flows.len() as u32).filter(is_named).collect()
    }

    #[test]
    fn a_name_finds_what_a_walk_through_all_flows_finds() {
        let mut v = gprs();
        let page =
            |count: u32| json!({ "from": "server", "to": "mobile", "count": count, "workload": { "type": "page" } });
        for (name, count) in [("page", 1), ("pages", 12), ("a-2", 1), ("a", 1), ("z-1-2", 3)] {
            v["flow"][name] = page(count);
        }
        let plan = plan(&v).expect("a valid scenario");
        let mut names: Vec<String> = plan.flows.iter().flat_map(|f| [f.name.clone(), f.member().into()]).collect();
        names.extend(plan.groups.iter().map(|g| g.name.clone()));
        let wrong =
            ["pages-13", "pages-0", "pages-01", "pages-+1", "page-1", "a-1", "a-2-1", "pages-3/no", "z-1", "", "-"];
        names.extend(wrong.map(String::from));
        for name in &names {
            let found: Vec<u32> = plan.ids(name).into_iter().flatten().flatten().collect();
            assert_eq!(found, by_walking(&plan, name), "{name}");
        }
        assert!(wrong.iter().all(|name| plan.ids(name).is_none()), "of what there is not there are no flows");
        assert_eq!([plan.link("lan"), plan.link("last-hop")], [Some([0, 1]), Some([2, 3])]);
        assert_eq!(plan.link("bulk"), None);
    }
}
