//! # Deficit round robin
//!
//! **Source**: shreedhar-varghese-1995; linux-sch-drr.
//!
//! **Idea**: classes that hold packets take turns. A class sends as long as its credit covers the packet at its head; then `quantum`
//! bytes are added to the credit and the class goes behind the others. A class that runs empty loses its credit, and begins with a
//! quantum when it comes back. So classes share the line by their quanta, whatever the size of their packets.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `class` | - | one, named `all` | ours; name -> `quantum` (1514 B, linux-sch-drr: a packet of the device) and `queue` (droptail) |
//! | `filter` | - | none | which packets go to which class: a list, the first that matches decides |
//! | `default` | - | the only class | class of packets that no filter takes |
//!
//! **Deviations**: 1. What no filter takes goes to `default`; the kernel drops it. 2. A class whose queue holds back, such as a token
//! bucket filter without credit, is passed over; the kernel's stops all others with it. 3. Of a queue that does not know beforehand what
//! it will give, such as `codel`, one packet is taken out early and waits for the credit.
//!
//! **Checked by**: oracle `drr` on random traces; rounds and shares of `crates/testkit/tests/drr.rs`; conformance suite.

use super::children::{Children, Inner, Place, read_queues};
use super::classify::{Classes, Classifier, Filter};
use crate::build::BuildCx;
use crate::params::{Complete, Params};
use crate::queue::{Backlog, Chooser, Head, QueueDisc, Removal};
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Metrics, PacketId, Past, Setting, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

/// One class of a deficit round robin.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrrClass {
    /// What a turn adds to the credit.
    pub quantum: Size,
    /// Where packets of the class wait.
    pub queue: Inner,
}

impl Default for DrrClass {
    fn default() -> Self {
        DrrClass { quantum: Size(1514), queue: Inner::default() }
    }
}

/// Parameters of a deficit round robin.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrrParams {
    /// Class of the packets that no filter takes; not needed where there is one class only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Which packets go to which class; the first filter that matches decides.
    pub filter: Vec<Filter>,
    /// The classes by name.
    pub class: BTreeMap<String, DrrClass>,
}

impl Default for DrrParams {
    fn default() -> Self {
        let class = BTreeMap::from([("all".to_string(), DrrClass::default())]);
        DrrParams { default: None, filter: Vec::new(), class }
    }
}

impl DrrParams {
    fn classes(&self) -> Classes<'_> {
        Classes { leaves: self.class.keys().map(String::as_str).collect(), inner: Vec::new() }
    }
}

impl Params for DrrParams {
    fn complete(&mut self, inside: &Complete) -> Result<(), ConfigError> {
        self.class.iter_mut().try_for_each(|(name, c)| c.queue.complete(&format!("class.{name}.queue"), inside))
    }
    fn check(&self) -> Result<(), ConfigError> {
        if self.class.is_empty() {
            return Err(ConfigError::new("class", "no classes", "at least one class"));
        }
        for (name, c) in &self.class {
            if !(1..=1 << 20).contains(&c.quantum.0) {
                let found = units::show_size(c.quantum);
                return Err(ConfigError::new(format!("class.{name}.quantum"), found, "from 1 B to 1 MiB"));
            }
        }
        self.classes().check(&self.filter, self.default.as_deref())
    }
}

/// The turn of a class.
#[derive(Clone, Copy, Debug)]
struct Turn {
    quantum: u64,
    credit: u64,
    is_listed: bool,
    /// Taken out of a queue that could not be looked into.
    held: Option<Head>,
}

/// A deficit round robin; classes are numbered by name.
pub struct Drr {
    names: Vec<String>,
    classifier: Classifier,
    classes: Children,
    turns: Vec<Turn>,
    /// Those that take turns.
    round: VecDeque<usize>,
    held: Backlog,
    /// For what is taken out.
    room: Vec<Head>,
}

/// Builds the scheduler and the queues of its classes.
pub fn build(p: DrrParams, cx: &BuildCx<'_>) -> Result<Drr, ConfigError> {
    let mut classes = Children::new();
    for (name, class) in &p.class {
        let path = format!("class.{name}.queue");
        classes.add(&class.queue, &Place { class: name, path: &path, rate_max: None }, cx)?;
    }
    let turn = |c: &DrrClass| Turn { quantum: c.quantum.0, credit: 0, is_listed: false, held: None };
    Ok(Drr {
        names: p.class.keys().cloned().collect(),
        classifier: p.classes().compile(&p.filter, p.default.as_deref(), cx)?,
        classes,
        turns: p.class.values().map(turn).collect(),
        round: VecDeque::with_capacity(p.class.len()),
        held: Backlog::default(),
        room: Vec::new(),
    })
}

impl Drr {
    /// What a class gives next.
    fn head_of(&mut self, class: usize, cx: &mut Cx<'_>) -> Option<Head> {
        if let Some(head) = self.turns[class].held.or_else(|| self.classes.peek(class)) {
            return Some(head);
        }
        let head = self.classes.dequeue_if_any(class, cx)?;
        self.turns[class].held = Some(head);
        self.held += Backlog { bytes: u64::from(head.len), packets: 1 };
        Some(head)
    }

    fn take(&mut self, class: usize, cx: &mut Cx<'_>) -> Option<Head> {
        match self.turns[class].held.take() {
            None => self.classes.dequeue(class, cx),
            Some(head) => {
                self.held = self.held.without(Backlog { bytes: u64::from(head.len), packets: 1 });
                Some(head)
            }
        }
    }
}

impl QueueDisc for Drr {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let class = self.classifier.class_of(cx.packet(id));
        self.classes.enqueue(class, id, cx);
        let turn = &mut self.turns[class];
        if !turn.is_listed && !self.classes.holds_nothing(class) {
            (turn.is_listed, turn.credit) = (true, turn.quantum);
            self.round.push_back(class);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        let mut passed_over = 0;
        while let Some(&class) = self.round.front() {
            let Some(head) = self.head_of(class, cx) else {
                self.round.pop_front();
                if self.classes.holds_nothing(class) {
                    self.turns[class].is_listed = false;
                    continue;
                }
                self.round.push_back(class);
                passed_over += 1;
                if passed_over >= self.round.len() {
                    return None;
                }
                continue;
            };
            passed_over = 0;
            let turn = &mut self.turns[class];
            if u64::from(head.len) > turn.credit {
                turn.credit += turn.quantum;
                self.round.rotate_left(1);
                continue;
            }
            turn.credit -= u64::from(head.len);
            let out = self.take(class, cx);
            if self.classes.holds_nothing(class) {
                self.round.pop_front();
                self.turns[class].is_listed = false;
            }
            return out;
        }
        None
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
    fn backlog(&self) -> Backlog {
        let mut all = self.classes.backlog();
        all += self.held;
        all
    }
    fn removal(&self) -> Removal {
        self.classes.removal()
    }
    /// But for a packet that was taken out early and waits for its credit. A class that is left empty keeps its turn.
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        self.classes.remove(goes, why, cx, &mut self.room);
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
