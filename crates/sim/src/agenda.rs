//! The agenda: when each stage wants to be woken next.
//!
//! A stage has at most one entry, so the size of the agenda is the number of stages with something to wait for, not the
//! number of packets or timers. Entries are never cancelled. One that turns out to be early (the stage has moved its
//! wish to a later time) is put back when it comes up; a retransmission timer that is restarted on every ACK therefore
//! costs one look per timeout, not one per ACK.

use crosswind_base::Time;

/// Time (64 bits), rank among simultaneous entries (32), stage (32) in one number: compared without a branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn new(at: Time, rank: u32, stage: u32) -> Entry {
        Entry((at.0 as u128) << 64 | (rank as u128) << 32 | stage as u128)
    }
    #[inline]
    fn at(self) -> Time {
        Time((self.0 >> 64) as u64)
    }
    #[inline]
    fn stage(self) -> u32 {
        self.0 as u32
    }
}

const ABSENT: u32 = u32::MAX;
/// Children per node: four entries of 16 bytes are one cache line.
const ARITY: usize = 4;

/// An indexed heap over stages.
pub struct Agenda {
    heap: Vec<Entry>,
    /// Position of each stage in the heap.
    place: Vec<u32>,
    /// State of the generator that permutes simultaneous entries; zero keeps them in stage order.
    shuffle: u64,
}

impl Agenda {
    /// `shuffle_seed` zero orders simultaneous wakes by stage; any other value permutes them.
    pub fn new(stages: usize, shuffle_seed: u64) -> Agenda {
        Agenda { heap: Vec::with_capacity(stages.min(1024)), place: vec![ABSENT; stages], shuffle: shuffle_seed }
    }

    fn rank(&mut self, stage: u32) -> u32 {
        if self.shuffle == 0 {
            return stage;
        }
        // xorshift64: any permutation will do, as long as the seed decides it.
        self.shuffle ^= self.shuffle << 13;
        self.shuffle ^= self.shuffle >> 7;
        self.shuffle ^= self.shuffle << 17;
        (self.shuffle >> 32) as u32
    }

    /// The next entry: time and stage.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|e| (e.at(), e.stage()))
    }
    #[inline]
    pub fn first_time(&self) -> Time {
        self.heap.first().map_or(Time::NEVER, |e| e.at())
    }

    /// The stage wants to be woken at `at`; an entry that is due earlier is left where it is.
    #[inline]
    pub fn at_latest(&mut self, stage: u32, at: Time) {
        let place = self.place[stage as usize];
        if place == ABSENT {
            let entry = Entry::new(at, self.rank(stage), stage);
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1);
        } else if at < self.heap[place as usize].at() {
            self.heap[place as usize] = Entry::new(at, self.rank(stage), stage);
            self.sift_up(place as usize);
        }
    }

    /// The first entry has been served: its stage now wants `at`, or nothing.
    #[inline]
    pub fn replace_first(&mut self, at: Option<Time>) {
        let stage = self.heap[0].stage();
        match at {
            Some(at) => {
                self.heap[0] = Entry::new(at, self.rank(stage), stage);
                self.sift_down(0);
            }
            None => {
                self.place[stage as usize] = ABSENT;
                let last = self.heap.pop().expect("the caller looked at the first entry");
                if !self.heap.is_empty() {
                    self.heap[0] = last;
                    self.sift_down(0);
                }
            }
        }
    }

    #[inline]
    fn sift_up(&mut self, mut i: usize) {
        let e = self.heap[i];
        while i > 0 {
            let parent = (i - 1) / ARITY;
            if self.heap[parent] <= e {
                break;
            }
            self.heap[i] = self.heap[parent];
            self.place[self.heap[i].stage() as usize] = i as u32;
            i = parent;
        }
        self.heap[i] = e;
        self.place[e.stage() as usize] = i as u32;
    }

    #[inline]
    fn sift_down(&mut self, mut i: usize) {
        let e = self.heap[i];
        let heap = &mut self.heap[..];
        let place = &mut self.place[..];
        loop {
            let first = i * ARITY + 1;
            let Some(children) = heap.get(first..).map(|c| &c[..c.len().min(ARITY)]) else { break };
            let Some(&head) = children.first() else { break };
            let (mut best, mut least) = (0, head);
            for (k, &c) in children.iter().enumerate().skip(1) {
                // Written as two selections, which compile to conditional moves.
                best = if c < least { k } else { best };
                least = if c < least { c } else { least };
            }
            if e <= least {
                break;
            }
            heap[i] = least;
            place[least.stage() as usize] = i as u32;
            i = first + best;
        }
        heap[i] = e;
        place[e.stage() as usize] = i as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use std::collections::BTreeSet;

    #[test]
    fn entries_come_out_in_order_of_time_then_stage() {
        let mut rng = Streams::new(5).named("agenda");
        let mut agenda = Agenda::new(200, 0);
        let mut model: BTreeSet<(Time, u32)> = BTreeSet::new();
        let mut now = Time::ZERO;
        for _ in 0..20_000 {
            let stage = rng.below(200) as u32;
            let at = now + crosswind_base::Dur(rng.below(50));
            let old = model.iter().find(|e| e.1 == stage).copied();
            if old.is_none_or(|o| at < o.0) {
                old.map(|o| model.remove(&o));
                model.insert((at, stage));
            }
            agenda.at_latest(stage, at);
            if rng.chance(0.6) {
                let want = *model.first().unwrap();
                assert_eq!(agenda.first(), Some(want));
                model.remove(&want);
                now = want.0;
                let next = rng.chance(0.5).then(|| now + crosswind_base::Dur(rng.below(80)));
                next.map(|t| model.insert((t, want.1)));
                agenda.replace_first(next);
            }
        }
    }
}
