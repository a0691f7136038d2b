//! From links and templates to a graph: numbered nodes, duplex links, and the groups of nodes that flows may name.

use super::body::Body;
use super::names;
use super::types::{AccessTree, Chain, Dumbbell, Scenario, Topology};
use crosswind_base::ConfigError;
use std::collections::{BTreeMap, BTreeSet};

/// Index of a node in [`Graph::nodes`].
pub type NodeIndex = u32;

/// A duplex link between numbered nodes.
#[derive(Clone, Debug)]
pub struct Edge {
    pub name: String,
    pub from: NodeIndex,
    pub to: NodeIndex,
    pub body: Body,
}

/// A network before routing.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<String>,
    pub edges: Vec<Edge>,
    index: BTreeMap<String, NodeIndex>,
    links: BTreeSet<String>,
    /// Numbered nodes of a template under their common name.
    groups: BTreeMap<&'static str, Vec<NodeIndex>>,
}

impl Graph {
    /// Nodes and links of the template, then of the scenario's own links.
    pub fn build(s: &Scenario) -> Result<Graph, ConfigError> {
        let mut g = Graph::default();
        match &s.topology {
            None => {}
            Some(Topology::Dumbbell(d)) => g.dumbbell(d),
            Some(Topology::Chain(c)) => g.chain(c),
            Some(Topology::AccessTree(t)) => g.access_tree(t),
        }
        for (name, link) in &s.link {
            if g.links.contains(name) {
                let found = format!("`{name}`, which the template of `topology` has made already");
                return Err(ConfigError::new(format!("link.{name}"), found, "a name of its own"));
            }
            let ends = [("from", &link.from), ("to", &link.to)];
            if let Some((key, end)) = ends.iter().find(|(_, end)| g.groups.contains_key(end.as_str())) {
                let expected = format!("a single node such as `{end}-1`");
                return Err(ConfigError::new(
                    format!("link.{name}.{key}"),
                    format!("`{end}`, a group of nodes"),
                    expected,
                ));
            }
            g.connect(name.clone(), [link.from.clone(), link.to.clone()], &link.body);
        }
        Ok(g)
    }

    /// The nodes that a flow's `from` or `to` stands for: one, or the members of a group.
    pub fn resolve<'a>(&'a self, name: &str, path: &str) -> Result<Ends<'a>, ConfigError> {
        if let Some(members) = self.groups.get(name) {
            return Ok(Ends::Group(members));
        }
        if let Some(node) = self.index.get(name) {
            return Ok(Ends::One(*node));
        }
        let mut valid: Vec<&str> = self.groups.keys().copied().collect();
        valid.extend(self.nodes.iter().map(String::as_str));
        Err(names::unknown(name, path, "a node of the network", &valid))
    }

    fn node(&mut self, name: String) -> NodeIndex {
        if let Some(i) = self.index.get(&name) {
            return *i;
        }
        let i = self.nodes.len() as NodeIndex;
        self.nodes.push(name.clone());
        self.index.insert(name, i);
        i
    }

    fn member(&mut self, group: &'static str, k: u32) -> String {
        let name = format!("{group}-{k}");
        let node = self.node(name.clone());
        self.groups.entry(group).or_default().push(node);
        name
    }

    fn connect(&mut self, name: String, [from, to]: [String; 2], body: &Body) {
        let (from, to) = (self.node(from), self.node(to));
        self.links.insert(name.clone());
        self.edges.push(Edge { name, from, to, body: body.clone() });
    }

    fn dumbbell(&mut self, d: &Dumbbell) {
        let access = d.access.as_ref().expect("the reader fills in the default");
        let of_pair = |k: u32| d.pair.get(&k).map_or(access, |own| &own.0);
        for k in 1..=d.pairs {
            let host = self.member("left", k);
            self.connect(host.clone(), [host, "router-left".into()], of_pair(k));
        }
        self.connect("bottleneck".into(), ["router-left".into(), "router-right".into()], &d.bottleneck);
        for k in 1..=d.pairs {
            let host = self.member("right", k);
            self.connect(host.clone(), ["router-right".into(), host], of_pair(k));
        }
    }

    fn chain(&mut self, c: &Chain) {
        let access = c.access.as_ref().expect("the reader fills in the default");
        for k in 1..=c.pairs {
            let host = self.member("source", k);
            self.connect(host.clone(), [host, "router-0".into()], access);
        }
        for k in 1..=c.hops {
            let (near, far) = (format!("router-{}", k - 1), format!("router-{k}"));
            self.connect(format!("hop-{k}"), [near.clone(), far.clone()], &c.hop);
            let host = self.member("cross-in", k);
            self.connect(host.clone(), [host, near], access);
            let host = self.member("cross-out", k);
            self.connect(host.clone(), [far, host], access);
        }
        for k in 1..=c.pairs {
            let host = self.member("sink", k);
            self.connect(host.clone(), [format!("router-{}", c.hops), host], access);
        }
    }

    fn access_tree(&mut self, t: &AccessTree) {
        let trunk = t.trunk.as_ref().expect("the reader fills in the default");
        self.connect("trunk".into(), ["server".into(), "router".into()], trunk);
        for k in 1..=t.clients {
            let host = self.member("client", k);
            self.connect(host.clone(), ["router".into(), host], &t.last_hop);
        }
    }
}

