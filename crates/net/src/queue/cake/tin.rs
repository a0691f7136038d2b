//! One tin: its flows, where they wait, whose turn it is.

use super::clock::Pace;
use super::lists::{Ring, Rings};
use super::sets::{Found, Hosts, PLACES, ways};
use crate::queue::Backlog;
use crate::queue::cobalt::{Cobalt, CobaltLaw};
use crate::queue::store::Fifo;
use crosswind_base::{ClassTotals, Dur, Time};

/// Where a flow stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    None,
    /// It has not sent more than its share since it became active.
    Sparse,
    /// The same, and it is empty: its turn comes only to pay its debt.
    SparseWait,
    /// It always has something to send.
    Bulk,
    /// Empty; its law is not at rest yet.
    Decaying,
}

pub struct Flow {
    pub store: Fifo,
    pub law: Cobalt,
    pub deficit: i64,
    set: Set,
    /// Places of source and destination.
    hosts: [u16; 2],
}

/// Whose flows share a quantum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shared {
    pub source: bool,
    pub destination: bool,
}

impl Shared {
    fn ends(self) -> [bool; 2] {
        [self.source, self.destination]
    }
}

/// What a packet is found by: a hash of its flow, and hashes of its hosts, made when asked for.
pub struct Key<H> {
    pub flow: u32,
    pub host: H,
}

pub struct Tin {
    /// How long a byte takes at the threshold.
    pub pace: Pace,
    /// Its share of turns where nothing shapes.
    pub quantum: i64,
    flow_quantum: i64,
    law: CobaltLaw,
    /// How long the longest packet takes.
    pub mtu_time: Dur,
    /// Until then it is above its threshold.
    pub next: Time,
    pub deficit: i64,
    pub backlog: Backlog,
    pub totals: ClassTotals,
    pub found: Found,
    sparse_flows: u32,
    pub bulk_flows: u32,
    shared: Shared,
    /// Made with the first packet: flows, their tags and rings, and the hosts at both ends.
    pub flows: Vec<Flow>,
    tags: Vec<u32>,
    rings: Rings,
    ends: [Hosts; 2],
}

/// Parts of 65536 that a flow gets of its quantum; the rest is chance.
#[inline]
fn part(quantum: i64, load: u16, dither: u16) -> i64 {
    (quantum * i64::from(65_535 / load.max(1)) + i64::from(dither)) >> 16
}

/// What a tin goes by, at its threshold.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Bytes per second; zero stands for no limit.
    pub rate: u64,
    pub quantum: i64,
    pub mtu: u64,
    pub target: Dur,
    pub rtt: Dur,
}

/// Spans have 32 bits, in nanoseconds.
const LONGEST: Dur = Dur(u32::MAX as u64);

impl Terms {
    pub fn pace(&self) -> Pace {
        Pace::of(self.rate)
    }
    /// Bytes that a flow may send in its turn.
    pub fn flow_quantum(&self) -> i64 {
        if self.rate == 0 { 1514 } else { (self.rate >> 12).clamp(300, 1514) as i64 }
    }
    /// A longer wait than the target counts, but for a few packets on a slow line.
    pub fn law(&self) -> CobaltLaw {
        let mtu_time = self.pace().time(self.mtu);
        let target = Dur(mtu_time.0 * 3 / 2).max(self.target);
        let interval = Dur(self.rtt.0 + target.0 - self.target.0).max(Dur(2 * target.0));
        CobaltLaw::of_cake(target.min(LONGEST), interval.min(LONGEST), Dur(4 * mtu_time.0))
    }
}

impl Tin {
    pub fn new(terms: &Terms, shared: Shared) -> Tin {
        let mut tin = Tin {
            pace: terms.pace(),
            quantum: terms.quantum,
            flow_quantum: terms.flow_quantum(),
            law: terms.law(),
            mtu_time: terms.pace().time(terms.mtu),
            next: Time::ZERO,
            deficit: 0,
            backlog: Backlog::default(),
            totals: ClassTotals::default(),
            found: Found::default(),
            sparse_flows: 0,
            bulk_flows: 0,
            shared,
            flows: Vec::new(),
            tags: Vec::new(),
            rings: Rings::new(),
            ends: [Hosts::new(), Hosts::new()],
        };
        tin.set(terms);
        tin
    }

