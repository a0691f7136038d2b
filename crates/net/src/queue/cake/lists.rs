//! Flows in rings: a flow stands in at most one of them, and changes in one step wherever it stands.

use super::sets::PLACES;

/// The rings of a tin, by what is at their end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ring {
    /// Flows that have just become active.
    New = PLACES as isize,
    /// Those that take turns.
    Old,
    /// Empty ones whose law is not at rest yet.
    Decaying,
}

/// Who is before and behind each, ends of rings included.
#[derive(Clone, Debug)]
pub struct Rings(Vec<[u16; 2]>);

const BEFORE: usize = 0;
const BEHIND: usize = 1;

impl Rings {
    pub fn new() -> Rings {
        Rings((0..PLACES as u16 + 3).map(|i| [i, i]).collect())
    }
    #[inline]
    pub fn first(&self, ring: Ring) -> Option<usize> {
        let first = usize::from(self.0[ring as usize][BEHIND]);
        (first != ring as usize).then_some(first)
    }
    /// Takes a flow out of the ring that it stands in, if it does.
    #[inline]
    pub fn leave(&mut self, flow: usize) {
        let [before, behind] = self.0[flow];
        self.0[usize::from(before)][BEHIND] = behind;
        self.0[usize::from(behind)][BEFORE] = before;
        self.0[flow] = [flow as u16; 2];
    }
    /// It stands last in a ring from now on.
    #[inline]
    pub fn join(&mut self, flow: usize, ring: Ring) {
        self.leave(flow);
        let last = self.0[ring as usize][BEFORE];
        self.0[flow] = [last, ring as u16];
        self.0[usize::from(last)][BEHIND] = flow as u16;
        self.0[ring as usize][BEFORE] = flow as u16;
    }
    /// All of a ring, in order.
    pub fn iter(&self, ring: Ring) -> impl Iterator<Item = usize> {
        let next = |i: usize| usize::from(self.0[i][BEHIND]);
        std::iter::successors(Some(next(ring as usize)), move |i| Some(next(*i)))
            .take_while(move |i| *i != ring as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_stands_in_one_ring_only() {
        let mut r = Rings::new();
        for i in [4, 9, 7] {
            r.join(i, Ring::New);
        }
        r.join(9, Ring::Old);
        r.join(4, Ring::New);
        let all = |r: &Rings| [Ring::New, Ring::Old, Ring::Decaying].map(|k| r.iter(k).collect::<Vec<_>>());
        assert_eq!(all(&r), [vec![7, 4], vec![9], vec![]]);
        r.leave(7);
        r.leave(7);
        assert_eq!((r.first(Ring::New), r.first(Ring::Old), r.first(Ring::Decaying)), (Some(4), Some(9), None));
    }
}
