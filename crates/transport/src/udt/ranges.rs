//! Sets of packet numbers as ranges, in order: what is lost, at either end.

use std::collections::VecDeque;

/// Ranges `[first, last]`, ascending, with gaps between them.
#[derive(Clone, Debug, Default)]
pub struct Ranges(VecDeque<(u64, u64)>);

/// Ascending numbers as ranges.
pub fn of(numbers: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        match found.last_mut() {
            Some(r) if r.1 + 1 == n => r.1 = n,
            _ => found.push((n, n)),
        }
    }
    found
}

impl Ranges {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The smallest number.
    pub fn first(&self) -> Option<u64> {
        self.0.front().map(|r| r.0)
    }
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds all numbers from `first` to `last`.
    pub fn insert(&mut self, first: u64, last: u64) {
        let from = self.0.partition_point(|r| r.1 + 1 < first);
        let to = self.0.partition_point(|r| r.0 <= last + 1);
        if from == to {
            self.0.insert(from, (first, last));
            return;
        }
        let merged = (first.min(self.0[from].0), last.max(self.0[to - 1].1));
        self.0.drain(from + 1..to);
        self.0[from] = merged;
    }

    /// Removes a number. Whether it was there.
    pub fn remove(&mut self, n: u64) -> bool {
        let at = self.0.partition_point(|r| r.1 < n);
        let Some(&(first, last)) = self.0.get(at).filter(|r| r.0 <= n) else { return false };
        match (first == n, last == n) {
            (true, true) => {
                self.0.remove(at);
            }
            (true, false) => self.0[at].0 = n + 1,
            (false, true) => self.0[at].1 = n - 1,
            (false, false) => {
                self.0[at].1 = n - 1;
                self.0.insert(at + 1, (n + 1, last));
            }
        }
        true
    }

    /// Removes every number below `n`.
    pub fn remove_below(&mut self, n: u64) {
        while self.0.front().is_some_and(|r| r.1 < n) {
            self.0.pop_front();
        }
        if let Some(r) = self.0.front_mut() {
            r.0 = r.0.max(n);
        }
    }

    /// Takes the smallest number out.
    pub fn pop_first(&mut self) -> Option<u64> {
        let n = self.first()?;
        self.remove(n);
        Some(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_are_a_set_on_random_operations() {
        let mut rng = Streams::new(3).named("ranges");
        let (mut ours, mut set) = (Ranges::default(), BTreeSet::new());
        for _ in 0..5000 {
            let n = rng.below(60);
            match rng.below(5) {
                0 | 1 => {
                    let last = n + rng.below(6);
                    ours.insert(n, last);
                    set.extend(n..=last);
                }
                2 => assert_eq!(ours.remove(n), set.remove(&n)),
                3 => assert_eq!(ours.pop_first(), set.pop_first()),
                _ => {
                    ours.remove_below(n / 3);
                    set.retain(|m| *m >= n / 3);
                }
            }
            assert!(ours.iter().flat_map(|(a, b)| a..=b).eq(set.iter().copied()), "{ours:?}");
            assert!(of(set.iter().copied()).into_iter().eq(ours.iter()));
        }
    }
}
