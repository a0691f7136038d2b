//! # SFQ
//!
//! **Source**: linux-sch-sfq; mckenney-1990 (stochastic fair queueing).
//!
//! **Idea**: a salted hash spreads flows over `divisor` places, and each place that holds packets is a queue. The queues are served in
//! rounds of `quantum` bytes each. When all of them hold `limit` packets the longest gives one up, its last (or with `head_drop` its
//! first). Every `perturb` the hash gets a new salt and the packets that wait are spread anew, so that no two flows share a queue for long.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | packets | 127 packets | linux-sch-sfq |
//! | `flows` | - | 128 | linux-sch-sfq: queues at one time |
//! | `depth` | packets | 127 | linux-sch-sfq: the most in one queue |
//! | `divisor` | - | 1024 | linux-sch-sfq: places of the hash, a power of two |
//! | `quantum` | bytes | 1514 B | linux-sch-sfq: a packet of the device with its header |
//! | `perturb` | time | 0 s | linux-sch-sfq: 0 keeps the salt; tc-sfq recommends 10 s |
//! | `head_drop` | - | off | linux-sch-sfq `headdrop` |
//!
//! **Deviations**: 1. RED inside of each queue (`min`, `max`, `probability`) is absent: `fq-codel` is what took its place. 2. Hash and
//! salts are not the kernel's. 3. A new salt is applied with the first packet that comes or goes after its time; while nothing does,
//! nothing could show the difference.
//!
//! **Checked by**: oracle `sfq` on random traces (rings, allotments, ties of the longest, rehashing); rounds worked out by hand in
//! `crates/testkit/tests/sfq.rs`; conformance suite.

use super::aqm::{EcnMode, Lent, Setup};
use super::store::{self, Fifo, Place};
use super::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::build::BuildCx;
use crate::params::{self, Params};
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Limit, Packet, PacketId, Rng, Setting, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const DEPTH_MAX: u32 = 127;
const NONE: u32 = u32::MAX;

/// From which end of a queue packets are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeadDrop {
    /// The last one goes, or the one that arrives.
    #[default]
    Off,
    /// The first one goes.
    On,
}

/// Parameters of SFQ.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SfqParams {
    /// How much all queues hold together.
    pub limit: Limit,
    /// Queues at one time; a flow that finds none is refused.
    pub flows: u32,
    /// The most packets in one queue.
    pub depth: u32,
    /// Places of the hash.
    pub divisor: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum: Size,
    /// How long a salt is in use; 0: for ever.
    pub perturb: Dur,
    /// From which end packets are dropped.
    pub head_drop: HeadDrop,
}

impl Default for SfqParams {
    fn default() -> Self {
        SfqParams {
            limit: Limit::Packets(127),
            flows: 128,
            depth: DEPTH_MAX,
            divisor: 1024,
            quantum: Size(1514),
            perturb: Dur::ZERO,
            head_drop: HeadDrop::Off,
        }
    }
}

impl Params for SfqParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        if !(1..=65_408).contains(&self.flows) {
            return Err(ConfigError::new("flows", self.flows.to_string(), "from 1 to 65408 queues"));
        }
        if !(1..=DEPTH_MAX).contains(&self.depth) {
            return Err(ConfigError::new("depth", self.depth.to_string(), "from 1 to 127 packets"));
        }
        if !self.divisor.is_power_of_two() || self.divisor > 65_536 {
            return Err(ConfigError::new("divisor", self.divisor.to_string(), "a power of two up to 65536"));
        }
        if !(1..=1 << 20).contains(&self.quantum.0) {
            return Err(ConfigError::new("quantum", units::show_size(self.quantum), "from 1 B to 1 MiB"));
        }
        params::check_delay("perturb", self.perturb)
    }
}

