//! Drop tail: a list of lengths.

use super::Decision;

/// How fullness is tested, spelled out.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    BytesWithArrival(u64),
    BytesWithoutArrival(u64),
    Packets(usize),
    /// `bfifo_enqueue` and `pfifo_enqueue` of Linux 2.4: what is held does not exceed the limit.
    HeldBytes(u64),
    HeldPackets(usize),
}

pub struct DropTail {
    rule: Rule,
    pub lengths: Vec<u64>,
}

impl DropTail {
    pub fn new(rule: Rule) -> DropTail {
        DropTail { rule, lengths: Vec::new() }
    }
    pub fn arrive(&mut self, len: u64) -> Decision {
        let held: u64 = self.lengths.iter().sum();
        let is_full = match self.rule {
            Rule::BytesWithArrival(limit) => held + len > limit,
            Rule::BytesWithoutArrival(limit) => held >= limit,
            Rule::Packets(limit) => self.lengths.len() >= limit,
            Rule::HeldBytes(limit) => held > limit,
            Rule::HeldPackets(limit) => self.lengths.len() > limit,
        };
        if is_full {
            return Decision::DropFull;
        }
        self.lengths.push(len);
        Decision::Admit
    }
    pub fn depart(&mut self) -> Option<u64> {
        if self.lengths.is_empty() { None } else { Some(self.lengths.remove(0)) }
    }
}
