//! PIE in whole numbers, as the kernel computes.

use super::params::{CYCLE_BYTES, Estimator, PieParams};
use crate::queue::Head;
use crate::queue::aqm::Arrival;
use crosswind_base::{Rng, Time};

/// Certainty, for the kernel.
pub const MAX_P: u64 = (1 << 56) - 1;
const TICKS_PER_SECOND: u64 = 15_625_000;

/// A tick of the kernel is 2^6 ns.
pub fn ticks(ns: u64) -> u64 {
    ns >> 6
}

/// What the kernel remembers; times in ticks.
#[derive(Clone, PartialEq, Debug)]
pub struct Linux {
    pub p: u64,
    pub accu: u64,
    delay: u64,
    last_delay: u64,
    burst: u64,
    departure: Option<u64>,
    cycle_bytes: Option<u64>,
    /// 256 bytes a tick; 0: not known yet.
    rate: u64,
}

/// The gains of the kernel, in parts a tick: these sixteenths of a Hz, smaller for smaller probabilities.
pub fn gains(sixteenths: [u64; 2], p: u64) -> [u64; 2] {
    let mut shift = if p < MAX_P / 10 { 1 } else { 0 };
    let mut power = 100;
    while shift > 0 && power <= 1_000_000 && p < MAX_P / power {
        shift += 2;
        power *= 10;
    }
    sixteenths.map(|g| (g * (MAX_P / TICKS_PER_SECOND)) >> 4 >> shift)
}

impl Linux {
    pub fn new(p: &PieParams) -> Linux {
        let burst = ticks(p.max_burst.0);
        Linux { p: 0, accu: 0, delay: 0, last_delay: 0, burst, departure: None, cycle_bytes: None, rate: 0 }
    }

    pub fn delay(&self, p: &PieParams, bytes: u64) -> u64 {
        match p.estimator {
            Estimator::Timestamp => self.delay,
            Estimator::Rate if self.rate == 0 => 0,
            Estimator::Rate => (bytes << 8) / self.rate,
        }
    }

    pub fn update(&mut self, p: &PieParams, delay: u64, is_empty: bool) {
        let target = ticks(p.target.0);
        let last = self.last_delay;
        let [alpha, beta] = gains([p.alpha, p.beta].map(|g| (g * 16.0) as u64), self.p).map(|g| g as i64);
        let off = |from: u64| delay as i64 - from as i64;
        let mut step = alpha.wrapping_mul(off(target)).wrapping_add(beta.wrapping_mul(off(last)));
        if step > (MAX_P / 50) as i64 && self.p >= MAX_P / 10 {
            step = (MAX_P / 100 * 2) as i64;
        }
        if delay > ticks(250_000_000) {
            step = step.wrapping_add((MAX_P / 50) as i64);
        }
        // Only what 64 bits do not hold is cut.
        let may_decay = delay != 0 || is_empty;
        let (sum, may_decay) = match self.p.checked_add_signed(step) {
            Some(sum) => (sum, may_decay),
            None if step > 0 => (MAX_P, false),
            None => (0, may_decay),
        };
        self.p = sum;
        if delay == 0 && last == 0 && may_decay {
            self.p -= self.p / 64;
        }
        self.delay = delay;
        let is_measured = p.estimator == Estimator::Timestamp || self.rate > 0;
        if delay < target / 2 && last < target / 2 && self.p == 0 && is_measured {
            (self.burst, self.departure, self.accu) = (ticks(p.max_burst.0), None, 0);
            (self.cycle_bytes, self.rate) = (None, 0);
        }
        self.last_delay = delay;
    }

    pub fn picks(&mut self, p: &PieParams, a: &Arrival, rng: &mut Rng) -> bool {
        let is_short = self.delay < ticks(p.target.0) / 2 && self.p < MAX_P / 5;
        if self.burst > 0 || is_short || a.backlog.bytes < 2 * p.mean_packet.0 {
            return false;
        }
        let is_scaled = p.byte_mode && u64::from(a.len) <= p.mean_packet.0;
        let chance = if is_scaled { u64::from(a.len) * (self.p / p.mean_packet.0) } else { self.p };
        self.accu = if chance == 0 { 0 } else { self.accu.wrapping_add(chance) };
        if self.accu < MAX_P / 100 * 85 {
            return false;
        }
        if self.accu >= MAX_P / 2 * 17 {
            return true;
        }
        let is_selected = rng.bits() >> 8 < chance;
        if is_selected {
            self.accu = 0;
        }
        is_selected
    }

    pub fn departed(&mut self, p: &PieParams, head: &Head, now: Time, left: u64) {
        let now = ticks(now.0);
        let passed = match p.estimator {
            Estimator::Timestamp => {
                self.delay = if left == 0 { 0 } else { now - ticks(head.since.0) };
                let before = self.departure.replace(now);
                before.map_or(0, |t| now - t)
            }
            Estimator::Rate => self.measured(u64::from(head.len), now, left),
        };
        self.burst = self.burst.saturating_sub(passed);
    }

    /// How long a measurement of the rate took that ends here, or 0.
    fn measured(&mut self, len: u64, now: u64, left: u64) -> u64 {
        if left >= CYCLE_BYTES && self.cycle_bytes.is_none() {
            (self.departure, self.cycle_bytes) = (Some(now), Some(0));
        }
        let Some(bytes) = &mut self.cycle_bytes else { return 0 };
        *bytes += len;
        let took = now - self.departure.unwrap_or(now);
        if *bytes < CYCLE_BYTES || took == 0 {
            return 0;
        }
        let rate = (*bytes << 8) / took;
        self.rate = if self.rate == 0 { rate } else { self.rate - (self.rate >> 3) + (rate >> 3) };
        if left < CYCLE_BYTES {
            self.cycle_bytes = None;
        } else {
            (self.departure, self.cycle_bytes) = (Some(now), Some(0));
        }
        took
    }
}
