//! What makes the flows of a plan, prepared once for all repetitions.

use super::bound::rate::RateEnds;
use super::bound::tcp::TcpEnds;
use super::bound::udp::UdpEnds;
use super::ends::{Brought, Ends};
use crate::scenario::{GroupPlan, Plan, Target, TransportPlan};
use crosswind_base::ConfigError;
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::params::{LawName, Maker};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Window laws that a program brings, by name.
pub type OwnLaws = BTreeMap<String, Maker>;

/// What is the same in all repetitions of a plan, and may need something that a program brings.
pub struct Parameters {
    /// For each group of flows what makes its ends.
    pub ends: Vec<Arc<dyn Ends>>,
    /// Parameters with laws that a program brings, by the change of the timeline that brings them.
    pub later: Arc<BTreeMap<usize, Arc<TcpParams>>>,
}

impl Parameters {
    pub fn of(plan: &Plan) -> Result<Parameters, ConfigError> {
        Parameters::with(plan, &OwnLaws::new(), &Brought::new())
    }

    /// `laws`: what makes the laws that scenarios call by name (`law = "own"`). `transports`: what makes the ends of flows whose
    /// `transport.type` is none of those that are built in.
    pub fn with(plan: &Plan, laws: &OwnLaws, transports: &Brought) -> Result<Parameters, ConfigError> {
        let ends = plan.groups.iter().map(|g| ends(g, laws, transports)).collect::<Result<_, _>>()?;
        let mut later = BTreeMap::new();
        for (i, c) in plan.timeline.iter().enumerate() {
            if let (Target::Flow(f), Some(tcp)) = (c.target, &c.of_flow.tcp)
                && tcp.controller.law == LawName::Own
            {
                let group = &plan.group(&plan.flows[f as usize]).name;
                later.insert(i, with_law(tcp, group, &c.path(), laws)?);
            }
        }
        Ok(Parameters { ends, later: Arc::new(later) })
    }
}

/// What makes the ends of a group: one arm, one transport.
fn ends(g: &GroupPlan, laws: &OwnLaws, brought: &Brought) -> Result<Arc<dyn Ends>, ConfigError> {
    Ok(match &g.transport {
        TransportPlan::Tcp(params) => Arc::new(TcpEnds(with_law(params, &g.name, &format!("flow.{}", g.name), laws)?)),
        TransportPlan::Udp => Arc::new(UdpEnds),
        TransportPlan::Rate(params) => Arc::new(RateEnds(params.clone())),
        TransportPlan::Stack(stack) => Arc::new(stack.clone()),
        TransportPlan::Brought(b) => match brought.get(&b.name) {
            Some(read) => read(b)?,
            None => {
                let expected = "a transport that the program brings";
                return Err(ConfigError::new(format!("{}.type", b.path), &b.name, expected));
            }
        },
    })
}

/// The parameters with the law that a program brings, where they ask for one. `at`: the table in which their `tcp` stands.
fn with_law(params: &Arc<TcpParams>, group: &str, at: &str, laws: &OwnLaws) -> Result<Arc<TcpParams>, ConfigError> {
    if params.controller.law != LawName::Own {
        return Ok(params.clone());
    }
    let unknown = || {
        let known: Vec<&str> = laws.keys().map(String::as_str).collect();
        let at = format!("{at}.tcp.own_law");
        let what = "a law that the program brings (`laws=` in Python)";
        match known[..] {
            [] => ConfigError::new(at, &params.controller.own_law, what),
            _ => ConfigError::unknown(at, &params.controller.own_law, what, &known),
        }
    };
    let mut params = TcpParams::clone(params);
    params.controller.own = laws.get(&params.controller.own_law).ok_or_else(unknown)?.for_flow(group);
    Ok(Arc::new(params))
}
