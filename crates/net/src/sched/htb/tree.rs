//! The class tree: who may send, who lends, whose turn it is.
//!
//! A backlogged class is **linked**: into the row of its level when it may send on its own credit, into the feed of its
//! parent when it must borrow. A parent with a feed is linked in the same way, so a row holds the roots of all that may
//! be served at its level. Rows and feeds are rings; one packet is found by walking down from a row.

use super::ring::{Leaving, Ring};
use crate::sched::bucket::Bucket;
use crosswind_base::{BitRate, Dur, Size, Time};

/// Levels of the tree: leaves are 0, root classes with classes below them are highest.
pub const LEVELS: usize = 8;
pub const PRIORITIES: usize = 8;
/// Debts stop growing at what a class earns in this time.
const DEBT_MAX: Dur = Dur::from_secs(60);
const NO_PARENT: u16 = u16::MAX;

/// What a class may do with the credit it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Below its rate: it sends on its own.
    Sends,
    /// Above its rate and below its ceiling: it sends if an ancestor lends.
    Borrows,
    /// Above its ceiling.
    Waits,
}

/// Whether a class changes its mode at zero credit, or only after a whole bucket of debt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threshold {
    Zero,
    WholeBucket,
}

/// A class as it is built.
pub struct Plan {
    pub parent: Option<u16>,
    pub level: usize,
    pub prio: u8,
    pub quantum: i64,
    pub rate: Bucket,
    pub ceil: Bucket,
}

struct Node {
    parent: u16,
    level: usize,
    prio: u8,
    quantum: i64,
    rate: Bucket,
    ceil: Bucket,
    mode: Mode,
    /// When the mode may change by itself.
    changes_at: Time,
    /// One bit for each priority at which something below waits to be served.
    active: u8,
    /// Bytes that a leaf may still send in this round, by the level that it is served at.
    deficit: [i64; LEVELS],
    /// Classes below that borrow, by priority; empty for leaves.
    feed: Vec<Ring>,
}

/// All classes, numbered in the order of their names.
pub struct Tree {
    nodes: Vec<Node>,
    rows: Vec<[Ring; PRIORITIES]>,
    /// One bit for each priority whose row is not empty, by level.
    row_mask: [u8; LEVELS],
    /// Before this no mode changes by itself, by level.
    changes_at: [Time; LEVELS],
    threshold: Threshold,
    /// Modes improve at whole multiples of this; zero = at once.
    tick: Dur,
}

/// What a class is promised, and how much at a time.
pub struct Shares {
    pub rate: (BitRate, Size),
    pub ceil: (BitRate, Size),
    pub quantum: i64,
}

/// Which rows are being served.
#[derive(Clone, Copy, Debug)]
pub struct Rank {
    pub level: usize,
    pub prio: usize,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub bytes: u64,
    pub now: Time,
}

fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |prio| mask >> prio & 1 == 1)
}

impl Tree {
    pub fn new(plans: Vec<Plan>, threshold: Threshold, tick: Dur) -> Tree {
        let n = plans.len();
        let is_inner: Vec<bool> = (0..n).map(|i| plans.iter().any(|p| p.parent == Some(i as u16))).collect();
        let node = |(i, p): (usize, Plan)| Node {
            parent: p.parent.unwrap_or(NO_PARENT),
            level: p.level,
            prio: p.prio,
            quantum: p.quantum,
            rate: p.rate,
            ceil: p.ceil,
            mode: Mode::Sends,
            changes_at: Time::NEVER,
            active: 0,
            deficit: [0; LEVELS],
            feed: if is_inner[i] { vec![Ring::with_room(n); PRIORITIES] } else { Vec::new() },
        };
        Tree {
            nodes: plans.into_iter().enumerate().map(node).collect(),
            rows: (0..LEVELS).map(|_| std::array::from_fn(|_| Ring::with_room(n))).collect(),
            row_mask: [0; LEVELS],
            changes_at: [Time::NEVER; LEVELS],
            threshold,
            tick,
        }
    }

    /// Other shares of a class from now on. Its mode is looked at again at once.
    pub fn set(&mut self, class: u16, shares: Shares, now: Time) {
        let node = &mut self.nodes[class as usize];
        node.rate.set(now, shares.rate.0, shares.rate.1);
        node.ceil.set(now, shares.ceil.0, shares.ceil.1);
        node.quantum = shares.quantum;
        if node.mode != Mode::Sends {
            node.changes_at = now;
            let level = node.level;
            self.changes_at[level] = self.changes_at[level].min(now);
        }
    }

    pub fn is_active(&self, leaf: u16) -> bool {
        self.nodes[leaf as usize].active != 0
    }

    /// A leaf has something to send.
    pub fn activate(&mut self, leaf: u16) {
        let node = &mut self.nodes[leaf as usize];
        node.active = 1 << node.prio;
        let mask = node.active;
        self.link(leaf, mask);
    }

    /// A leaf has nothing left to send.
    pub fn deactivate(&mut self, leaf: u16) {
        self.unlink(leaf, self.nodes[leaf as usize].active);
        self.nodes[leaf as usize].active = 0;
    }

