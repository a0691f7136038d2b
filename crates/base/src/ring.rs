//! A first-in first-out ring whose size is a power of two: the queue under every queue and every line.

/// Grows when it is full, and never allocates otherwise.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Vec<T>,
    /// Counts every value ever taken out, modulo 2^32.
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { slots: Vec::new(), head: 0, len: 0 }
    }
}

const FIRST_SIZE: usize = 8;

impl<T: Copy> Ring<T> {
    pub fn new() -> Ring<T> {
        Ring::default()
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    #[inline]
    fn slot(&self, i: u32) -> usize {
        self.head.wrapping_add(i) as usize & self.slots.len().wrapping_sub(1)
    }
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len.wrapping_sub(1))
    }
    /// The value that will be taken out after `i` others.
    #[inline]
    pub fn get(&self, i: u32) -> Option<&T> {
        if i < self.len { self.slots.get(self.slot(i)) } else { None }
    }
    #[inline]
    pub fn push_back(&mut self, v: T) {
        if self.len as usize == self.slots.len() {
            self.grow(v);
        }
        let i = self.slot(self.len);
        self.slots[i] = v;
        self.len += 1;
    }
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let v = self.front().copied()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(v)
    }
    /// Puts a value in front of the one that now stands at `i`.
    pub fn insert(&mut self, i: u32, v: T) {
        assert!(i <= self.len, "position {i} of {}", self.len);
        self.push_back(v);
        for k in (i + 1..self.len).rev() {
            let (to, from) = (self.slot(k), self.slot(k - 1));
            self.slots[to] = self.slots[from];
        }
        let at = self.slot(i);
        self.slots[at] = v;
    }
    /// From front to back.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len).map(|i| &self.slots[self.slot(i)])
    }

    #[cold]
    fn grow(&mut self, filler: T) {
        let size = (self.slots.len() * 2).max(FIRST_SIZE);
        let mut slots = Vec::with_capacity(size);
        slots.extend(self.iter().copied());
        slots.resize(size, filler);
        (self.slots, self.head) = (slots, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn a_ring_does_what_a_deque_does() {
        let mut rng = crate::Streams::new(3).named("ring");
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        for step in 0..20_000_u64 {
            match rng.below(10) {
                0..=4 => {
                    ring.push_back(step);
                    model.push_back(step);
                }
                5 => {
                    let i = rng.below(model.len() as u64 + 1) as u32;
                    ring.insert(i, step);
                    model.insert(i as usize, step);
                }
                _ => assert_eq!(ring.pop_front(), model.pop_front()),
            }
            assert_eq!((ring.len(), ring.front(), ring.back()), (model.len(), model.front(), model.back()));
            assert_eq!(ring.get(2), model.get(2));
        }
        assert!(ring.iter().eq(model.iter()));
        assert!(ring.iter().rev().eq(model.iter().rev()));
    }
}
