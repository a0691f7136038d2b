//! CAKE with plain lists: flows stand in lists that are searched from the front, lengths and clocks are whole numbers that cannot
//! overflow, and what a host has is counted when asked for.

use super::cobalt::Cobalt;
use super::codel::Waiting;
use std::collections::VecDeque;

/// A packet with what it is found by.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub packet: Waiting,
    pub tin: usize,
    pub flow_hash: u32,
    /// Of source and destination.
    pub host_hashes: [u32; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Out,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

struct Flow {
    packets: VecDeque<Waiting>,
    law: Cobalt,
    deficit: i64,
    state: State,
    tag: u32,
    hosts: [usize; 2],
}

pub struct Tin {
    /// Bytes per second; 0 for no limit.
    rate: u64,
    quantum: i64,
    mtu_time: i128,
    clock: i128,
    deficit: i64,
    flows: Vec<Flow>,
    new: Vec<usize>,
    old: Vec<usize>,
    decaying: Vec<usize>,
    host_tags: [Vec<u32>; 2],
}

pub struct Cake {
    pub tins: Vec<Tin>,
    pub memory: u64,
    /// Which hosts' flows share a turn: source, destination.
    pub dual: [bool; 2],
    pub charges_all: bool,
    pub ecn: bool,
    /// From the IP length to what is charged.
    pub adjust: fn(u64) -> u64,
    clock: i128,
    failsafe: i128,
    current: usize,
}

/// What came of one call.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Taken {
    pub out: Option<u64>,
    pub marked: Vec<u64>,
    pub dropped: Vec<u64>,
}

/// Nanoseconds that so many bytes take, with the rounding of a number below 2^34.
fn time_of(bytes: u64, rate: u64) -> i128 {
    if rate == 0 {
        return 0;
    }
    let exact = (1_000_000_000u128 << 34) / u128::from(rate.max(64));
    let mut bits = 34;
    let mut ns = exact;
    while ns >= 1 << 34 {
        ns /= 2;
        bits -= 1;
    }
    ((u128::from(bytes) * ns) >> bits) as i128
}

impl Tin {
    pub fn new(rate: u64, quantum: i64, mtu: u64, rtt_ns: u64) -> Tin {
        let mtu_time = time_of(mtu, rate);
        let base = i128::from(rtt_ns) / 20;
        let target = (mtu_time * 3 / 2).max(base);
        let interval = (i128::from(rtt_ns) + target - base).max(target * 2);
        let law = Cobalt { target, interval, ..Cobalt::linux(0, 0, true) };
        let flow = |_| Flow {
            packets: VecDeque::new(),
            law: law.clone(),
            deficit: 0,
            state: State::Out,
            tag: 0,
            hosts: [0, 0],
        };
        Tin {
            rate,
            quantum,
            mtu_time,
            clock: 0,
            deficit: 0,
            flows: (0..1024).map(flow).collect(),
            new: vec![],
            old: vec![],
            decaying: vec![],
            host_tags: [vec![0; 1024], vec![0; 1024]],
        }
    }