    /// Puts a class into the row or feed that its mode asks for, at the priorities of `mask`.
    fn link(&mut self, class: u16, mask: u8) {
        let Node { mode, parent, level, .. } = self.nodes[class as usize];
        if mode == Mode::Sends {
            bits(mask).for_each(|prio| self.rows[level][prio].insert(class));
            self.row_mask[level] |= mask;
        }
        if mode != Mode::Borrows || parent == NO_PARENT || mask == 0 {
            return;
        }
        let above = &mut self.nodes[parent as usize];
        let mut fresh = 0;
        for prio in bits(mask) {
            fresh |= (above.feed[prio].is_empty() as u8) << prio;
            above.feed[prio].insert(class);
        }
        above.active |= fresh;
        self.link(parent, fresh);
    }

    /// Takes it out again, and its ancestors where they serve nothing else.
    fn unlink(&mut self, class: u16, mask: u8) {
        let Node { mode, parent, level, .. } = self.nodes[class as usize];
        if mode == Mode::Sends {
            for prio in bits(mask) {
                let row = &mut self.rows[level][prio];
                row.remove(class, Leaving::MovesOn);
                self.row_mask[level] &= !((row.is_empty() as u8) << prio);
            }
        }
        if mode != Mode::Borrows || parent == NO_PARENT || mask == 0 {
            return;
        }
        let above = &mut self.nodes[parent as usize];
        let mut emptied = 0;
        for prio in bits(mask) {
            above.feed[prio].remove(class, Leaving::Stays);
            emptied |= (above.feed[prio].is_empty() as u8) << prio;
        }
        self.unlink(parent, emptied);
        self.nodes[parent as usize].active &= !emptied;
    }

    fn mode_at(&self, class: u16, now: Time) -> Mode {
        let node = &self.nodes[class as usize];
        let in_debt = self.threshold == Threshold::WholeBucket;
        let below_ceil =
            if in_debt && node.mode != Mode::Waits { node.ceil.covers_in_debt(now) } else { node.ceil.covers(0, now) };
        let below_rate =
            if in_debt && node.mode == Mode::Sends { node.rate.covers_in_debt(now) } else { node.rate.covers(0, now) };
        match (below_ceil, below_rate) {
            (false, _) => Mode::Waits,
            (true, true) => Mode::Sends,
            (true, false) => Mode::Borrows,
        }
    }

    fn set_mode(&mut self, class: u16, mode: Mode) {
        let node = &self.nodes[class as usize];
        if mode != node.mode {
            let mask = node.active;
            self.unlink(class, mask);
            self.nodes[class as usize].mode = mode;
            self.link(class, mask);
        }
    }

    /// Notes when a class that does not send on its own will next do better.
    fn note_change(&mut self, class: u16, now: Time) {
        let node = &mut self.nodes[class as usize];
        node.changes_at = match node.mode {
            Mode::Sends => Time::NEVER,
            Mode::Borrows => node.rate.covers_from(0, now),
            Mode::Waits => node.ceil.covers_from(0, now),
        };
        if node.changes_at == now {
            node.changes_at = now + Dur(1);
        }
        if self.tick.0 > 0 && node.changes_at != Time::NEVER {
            node.changes_at = Time(node.changes_at.0.next_multiple_of(self.tick.0));
        }
        let first = &mut self.changes_at[node.level];
        *first = node.changes_at.min(*first);
    }

    /// Modes of this level that have changed by now.
    pub fn catch_up(&mut self, level: usize, now: Time) {
        if self.changes_at[level] > now {
            return;
        }
        self.changes_at[level] = Time::NEVER;
        for class in 0..self.nodes.len() as u16 {
            let Node { level: own, changes_at, .. } = self.nodes[class as usize];
            if own != level || changes_at == Time::NEVER {
                continue;
            }
            if changes_at <= now {
                self.set_mode(class, self.mode_at(class, now));
                self.note_change(class, now);
            } else {
                self.changes_at[level] = self.changes_at[level].min(changes_at);
            }
        }
    }

    /// When a mode changes next.
    pub fn next_change(&self) -> Time {
        self.nodes.iter().map(|n| n.changes_at).min().unwrap_or(Time::NEVER)
    }

