//! CoDel as its pseudo-code has it: times are plain whole numbers (nanoseconds, or units of the kernel), and zero stands for none.

use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub seq: u64,
    pub len: u64,
    pub since_ns: u64,
    pub is_capable: bool,
}

/// What came out of one call.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Taken {
    pub out: Option<u64>,
    pub marked: Vec<u64>,
    pub dropped: Vec<u64>,
}

pub trait Codel {
    /// `beside`: bytes that other queues hold.
    fn dequeue(&mut self, now_ns: u64, queue: &mut VecDeque<Waiting>, beside: u64) -> Taken;
    /// Others have dropped so many packets of this queue.
    fn add_to_count(&mut self, n: u64);
}

fn bytes(queue: &VecDeque<Waiting>) -> u64 {
    queue.iter().map(|p| p.len).sum()
}

/// As in the RFC, with real numbers.
#[derive(Clone)]
pub struct Rfc {
    pub target: f64,
    pub interval: f64,
    pub mtu: u64,
    pub ecn: bool,
    pub first_above_time: f64,
    pub drop_next: f64,
    pub count: u64,
    pub lastcount: u64,
    pub dropping: bool,
}

impl Rfc {
    pub fn new(target: f64, interval: f64, mtu: u64, ecn: bool) -> Rfc {
        Rfc {
            target,
            interval,
            mtu,
            ecn,
            first_above_time: 0.0,
            drop_next: 0.0,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }
    fn control_law(&self, t: f64) -> f64 {
        t + (self.interval / (self.count as f64).sqrt()).round()
    }
    fn dodequeue(&mut self, now: f64, queue: &mut VecDeque<Waiting>, beside: u64) -> (Option<Waiting>, bool) {
        let Some(p) = queue.pop_front() else {
            self.first_above_time = 0.0;
            return (None, false);
        };
        if now - (p.since_ns as f64) < self.target || bytes(queue) + beside <= self.mtu {
            self.first_above_time = 0.0;
            return (Some(p), false);
        }
        if self.first_above_time == 0.0 {
            self.first_above_time = now + self.interval;
            return (Some(p), false);
        }
        (Some(p), now >= self.first_above_time)
    }
    /// Marks it, or drops it; whether it was marked.
    fn signal(&self, p: Waiting, r: &mut Taken) -> bool {
        if self.ecn && p.is_capable {
            r.marked.push(p.seq);
            true
        } else {
            r.dropped.push(p.seq);
            false
        }
    }
}

impl Codel for Rfc {
    fn dequeue(&mut self, now_ns: u64, queue: &mut VecDeque<Waiting>, beside: u64) -> Taken {
        let now = now_ns as f64;
        let mut r = Taken::default();
        let (mut p, mut ok) = self.dodequeue(now, queue, beside);
        if self.dropping {
            if !ok {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                let was_marked = self.signal(p.unwrap(), &mut r);
                self.count += 1;
                if was_marked {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                (p, ok) = self.dodequeue(now, queue, beside);
                if !ok {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok {
            if !self.signal(p.unwrap(), &mut r) {
                (p, _) = self.dodequeue(now, queue, beside);
            }
            self.dropping = true;
            let delta = self.count as i64 - self.lastcount as i64;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * self.interval {
                self.count = delta as u64;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        r.out = p.map(|p| p.seq);
        r
    }
    fn add_to_count(&mut self, n: u64) {
        self.count += n;
    }
}

/// As the kernel, with its integers.
#[derive(Clone)]
pub struct Linux {
    pub target: u32,
    pub interval: u32,
    pub mtu: u64,
    pub ecn: bool,
    pub first_above_time: u32,
    pub drop_next: u32,
    pub count: u32,
    pub lastcount: u32,
    pub rec_inv_sqrt: u16,
    pub dropping: bool,
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Linux {
    pub fn new(target: u32, interval: u32, mtu: u64, ecn: bool) -> Linux {
        Linux {
            target,
            interval,
            mtu,
            ecn,
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            rec_inv_sqrt: 0,
            dropping: false,
        }
    }
    fn newton(&mut self) {
        let x = (self.rec_inv_sqrt as u128) << 16;
        let x2 = (x * x) >> 32;
        let modulo = 1u128 << 64;
        let v = ((3u128 << 32) + modulo * 8 - self.count as u128 * x2) % modulo;
        let v = ((v >> 2) * x) % modulo;
        self.rec_inv_sqrt = ((v >> 31) >> 16) as u16;
    }
    fn control_law(&self, t: u32) -> u32 {
        let r = (self.rec_inv_sqrt as u64) << 16;
        t.wrapping_add(((self.interval as u64 * r) >> 32) as u32)
    }
    fn take(&mut self, now: u32, queue: &mut VecDeque<Waiting>, beside: u64) -> (Option<Waiting>, bool) {
        let p = queue.pop_front();
        let Some(w) = p else {
            self.first_above_time = 0;
            return (None, false);
        };
        let ldelay = now.wrapping_sub((w.since_ns >> 10) as u32);
        if before(ldelay, self.target) || bytes(queue) + beside <= self.mtu {
            self.first_above_time = 0;
            return (p, false);
        }
        let mut ok = false;
        if self.first_above_time == 0 {
            self.first_above_time = now.wrapping_add(self.interval);
        } else if before(self.first_above_time, now) {
            ok = true;
        }
        (p, ok)
    }
    fn signal(&self, p: Waiting, r: &mut Taken) -> bool {
        if self.ecn && p.is_capable {
            r.marked.push(p.seq);
            true
        } else {
            r.dropped.push(p.seq);
            false
        }
    }
}

impl Codel for Linux {
    fn dequeue(&mut self, now_ns: u64, queue: &mut VecDeque<Waiting>, beside: u64) -> Taken {
        let now = (now_ns >> 10) as u32;
        let mut r = Taken::default();
        let (mut p, mut drop) = self.take(now, queue, beside);
        if p.is_none() {
            self.dropping = false;
            return r;
        }
        if self.dropping {
            if !drop {
                self.dropping = false;
            } else {
                while self.dropping && !before(now, self.drop_next) {
                    self.count += 1;
                    self.newton();
                    if self.signal(p.unwrap(), &mut r) {
                        self.drop_next = self.control_law(self.drop_next);
                        break;
                    }
                    (p, drop) = self.take(now, queue, beside);
                    if !drop {
                        self.dropping = false;
                    } else {
                        self.drop_next = self.control_law(self.drop_next);
                    }
                }
            }
        } else if drop {
            if !self.signal(p.unwrap(), &mut r) {
                (p, _) = self.take(now, queue, beside);
            }
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.lastcount);
            if delta > 1 && before(now.wrapping_sub(self.drop_next), 16 * self.interval) {
                self.count = delta;
                self.newton();
            } else {
                self.count = 1;
                self.rec_inv_sqrt = 65_535;
            }
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
        }
        r.out = p.map(|p| p.seq);
        r
    }
    fn add_to_count(&mut self, n: u64) {
        self.count += n as u32;
    }
}
