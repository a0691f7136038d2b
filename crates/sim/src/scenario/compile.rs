//! From a [`Scenario`] to a [`Plan`]: flat tables from which a world is built, once per run, without looking at names.

use super::body::Direction;
use super::lookup::{Lookup, Wanted};
use super::plan::{EgressPlan, FlowPlan, GroupPlan, Plan};
use super::routes::{Pair, Router};
use super::start::StartRule;
use super::topology::{Ends, Graph};
use super::transport::{Chosen, Shared};
use super::types::Scenario;
use super::{boundary, build, names, queues, timeline};
use crosswind_base::{ConfigError, Dur};
use crosswind_net::registry::EgressMaker;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Builds the graph, finds the routes that flows use, and lays everything out in tables.
pub fn compile(s: &Scenario) -> Result<Plan, ConfigError> {
    let graph = Graph::build(s)?;
    let ends = flow_ends(s, &graph)?;
    let (routes, route_of) = find_routes(s, &graph, &ends)?;
    let mut groups = Vec::with_capacity(s.flow.len());
    let (mut flows, mut shared) = (Vec::new(), Shared::new());
    let [with_events, with_hist] = [&s.record.events, &s.record.hist].map(Wanted::of);
    let awaited = if s.until.is_empty() { Wanted::All } else { Wanted::these(&s.until) };
    for ((name, f), (from, to)) in s.flow.iter().zip(&ends) {
        let group = groups.len() as u32;
        let [events, hist, is_awaited] = [&with_events, &with_hist, &awaited].map(|of| of.has(name));
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
            transport: Chosen::of(f).read(name, f, &mut shared)?,
            events,
        });
        for k in 0..f.count {
            let pair = Pair { from: from.of_member(k), to: to.of_member(k) };
            let member = if f.count == 1 { name.clone() } else { format!("{name}-{}", k + 1) };
            let events = events || with_events.has(&member);
            let hist = hist || with_hist.has(&member);
            let is_awaited = is_awaited || awaited.has(&member);
            for connection in 0..f.workload.connections() {
                let name = f.workload.connection_name(&member, connection);
                flows.push(FlowPlan {
                    events: events || with_events.has(&name),
                    hist: hist || with_hist.has(&name),
                    is_awaited: is_awaited || awaited.has(&name),
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
    let hosts = flows.iter().map(|f| [f.from, f.to]).collect();
    let mut plan = Plan {
        lookup: Lookup::new(graph.edges.iter().map(|e| e.name.as_str()), hosts, &s.record),
        name: s.name.clone(),
        title: s.title.clone(),
        seed: s.seed,
        duration: s.duration,
        egresses: egresses(&graph),
        makers: Vec::new(),
        nodes: graph.nodes,
        routes,
        groups,
        flows,
        boundaries: Vec::new(),
        crossings: Vec::new(),
        timeline: Vec::new(),
        sharing: s.sharing.clone(),
        record: s.record.clone(),
    };
    complete(&mut plan, s)?;
    Ok(plan)
}

/// What has to know flows, routes and egresses; and a trial of all that is built from them.
fn complete(plan: &mut Plan, s: &Scenario) -> Result<(), ConfigError> {
    (plan.boundaries, plan.crossings) = boundary::boundaries(s, plan)?;
    queues::try_all(s, plan)?;
    plan.makers = makers(plan)?;
    plan.timeline = timeline::plan(s, plan)?;
    for i in plan.timeline.iter().filter_map(|c| c.target.egress()) {
        plan.egresses[i as usize].is_changed = true;
    }
    sampled_names(plan)?;
    build::try_out(plan)
}

/// `record.sampled` names flows and links that there are.
fn sampled_names(plan: &Plan) -> Result<(), ConfigError> {
    use crosswind_net::sched::classify::FlowNames;
    for (i, name) in plan.record.sampled.iter().flatten().enumerate() {
        if plan.link(name).is_none() && plan.ids(name).is_none() {
            let groups = plan.groups.iter().map(|g| g.name.as_str());
            let mut valid: Vec<&str> = groups.chain(plan.egresses.iter().map(|e| e.name.as_str())).collect();
            valid.dedup();
            let what = "the name of a flow, a group of flows or a link";
            return Err(names::unknown(name, &format!("record.sampled[{i}]"), what, &valid));
        }
    }
    Ok(())
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
            out.push(EgressPlan { name: e.name.clone(), direction, from, to, spec: spec.clone(), is_changed: false });
        }
    }
    out
}

/// What makes the egresses; links of one template share it.
fn makers(plan: &Plan) -> Result<Vec<Arc<EgressMaker>>, ConfigError> {
    let mut made = BTreeMap::new();
    let mut out = Vec::with_capacity(plan.egresses.len());
    for e in &plan.egresses {
        out.push(match made.entry(Arc::as_ptr(&e.spec)) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(place) => {
                let new = EgressMaker::new(&e.spec.parts(), &format!("link.{}", e.name))?;
                place.insert(Arc::new(new)).clone()
            }
        });
    }
    Ok(out)
}
