//! # Hierarchical token bucket
//!
//! **Source**: linux-sch-htb; devera-2002; jarvinen-2006 section 2.4; riva-2003 section 4;
//! shreedhar-varghese-1995 (the round among equals).
//!
//! **Idea**: each class has a bucket that fills at `rate` up to `burst` and one that fills at `ceil` up to `cburst`. With
//! credit in both it sends; without credit for `rate` it borrows from the nearest ancestor that has some, while nobody
//! between is above its ceiling. Served first: those with the nearest lender, then the lowest `prio`, then in rounds of
//! `quantum` bytes. A packet is charged to all ceilings above it and to the rates from the lender upwards.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `class` | - | one, named `all`, 1 Mbit/s | ours; name -> keys below |
//! | `filter` | - | none | which packets go to which class: a list, the first that matches decides |
//! | `default` | - | the only class | class of packets that no filter takes |
//! | `r2q` | 1/s | 10 | linux-sch-htb |
//! | `hysteresis` | - | off | linux-sch-htb since 2.6.26; on in 2.4 (decision 0023): two buckets and a frame beyond the rate |
//! | `tick` | s | 0 s | a class that has run out of credit is looked at again at whole multiples of it; 10 ms in kernels of 100 Hz (2.4) |
//! | `oversubscription` | - | refuse | ours: children that promise more than their parent has are mostly a slip |
//! | `overhead` | bytes | 0 B | IP length is charged; riva-2003, from its finishing times |
//! | `mpu` | bytes | 0 B | linux-sch-htb |
//! | `cell` | bytes | 1 B | lengths are rounded down to it, as in tc's table of 256 times: 8 B for packets up to 2047 B |
//! | `kbit` | bits | 1000 | 1024 in early versions of tc; every rate of this table is scaled by kbit/1000 |
//!
//! Keys of a class: `parent` (none: it cannot borrow), `rate`, `ceil` (= `rate`), `burst` (10 ms of `rate` + 1600 B, as tc
//! at 100 Hz), `cburst` (10 ms of `ceil` + 1600 B), `prio` (0), `quantum` (`rate` in B/s divided by `r2q`, within 1000 B to
//! 200000 B), `queue` (droptail; only classes without classes below them have one).
//!
//! **Deviations**: 1. Credit is exact; the kernel rounds it to nanoseconds. 2. A packet that no filter takes belongs to
//! `default`; the kernel sends it unshaped where none is given. 3. Rounds go by the names of the classes in alphabetical
//! order; the kernel's by their numbers. 4. With a `tick`, credit grows between the ticks too; 2.4 counts it in ticks.
//!
//! **Checked by**: conformance suite; oracle `htb` on random traces; the kernel's htb (docs/validation-qos.md).

mod ring;
mod tree;

use super::bucket::Bucket;
use super::charge::{Charge, check_bucket, check_kbit, no_cell, scaled};
use super::children::{Children, Inner, Place, for_classes, inner_keys};
use super::classify::{Classes, Classifier, Filter};
use crate::build::BuildCx;
use crate::params::{self, Complete, Params};
use crate::queue::{Backlog, Head, QueueDisc};
use crosswind_base::units::show_rate;
use crosswind_base::{BitRate, ConfigError, Cx, Dur, Metrics, PacketId, Past, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tree::{LEVELS, PRIORITIES, Plan, Rank, Sent, Shares, Threshold, Tree};

/// One class of an HTB.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbClass {
    /// The class that this one is part of and borrows from; none for a class at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What the class gets in any case.
    pub rate: BitRate,
    /// What it never exceeds, with what it borrows; its rate when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<BitRate>,
    /// Bucket of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// Bucket of `ceil`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cburst: Option<Size>,
    /// Rank among classes with the same lender, from 0 to 7; the lowest goes first.
    #[serde(default)]
    #[schemars(range(max = 7))]
    pub prio: u8,
    /// Bytes per round among equals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Where packets of the class wait. Only for classes without classes below them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Inner>,
}

