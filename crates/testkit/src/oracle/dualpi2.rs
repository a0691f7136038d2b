//! DualPI2 written from its two descriptions: the RFC's pseudo-code with all edge cases in real numbers, and the kernel's rules in
//! integers that never overflow, cut by hand where the kernel cuts.

use super::pi2::Fate;
use crosswind_base::Rng;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: u64,
    number: u64,
    len: u64,
    ecn: u8,
    apply_step: bool,
}

/// Things that happened to packets, in order.
pub type Events = Vec<(u64, Fate)>;

/// Two queues.
pub struct DualPi2 {
    pub is_linux: bool,
    pub limit_packets: usize,
    pub drop_early: bool,
    pub drop_overload: bool,
    pub min_qlen_step: usize,
    /// Nanoseconds.
    pub step_ns: u64,
    /// By time of arrival, with a handicap in ns, in place of shares.
    pub ts_fifo: Option<u64>,
    pub next_ns: u64,
    period_ns: u64,
    lq: VecDeque<Waiting>,
    cq: VecDeque<Waiting>,
    /// Real numbers.
    pub prob: f64,
    prevq: f64,
    lcount: f64,
    ccount: f64,
    /// Parts of 2^32 - 1.
    pub pi2_prob: i128,
    last_qdelay: i128,
    credit: i128,
}

const MAX_PROB: i128 = (1 << 32) - 1;

impl DualPi2 {
    pub fn new(is_linux: bool, limit_packets: usize) -> DualPi2 {
        let period_ns = if is_linux { 16_000_000 } else { 15_000_000 };
        let mut q = DualPi2 {
            is_linux,
            limit_packets,
            drop_early: false,
            drop_overload: true,
            min_qlen_step: 0,
            step_ns: if is_linux { 1_000_000 } else { 800_000 },
            ts_fifo: None,
            next_ns: period_ns,
            period_ns,
            lq: VecDeque::new(),
            cq: VecDeque::new(),
            prob: 0.0,
            prevq: 0.0,
            lcount: 0.0,
            ccount: 0.0,
            pi2_prob: 0,
            last_qdelay: 0,
            credit: 0,
        };
        q.reset_credit();
        q
    }

    fn reset_credit(&mut self) {
        self.credit = if self.is_linux { 1514 * (10 - 90) } else { 1500 * (4096 - 61_440) };
    }

    fn timer(&mut self, now_ns: u64) {
        while now_ns >= self.next_ns {
            let at = self.next_ns;
            let wait = |q: &VecDeque<Waiting>| q.front().map_or(0, |w| at - w.since);
            let q = u64::max(wait(&self.lq), wait(&self.cq));
            if self.is_linux {
                self.update_linux(q)
            } else {
                self.update_rfc(q as f64 / 1e9)
            }
            self.next_ns += self.period_ns;
        }
    }

