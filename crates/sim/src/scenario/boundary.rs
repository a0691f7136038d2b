//! Where the traffic of flows enters domains: their boundaries, and which flows cross them.

use super::domains::{BoundaryPlan, ConditionerPlan, Contract, Crossing, Per, RulePlan};
use super::names;
use super::plan::{FlowPlan, Plan};
use super::types::Scenario;
use crosswind_base::{ConfigError, Dscp};
use crosswind_net::sched::classify::FlowNames;
use std::collections::{BTreeMap, BTreeSet};

/// The boundaries of all domains with contracts, and which flows cross them where, in the order of flows.
pub(super) fn boundaries(s: &Scenario, plan: &Plan) -> Result<(Vec<BoundaryPlan>, Vec<Crossing>), ConfigError> {
    let of_node = owners(s, plan)?;
    let names: Vec<&str> = s.domain.keys().map(String::as_str).collect();
    for (name, c) in &s.contract {
        let path = format!("contract.{name}");
        if !s.domain.contains_key(&c.domain) {
            return Err(names::unknown(&c.domain, &format!("{path}.domain"), "the name of a domain", &names));
        }
        if let Some(from) = &c.from
            && !s.domain.contains_key(from)
            && !plan.nodes.contains(from)
        {
            let valid: Vec<&str> = names.iter().copied().chain(plan.nodes.iter().map(String::as_str)).collect();
            return Err(names::unknown(from, &format!("{path}.from"), "the name of a domain or node", &valid));
        }
    }
    let (mut boundaries, mut crossings) = (Vec::new(), Vec::new());
    for (d, name) in s.domain.keys().enumerate() {
        let contracts = s.contract.iter().filter(|(_, c)| c.domain == *name);
        let contracts: Vec<_> = contracts.map(|(n, c)| (n.clone(), c.clone())).collect();
        if !contracts.is_empty() {
            let domain = DomainBoundary { plan, of_node: &of_node, names: &names, number: d as u32 };
            boundaries.push(domain.build(name, contracts, boundaries.len() as u32, &mut crossings)?);
        }
    }
    crossings.sort_unstable();
    Ok((boundaries, crossings))
}

/// The domain of each node.
fn owners(s: &Scenario, plan: &Plan) -> Result<Vec<Option<u32>>, ConfigError> {
    let index: BTreeMap<&str, usize> = plan.nodes.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let names: Vec<&str> = s.domain.keys().map(String::as_str).collect();
    let mut of_node: Vec<Option<u32>> = vec![None; plan.nodes.len()];
    for (d, (name, domain)) in s.domain.iter().enumerate() {
        if domain.nodes.is_empty() {
            return Err(ConfigError::new(format!("domain.{name}.nodes"), "no nodes", "at least one router"));
        }
        for (i, node) in domain.nodes.iter().enumerate() {
            let path = format!("domain.{name}.nodes[{i}]");
            let Some(n) = index.get(node.as_str()) else {
                let valid: Vec<&str> = plan.nodes.iter().map(String::as_str).collect();
                return Err(names::unknown(node, &path, "a node of the network", &valid));
            };
            if let Some(other) = of_node[*n].replace(d as u32) {
                let found = format!("`{node}`, which belongs to domain `{}` too", names[other as usize]);
                return Err(ConfigError::new(path, found, "a node of no other domain, once"));
            }
        }
    }
    Ok(of_node)
}

/// A domain while its boundary is being found.
struct DomainBoundary<'a> {
    plan: &'a Plan,
    of_node: &'a [Option<u32>],
    names: &'a [&'a str],
    number: u32,
}

/// Where a flow enters.
struct Entry {
    behind: u32,
    from: u32,
}

