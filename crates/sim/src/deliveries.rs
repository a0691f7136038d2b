//! Packets that lines have handed over before their time, and that hosts and edges get when it has come.
//!
//! A wheel: time is cut into slots of equal width, and a slot holds its packets in no order until it is the next one; then
//! they are sorted. Putting a packet in and taking it out takes a few steps each, however many are under way. The few that
//! are due later than one turn of the wheel stand in a heap; when they become many, the slots are made wider.

use crosswind_base::{PacketId, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SLOTS: u64 = 2048;
const WORD: u64 = 64;
/// No packet.
const NONE: u32 = u32::MAX;
/// Packets due later than one turn, after which the slots become twice as wide.
const FAR_MAX: u32 = 64;

/// A packet in its slot; one for each number that a packet may have.
#[derive(Clone, Copy)]
struct Held {
    at: Time,
    line: u32,
    /// The one that came to the slot before it.
    before: u32,
}

/// A packet that is due soon.
#[derive(Clone, Copy)]
struct Due {
    at: Time,
    line: u32,
    id: u32,
}

impl Due {
    #[inline]
    fn key(&self) -> (Time, u32) {
        (self.at, self.line)
    }
}

/// The slot that is loaded when nothing is: far from every other.
const EMPTY: u64 = 1 << 63;

const NOTHING: Due = Due { at: Time::NEVER, line: 0, id: NONE };

/// The order of the far ones: time, line, and the order in which they came.
type Far = Reverse<(Time, u32, u64, u32)>;

/// What waits for its time, in the order of time; at one instant lines come in the order of their numbers, and each line keeps
/// its own order.
pub struct Deliveries {
    held: Vec<Held>,
    /// The last to come, by slot.
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
            held: Vec::new(),
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

    /// The line that the first comes from.
    #[inline]
    pub fn first_line(&self) -> u32 {
        self.first.line
    }

    /// A packet from `line` is due at `at`.
    #[inline]
    pub fn push(&mut self, at: Time, line: u32, id: PacketId) {
        let slot = at.0 >> self.width_bits;
        let ahead = slot.wrapping_sub(self.loaded);
        if ahead.wrapping_sub(1) < SLOTS - 1 {
            self.hold(slot, Due { at, line, id: id.0 });
        } else {
            self.push_elsewhere(slot, Due { at, line, id: id.0 });
        }
    }

    /// Into a slot behind the one that is loaded, less than one turn away.
    #[inline]
    fn hold(&mut self, slot: u64, Due { at, line, id }: Due) {
        if id as usize >= self.held.len() {
            self.make_room(id);
        }
        let place = (slot % SLOTS) as usize;
        let before = std::mem::replace(&mut self.last[place], id);
        self.held[id as usize] = Held { at, line, before };
        if before == NONE {
            let word = place / WORD as usize;
            self.filled[word] |= 1 << (place as u64 % WORD);
            self.words |= 1 << word;
        }
    }

    #[cold]
    fn make_room(&mut self, id: u32) {
        let most = (id as usize + 1).next_power_of_two();
        self.held.resize(most, Held { at: Time::ZERO, line: 0, before: NONE });
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
            self.far.push(Reverse((due.at, due.line, self.far_came, due.id)));
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
            }
            None => self.load(),
        }
        PacketId(id)
    }

    /// The next two of those that will be due, as far as they are known: their memory will be wanted soon.
    #[inline]
    pub fn peek(&self) -> [PacketId; 2] {
        let second = self.near.get(self.next).map_or(NONE, |d| d.id);
        [PacketId(self.first.id), PacketId(second)]
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
        let id = self.empty_slot(self.loaded);
        let h = self.held[id as usize];
        self.first = Due { at: h.at, line: h.line, id };
        if h.before != NONE {
            self.load_several(h.before);
        }
    }

    /// The last packet that came to a slot; the slot forgets it.
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

    /// Adds those that came to the slot before the first.
    #[inline]
    fn load_several(&mut self, before: u32) {
        let h = self.held[before as usize];
        if h.before != NONE {
            return self.sort_slot(before);
        }
        let other = Due { at: h.at, line: h.line, id: before };
        let is_second = other.key() > self.first.key();
        self.near.push(if is_second { other } else { std::mem::replace(&mut self.first, other) });
    }

    /// Orders the packets of a slot; the last to come stands first.
    #[inline(never)]
    fn sort_slot(&mut self, before: u32) {
        self.near.push(self.first);
        self.list(before);
        self.near.reverse();
        // Stable: each line keeps its order.
        self.near.sort_by_key(Due::key);
        (self.first, self.next) = (self.near[0], 1);
    }

    /// Lists a packet of a slot and those that came before it.
    #[inline]
    fn list(&mut self, mut id: u32) {
        while id != NONE {
            let h = self.held[id as usize];
            self.near.push(Due { at: h.at, line: h.line, id });
            id = h.before;
        }
    }

    /// The same where some are far: those came when their slot was, so they go before the others of their line.
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
        let Reverse((at, line, _, id)) = *self.far.peek()?;
        if at.0 >> self.width_bits > self.loaded {
            return None;
        }
        self.far.pop();
        Some(Due { at, line, id })
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
        self.width_bits += 1;
        self.loaded = loaded >> 1;
        self.far_since = 0;
        // What was far has come nearer meanwhile, and some of it may lie in the slot that is loaded now.
        while let Some(d) = self.pop_far() {
            self.push(d.at, d.line, PacketId(d.id));
        }
        for d in all {
            self.push(d.at, d.line, PacketId(d.id));
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
                let line = rng.below(5) as u32;
                let id = free.pop().unwrap_or(n);
                let at = Time(now + lead(&mut rng));
                wheel.push(at, line, PacketId(id));
                model.insert((at, line, came, id));
                came += 1;
            } else if let Some((at, line, _, id)) = model.pop_first() {
                assert_eq!((wheel.first_at(), wheel.first_line()), (at, line));
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
                let line = rng.below(4) as u32;
                now += rng.below(2_000);
                let at = Time(now + leads[line as usize]);
                wheel.push(at, line, PacketId(id));
                model.insert((at, line, id));
                while let Some(&(at, line, id)) = model.first().filter(|m| m.0.0 <= now) {
                    assert_eq!((wheel.first_at(), wheel.first_line()), (at, line), "seed {seed}");
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
