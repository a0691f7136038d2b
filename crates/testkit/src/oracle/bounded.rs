//! A bounded queue as a plain list, with every rule spelled out.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    Arrival,
    Oldest,
    Random,
}

/// What waits: (ordinal, length, time of arrival).
pub struct Bounded<'a> {
    pub packets_max: usize,
    pub bytes_max: u64,
    pub wait_max: u64,
    pub victim: Victim,
    pub list: Vec<(u64, u64, u64)>,
    pub dropped: Vec<u64>,
    /// A number below its argument.
    pub below: &'a mut dyn FnMut(u64) -> u64,
}

impl Bounded<'_> {
    fn expire(&mut self, now: u64) {
        while !self.list.is_empty() && self.list[0].2 + self.wait_max < now {
            self.dropped.push(self.list.remove(0).0);
        }
    }
    fn is_too_much(&self, len: u64) -> bool {
        let bytes: u64 = self.list.iter().map(|p| p.1).sum();
        self.list.len() + 1 > self.packets_max || bytes + len > self.bytes_max
    }
    pub fn arrive(&mut self, seq: u64, len: u64, now: u64) {
        self.expire(now);
        if len > self.bytes_max {
            self.dropped.push(seq);
            return;
        }
        while self.is_too_much(len) {
            let i = match self.victim {
                Victim::Arrival => {
                    self.dropped.push(seq);
                    return;
                }
                Victim::Oldest => 0,
                Victim::Random => (self.below)(self.list.len() as u64) as usize,
            };
            self.dropped.push(self.list.remove(i).0);
        }
        self.list.push((seq, len, now));
    }
    pub fn depart(&mut self, now: u64) -> Option<u64> {
        self.expire(now);
        if self.list.is_empty() { None } else { Some(self.list.remove(0).0) }
    }
}