impl DomainBoundary<'_> {
    fn build(
        &self,
        domain: &str,
        contracts: Vec<(String, Contract)>,
        boundary: u32,
        crossings: &mut Vec<Crossing>,
    ) -> Result<BoundaryPlan, ConfigError> {
        let covered: Vec<Option<BTreeSet<u32>>> =
            contracts.iter().map(|(name, c)| self.flows_of(name, c)).collect::<Result<_, _>>()?;
        let mut out = BoundaryPlan { domain: domain.into(), contracts, conditioners: Vec::new(), rules: Vec::new() };
        // The conditioner of each contract: one, or one for each flow.
        let mut shared: Vec<Option<u32>> = vec![None; out.contracts.len()];
        for (f, flow) in self.plan.flows.iter().enumerate() {
            let Some(entry) = self.entry(domain, flow)? else { continue };
            let mut said: Vec<(u64, usize)> = Vec::new();
            for i in 0..out.contracts.len() {
                let (name, c) = &out.contracts[i];
                let is_covered = covered[i].as_ref().is_none_or(|set| set.contains(&(f as u32)));
                if !is_covered || !c.from.as_ref().is_none_or(|from| self.comes_from(from, entry.from)) {
                    continue;
                }
                if let Some((both, other)) = said.iter().find(|(set, _)| set & c.dscps() != 0) {
                    return Err(overlap(name, &out.contracts[*other].0, &flow.name, both & c.dscps()));
                }
                said.push((c.dscps(), i));
                let (dscps, per) = (c.dscps(), c.per);
                let component = format!("domain/{domain}/contract/{name}");
                let conditioner = match (shared[i], per) {
                    (Some(n), Per::Aggregate) => n,
                    _ => {
                        let own = if per == Per::Flow { format!("{component}/{}", flow.name) } else { component };
                        out.conditioners.push(ConditionerPlan { contract: i as u32, component: own });
                        *shared[i].insert(out.conditioners.len() as u32 - 1)
                    }
                };
                out.rules.push(RulePlan { flow: f as u32, dscps, conditioner });
            }
            if !said.is_empty() {
                crossings.push(Crossing { flow: f as u32, behind: entry.behind, boundary });
            }
        }
        match (0..out.contracts.len()).find(|i| shared[*i].is_none()) {
            Some(unused) => Err(nothing_enters(&out.contracts[unused])),
            None => Ok(out),
        }
    }

    fn flows_of(&self, name: &str, c: &Contract) -> Result<Option<BTreeSet<u32>>, ConfigError> {
        let Some(flows) = &c.flow else { return Ok(None) };
        let mut all = BTreeSet::new();
        for flow in flows.items() {
            let groups = self.plan.groups();
            let ids = self.plan.ids(flow).ok_or_else(|| {
                ConfigError::unknown(format!("contract.{name}.flow"), flow, "a flow or a group of flows", &groups)
            })?;
            all.extend(ids.into_iter().flatten());
        }
        Ok(Some(all))
    }

    /// Where the data of a flow enters this domain, if it does.
    fn entry(&self, domain: &str, flow: &FlowPlan) -> Result<Option<Entry>, ConfigError> {
        let mut found = None;
        for (k, egress) in self.plan.routes[flow.route_forward as usize].iter().enumerate() {
            let e = &self.plan.egresses[*egress as usize];
            let is_own = |node: u32| self.of_node[node as usize] == Some(self.number);
            if !is_own(e.to) || is_own(e.from) {
                continue;
            }
            if found.is_some() {
                let found = format!("flow `{}`, which enters the domain twice", flow.name);
                return Err(ConfigError::new(format!("domain.{domain}.nodes"), found, "a domain without holes"));
            }
            found = Some(Entry { behind: k as u32, from: e.from });
        }
        Ok(found)
    }

    fn comes_from(&self, name: &str, node: u32) -> bool {
        let domain = self.of_node[node as usize].map(|d| self.names[d as usize]);
        self.plan.nodes[node as usize] == name || domain == Some(name)
    }
}

fn overlap(name: &str, other: &str, flow: &str, both: u64) -> ConfigError {
    let point = Dscp::from_bits(both.trailing_zeros() as u8).unwrap_or_default();
    let found = format!("flow `{flow}` with {}, which contract `{other}` covers too", point.show());
    ConfigError::new(format!("contract.{name}"), found, "packets that no other contract of the domain covers")
        .hint("tell them apart by `flow`, `from` or `dscp`")
}

fn nothing_enters((name, c): &(String, Contract)) -> ConfigError {
    let from = c.from.as_ref().map_or(String::new(), |f| format!(" from `{f}`"));
    let found = format!("flows whose data does not enter domain `{}`{from}", c.domain);
    ConfigError::new(format!("contract.{name}"), found, "at least one flow that does")
        .hint("a flow enters on a link that leads from a node outside of the domain to one of its `nodes`")
}
