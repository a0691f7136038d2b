//! # Fair queue with pacing
//!
//! **Source**: linux-sch-fq (of 2026); shreedhar-varghese-1995 (the rounds).
//!
//! **Idea**: every flow has a queue of its own, and a time before which its next packet does not leave. A flow that may not send yet waits
//! apart, in the order of these times; all others take turns, new ones first, a quantum each, in three bands that share the link by
//! weight. Without a rate nothing is held back. At a rate a flow sends its credit at once, then a packet every
//! `max(size, quantum) / rate`; a slow flow is spaced packet by packet.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | packets | 10000 packets | linux-sch-fq: of each band |
//! | `flow_limit` | packets | 100 | linux-sch-fq: of each flow |
//! | `quantum` | bytes | 3028 B | linux-sch-fq: two packets of the device |
//! | `initial_quantum` | bytes | 15140 B | linux-sch-fq: what a flow that was never seen may send, ten packets of the device |
//! | `refill_delay` | time | 40 ms | linux-sch-fq: a flow that was silent for longer begins with a quantum |
//! | `pacing` | - | true | linux-sch-fq: whether rates are kept to |
//! | `max_rate` | bit/s | none | linux-sch-fq: no flow leaves faster |
//! | `slow_rate` | bit/s | 550 kbit/s | linux-sch-fq (`low_rate_threshold`): up to this rate a flow has no credit |
//! | `ce_threshold` | time | none | linux-sch-fq: ECN-capable packets that leave later than they might by more are marked |
//! | `weights` | bytes | 589824 B, 196608 B, 65536 B | linux-sch-fq: what each band may send before the next one's turn, 9 : 3 : 1 |
//! | `class` | - | one, named `all` | ours; name -> `band` (1, linux-sch-fq for best effort) and `rate` (none): what `SO_MAX_PACING_RATE` says in a kernel |
//! | `filter` | - | none | which packets go to which class: a list, the first that matches decides |
//! | `default` | - | the only class | class of packets that no filter takes |
//!
//! **Deviations**: 1. A packet may leave from its arrival on: a transport that paces hands it over at its departure time (decision 0047).
//! So `horizon` is no parameter: no departure lies ahead. 2. Bands are those of filters; a kernel goes by the priority of the
//! socket. 3. The kernel lets a packet pass by all flows while nothing else waits, and then charges no credit; it forgets flows
//! that were idle for 3 s when it has thousands; its clock for `refill_delay` ticks. 4. What waits stays when limits change.
//!
//! **Checked by**: oracle `fq` on random traces; gaps, credits and bands of `crates/testkit/tests/fq.rs`; conformance suite.

use super::aqm::{EcnMode, Lent, Setup};
use super::store::{self, Fifo, Place};
use super::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::build::BuildCx;
use crate::params::{self, Params};
use crate::sched::classify::{Classes, Classifier, Filter};
use crate::switch::Switch;
use crosswind_base::{
    BitRate, ClassTotals, ConfigError, Cx, DropReason, Dur, Limit, Metrics, Packet, PacketId, Setting, Size, Time,
    units,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Packets of one kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqClass {
    /// The band that they belong to: 0, 1 or 2.
    pub band: u8,
    /// The rate of each flow among them, or "none".
    pub rate: Switch<BitRate>,
}

impl Default for FqClass {
    fn default() -> Self {
        FqClass { band: 1, rate: Switch::Off }
    }
}

/// Parameters of the fair queue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqParams {
    /// How much a band holds, in bytes or packets.
    pub limit: Limit,
    /// How many packets a flow may have here.
    #[schemars(range(min = 1))]
    pub flow_limit: u32,
    /// Bytes that a flow may send in its turn.
    pub quantum: Size,
    /// Bytes that a flow which was never seen may send in its first turn.
    pub initial_quantum: Size,
    /// A flow that was silent for longer has at least a quantum.
    pub refill_delay: Dur,
    /// Whether rates are kept to.
    pub pacing: bool,
    /// No flow leaves faster, or "none".
    pub max_rate: Switch<BitRate>,
    /// A flow with a rate up to this one has no credit.
    pub slow_rate: BitRate,
    /// ECN-capable packets that leave later than they might by more than this are marked, or "none".
    pub ce_threshold: Switch<Dur>,
    /// What each band may send before the next has its turn.
    pub weights: [Size; BANDS],
    /// Class of the packets that no filter takes; not needed where there is one class only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Which packets go to which class; the first filter that matches decides.
    pub filter: Vec<Filter>,
    /// The classes by name.
    pub class: BTreeMap<String, FqClass>,
}

