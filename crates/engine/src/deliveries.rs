//! Packets that links have forwarded before their time, and that hosts and boundaries get when it has come.
//!
//! A wheel: time is cut into slots of equal width, and a slot holds its packets in no order until it is the next one; then
//! they are sorted. Putting a packet in and taking it out takes a few steps each, however many are under way. The few that
//! are due later than one turn of the wheel stand in a heap; when they become many, the slots are made wider.

use crosswind_base::{PacketId, Time, prefetch};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SLOTS: u64 = 2048;
const WORD: u64 = 64;
/// No packet.
const NONE: u32 = u32::MAX;
/// Packets due later than one turn, after which the slots become twice as wide.
const FAR_MAX: u32 = 64;

/// A packet that is due soon.
#[derive(Clone, Copy)]
struct Due {
    at: Time,
    link: u32,
    id: u32,
}

impl Due {
    #[inline]
    fn key(&self) -> (Time, u32) {
        (self.at, self.link)
    }
}

/// The slot that is loaded when nothing is: far from every other.
const EMPTY: u64 = 1 << 63;

/// Packets of one slot, in the order in which they came: as many as a cache line holds, since the walk along a slot waits
/// for each line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Chunk {
    due: [Due; Chunk::MOST],
    len: u32,
    /// The chunk that the slot had before it.
    before: u32,
}

impl Chunk {
    const MOST: usize = 3;

    fn held(&self) -> &[Due] {
        &self.due[..self.len as usize]
    }
}

const _: () = assert!(size_of::<Chunk>() == 64, "a chunk is a cache line");

const NOTHING: Due = Due { at: Time::NEVER, link: 0, id: NONE };

/// The order of the far ones: time, link, and the order in which they came.
type Far = Reverse<(Time, u32, u64, u32)>;

/// What waits for its time, in the order of time; at one instant links come in the order of their numbers, and each link keeps
/// its own order.
pub struct Deliveries {
    chunks: Vec<Chunk>,
    free: Vec<u32>,
    /// A chunk of the slot that will be loaded next, or of none.
    expected: u32,
    /// The last chunk, by slot.
    last: Box<[u32; SLOTS as usize]>,
    /// Which slots hold something, and which words of that do.
    filled: [u64; (SLOTS / WORD) as usize],
    words: u32,
    far: BinaryHeap<Far>,
    far_came: u64,
    far_since: u32,
    /// The first of all, unless `first.at` is never.
    first: Due,
    /// All others that are due no later than the end of the slot `loaded`, in order, from `next` on.
    near: Vec<Due>,
    next: usize,
    /// Number of a slot, counted from the beginning of time.
    loaded: u64,
    /// Width of a slot: this many bits of a time.
    width_bits: u32,
}

impl Default for Deliveries {
    fn default() -> Deliveries {
        Deliveries {
            chunks: Vec::new(),
            free: Vec::new(),
            expected: NONE,
            last: Box::new([NONE; SLOTS as usize]),
            filled: [0; (SLOTS / WORD) as usize],
            words: 0,
            far: BinaryHeap::new(),
            far_came: 0,
            far_since: 0,
            first: NOTHING,
            near: Vec::new(),
            next: 0,
            loaded: EMPTY,
            width_bits: 13,
        }
    }
}

impl Deliveries {
    /// When the first is due; [`Time::NEVER`] when there is none.
    #[inline]
    pub fn first_at(&self) -> Time {
        self.first.at
    }

    /// The link that the first comes from.
    #[inline]
    pub fn first_link(&self) -> u32 {
        self.first.link
    }

    /// A packet from `link` is due at `at`.
    #[inline]
    pub fn push(&mut self, at: Time, link: u32, id: PacketId) {
        let slot = at.0 >> self.width_bits;
        let ahead = slot.wrapping_sub(self.loaded);
        if ahead.wrapping_sub(1) < SLOTS - 1 {
            self.hold(slot, Due { at, link, id: id.0 });
        } else {
            self.push_elsewhere(slot, Due { at, link, id: id.0 });
        }
    }

    /// Into a slot behind the one that is loaded, less than one turn away.
    #[inline]
    fn hold(&mut self, slot: u64, due: Due) {
        let place = (slot % SLOTS) as usize;
        let before = self.last[place];
        match self.chunks.get_mut(before as usize) {
            Some(c) if (c.len as usize) < Chunk::MOST => {
                c.due[c.len as usize] = due;
                c.len += 1;
            }
            _ => self.begin_chunk(place, before, due),
        }
    }

    #[inline]
    fn begin_chunk(&mut self, place: usize, before: u32, due: Due) {
        let new = Chunk { due: [due, NOTHING, NOTHING], len: 1, before };
        self.last[place] = match self.free.pop() {
            Some(i) => {
                self.chunks[i as usize] = new;
                i
            }
            None => {
                self.chunks.push(new);
                self.chunks.len() as u32 - 1
            }
        };
        if before == NONE {
            let word = place / WORD as usize;
            self.filled[word] |= 1 << (place as u64 % WORD);
            self.words |= 1 << word;
        }
    }

