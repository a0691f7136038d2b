//! Which egresses may decide things before their time.
//!
//! Nothing here may change a result: what an egress does early comes out as if everything had happened at its own time, which
//! [`LookAhead::Never`] asks for and `crates/sim/tests/recording` compares with.
//!
//! In a simulation nothing happens to a link from outside, so every egress may plan that the timeline leaves alone and whose
//! queue no reset in the other direction empties. Where an egress has one upstream link (from a bottleneck to the hosts, or on
//! the hops of a chain without cross traffic), a packet is forwarded as soon as its delivery is planned, and the arrivals in
//! between need no events.
//!
//! What goes to a host, or to the boundary of a domain that meters, is forwarded to the driver, who keeps it until its time
//! (`deliveries` of `crosswind_engine`): the last link of a path is not woken for it. Only where ties are shuffled it delivers itself.
//!
//! Where several such links meet, and nothing else comes, the egress behind them takes batches: it gets its arrivals before
//! their time and processes many of them together. Drops are then noticed a little later than they happen, so there are no
//! batches when events are recorded, or when a run may end with the loss of a datagram.

use super::horizon::is_endless;
use super::manner::{LookAhead, Manner, Ties};
use crate::scenario::{FlowPlan, GroupPlan, Plan, Target};
use crosswind_base::{Arrivals, Departures, Dur, LooksAhead, Stage, Steady, Upstream};
use crosswind_engine::Boundaries;
use crosswind_net::registry::BoxStage;
use std::collections::BTreeSet;

/// What is upstream of an egress.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// These links, and no host.
    Links(Vec<u32>),
    /// A host, a router's own messages, or the boundary of a domain, perhaps among others.
    Other,
}

impl Source {
    fn only(&self) -> Option<u32> {
        match self {
            Source::Links(links) if links.len() == 1 => Some(links[0]),
            _ => None,
        }
    }
    fn links(&self) -> &[u32] {
        match self {
            Source::Links(links) => links,
            Source::Other => &[],
        }
    }
}

/// Headers and options of the longest segment, above its payload.
const HEADERS_MAX: u64 = 120;

/// No packet of the run is longer.
fn longest_packet(plan: &Plan) -> u32 {
    if plan.groups.iter().any(GroupPlan::is_datagrams) {
        return 65_535;
    }
    let at_first = plan.groups.iter().filter_map(|g| g.transport.tcp());
    let later = plan.timeline.iter().filter_map(|c| c.of_flow.tcp.as_ref());
    at_first.chain(later).map(|t| t.connection.mss.0 + HEADERS_MAX).max().unwrap_or(0).min(65_535) as u32
}

/// Whether drops may be noticed later than they happen.
fn may_batch(plan: &Plan, ties: Ties) -> bool {
    let is_watched =
        plan.flows.iter().any(|f| f.events) || plan.record.event_file.is_some() || plan.record.pcap.is_some();
    let may_end = |f: &FlowPlan| plan.group(f).is_datagrams() && !is_endless(plan, f);
    let ends_with_datagrams = plan.flows.iter().any(|f| f.is_awaited && may_end(f));
    !is_watched && !ends_with_datagrams && ties == Ties::Ordered
}

/// Has every egress look ahead that may and helps: the one door to look-ahead.
pub fn enable(plan: &Plan, stages: Vec<BoxStage>, boundaries: &Boundaries, manner: Manner) -> Vec<BoxStage> {
    if manner.look_ahead < LookAhead::Planned {
        return stages;
    }
    let how = choose(plan, &stages, boundaries, manner);
    let changed = |(stage, how): (BoxStage, Option<LooksAhead>)| match how {
        Some(how) => stage.looking_ahead(how),
        None => stage,
    };
    stages.into_iter().zip(how).map(changed).collect()
}