impl HtbClass {
    fn of_rate(rate: BitRate) -> HtbClass {
        HtbClass { parent: None, rate, ceil: None, burst: None, cburst: None, prio: 0, quantum: None, queue: None }
    }
    fn ceil(&self) -> BitRate {
        self.ceil.unwrap_or(self.rate)
    }
}

/// What happens when the classes below a class are promised more than it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Oversubscription {
    /// It is an error.
    #[default]
    Refuse,
    /// As in Linux: they get what they are promised, and the class above runs into debt.
    Allow,
}

/// When a class changes its mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hysteresis {
    /// As soon as its credit is used up.
    #[default]
    Off,
    /// After a further bucket of debt: fewer changes, twice the burst.
    On,
}

/// Parameters of HTB.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HtbParams {
    /// Bits in a kbit: 1000, or 1024.
    pub kbit: u32,
    /// Link-layer bytes charged with every packet beyond its IP length.
    pub overhead: Size,
    /// Least length that a packet is charged with.
    pub mpu: Size,
    /// Lengths are charged in whole multiples of this, rounded down: the cells of tc's rate table.
    pub cell: Size,
    /// Rounds per second that a class needs to send at its rate, where it has no `quantum` of its own.
    #[schemars(range(min = 1))]
    pub r2q: u32,
    /// Whether a class changes its mode at zero credit or only deep in debt.
    pub hysteresis: Hysteresis,
    /// The clock by which classes get their credit back: a class that waits is looked at again when it ticks; 0 s = at once.
    #[serde(skip_serializing_if = "is_continuous")]
    pub tick: Dur,
    /// Whether classes may be promised more than the class above them has.
    pub oversubscription: Oversubscription,
    /// Class of the packets that no filter takes; not needed where there is one class only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Which packets go to which class; the first filter that matches decides.
    pub filter: Vec<Filter>,
    /// The classes by name.
    pub class: BTreeMap<String, HtbClass>,
}

impl Default for HtbParams {
    fn default() -> Self {
        HtbParams {
            kbit: 1000,
            overhead: Size(0),
            mpu: Size(0),
            cell: no_cell(),
            r2q: 10,
            hysteresis: Hysteresis::Off,
            tick: Dur::ZERO,
            oversubscription: Oversubscription::Refuse,
            default: None,
            filter: Vec::new(),
            class: BTreeMap::from([("all".to_string(), HtbClass::of_rate(BitRate(1_000_000)))]),
        }
    }
}

