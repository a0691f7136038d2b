//! HTB by definition: after every change all rows and feeds are worked out anew from the modes of the classes. Tokens
//! are nanoseconds of sending time, and rates nanoseconds per byte, so that nothing is rounded.

use std::collections::{BTreeMap, BTreeSet};

const LEVELS: usize = 8;
const MBUFFER: i64 = 60_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    CantSend,
    MayBorrow,
    CanSend,
}

pub struct Class {
    pub parent: Option<usize>,
    pub level: usize,
    pub prio: usize,
    pub quantum: i64,
    pub rate_ns: i64,
    pub ceil_ns: i64,
    pub buffer: i64,
    pub cbuffer: i64,
    pub limit_packets: usize,
    tokens: i64,
    ctokens: i64,
    t_c: i64,
    mode: Mode,
    event: Option<i64>,
    deficit: [i64; LEVELS],
    pub queue: Vec<(u64, i64)>,
    is_active: bool,
}

/// What a class is made of: level 0 for leaves, below 8 for the others, lower ones deeper in the tree. Rates are
/// nanoseconds per byte, buckets bytes.
pub struct Given {
    pub parent: Option<usize>,
    pub level: usize,
    pub prio: usize,
    pub quantum: i64,
    pub rate_ns: i64,
    pub ceil_ns: i64,
    pub burst: i64,
    pub cburst: i64,
    pub limit_packets: usize,
}

impl Class {
    pub fn new(g: Given) -> Class {
        let (buffer, cbuffer) = (g.burst * g.rate_ns, g.cburst * g.ceil_ns);
        Class {
            parent: g.parent,
            level: g.level,
            prio: g.prio,
            quantum: g.quantum,
            rate_ns: g.rate_ns,
            ceil_ns: g.ceil_ns,
            buffer,
            cbuffer,
            limit_packets: g.limit_packets,
            tokens: buffer,
            ctokens: cbuffer,
            t_c: 0,
            mode: Mode::CanSend,
            event: None,
            deficit: [0; LEVELS],
            queue: Vec::new(),
            is_active: false,
        }
    }
}

/// A ring of classes: `(None, level, prio)` is a row, `(Some(parent), 0, prio)` a feed.
type RingName = (Option<usize>, usize, usize);

#[derive(Default, Clone, Debug)]
struct Pointer {
    at: Option<usize>,
    /// Of a feed: the class that was pointed to when it left.
    lost: Option<usize>,
}

pub struct Htb {
    pub classes: Vec<Class>,
    pub is_hysteretic: bool,
    pub overhead: i64,
    rings: BTreeMap<RingName, BTreeSet<usize>>,
    pointers: BTreeMap<RingName, Pointer>,
}

impl Htb {
    pub fn new(classes: Vec<Class>) -> Htb {
        Htb { classes, is_hysteretic: false, overhead: 0, rings: BTreeMap::new(), pointers: BTreeMap::new() }
    }

    /// The priorities at which a class has something to send or to lend for.
    fn wants(&self, c: usize) -> BTreeSet<usize> {
        let class = &self.classes[c];
        let own = class.is_active.then_some(class.prio);
        let below = (0..self.classes.len())
            .filter(|k| self.classes[*k].parent == Some(c) && self.classes[*k].mode == Mode::MayBorrow)
            .flat_map(|k| self.wants(k));
        below.chain(own).collect()
    }

    fn rearrange(&mut self) {
        let mut rings: BTreeMap<RingName, BTreeSet<usize>> = BTreeMap::new();
        for c in 0..self.classes.len() {
            for prio in self.wants(c) {
                match (self.classes[c].mode, self.classes[c].parent) {
                    (Mode::CanSend, _) => rings.entry((None, self.classes[c].level, prio)).or_default().insert(c),
                    (Mode::MayBorrow, Some(p)) => rings.entry((Some(p), 0, prio)).or_default().insert(c),
                    _ => continue,
                };
            }
        }
        for (name, old) in &self.rings {
            let new = rings.get(name).cloned().unwrap_or_default();
            let p = self.pointers.entry(*name).or_default();
            if let Some(at) = p.at.filter(|at| !new.contains(at)) {
                if name.0.is_some() {
                    (p.at, p.lost) = (None, Some(at));
                } else {
                    p.at = old.range(at + 1..).next().copied();
                }
            }
        }
        self.rings = rings;
    }

    /// The mode, and what is missing for the next better one.
    fn class_mode(&self, c: usize, diff: i64) -> (Mode, i64) {
        let k = &self.classes[c];
        let low = if self.is_hysteretic && k.mode != Mode::CantSend { -k.cbuffer } else { 0 };
        let high = if self.is_hysteretic && k.mode == Mode::CanSend { -k.buffer } else { 0 };
        if k.ctokens + diff < low {
            return (Mode::CantSend, -(k.ctokens + diff));
        }
        if k.tokens + diff >= high {
            return (Mode::CanSend, 0);
        }
        (Mode::MayBorrow, -(k.tokens + diff))
    }

