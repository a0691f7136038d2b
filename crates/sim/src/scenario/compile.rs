//! From a [`Scenario`] to a [`Plan`]: flat tables from which a world is built, once per run, without looking at names.

use super::body::EgressSpec;
use super::domains::{self, Crossing, EdgePlan};
use super::host_queue::HostQueueParams;
use super::lifetime::LifetimeParams;
use super::queues;
use super::routes::{Pair, Router};
use super::start::{self, Repetition, StartRule};
use super::timeline::{self, Change};
use super::topology::{Ends, Graph};
use super::transport::TransportPlan;
use super::types::{Events, Record, Scenario};
use super::workloads::WorkloadParams;
use crate::world::Parameters;
use crosswind_base::{ConfigError, Dscp, Dur, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which way along a duplex link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Forward,
    Reverse,
}

impl Direction {
    pub fn word(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }
}

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

    /// Normalised parameters of TCP; the defaults where it runs over something else.
    pub fn tcp(&self) -> Value {
        match &self.transport {
            TransportPlan::Tcp(value) => value.clone(),
            _ => Value::Object(serde_json::Map::new()),
        }
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
    /// Each route is the list of its egresses, in order. No two routes are for the same pair of nodes.
    pub routes: Vec<Vec<u32>>,
    pub groups: Vec<GroupPlan>,
    pub flows: Vec<FlowPlan>,
    /// The edges of domains, and which flows cross them where, in the order of flows.
    pub edges: Vec<EdgePlan>,
    pub crossings: Vec<Crossing>,
    /// Changes during a run, in the order of time.
    pub timeline: Vec<Change>,
    pub sharing: super::Sharing,
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

/// Builds the graph, finds the routes that flows use, and lays everything out in tables.
pub fn compile(s: &Scenario) -> Result<Plan, ConfigError> {
    let graph = Graph::build(s)?;
    let ends = flow_ends(s, &graph)?;
    let (routes, route_of) = find_routes(s, &graph, &ends)?;
    let mut groups = Vec::with_capacity(s.flow.len());
    let mut flows = Vec::new();
    for ((name, f), (from, to)) in s.flow.iter().zip(&ends) {
        let group = groups.len() as u32;
        let [events, hist] = [&s.record.events, &s.record.hist].map(|of| recorded(of, name));
        let is_awaited = s.until.is_empty() || s.until.contains(name);
        groups.push(GroupPlan {
            name: name.clone(),
            count: f.count * f.workload.connections(),
            first: flows.len() as u32,
            dscp: f.dscp,
            start: f.start.unwrap_or(StartRule::Fixed(Dur::ZERO)),
            lifetime: f.lifetime,
            host_queue: f.host_queue,
            workload: f.workload.clone(),
            queue_delay_limits: f.queue_delay_limits.clone(),
            transport: TransportPlan::of(f),
            events,
        });
        for k in 0..f.count {
            let pair = Pair { from: from.of_member(k), to: to.of_member(k) };
            let member = if f.count == 1 { name.clone() } else { format!("{name}-{}", k + 1) };
            let events = events || recorded(&s.record.events, &member);
            let hist = hist || recorded(&s.record.hist, &member);
            let is_awaited = is_awaited || s.until.contains(&member);
            for connection in 0..f.workload.connections() {
                let name = connection_name(&f.workload, &member, connection);
                flows.push(FlowPlan {
                    events: events || recorded(&s.record.events, &name),
                    hist: hist || recorded(&s.record.hist, &name),
                    is_awaited: is_awaited || s.until.contains(&name),
                    name,
                    group,
                    index_in_group: k,
                    connection,
                    from: pair.from,
                    to: pair.to,
                    route_forward: route_of[&pair],
                    route_reverse: route_of[&Pair { from: pair.to, to: pair.from }],
                });
            }
        }
    }
    let mut plan = Plan {
        name: s.name.clone(),
        title: s.title.clone(),
        seed: s.seed,
        duration: s.duration,
        egresses: egresses(&graph),
        nodes: graph.nodes,
        routes,
        groups,
        flows,
        edges: Vec::new(),
        crossings: Vec::new(),
        timeline: Vec::new(),
        sharing: s.sharing.clone(),
        record: s.record.clone(),
    };
    (plan.edges, plan.crossings) = domains::edges(s, &plan)?;
    queues::try_all(s, &plan)?;
    plan.timeline = timeline::plan(s, &plan)?;
    sampled_names(&plan)?;
    Parameters::try_out(&plan).map(|()| plan)
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

/// `record.sampled` names flows and links that there are.
fn sampled_names(plan: &Plan) -> Result<(), ConfigError> {
    use crosswind_net::sched::classify::FlowNames;
    for (i, name) in plan.record.sampled.iter().flatten().enumerate() {
        let is_link = plan.egresses.iter().any(|e| e.name == *name);
        if !is_link && plan.ids(name).is_none() {
            let groups = plan.groups.iter().map(|g| g.name.as_str());
            let mut valid: Vec<&str> = groups.chain(plan.egresses.iter().map(|e| e.name.as_str())).collect();
            valid.dedup();
            let what = "the name of a flow, a group of flows or a link";
            return Err(super::check::unknown(name, &format!("record.sampled[{i}]"), what, &valid));
        }
    }
    Ok(())
}

/// The connections of a page are `member/body`, `member/1`, `member/2`..
pub(super) fn connection_name(w: &WorkloadParams, member: &str, connection: u32) -> String {
    match (w, connection) {
        (WorkloadParams::Page(_), 0) => format!("{member}/body"),
        (WorkloadParams::Page(_), k) => format!("{member}/{k}"),
        _ => member.to_string(),
    }
}

fn recorded(wanted: &Events, name: &str) -> bool {
    match wanted {
        Events::All(_) => true,
        Events::Of(names) => names.iter().any(|n| n == name),
    }
}

fn flow_ends<'a>(s: &Scenario, graph: &'a Graph) -> Result<Vec<(Ends<'a>, Ends<'a>)>, ConfigError> {
    let end = |flow: &str, key: &str, node: &str| graph.resolve(node, &format!("flow.{flow}.{key}"));
    s.flow.iter().map(|(name, f)| Ok((end(name, "from", &f.from)?, end(name, "to", &f.to)?))).collect()
}

/// Most steps that finding the routes may take: some seconds.
const SEARCH_LIMIT: u64 = 1_000_000_000;

type Routes = (Vec<Vec<u32>>, BTreeMap<Pair, u32>);

fn find_routes(s: &Scenario, graph: &Graph, ends: &[(Ends, Ends)]) -> Result<Routes, ConfigError> {
    let mut pairs = BTreeSet::new();
    // For the message should there be no route: the flow that asked first.
    let mut asked: BTreeMap<Pair, &str> = BTreeMap::new();
    for ((name, f), (from, to)) in s.flow.iter().zip(ends) {
        let period = u64::from(from.period()) * u64::from(to.period());
        for k in 0..(u64::from(f.count).min(period)) as u32 {
            let (from, to) = (from.of_member(k), to.of_member(k));
            if from == to {
                let found = format!("node `{}` for member {}", graph.nodes[to as usize], k + 1);
                return Err(ConfigError::new(format!("flow.{name}.to"), found, "another node than `from`"));
            }
            for pair in [Pair { from, to }, Pair { from: to, to: from }] {
                pairs.insert(pair);
                asked.entry(pair).or_insert(name);
            }
        }
    }
    let mut router = Router::new(graph);
    let (searches, links) = router.effort(&pairs);
    if searches.saturating_mul(links) > SEARCH_LIMIT {
        let found = format!("routes to {searches} nodes through {links} directed links");
        return Err(ConfigError::new("flow", found, format!("at most {SEARCH_LIMIT} as the product of the two")));
    }
    let mut routes = Vec::with_capacity(pairs.len());
    let mut route_of = BTreeMap::new();
    for (pair, route) in router.routes(&pairs) {
        let Some(route) = route else {
            // Links are duplex: what cannot be reached cannot answer either, whichever way was looked up first.
            let flow = &s.flow[asked[&pair]];
            let found = format!("`{}`, which no path of links reaches from `{}`", flow.to, flow.from);
            return Err(ConfigError::new(format!("flow.{}.to", asked[&pair]), found, "a node that can be reached"));
        };
        route_of.insert(pair, routes.len() as u32);
        routes.push(route);
    }
    Ok((routes, route_of))
}

fn egresses(graph: &Graph) -> Vec<EgressPlan> {
    let mut out = Vec::with_capacity(2 * graph.edges.len());
    for e in &graph.edges {
        for (direction, [from, to], spec) in [
            (Direction::Forward, [e.from, e.to], &e.body.forward),
            (Direction::Reverse, [e.to, e.from], &e.body.reverse),
        ] {
            out.push(EgressPlan { name: e.name.clone(), direction, from, to, spec: spec.clone() });
        }
    }
    out
}