impl HtbParams {
    fn charge(&self) -> Charge {
        Charge { overhead: self.overhead, mpu: self.mpu, cell: self.cell }
    }
    fn is_leaf(&self, name: &str) -> bool {
        !self.class.values().any(|c| c.parent.as_deref() == Some(name))
    }
    fn classes(&self) -> Classes<'_> {
        let (leaves, inner) = self.class.keys().map(String::as_str).partition(|name| self.is_leaf(name));
        Classes { leaves, inner }
    }
    /// Classes above this one, and whether the chain ends.
    fn ancestors(&self, name: &str) -> Vec<&str> {
        let above = |n: &&str| self.class.get(*n).and_then(|c| c.parent.as_deref());
        let start = self.class.get(name).and_then(|c| c.parent.as_deref());
        std::iter::successors(start, above).take(LEVELS + 1).collect()
    }

    fn check_class(&self, name: &str, c: &HtbClass) -> Result<(), ConfigError> {
        params::check_rate("rate", c.rate)?;
        if c.ceil() < c.rate {
            let expected = format!("at least the rate ({})", show_rate(c.rate));
            return Err(ConfigError::new("ceil", show_rate(c.ceil()), expected));
        }
        params::check_rate("ceil", c.ceil())?;
        for (key, size) in [("burst", c.burst), ("cburst", c.cburst), ("quantum", c.quantum)] {
            size.map_or(Ok(()), |s| check_bucket(key, s))?;
        }
        if c.prio as usize >= PRIORITIES {
            return Err(ConfigError::new("prio", c.prio.to_string(), format!("from 0 to {}", PRIORITIES - 1)));
        }
        if let Some(parent) = c.parent.as_deref().filter(|p| !self.class.contains_key(*p)) {
            let names: Vec<&str> = self.class.keys().map(String::as_str).filter(|n| *n != name).collect();
            if names.is_empty() {
                let expected = "no parent, or a class of this queue, which has no other";
                return Err(ConfigError::new("parent", format!("`{parent}`"), expected));
            }
            return Err(ConfigError::unknown("parent", parent, "a class of this queue", &names));
        }
        let above = self.ancestors(name);
        if above.contains(&name) {
            return Err(ConfigError::new(
                "parent",
                format!("`{}`, which is below `{name}`", above[0]),
                "a class above",
            ));
        }
        if above.len() >= LEVELS {
            return Err(ConfigError::new("parent", "a class too deep in the tree", format!("at most {LEVELS} levels")));
        }
        Ok(())
    }

    /// The classes below `name` fit into it.
    fn check_shares(&self, name: &str, c: &HtbClass) -> Result<(), ConfigError> {
        let below = self.class.iter().filter(|(_, k)| k.parent.as_deref() == Some(name));
        let mut sum = 0u128;
        for (child, k) in below {
            if k.ceil() > c.ceil() {
                let expected = format!("at most the ceil of class.{name} ({})", show_rate(c.ceil()));
                return Err(ConfigError::new(format!("class.{child}.ceil"), show_rate(k.ceil()), expected));
            }
            sum += k.rate.0 as u128;
        }
        if sum <= c.rate.0 as u128 {
            return Ok(());
        }
        let found = format!("{}, while the classes below it have {} together", show_rate(c.rate), show_sum(sum));
        Err(ConfigError::new(format!("class.{name}.rate"), found, "at least the sum of the rates below it")
            .hint("oversubscription = \"allow\" lets them have it, as Linux does"))
    }
}

fn show_sum(bps: u128) -> String {
    show_rate(BitRate(bps.min(u64::MAX as u128) as u64))
}

fn is_continuous(tick: &Dur) -> bool {
    tick.0 == 0
}

/// 10 ms of a rate and a packet: what tc gives a class on a kernel whose clock ticks at 100 Hz.
fn default_bucket(rate: BitRate) -> Size {
    Size(rate.0 / 800 + 1600)
}

