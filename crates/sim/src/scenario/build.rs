//! The stages of a plan: its egresses, and the boundaries of its DiffServ domains.

use super::domains::{BoundaryPlan, Contract, Recording, RulePlan, check_colours};
use super::plan::Plan;
use crosswind_base::{ConfigError, Streams};
use crosswind_net::diffserv::Meter;
use crosswind_net::diffserv::boundary::{Boundary, Rule};
use crosswind_net::diffserv::conditioner::{Conditioner, Intervals, Terms};
use crosswind_net::registry::{BoxStage, BuildCx, build_meter, build_queue};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Plan {
    /// One egress. `streams`: of the repetition, and of all of them.
    pub fn stage(&self, i: usize, streams: [&Streams; 2], rep: u32) -> Result<BoxStage, ConfigError> {
        let e = &self.egresses[i];
        let component = format!("link/{}/{}", e.name, e.direction.word());
        let cx = BuildCx::new(streams[0], &component).with_flows(self).of_repetition(streams[1], rep);
        self.makers[i].make(&if e.is_changed { cx.that_changes() } else { cx })
    }

    /// One stage for each boundary.
    pub fn boundary_stages(&self, streams: &Streams) -> Result<Vec<Boundary>, ConfigError> {
        self.boundaries.iter().map(|e| boundary(e, self, streams)).collect()
    }
}

/// Makes every stage that a run makes and that may find something wrong with a plan: what passes here, runs. What many links
/// share is made once.
pub(super) fn try_out(plan: &Plan) -> Result<(), ConfigError> {
    let streams = Streams::new(0);
    plan.boundary_stages(&streams)?;
    let mut seen = BTreeSet::new();
    for (i, e) in plan.egresses.iter().enumerate() {
        if seen.insert((Arc::as_ptr(&e.spec), e.is_changed)) {
            plan.stage(i, [&streams, &streams], 0)?;
        }
    }
    Ok(())
}

fn boundary(e: &BoundaryPlan, plan: &Plan, streams: &Streams) -> Result<Boundary, ConfigError> {
    let mut conditioners = Vec::with_capacity(e.conditioners.len());
    for c in &e.conditioners {
        let (name, contract) = &e.contracts[c.contract as usize];
        let cx = BuildCx::new(streams, &c.component).with_flows(plan);
        conditioners.push(Conditioner::new(terms(name, contract, &cx)?));
    }
    let rule = |r: &RulePlan| Rule { flow: r.flow, dscps: r.dscps, conditioner: r.conditioner };
    Ok(Boundary::new(conditioners, e.rules.iter().map(rule).collect(), plan.flows.len()))
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
