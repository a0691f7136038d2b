//! Domains and contracts: what happens to traffic where it enters a DiffServ domain (RFC 2475).
//!
//! A domain is a set of routers. A contract says what the domain promises to some of the traffic that enters it: who is
//! covered (`flow`, `from`, `dscp`), how it is metered, and what becomes of packets inside and outside the contract. The
//! places where traffic enters follow from the routes.

use super::catalogue::{Catalogue, Kind, object};
use super::check;
use super::compile::{FlowPlan, Plan};
use super::types::Scenario;
use crosswind_base::{Colour, ConfigError, Dscp, Dur};
use crosswind_net::diffserv::conditioner::Action;
use crosswind_net::sched::classify::{AnyOf, FlowNames};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Routers under one administration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The routers of the domain. Traffic enters it on the links that lead to one of them from anywhere else.
    pub nodes: Vec<String>,
}

/// What a domain promises to some of the traffic that enters it. A packet belongs to at most one contract of a domain;
/// what belongs to none passes as it is. Contracts cover what a flow's sender sends, not what comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The domain whose edge keeps the contract.
    pub domain: String,
    /// Flows or groups of flows. Left out: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<AnyOf<String>>,
    /// The domain, or the node, that the traffic comes from. Left out: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Code points that packets come with. Left out: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<AnyOf<Dscp>>,
    /// Whether all that is covered is metered together, or each flow for itself.
    #[serde(default)]
    pub per: Per,
    /// What the traffic is compared with. Left out: packets keep their colour, and have green if they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "meter_reference")]
    pub meter: Option<Value>,
    /// The class that packets are marked for: `AF1` to `AF4` (by colour), `EF` (green; the rest is dropped) or `BE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// What becomes of green packets: a code point, `keep` or `drop`. Left out: as the class says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub green: Option<Treatment>,
    /// What becomes of yellow packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yellow: Option<Treatment>,
    /// What becomes of red packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red: Option<Treatment>,
    /// The longest wait in any one queue that packets are given; queues of type `early-discard` enforce it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtq: Option<Dur>,
    /// The sum of all waits that packets are given; queues of type `early-discard` enforce it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qtl: Option<Dur>,
    /// A queue, such as one of type `tbf`, that packets wait in before they enter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "queue_reference")]
    pub shape: Option<Value>,
    /// Whether the times between packets that come green are recorded (metric `green_interval_ns` of the table `hist`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub intervals: Recording,
}

fn is_default<T: Default + PartialEq>(v: &T) -> bool {
    *v == T::default()
}
fn meter_reference(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"$ref": "#/$defs/meter"})
}
fn queue_reference(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"$ref": "#/$defs/queue"})
}

/// What one meter sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Everything that the contract covers.
    #[default]
    Aggregate,
    /// One flow.
    Flow,
}

/// Whether something is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    #[default]
    Off,
    On,
}

/// A class of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Class {
    #[serde(rename = "AF1")]
    Af1,
    #[serde(rename = "AF2")]
    Af2,
    #[serde(rename = "AF3")]
    Af3,
    #[serde(rename = "AF4")]
    Af4,
    #[serde(rename = "EF")]
    Ef,
    #[serde(rename = "BE")]
    Be,
}

impl Class {
    fn treatment(self, colour: Colour) -> Treatment {
        match (self, colour) {
            (Class::Ef, Colour::Green) => Treatment::Mark(Dscp::EXPEDITED),
            (Class::Ef, _) => Treatment::Drop,
            (Class::Be, _) => Treatment::Mark(Dscp::DEFAULT),
            _ => Dscp::assured(self as u8 + 1, colour).map_or(Treatment::Keep, Treatment::Mark),
        }
    }
}

/// What becomes of the packets of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    Keep,
    Drop,
    Mark(Dscp),
}