    /// It is the only one, or due early or late.
    #[inline(never)]
    fn push_elsewhere(&mut self, slot: u64, due: Due) {
        if self.first.at == Time::NEVER {
            (self.first, self.loaded) = (due, slot);
        } else if due.key() < self.first.key() {
            self.near.insert(self.next, self.first);
            self.first = due;
        } else if slot.wrapping_sub(self.loaded) as i64 <= 0 {
            let behind = self.near[self.next..].iter().rposition(|d| d.key() <= due.key());
            self.near.insert(self.next + behind.map_or(0, |i| i + 1), due);
        } else {
            self.far.push(Reverse((due.at, due.link, self.far_came, due.id)));
            self.far_came += 1;
            self.far_since += 1;
            if self.far_since > FAR_MAX {
                self.widen();
            }
        }
    }

    /// Takes out the first. There is one.
    #[inline]
    pub fn pop(&mut self) -> PacketId {
        let id = self.first.id;
        match self.near.get(self.next) {
            Some(d) => {
                self.first = *d;
                self.next += 1;
                if let Some(c) = self.chunks.get(self.expected as usize) {
                    self.expect(c.before);
                }
            }
            None => self.load(),
        }
        PacketId(id)
    }

    /// The first of those that will be due.
    #[inline]
    pub fn first(&self) -> PacketId {
        PacketId(self.first.id)
    }

    /// The packet that comes `ahead` packets after the first, if that is known.
    #[inline]
    pub fn behind_first(&self, ahead: usize) -> Option<PacketId> {
        self.near.get(self.next + ahead - 1).map(|d| PacketId(d.id))
    }

    /// Sorts the packets of the next slot that has some.
    #[inline]
    fn load(&mut self) {
        (self.first, self.next) = (NOTHING, 0);
        self.near.clear();
        if !self.far.is_empty() {
            return self.load_any();
        }
        if self.words == 0 {
            self.loaded = EMPTY;
            return;
        }
        self.loaded = self.next_filled();
        let last = self.empty_slot(self.loaded);
        let chunk = &self.chunks[last as usize];
        match *chunk.held() {
            [only] if chunk.before == NONE => {
                self.free.push(last);
                self.first = only;
            }
            [a, b] if chunk.before == NONE => {
                self.free.push(last);
                let in_order = a.key() <= b.key();
                self.first = if in_order { a } else { b };
                self.near.push(if in_order { b } else { a });
            }
            _ => self.sort_slot(last),
        }
        let next = if self.words == 0 { NONE } else { self.last[(self.next_filled() % SLOTS) as usize] };
        self.expect(next);
    }

    /// A chunk of the next slot will be wanted soon. One more of them with every packet that is taken out: the walk along a
    /// slot would wait for each.
    #[inline]
    fn expect(&mut self, chunk: u32) {
        self.expected = chunk;
        if let Some(c) = self.chunks.get(chunk as usize) {
            prefetch(c);
        }
    }

    /// The last chunk of a slot; the slot forgets it.
    #[inline]
    fn empty_slot(&mut self, slot: u64) -> u32 {
        let place = (slot % SLOTS) as usize;
        let word = place / WORD as usize;
        self.filled[word] &= !(1 << (place as u64 % WORD));
        if self.filled[word] == 0 {
            self.words &= !(1 << word);
        }
        std::mem::replace(&mut self.last[place], NONE)
    }

    /// Orders the packets of a slot.
    #[inline(never)]
    fn sort_slot(&mut self, last: u32) {
        self.list(last);
        self.near.reverse();
        // Stable: each link keeps its order.
        self.near.sort_by_key(Due::key);
        (self.first, self.next) = (self.near[0], 1);
    }

    /// Lists the packets of a slot, the last to come first.
    #[inline]
    fn list(&mut self, mut chunk: u32) {
        while chunk != NONE {
            let c = &self.chunks[chunk as usize];
            self.near.extend(c.held().iter().rev());
            self.free.push(chunk);
            chunk = c.before;
        }
    }

    /// The same where some are far: those came when their slot was, so they go before the others of their link.
    #[cold]
    fn load_any(&mut self) {
        let of_wheel = if self.words == 0 { u64::MAX } else { self.next_filled() };
        let of_heap = self.far.peek().map_or(u64::MAX, |f| f.0.0.0 >> self.width_bits);
        self.loaded = of_wheel.min(of_heap);
        if of_wheel == self.loaded {
            let id = self.empty_slot(self.loaded);
            self.list(id);
            self.near.reverse();
        }
        let far: Vec<Due> = std::iter::from_fn(|| self.pop_far()).collect();
        self.near.splice(0..0, far);
        self.near.sort_by_key(Due::key);
        (self.first, self.next) = (self.near[0], 1);
    }

    /// The first of the far ones, if it is due by the end of the slot that is loaded.
    fn pop_far(&mut self) -> Option<Due> {
        let Reverse((at, link, _, id)) = *self.far.peek()?;
        if at.0 >> self.width_bits > self.loaded {
            return None;
        }
        self.far.pop();
        Some(Due { at, link, id })
    }

