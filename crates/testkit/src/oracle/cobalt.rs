//! COBALT as the kernel and ns-3 have it: plain whole numbers of nanoseconds, signed, and roots by Newton steps made when asked for.

use super::codel::{Taken, Waiting};
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone)]
pub struct Cobalt {
    pub target: i128,
    pub interval: i128,
    pub ecn: bool,
    pub p_inc: u64,
    pub p_dec: u64,
    /// ns-3: a sojourn above it raises the probability.
    pub blue_threshold: Option<i128>,
    /// ns-3: a sojourn above it is marked, of `l4s` packets where there are any.
    pub ce_threshold: Option<i128>,
    pub l4s: bool,
    /// Those that came with ECT(1), by their numbers.
    pub scalable: BTreeSet<u64>,
    /// The last packet of the queue is never dropped.
    pub spares_last: bool,
    pub count: u64,
    pub rec_inv_sqrt: u64,
    pub dropping: bool,
    pub drop_next: i128,
    pub p_drop: u64,
    pub blue_timer: i128,
}

const ALL_ONES: u64 = 0xffff_ffff;

fn one_step(r: u64, count: u64) -> u64 {
    let r2 = r * r / (1 << 32);
    let v = (3 * (1u128 << 32) + (1u128 << 64) - u128::from(count * r2)) % (1 << 64);
    let v = v / 4 * u128::from(r) % (1 << 64);
    ((v >> 31) as u64) & ALL_ONES
}

/// The table of the first sixteen, made afresh.
pub fn cached(count: u64) -> u64 {
    let mut r = ALL_ONES;
    for c in 1..=count {
        for _ in 0..4 {
            r = one_step(r, c);
        }
    }
    r
}

impl Cobalt {
    pub fn linux(target_ns: u64, interval_ns: u64, ecn: bool) -> Cobalt {
        Cobalt {
            target: target_ns.into(),
            interval: interval_ns.into(),
            ecn,
            p_inc: 1 << 24,
            p_dec: 1 << 20,
            blue_threshold: None,
            ce_threshold: None,
            l4s: false,
            scalable: BTreeSet::new(),
            spares_last: true,
            count: 0,
            rec_inv_sqrt: 0,
            dropping: false,
            drop_next: 0,
            p_drop: 0,
            blue_timer: -1 << 60,
        }
    }
    pub fn ns3(target_ns: u64, interval_ns: u64, ecn: bool) -> Cobalt {
        Cobalt {
            blue_threshold: Some(400_000_000),
            spares_last: false,
            rec_inv_sqrt: ALL_ONES,
            ..Cobalt::linux(target_ns, interval_ns, ecn)
        }
    }

    fn inv_sqrt(&mut self) {
        self.rec_inv_sqrt = if self.count < 16 { cached(self.count) } else { one_step(self.rec_inv_sqrt, self.count) };
    }
    fn control(&self, t: i128) -> i128 {
        t + ((self.interval * i128::from(self.rec_inv_sqrt)) >> 32)
    }

    pub fn queue_full(&mut self, now: u64) {
        let now = i128::from(now);
        if now - self.blue_timer > self.target {
            self.p_drop = (self.p_drop + self.p_inc).min(ALL_ONES);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    pub fn queue_empty(&mut self, now: u64) {
        let now = i128::from(now);
        if self.p_drop != 0 && now - self.blue_timer > self.target {
            self.p_drop = self.p_drop.saturating_sub(self.p_dec);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count != 0 && now - self.drop_next >= 0 {
            self.count -= 1;
            self.inv_sqrt();
            self.drop_next = self.control(self.drop_next);
        }
    }

    /// Whether it is dropped, and whether it was marked. A sojourn of no more than `least` is not above the target.
    pub fn should_drop_after(
        &mut self,
        p: &Waiting,
        now: u64,
        least: i128,
        random32: &mut dyn FnMut() -> u32,
    ) -> (bool, bool) {
        let now = i128::from(now);
        let sojourn = now - i128::from(p.since_ns);
        let mut schedule = now - self.drop_next;
        let over_target = sojourn > self.target && sojourn > least;
        let mut next_due = self.count != 0 && schedule >= 0;
        let (mut drop, mut marked) = (false, false);
        let is_long = self.ce_threshold.is_some_and(|t| sojourn > t);
        if self.l4s && self.scalable.contains(&p.seq) {
            return (false, is_long);
        }
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else if self.dropping {
            self.dropping = false;
        }
        if next_due && self.dropping {
            marked = self.ecn && p.is_capable;
            drop = !marked;
            self.count = (self.count + 1).min(ALL_ONES);
            self.inv_sqrt();
            self.drop_next = self.control(self.drop_next);
            schedule = now - self.drop_next;
        } else {
            while next_due {
                self.count -= 1;
                self.inv_sqrt();
                self.drop_next = self.control(self.drop_next);
                schedule = now - self.drop_next;
                next_due = self.count != 0 && schedule >= 0;
            }
        }
        if !marked && !self.l4s && is_long && self.ecn && p.is_capable {
            marked = true;
        }
        if self.blue_threshold.is_some_and(|t| sojourn > t) && now - self.blue_timer > self.target {
            self.p_drop = (self.p_drop + self.p_inc).min(ALL_ONES);
            self.blue_timer = now;
        }
        if self.p_drop != 0 && u64::from(random32()) < self.p_drop {
            drop = true;
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if schedule > 0 && !drop {
            self.drop_next = now;
        }
        (drop, marked)
    }

    /// One call. A queue that is left empty is asked again at once.
    pub fn dequeue(&mut self, now: u64, queue: &mut VecDeque<Waiting>, random32: &mut dyn FnMut() -> u32) -> Taken {
        let mut r = Taken::default();
        while let Some(p) = queue.pop_front() {
            let (drop, marked) = self.should_drop_after(&p, now, 0, random32);
            if marked {
                r.marked.push(p.seq);
            }
            if drop && !(self.spares_last && queue.is_empty()) {
                r.dropped.push(p.seq);
            } else {
                r.out = Some(p.seq);
                break;
            }
        }
        if queue.is_empty() {
            self.queue_empty(now);
        }
        r
    }
}