impl<'de> Deserialize<'de> for Treatment {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Treatment, D::Error> {
        let v = Value::deserialize(d)?;
        match v.as_str() {
            Some("keep") => Ok(Treatment::Keep),
            Some("drop") => Ok(Treatment::Drop),
            _ => serde_json::from_value(v).map(Treatment::Mark).map_err(|_| {
                D::Error::custom(
                    "expected \"keep\", \"drop\" or a code point such as \"AF12\" or a number from 0 to 63",
                )
            }),
        }
    }
}

impl Serialize for Treatment {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Treatment::Keep => s.serialize_str("keep"),
            Treatment::Drop => s.serialize_str("drop"),
            Treatment::Mark(d) => d.serialize(s),
        }
    }
}

impl JsonSchema for Treatment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Treatment".into()
    }
    fn json_schema(g: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let dscp = g.subschema_for::<Dscp>();
        schemars::json_schema!({"anyOf": [{"enum": ["keep", "drop"]}, dscp]})
    }
}

impl Contract {
    /// What becomes of the packets of each colour: green, yellow, red.
    pub fn actions(&self) -> [Action; 3] {
        let own = [self.green, self.yellow, self.red];
        Colour::ALL.map(|c| {
            let of_class = || self.class.map(|class| class.treatment(c));
            match own[c as usize].or_else(of_class).unwrap_or(Treatment::Keep) {
                Treatment::Keep => Action::Keep,
                Treatment::Drop => Action::Drop,
                Treatment::Mark(d) => Action::Mark(d),
            }
        })
    }

    /// The first colour up to `worst` of which nothing is said.
    fn unsaid(&self, worst: Colour) -> Option<Colour> {
        let said = [self.green.is_some(), self.yellow.is_some(), self.red.is_some()];
        Colour::ALL.into_iter().find(|c| *c <= worst && self.class.is_none() && !said[*c as usize])
    }

    /// One bit for each code point that it covers.
    fn dscps(&self) -> u64 {
        self.dscp.as_ref().map_or(u64::MAX, |d| d.items().iter().fold(0, |set, d| set | 1 << d.bits()))
    }
}

/// Fills in the defaults of meter and shaper, and checks what one contract says for itself.
pub(super) fn complete(c: Contract, cat: &dyn Catalogue, path: &str) -> Result<Contract, ConfigError> {
    let mut c = c;
    if let Some(meter) = &c.meter {
        let at = format!("{path}.meter");
        let keys = object(meter, &at, "a table such as { type = \"tsw2cm\", cir = \"1 Mbit/s\" }")?;
        if !keys.contains_key("cir") {
            return Err(ConfigError::new(format!("{at}.cir"), "nothing", "the committed rate, such as \"1 Mbit/s\""));
        }
        if !keys.contains_key("type") {
            return Err(ConfigError::new(format!("{at}.type"), "nothing", "the type of meter, such as \"tsw2cm\""));
        }
        c.meter = Some(cat.normalise(Kind::Meter, meter, &at)?);
    }
    if let Some(shape) = &c.shape {
        c.shape = Some(cat.normalise(Kind::Queue, shape, &format!("{path}.shape"))?);
    }
    for (key, limit) in [("mtq", c.mtq), ("qtl", c.qtl)] {
        if limit == Some(Dur::ZERO) {
            let expected = "a time above zero; leave the key out for no limit";
            return Err(ConfigError::new(format!("{path}.{key}"), "0 s", expected));
        }
    }
    if let (Some(mtq), Some(qtl)) = (c.mtq, c.qtl)
        && mtq > qtl
    {
        let found = crosswind_base::units::show_dur(mtq);
        let expected = format!("at most `qtl` ({}): a longer one has no effect", crosswind_base::units::show_dur(qtl));
        return Err(ConfigError::new(format!("{path}.mtq"), found, expected));
    }
    Ok(c)
}

/// A meter with the flows that it sees.
#[derive(Clone, Debug)]
pub struct ConditionerPlan {
    /// Index into [`EdgePlan::contracts`].
    pub contract: u32,
    /// Name below which its random streams are.
    pub component: String,
}

