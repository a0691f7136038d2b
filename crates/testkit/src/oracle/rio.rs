//! RIO on a plain list of packets: each colour recounts what its average is about whenever it needs it.

use super::Decision;
use crosswind_base::Rng;

#[derive(Clone, Copy, Debug)]
pub struct Red {
    pub min: f64,
    pub max: f64,
    pub p_max: f64,
    pub avg: f64,
    pub count: f64,
    pub is_old: bool,
    pub is_idle: bool,
    pub idle_from: f64,
}

impl Red {
    pub fn new(min: f64, max: f64, p_max: f64) -> Red {
        Red { min, max, p_max, avg: 0.0, count: 0.0, is_old: false, is_idle: true, idle_from: 0.0 }
    }
}

/// What an average is about: 0 coupled, 1 own, 2 total.
pub struct Rio {
    pub average: u8,
    /// The steps of ns-2's diffserv module instead of its RED.
    pub is_diffserv: bool,
    pub reds: Vec<Red>,
    pub limit: usize,
    pub w_q: f64,
    pub ptc: f64,
    pub bits_per_s: f64,
    /// Colour and length.
    pub queue: Vec<(usize, f64)>,
    pub line_free: f64,
    pub rng: Rng,
}

impl Rio {
    fn counts(&self, colour: usize, of: usize) -> bool {
        match self.average {
            0 => colour <= of,
            1 => colour == of,
            _ => true,
        }
    }

    fn len_of(&self, of: usize) -> f64 {
        self.queue.iter().filter(|p| self.counts(p.0, of)).count() as f64
    }

    fn estimate(&mut self, i: usize, now: f64) {
        let q = self.len_of(i);
        let r = &mut self.reds[i];
        let mut m = 1;
        if r.is_idle && now > r.idle_from {
            m += (self.ptc * (now - r.idle_from)) as u64;
        }
        if !self.is_diffserv {
            r.is_idle = false;
        }
        for _ in 0..m {
            r.avg *= 1.0 - self.w_q;
        }
        r.avg += self.w_q * q;
    }

    pub fn arrive(&mut self, now: f64, len: f64, colour: usize) -> Decision {
        if self.is_diffserv && self.queue.len() >= self.limit {
            return Decision::DropFull;
        }
        for i in 0..self.reds.len() {
            if self.counts(colour, i) {
                self.estimate(i, now);
            }
        }
        let decision = if self.is_diffserv { self.ask_diffserv(colour) } else { self.ask_red(colour) };
        if decision == Decision::Admit {
            self.queue.push((colour, len));
            for i in 0..self.reds.len() {
                if self.counts(colour, i) {
                    self.reds[i].is_idle = false;
                }
            }
        }
        if !self.is_diffserv {
            for i in 0..self.reds.len() {
                if self.counts(colour, i) && self.len_of(i) == 0.0 {
                    self.reds[i].is_idle = true;
                    self.reds[i].idle_from = if now > self.line_free { now } else { self.line_free };
                }
            }
        }
        decision
    }

    fn ask_red(&mut self, c: usize) -> Decision {
        let q = self.len_of(c);
        let r = &mut self.reds[c];
        r.count += 1.0;
        let mut decision = Decision::Admit;
        if r.avg >= r.min && q > 1.0 {
            if !r.is_old {
                r.is_old = true;
                r.count = 1.0;
            } else {
                let p = if r.avg >= r.max { 1.0 } else { r.p_max * (r.avg - r.min) / (r.max - r.min) };
                let used = if r.count * p < 1.0 {
                    0.0
                } else if r.count * p < 2.0 {
                    p / (2.0 - r.count * p)
                } else {
                    1.0
                };
                if self.rng.uniform() <= used.min(1.0) {
                    r.count = 0.0;
                    decision = if p >= 1.0 { Decision::DropForced } else { Decision::DropEarly };
                }
            }
        } else {
            r.is_old = false;
        }
        if decision == Decision::Admit && self.queue.len() >= self.limit {
            self.reds[c].count = 0.0;
            decision = Decision::DropFull;
        }
        decision
    }

    fn ask_diffserv(&mut self, c: usize) -> Decision {
        let r = &mut self.reds[c];
        if r.avg > r.min {
            if r.avg <= r.max {
                r.count += 1.0;
                let pb = r.p_max * (r.avg - r.min) / (r.max - r.min);
                let pa = pb / (1.0 - r.count * pb);
                if self.rng.uniform() <= pa {
                    r.count = 0.0;
                    return Decision::DropEarly;
                }
            } else {
                r.count = 0.0;
                return Decision::DropForced;
            }
        } else {
            r.count = -1.0;
        }
        Decision::Admit
    }

    pub fn depart(&mut self, now: f64) {
        if self.queue.is_empty() {
            return;
        }
        let (colour, len) = self.queue.remove(0);
        self.line_free = now + len * 8.0 / self.bits_per_s;
        for i in 0..self.reds.len() {
            if self.counts(colour, i) && self.len_of(i) == 0.0 {
                self.reds[i].is_idle = true;
                self.reds[i].idle_from = if self.is_diffserv { now } else { self.line_free };
            }
        }
    }
}
