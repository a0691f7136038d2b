//! The agenda: when each stage wants to be woken next.
//!
//! A stage has one place in it, so its size is the number of stages, not the number of packets or timers. It is a
//! tournament: stages are the leaves of a binary tree, each inner node holds the earlier of its two children, and the
//! root is the next to be woken. Changing a wish replays the matches between that leaf and the root; there is no search, no
//! allocation, and hardly a branch that depends on data.
//!
//! Wishes that move to a later time are not replayed at once (see [`Agenda::at_latest`]): a retransmission timer that is
//! restarted on every ACK costs one look per timeout.

use crosswind_base::Time;

/// Leaf or winner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    at: u64,
    stage: u32,
    /// Order among simultaneous wishes when ties are shuffled; otherwise the stage decides, through its place.
    rank: u32,
}

/// Later than every wish, and small enough that one may be added.
const NEVER: u64 = u64::MAX - 1;

/// A tournament over stages.
pub struct Agenda {
    /// Node 1 is the root, the children of node i are 2i and 2i + 1, the leaves start at `leaves`.
    nodes: Vec<Entry>,
    leaves: usize,
    /// State of the generator that permutes simultaneous entries; zero keeps them in stage order.
    shuffle: u64,
}

/// Whether the sibling of node `i` beats `mine` there. At equal times the left one wins: the lower stage.
#[inline]
fn sibling_wins(sibling: &Entry, mine: &Entry, i: usize) -> bool {
    sibling.at < mine.at + (i & 1) as u64
}

/// The same with shuffled ties.
#[inline]
fn sibling_wins_shuffled(sibling: &Entry, mine: &Entry) -> bool {
    (sibling.at, sibling.rank, sibling.stage) < (mine.at, mine.rank, mine.stage)
}

impl Agenda {
    /// `shuffle_seed` zero orders simultaneous wakes by stage; any other value permutes them.
    pub fn new(stages: usize, shuffle_seed: u64) -> Agenda {
        let leaves = stages.next_power_of_two().max(2);
        let nobody = |i: usize| Entry { at: NEVER, stage: i as u32, rank: 0 };
        let mut nodes: Vec<Entry> = (0..leaves).chain(0..leaves).map(nobody).collect();
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i];
        }
        Agenda { nodes, leaves, shuffle: shuffle_seed }
    }

    fn rank(&mut self) -> u32 {
        // xorshift64: any permutation will do, as long as the seed decides it.
        self.shuffle ^= self.shuffle << 13;
        self.shuffle ^= self.shuffle >> 7;
        self.shuffle ^= self.shuffle << 17;
        (self.shuffle >> 32) as u32
    }

    /// The next entry: time and stage.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        let root = self.nodes[1];
        (root.at != NEVER).then_some((Time(root.at), root.stage))
    }
    /// `Time::NEVER` when nothing is entered.
    #[inline]
    pub fn first_time(&self) -> Time {
        let at = self.nodes[1].at;
        if at == NEVER { Time::NEVER } else { Time(at) }
    }

    /// The stage wants to be woken at `at`; an entry that is due earlier is left where it is.
    #[inline]
    pub fn at_latest(&mut self, stage: u32, at: Time) {
        let mut i = self.leaves + stage as usize;
        if at.0 >= self.nodes[i].at {
            return;
        }
        if self.shuffle != 0 {
            return self.set_shuffled(stage, at.0);
        }
        let mine = Entry { at: at.0, stage, rank: 0 };
        let nodes = &mut self.nodes[..];
        nodes[i] = mine;
        // An entry that moved forward wins more matches than before: above its first defeat nothing changes.
        while i > 1 && !sibling_wins(&nodes[i ^ 1], &mine, i) {
            i >>= 1;
            nodes[i] = mine;
        }
    }

    /// The first entry has been served: its stage now wants `at`, or nothing.
    #[inline]
    pub fn replace_first(&mut self, at: Option<Time>) {
        let stage = self.nodes[1].stage;
        let at = at.map_or(NEVER, |t| t.0.min(NEVER));
        if self.shuffle != 0 {
            return self.set_shuffled(stage, at);
        }
        let mut winner = Entry { at, stage, rank: 0 };
        let mut i = self.leaves + stage as usize;
        let nodes = &mut self.nodes[..];
        nodes[i] = winner;
        // It had won every match on its way: all of them are played again.
        while i > 1 {
            let sibling = nodes[i ^ 1];
            winner = if sibling_wins(&sibling, &winner, i) { sibling } else { winner };
            i >>= 1;
            nodes[i] = winner;
        }
    }

    #[cold]
    fn set_shuffled(&mut self, stage: u32, at: u64) {
        let mut winner = Entry { at, stage, rank: self.rank() };
        let mut i = self.leaves + stage as usize;
        self.nodes[i] = winner;
        while i > 1 {
            let (mine, sibling) = (self.nodes[i], self.nodes[i ^ 1]);
            winner = if sibling_wins_shuffled(&sibling, &mine) { sibling } else { mine };
            i >>= 1;
            self.nodes[i] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::{Dur, Streams};
    use std::collections::BTreeSet;

    #[test]
    fn entries_come_out_in_order_of_time_then_stage() {
        let mut rng = Streams::new(5).named("agenda");
        let mut agenda = Agenda::new(200, 0);
        let mut model: BTreeSet<(Time, u32)> = BTreeSet::new();
        let mut now = Time::ZERO;
        for _ in 0..50_000 {
            let stage = rng.below(200) as u32;
            let at = now + Dur(rng.below(50));
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
                let next = rng.chance(0.5).then(|| now + Dur(rng.below(80)));
                next.map(|t| model.insert((t, want.1)));
                agenda.replace_first(next);
            }
        }
    }

    #[test]
    fn a_shuffled_agenda_permutes_simultaneous_wishes_and_nothing_else() {
        let order = |seed| {
            let mut agenda = Agenda::new(6, seed);
            (0..6).for_each(|s| agenda.at_latest(s, Time(if s < 4 { 7 } else { 9 })));
            let mut out = Vec::new();
            while let Some((_, s)) = agenda.first() {
                out.push(s);
                agenda.replace_first(None);
            }
            out
        };
        assert_eq!(order(0), [0, 1, 2, 3, 4, 5]);
        let shuffled: Vec<Vec<u32>> = (1..20).map(order).collect();
        assert!(shuffled.iter().any(|o| o[..4] != [0, 1, 2, 3]));
        assert!(shuffled.iter().all(|o| o[..4].iter().all(|s| *s < 4)));
    }

    #[test]
    fn an_empty_agenda_has_no_first_entry() {
        let mut agenda = Agenda::new(0, 0);
        assert_eq!((agenda.first(), agenda.first_time()), (None, Time::NEVER));
        agenda.at_latest(0, Time(3));
        agenda.replace_first(None);
        assert_eq!(agenda.first(), None);
    }
}
