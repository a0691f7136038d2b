//! The rows of boundaries: what each flow was when it came to a domain, and what it was made there.

use super::row::Row;
use crate::world::World;
use crosswind_base::Time;
use crosswind_net::diffserv::boundary::{ARRIVED, LEFT};
use crosswind_record::{Subject, Tables};

/// The table `boundary`.
pub(super) fn rows(w: &World<'_>, end: Time, tables: &mut Tables) {
    for ((plan, boundary), shaped) in w.plan.boundaries.iter().zip(&w.engine.boundaries.list).zip(&w.losses.shaped) {
        for p in boundary.passed(end) {
            let flow = &w.plan.flows[p.flow as usize];
            let mut row = Row(tables.table("boundary"));
            row.text("domain", &plan.domain).int("flow", u64::from(p.flow)).text("name", &flow.name);
            row.text("group", &w.plan.group(flow).name);
            for (name, n) in ARRIVED.iter().zip(p.arrived).chain(LEFT.iter().zip(p.left)) {
                row.int(name, n);
            }
            row.int("remarked_packets", p.remarked_packets).int("policed_packets", p.policed_packets);
            row.int("shaper_drops_packets", shaped[p.flow as usize]).end();
        }
    }
}

/// Times between the green packets of each contract that records them, under the name of the contract.
pub(super) fn histograms(w: &World<'_>, tables: &mut Tables) {
    for (plan, boundary) in w.plan.boundaries.iter().zip(&w.engine.boundaries.list) {
        for (c, h) in plan.conditioners.iter().zip(boundary.green_intervals()) {
            if h.count() > 0 {
                let entity = &plan.contracts[c.contract as usize].0;
                tables.push_histogram(Subject { entity, metric: "green_interval_ns" }, h);
            }
        }
    }
}