    fn change_mode(&mut self, c: usize, mode: Mode) {
        if self.classes[c].mode != mode {
            self.classes[c].mode = mode;
            self.rearrange();
        }
    }

    pub fn enqueue(&mut self, c: usize, packet: (u64, i64)) -> bool {
        if self.classes[c].queue.len() >= self.classes[c].limit_packets {
            return false;
        }
        self.classes[c].queue.push(packet);
        if !self.classes[c].is_active {
            self.classes[c].is_active = true;
            self.rearrange();
        }
        true
    }

    fn do_events(&mut self, level: usize, now: i64) {
        for c in 0..self.classes.len() {
            if self.classes[c].level == level && self.classes[c].event.is_some_and(|at| at <= now) {
                let diff = (now - self.classes[c].t_c).min(MBUFFER);
                let (mode, missing) = self.class_mode(c, diff);
                self.change_mode(c, mode);
                self.classes[c].event = (mode != Mode::CanSend).then(|| now + missing.max(1));
            }
        }
    }

    fn next_of(&mut self, name: RingName) {
        let ring = self.rings.get(&name).cloned().unwrap_or_default();
        let p = self.pointers.entry(name).or_default();
        if let Some(at) = p.at {
            p.at = ring.range(at + 1..).next().copied();
        }
    }

    /// Follows the pointers down from a row.
    fn lookup_leaf(&mut self, level: usize, prio: usize) -> Option<usize> {
        let mut stack: Vec<RingName> = vec![(None, level, prio)];
        loop {
            let name = *stack.last()?;
            let ring = self.rings.get(&name)?.clone();
            let p = self.pointers.entry(name).or_default();
            if let (None, Some(id)) = (p.at, p.lost) {
                p.at = ring.range(id..).next().copied();
            }
            p.lost = None;
            match p.at {
                None => {
                    p.at = ring.first().copied();
                    if stack.len() > 1 {
                        stack.pop();
                        self.next_of(stack[stack.len() - 1]);
                    }
                }
                Some(c) if self.classes[c].level == 0 => return Some(c),
                Some(c) => stack.push((Some(c), 0, prio)),
            }
        }
    }

    pub fn dequeue(&mut self, now: i64) -> Option<u64> {
        if self.classes.iter().all(|c| c.queue.is_empty()) {
            return None;
        }
        for level in 0..LEVELS {
            self.do_events(level, now);
            for prio in 0..8 {
                if self.rings.get(&(None, level, prio)).is_some_and(|r| !r.is_empty())
                    && let Some(c) = self.lookup_leaf(level, prio)
                {
                    return Some(self.send(c, level, now));
                }
            }
        }
        None
    }

    fn send(&mut self, leaf: usize, level: usize, now: i64) -> u64 {
        let prio = self.classes[leaf].prio;
        let (id, len) = self.classes[leaf].queue.remove(0);
        let bytes = len + self.overhead;
        let k = &mut self.classes[leaf];
        k.deficit[level] -= bytes;
        if k.deficit[level] < 0 {
            k.deficit[level] += k.quantum;
            let name = if level == 0 { (None, 0, prio) } else { (k.parent, 0, prio) };
            self.next_of(name);
        }
        if self.classes[leaf].queue.is_empty() {
            self.classes[leaf].is_active = false;
            self.rearrange();
        }
        let mut c = Some(leaf);
        while let Some(i) = c {
            self.charge(i, level, bytes, now);
            c = self.classes[i].parent;
        }
        id
    }

    fn charge(&mut self, i: usize, level: usize, bytes: i64, now: i64) {
        let k = &mut self.classes[i];
        let diff = (now - k.t_c).min(MBUFFER);
        if k.level >= level {
            k.tokens = ((k.tokens + diff).min(k.buffer) - bytes * k.rate_ns).max(-MBUFFER);
        } else {
            k.tokens += diff;
        }
        k.ctokens = ((k.ctokens + diff).min(k.cbuffer) - bytes * k.ceil_ns).max(-MBUFFER);
        k.t_c = now;
        let before = k.mode;
        let (mode, missing) = self.class_mode(i, 0);
        self.change_mode(i, mode);
        if before != mode {
            self.classes[i].event = (mode != Mode::CanSend).then(|| now + missing.max(1));
        }
    }

    /// When the first class changes its mode.
    pub fn watchdog(&self) -> Option<i64> {
        self.classes.iter().filter_map(|c| c.event).min()
    }
}