const BANDS: usize = 3;
const SECOND_NS: u64 = 1_000_000_000;

impl Default for FqParams {
    fn default() -> Self {
        FqParams {
            limit: Limit::Packets(10_000),
            flow_limit: 100,
            quantum: Size(2 * 1514),
            initial_quantum: Size(10 * 1514),
            refill_delay: Dur::from_millis(40),
            pacing: true,
            max_rate: Switch::Off,
            slow_rate: BitRate(550_000),
            ce_threshold: Switch::Off,
            weights: [Size(9 << 16), Size(3 << 16), Size(1 << 16)],
            default: None,
            filter: Vec::new(),
            class: BTreeMap::from([("all".to_string(), FqClass::default())]),
        }
    }
}

impl FqParams {
    fn classes(&self) -> Classes<'_> {
        Classes { leaves: self.class.keys().map(String::as_str).collect(), inner: Vec::new() }
    }
}

impl Params for FqParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        if self.flow_limit == 0 {
            return Err(ConfigError::new("flow_limit", "0", "at least 1 packet"));
        }
        let most = (1 << 31) - 1;
        let sizes = [("quantum", self.quantum, 1 << 20), ("initial_quantum", self.initial_quantum, most)];
        let weights = self.weights.iter().map(|w| ("weights", *w, most));
        for (key, size, most) in sizes.into_iter().chain(weights) {
            let least = if key == "weights" { 65_536 } else { u64::from(key == "quantum") };
            if !(least..=most).contains(&size.0) {
                let expected = format!("from {least} B to {}", units::show_size(Size(most)));
                return Err(ConfigError::new(key, units::show_size(size), expected));
            }
        }
        params::check_delay("refill_delay", self.refill_delay)?;
        self.max_rate.as_ref().map_or(Ok(()), |r| params::check_rate("max_rate", *r))?;
        if self.class.is_empty() {
            return Err(ConfigError::new("class", "no classes", "at least one class"));
        }
        for (name, c) in &self.class {
            if usize::from(c.band) >= BANDS {
                return Err(ConfigError::new(format!("class.{name}.band"), c.band.to_string(), "0, 1 or 2"));
            }
            c.rate.as_ref().map_or(Ok(()), |r| params::check_rate(&format!("class.{name}.rate"), *r))?;
        }
        self.classes().check(&self.filter, self.default.as_deref())
    }
}

/// Where a flow stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stands {
    /// In no list, since then.
    Apart(Time),
    Listed,
    /// Until its time has come.
    Throttled,
}

struct Flow {
    store: Fifo,
    credit: i64,
    band: usize,
    stands: Stands,
    /// Its next packet does not leave before; [`Time::ZERO`]: nothing is known.
    next: Time,
}

/// Flows that may send, the new ones in the first list.
#[derive(Default)]
struct Band {
    lists: [VecDeque<u32>; 2],
    credit: i64,
    holds: Backlog,
}

const NEW: usize = 0;
const OLD: usize = 1;

struct Class {
    name: String,
    band: usize,
    rate: Option<BitRate>,
    totals: ClassTotals,
    holds: Backlog,
}

/// The fair queue.
pub struct Fq {
    params: FqParams,
    /// What a band may hold; nothing limits the store of a flow.
    limits: Setup,
    each: Setup,
    classifier: Classifier,
    classes: Vec<Class>,
    keys: BTreeMap<u64, u32>,
    flows: Vec<Flow>,
    bands: [Band; BANDS],
    /// Whose turn it is.
    turn: usize,
    /// Flows that wait for their time; of equal times, the one that was put there first.
    throttled: BinaryHeap<Reverse<(Time, u64, u32)>>,
    puts: u64,
    backlog: Backlog,
    gone: Vec<Place>,
}