impl Params for HtbParams {
    fn complete(&mut self, inside: &Complete) -> Result<(), ConfigError> {
        let leaves: Vec<String> = self.classes().leaves.iter().map(|l| l.to_string()).collect();
        let (kbit, r2q) = (self.kbit, self.r2q.max(1));
        for (name, c) in &mut self.class {
            let rate = scaled(c.rate, kbit);
            let ceil = *c.ceil.get_or_insert(c.rate);
            c.burst.get_or_insert(default_bucket(rate));
            c.cburst.get_or_insert(default_bucket(scaled(ceil, kbit)));
            if leaves.contains(name) {
                c.quantum.get_or_insert(Size((rate.0 / 8 / r2q as u64).clamp(1000, 200_000)));
                c.queue.get_or_insert_default().complete(&format!("class.{name}.queue"), inside)?;
            } else if c.queue.is_some() {
                let path = format!("class.{name}.queue");
                return Err(ConfigError::new(path, "a queue", "none: packets wait in the classes below this one"));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ConfigError> {
        check_kbit(self.kbit)?;
        self.charge().check()?;
        if self.r2q == 0 {
            return Err(ConfigError::new("r2q", "0", "at least 1"));
        }
        if self.tick > Dur::from_secs(1) {
            return Err(ConfigError::new("tick", format!("{:?}", self.tick), "at most 1 s"));
        }
        if self.class.is_empty() || self.class.len() > 10_000 {
            return Err(ConfigError::new("class", format!("{} classes", self.class.len()), "1 to 10000 classes"));
        }
        for (name, c) in &self.class {
            self.check_class(name, c).map_err(|e| e.under(&format!("class.{name}")))?;
        }
        if self.oversubscription == Oversubscription::Refuse {
            self.class.iter().try_for_each(|(name, c)| self.check_shares(name, c))?;
        }
        self.classes().check(&self.filter, self.default.as_deref())
    }
}

/// The hierarchical token bucket.
pub struct Htb {
    params: Box<HtbParams>,
    /// Names of all classes, as they are numbered in the tree.
    names: Vec<String>,
    classifier: Classifier,
    charge: Charge,
    /// Number in the tree of each leaf, and back.
    node_of: Vec<u16>,
    leaf_of: Vec<u16>,
    tree: Tree,
    leaves: Children,
    /// When the modes of classes change next, if nobody could be served last time.
    retry: Time,
}

/// Builds the tree and the queues of its leaves.
pub fn build(p: HtbParams, cx: &BuildCx<'_>) -> Result<Htb, ConfigError> {
    let names: Vec<&str> = p.class.keys().map(String::as_str).collect();
    let number = |name: &str| names.iter().position(|n| *n == name).expect("checked with the parameters") as u16;
    let classes = p.classes();
    let mut leaves = Children::new();
    for name in &classes.leaves {
        let (c, path) = (&p.class[*name], format!("class.{name}.queue"));
        let rate_max = Some(scaled(c.ceil(), p.kbit));
        let inner = c.queue.clone().unwrap_or_default();
        leaves.add(&inner, &Place { class: name, path: &path, rate_max }, cx)?;
    }
    let plan = |(name, c): (&String, &HtbClass)| Plan {
        parent: c.parent.as_deref().map(number),
        level: if p.is_leaf(name) { 0 } else { LEVELS - 1 - p.ancestors(name).len() },
        prio: c.prio,
        quantum: c.quantum.map_or(1000, |q| q.0 as i64),
        rate: Bucket::new(scaled(c.rate, p.kbit), c.burst.unwrap_or(default_bucket(c.rate))),
        ceil: Bucket::new(scaled(c.ceil(), p.kbit), c.cburst.unwrap_or(default_bucket(c.ceil()))),
    };
    let threshold = if p.hysteresis == Hysteresis::On { Threshold::WholeBucket } else { Threshold::Zero };
    let node_of: Vec<u16> = classes.leaves.iter().map(|name| number(name)).collect();
    let mut leaf_of = vec![0; names.len()];
    node_of.iter().enumerate().for_each(|(leaf, node)| leaf_of[*node as usize] = leaf as u16);
    Ok(Htb {
        classifier: classes.compile(&p.filter, p.default.as_deref(), cx)?,
        charge: p.charge(),
        node_of,
        leaf_of,
        tree: Tree::new(p.class.iter().map(plan).collect(), threshold, p.tick),
        leaves,
        retry: Time::NEVER,
        names: names.iter().map(|n| n.to_string()).collect(),
        params: Box::new(p),
    })
}

impl Htb {
    /// Serves one packet at a level and priority, if any leaf there gives one.
    fn serve(&mut self, rank: Rank, cx: &mut Cx<'_>) -> Option<Head> {
        // A leaf may hold back although it has packets: each is asked once.
        for _ in 0..=self.node_of.len() {
            if !self.tree.has_row(rank) {
                return None;
            }
            let node = self.tree.turn(rank)?;
            let leaf = self.leaf_of[node as usize] as usize;
            let head = self.leaves.dequeue_if_any(leaf, cx);
            let is_empty = self.leaves.holds_nothing(leaf);
            if let Some(head) = head {
                let bytes = self.charge.of(head.len);
                self.tree.count(node, rank, bytes);
                if is_empty {
                    self.tree.deactivate(node);
                }
                self.tree.charge(node, rank.level, Sent { bytes, now: cx.now });
                return Some(head);
            }
            if is_empty {
                self.tree.deactivate(node);
            } else {
                self.tree.pass_on(node, rank);
            }
        }
        None
    }
}

impl QueueDisc for Htb {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let leaf = self.classifier.class_of(cx.packet(id));
        self.leaves.enqueue(leaf, id, cx);
        let node = self.node_of[leaf];
        if !self.leaves.holds_nothing(leaf) && !self.tree.is_active(node) {
            self.tree.activate(node);
        }
    }

    /// Rates, ceilings, buckets and quanta of classes, and their queues; the tree itself cannot change.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        const OWN: [&str; 5] = ["rate", "ceil", "burst", "cburst", "quantum"];
        let (mut of_tree, mut queues) = (Map::new(), Vec::new());
        for_classes(set, &self.names, |node, keys| {
            let mut own = keys.clone();
            if let Some(queue) = inner_keys(&mut own)? {
                let is_leaf = self.node_of.iter().any(|n| *n as usize == node);
                if !is_leaf {
                    return Err(ConfigError::new(
                        "queue",
                        "a queue",
                        "none: packets wait in the classes below this one",
                    ));
                }
                queues.push((node, self.leaves.read_change(self.leaf_of[node] as usize, &queue)?));
            }
            if let Some(key) = own.keys().find(|k| !OWN.contains(&k.as_str())) {
                return Err(ConfigError::unknown(key, key, "a key of a class that can change", &OWN));
            }
            of_tree.insert(self.names[node].clone(), Value::Object(own));
            Ok(())
        })?;
        let all = Map::from_iter([("class".to_string(), Value::Object(of_tree))]);
        let new: HtbParams = params::merged(&*self.params, &all)?;
        Ok(Setting::new((new, queues)))
    }

    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let (new, queues): (HtbParams, Vec<(usize, Setting)>) = new.get();
        for (node, queue) in &queues {
            let done = self.leaves.change(self.leaf_of[*node] as usize, queue, cx);
            done.map_err(|e| e.under(&format!("class.{}", self.names[*node])))?;
        }
        for (node, c) in new.class.values().enumerate() {
            let buckets = [(c.rate, c.burst), (c.ceil(), c.cburst)];
            let [rate, ceil] = buckets.map(|(rate, depth)| {
                let rate = scaled(rate, new.kbit);
                (rate, depth.unwrap_or(default_bucket(rate)))
            });
            self.tree.set(node as u16, Shares { rate, ceil, quantum: c.quantum.map_or(1000, |q| q.0 as i64) }, cx.now);
        }
        self.retry = if self.retry == Time::NEVER { Time::NEVER } else { cx.now };
        *self.params = new;
        Ok(())
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.retry = Time::NEVER;
        if self.leaves.backlog().packets == 0 {
            return None;
        }
        for level in 0..LEVELS {
            self.tree.catch_up(level, cx.now);
            for prio in self.tree.priorities(level) {
                if let Some(head) = self.serve(Rank { level, prio }, cx) {
                    return Some(head);
                }
            }
        }
        self.retry = self.tree.next_change();
        None
    }

    fn backlog(&self) -> Backlog {
        self.leaves.backlog()
    }

    fn next_wake(&self) -> Option<Time> {
        Some(self.retry.min(self.leaves.next_wake())).filter(|at| *at != Time::NEVER)
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.retry <= cx.now {
            self.retry = Time::NEVER;
        }
        self.leaves.wake(cx);
    }

    fn past(&mut self, now: Time) -> Option<Past> {
        self.leaves.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.leaves.resume(past, gap)
    }

    fn report(&self, out: &mut dyn Metrics) {
        self.leaves.report(out)
    }
}
