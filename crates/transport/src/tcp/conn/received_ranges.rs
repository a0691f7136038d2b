//! What a receiver holds above the next byte it expects: ranges of bytes, and which of them changed last.
//!
//! Every operation takes logarithmic time in the number of ranges, or touches each of them once in its life.

use crosswind_base::SackList;
use std::collections::VecDeque;

/// Bytes without a gap.
#[derive(Clone, Copy, Debug)]
struct ReceivedRange {
    left: u64,
    right: u64,
    /// Which change of a range was the last one here.
    stamp: u64,
}

/// Notes of changes that are kept beyond two for each range before those that do not match are thrown out.
const RECENT_SLACK: usize = 64;

/// All ranges of a receiver.
#[derive(Default, Debug)]
pub struct ReceivedRanges {
    /// Ascending and disjoint.
    list: VecDeque<ReceivedRange>,
    /// Left edge and stamp of every range, most recently changed last (RFC 2018 section 4), and of some that have been
    /// changed again or are gone: those do not match any more.
    recent: Vec<(u64, u64)>,
    changes: u64,
    bytes: u64,
}

/// The range that a note of a change is about, if it has not changed since.
fn find(list: &VecDeque<ReceivedRange>, (left, stamp): (u64, u64)) -> Option<&ReceivedRange> {
    let i = list.partition_point(|i| i.left < left);
    list.get(i).filter(|i| i.left == left && i.stamp == stamp)
}

impl ReceivedRanges {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    pub fn count(&self) -> usize {
        self.list.len()
    }
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether one of them holds all of [left, right).
    pub fn cover(&self, left: u64, right: u64) -> bool {
        let i = self.list.partition_point(|i| i.right < right);
        self.list.get(i).is_some_and(|i| i.left <= left)
    }

    pub fn add(&mut self, left: u64, right: u64) {
        let at = self.list.partition_point(|i| i.right < left);
        self.changes += 1;
        let mut mine = ReceivedRange { left, right, stamp: self.changes };
        // It swallows those that it touches: the first makes room for it, the others go.
        let mut swallowed = 0;
        while let Some(i) = self.list.get(at + swallowed)
            && i.left <= right
        {
            mine.left = mine.left.min(i.left);
            mine.right = mine.right.max(i.right);
            self.bytes -= i.right - i.left;
            swallowed += 1;
        }
        self.bytes += mine.right - mine.left;
        match swallowed {
            0 => self.list.insert(at, mine),
            n => {
                self.list.drain(at + 1..at + n);
                self.list[at] = mine;
            }
        }
        self.note_change(mine);
    }

    fn note_change(&mut self, i: ReceivedRange) {
        match self.recent.last_mut() {
            Some(last) if last.0 == i.left => last.1 = i.stamp,
            _ => self.recent.push((i.left, i.stamp)),
        }
        if self.recent.len() > 2 * self.list.len() + RECENT_SLACK {
            let list = &self.list;
            self.recent.retain(|r| find(list, *r).is_some());
        }
    }

    /// The next byte expected was `next`: where it moves to over the ranges that it has reached.
    pub fn absorb(&mut self, next: u64) -> u64 {
        let mut next = next;
        while let Some(i) = self.list.front()
            && i.left <= next
        {
            next = next.max(i.right);
            self.bytes -= i.right - i.left;
            self.list.pop_front();
        }
        if self.list.is_empty() {
            self.recent.clear();
        }
        next
    }

    /// Adds SACK blocks, the latest change first, until there are `most`. Notes that do not match any more go when they are met.
    pub fn report(&mut self, most: usize, blocks: &mut SackList) {
        let mut at = self.recent.len();
        while at > 0 && blocks.len() < most {
            at -= 1;
            match find(&self.list, self.recent[at]) {
                Some(i) => _ = blocks.push(i.left, i.right),
                // Only the few that match stand behind it and move up.
                None => _ = self.recent.remove(at),
            }
        }
    }
}