/// Spreads keys over 64 bits (the finaliser of SplitMix64).
fn mix(key: u64) -> u64 {
    let z = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The place of a flow.
pub fn place_of(salt: u64, p: &Packet, divisor: u32) -> u32 {
    let key = u64::from(p.flow.0) << 1 | u64::from(p.meta.is_reverse());
    (mix(key ^ salt) >> 32) as u32 & (divisor - 1)
}

struct Slot {
    store: Fifo,
    /// Its place in the hash.
    place: u32,
    allot: i64,
    /// The next one in the round.
    next: u32,
    /// Beside it among those of equal length.
    beside: [u32; 2],
}

impl Slot {
    fn packets(&self) -> usize {
        self.store.backlog().packets as usize
    }
}

/// Stochastic fair queueing.
pub struct Sfq {
    params: SfqParams,
    limits: Setup,
    each: Setup,
    salts: Rng,
    salt: u64,
    /// When the next salt is due; [`Time::NEVER`] for never.
    renew_at: Time,
    slots: Vec<Slot>,
    /// By place: the slot, if one holds packets for it.
    places: Vec<u32>,
    /// By length: the slot that reached it last. At 0 the free ones.
    by_length: Vec<u32>,
    longest: usize,
    /// The last one of the round.
    tail: u32,
    backlog: Backlog,
    /// Room for what is spread anew, and for what is taken out.
    moving: Vec<Head>,
    gone: Vec<Place>,
}

impl Sfq {
    pub fn build(params: SfqParams, cx: &BuildCx<'_>) -> Result<Sfq, ConfigError> {
        let mut salts = cx.rng("hash");
        let most = match params.limit {
            Limit::Packets(n) => params.flows.min(params.divisor).min(n as u32),
            Limit::Bytes(_) => params.flows.min(params.divisor),
        };
        let slot = || Slot { store: Fifo::new(), place: 0, allot: 0, next: NONE, beside: [NONE; 2] };
        let mut sfq = Sfq {
            limits: Setup::fits(params.limit, EcnMode::Drop),
            each: Setup::fits(Limit::Packets(u64::MAX), EcnMode::Drop),
            salt: salts.bits(),
            salts,
            renew_at: if params.perturb == Dur::ZERO { Time::NEVER } else { Time::ZERO + params.perturb },
            slots: (0..most).map(|_| slot()).collect(),
            places: vec![NONE; params.divisor as usize],
            by_length: vec![NONE; DEPTH_MAX as usize + 1],
            longest: 0,
            tail: NONE,
            backlog: Backlog::default(),
            moving: Vec::new(),
            gone: Vec::new(),
            params,
        };
        (0..most).for_each(|x| sfq.link(x));
        Ok(sfq)
    }

    /// Puts a slot first among those of its length.
    fn link(&mut self, x: u32) {
        let n = self.slots[x as usize].packets();
        let second = std::mem::replace(&mut self.by_length[n], x);
        self.slots[x as usize].beside = [NONE, second];
        if second != NONE {
            self.slots[second as usize].beside[0] = x;
        }
        self.longest = self.longest.max(n);
    }

    /// Takes a slot of `n` packets out of those of its length.
    fn unlink(&mut self, x: u32, n: usize) {
        let [before, after] = self.slots[x as usize].beside;
        if before == NONE {
            self.by_length[n] = after;
        } else {
            self.slots[before as usize].beside[1] = after;
        }
        if after != NONE {
            self.slots[after as usize].beside[0] = before;
        }
        if n == self.longest && self.by_length[n] == NONE {
            self.longest = n.saturating_sub(1);
        }
    }

    /// Does something to the packets of a slot.
    fn with<T>(&mut self, x: u32, cx: &mut Cx<'_>, act: impl FnOnce(&mut Lent<'_, '_, ()>) -> T) -> T {
        let slot = &mut self.slots[x as usize];
        let before = slot.store.backlog();
        let result = act(&mut Lent::new(&self.each, &mut slot.store, &mut (), cx));
        let after = slot.store.backlog();
        self.backlog = self.backlog.without(before);
        self.backlog += after;
        if before.packets != after.packets {
            self.unlink(x, before.packets as usize);
            self.link(x);
        }
        result
    }

    /// The last one of the round, from now on, with a turn of its own.
    fn joins_round(&mut self, x: u32) {
        self.stands_last(x);
        self.slots[x as usize].allot = self.params.quantum.0 as i64;
    }

    fn stands_last(&mut self, x: u32) {
        let first = if self.tail == NONE { x } else { self.slots[self.tail as usize].next };
        self.slots[x as usize].next = first;
        if self.tail != NONE {
            self.slots[self.tail as usize].next = x;
        }
        self.tail = x;
    }

    /// The first of the round leaves it: its queue is empty.
    fn first_leaves_round(&mut self, x: u32) {
        let slot = &self.slots[x as usize];
        self.places[slot.place as usize] = NONE;
        if slot.next == x {
            self.tail = NONE;
        } else {
            self.slots[self.tail as usize].next = slot.next;
        }
    }

    /// Those that hold nothing leave the round; the others keep their turns.
    fn empty_ones_leave_round(&mut self) {
        if self.tail == NONE {
            return;
        }
        let (last, mut x) = (self.tail, self.slots[self.tail as usize].next);
        self.tail = NONE;
        loop {
            let (next, is_last) = (self.slots[x as usize].next, x == last);
            if self.slots[x as usize].packets() > 0 {
                self.stands_last(x);
            } else {
                let place = self.slots[x as usize].place;
                self.places[place as usize] = NONE;
            }
            if is_last {
                return;
            }
            x = next;
        }
    }

    /// The slot of a place, a free one if it has none.
    fn slot_for(&mut self, place: u32) -> Option<u32> {
        let known = self.places[place as usize];
        if known != NONE {
            return Some(known);
        }
        let free = self.by_length[0];
        if free == NONE {
            return None;
        }
        self.places[place as usize] = free;
        self.slots[free as usize].place = place;
        Some(free)
    }

    /// Drops one packet of the longest queue, of equals the one that got so long last.
    #[cold]
    fn cut(&mut self, cx: &mut Cx<'_>) {
        let mut x = self.by_length[self.longest];
        if self.longest == 1 {
            x = self.slots[self.tail as usize].next;
            self.first_leaves_round(x);
        }
        let from_head = self.params.head_drop == HeadDrop::On;
        self.with(x, cx, |q| {
            let last = q.backlog().packets as usize - 1;
            q.drop_at(if from_head { 0 } else { last }, DropReason::FatFlow);
        });
    }

    /// A new salt, when its time has come.
    #[inline]
    fn renew(&mut self, cx: &mut Cx<'_>) {
        if cx.now < self.renew_at {
            return;
        }
        let periods = (cx.now - self.renew_at).0 / self.params.perturb.0 + 1;
        self.renew_at += self.params.perturb.saturating_mul(periods);
        self.salt = self.salts.bits();
        if self.tail != NONE {
            self.spread_anew(cx);
        }
    }

    #[cold]
    fn spread_anew(&mut self, cx: &mut Cx<'_>) {
        let mut moving = std::mem::take(&mut self.moving);
        for x in 0..self.slots.len() as u32 {
            // One by one: each changes the order of those that are free in the end.
            while self.slots[x as usize].packets() > 0 {
                moving.extend(self.with(x, cx, |q| q.pop()));
                let place = self.slots[x as usize].place;
                self.places[place as usize] = NONE;
            }
        }
        self.tail = NONE;
        for head in moving.drain(..) {
            let place = place_of(self.salt, cx.packet(head.id), self.params.divisor);
            let slot = self.slot_for(place);
            let room = slot.filter(|x| self.slots[*x as usize].packets() < self.params.depth as usize);
            let Some(x) = room else {
                let any = slot.unwrap_or(0);
                self.with(any, cx, |q| q.drop(head, DropReason::QueueFull));
                continue;
            };
            self.with(x, cx, |q| q.put_back(head));
            if self.slots[x as usize].packets() == 1 {
                self.joins_round(x);
            }
        }
        self.moving = moving;
    }
}

impl QueueDisc for Sfq {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.renew(cx);
        let place = place_of(self.salt, cx.packet(id), self.params.divisor);
        let Some(x) = self.slot_for(place) else {
            return self.with(0, cx, |q| q.refuse_arrival(id, DropReason::QueueFull));
        };
        if self.slots[x as usize].packets() >= self.params.depth as usize {
            if self.params.head_drop == HeadDrop::Off {
                return self.with(x, cx, |q| q.refuse_arrival(id, DropReason::QueueFull));
            }
            self.with(x, cx, |q| {
                q.drop_at(0, DropReason::QueueFull);
                q.push(id);
            });
        } else {
            self.with(x, cx, |q| q.push(id));
            if self.slots[x as usize].packets() == 1 {
                self.joins_round(x);
            }
        }
        while self.limits.is_exceeded_by(self.backlog) {
            self.cut(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.renew(cx);
        if self.tail == NONE {
            return None;
        }
        let x = loop {
            let first = self.slots[self.tail as usize].next;
            let slot = &mut self.slots[first as usize];
            if slot.allot > 0 {
                break first;
            }
            slot.allot += self.params.quantum.0 as i64;
            self.tail = first;
        };
        let head = self.with(x, cx, |q| q.pop())?;
        if self.slots[x as usize].packets() == 0 {
            self.first_leaves_round(x);
        } else {
            self.slots[x as usize].allot -= i64::from(head.len);
        }
        Some(head)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
    fn removal(&self) -> Removal {
        Removal::Possible
    }
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        let mut gone = std::mem::take(&mut self.gone);
        store::choose(self.slots.iter().map(|s| &s.store), goes, cx, &mut gone);
        for place in gone.drain(..) {
            self.with(place.queue as u32, cx, |q| q.drop_at(place.at, why));
        }
        self.gone = gone;
        self.empty_ones_leave_round();
    }

    /// What is above a new limit goes as when one arrives. Places and number of the queues cannot change.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        if let Some(key) = ["flows", "divisor"].into_iter().find(|k| set.contains_key(*k)) {
            return Err(ConfigError::new(key, set[key].to_string(), "the queues of the flows as they are"));
        }
        params::setting(&self.params, set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let new: SfqParams = new.get();
        if new.perturb != self.params.perturb {
            self.renew_at = if new.perturb == Dur::ZERO { Time::NEVER } else { cx.now + new.perturb };
        }
        self.limits = Setup::fits(new.limit, EcnMode::Drop);
        self.params = new;
        while self.limits.is_exceeded_by(self.backlog) {
            self.cut(cx);
        }
        Ok(())
    }
}
