//! RED as the descriptions of Linux have it: scaled integers, a random threshold, a table.

use super::Decision;
use crosswind_base::Rng;

pub struct Red {
    pub qth_min: u64,
    pub qth_max: u64,
    pub w_log: u32,
    /// R is drawn below this.
    pub r_range: u64,
    pub scell_log: u32,
    pub stab: [u64; 256],
    pub is_product_32_bits: bool,
    pub limit: u64,
    pub is_ecn: bool,
    pub qave: u64,
    pub qcount: i64,
    pub qr: u64,
    /// Microseconds are whole; nanoseconds kept so that both sides see the same clock.
    pub idle_start_ns: Option<u64>,
    pub queue: Vec<u64>,
    pub rng: Rng,
}

/// The table as tc fills it: natural logarithm of the decay per microsecond, cells as small as 512 of them reach 31.
pub fn table(w_log: u32, avpkt: f64, bytes_per_s: f64) -> (u32, [u64; 256]) {
    let xmit_us = 1_000_000.0 * avpkt / bytes_per_s;
    let l_w = -(1.0 - 1.0 / (1u64 << w_log) as f64).ln() / xmit_us;
    let max_time = 31.0 / l_w;
    let mut cell_log = 0;
    while max_time / (1u64 << cell_log) as f64 >= 512.0 {
        cell_log += 1;
    }
    let mut stab = [0; 256];
    for (i, s) in stab.iter_mut().enumerate().take(255).skip(1) {
        *s = (((i as u64) << cell_log) as f64 * l_w).min(31.0) as u64;
    }
    stab[255] = 31;
    (cell_log, stab)
}

impl Red {
    fn backlog(&self) -> u64 {
        self.queue.iter().sum()
    }

    fn average(&mut self, now_ns: u64) {
        let Some(start) = self.idle_start_ns else {
            self.qave = self.qave + self.backlog() - (self.qave >> self.w_log);
            return;
        };
        self.idle_start_ns = None;
        let mut us_idle = (now_ns - start) / 1000;
        if us_idle > 255 << self.scell_log {
            us_idle = 255 << self.scell_log;
        }
        let shift = self.stab[(us_idle >> self.scell_log) as usize];
        if shift != 0 {
            self.qave >>= shift;
            return;
        }
        let mut product = self.qave * us_idle;
        if self.is_product_32_bits {
            product %= 1 << 32;
        }
        let less = product >> self.scell_log;
        if less < self.qave / 2 { self.qave -= less } else { self.qave -= self.qave / 2 }
    }

    /// 0 nothing, 1 probabilistic, 2 above the maximum.
    fn classify(&mut self) -> u32 {
        if self.qave < self.qth_min << self.w_log {
            self.qcount = -1;
            return 0;
        }
        if self.qave >= self.qth_max << self.w_log {
            self.qcount = -1;
            return 2;
        }
        self.qcount += 1;
        if self.qcount == 0 {
            self.qr = self.rng.below(self.r_range);
            return 0;
        }
        let reached = ((self.qave - (self.qth_min << self.w_log)) >> self.w_log) * self.qcount as u64;
        if reached >= self.qr {
            self.qcount = 0;
            self.qr = self.rng.below(self.r_range);
            return 1;
        }
        0
    }

    pub fn arrive(&mut self, now_ns: u64, len: u64, is_capable: bool) -> Decision {
        self.average(now_ns);
        let class = self.classify();
        let mut decision = match class {
            0 => Decision::Admit,
            _ if self.is_ecn && is_capable => Decision::Mark,
            1 => Decision::DropEarly,
            _ => Decision::DropForced,
        };
        let is_let_in = decision == Decision::Admit || decision == Decision::Mark;
        if is_let_in && self.backlog() + len > self.limit {
            decision = Decision::DropFull;
        } else if is_let_in {
            self.queue.push(len);
        }
        if self.queue.is_empty() {
            self.idle_start_ns = Some(now_ns);
        }
        decision
    }

    pub fn depart(&mut self, now_ns: u64) {
        if !self.queue.is_empty() {
            self.queue.remove(0);
            if self.queue.is_empty() {
                self.idle_start_ns = Some(now_ns);
            }
        }
    }
}