    fn is(&self, f: usize, s: State) -> bool {
        self.flows[f].state == s
    }
    fn bulk(&self) -> usize {
        self.flows.iter().filter(|f| f.state == State::Bulk).count()
    }
    fn is_active(&self) -> bool {
        self.flows.iter().any(|f| [State::Sparse, State::SparseWait, State::Bulk].contains(&f.state))
    }
    fn bytes(&self) -> u64 {
        self.flows.iter().flat_map(|f| &f.packets).map(|p| p.len).sum()
    }
    fn bulk_of_host(&self, end: usize, host: usize) -> usize {
        self.flows.iter().filter(|f| f.state == State::Bulk && f.hosts[end] == host).count()
    }
    fn unlist(&mut self, f: usize) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            list.retain(|g| *g != f);
        }
    }

    fn host(&mut self, end: usize, hash: u32) -> usize {
        let (set, own) = (hash as usize % 1024 / 8 * 8, hash as usize % 8);
        for i in 0..8 {
            let k = set + (own + i) % 8;
            if self.host_tags[end][k] == hash {
                return k;
            }
        }
        for i in 0..8 {
            let k = set + (own + i) % 8;
            if self.bulk_of_host(end, k) == 0 {
                self.host_tags[end][k] = hash;
                return k;
            }
        }
        self.host_tags[end][set + own] = hash;
        set + own
    }

    fn take_over(&mut self, f: usize, a: &Arrival, dual: [bool; 2]) {
        self.flows[f].tag = a.flow_hash;
        // A bulk flow does not count while its hosts change.
        let was = self.flows[f].state;
        if was == State::Bulk {
            self.flows[f].state = State::Sparse;
        }
        for (end, counts) in dual.into_iter().enumerate() {
            if counts {
                let host = self.host(end, a.host_hashes[end]);
                self.flows[f].hosts[end] = host;
            }
        }
        self.flows[f].state = was;
    }

    fn find(&mut self, a: &Arrival, dual: [bool; 2]) -> usize {
        let (set, own) = (a.flow_hash as usize % 1024 / 8 * 8, a.flow_hash as usize % 8);
        let ways: Vec<usize> = (0..8).map(|i| set + (own + i) % 8).collect();
        if self.flows[ways[0]].tag == a.flow_hash && !self.is(ways[0], State::Out) {
            return ways[0];
        }
        for f in &ways {
            if self.flows[*f].tag == a.flow_hash {
                if self.is(*f, State::Out) {
                    self.take_over(*f, a, dual);
                }
                return *f;
            }
        }
        for f in &ways {
            if self.is(*f, State::Out) {
                self.take_over(*f, a, dual);
                return *f;
            }
        }
        self.take_over(ways[0], a, dual);
        ways[0]
    }

    fn turn(&self, f: usize, dual: [bool; 2], random16: u16) -> i64 {
        let quantum = if self.rate == 0 { 1514 } else { (self.rate as i64 / 4096).clamp(300, 1514) };
        let mut load = 1;
        for (end, counts) in dual.into_iter().enumerate() {
            if counts {
                load = load.max(self.bulk_of_host(end, self.flows[f].hosts[end]));
            }
        }
        (quantum * (65_535 / load as i64) + i64::from(random16)) >> 16
    }
}

impl Cake {
    pub fn new(tins: Vec<Tin>, memory: u64) -> Cake {
        Cake {
            tins,
            memory,
            dual: [true, true],
            charges_all: false,
            ecn: true,
            adjust: |len| len,
            clock: 0,
            failsafe: 0,
            current: 0,
        }
    }

    pub fn held(&self) -> (usize, u64) {
        let packets = self.tins.iter().flat_map(|t| &t.flows).map(|f| f.packets.len()).sum();
        (packets, self.tins.iter().map(Tin::bytes).sum())
    }

    fn advance(&mut self, tin: usize, len: u64, now: i128, is_drop: bool) -> i64 {
        let adjusted = (self.adjust)(len);
        let t = &mut self.tins[tin];
        let in_tin = time_of(adjusted, t.rate);
        if t.rate > 0 {
            if t.clock < now {
                t.clock += in_tin;
            } else if t.clock < now + in_tin {
                t.clock = now + in_tin;
            }
        }
        let whole = time_of(adjusted, self.tins[0].rate);
        self.clock += whole;
        if !is_drop {
            self.failsafe += whole + whole / 2;
        }
        adjusted as i64
    }

    /// Who is dropped.
    pub fn enqueue(&mut self, now_ns: u64, a: &Arrival, random16: &mut dyn FnMut() -> u16) -> Vec<u64> {
        let now = i128::from(now_ns);
        let f = self.tins[a.tin].find(a, self.dual);
        if self.tins[a.tin].bytes() == 0 {
            self.tins[a.tin].clock = self.tins[a.tin].clock.max(now);
            if self.held().0 == 0 && self.clock < now {
                self.clock = now;
                self.failsafe = now;
            }
        }
        let dual = self.dual;
        let t = &mut self.tins[a.tin];
        t.flows[f].packets.push_back(a.packet);
        if t.is(f, State::Out) || t.is(f, State::Decaying) {
            t.unlist(f);
            t.new.push(f);
            t.flows[f].state = State::Sparse;
            t.flows[f].deficit = t.turn(f, dual, random16());
        } else if t.is(f, State::SparseWait) {
            t.flows[f].state = State::Bulk;
        }
        let mut gone = Vec::new();
        while self.held().1 > self.memory {
            gone.push(self.drop_of_longest(now));
        }
        gone
    }

