//! The stages of a plan: its egresses, and the boundaries of its DiffServ domains.

use super::domains::{BoundaryPlan, Contract, Recording, RulePlan, check_colours};
use super::plan::Plan;
use crosswind_base::{ConfigError, Streams};
use crosswind_net::diffserv::Meter;
use crosswind_net::diffserv::boundary::{Boundary, Rule};
use crosswind_net::diffserv::conditioner::Intervals;
use crosswind_net::diffserv::terms::{BoundarySpec, TermsSpec};
use crosswind_net::registry::{BoxStage, BuildCx};
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
        self.boundaries.iter().map(|e| e.spec(self.flows.len()).make(streams, self)).collect()
    }
}

/// Makes every stage that a run makes and that may find something wrong with a plan: what passes here, runs. What many links
/// share is made once.
pub(super) fn try_out(plan: &Plan) -> Result<(), ConfigError> {
    let streams = Streams::new(0);
    plan.boundaries.iter().try_for_each(|e| check_meters(e, plan, &streams))?;
    plan.boundary_stages(&streams)?;
    let mut seen = BTreeSet::new();
    for (i, e) in plan.egresses.iter().enumerate() {
        if seen.insert((Arc::as_ptr(&e.spec), e.is_changed)) {
            plan.stage(i, [&streams, &streams], 0)?;
        }
    }
    Ok(())
}

impl BoundaryPlan {
    /// What makes it.
    pub fn spec(&self, flows: usize) -> BoundarySpec {
        let conditioners = self.conditioners.iter().map(|c| {
            let (name, contract) = &self.contracts[c.contract as usize];
            contract.terms(name, &c.component)
        });
        let rule = |r: &RulePlan| Rule { flow: r.flow, dscps: r.dscps, conditioner: r.conditioner };
        BoundarySpec {
            domain: self.domain.clone(),
            conditioners: conditioners.collect(),
            rules: self.rules.iter().map(rule).collect(),
            flows,
        }
    }
}

impl Contract {
    fn terms(&self, name: &str, component: &str) -> TermsSpec {
        TermsSpec {
            contract: name.into(),
            component: component.into(),
            meter: self.meter.clone(),
            actions: self.actions(),
            longest_wait: self.mtq,
            wait_budget: self.qtl,
            shape: self.shape.clone(),
            intervals: if self.intervals == Recording::On { Intervals::Recorded } else { Intervals::Ignored },
        }
    }
}

/// Whether something is said of every colour that the meters give.
fn check_meters(e: &BoundaryPlan, plan: &Plan, streams: &Streams) -> Result<(), ConfigError> {
    for (name, contract) in &e.contracts {
        let terms = contract.terms(name, name).make(streams, plan)?;
        if let Some(meter) = &terms.meter {
            check_colours(name, contract, meter.worst())?;
        }
    }
    Ok(())
}