    /// Other terms for the same flows.
    pub fn set(&mut self, terms: &Terms) {
        (self.pace, self.quantum, self.flow_quantum) = (terms.pace(), terms.quantum, terms.flow_quantum());
        (self.law, self.mtu_time) = (terms.law(), terms.pace().time(terms.mtu));
        for flow in &mut self.flows {
            flow.law.set(self.law);
        }
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        self.sparse_flows + self.bulk_flows > 0
    }

    #[cold]
    fn open(&mut self) {
        let law = Cobalt::new(self.law);
        let flow = || Flow { store: Fifo::new(), law: law.clone(), deficit: 0, set: Set::None, hosts: [0; 2] };
        self.flows = (0..PLACES).map(|_| flow()).collect();
        self.tags = vec![0; PLACES];
    }

    /// The place of the flow of a packet.
    #[inline]
    pub fn place(&mut self, key: &Key<impl Fn(usize) -> u32>) -> usize {
        if self.flows.is_empty() {
            self.open();
        }
        let own = key.flow as usize % PLACES;
        if self.tags[own] == key.flow && self.flows[own].set != Set::None {
            self.found.direct_packets += 1;
            return own;
        }
        self.search(own, key)
    }

    fn search(&mut self, own: usize, key: &Key<impl Fn(usize) -> u32>) -> usize {
        if let Some(k) = ways(key.flow).find(|k| self.tags[*k] == key.flow) {
            self.found.hits_packets += u64::from(k != own);
            if self.flows[k].set == Set::None {
                self.settle(k, key);
            }
            return k;
        }
        if let Some(k) = ways(key.flow).find(|k| self.flows[*k].set == Set::None) {
            self.found.misses_packets += 1;
            self.settle(k, key);
            return k;
        }
        self.found.collisions_packets += 1;
        if self.flows[own].set == Set::Bulk {
            self.leaves_hosts(own);
            self.settle(own, key);
            self.joins_hosts(own);
        } else {
            self.settle(own, key);
        }
        own
    }

    /// The place is for this flow from now on.
    fn settle(&mut self, k: usize, key: &Key<impl Fn(usize) -> u32>) {
        self.tags[k] = key.flow;
        for (end, is_shared) in self.shared.ends().into_iter().enumerate() {
            if is_shared {
                self.flows[k].hosts[end] = self.ends[end].place((key.host)(end)) as u16;
            }
        }
    }

    fn joins_hosts(&mut self, k: usize) {
        let hosts = self.flows[k].hosts;
        for (end, is_shared) in self.shared.ends().into_iter().enumerate() {
            if is_shared {
                self.ends[end].more(hosts[end]);
            }
        }
    }

    fn leaves_hosts(&mut self, k: usize) {
        let hosts = self.flows[k].hosts;
        for (end, is_shared) in self.shared.ends().into_iter().enumerate() {
            if is_shared {
                self.ends[end].fewer(hosts[end]);
            }
        }
    }

    /// What a turn of a flow is worth: its quantum, divided by the bulk flows of the busier of its hosts.
    #[inline]
    fn turn_of(&self, k: usize, dither: u16) -> i64 {
        let hosts = self.flows[k].hosts;
        let load = |end: usize, is_shared: bool| if is_shared { self.ends[end].bulk_flows(hosts[end]) } else { 1 };
        part(self.flow_quantum, load(0, self.shared.source).max(load(1, self.shared.destination)), dither)
    }