/// Which packets of a flow a conditioner gets.
#[derive(Clone, Copy, Debug)]
pub struct RulePlan {
    pub flow: u32,
    pub dscps: u64,
    /// Index into [`EdgePlan::conditioners`].
    pub conditioner: u32,
}

/// The edge of one domain.
#[derive(Clone, Debug)]
pub struct EdgePlan {
    pub domain: String,
    pub contracts: Vec<(String, Contract)>,
    pub conditioners: Vec<ConditionerPlan>,
    pub rules: Vec<RulePlan>,
}

/// A flow's data passes an edge behind one of the egresses of its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    pub flow: u32,
    /// Position in the route of the egress that leads into the domain.
    pub behind: u32,
    /// Index into [`Plan::edges`].
    pub edge: u32,
}

/// The edges of all domains with contracts, and which flows cross them where, in the order of flows.
pub(super) fn edges(s: &Scenario, plan: &Plan) -> Result<(Vec<EdgePlan>, Vec<Crossing>), ConfigError> {
    let of_node = owners(s, plan)?;
    let names: Vec<&str> = s.domain.keys().map(String::as_str).collect();
    for (name, c) in &s.contract {
        let path = format!("contract.{name}");
        if !s.domain.contains_key(&c.domain) {
            return Err(check::unknown(&c.domain, &format!("{path}.domain"), "the name of a domain", &names));
        }
        if let Some(from) = &c.from
            && !s.domain.contains_key(from)
            && !plan.nodes.contains(from)
        {
            let valid: Vec<&str> = names.iter().copied().chain(plan.nodes.iter().map(String::as_str)).collect();
            return Err(check::unknown(from, &format!("{path}.from"), "the name of a domain or node", &valid));
        }
    }
    let (mut edges, mut crossings) = (Vec::new(), Vec::new());
    for (d, name) in s.domain.keys().enumerate() {
        let contracts = s.contract.iter().filter(|(_, c)| c.domain == *name);
        let contracts: Vec<_> = contracts.map(|(n, c)| (n.clone(), c.clone())).collect();
        if !contracts.is_empty() {
            let domain = DomainEdge { plan, of_node: &of_node, names: &names, number: d as u32 };
            edges.push(domain.build(name, contracts, edges.len() as u32, &mut crossings)?);
        }
    }
    crossings.sort_unstable();
    Ok((edges, crossings))
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
                return Err(check::unknown(node, &path, "a node of the network", &valid));
            };
            if let Some(other) = of_node[*n].replace(d as u32) {
                let found = format!("`{node}`, which belongs to domain `{}` too", names[other as usize]);
                return Err(ConfigError::new(path, found, "a node of no other domain, once"));
            }
        }
    }
    Ok(of_node)
}

/// A domain while its edge is being found.
struct DomainEdge<'a> {
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

impl DomainEdge<'_> {
    fn build(
        &self,
        domain: &str,
        contracts: Vec<(String, Contract)>,
        edge: u32,
        crossings: &mut Vec<Crossing>,
    ) -> Result<EdgePlan, ConfigError> {
        let covered: Vec<Option<BTreeSet<u32>>> =
            contracts.iter().map(|(name, c)| self.flows_of(name, c)).collect::<Result<_, _>>()?;
        let mut out = EdgePlan { domain: domain.into(), contracts, conditioners: Vec::new(), rules: Vec::new() };
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
                crossings.push(Crossing { flow: f as u32, behind: entry.behind, edge });
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

/// What only the built meter knows: that something is said of every colour it gives.
pub(crate) fn check_colours(name: &str, c: &Contract, worst: Colour) -> Result<(), ConfigError> {
    match c.unsaid(worst) {
        None => Ok(()),
        Some(colour) => {
            let path = format!("contract.{name}.{}", colour.word());
            let expected = "a code point, \"keep\" or \"drop\" for every colour that the meter gives";
            Err(ConfigError::new(path, "nothing", expected).hint("or a class, such as class = \"AF1\""))
        }
    }
}