impl Fq {
    pub fn build(params: FqParams, cx: &BuildCx<'_>) -> Result<Fq, ConfigError> {
        let class = |(name, c): (&String, &FqClass)| {
            let (name, band, rate) = (name.clone(), usize::from(c.band), c.rate.as_ref().copied());
            Class { name, band, rate, totals: ClassTotals::default(), holds: Backlog::default() }
        };
        Ok(Fq {
            limits: Setup::fits(params.limit, EcnMode::Mark),
            each: Setup::fits(Limit::Packets(u64::MAX), EcnMode::Mark),
            classifier: params.classes().compile(&params.filter, params.default.as_deref(), cx)?,
            classes: params.class.iter().map(class).collect(),
            keys: BTreeMap::new(),
            flows: Vec::new(),
            bands: Default::default(),
            turn: 0,
            throttled: BinaryHeap::new(),
            puts: 0,
            backlog: Backlog::default(),
            gone: Vec::new(),
            params,
        })
    }

    /// The place of the flow of a packet, which is made if there is none.
    fn flow_of(&mut self, p: &Packet, now: Time) -> usize {
        let key = u64::from(p.flow.0) << 1 | u64::from(p.meta.is_reverse());
        let next = self.flows.len() as u32;
        let place = *self.keys.entry(key).or_insert(next);
        if place == next {
            let credit = self.params.initial_quantum.0 as i64;
            let stands = Stands::Apart(now);
            self.flows.push(Flow { store: Fifo::new(), credit, band: 0, stands, next: Time::ZERO });
        }
        place as usize
    }

    fn lists(&mut self, i: u32, list: usize) {
        let flow = &mut self.flows[i as usize];
        flow.stands = Stands::Listed;
        self.bands[flow.band].lists[list].push_back(i);
    }

    /// Those whose time has come take turns again.
    fn release(&mut self, now: Time) {
        while let Some(Reverse((at, _, i))) = self.throttled.peek().copied().filter(|t| t.0.0 <= now) {
            debug_assert!(self.flows[i as usize].next == at, "the time of a flow that waits for it stays");
            self.throttled.pop();
            self.lists(i, OLD);
        }
    }

    fn next_band_has_credit(&mut self) -> bool {
        self.turn = (self.turn + 1) % BANDS;
        let weight = self.params.weights[self.turn].0 as i64;
        let band = &mut self.bands[self.turn];
        band.credit = (band.credit + weight).min(weight);
        band.credit > 0
    }

    /// The flow that is next, with the list that it stands in, when one may send.
    fn next_flow(&mut self) -> Option<(usize, usize)> {
        let mut turns = 0;
        loop {
            let band = &mut self.bands[self.turn];
            let list = [NEW, OLD].into_iter().find(|l| band.credit > 0 && !band.lists[*l].is_empty());
            if let Some(list) = list {
                return Some((self.turn, list));
            }
            // The next band that has credit with its new weight; when all three had their turn, nobody may send.
            turns += 1;
            while turns <= BANDS && !self.next_band_has_credit() {
                turns = 1;
            }
            if turns > BANDS {
                return None;
            }
        }
    }

    /// The next packet of a flow, if it may leave; otherwise the flow waits elsewhere.
    fn take_from(&mut self, band: usize, list: usize, cx: &mut Cx<'_>) -> Option<Head> {
        let i = *self.bands[band].lists[list].front()?;
        let flow = &mut self.flows[i as usize];
        if flow.credit <= 0 {
            flow.credit += self.params.quantum.0 as i64;
            self.bands[band].lists[list].pop_front();
            self.lists(i, OLD);
            return None;
        }
        let Some(front) = flow.store.front() else {
            self.bands[band].lists[list].pop_front();
            // An empty flow that was new stands behind all others once, so that it does not starve them.
            if list == NEW {
                self.lists(i, OLD);
            } else {
                flow.stands = Stands::Apart(cx.now);
            }
            return None;
        };
        let may_from = front.since.max(flow.next);
        if cx.now < may_from {
            (flow.next, flow.stands) = (may_from, Stands::Throttled);
            self.bands[band].lists[list].pop_front();
            self.throttled.push(Reverse((may_from, self.puts, i)));
            self.puts += 1;
            return None;
        }
        let class = self.classifier.class_of(cx.packet(front.id));
        let is_late = self.params.ce_threshold.as_ref().is_some_and(|t| cx.now.since(may_from) > *t);
        let (store, of) = (&mut flow.store, &mut self.classes[class]);
        let head = cx.watched(&mut of.totals, |cx| {
            let nothing = &mut ();
            let mut q = Lent::new(&self.each, store, nothing, cx);
            let head = q.pop()?;
            if is_late {
                q.mark_if_capable(&head);
            }
            Some(head)
        })?;
        of.totals.sent(head.len, head.since, cx.now);
        flow.credit -= i64::from(head.len);
        self.bands[band].credit -= i64::from(head.len);
        self.leaves(class, head.len);
        self.paces(i as usize, class, head.len, cx.now);
        Some(head)
    }