/// What each egress is to do before its time; `None`: nothing.
fn choose(plan: &Plan, stages: &[BoxStage], boundaries: &Boundaries, manner: Manner) -> Vec<Option<LooksAhead>> {
    let Manner { ties, look_ahead } = manner;
    let longest = longest_packet(plan);
    let changes: BTreeSet<Target> = plan.timeline.iter().map(|c| c.target).collect();
    // The two directions of a link are neighbours.
    let is_emptied = |i: usize| plan.egresses[i ^ 1].spec.resets();
    let may = |i: usize| !changes.contains(&Target::Egress(i as u32)) && !is_emptied(i);
    let known: Vec<Option<&dyn Steady>> =
        stages.iter().enumerate().map(|(i, s)| s.steady().filter(|_| may(i))).collect();
    let (sources, mut ends_at_host) = neighbours(plan, boundaries);
    if ties == Ties::Ordered {
        // The driver keeps what hosts and boundaries are to get until its time has come.
        ends_at_host.fill(false);
    }
    let one_upstream = |i: usize| -> Option<Upstream> {
        let from = sources[i].only()? as usize;
        let rate = plan.egresses[from].spec.rate?;
        known[from].is_some_and(|s| s.is_even()).then_some(Upstream { rate, longest })
    };
    let admits = |i: usize, u: Upstream| known[i].is_some_and(|s| s.is_lossless() && s.always_admits_from(u));
    let takes_early = look_ahead >= LookAhead::OneUpstream;
    let has_one: Vec<bool> =
        (0..stages.len()).map(|i| takes_early && one_upstream(i).is_some_and(|u| admits(i, u))).collect();
    let mut is_downstream = has_one.clone();
    let could_forward_early = |i: usize| known[i].is_some() && plan.egresses[i].spec.loss.is_none();
    if look_ahead == LookAhead::Allowed && may_batch(plan, ties) {
        for (i, told) in is_downstream.iter_mut().enumerate() {
            let has_delay = plan.egresses[i].spec.delay > Dur::ZERO;
            let links = sources[i].links();
            *told |= known[i].is_some()
                && has_delay
                && !links.is_empty()
                && links.iter().all(|l| could_forward_early(*l as usize));
        }
    }
    let forwards_early = loop {
        let forwards_early = who_forwards_early(plan, &is_downstream, &ends_at_host);
        // A batch has to hold everything: a link that also leads elsewhere forwards nothing early.
        let is_told_of_all = |i: usize| sources[i].links().iter().all(|l| forwards_early[*l as usize]);
        let wrong: Vec<usize> =
            (0..stages.len()).filter(|i| is_downstream[*i] && !has_one[*i] && !is_told_of_all(*i)).collect();
        if wrong.is_empty() {
            break forwards_early;
        }
        wrong.into_iter().for_each(|i| is_downstream[i] = false);
    };
    let of = |i: usize| {
        let steady = known[i]?;
        let arrivals = match (has_one[i], is_downstream[i]) {
            (true, _) => Arrivals::FromOneUpstream,
            (false, true) => Arrivals::FromSeveral,
            (false, false) => Arrivals::AtTheirTime,
        };
        assert!(arrivals != Arrivals::FromSeveral || steady.takes_time(), "a link with a delay takes batches");
        let is_early = forwards_early[i] && look_ahead >= LookAhead::ForwardEarly && steady.is_lossless();
        Some(LooksAhead { arrivals, departures: if is_early { Departures::Early } else { Departures::AtTheirTime } })
    };
    (0..stages.len()).map(of).collect()
}

/// The egresses behind which there are only such that take arrivals before their time.
fn who_forwards_early(plan: &Plan, is_downstream: &[bool], ends_at_host: &[bool]) -> Vec<bool> {
    let mut forwards_early: Vec<bool> = ends_at_host.iter().map(|h| !h).collect();
    for route in &plan.routes {
        for pair in route.windows(2) {
            forwards_early[pair[0] as usize] &= is_downstream[pair[1] as usize];
        }
    }
    forwards_early
}

/// What is upstream of each egress, and whether its packets go to a host or to the boundary of a domain.
fn neighbours(plan: &Plan, boundaries: &Boundaries) -> (Vec<Source>, Vec<bool>) {
    let mut sources = vec![Source::Links(Vec::new()); plan.egresses.len()];
    let mut ends_at_host = vec![false; plan.egresses.len()];
    for route in &plan.routes {
        if let Some(&first) = route.first() {
            sources[first as usize] = Source::Other;
        }
        if let Some(&last) = route.last() {
            ends_at_host[last as usize] = true;
        }
        for pair in route.windows(2) {
            if let Source::Links(links) = &mut sources[pair[1] as usize]
                && links.last() != Some(&pair[0])
            {
                links.push(pair[0]);
            }
        }
    }
    // What a router says about a packet that is too large begins behind the link that leads away from the router.
    for pair in plan.routes.iter().flat_map(|r| r.windows(2)) {
        if plan.egresses[pair[0] as usize ^ 1].spec.answers() {
            sources[pair[1] as usize] = Source::Other;
        }
    }
    for source in &mut sources {
        if let Source::Links(links) = source {
            links.sort_unstable();
            links.dedup();
        }
    }
    // A boundary handles packets at their time: nothing is handed to it before, nor by it. But one that does the same at any
    // time is no more than a part of the way.
    for c in plan.crossings.iter().filter(|c| !boundaries.list[c.boundary as usize].is_timeless()) {
        let route = &plan.routes[plan.flows[c.flow as usize].route_forward as usize];
        ends_at_host[route[c.behind as usize] as usize] = true;
        if let Some(next) = route.get(c.behind as usize + 1) {
            sources[*next as usize] = Source::Other;
        }
    }
    (sources, ends_at_host)
}
