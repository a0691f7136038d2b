//! Which egresses may decide things before their time.
//!
//! Nothing here may change a result: what an egress does early comes out as if everything had happened at its own time, which
//! [`LookAhead::Never`] asks for and `crates/sim/tests/recording` compares with.
//!
//! In a simulation nothing happens to a link from outside, so every egress may plan that the timeline leaves alone and whose
//! queue no reset in the other direction empties. Where one line is all that feeds the egresses behind it (the way from a
//! bottleneck to the hosts, or the hops of a chain without cross traffic), a packet is handed on as soon as its way is known,
//! and the arrivals in between need no events.
//!
//! What goes to a host, or to the edge of a domain that meters, is handed to the driver, who keeps it until its time
//! ([`super::deliveries`]): the last line of a way is not woken for it. Only where ties are shuffled it delivers itself.
//!
//! Where several such lines meet, and nothing else comes, the egress behind them gathers: it is told of its arrivals before
//! their time and deals with many of them in one go. Drops are then noticed a little later than they happen, so nothing
//! gathers when somebody watches, or when a run may end with the loss of a datagram.

use super::edges::Edges;
use super::endless::is_endless;
use super::manner::{LookAhead, Manner, Ties};
use crate::scenario::{FlowPlan, GroupPlan, Plan, Target};
use crosswind_base::{Ahead, Dur, Feed, Stage};
use crosswind_net::registry::BoxStage;
use std::collections::BTreeSet;

/// What feeds an egress.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// These lines, and no host.
    Lines(Vec<u32>),
    /// A host, a router's own messages, or the edge of a domain, perhaps among others.
    Other,
}