/// What a flow's `from` or `to` stands for.
#[derive(Clone, Copy, Debug)]
pub enum Ends<'a> {
    One(NodeIndex),
    Group(&'a [NodeIndex]),
}

impl Ends<'_> {
    /// The node of the member with this index (from zero); a group is used round and round.
    pub fn of_member(&self, k: u32) -> NodeIndex {
        match self {
            Ends::One(n) => *n,
            Ends::Group(g) => g[k as usize % g.len()],
        }
    }
    /// After how many members the nodes repeat.
    pub fn period(&self) -> u32 {
        match self {
            Ends::One(_) => 1,
            Ends::Group(g) => g.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dumbbell, plan, read};
    use super::super::{Registries, json_schema, normalise, schema_check};
    use crosswind_base::{BitRate, Dur};
    use serde_json::{Value, json};

    fn with_pairs(pair: Value) -> Value {
        let mut v = dumbbell(3, 3);
        v["topology"]["access"] = json!({
            "rate": "100 Mbit/s", "delay": "2 ms", "loss": {"type": "list", "packets": [14]},
            "reverse": {"rate": "10 Mbit/s"},
        });
        v["topology"]["pair"] = pair;
        v
    }

    #[test]
    fn a_pair_differs_in_what_is_said_and_is_as_the_others_elsewhere() {
        let p = plan(&with_pairs(json!({
            "2": {"delay": "40 ms", "loss": "none"}, "3": {"type": "atm"},
        })));
        let p = p.unwrap();
        let of = |name: &'static str| p.egresses.iter().filter(move |e| e.name == name).map(|e| &e.spec);
        for name in ["left-2", "right-2"] {
            let seen: Vec<_> = of(name).map(|s| (s.rate.unwrap(), s.delay, s.loss.is_some())).collect();
            let delay = Dur::from_millis(40);
            assert_eq!(seen, [(BitRate(100_000_000), delay, false), (BitRate(10_000_000), delay, false)]);
        }
        assert!(of("left-1").all(|s| s.delay == Dur::from_millis(2) && s.loss.is_some()));
        assert!(of("right-3").all(|s| s.link["type"] == "atm" && s.loss.is_none()), "another type inherits nothing");
    }

    #[test]
    fn written_out_pairs_inherit_nothing_and_the_schema_takes_them() {
        let schema = json_schema(&Registries);
        for pair in [
            json!({"1": {"delay": "7 ms"}}),
            json!({"2": {"loss": "none", "reverse": {"loss": "none", "rate": "1 Mbit/s"}}, "3": "gprs"}),
            json!({"3": {"reverse": {"type": "atm"}}}),
            json!({"1": {"queue": "pi"}, "2": {"profile": "umts", "delay": "1 ms"}}),
        ] {
            let written = with_pairs(pair);
            let scenario = read(&written).unwrap();
            let once = normalise(&scenario);
            let again = read(&once).unwrap();
            assert_eq!(scenario, again, "{once}");
            assert_eq!(once.to_string(), normalise(&again).to_string());
            schema_check::accepts(&schema, &written).unwrap();
            schema_check::accepts(&schema, &once).unwrap();
        }
        assert!(schema_check::accepts(&schema, &with_pairs(json!({"1": {"dleay": "7 ms"}}))).is_err());
    }

    #[test]
    fn pairs_that_do_not_exist_are_refused() {
        for (pair, path) in [
            (json!({"4": {"delay": "7 ms"}}), "topology.pair.4"),
            (json!({"0": {"delay": "7 ms"}}), "topology.pair.0"),
            (json!({"2": {"dleay": "7 ms"}}), "topology.pair.2.dleay"),
            (json!({"2": {"queue": {"type": "droptail", "limt": "1 packets"}}}), "topology.pair.2.queue.limt"),
        ] {
            assert_eq!(plan(&with_pairs(pair)).unwrap_err().path, path);
        }
    }
}