    fn update_rfc(&mut self, curq: f64) {
        self.prob += 0.15 * (curq - 0.015) + 3.0 * (curq - self.prevq);
        self.prob = self.prob.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    /// One update of the kernel.
    pub fn update_linux(&mut self, qdelay_ns: u64) {
        let qdelay = i128::from(qdelay_ns);
        let delta = (qdelay - 15_000_000) * 44 + (qdelay - self.last_qdelay) * 879;
        self.last_qdelay = qdelay;
        let cut = |x: i128| (x / 64) % (MAX_PROB + 1);
        let mut new = if delta > 0 {
            let sum = (cut(delta) + self.pi2_prob) % (MAX_PROB + 1);
            if sum < self.pi2_prob { MAX_PROB } else { sum }
        } else {
            let rest = (self.pi2_prob - cut(-delta)).rem_euclid(MAX_PROB + 1);
            if rest > self.pi2_prob { 0 } else { rest }
        };
        if !self.drop_overload {
            new = i128::min(new, MAX_PROB / 2);
        }
        self.pi2_prob = new;
    }

    fn backlog(&self) -> u64 {
        self.lq.iter().chain(&self.cq).map(|w| w.len).sum()
    }

    /// Whether the kernel's law marks or drops a packet of this field, or neither.
    fn must_drop(&self, ecn: u8, rng: &mut Rng) -> Fate {
        let mut roll = |p: i128| i128::from(rng.bits() >> 32) <= p;
        let p = self.pi2_prob;
        if self.backlog() < 2 * 1514 {
            return Fate::Untouched;
        }
        let (local, overload) = (2 * p, 2 * p > MAX_PROB);
        if ecn % 2 == 0 {
            let both = roll(p) && roll(p);
            return match both {
                false => Fate::Untouched,
                true if overload || ecn == 0 => Fate::Dropped,
                true => Fate::Marked,
            };
        }
        if overload {
            if self.drop_overload && roll(p) && roll(p) { Fate::Dropped } else { Fate::Marked }
        } else if roll(local) {
            Fate::Marked
        } else {
            Fate::Untouched
        }
    }

    pub fn enqueue(&mut self, now_ns: u64, number: u64, (len, ecn): (u64, u8), rng: &mut Rng) -> Events {
        self.timer(now_ns);
        if self.lq.is_empty() && self.cq.is_empty() {
            self.reset_credit();
        }
        if self.lq.len() + self.cq.len() >= self.limit_packets {
            return vec![(number, Fate::Full)];
        }
        let mut events = Events::new();
        let mut waiting = Waiting { since: now_ns, number, len, ecn, apply_step: true };
        if self.is_linux && self.drop_early {
            let fate = self.must_drop(ecn, rng);
            if fate != Fate::Untouched {
                events.push((number, fate));
            }
            if fate == Fate::Dropped {
                return events;
            }
            waiting.ecn = if fate == Fate::Marked { 3 } else { ecn };
        }
        // The field that chose the queue is that of the arrival.
        if ecn % 2 == 1 {
            waiting.apply_step = !self.is_linux || self.lq.len() >= self.min_qlen_step;
            self.lq.push_back(waiting);
        } else {
            self.cq.push_back(waiting);
        }
        events
    }

    fn takes_l(&self) -> bool {
        match (self.lq.front(), self.cq.front()) {
            (None, _) => false,
            (_, None) => true,
            (Some(l), Some(c)) => match self.ts_fifo {
                Some(shift) => c.since + shift >= l.since,
                None => self.credit <= 0,
            },
        }
    }

    /// What happened on the way, and who left.
    pub fn dequeue(&mut self, now_ns: u64, rng: &mut Rng) -> (Events, Option<u64>) {
        self.timer(now_ns);
        let mut events = Events::new();
        while !(self.lq.is_empty() && self.cq.is_empty()) {
            let both = !self.lq.is_empty() && !self.cq.is_empty();
            let is_l = self.takes_l();
            let w =
                if is_l { self.lq.pop_front() } else { self.cq.pop_front() }.expect("one was chosen that holds some");
            let fates =
                if self.is_linux { self.fates_linux(&w, is_l, now_ns, rng) } else { self.fates_rfc(&w, is_l, now_ns) };
            let is_gone = fates.contains(&Fate::Dropped);
            events.extend(fates.into_iter().filter(|f| *f != Fate::Untouched).map(|f| (w.number, f)));
            if is_gone {
                continue;
            }
            let (wc, wl) = if self.is_linux { (10, 90) } else { (4096, 61_440) };
            if both {
                self.credit += i128::from(w.len) * if is_l { wc } else { -wl };
            }
            return (events, Some(w.number));
        }
        self.reset_credit();
        (events, None)
    }

    fn fates_linux(&self, w: &Waiting, is_l: bool, now_ns: u64, rng: &mut Rng) -> Vec<Fate> {
        let mut fates = Vec::new();
        if !self.drop_early {
            // A Classic packet keeps its field, so the field still says which queue it was in.
            fates.push(self.must_drop(w.ecn, rng));
        }
        if !fates.contains(&Fate::Dropped) && is_l && w.apply_step && now_ns - w.since > self.step_ns {
            fates.push(Fate::Marked);
        }
        fates
    }

    fn fates_rfc(&mut self, w: &Waiting, is_l: bool, now_ns: u64) -> Vec<Fate> {
        fn recur(count: &mut f64, likelihood: f64) -> bool {
            *count += likelihood;
            if *count > 1.0 {
                *count -= 1.0;
                return true;
            }
            false
        }
        let (p_cl, p_c) = (2.0 * self.prob, self.prob * self.prob);
        let fate = if !is_l {
            if !recur(&mut self.ccount, p_c) {
                Fate::Untouched
            } else if w.ecn == 0 || p_c >= 0.25 {
                Fate::Dropped
            } else {
                Fate::Marked
            }
        } else if p_cl < 1.0 {
            let mut native = 0.0;
            if self.lq.len() > 1 {
                let q = now_ns - w.since;
                native = if q >= self.step_ns + 400_000 {
                    1.0
                } else if q > self.step_ns {
                    (q - self.step_ns) as f64 / 400_000.0
                } else {
                    0.0
                };
            }
            if recur(&mut self.lcount, f64::max(native, p_cl)) { Fate::Marked } else { Fate::Untouched }
        } else if recur(&mut self.lcount, p_c) {
            Fate::Dropped
        } else if recur(&mut self.lcount, 1.0) {
            Fate::Marked
        } else {
            Fate::Untouched
        };
        vec![fate]
    }
}