    /// The priorities that have somebody to serve at this level.
    pub fn priorities(&self, level: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.row_mask[level])
    }

    pub fn has_row(&self, rank: Rank) -> bool {
        self.row_mask[rank.level] >> rank.prio & 1 == 1
    }

    /// The leaf whose turn it is. A feed at the end of its round begins anew, and the round above it moves on.
    pub fn turn(&mut self, rank: Rank) -> Option<u16> {
        let mut path = [0u16; LEVELS];
        let mut depth = 0;
        // Each step goes down, or ends a round; more steps than classes and levels would be a loop.
        for _ in 0..2 * LEVELS * (self.nodes.len() + 1) {
            let ring = self.ring(rank, &path[..depth]);
            let Some(class) = ring.current() else {
                ring.rewind();
                if depth > 0 {
                    depth -= 1;
                    self.ring(rank, &path[..depth]).advance();
                } else {
                    ring.current()?;
                }
                continue;
            };
            if self.nodes[class as usize].feed.is_empty() {
                return Some(class);
            }
            path[depth] = class;
            depth += 1;
        }
        None
    }

    /// The row, or the feed of the last class of the path down from it.
    fn ring(&mut self, rank: Rank, path: &[u16]) -> &mut Ring {
        match path.last() {
            None => &mut self.rows[rank.level][rank.prio],
            Some(class) => &mut self.nodes[*class as usize].feed[rank.prio],
        }
    }

    /// The turn of a leaf is over.
    pub fn pass_on(&mut self, leaf: u16, rank: Rank) {
        let parent = self.nodes[leaf as usize].parent;
        let ring = if rank.level == 0 {
            &mut self.rows[0][rank.prio]
        } else {
            &mut self.nodes[parent as usize].feed[rank.prio]
        };
        ring.advance();
    }

    /// Counts a packet of `leaf` against its part of the round.
    pub fn count(&mut self, leaf: u16, rank: Rank, bytes: u64) {
        let node = &mut self.nodes[leaf as usize];
        let deficit = &mut node.deficit[rank.level];
        *deficit -= bytes as i64;
        if *deficit < 0 {
            *deficit += node.quantum;
            self.pass_on(leaf, rank);
        }
    }

    /// Charges a packet to its leaf and all classes above: to their ceilings, and from the lender upwards to their rates.
    pub fn charge(&mut self, leaf: u16, lender_level: usize, sent: Sent) {
        let mut class = leaf;
        while class != NO_PARENT {
            let node = &mut self.nodes[class as usize];
            if node.level >= lender_level {
                node.rate.spend(sent.bytes, sent.now, DEBT_MAX);
            }
            node.ceil.spend(sent.bytes, sent.now, DEBT_MAX);
            let (before, parent) = (node.mode, node.parent);
            let mode = self.mode_at(class, sent.now);
            if mode != before {
                self.set_mode(class, mode);
                self.note_change(class, sent.now);
            }
            class = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::{BitRate, Size};

    fn plan(parent: Option<u16>, level: usize, kbit: u64) -> Plan {
        let bucket = || Bucket::new(BitRate(kbit * 1000), Size(1000));
        Plan { parent, level, prio: 0, quantum: 1000, rate: bucket(), ceil: Bucket::new(BitRate(100_000), Size(1000)) }
    }

    #[test]
    fn with_a_clock_credit_comes_back_when_it_ticks() {
        let mut t = Tree::new(vec![plan(None, 0, 100)], Threshold::Zero, Dur::from_millis(10));
        let at = Rank { level: 0, prio: 0 };
        t.activate(0);
        // 1125 bytes at 11 ms: a debt of 125 bytes, which 10 ms pay.
        t.charge(0, 0, Sent { bytes: 1125, now: Time(11_000_000) });
        assert_eq!(t.next_change(), Time(30_000_000));
        t.catch_up(0, Time(29_999_999));
        assert!(!t.has_row(at), "paid at 21 ms, not seen before the clock ticks");
        t.catch_up(0, Time(30_000_000));
        assert!(t.has_row(at));
    }

    #[test]
    fn a_class_without_credit_borrows_from_the_nearest_ancestor_that_has_some() {
        // 0 - 1 - 2, and 2 is the leaf.
        let mut t =
            Tree::new(vec![plan(None, 7, 50), plan(Some(0), 6, 20), plan(Some(1), 0, 10)], Threshold::Zero, Dur::ZERO);
        let at = |level| Rank { level, prio: 0 };
        t.activate(2);
        assert_eq!(t.turn(at(0)), Some(2));
        let send = |t: &mut Tree, level| t.charge(2, level, Sent { bytes: 1001, now: Time::ZERO });
        send(&mut t, 0);
        // The ceiling of 1000 bytes is used up everywhere: nobody may be served.
        assert!((0..LEVELS).all(|l| !t.has_row(at(l))));
        // 80 microseconds pay one byte of the ceiling; 0.4 ms the one of the middle class, 0.8 ms that of the leaf.
        (0..LEVELS).for_each(|l| t.catch_up(l, Time(80_000)));
        assert!((0..LEVELS).all(|l| !t.has_row(at(l))));
        (0..LEVELS).for_each(|l| t.catch_up(l, Time(160_000)));
        assert!(t.has_row(at(7)) && !t.has_row(at(6)));
        assert_eq!(t.turn(at(7)), Some(2));
        (0..LEVELS).for_each(|l| t.catch_up(l, Time(400_000)));
        assert!(t.has_row(at(6)) && !t.has_row(at(7)));
        (0..LEVELS).for_each(|l| t.catch_up(l, Time(800_000)));
        assert!(t.has_row(at(0)) && !t.has_row(at(6)));
        t.deactivate(2);
        assert!((0..LEVELS).all(|l| !t.has_row(at(l))));
    }
}
