//! The fair queue with pacing, one step after the other, with plain lists of flows and a sorted list of those that are held back.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub struct Waits {
    pub seq: u64,
    pub len: u64,
    pub at_ns: u64,
    pub is_capable: bool,
    pub band: usize,
    /// Bytes a second; `None`: no rate of its own.
    pub rate: Option<u64>,
}

#[derive(Default)]
pub struct Flow {
    pub packets: VecDeque<Waits>,
    pub is_known: bool,
    credit: i64,
    band: usize,
    is_detached: bool,
    age_ns: u64,
    time_next_ns: u64,
}

pub struct Fq {
    pub flows: Vec<Flow>,
    new: [VecDeque<usize>; 3],
    old: [VecDeque<usize>; 3],
    credit: [i64; 3],
    band: usize,
    delayed: Vec<(u64, usize)>,
    pub quantum: i64,
    pub initial_quantum: i64,
    pub band_limit: usize,
    pub flow_limit: usize,
    pub max_rate: Option<u64>,
    pub slow_rate: u64,
    pub ce_threshold_ns: Option<u64>,
}

const WEIGHTS: [i64; 3] = [589_824, 196_608, 65_536];
const REFILL_NS: u64 = 40_000_000;
const SECOND: u64 = 1_000_000_000;

impl Fq {
    pub fn new(flows: usize) -> Fq {
        Fq {
            flows: (0..flows).map(|_| Flow::default()).collect(),
            new: Default::default(),
            old: Default::default(),
            credit: [0; 3],
            band: 0,
            delayed: Vec::new(),
            quantum: 3028,
            initial_quantum: 15_140,
            band_limit: 10_000,
            flow_limit: 100,
            max_rate: None,
            slow_rate: 68_750,
            ce_threshold_ns: None,
        }
    }

    pub fn held(&self) -> usize {
        self.flows.iter().map(|f| f.packets.len()).sum()
    }

    /// Whether it was let in.
    pub fn enqueue(&mut self, i: usize, p: Waits) -> bool {
        let in_band = self.flows.iter().flat_map(|f| &f.packets).filter(|w| w.band == p.band).count();
        if in_band >= self.band_limit {
            return false;
        }
        let f = &mut self.flows[i];
        if !f.is_known {
            (f.is_known, f.is_detached, f.age_ns, f.credit) = (true, true, p.at_ns, self.initial_quantum);
        }
        if f.packets.len() >= self.flow_limit {
            return false;
        }
        if f.is_detached {
            self.new[f.band].push_back(i);
            f.is_detached = false;
            if p.at_ns > f.age_ns + REFILL_NS && f.credit < self.quantum {
                f.credit = self.quantum;
            }
        }
        f.band = p.band;
        f.packets.push_back(p);
        true
    }

    /// When the first flow that is held back may go on.
    pub fn wake(&self) -> Option<u64> {
        self.delayed.iter().map(|d| d.0).min()
    }

    /// Who leaves, and whether it is marked.
    pub fn dequeue(&mut self, now: u64) -> Option<(u64, bool)> {
        if self.held() == 0 {
            return None;
        }
        // A stable sort keeps those of one time in the order in which they came.
        self.delayed.sort_by_key(|d| d.0);
        while self.delayed.first().is_some_and(|d| d.0 <= now) {
            let (_, i) = self.delayed.remove(0);
            self.old[self.flows[i].band].push_back(i);
        }
        let mut retry = 0;
        'begin: loop {
            let b = self.band;
            let is_new = !self.new[b].is_empty();
            if self.credit[b] <= 0 || (!is_new && self.old[b].is_empty()) {
                loop {
                    retry += 1;
                    if retry > 3 {
                        return None;
                    }
                    self.band = (self.band + 1) % 3;
                    let w = WEIGHTS[self.band];
                    self.credit[self.band] = i64::min(self.credit[self.band] + w, w);
                    if self.credit[self.band] > 0 {
                        continue 'begin;
                    }
                    retry = 0;
                }
            }
            retry = 0;
            let list = if is_new { &mut self.new[b] } else { &mut self.old[b] };
            let i = list[0];
            let f = &mut self.flows[i];
            if f.credit <= 0 {
                f.credit += self.quantum;
                list.pop_front();
                self.old[f.band].push_back(i);
                continue;
            }
            let Some(p) = f.packets.front().copied() else {
                list.pop_front();
                if is_new {
                    self.old[f.band].push_back(i);
                } else {
                    (f.is_detached, f.age_ns) = (true, now);
                }
                continue;
            };
            let departure = u64::max(p.at_ns, f.time_next_ns);
            if now < departure {
                list.pop_front();
                f.time_next_ns = departure;
                self.delayed.push((departure, i));
                continue;
            }
            f.packets.pop_front();
            let is_marked = p.is_capable && self.ce_threshold_ns.is_some_and(|t| now - departure > t);
            f.credit -= p.len as i64;
            self.credit[b] -= p.len as i64;
            self.pace(i, &p, now);
            return Some((p.seq, is_marked));
        }
    }

    fn pace(&mut self, i: usize, p: &Waits, now: u64) {
        let rate = match (p.rate, self.max_rate) {
            (None, None) => return,
            (Some(a), Some(b)) => u64::min(a, b),
            (a, b) => a.or(b).unwrap(),
        };
        let f = &mut self.flows[i];
        let mut bytes = p.len;
        if rate <= self.slow_rate {
            f.credit = 0;
        } else {
            bytes = u64::max(bytes, self.quantum as u64);
            if f.credit > 0 {
                return;
            }
        }
        let mut gap = bytes * SECOND / rate;
        if gap > SECOND {
            gap = SECOND;
        }
        if f.time_next_ns != 0 {
            gap -= u64::min(gap / 2, now - f.time_next_ns);
        }
        f.time_next_ns = now + gap;
    }
}