    /// The number of the next slot of the wheel that holds something. There is one.
    #[inline]
    fn next_filled(&self) -> u64 {
        let from = self.loaded + 1;
        let (word, bit) = ((from % SLOTS / WORD) as u32, from % WORD);
        let here = self.filled[word as usize] >> bit;
        if here != 0 {
            return from + u64::from(here.trailing_zeros());
        }
        // The words behind this one, in the order of the turn; this one comes last, with what lies before `from`.
        let words = self.words.rotate_right((word + 1) % u32::BITS).trailing_zeros() + 1;
        let there = self.filled[((word + words) % u32::BITS) as usize];
        from + u64::from(words) * WORD + u64::from(there.trailing_zeros()) - bit
    }

    /// Makes the slots twice as wide: too much is due later than one turn.
    #[cold]
    fn widen(&mut self) {
        let (near, loaded) = (std::mem::take(&mut self.near), self.loaded);
        while self.words != 0 {
            self.loaded = self.next_filled();
            let (id, from) = (self.empty_slot(self.loaded), self.near.len());
            self.list(id);
            self.near[from..].reverse();
        }
        let all = std::mem::replace(&mut self.near, near);
        self.expected = NONE;
        self.width_bits += 1;
        self.loaded = loaded >> 1;
        self.far_since = 0;
        // What was far has come nearer meanwhile, and some of it may lie in the slot that is loaded now.
        while let Some(d) = self.pop_far() {
            self.push(d.at, d.link, PacketId(d.id));
        }
        for d in all {
            self.push(d.at, d.link, PacketId(d.id));
        }
    }
}

const _: () = assert!(SLOTS / WORD == u32::BITS as u64, "one word says which words hold something");

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use std::collections::BTreeSet;

    /// What comes out, against a sorted set; `lead` draws how far ahead a packet is due.
    fn compare(seed: u64, lead: impl Fn(&mut crosswind_base::Rng) -> u64) -> u32 {
        let mut rng = Streams::new(seed).named("deliveries");
        let (mut wheel, mut model) = (Deliveries::default(), BTreeSet::new());
        let (mut now, mut free, mut came) = (0, Vec::new(), 0_u64);
        for n in 0..40_000 {
            if rng.chance(if n % 8_000 < 4_000 { 0.6 } else { 0.4 }) {
                let link = rng.below(5) as u32;
                let id = free.pop().unwrap_or(n);
                let at = Time(now + lead(&mut rng));
                wheel.push(at, link, PacketId(id));
                model.insert((at, link, came, id));
                came += 1;
            } else if let Some((at, link, _, id)) = model.pop_first() {
                assert_eq!((wheel.first_at(), wheel.first_link()), (at, link));
                assert_eq!(wheel.pop(), PacketId(id));
                free.push(id);
                now = at.0;
            }
            assert_eq!(wheel.first_at(), model.first().map_or(Time::NEVER, |m| m.0));
        }
        while let Some((_, _, _, id)) = model.pop_first() {
            assert_eq!(wheel.pop(), PacketId(id));
        }
        assert_eq!(wheel.first_at(), Time::NEVER);
        wheel.width_bits
    }

    #[test]
    fn packets_come_out_by_time_then_line_then_order_of_coming() {
        // Many at one instant; close together; over several turns.
        compare(1, |rng| rng.below(3) * 5_000);
        compare(2, |rng| rng.below(1 << 16));
        compare(3, |rng| rng.below(1 << 23));
    }

    #[test]
    fn bursts_on_lines_of_different_lengths_keep_their_order() {
        for seed in 0..200 {
            let mut rng = Streams::new(seed).named("bursts");
            let leads: Vec<u64> = (0..4).map(|_| 1 << (12 + rng.below(18))).collect();
            let (mut wheel, mut model) = (Deliveries::default(), BTreeSet::new());
            let mut now = 0;
            for id in 0..600 {
                let link = rng.below(4) as u32;
                now += rng.below(2_000);
                let at = Time(now + leads[link as usize]);
                wheel.push(at, link, PacketId(id));
                model.insert((at, link, id));
                while let Some(&(at, link, id)) = model.first().filter(|m| m.0.0 <= now) {
                    assert_eq!((wheel.first_at(), wheel.first_link()), (at, link), "seed {seed}");
                    assert_eq!(wheel.pop(), PacketId(id));
                    model.pop_first();
                }
                // A pause now and then, until the next is due.
                if rng.chance(0.02) {
                    now = model.first().map_or(now, |m| m.0.0);
                }
            }
            while let Some((at, _, id)) = model.pop_first() {
                assert_eq!((wheel.first_at(), wheel.pop()), (at, PacketId(id)), "seed {seed}");
            }
        }
    }

    #[test]
    fn slots_become_wider_when_much_is_due_late() {
        let narrow = compare(4, |rng| rng.below(1 << 20));
        let wide = compare(5, |rng| if rng.chance(0.5) { rng.below(1 << 14) } else { rng.below(1 << 32) });
        assert!(narrow == 13 && wide > 18, "{narrow} {wide}");
        compare(6, |rng| if rng.chance(0.01) { 1 << 40 } else { rng.below(1 << 15) });
    }
}
