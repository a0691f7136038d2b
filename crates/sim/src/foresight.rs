//! Which egresses may decide things before their time.
//!
//! In a simulation nothing happens to a link from outside, so every egress may plan that the timeline leaves alone and whose
//! queue no reset in the other direction empties. Where one line is all that feeds the egresses behind it (the way from a
//! bottleneck to the hosts, or the hops of a chain without cross traffic), a packet is handed on as soon as its way is known,
//! and the arrivals in between need no events.

use crate::scenario::{GroupPlan, Plan, Target};
use crate::world::Parameters;
use crosswind_base::{Ahead, Feed, Stage};
use crosswind_net::registry::BoxStage;
use std::collections::BTreeSet;

/// What feeds an egress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Unknown,
    Only(u32),
    /// A host, or several lines.
    Mixed,
}

/// Headers and options of the longest segment, above its payload.
const HEADERS_MAX: u64 = 120;

/// No packet of the run is longer.
pub fn longest_packet(plan: &Plan, p: &Parameters) -> u32 {
    if plan.groups.iter().any(GroupPlan::is_datagrams) {
        return 65_535;
    }
    p.tcp.iter().map(|t| t.mss.0 + HEADERS_MAX).max().unwrap_or(0).min(65_535) as u32
}

/// Gives every egress the permissions that the network allows.
pub fn foresee(plan: &Plan, stages: &mut [BoxStage], longest: u32) {
    let changes: BTreeSet<Target> = plan.timeline.iter().map(|c| c.target).collect();
    // The two directions of a link are neighbours.
    let is_emptied = |i: usize| plan.egresses[i ^ 1].spec.resets();
    let may = |i: usize| !changes.contains(&Target::Egress(i as u32)) && !is_emptied(i);
    let plans: Vec<bool> = stages.iter_mut().enumerate().map(|(i, s)| may(i) && s.look_ahead(Ahead::Plan)).collect();
    let (sources, ends_at_host) = neighbours(plan);
    let mut fed: Vec<bool> = vec![false; stages.len()];
    for (i, stage) in stages.iter_mut().enumerate() {
        if let Source::Only(from) = sources[i]
            && plans[from as usize]
            && may(i)
            && let Some(rate) = plan.egresses[from as usize].spec.rate
        {
            fed[i] = stage.look_ahead(Ahead::Fed(Feed { rate, longest }));
        }
    }
    let mut feeds_all: Vec<bool> = ends_at_host.iter().map(|h| !h).collect();
    for route in &plan.routes {
        for pair in route.windows(2) {
            feeds_all[pair[0] as usize] &= fed[pair[1] as usize];
        }
    }
    for (i, stage) in stages.iter_mut().enumerate() {
        if feeds_all[i] && plans[i] {
            stage.look_ahead(Ahead::HandOn);
        }
    }
}

/// What feeds each egress, and whether its packets go to a host or to the edge of a domain.
fn neighbours(plan: &Plan) -> (Vec<Source>, Vec<bool>) {
    let mut sources = vec![Source::Unknown; plan.egresses.len()];
    let mut ends_at_host = vec![false; plan.egresses.len()];
    for route in &plan.routes {
        if let Some(&first) = route.first() {
            sources[first as usize] = Source::Mixed;
        }
        if let Some(&last) = route.last() {
            ends_at_host[last as usize] = true;
        }
        for pair in route.windows(2) {
            let source = &mut sources[pair[1] as usize];
            *source = match *source {
                Source::Unknown => Source::Only(pair[0]),
                Source::Only(from) if from == pair[0] => Source::Only(from),
                _ => Source::Mixed,
            };
        }
    }
    // An edge handles packets at their time: nothing is handed to it before, nor by it.
    for c in &plan.crossings {
        let route = &plan.routes[plan.flows[c.flow as usize].route_forward as usize];
        ends_at_host[route[c.behind as usize] as usize] = true;
        if let Some(next) = route.get(c.behind as usize + 1) {
            sources[*next as usize] = Source::Mixed;
        }
    }
    (sources, ends_at_host)
}