impl Source {
    fn only(&self) -> Option<u32> {
        match self {
            Source::Lines(lines) if lines.len() == 1 => Some(lines[0]),
            _ => None,
        }
    }
    fn lines(&self) -> &[u32] {
        match self {
            Source::Lines(lines) => lines,
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
    plan.groups.iter().filter_map(|g| g.transport.tcp()).map(|t| t.mss.0 + HEADERS_MAX).max().unwrap_or(0).min(65_535)
        as u32
}

/// Whether drops may be noticed later than they happen.
fn may_gather(plan: &Plan, ties: Ties) -> bool {
    let is_watched =
        plan.flows.iter().any(|f| f.events) || plan.record.event_file.is_some() || plan.record.pcap.is_some();
    let may_end = |f: &FlowPlan| plan.group(f).is_datagrams() && !is_endless(plan, f);
    let ends_with_datagrams = plan.flows.iter().any(|f| f.is_awaited && may_end(f));
    !is_watched && !ends_with_datagrams && ties == Ties::Ordered
}

/// Gives every egress the permissions that the network allows.
pub fn foresee(plan: &Plan, stages: &mut [BoxStage], edges: &Edges, manner: Manner) {
    let Manner { ties, look_ahead } = manner;
    for stage in stages.iter_mut() {
        stage.look_ahead(Ahead::PutOff);
    }
    if look_ahead < LookAhead::Planned {
        return;
    }
    let longest = longest_packet(plan);
    let changes: BTreeSet<Target> = plan.timeline.iter().map(|c| c.target).collect();
    // The two directions of a link are neighbours.
    let is_emptied = |i: usize| plan.egresses[i ^ 1].spec.resets();
    let may = |i: usize| !changes.contains(&Target::Egress(i as u32)) && !is_emptied(i);
    let plans: Vec<bool> = stages.iter_mut().enumerate().map(|(i, s)| may(i) && s.look_ahead(Ahead::Plan)).collect();
    let (sources, mut ends_at_host) = neighbours(plan, edges);
    if ties == Ties::Ordered {
        // The driver keeps what hosts and edges are to get until its time has come.
        ends_at_host.fill(false);
    }
    let leads: Vec<bool> = stages.iter_mut().map(|s| s.look_ahead(Ahead::Lead)).collect();
    let mut is_told: Vec<bool> = vec![false; stages.len()];
    for (i, stage) in stages.iter_mut().enumerate() {
        if look_ahead >= LookAhead::Announced
            && let Some(from) = sources[i].only()
            && plans[from as usize]
            && leads[from as usize]
            && may(i)
            && let Some(rate) = plan.egresses[from as usize].spec.rate
        {
            is_told[i] = stage.look_ahead(Ahead::Fed(Feed { rate, longest }));
        }
    }
    let fed = is_told.clone();
    let could_hand_on = |i: usize| plans[i] && plan.egresses[i].spec.loss.is_none();
    if look_ahead == LookAhead::Allowed && may_gather(plan, ties) {
        for (i, told) in is_told.iter_mut().enumerate() {
            let has_delay = plan.egresses[i].spec.delay > Dur::ZERO;
            let lines = sources[i].lines();
            *told |= plans[i] && has_delay && !lines.is_empty() && lines.iter().all(|l| could_hand_on(*l as usize));
        }
    }
    let hands_on = loop {
        let hands_on = who_hands_on(plan, &is_told, &ends_at_host);
        // Who gathers has to be told of everything: a line that also leads elsewhere tells nothing.
        let is_told_all = |i: usize| sources[i].lines().iter().all(|l| hands_on[*l as usize]);
        let wrong: Vec<usize> = (0..stages.len()).filter(|i| is_told[*i] && !fed[*i] && !is_told_all(*i)).collect();
        if wrong.is_empty() {
            break hands_on;
        }
        wrong.into_iter().for_each(|i| is_told[i] = false);
    };
    for (i, stage) in stages.iter_mut().enumerate() {
        if is_told[i] && !fed[i] {
            let gathers = stage.look_ahead(Ahead::Gather);
            assert!(gathers, "a line with a plan and a delay gathers");
        }
        if hands_on[i] && plans[i] && look_ahead >= LookAhead::HandedOn {
            stage.look_ahead(Ahead::HandOn);
        }
    }
}

/// The egresses behind which there are only such that are told of arrivals before their time.
fn who_hands_on(plan: &Plan, is_told: &[bool], ends_at_host: &[bool]) -> Vec<bool> {
    let mut hands_on: Vec<bool> = ends_at_host.iter().map(|h| !h).collect();
    for route in &plan.routes {
        for pair in route.windows(2) {
            hands_on[pair[0] as usize] &= is_told[pair[1] as usize];
        }
    }
    hands_on
}

/// What feeds each egress, and whether its packets go to a host or to the edge of a domain.
fn neighbours(plan: &Plan, edges: &Edges) -> (Vec<Source>, Vec<bool>) {
    let mut sources = vec![Source::Lines(Vec::new()); plan.egresses.len()];
    let mut ends_at_host = vec![false; plan.egresses.len()];
    for route in &plan.routes {
        if let Some(&first) = route.first() {
            sources[first as usize] = Source::Other;
        }
        if let Some(&last) = route.last() {
            ends_at_host[last as usize] = true;
        }
        for pair in route.windows(2) {
            if let Source::Lines(lines) = &mut sources[pair[1] as usize]
                && lines.last() != Some(&pair[0])
            {
                lines.push(pair[0]);
            }
        }
    }
    // What a router says about a packet that is too large begins behind the line that leads away from the router.
    for pair in plan.routes.iter().flat_map(|r| r.windows(2)) {
        if plan.egresses[pair[0] as usize ^ 1].spec.answers() {
            sources[pair[1] as usize] = Source::Other;
        }
    }
    for source in &mut sources {
        if let Source::Lines(lines) = source {
            lines.sort_unstable();
            lines.dedup();
        }
    }
    // An edge handles packets at their time: nothing is handed to it before, nor by it. But one that does the same at any
    // time is no more than a part of the way.
    for c in plan.crossings.iter().filter(|c| !edges.list[c.edge as usize].is_timeless()) {
        let route = &plan.routes[plan.flows[c.flow as usize].route_forward as usize];
        ends_at_host[route[c.behind as usize] as usize] = true;
        if let Some(next) = route.get(c.behind as usize + 1) {
            sources[*next as usize] = Source::Other;
        }
    }
    (sources, ends_at_host)
}
