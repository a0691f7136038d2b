//! FQ-PIE with a plain list of queues, each with the PIE of its own oracle, and two lists of their numbers.

use super::pie::{Fate, Pie};
use crosswind_base::Rng;
use std::collections::VecDeque;

pub struct Queue {
    pub packets: VecDeque<(u64, u64)>,
    pub pie: Pie,
    pub deficit: i64,
    pub is_listed: bool,
}

pub struct FqPie {
    pub queues: Vec<Queue>,
    new_list: VecDeque<usize>,
    old_list: VecDeque<usize>,
    pub quantum: i64,
    pub limit_packets: usize,
}

impl FqPie {
    pub fn new(pie: impl Fn() -> Pie, queues: usize, quantum: i64, limit_packets: usize) -> FqPie {
        let queue = || Queue { packets: VecDeque::new(), pie: pie(), deficit: 0, is_listed: false };
        let queues = (0..queues).map(|_| queue()).collect();
        FqPie { queues, new_list: VecDeque::new(), old_list: VecDeque::new(), quantum, limit_packets }
    }

    pub fn held(&self) -> usize {
        self.queues.iter().map(|q| q.packets.len()).sum()
    }

    /// To be called before anything that happens at `now`.
    fn timer(&mut self, now_ns: u64) {
        self.queues.iter_mut().for_each(|q| q.pie.timer(now_ns));
    }

    pub fn enqueue(&mut self, i: usize, packet: (u64, u64), now_ns: u64, is_capable: bool, rng: &mut Rng) -> Fate {
        self.timer(now_ns);
        let is_full = self.held() >= self.limit_packets;
        let q = &mut self.queues[i];
        if is_full {
            q.pie.refuse();
            return Fate::Full;
        }
        let fate = q.pie.enqueue(now_ns, packet.1, is_capable, rng);
        if fate == Fate::Dropped {
            return fate;
        }
        q.packets.push_back(packet);
        if !q.is_listed {
            (q.is_listed, q.deficit) = (true, self.quantum);
            self.new_list.push_back(i);
        }
        fate
    }

    pub fn dequeue(&mut self, now_ns: u64) -> Option<u64> {
        self.timer(now_ns);
        loop {
            let is_new = !self.new_list.is_empty();
            let list = if is_new { &mut self.new_list } else { &mut self.old_list };
            let i = list.pop_front()?;
            let q = &mut self.queues[i];
            if q.deficit <= 0 {
                q.deficit += self.quantum;
                self.old_list.push_back(i);
                continue;
            }
            if let Some((seq, len)) = q.packets.pop_front() {
                q.pie.dequeue(now_ns);
                q.deficit -= len as i64;
                list.push_front(i);
                return Some(seq);
            }
            if is_new && !self.old_list.is_empty() {
                self.old_list.push_back(i);
            } else {
                q.is_listed = false;
            }
        }
    }
}
