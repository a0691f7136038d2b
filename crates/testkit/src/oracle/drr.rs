//! Deficit round robin as its paper has it: lists of packets, and a list of the classes that hold some.

use std::collections::VecDeque;

/// Classes by number; a packet is its ordinal and its length.
pub struct Drr {
    pub quantum: Vec<i64>,
    pub limit: usize,
    queues: Vec<VecDeque<(u64, i64)>>,
    deficit: Vec<i64>,
    active: VecDeque<usize>,
}

impl Drr {
    pub fn new(quantum: &[i64], limit: usize) -> Drr {
        let n = quantum.len();
        Drr {
            quantum: quantum.to_vec(),
            limit,
            queues: vec![VecDeque::new(); n],
            deficit: vec![0; n],
            active: VecDeque::new(),
        }
    }
    /// Whether the packet was let in.
    pub fn enqueue(&mut self, class: usize, seq: u64, len: i64) -> bool {
        if self.queues[class].len() >= self.limit {
            return false;
        }
        self.queues[class].push_back((seq, len));
        if !self.active.contains(&class) {
            self.active.push_back(class);
            self.deficit[class] = self.quantum[class];
        }
        true
    }
    /// Takes packets out; the class keeps its turn.
    pub fn remove(&mut self, goes: impl Fn(u64) -> bool) {
        self.queues.iter_mut().for_each(|q| q.retain(|(seq, _)| !goes(*seq)));
    }
    pub fn dequeue(&mut self) -> Option<u64> {
        loop {
            let class = *self.active.front()?;
            // Only where packets were taken out of it.
            let Some((seq, len)) = self.queues[class].front().copied() else {
                self.active.pop_front();
                continue;
            };
            if len > self.deficit[class] {
                self.active.pop_front();
                self.active.push_back(class);
                self.deficit[class] += self.quantum[class];
                continue;
            }
            self.deficit[class] -= len;
            self.queues[class].pop_front();
            if self.queues[class].is_empty() {
                self.active.pop_front();
            }
            return Some(seq);
        }
    }
}
