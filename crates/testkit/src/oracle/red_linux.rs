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
    /// A maximum probability that a timer moves, if one does: in parts of 2^32, and the half seconds that are over.
    pub moving_p: Option<(u64, u64)>,
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
        match self.idle_start_ns.take() {
            None => self.qave = self.qave + self.backlog() - (self.qave >> self.w_log),
            Some(start) => self.qave = self.after_idle(now_ns - start),
        }
    }

    fn after_idle(&self, ns: u64) -> u64 {
        let mut us_idle = ns / 1000;
        if us_idle > 255 << self.scell_log {
            us_idle = 255 << self.scell_log;
        }
        let shift = self.stab[(us_idle >> self.scell_log) as usize];
        if shift != 0 {
            return self.qave >> shift;
        }
        let mut product = self.qave * us_idle;
        if self.is_product_32_bits {
            product %= 1 << 32;
        }
        let less = product >> self.scell_log;
        if less < self.qave / 2 { self.qave - less } else { self.qave - self.qave / 2 }
    }

    /// The timer of every half second up to now; called before anything else happens.
    fn timer(&mut self, now_ns: u64) {
        let Some((mut p, mut over)) = self.moving_p else { return };
        while (over + 1) * 500_000_000 <= now_ns {
            over += 1;
            let q = self.idle_start_ns.map_or(self.qave, |start| self.after_idle(over * 500_000_000 - start));
            let (avg, fifth) = (q >> self.w_log, (self.qth_max - self.qth_min) / 5);
            let percent = 42_949_673;
            if avg > self.qth_min + 3 * fifth && p <= 50 * percent {
                p += if p / 4 < percent { p / 4 } else { percent };
            } else if avg < self.qth_min + 2 * fifth && p >= percent {
                p = p / 10 * 9;
            }
            let per_byte = (p as f64 / (self.qth_max - self.qth_min) as f64).round().max(1.0);
            self.r_range = (4_294_967_296.0 / per_byte) as u64;
        }
        self.moving_p = Some((p, over));
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
        self.timer(now_ns);
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
        self.timer(now_ns);
        if !self.queue.is_empty() {
            self.queue.remove(0);
            if self.queue.is_empty() {
                self.idle_start_ns = Some(now_ns);
            }
        }
    }
}
