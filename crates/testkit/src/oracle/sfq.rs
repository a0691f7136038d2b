//! SFQ with a list for the round and a stamp for who got so long last; no linked lists at all.

use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub seq: u64,
    pub len: u64,
    pub flow: u32,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    queue: VecDeque<Waiting>,
    place: u32,
    allot: i64,
    /// When its length changed last, in changes.
    stamp: u64,
}

pub struct Sfq {
    pub limit: usize,
    pub depth: usize,
    pub quantum: i64,
    pub headdrop: bool,
    slots: Vec<Slot>,
    /// The round: the first is served next.
    round: VecDeque<usize>,
    changes: u64,
}

/// What became of a packet in an arrival or while flows were spread anew.
pub type Dropped = Vec<u64>;

impl Sfq {
    pub fn new(limit: usize, flows: usize, depth: usize, quantum: i64, headdrop: bool) -> Sfq {
        let mut slots = vec![Slot::default(); flows.min(limit)];
        for (i, s) in slots.iter_mut().enumerate() {
            s.stamp = i as u64;
        }
        let changes = slots.len() as u64;
        Sfq { limit, depth, quantum, headdrop, slots, round: VecDeque::new(), changes }
    }
    pub fn held(&self) -> usize {
        self.slots.iter().map(|s| s.queue.len()).sum()
    }
    fn touch(&mut self, x: usize) {
        self.slots[x].stamp = self.changes;
        self.changes += 1;
    }
    fn slot_of(&mut self, place: u32) -> Option<usize> {
        if let Some(x) = self.slots.iter().position(|s| !s.queue.is_empty() && s.place == place) {
            return Some(x);
        }
        let free = (0..self.slots.len()).filter(|x| self.slots[*x].queue.is_empty());
        let x = free.max_by_key(|x| self.slots[*x].stamp)?;
        self.slots[x].place = place;
        Some(x)
    }
    fn add(&mut self, x: usize, p: Waiting) {
        self.slots[x].queue.push_back(p);
        self.touch(x);
        if self.slots[x].queue.len() == 1 {
            self.slots[x].allot = self.quantum;
            self.round.push_back(x);
        }
    }
    /// A packet comes for a place.
    pub fn enqueue(&mut self, place: u32, p: Waiting) -> Dropped {
        let Some(x) = self.slot_of(place) else { return vec![p.seq] };
        if self.slots[x].queue.len() >= self.depth {
            if !self.headdrop {
                return vec![p.seq];
            }
            let gone = self.slots[x].queue.pop_front().unwrap();
            self.slots[x].queue.push_back(p);
            return vec![gone.seq];
        }
        self.add(x, p);
        if self.held() <= self.limit {
            return Vec::new();
        }
        let longest = self.slots.iter().map(|s| s.queue.len()).max().unwrap();
        let x = if longest > 1 {
            let of_length = (0..self.slots.len()).filter(|x| self.slots[*x].queue.len() == longest);
            of_length.max_by_key(|x| self.slots[*x].stamp).unwrap()
        } else {
            self.round.pop_front().unwrap()
        };
        let q = &mut self.slots[x].queue;
        let gone = if self.headdrop { q.pop_front() } else { q.pop_back() };
        self.touch(x);
        vec![gone.unwrap().seq]
    }
    pub fn dequeue(&mut self) -> Option<u64> {
        loop {
            let x = *self.round.front()?;
            if self.slots[x].allot <= 0 {
                self.slots[x].allot += self.quantum;
                self.round.rotate_left(1);
                continue;
            }
            let p = self.slots[x].queue.pop_front().unwrap();
            self.touch(x);
            if self.slots[x].queue.is_empty() {
                self.round.pop_front();
            } else {
                self.slots[x].allot -= p.len as i64;
            }
            return Some(p.seq);
        }
    }
    /// Takes out those that go; queues that are left empty leave the round.
    pub fn remove(&mut self, goes: impl Fn(u64) -> bool) -> Dropped {
        let mut gone = Vec::new();
        for x in 0..self.slots.len() {
            for p in std::mem::take(&mut self.slots[x].queue) {
                if goes(p.seq) {
                    gone.push(p.seq);
                    self.touch(x);
                } else {
                    self.slots[x].queue.push_back(p);
                }
            }
        }
        let slots = &self.slots;
        self.round.retain(|x| !slots[*x].queue.is_empty());
        gone
    }
    /// Another hash.
    pub fn rehash(&mut self, place: impl Fn(u32) -> u32) -> Dropped {
        let mut all = Vec::new();
        for x in 0..self.slots.len() {
            while let Some(p) = self.slots[x].queue.pop_front() {
                self.touch(x);
                all.push(p);
            }
        }
        self.round.clear();
        let mut dropped = Vec::new();
        for p in all {
            match self.slot_of(place(p.flow)) {
                Some(x) if self.slots[x].queue.len() < self.depth => self.add(x, p),
                _ => dropped.push(p.seq),
            }
        }
        dropped
    }
}
