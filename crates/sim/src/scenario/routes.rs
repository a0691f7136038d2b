//! Static shortest paths: fewest hops, then least delay, then the alphabet; the order in the file plays no part.
//!
//! One breadth-first search serves every route to one destination. A host with a single link needs none of its own: the
//! routes to it are the routes to its neighbour plus one hop, so a dumbbell of ten thousand pairs needs two searches.

use super::topology::{Graph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};

/// A directed link: `2 * edge` is forward, `2 * edge + 1` is reverse.
pub type EgressIndex = u32;

const UNREACHED: u32 = u32::MAX;

fn is_forward(egress: EgressIndex) -> bool {
    egress & 1 == 0
}

/// The ends of a route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Pair {
    pub from: NodeIndex,
    pub to: NodeIndex,
}

pub struct Router<'a> {
    graph: &'a Graph,
    /// Directed links into each node, grouped: those of node n are `into[first[n]..first[n + 1]]`.
    first: Vec<u32>,
    into: Vec<EgressIndex>,
    /// Next hop (a directed link) of each node on the way to `tree_of`.
    next: Vec<EgressIndex>,
    tree_of: Option<NodeIndex>,
    /// How many searches have been made.
    pub searches: u64,
}

impl<'a> Router<'a> {
    pub fn new(graph: &'a Graph) -> Router<'a> {
        let mut first = vec![0u32; graph.nodes.len() + 1];
        for e in &graph.edges {
            first[e.from as usize + 1] += 1;
            first[e.to as usize + 1] += 1;
        }
        for n in 0..graph.nodes.len() {
            first[n + 1] += first[n];
        }
        let mut at = first.clone();
        let mut into = vec![0; 2 * graph.edges.len()];
        for (i, e) in graph.edges.iter().enumerate() {
            for (end, egress) in [(e.to, 2 * i), (e.from, 2 * i + 1)] {
                into[at[end as usize] as usize] = egress as EgressIndex;
                at[end as usize] += 1;
            }
        }
        Router { graph, first, into, next: Vec::new(), tree_of: None, searches: 0 }
    }

    /// How many searches the routes of `pairs` take, and how many directed links each may have to look at.
    pub fn effort(&self, pairs: &BTreeSet<Pair>) -> (u64, u64) {
        let anchors: BTreeSet<NodeIndex> = pairs.iter().map(|p| self.anchor(p.to)).collect();
        (anchors.len() as u64, self.into.len() as u64)
    }

    /// The routes of all `pairs` (`None` where there is no path).
    pub fn routes(&mut self, pairs: &BTreeSet<Pair>) -> BTreeMap<Pair, Option<Vec<EgressIndex>>> {
        // Grouped by the node that the search starts from, so that only one search result is held at a time.
        let mut by_anchor: Vec<(NodeIndex, Pair)> = pairs.iter().map(|p| (self.anchor(p.to), *p)).collect();
        by_anchor.sort_unstable();
        let mut out = BTreeMap::new();
        for (anchor, pair) in by_anchor {
            if self.tree_of != Some(anchor) {
                self.search(anchor);
                self.tree_of = Some(anchor);
            }
            out.insert(pair, self.walk(pair, anchor));
        }
        out
    }

    fn links_into(&self, node: NodeIndex) -> &[EgressIndex] {
        &self.into[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    fn tail(&self, egress: EgressIndex) -> NodeIndex {
        let e = &self.graph.edges[egress as usize / 2];
        if is_forward(egress) { e.from } else { e.to }
    }

    fn head(&self, egress: EgressIndex) -> NodeIndex {
        self.tail(egress ^ 1)
    }

    fn delay_ns(&self, egress: EgressIndex) -> u64 {
        let body = &self.graph.edges[egress as usize / 2].body;
        if is_forward(egress) { body.forward.delay.0 } else { body.reverse.delay.0 }
    }

    /// The destination itself, or its only neighbour.
    fn anchor(&self, to: NodeIndex) -> NodeIndex {
        match self.links_into(to) {
            [only] => self.tail(*only),
            _ => to,
        }
    }

    fn walk(&self, pair: Pair, anchor: NodeIndex) -> Option<Vec<EgressIndex>> {
        let mut route = Vec::new();
        let mut at = pair.from;
        while at != anchor {
            let egress = self.next[at as usize];
            if egress == UNREACHED {
                return None;
            }
            route.push(egress);
            at = self.head(egress);
        }
        if anchor != pair.to {
            route.push(*self.links_into(pair.to).first()?);
        }
        Some(route)
    }

    /// Fills `next` for every node that can reach `to`: layer by layer, so each node sees all its candidates.
    fn search(&mut self, to: NodeIndex) {
        let nodes = self.graph.nodes.len();
        let mut hops = vec![UNREACHED; nodes];
        let mut delay = vec![0u64; nodes];
        let mut next = vec![UNREACHED; nodes];
        hops[to as usize] = 0;
        let mut layer = vec![to];
        let mut depth = 0;
        while !layer.is_empty() {
            let mut following = Vec::new();
            for &node in &layer {
                for &egress in self.links_into(node) {
                    let tail = self.tail(egress) as usize;
                    let sum = delay[node as usize].saturating_add(self.delay_ns(egress));
                    if hops[tail] == UNREACHED {
                        hops[tail] = depth + 1;
                        following.push(tail as NodeIndex);
                    } else if hops[tail] != depth + 1 || !self.better((sum, egress), (delay[tail], next[tail])) {
                        continue;
                    }
                    delay[tail] = sum;
                    next[tail] = egress;
                }
            }
            layer = following;
            depth += 1;
        }
        self.next = next;
        self.searches += 1;
    }

    /// Whether the first way out of a node is preferred to the second.
    fn better(&self, new: (u64, EgressIndex), old: (u64, EgressIndex)) -> bool {
        let key = |(delay, egress): (u64, EgressIndex)| {
            let (node, edge) = (self.head(egress) as usize, egress as usize / 2);
            (delay, self.graph.nodes[node].as_str(), self.graph.edges[edge].name.as_str())
        };
        key(new) < key(old)
    }
}
