//! Places found by a hash, eight ways each: whoever does not find its place free takes another one of the same eight.

/// Places of flows in a tin, and of hosts.
pub const PLACES: usize = 1024;
const WAYS: usize = 8;

/// The places that a hash may have, the first choice first.
pub fn ways(hash: u32) -> impl Iterator<Item = usize> {
    let first = hash as usize % PLACES;
    let inner = first % WAYS;
    (0..WAYS).map(move |i| first - inner + (inner + i) % WAYS)
}

/// How packets found the place of their flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// At once.
    pub direct_packets: u64,
    /// In another way of the set.
    pub hits_packets: u64,
    /// A flow that had no place, and found a free one.
    pub misses_packets: u64,
    /// A flow that had to share one.
    pub collisions_packets: u64,
}

/// One end of the flows of a tin: which hosts there are, and how many bulk flows each has.
#[derive(Clone, Debug)]
pub struct Hosts {
    tags: Vec<u32>,
    bulk_flows: Vec<u16>,
}

impl Hosts {
    pub fn new() -> Hosts {
        Hosts { tags: vec![0; PLACES], bulk_flows: vec![0; PLACES] }
    }
    /// The place of a host: its own, or one whose host has no bulk flow, or one that it shares.
    pub fn place(&mut self, hash: u32) -> usize {
        if let Some(own) = ways(hash).find(|k| self.tags[*k] == hash) {
            return own;
        }
        let free = ways(hash).find(|k| self.bulk_flows[*k] == 0);
        let place = free.unwrap_or(hash as usize % PLACES);
        self.tags[place] = hash;
        place
    }
    #[inline]
    pub fn more(&mut self, place: u16) {
        self.bulk_flows[usize::from(place)] += 1;
    }
    #[inline]
    pub fn fewer(&mut self, place: u16) {
        self.bulk_flows[usize::from(place)] -= 1;
    }
    #[inline]
    pub fn bulk_flows(&self, place: u16) -> u16 {
        self.bulk_flows[usize::from(place)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_places_from_the_own_one_on() {
        assert_eq!(ways(1024 + 13).collect::<Vec<_>>(), [13, 14, 15, 8, 9, 10, 11, 12]);
        assert_eq!(ways(7).collect::<Vec<_>>(), [7, 0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn hosts_keep_their_place_while_they_have_bulk_flows() {
        let mut h = Hosts::new();
        let nine: Vec<usize> = (0..9)
            .map(|i| {
                let place = h.place(1024 * (i + 1));
                h.more(place as u16);
                place
            })
            .collect();
        assert_eq!(nine, [0, 1, 2, 3, 4, 5, 6, 7, 0], "the ninth shares a place");
        h.fewer(3);
        assert_eq!(h.place(1024 * 20), 3);
        assert_eq!(h.place(1024 * 20), 3);
    }
}
