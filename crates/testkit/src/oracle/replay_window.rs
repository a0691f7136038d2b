//! The far end of a tunnel as RFC 4303 section 3.4.3 describes it: a window of bits whose right edge is the highest number so far.

/// Who was seen, from the right edge of the window to its left one.
pub struct ReplayWindow {
    right: u64,
    seen: Vec<bool>,
}

impl ReplayWindow {
    /// Packets are numbered from 1.
    pub fn new(window: usize) -> ReplayWindow {
        ReplayWindow { right: 0, seen: vec![false; window] }
    }

    /// Whether the packet of this number is let in.
    pub fn receive(&mut self, number: u64) -> bool {
        while self.right < number {
            self.seen.pop();
            self.seen.insert(0, false);
            self.right += 1;
        }
        match self.seen.get_mut((self.right - number) as usize) {
            Some(bit) => !std::mem::replace(bit, true),
            None => false,
        }
    }
}
