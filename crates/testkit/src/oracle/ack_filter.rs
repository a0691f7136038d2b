//! The filter for acknowledgements of CAKE with sets: candidates first, then runs of equal ECN bits, then the rule.

use std::collections::BTreeSet;

/// A packet of the queue. `is_pure`: an acknowledgement without data, flags or options that are not known.
#[derive(Clone, Debug)]
pub struct Ack {
    pub seq: u64,
    pub flow: u32,
    pub is_pure: bool,
    pub ack: u64,
    pub stamp: u32,
    pub ecn: u8,
    pub blocks: Vec<(u64, u64)>,
}

impl Ack {
    fn bytes(&self) -> BTreeSet<u64> {
        self.blocks.iter().flat_map(|(from, to)| *from..*to).collect()
    }

    /// `new` says all that this one says, and more.
    fn is_candidate(&self, new: &Ack) -> bool {
        let (mine, theirs) = (self.bytes(), new.bytes());
        let tells_of_duplicates = self.blocks.iter().any(|(from, _)| *from < self.ack);
        let says_more = new.ack > self.ack || theirs.len() > mine.len();
        self.is_pure
            && self.ack <= new.ack
            && self.stamp <= new.stamp
            && !tells_of_duplicates
            && mine.is_subset(&theirs)
            && says_more
    }
}

/// The place of the one that goes when the last of the queue has joined it.
pub fn goes(queue: &[Ack], is_aggressive: bool) -> Option<usize> {
    let (new, before) = queue.split_last()?;
    if !new.is_pure {
        return None;
    }
    let own: Vec<(usize, &Ack)> = before.iter().enumerate().filter(|(_, a)| a.flow == new.flow).collect();
    let runs = own.chunk_by(|a, b| a.1.ecn == b.1.ecn);
    let candidates = |run: &[(usize, &Ack)]| -> Vec<usize> {
        run.iter().filter(|(_, a)| a.is_candidate(new)).map(|(i, _)| *i).collect()
    };
    if let Some(found) = runs.clone().map(candidates).find(|c| c.len() > 1) {
        return Some(found[0]);
    }
    let last = before.len().checked_sub(1)?;
    let alone = runs.map(candidates).next_back().is_some_and(|c| c == [last]);
    (is_aggressive && alone && before[last].ecn == new.ecn).then_some(last)
}
