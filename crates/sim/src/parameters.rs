//! What is the same in all repetitions of a plan, read and checked once.

use crate::bound::paced::PacedParams;
use crate::bound::tcp::TcpEnds;
use crate::bound::udp::UdpEnds;
use crate::edges;
use crate::scenario::{GroupPlan, Plan, TransportPlan};
use crate::stacks;
use crate::transport::{Brought, Ends};
use crosswind_base::{ConfigError, Streams};
use crosswind_net::registry::{BoxStage, BuildCx, EgressMaker};
use crosswind_transport::tcp::params::{LawName, Maker};
use crosswind_transport::tcp::{TcpParams, preset};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Window laws that a program brings, by name.
pub type OwnLaws = BTreeMap<String, Maker>;

/// What is the same in all repetitions of a plan and costs something to prepare.
pub struct Parameters {
    pub tcp: Vec<Arc<TcpParams>>,
    /// One for each egress; links of one template share theirs.
    pub egresses: Vec<Arc<EgressMaker>>,
    /// Those that the timeline changes.
    pub changing: BTreeSet<u32>,
    /// For each group of flows what makes its ends.
    pub ends: Vec<Arc<dyn Ends>>,
}

impl Parameters {
    pub fn of(plan: &Plan) -> Result<Parameters, ConfigError> {
        Parameters::read(plan, Some(&OwnLaws::new()), Some(&Brought::new()))
    }

    /// `laws`: what makes the laws that scenarios call by name (`law = "own"`).
    pub fn with_laws(plan: &Plan, laws: &OwnLaws) -> Result<Parameters, ConfigError> {
        Parameters::read(plan, Some(laws), Some(&Brought::new()))
    }

    /// `transports`: what makes the ends of flows whose `transport.type` is none of those that are built in.
    pub fn with_transports(plan: &Plan, transports: &Brought) -> Result<Parameters, ConfigError> {
        Parameters::read(plan, Some(&OwnLaws::new()), Some(transports))
    }

    /// Makes everything that a run makes and that may find something wrong with a plan: what passes here, runs. What many links
    /// share is made once.
    pub fn try_out(plan: &Plan) -> Result<(), ConfigError> {
        // Laws that a program brings come with the run.
        let params = Parameters::read(plan, None, None)?;
        let streams = Streams::new(0);
        edges::build(plan, &streams)?;
        let mut seen = BTreeSet::new();
        for (i, e) in plan.egresses.iter().enumerate() {
            if seen.insert((Arc::as_ptr(&e.spec), params.changing.contains(&(i as u32)))) {
                params.stage(plan, i, [&streams, &streams], 0)?;
            }
        }
        Ok(())
    }

    /// One egress. `streams`: of the repetition, and of all of them.
    pub(crate) fn stage(
        &self,
        plan: &Plan,
        i: usize,
        streams: [&Streams; 2],
        rep: u32,
    ) -> Result<BoxStage, ConfigError> {
        let e = &plan.egresses[i];
        let component = format!("link/{}/{}", e.name, e.direction.word());
        let cx = BuildCx::new(streams[0], &component).with_flows(plan).of_repetition(streams[1], rep);
        self.egresses[i].make(&if self.changing.contains(&(i as u32)) { cx.that_changes() } else { cx })
    }

    /// Without `laws`, those that are called by name are taken to be there.
    fn read(plan: &Plan, laws: Option<&OwnLaws>, brought: Option<&Brought>) -> Result<Parameters, ConfigError> {
        let read = |g: &crate::scenario::GroupPlan| {
            let at = format!("flow.{}.tcp", g.name);
            let mut params = preset::read(&g.tcp(), &at)?;
            if let Some(laws) = laws.filter(|_| params.law == LawName::Own) {
                let unknown = || {
                    let known: Vec<&str> = laws.keys().map(String::as_str).collect();
                    let (at, what) = (format!("{at}.own_law"), "a law that the program brings (`laws=` in Python)");
                    match known[..] {
                        [] => ConfigError::new(at, &params.own_law, what),
                        _ => ConfigError::unknown(at, &params.own_law, what, &known),
                    }
                };
                params.own = laws.get(&params.own_law).ok_or_else(unknown)?.for_flow(&g.name);
            }
            Ok(Arc::new(params))
        };
        let mut made = BTreeMap::new();
        let mut egresses = Vec::with_capacity(plan.egresses.len());
        for e in &plan.egresses {
            let maker = match made.entry(Arc::as_ptr(&e.spec)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let new = EgressMaker::new(&e.spec.parts(), &format!("link.{}", e.name))?;
                    place.insert(Arc::new(new))
                }
            };
            egresses.push(maker.clone());
        }
        let tcp: Vec<Arc<TcpParams>> = plan.groups.iter().map(read).collect::<Result<_, _>>()?;
        let ends = plan.groups.iter().zip(&tcp).map(|(g, tcp)| ends(g, tcp, brought));
        Ok(Parameters {
            ends: ends.collect::<Result<_, _>>()?,
            tcp,
            egresses,
            changing: plan.timeline.iter().filter_map(|c| c.target.egress()).collect(),
        })
    }
}

/// What makes the ends of a group: one arm, one transport. Without `brought`, those that are called by name are taken to be
/// there.
fn ends(g: &GroupPlan, tcp: &Arc<TcpParams>, brought: Option<&Brought>) -> Result<Arc<dyn Ends>, ConfigError> {
    Ok(match &g.transport {
        TransportPlan::Tcp(_) => Arc::new(TcpEnds(tcp.clone())),
        TransportPlan::Udp => Arc::new(UdpEnds),
        TransportPlan::Tfrc(_) | TransportPlan::Udt(_) => Arc::new(PacedParams::of(g)?),
        TransportPlan::Brought(name, params) => {
            let at = format!("flow.{}.transport", g.name);
            if let Some(built_in) = stacks::ends(name, params, &at)? {
                return Ok(built_in);
            }
            match brought.map(|b| b.get(name)) {
                None => Arc::new(UdpEnds),
                Some(Some(read)) => read(params, &at)?,
                Some(None) => {
                    return Err(ConfigError::new(format!("{at}.type"), name, "a transport that the program brings"));
                }
            }
        }
    })
}
