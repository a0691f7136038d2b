//! The edges of DiffServ domains: built from the plan, and their rows in the tables.

use crate::scenario::{Contract, EdgePlan, Plan, Recording, check_colours};
use crosswind_base::{ConfigError, Streams};
use crosswind_net::diffserv::Meter;
use crosswind_net::diffserv::conditioner::{Conditioner, Intervals, Terms};
use crosswind_net::diffserv::edge::{Edge, Rule};
use crosswind_net::registry::{BuildCx, build_meter, build_queue};

/// All edges of a run. Their numbers follow those of the ends.
pub struct Edges {
    pub list: Vec<Edge>,
    /// Number of the first.
    pub from: usize,
}

impl Edges {
    /// The edge of that number, if it is one that can deal with a packet before its time.
    #[inline]
    pub fn timeless(&mut self, stage: u32) -> Option<&mut Edge> {
        self.list.get_mut((stage as usize).wrapping_sub(self.from)).filter(|e| e.is_timeless())
    }
}

/// One stage for each edge of the plan.
pub fn build(plan: &Plan, streams: &Streams) -> Result<Vec<Edge>, ConfigError> {
    plan.edges.iter().map(|e| edge(e, plan, streams)).collect()
}

fn edge(e: &EdgePlan, plan: &Plan, streams: &Streams) -> Result<Edge, ConfigError> {
    let mut conditioners = Vec::with_capacity(e.conditioners.len());
    for c in &e.conditioners {
        let (name, contract) = &e.contracts[c.contract as usize];
        let cx = BuildCx::new(streams, &c.component).with_flows(plan);
        conditioners.push(Conditioner::new(terms(name, contract, &cx)?));
    }
    let rule = |r: &crate::scenario::RulePlan| Rule { flow: r.flow, dscps: r.dscps, conditioner: r.conditioner };
    Ok(Edge::new(conditioners, e.rules.iter().map(rule).collect(), plan.flows.len()))
}

fn terms(name: &str, c: &Contract, cx: &BuildCx<'_>) -> Result<Terms, ConfigError> {
    let path = format!("contract.{name}");
    let meter = c.meter.as_ref().map(|m| build_meter(m, &format!("{path}.meter"), cx)).transpose()?;
    if let Some(meter) = &meter {
        check_colours(name, c, meter.worst())?;
    }
    Ok(Terms {
        meter,
        actions: c.actions(),
        longest_wait: c.mtq,
        wait_budget: c.qtl,
        shaper: c.shape.as_ref().map(|s| build_queue(s, &format!("{path}.shape"), cx)).transpose()?,
        intervals: if c.intervals == Recording::On { Intervals::Recorded } else { Intervals::Ignored },
    })
}
