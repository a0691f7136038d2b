//! FQ-CoDel with a plain list of queues and two lists of their numbers.

use super::codel::{Codel, Taken, Waiting};
use std::collections::VecDeque;

pub struct Queue<C> {
    pub packets: VecDeque<Waiting>,
    pub codel: C,
    pub deficit: i64,
    pub is_listed: bool,
}

pub struct FqCodel<C> {
    pub queues: Vec<Queue<C>>,
    pub new_list: VecDeque<usize>,
    pub old_list: VecDeque<usize>,
    pub quantum: i64,
    pub limit_packets: usize,
    pub memory_limit: u64,
    pub batch: usize,
    /// Half of the bytes is cut, and CoDel is told of all bytes; else half of the packets, and of its own bytes.
    pub is_linux: bool,
}

fn bytes(q: &VecDeque<Waiting>) -> u64 {
    q.iter().map(|p| p.len).sum()
}

impl<C: Codel + Clone> FqCodel<C> {
    pub fn new(codel: &C, queues: usize) -> FqCodel<C> {
        let queue = || Queue { packets: VecDeque::new(), codel: codel.clone(), deficit: 0, is_listed: false };
        FqCodel {
            queues: (0..queues).map(|_| queue()).collect(),
            new_list: VecDeque::new(),
            old_list: VecDeque::new(),
            quantum: 1514,
            limit_packets: 10_240,
            memory_limit: 32 << 20,
            batch: 64,
            is_linux: true,
        }
    }

    pub fn held(&self) -> (usize, u64) {
        (self.queues.iter().map(|q| q.packets.len()).sum(), self.queues.iter().map(|q| bytes(&q.packets)).sum())
    }

    /// Who is dropped.
    pub fn enqueue(&mut self, i: usize, p: Waiting) -> Vec<u64> {
        self.queues[i].packets.push_back(p);
        if !self.queues[i].is_listed {
            self.queues[i].is_listed = true;
            self.queues[i].deficit = self.quantum;
            self.new_list.push_back(i);
        }
        let (packets, all) = self.held();
        if packets <= self.limit_packets && all <= self.memory_limit {
            return Vec::new();
        }
        let mut fattest = 0;
        for (k, q) in self.queues.iter().enumerate() {
            if bytes(&q.packets) > bytes(&self.queues[fattest].packets) {
                fattest = k;
            }
        }
        let q = &mut self.queues[fattest];
        let (had_bytes, had_packets) = (bytes(&q.packets), q.packets.len());
        let (mut gone, mut gone_bytes) = (Vec::new(), 0);
        loop {
            let p = q.packets.pop_front().unwrap();
            gone.push(p.seq);
            gone_bytes += p.len;
            let is_enough = if self.is_linux { gone_bytes >= had_bytes / 2 } else { gone.len() >= had_packets / 2 };
            if gone.len() >= self.batch || is_enough {
                break;
            }
        }
        q.codel.add_to_count(gone.len() as u64);
        gone
    }

    pub fn dequeue(&mut self, now_ns: u64) -> Taken {
        let mut all = Taken::default();
        loop {
            let is_new = !self.new_list.is_empty();
            let list = if is_new { &mut self.new_list } else { &mut self.old_list };
            let Some(&i) = list.front() else { return all };
            if self.queues[i].deficit <= 0 {
                self.queues[i].deficit += self.quantum;
                list.pop_front();
                self.old_list.push_back(i);
                continue;
            }
            let beside = if self.is_linux { self.held().1 - bytes(&self.queues[i].packets) } else { 0 };
            let q = &mut self.queues[i];
            let lengths: Vec<(u64, u64)> = q.packets.iter().map(|p| (p.seq, p.len)).collect();
            let taken = q.codel.dequeue(now_ns, &mut q.packets, beside);
            all.marked.extend(taken.marked);
            all.dropped.extend(taken.dropped);
            if let Some(seq) = taken.out {
                q.deficit -= lengths.iter().find(|(s, _)| *s == seq).unwrap().1 as i64;
                all.out = Some(seq);
                return all;
            }
            if is_new {
                self.new_list.pop_front()
            } else {
                self.old_list.pop_front()
            };
            if is_new && !self.old_list.is_empty() {
                self.old_list.push_back(i);
            } else {
                self.queues[i].is_listed = false;
            }
        }
    }
}