    /// A packet has joined a flow.
    #[inline]
    pub fn joined(&mut self, k: usize, dither: impl FnOnce() -> u16) {
        match self.flows[k].set {
            Set::None | Set::Decaying => {
                self.rings.join(k, Ring::New);
                self.flows[k].set = Set::Sparse;
                self.sparse_flows += 1;
                self.flows[k].deficit = self.turn_of(k, dither());
            }
            Set::SparseWait => {
                self.sparse_flows -= 1;
                self.becomes_bulk(k);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn becomes_bulk(&mut self, k: usize) {
        self.flows[k].set = Set::Bulk;
        self.bulk_flows += 1;
        self.joins_hosts(k);
    }

    /// Whose turn it is. `is_first`: flows that decay come first, once each time that the link asks.
    #[inline]
    pub fn first_flow(&self, is_first: bool) -> Option<usize> {
        let decaying = || self.rings.first(Ring::Decaying);
        let at_once = if is_first { decaying() } else { None };
        at_once.or_else(|| self.rings.first(Ring::New)).or_else(|| self.rings.first(Ring::Old)).or_else(decaying)
    }

    /// A flow has used up its turn: it gets another one, behind all others.
    #[inline]
    pub fn ends_turn(&mut self, k: usize, dither: u16) {
        if self.flows[k].set == Set::Sparse {
            if self.flows[k].store.is_empty() {
                self.flows[k].set = Set::SparseWait;
            } else {
                self.sparse_flows -= 1;
                self.becomes_bulk(k);
            }
        }
        let turn = self.turn_of(k, dither);
        self.flows[k].deficit += turn;
        self.rings.join(k, Ring::Old);
    }

    /// A flow had nothing to give.
    #[inline]
    pub fn was_empty(&mut self, k: usize, now: Time) {
        match self.flows[k].set {
            Set::Sparse | Set::SparseWait => self.sparse_flows -= 1,
            Set::Bulk => {
                self.bulk_flows -= 1;
                self.leaves_hosts(k);
            }
            Set::None | Set::Decaying => {}
        }
        if self.flows[k].law.is_at_rest(now) {
            self.flows[k].set = Set::None;
            self.rings.leave(k);
        } else {
            self.flows[k].set = Set::Decaying;
            self.rings.join(k, Ring::Decaying);
        }
    }

    /// The flow that holds the most bytes, the first of equals.
    pub fn longest(&self) -> Option<(u64, usize)> {
        let both = self.rings.iter(Ring::New).chain(self.rings.iter(Ring::Old));
        let held = both.map(|k| (self.flows[k].store.backlog().bytes, k)).filter(|(bytes, _)| *bytes > 0);
        held.max_by_key(|(bytes, k)| (*bytes, std::cmp::Reverse(*k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(rate_kbit: u64) -> Terms {
        Terms {
            rate: rate_kbit * 125,
            quantum: 1024,
            mtu: 1514,
            target: Dur::from_millis(5),
            rtt: Dur::from_millis(100),
        }
    }

    #[test]
    fn target_interval_and_quantum_follow_from_the_rate() {
        for (kbit, quantum, target, interval) in [
            (256, 300, 70_968_750, 165_968_750),
            (1000, 300, 18_168_000, 113_168_000),
            (2000, 300, 9_084_000, 104_084_000),
            (3000, 300, 6_055_999, 101_055_999),
            (5000, 300, 5_000_000, 100_000_000),
            (10_000, 305, 5_000_000, 100_000_000),
            (20_000, 610, 5_000_000, 100_000_000),
            (50_000, 1514, 5_000_000, 100_000_000),
            (0, 1514, 5_000_000, 100_000_000),
        ] {
            let (t, law) = (terms(kbit), terms(kbit).law());
            assert_eq!((t.flow_quantum(), law.target, law.interval), (quantum, Dur(target), Dur(interval)), "{kbit}");
        }
        assert_eq!(terms(256).law().least_wait, Dur(4 * 47_312_500));
        assert!(terms(1).law().check().is_err() || terms(1).law().interval == LONGEST, "no span overflows");
    }

    #[test]
    fn a_turn_is_shared_by_the_flows_of_a_host() {
        let ends = |load| [part(1514, load, 0), part(1514, load, u16::MAX)];
        let all = [[1513, 1514], [756, 757], [504, 505], [378, 379], [302, 303], [252, 253]];
        assert_eq!([1, 2, 3, 4, 5, 6].map(ends), all);
        assert_eq!(ends(0), ends(1), "a host without bulk flows");
    }
}
