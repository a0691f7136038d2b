//! What makes boundaries: contracts as plain data, in the words of a scenario.

use super::boundary::{Boundary, Rule};
use super::conditioner::{Action, Conditioner, Intervals, Terms};
use crate::registry::{BuildCx, build_meter, build_queue};
use crate::sched::classify::FlowNames;
use crosswind_base::{ConfigError, Dur, Streams};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One contract at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermsSpec {
    /// Its name.
    pub contract: String,
    /// Name below which its random streams are.
    pub component: String,
    pub meter: Option<Value>,
    /// By colour: green, yellow, red.
    pub actions: [Action; 3],
    pub longest_wait: Option<Dur>,
    pub wait_budget: Option<Dur>,
    pub shape: Option<Value>,
    pub intervals: Intervals,
}

impl TermsSpec {
    /// Its parts, or what is wrong with one of them.
    pub fn make(&self, streams: &Streams, flows: &dyn FlowNames) -> Result<Terms, ConfigError> {
        let cx = BuildCx::new(streams, &self.component).with_flows(flows);
        let at = |key: &str| format!("contract.{}.{key}", self.contract);
        Ok(Terms {
            meter: self.meter.as_ref().map(|m| build_meter(m, &at("meter"), &cx)).transpose()?,
            actions: self.actions,
            longest_wait: self.longest_wait,
            wait_budget: self.wait_budget,
            shaper: self.shape.as_ref().map(|s| build_queue(s, &at("shape"), &cx)).transpose()?,
            intervals: self.intervals,
        })
    }
}

/// The boundary of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundarySpec {
    pub domain: String,
    pub conditioners: Vec<TermsSpec>,
    pub rules: Vec<Rule>,
    /// How many flows there are, whether they have a rule or not.
    pub flows: usize,
}

impl BoundarySpec {
    pub fn make(&self, streams: &Streams, flows: &dyn FlowNames) -> Result<Boundary, ConfigError> {
        let exists = |r: &Rule| (r.flow as usize) < self.flows && (r.conditioner as usize) < self.conditioners.len();
        if let Some(rule) = self.rules.iter().find(|r| !exists(r)) {
            let path = format!("domain.{}.rules", self.domain);
            return Err(ConfigError::new(path, format!("{rule:?}"), "a flow and a conditioner that exist"));
        }
        let made = |c: &TermsSpec| c.make(streams, flows).map(Conditioner::new);
        let conditioners = self.conditioners.iter().map(made).collect::<Result<_, _>>()?;
        Ok(Boundary::new(conditioners, self.rules.clone(), self.flows))
    }
}
