//! The discipline: which tin is served, and when.

use super::ack_filter::{self, AckFilter};
use super::clock::{Fate, Shaper, tin_clock};
use super::framing::Framing;
use super::params::{CakeParams, Charged, Isolation};
use super::sets::Found;
use super::tin::{Key, Tin};
use super::tins;
use crate::build::{BuildCx, Hosts};
use crate::params::{self, Params};
use crate::queue::aqm::{Aqm, Lent, Setup};
use crate::queue::cobalt::Looked;
use crate::queue::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::sched::children::Sums;
use crosswind_base::{ConfigError, Cx, DropReason, Dur, Limit, Metrics, Packet, PacketId, Rng, Setting, Time};
use serde_json::{Map, Value};

/// Spreads keys over 64 bits (the finaliser of SplitMix64).
fn mix(key: u64) -> u64 {
    let z = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Makes hashes of flows and hosts that differ from queue to queue.
#[derive(Clone, Copy, Debug)]
pub struct Salt(pub u64);

impl Salt {
    #[inline]
    pub fn of_flow(self, p: &Packet) -> u32 {
        let key = u64::from(p.flow.0) << 1 | u64::from(p.meta.is_reverse());
        (mix(key ^ self.0) >> 32) as u32
    }
    /// `end`: 0 for a source, 1 for a destination.
    #[inline]
    pub fn of_host(self, host: u32, end: usize) -> u32 {
        mix(u64::from(host) << 1 ^ self.0.rotate_left(21 + end as u32)) as u32
    }
}

/// CAKE.
pub struct Cake {
    params: CakeParams,
    line: Framing,
    memory: u64,
    each: Setup,
    /// The tin of each code point.
    map: [u8; 64],
    names: Vec<&'static str>,
    tins: Vec<Tin>,
    /// Whose turn it is where nothing shapes.
    current: usize,
    shaper: Shaper,
    /// When the shaper opens; [`Time::NEVER`] when it did not refuse.
    retry: Time,
    backlog: Backlog,
    hosts: Hosts,
    salt: Salt,
    draws: Rng,
    dither: Rng,
    /// Room for what is taken out: packets, tin and flow, the place in it.
    gone: Vec<(Head, (usize, usize), usize)>,
}

#[inline]
fn part_of(rng: &mut Rng) -> u16 {
    (rng.bits() >> 48) as u16
}

impl Cake {
    pub fn build(params: CakeParams, cx: &BuildCx<'_>) -> Result<Cake, ConfigError> {
        let terms = params.terms();
        let shared = params.isolation.shared();
        Ok(Cake {
            line: params.line(),
            memory: params.memory(),
            each: Setup::fits(Limit::Packets(u64::MAX), params.ecn),
            map: params.tins.map(),
            names: terms.iter().map(|t| t.0).collect(),
            shaper: Shaper::new(terms[0].1.pace()),
            tins: terms.iter().map(|t| Tin::new(&t.1, shared)).collect(),
            current: 0,
            retry: Time::NEVER,
            backlog: Backlog::default(),
            hosts: cx.hosts(),
            salt: Salt(cx.rng("hash").bits()),
            draws: cx.rng("cobalt"),
            dither: cx.rng("dither"),
            gone: Vec::new(),
            params,
        })
    }

    /// How packets found the places of their flows, in all tins.
    pub fn found(&self) -> Found {
        let mut all = Found::default();
        for f in self.tins.iter().map(|t| t.found) {
            all.direct_packets += f.direct_packets;
            all.hits_packets += f.hits_packets;
            all.misses_packets += f.misses_packets;
            all.collisions_packets += f.collisions_packets;
        }
        all
    }

    /// The place of a packet in its tin.
    #[inline]
    fn place(&mut self, t: usize, p: &Packet) -> usize {
        let (salt, hosts) = (self.salt, &self.hosts);
        let host = |end: usize| salt.of_host(hosts.end(p, end), end);
        let flow = match self.params.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => host(0),
            Isolation::Dsthost => host(1),
            Isolation::Hosts => host(0) ^ host(1),
            _ => salt.of_flow(p),
        };
        self.tins[t].place(&Key { flow, host })
    }

    /// The shaper hears of a packet, and its flow and tin pay for it.
    #[inline]
    fn charge(&mut self, t: usize, k: usize, len: u32, fate: Fate, now: Time) {
        let bytes = self.line.of(len);
        let tin = &mut self.tins[t];
        if !self.shaper.pace.is_unlimited() {
            tin.next = tin_clock(tin.next, now, tin.pace.time(bytes));
            self.shaper.charge(bytes, fate);
        }
        tin.flows[k].deficit -= bytes as i64;
        tin.deficit -= bytes as i64;
    }

    /// Drops at the head of the flow that holds most, until the rest fits.
    #[cold]
    fn cut(&mut self, cx: &mut Cx<'_>) {
        while self.backlog.bytes > self.memory {
            let of_tin = |t: usize| self.tins[t].longest().map(|(bytes, k)| (bytes, std::cmp::Reverse(t), k));
            let Some((_, std::cmp::Reverse(t), k)) = (0..self.tins.len()).filter_map(of_tin).max() else { return };
            let tin = &mut self.tins[t];
            let flow = &mut tin.flows[k];
            let mut dropped = None;
            cx.watched(&mut tin.totals, |cx| {
                let mut q = Lent::new(&self.each, &mut flow.store, &mut self.draws, cx);
                dropped = q.pop();
                if let Some(head) = dropped {
                    q.drop(head, DropReason::FatFlow);
                }
            });
            let Some(head) = dropped else { return };
            flow.law.on_overflow(cx.now);
            self.leaves_dropped(t, head.len, cx.now);
        }
    }

    /// A packet that waited was dropped, and not by the law of its flow.
    fn leaves_dropped(&mut self, t: usize, len: u32, now: Time) {
        self.leaves(t, Backlog { bytes: u64::from(len), packets: 1 });
        if self.params.charge == Charged::All && !self.shaper.pace.is_unlimited() {
            let (bytes, tin) = (self.line.of(len), &mut self.tins[t]);
            tin.next = tin_clock(tin.next, now, tin.pace.time(bytes));
            self.shaper.charge(bytes, Fate::Dropped);
        }
    }

    /// Drops the acknowledgement that the last packet of a flow has made needless, if there is one.
    #[cold]
    fn filter(&mut self, t: usize, k: usize, cx: &mut Cx<'_>) {
        let tin = &mut self.tins[t];
        let flow = &mut tin.flows[k];
        let mut gone = 0;
        cx.watched(&mut tin.totals, |cx| {
            let mut q = Lent::new(&self.each, &mut flow.store, &mut self.draws, cx);
            let last = q.waiting().len().saturating_sub(1);
            let newest = q.waiting().nth(last);
            let place = newest.and_then(|n| ack_filter::needless(self.params.ack_filter, q.waiting().take(last), n));
            if let Some(place) = place {
                let held = q.backlog().bytes;
                q.drop_at(place, DropReason::AckFilter);
                gone = held - q.backlog().bytes;
            }
        });
        if gone > 0 {
            self.leaves_dropped(t, gone as u32, cx.now);
        }
    }

    #[inline]
    fn leaves(&mut self, t: usize, gone: Backlog) {
        self.backlog = self.backlog.without(gone);
        self.tins[t].backlog = self.tins[t].backlog.without(gone);
    }

    /// The tin to serve.
    #[inline]
    fn choose(&mut self, now: Time) -> Option<usize> {
        if self.tins.len() == 1 {
            return self.tins[0].is_active().then_some(0);
        }
        if self.shaper.pace.is_unlimited() { self.in_turn() } else { self.by_clock(now) }
    }

    /// The last that is below its threshold, else the one that will be first.
    fn by_clock(&self, now: Time) -> Option<usize> {
        let (mut best, mut when) = (None, Time::NEVER);
        for (t, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            if tin.next <= now || tin.next <= when {
                (best, when) = (Some(t), tin.next);
            }
        }
        best
    }

    /// In rounds of each tin's quantum.
    fn in_turn(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_active() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// One packet of a tin, if it has one; `is_first`: nobody was asked yet.
    #[inline]
    fn serve(&mut self, t: usize, is_first: &mut bool, cx: &mut Cx<'_>) -> Option<Head> {
        let charges_all = self.params.charge == Charged::All;
        loop {
            let tin = &mut self.tins[t];
            let k = tin.first_flow(std::mem::take(is_first))?;
            if tin.flows[k].deficit <= 0 {
                tin.ends_turn(k, part_of(&mut self.dither));
                continue;
            }
            let least = if charges_all { tin.mtu_time.0 * 2 * u64::from(tin.bulk_flows) } else { 0 };
            loop {
                match self.look_at(t, k, Dur(least), cx) {
                    Looked::Leaves(head) => {
                        self.tins[t].totals.sent(head.len, head.since, cx.now);
                        self.charge(t, k, head.len, Fate::Sent, cx.now);
                        return Some(head);
                    }
                    Looked::Dropped(head) if charges_all => {
                        self.charge(t, k, head.len, Fate::Dropped, cx.now);
                        break;
                    }
                    Looked::Dropped(_) => {}
                    Looked::Empty => {
                        self.tins[t].was_empty(k, cx.now);
                        return None;
                    }
                }
            }
        }
    }

    /// The law of a flow looks at its head.
    #[inline]
    fn look_at(&mut self, t: usize, k: usize, least: Dur, cx: &mut Cx<'_>) -> Looked {
        let tin = &mut self.tins[t];
        let flow = &mut tin.flows[k];
        let (store, law, each, draws) = (&mut flow.store, &mut flow.law, &self.each, &mut self.draws);
        let looked = cx.watched(&mut tin.totals, |cx| law.look_at_head(least, &mut Lent::new(each, store, draws, cx)));
        if let Looked::Leaves(head) | Looked::Dropped(head) = looked {
            self.leaves(t, Backlog { bytes: u64::from(head.len), packets: 1 });
        }
        looked
    }

    /// Drops packets of one flow, for a reason that is not the queue's.
    fn take_out(&mut self, gone: &[(Head, (usize, usize), usize)], why: DropReason, cx: &mut Cx<'_>) {
        let (t, k) = gone[0].1;
        let tin = &mut self.tins[t];
        let flow = &mut tin.flows[k];
        let before = flow.store.backlog();
        cx.watched(&mut tin.totals, |cx| {
            let mut next = gone.iter().map(|(head, ..)| head.id).peekable();
            let q = Lent::new(&self.each, &mut flow.store, &mut self.draws, cx);
            q.remove(&mut flow.law, |head, _| next.next_if_eq(&head.id).is_some(), why);
        });
        let gone = before.without(flow.store.backlog());
        self.leaves(t, gone);
    }
}

impl QueueDisc for Cake {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let p = *cx.packet(id);
        let t = tins::tin_of(&self.map, p.dscp());
        let k = self.place(t, &p);
        let tin = &mut self.tins[t];
        if tin.backlog.packets == 0 {
            tin.next = tin.next.max(cx.now);
            if self.backlog.packets == 0 {
                self.shaper.starts(cx.now);
            }
        }
        let len = u32::from(p.len);
        tin.totals.arrived(len);
        let flow = &mut tin.flows[k];
        Lent::new(&self.each, &mut flow.store, &mut self.draws, cx).offer(&mut flow.law, id);
        tin.backlog.packets += 1;
        tin.backlog.bytes += u64::from(len);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
        let dither = &mut self.dither;
        tin.joined(k, || part_of(dither));
        if self.params.ack_filter != AckFilter::Off {
            self.filter(t, k, cx);
        }
        if self.backlog.bytes > self.memory {
            self.cut(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.retry = Time::NEVER;
        let mut is_first = true;
        while self.backlog.packets > 0 {
            let opens = self.shaper.opens();
            if opens > cx.now {
                self.retry = opens;
                return None;
            }
            let t = self.choose(cx.now)?;
            if let Some(head) = self.serve(t, &mut is_first, cx) {
                return Some(head);
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn next_wake(&self) -> Option<Time> {
        Some(self.retry).filter(|at| *at != Time::NEVER)
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.retry <= cx.now {
            self.retry = Time::NEVER;
        }
    }

    fn removal(&self) -> Removal {
        Removal::Possible
    }

    /// Whoever chooses is asked for the oldest first.
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        let mut gone = std::mem::take(&mut self.gone);
        for (t, tin) in self.tins.iter().enumerate() {
            for (k, flow) in tin.flows.iter().enumerate() {
                gone.extend(flow.store.iter().zip(0..).map(|(head, i)| (*head, (t, k), i)));
            }
        }
        gone.sort_unstable_by_key(|(head, flow, i)| (head.since, *flow, *i));
        gone.retain(|(head, ..)| goes(head, cx));
        gone.sort_unstable_by_key(|(_, flow, i)| (*flow, *i));
        for of_flow in gone.chunk_by(|a, b| a.1 == b.1) {
            self.take_out(of_flow, why, cx);
        }
        gone.clear();
        self.gone = gone;
    }

    /// Which queue a packet belongs to cannot change. What is charged already stays charged.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        const FIXED: [&str; 3] = ["tins", "isolation", "ack_filter"];
        if let Some(key) = FIXED.into_iter().find(|k| set.contains_key(*k)) {
            return Err(ConfigError::new(key, set[key].to_string(), "the value that the run began with"));
        }
        let mut set = set.clone();
        if set.contains_key("framing") {
            CakeParams::fill(&mut set);
        }
        params::setting(&self.params, &set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let new: CakeParams = new.get();
        let terms = new.terms();
        for (tin, (_, t)) in self.tins.iter_mut().zip(&terms) {
            tin.set(t);
        }
        self.shaper.pace = terms[0].1.pace();
        (self.line, self.memory, self.each.ecn) = (new.line(), new.memory(), new.ecn);
        self.params = new;
        self.retry = if self.retry == Time::NEVER { Time::NEVER } else { cx.now };
        self.cut(cx);
        Ok(())
    }

    fn report(&self, out: &mut dyn Metrics) {
        let mut sums = Sums::default();
        self.tins.iter().flat_map(|t| &t.flows).for_each(|f| f.law.report(&mut sums));
        if self.tins.iter().all(|t| t.flows.is_empty()) {
            sums.value("blue_drops_packets", 0.0);
        }
        sums.tell(out);
        self.names.iter().zip(&self.tins).for_each(|(name, tin)| out.class(name, &tin.totals, tin.backlog));
    }
}
