//! # Strict priority
//!
//! **Source**: linux-sch-prio; jarvinen-2006 section 2.4 (the audio class before the others).
//!
//! **Idea**: the class with the lowest `prio` that has a packet to give is served, always. A class whose own queue holds
//! back, such as a token bucket filter without credit, is passed over until it gives.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `class` | - | one, named `all` | ours; name -> `prio` (a number, lower first) and `queue` (droptail) |
//! | `filter` | - | none | which packets go to which class: a list, the first that matches decides |
//! | `default` | - | the only class | class of packets that no filter takes |
//!
//! **Deviations**: 1. Priorities of two classes must differ; Linux numbers the bands instead.
//!
//! **Checked by**: conformance suite; tests of `sched.rs`.

use super::children::{Children, Inner, Place, read_queues};
use super::classify::{Classes, Classifier, Filter};
use crate::build::BuildCx;
use crate::params::{Complete, Params};
use crate::queue::{Backlog, Head, QueueDisc};
use crosswind_base::{ConfigError, Cx, Dur, Metrics, PacketId, Past, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One class of a strict priority scheduler.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrioClass {
    /// Rank: the class with the lowest number that has something to send is served.
    pub prio: u32,
    /// Where packets of the class wait.
    #[serde(default)]
    pub queue: Inner,
}

/// Parameters of the strict priority scheduler.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrioParams {
    /// Class of the packets that no filter takes; not needed where there is one class only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Which packets go to which class; the first filter that matches decides.
    pub filter: Vec<Filter>,
    /// The classes by name.
    pub class: BTreeMap<String, PrioClass>,
}

impl Default for PrioParams {
    fn default() -> Self {
        PrioParams {
            default: None,
            filter: Vec::new(),
            class: BTreeMap::from([("all".to_string(), PrioClass::default())]),
        }
    }
}

impl PrioParams {
    /// In the order in which they are served.
    fn ranked(&self) -> Vec<(&str, &PrioClass)> {
        let mut ranked: Vec<_> = self.class.iter().map(|(name, c)| (name.as_str(), c)).collect();
        ranked.sort_by_key(|(_, c)| c.prio);
        ranked
    }
    fn classes(&self) -> Classes<'_> {
        Classes { leaves: self.ranked().iter().map(|(name, _)| *name).collect(), inner: Vec::new() }
    }
}

impl Params for PrioParams {
    fn complete(&mut self, inside: &Complete) -> Result<(), ConfigError> {
        self.class.iter_mut().try_for_each(|(name, c)| c.queue.complete(&format!("class.{name}.queue"), inside))
    }
    fn check(&self) -> Result<(), ConfigError> {
        if self.class.is_empty() {
            return Err(ConfigError::new("class", "no classes", "at least one class"));
        }
        for pair in self.ranked().windows(2) {
            if pair[0].1.prio == pair[1].1.prio {
                let found = format!("{}, as class.{} has", pair[1].1.prio, pair[0].0);
                return Err(ConfigError::new(format!("class.{}.prio", pair[1].0), found, "a rank of its own")
                    .hint("classes of equal rank share a link in an `htb`"));
            }
        }
        self.classes().check(&self.filter, self.default.as_deref())
    }
}

/// The strict priority scheduler; classes are numbered by rank.
pub struct Prio {
    /// Names of the classes, by rank.
    names: Vec<String>,
    classifier: Classifier,
    classes: Children,
}

/// Builds the scheduler and the queues of its classes.
pub fn build(p: PrioParams, cx: &BuildCx<'_>) -> Result<Prio, ConfigError> {
    let mut classes = Children::new();
    for (name, class) in p.ranked() {
        let path = format!("class.{name}.queue");
        classes.add(&class.queue, &Place { class: name, path: &path, rate_max: None }, cx)?;
    }
    let names = p.ranked().iter().map(|(name, _)| name.to_string()).collect();
    Ok(Prio { names, classifier: p.classes().compile(&p.filter, p.default.as_deref(), cx)?, classes })
}

impl QueueDisc for Prio {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let class = self.classifier.class_of(cx.packet(id));
        self.classes.enqueue(class, id, cx);
    }
    /// `class.x.queue` changes the queue of a class; nothing else can change.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        read_queues(set, &self.names, &self.classes).map(Setting::new)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let queues: Vec<(usize, Setting)> = new.get();
        let names = &self.names;
        let under = |class: usize| move |e: ConfigError| e.under(&format!("class.{}", names[class]));
        queues.iter().try_for_each(|(class, new)| self.classes.change(*class, new, cx).map_err(under(*class)))
    }
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        (0..self.classes.count()).find_map(|class| self.classes.dequeue_if_any(class, cx))
    }
    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }
    fn next_wake(&self) -> Option<Time> {
        Some(self.classes.next_wake()).filter(|at| *at != Time::NEVER)
    }
    fn wake(&mut self, cx: &mut Cx<'_>) {
        self.classes.wake(cx);
    }

    fn past(&mut self, now: Time) -> Option<Past> {
        self.classes.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.classes.resume(past, gap)
    }

    fn report(&self, out: &mut dyn Metrics) {
        self.classes.report(out)
    }
}
