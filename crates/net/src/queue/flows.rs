//! Flow queues: each flow waits in a queue of its own, made when its first packet comes, with a law of its own. The link serves
//! them in rounds of `quantum` bytes (deficit round robin with two lists): flows that have just become active first, once, then
//! all others in turn.

use super::aqm::{Aqm, Lent, Setup};
use super::store::{self, Fifo, Place};
use super::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::build::BuildCx;
use crate::params::{self, Params};
use crate::sched::children::Sums;
use crate::sched::classify::{Classes, Classifier, Filter};
use crosswind_base::{
    ClassTotals, ConfigError, Cx, DropReason, Limit, Metrics, Packet, PacketId, Setting, Size, Time, units,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

/// Which flows share a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Those whose salted hash falls into the same of so many buckets.
    #[default]
    Hash,
    /// None.
    Exact,
}

/// Who goes when all queues hold too much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// At least half of the bytes of the longest, from its head.
    HalfOfBytes,
    /// Half of its packets.
    HalfOfPackets,
    /// The packet that arrives. When the limit has become smaller, the head of the longest.
    Arrival,
}

/// What the law of one queue takes for the backlog.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sees {
    OwnQueue,
    AllQueues,
}

/// What the queues and the rounds are like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub buckets: u32,
    pub isolation: Isolation,
    pub quantum: Size,
    pub cut: Cut,
    /// No more packets are cut at once.
    pub batch: u32,
    pub sees: Sees,
}

/// Parameters of flow queues with one law.
pub trait FlowParams: Params {
    type Law: Aqm + Clone;
    fn shape(&self) -> Shape;
    /// The limits of all queues together.
    fn setup(&self) -> Setup;
    fn law(&self) -> Self::Law;
    /// Where the random numbers of all laws come from.
    fn draws(&self, cx: &BuildCx<'_>) -> <Self::Law as Aqm>::Draws;
    /// The law of a queue that holds so much goes on with these parameters.
    fn retune(&self, law: &mut Self::Law, holds: Backlog, now: Time) -> Result<(), ConfigError>;
    /// Packets with a queue of their own, by class.
    fn filter(&self) -> &[Filter];
}

/// Where a queue stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Idle,
    New,
    Old,
}

struct Flow<A> {
    /// Its number among all that there could be.
    bucket: u32,
    store: Fifo,
    law: A,
    deficit: i64,
    turn: Turn,
}

/// The class of a bucket that filters chose is its own; those of the others are new and old flows.
const NEW: &str = "new";
const OLD: &str = "old";
/// Stands for all packets that no filter takes.
const HASHED: &str = "hashed";
const NO_SLOT: u32 = u32::MAX;

/// Queues by flow.
pub struct FlowQueues<P: FlowParams> {
    params: P,
    shape: Shape,
    /// The limits of all together, and none for each.
    limits: Setup,
    each: Setup,
    draws: <P::Law as Aqm>::Draws,
    salt: u64,
    classifier: Option<Classifier>,
    /// Names of the classes that filters choose, and their totals; then those of new and of old flows.
    names: Vec<String>,
    totals: Vec<ClassTotals>,
    /// By bucket or, where flows share none, by key: the place in `flows`.
    slots: Vec<u32>,
    keys: BTreeMap<u64, u32>,
    flows: Vec<Flow<P::Law>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
    removal: Removal,
    /// Room for what is taken out.
    gone: Vec<Place>,
}

fn class_names(filters: &[Filter]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for f in filters {
        if !names.contains(&f.class.as_str()) {
            names.push(&f.class);
        }
    }
    names
}

/// Checks the buckets of the hash, and what a queue may send in its turn.
pub fn check_rounds(flows: u32, quantum: Size) -> Result<(), ConfigError> {
    if !(1..=65_536).contains(&flows) {
        return Err(ConfigError::new("flows", flows.to_string(), "from 1 to 65536 buckets"));
    }
    if !(1..=1 << 20).contains(&quantum.0) {
        return Err(ConfigError::new("quantum", units::show_size(quantum), "from 1 B to 1 MiB"));
    }
    Ok(())
}

/// Checks filters that make the classes they name.
pub fn check_filters(filters: &[Filter]) -> Result<(), ConfigError> {
    let taken = [NEW, OLD, HASHED];
    if let Some(i) = filters.iter().position(|f| taken.contains(&f.class.as_str())) {
        let found = format!("`{}`", filters[i].class);
        return Err(ConfigError::new(format!("filter[{i}].class"), found, "a name that the queue does not use itself"));
    }
    classes_of(filters).check(filters, Some(HASHED))
}

fn classes_of(filters: &[Filter]) -> Classes<'_> {
    let mut leaves = class_names(filters);
    leaves.push(HASHED);
    Classes { leaves, inner: Vec::new() }
}

