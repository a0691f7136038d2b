//! A ring of numbers with a place in it: who is served next among equals.

/// Where the round stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// At this member.
    Member(u16),
    /// At a member that has left: the round goes on with the first one not below it.
    Left(u16),
    /// Behind the last member; also where a round begins.
    End,
}

/// What happens to the place in the ring when its member leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaving {
    /// It moves on to the next member.
    MovesOn,
    /// It stays; should the member come back in time, the round goes on with it.
    Stays,
}

/// Members in ascending order.
#[derive(Clone, Debug)]
pub struct Ring {
    members: Vec<u16>,
    at: At,
}

impl Ring {
    /// Room for so many; no more is ever taken.
    pub fn with_room(n: usize) -> Ring {
        Ring { members: Vec::with_capacity(n), at: At::End }
    }
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
    pub fn insert(&mut self, m: u16) {
        if let Err(i) = self.members.binary_search(&m) {
            self.members.insert(i, m);
        }
    }
    pub fn remove(&mut self, m: u16, leaving: Leaving) {
        let Ok(i) = self.members.binary_search(&m) else { return };
        if self.at == At::Member(m) {
            match leaving {
                Leaving::MovesOn => self.advance(),
                Leaving::Stays => self.at = At::Left(m),
            }
        }
        self.members.remove(i);
    }
    /// The member whose turn it is, or nothing at the end of a round.
    pub fn current(&mut self) -> Option<u16> {
        if let At::Left(m) = self.at {
            let i = self.members.partition_point(|x| *x < m);
            self.at = self.members.get(i).map_or(At::End, |x| At::Member(*x));
        }
        match self.at {
            At::Member(m) => Some(m),
            _ => None,
        }
    }
    /// Begins a new round.
    pub fn rewind(&mut self) {
        self.at = self.members.first().map_or(At::End, |m| At::Member(*m));
    }
    /// The next member's turn, or the end of the round.
    pub fn advance(&mut self) {
        let At::Member(m) = self.at else { return };
        let i = self.members.partition_point(|x| *x <= m);
        self.at = self.members.get(i).map_or(At::End, |x| At::Member(*x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(members: &[u16]) -> Ring {
        let mut r = Ring::with_room(8);
        members.iter().for_each(|m| r.insert(*m));
        r
    }

    #[test]
    fn a_round_visits_members_in_order_and_ends() {
        let mut r = ring(&[5, 1, 3]);
        assert_eq!(r.current(), None);
        r.rewind();
        let mut seen = Vec::new();
        while let Some(m) = r.current() {
            seen.push(m);
            r.advance();
        }
        assert_eq!(seen, [1, 3, 5]);
    }

    #[test]
    fn a_member_that_leaves_passes_its_turn_on_or_keeps_it() {
        for (leaving, expected) in [(Leaving::MovesOn, Some(5)), (Leaving::Stays, Some(3))] {
            let mut r = ring(&[1, 3, 5]);
            r.rewind();
            r.advance();
            r.remove(3, leaving);
            r.insert(3);
            assert_eq!(r.current(), expected, "{leaving:?}");
        }
        let mut r = ring(&[1, 3, 5]);
        r.rewind();
        r.remove(1, Leaving::Stays);
        assert_eq!(r.current(), Some(3));
        r.advance();
        r.remove(5, Leaving::Stays);
        assert_eq!(r.current(), None);
    }
}