    fn drop_of_longest(&mut self, now: i128) -> u64 {
        let bytes = |f: &Flow| f.packets.iter().map(|p| p.len).sum::<u64>();
        let (mut at, mut most) = ((0, 0), 0);
        for (i, t) in self.tins.iter().enumerate() {
            for (k, f) in t.flows.iter().enumerate() {
                if bytes(f) > most {
                    (at, most) = ((i, k), bytes(f));
                }
            }
        }
        let flow = &mut self.tins[at.0].flows[at.1];
        let p = flow.packets.pop_front().unwrap();
        flow.law.queue_full(now as u64);
        if self.charges_all {
            self.advance(at.0, p.len, now, true);
        }
        p.seq
    }

    fn choose(&mut self, now: i128) -> usize {
        if self.tins[0].rate == 0 {
            while self.tins[self.current].deficit < 0 || !self.tins[self.current].is_active() {
                let t = &mut self.tins[self.current];
                if t.deficit <= 0 {
                    t.deficit += t.quantum;
                }
                self.current += 1;
                if self.current == self.tins.len() {
                    self.current = 0;
                }
            }
            return self.current;
        }
        let active: Vec<usize> = (0..self.tins.len()).filter(|i| self.tins[*i].is_active()).collect();
        let due = active.iter().rev().find(|i| self.tins[**i].clock <= now);
        // Of those that wait for their clock, the earliest, and the highest of equals.
        let next = active.iter().rev().min_by_key(|i| self.tins[**i].clock);
        *due.or(next).expect("somebody has packets")
    }

    pub fn dequeue(
        &mut self,
        now_ns: u64,
        random16: &mut dyn FnMut() -> u16,
        random32: &mut dyn FnMut() -> u32,
    ) -> Taken {
        let now = i128::from(now_ns);
        let mut r = Taken::default();
        let mut is_first = true;
        'begin: loop {
            if self.held().0 == 0 || (self.clock > now && self.failsafe > now) {
                return r;
            }
            let tin = if self.tins.len() == 1 { 0 } else { self.choose(now) };
            loop {
                let t = &mut self.tins[tin];
                let lists = [&t.decaying, &t.new, &t.old, &t.decaying];
                let Some(f) = lists[usize::from(!is_first)..].iter().find_map(|l| l.first().copied()) else {
                    continue 'begin;
                };
                is_first = false;
                if t.flows[f].deficit <= 0 {
                    if t.is(f, State::Sparse) {
                        let is_empty = t.flows[f].packets.is_empty();
                        t.flows[f].state = if is_empty { State::SparseWait } else { State::Bulk };
                    }
                    t.flows[f].deficit += t.turn(f, self.dual, random16());
                    t.unlist(f);
                    t.old.push(f);
                    continue;
                }
                match self.look(tin, f, now, random32, &mut r) {
                    None => continue 'begin,
                    Some(true) => return r,
                    Some(false) => {}
                }
            }
        }
    }

    /// Packets of one flow: none was there; one goes on; the turn is to be looked at again.
    fn look(
        &mut self,
        tin: usize,
        f: usize,
        now: i128,
        random32: &mut dyn FnMut() -> u32,
        r: &mut Taken,
    ) -> Option<bool> {
        loop {
            let bulk = self.tins[tin].bulk() as i128 * i128::from(self.charges_all);
            let t = &mut self.tins[tin];
            let Some(p) = t.flows[f].packets.pop_front() else {
                let law = &mut t.flows[f].law;
                law.queue_empty(now as u64);
                let is_at_rest = law.p_drop == 0 && law.count == 0 && now >= law.drop_next;
                t.unlist(f);
                t.flows[f].state = if is_at_rest { State::Out } else { State::Decaying };
                if !is_at_rest {
                    t.decaying.push(f);
                }
                return None;
            };
            let least = (t.mtu_time * 4).max(t.mtu_time * 2 * bulk);
            let flow = &mut t.flows[f];
            flow.law.ecn = self.ecn;
            let (drop, marked) = flow.law.should_drop_after(&p, now as u64, least, random32);
            if marked {
                r.marked.push(p.seq);
            }
            let goes_on = !drop || flow.packets.is_empty();
            if goes_on || self.charges_all {
                let len = self.advance(tin, p.len, now, !goes_on);
                let t = &mut self.tins[tin];
                t.flows[f].deficit -= len;
                t.deficit -= len;
            }
            if goes_on {
                r.out = Some(p.seq);
                return Some(true);
            }
            r.dropped.push(p.seq);
            if self.charges_all {
                return Some(false);
            }
        }
    }
}