/// Spreads keys over 64 bits (the finaliser of SplitMix64).
fn mix(key: u64) -> u64 {
    let z = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl<P: FlowParams> FlowQueues<P> {
    pub fn build(params: P, cx: &BuildCx<'_>) -> Result<FlowQueues<P>, ConfigError> {
        let (shape, limits) = (params.shape(), params.setup());
        let filters = params.filter();
        let classifier =
            if filters.is_empty() { None } else { Some(classes_of(filters).compile(filters, Some(HASHED), cx)?) };
        let names: Vec<String> = class_names(filters).into_iter().map(String::from).collect();
        Ok(FlowQueues {
            draws: params.draws(cx),
            salt: cx.rng("hash").bits(),
            classifier,
            totals: vec![ClassTotals::default(); names.len() + 2],
            slots: vec![
                NO_SLOT;
                names.len() + if shape.isolation == Isolation::Hash { shape.buckets as usize } else { 0 }
            ],
            names,
            keys: BTreeMap::new(),
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            removal: params.law().removal(),
            gone: Vec::new(),
            each: Setup::fits(Limit::Packets(u64::MAX), limits.ecn),
            limits,
            shape,
            params,
        })
    }

    /// The place of the queue of a packet, which is made if there is none.
    fn slot_of(&mut self, p: &Packet) -> usize {
        let class = self.classifier.as_ref().map(|c| c.class_of(p)).filter(|c| *c < self.names.len());
        let key = u64::from(p.flow.0) << 1 | u64::from(p.meta.is_reverse());
        let bucket = match (class, self.shape.isolation) {
            (Some(class), _) => class,
            (None, Isolation::Hash) => {
                let hash = mix(key ^ self.salt) >> 32;
                self.names.len() + ((hash * u64::from(self.shape.buckets)) >> 32) as usize
            }
            (None, Isolation::Exact) => {
                let next = self.flows.len() as u32;
                let slot = *self.keys.entry(key).or_insert(next);
                if slot == next {
                    self.make(next + self.names.len() as u32);
                }
                return slot as usize;
            }
        };
        if self.slots[bucket] == NO_SLOT {
            self.slots[bucket] = self.flows.len() as u32;
            self.make(bucket as u32);
        }
        self.slots[bucket] as usize
    }

    #[cold]
    fn make(&mut self, bucket: u32) {
        let law = self.params.law();
        self.flows.push(Flow { bucket, store: Fifo::new(), law, deficit: 0, turn: Turn::Idle });
    }

    /// Where the packets of a queue are counted.
    #[inline]
    fn class_of(&self, flow: &Flow<P::Law>) -> usize {
        let named = self.names.len();
        match flow.turn {
            _ if (flow.bucket as usize) < named => flow.bucket as usize,
            Turn::Old => named + 1,
            Turn::New | Turn::Idle => named,
        }
    }

    /// Queues that have been made.
    pub fn queues(&self) -> usize {
        self.flows.len()
    }

    /// Drops at the head of the longest queue, the first of equals.
    #[cold]
    fn cut(&mut self, cx: &mut Cx<'_>) {
        let longest = (0..self.flows.len()).max_by_key(|i| {
            let f = &self.flows[*i];
            (f.store.backlog().bytes, std::cmp::Reverse(f.bucket))
        });
        let Some(i) = longest else { return };
        let (class, held) = (self.class_of(&self.flows[i]), self.flows[i].store.backlog());
        let flow = &mut self.flows[i];
        let (mut packets, mut bytes) = (0, 0);
        let (store, draws) = (&mut flow.store, &mut self.draws);
        cx.watched(&mut self.totals[class], |cx| {
            let mut q = Lent::new(&self.each, store, draws, cx);
            while let Some(head) = q.pop() {
                packets += 1;
                bytes += u64::from(head.len);
                q.drop(head, DropReason::FatFlow);
                let is_half = match self.shape.cut {
                    Cut::HalfOfBytes => bytes >= held.bytes >> 1,
                    Cut::HalfOfPackets => packets >= held.packets >> 1,
                    Cut::Arrival => true,
                };
                if is_half || packets >= self.shape.batch {
                    break;
                }
            }
        });
        flow.law.on_cut(packets, cx.now);
        self.backlog.packets -= packets;
        self.backlog.bytes -= bytes;
    }

    /// Drops packets of one queue, for a reason that is not the queue's.
    fn take_out(&mut self, gone: &[Place], why: DropReason, cx: &mut Cx<'_>) {
        let i = gone[0].queue;
        let class = self.class_of(&self.flows[i]);
        let flow = &mut self.flows[i];
        let before = flow.store.backlog();
        cx.watched(&mut self.totals[class], |cx| {
            let mut next = gone.iter().map(|p| p.head.id).peekable();
            let q = Lent::new(&self.each, &mut flow.store, &mut self.draws, cx);
            q.remove(&mut flow.law, |head, _| next.next_if_eq(&head.id).is_some(), why);
        });
        self.backlog = self.backlog.without(before.without(flow.store.backlog()));
    }

    /// The next packet of one queue, through its law.
    #[inline]
    fn dequeue_from(&mut self, i: usize, cx: &mut Cx<'_>) -> Option<Head> {
        let class = self.class_of(&self.flows[i]);
        let flow = &mut self.flows[i];
        let before = flow.store.backlog();
        let others = match self.shape.sees {
            Sees::OwnQueue => Backlog::default(),
            Sees::AllQueues => self.backlog.without(before),
        };
        let (store, law, each, draws) = (&mut flow.store, &mut flow.law, &self.each, &mut self.draws);
        let head = cx.watched(&mut self.totals[class], |cx| {
            law.on_dequeue(&mut Lent::new(each, store, draws, cx).beside(others))
        });
        let after = flow.store.backlog();
        self.backlog = self.backlog.without(before.without(after));
        if let Some(head) = head {
            flow.deficit -= i64::from(head.len);
            self.totals[class].sent(head.len, head.since, cx.now);
        }
        head
    }
}

impl<P: FlowParams> QueueDisc for FlowQueues<P> {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let p = *cx.packet(id);
        let i = self.slot_of(&p);
        let class = self.class_of(&self.flows[i]);
        let flow = &mut self.flows[i];
        let before = flow.store.backlog();
        self.totals[class].arrived(u32::from(p.len));
        let (store, law, each, draws) = (&mut flow.store, &mut flow.law, &self.each, &mut self.draws);
        let is_refused = self.shape.cut == Cut::Arrival && !self.limits.admits(self.backlog, u32::from(p.len));
        cx.watched(&mut self.totals[class], |cx| {
            let q = Lent::new(each, store, draws, cx);
            if is_refused { q.turn_away(law, id) } else { q.offer(law, id) }
        });
        let after = flow.store.backlog();
        if after.packets == before.packets {
            return;
        }
        self.backlog.packets += after.packets - before.packets;
        self.backlog.bytes += after.bytes - before.bytes;
        if flow.turn == Turn::Idle {
            (flow.turn, flow.deficit) = (Turn::New, self.shape.quantum.0 as i64);
            self.new.push_back(i as u32);
        }
        if self.limits.is_exceeded_by(self.backlog) {
            self.cut(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        loop {
            let from = if self.new.is_empty() { Turn::Old } else { Turn::New };
            let list = if from == Turn::New { &mut self.new } else { &mut self.old };
            let slot = *list.front()?;
            let i = slot as usize;
            let is_in_debt = self.flows[i].deficit <= 0;
            if is_in_debt {
                self.flows[i].deficit += self.shape.quantum.0 as i64;
            } else if let Some(head) = self.dequeue_from(i, cx) {
                return Some(head);
            }
            // Its turn is over. An empty queue that was new stands behind all others once, so that it does not starve them.
            if from == Turn::New {
                self.new.pop_front()
            } else {
                self.old.pop_front()
            };
            let stays = is_in_debt || from == Turn::New && !self.old.is_empty();
            self.flows[i].turn = if stays { Turn::Old } else { Turn::Idle };
            if stays {
                self.old.push_back(slot);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn removal(&self) -> Removal {
        self.removal
    }

    /// A queue that is left empty keeps its turn.
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        let mut gone = std::mem::take(&mut self.gone);
        store::choose(self.flows.iter().map(|f| &f.store), goes, cx, &mut gone);
        for of_flow in gone.chunk_by(|a, b| a.queue == b.queue) {
            self.take_out(of_flow, why, cx);
        }
        gone.clear();
        self.gone = gone;
    }

    /// Which queue a packet belongs to cannot change.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        const FIXED: [&str; 3] = ["flows", "isolation", "filter"];
        if let Some(key) = FIXED.into_iter().find(|k| set.contains_key(*k)) {
            return Err(ConfigError::new(key, set[key].to_string(), "the queues of the flows as they are"));
        }
        params::setting(&self.params, set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let new: P = new.get();
        for flow in &mut self.flows {
            new.retune(&mut flow.law, flow.store.backlog(), cx.now)?;
        }
        (self.shape, self.limits) = (new.shape(), new.setup());
        self.each.ecn = self.limits.ecn;
        self.params = new;
        while self.limits.is_exceeded_by(self.backlog) {
            self.cut(cx);
        }
        Ok(())
    }

    fn report(&self, out: &mut dyn Metrics) {
        let mut sums = Sums::default();
        self.flows.iter().for_each(|f| f.law.report(&mut sums));
        sums.tell(out);
        let mut holds = vec![Backlog::default(); self.totals.len()];
        for f in &self.flows {
            holds[self.class_of(f)] += f.store.backlog();
        }
        let names = self.names.iter().map(String::as_str).chain([NEW, OLD]);
        names.zip(&self.totals).zip(holds).for_each(|((name, totals), holds)| out.class(name, totals, holds));
    }
}