    /// A packet of a flow has left: from when on the next may.
    fn paces(&mut self, i: usize, class: usize, len: u32, now: Time) {
        if !self.params.pacing {
            return;
        }
        let rate = self.classes[class].rate.iter().chain(self.params.max_rate.as_ref()).min();
        let flow = &mut self.flows[i];
        let Some(rate) = rate else { return };
        let mut bytes = u64::from(len);
        if *rate <= self.params.slow_rate {
            flow.credit = 0;
        } else {
            bytes = bytes.max(self.params.quantum.0);
            if flow.credit > 0 {
                return;
            }
        }
        let gap = (bytes * SECOND_NS / (rate.0 / 8).max(1)).min(SECOND_NS);
        let late = if flow.next == Time::ZERO { 0 } else { now.since(flow.next).0 };
        flow.next = now + Dur(gap - late.min(gap / 2));
    }

    /// A packet is here no more.
    fn leaves(&mut self, class: usize, len: u32) {
        let one = Backlog { bytes: u64::from(len), packets: 1 };
        let class = &mut self.classes[class];
        class.holds = class.holds.without(one);
        let band = &mut self.bands[class.band];
        band.holds = band.holds.without(one);
        self.backlog = self.backlog.without(one);
    }
}

impl QueueDisc for Fq {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let p = *cx.packet(id);
        let class = self.classifier.class_of(&p);
        let (len, band) = (u32::from(p.len), self.classes[class].band);
        self.classes[class].totals.arrived(len);
        let has_room = self.limits.admits(self.bands[band].holds, len);
        let i = if has_room { self.flow_of(&p, cx.now) } else { 0 };
        if !has_room || self.flows[i].store.backlog().packets >= self.params.flow_limit {
            let nowhere = &mut Fifo::new();
            return cx.watched(&mut self.classes[class].totals, |cx| {
                Lent::new(&self.each, nowhere, &mut (), cx).refuse_arrival(id, DropReason::QueueFull);
            });
        }
        if let Stands::Apart(since) = self.flows[i].stands {
            // In the list of the band that it had before, as in the kernel.
            self.lists(i as u32, NEW);
            if cx.now.since(since) > self.params.refill_delay {
                self.flows[i].credit = self.flows[i].credit.max(self.params.quantum.0 as i64);
            }
        }
        self.flows[i].band = band;
        Lent::new(&self.each, &mut self.flows[i].store, &mut (), cx).push(id);
        let one = Backlog { bytes: u64::from(len), packets: 1 };
        self.classes[class].holds += one;
        self.bands[band].holds += one;
        self.backlog += one;
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        if self.backlog.packets == 0 {
            return None;
        }
        self.release(cx.now);
        while let Some((band, list)) = self.next_flow() {
            if let Some(head) = self.take_from(band, list, cx) {
                return Some(head);
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
    /// When the first of the flows that wait for their time may send.
    fn next_wake(&self) -> Option<Time> {
        self.throttled.peek().map(|t| t.0.0).filter(|_| self.backlog.packets > 0)
    }
    fn removal(&self) -> Removal {
        Removal::Possible
    }
    /// Flows keep their places and their credit.
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        let mut gone = std::mem::take(&mut self.gone);
        store::choose(self.flows.iter().map(|f| &f.store), goes, cx, &mut gone);
        for place in gone.drain(..) {
            let class = self.classifier.class_of(cx.packet(place.head.id));
            let store = &mut self.flows[place.queue].store;
            cx.watched(&mut self.classes[class].totals, |cx| {
                Lent::new(&self.each, store, &mut (), cx).drop_at(place.at, why);
            });
            self.leaves(class, place.head.len);
        }
        self.gone = gone;
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        if let Some(key) = ["filter", "class", "default"].into_iter().find(|k| set.contains_key(*k)) {
            return Err(ConfigError::new(key, set[key].to_string(), "the classes as they are"));
        }
        params::setting(&self.params, set)
    }
    fn change(&mut self, new: &Setting, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.params = new.get();
        self.limits = Setup::fits(self.params.limit, EcnMode::Mark);
        Ok(())
    }
    fn report(&self, out: &mut dyn Metrics) {
        self.classes.iter().for_each(|c| out.class(&c.name, &c.totals, c.holds));
    }
}
