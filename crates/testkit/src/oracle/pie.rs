//! PIE as its pseudo-code has it: one number after the other, plain real numbers, or whole numbers of the kernel in 128 bits.

use crosswind_base::Rng;
use std::collections::VecDeque;

/// What happens to an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Admitted,
    Marked,
    Dropped,
    Full,
}

/// A queue with PIE: the source of chance is handed to each call.
pub struct Pie {
    pub is_linux: bool,
    pub by_rate: bool,
    pub limit_packets: usize,
    pub mean_packet: u64,
    pub next_ns: u64,
    /// Marks are made up to this probability of the kernel, or below this one of the RFC.
    mark_parts: u64,
    mark_below: f64,
    /// On/off of the RFC: active from so many packets on; inactive when there is no delay at all, or half the target.
    pub active_from: Option<usize>,
    pub off_when_empty: bool,
    active: bool,
    packets: VecDeque<(u64, u64)>,
    /// Seconds or ticks; probabilities or parts of 2^56 - 1.
    pub prob: f64,
    pub prob_parts: u64,
    accu: f64,
    accu_parts: u128,
    qdelay: f64,
    qdelay_old: f64,
    burst: f64,
    dq_start: f64,
    dq_count: f64,
    dq_average: f64,
}

const NOT_RUNNING: f64 = -1.0;
const TARGET_S: f64 = 0.015;
const PERIOD_NS: u64 = 15_000_000;
const TARGET_TICKS: f64 = 234_375.0;
const BURST_TICKS: f64 = 2_343_750.0;
const MAX: u64 = 72_057_594_037_927_935;

impl Pie {
    pub fn new(is_linux: bool, by_rate: bool, limit_packets: usize) -> Pie {
        Pie {
            is_linux,
            by_rate,
            limit_packets,
            mean_packet: if is_linux { 1514 } else { 1500 },
            next_ns: if is_linux { 500_000_000 } else { PERIOD_NS },
            active_from: None,
            off_when_empty: false,
            active: false,
            mark_parts: MAX / 10,
            mark_below: 0.1,
            packets: VecDeque::new(),
            prob: 0.0,
            prob_parts: 0,
            accu: 0.0,
            accu_parts: 0,
            qdelay: 0.0,
            qdelay_old: 0.0,
            burst: if is_linux { BURST_TICKS } else { 0.150 },
            dq_start: NOT_RUNNING,
            dq_count: NOT_RUNNING,
            dq_average: 0.0,
        }
    }

    /// Another threshold, as FQ-PIE has one.
    pub fn mark_up_to(&mut self, percent: u64) {
        (self.mark_parts, self.mark_below) = (MAX / 100 * percent, percent as f64 / 100.0);
    }

    /// A packet was refused before the law was asked.
    pub fn refuse(&mut self) {
        (self.accu, self.accu_parts) = (0.0, 0);
    }

    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| p.1).sum()
    }

    /// To be called before anything that happens at `now`.
    pub fn timer(&mut self, now_ns: u64) {
        while now_ns >= self.next_ns {
            if self.is_linux {
                self.calculate_linux()
            } else {
                self.calculate_rfc()
            }
            self.next_ns += PERIOD_NS;
        }
    }

    fn current_rfc(&self) -> f64 {
        if self.by_rate { self.bytes() as f64 * self.dq_average / 16384.0 } else { self.qdelay }
    }

    fn is_off(&self) -> bool {
        self.active_from.is_some() && !self.active
    }

    fn calculate_rfc(&mut self) {
        if self.is_off() {
            return;
        }
        let q = self.current_rfc();
        let mut p = 0.125 * (q - TARGET_S) + 1.25 * (q - self.qdelay_old);
        if self.prob < 0.000001 {
            p /= 2048.0;
        } else if self.prob < 0.00001 {
            p /= 512.0;
        } else if self.prob < 0.0001 {
            p /= 128.0;
        } else if self.prob < 0.001 {
            p /= 32.0;
        } else if self.prob < 0.01 {
            p /= 8.0;
        } else if self.prob < 0.1 {
            p /= 2.0;
        }
        if self.prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.prob += p;
        if q == 0.0 && self.qdelay_old == 0.0 {
            self.prob *= 0.98;
        }
        self.prob = self.prob.clamp(0.0, 1.0);
        self.burst = f64::max(0.0, ((self.burst - 0.015) * 1e6).round() / 1e6);
        self.qdelay_old = q;
    }

    fn calculate_linux(&mut self) {
        let q = match (self.by_rate, self.dq_average) {
            (false, _) => self.qdelay,
            (true, 0.0) => 0.0,
            (true, rate) => ((self.bytes() * 256) / rate as u64) as f64,
        };
        let old = self.qdelay_old;
        let shift = [1_000_000, 100_000, 10_000, 1000, 100, 10]
            .into_iter()
            .zip([11, 9, 7, 5, 3, 1])
            .find(|(power, _)| self.prob_parts < MAX / power)
            .map_or(0, |(_, shift)| shift);
        let (alpha, beta) = (576_460_752i128 >> shift, 5_764_607_522i128 >> shift);
        let mut delta = alpha * (q - TARGET_TICKS) as i128 + beta * (q - old) as i128;
        if delta > i128::from(MAX / 50) && self.prob_parts >= MAX / 10 {
            delta = i128::from(MAX / 100) * 2;
        }
        if q > 3_906_250.0 {
            delta += i128::from(MAX / 50);
        }
        let sum = i128::from(self.prob_parts) + delta;
        self.prob_parts = if sum < 0 { 0 } else { sum as u64 };
        if q == 0.0 && old == 0.0 && self.packets.is_empty() {
            self.prob_parts -= self.prob_parts / 64;
        }
        self.qdelay = q;
        let half = (TARGET_TICKS / 2.0).floor();
        if q < half && old < half && self.prob_parts == 0 && (!self.by_rate || self.dq_average > 0.0) {
            self.burst = BURST_TICKS;
            self.dq_start = NOT_RUNNING;
            self.dq_count = NOT_RUNNING;
            self.dq_average = 0.0;
            self.accu_parts = 0;
        }
        self.qdelay_old = q;
    }

    fn drop_early_rfc(&mut self, rng: &mut Rng) -> bool {
        if self.is_off() || self.burst > 0.0 || (self.qdelay_old < TARGET_S / 2.0 && self.prob < 0.2) {
            return false;
        }
        if self.bytes() <= 2 * self.mean_packet {
            return false;
        }
        if self.prob == 0.0 {
            self.accu = 0.0;
        } else {
            self.accu += self.prob;
        }
        if self.accu < 0.85 {
            return false;
        }
        // PIE->accu_prob_ = 0 after a drop, here and where the packet is dropped or marked.
        let verdict = self.accu >= 8.5 || rng.chance(self.prob);
        if verdict {
            self.accu = 0.0;
        }
        verdict
    }

    fn drop_early_linux(&mut self, rng: &mut Rng) -> bool {
        if self.burst > 0.0 || (self.qdelay < (TARGET_TICKS / 2.0).floor() && self.prob_parts < MAX / 5) {
            return false;
        }
        if self.bytes() < 2 * self.mean_packet {
            return false;
        }
        if self.prob_parts == 0 {
            self.accu_parts = 0;
        } else {
            self.accu_parts += u128::from(self.prob_parts);
        }
        if self.accu_parts < 85 * u128::from(MAX / 100) {
            return false;
        }
        if self.accu_parts >= 17 * u128::from(MAX / 2) {
            return true;
        }
        let verdict = rng.bits() / 256 < self.prob_parts;
        if verdict {
            self.accu_parts = 0;
        }
        verdict
    }

    /// A packet of `len` bytes; `rng` is asked as often as the law asks.
    pub fn enqueue(&mut self, now_ns: u64, len: u64, is_capable: bool, rng: &mut Rng) -> Fate {
        self.timer(now_ns);
        if self.is_off() && self.active_from.is_some_and(|n| self.packets.len() >= n) {
            self.active = true;
            (self.prob, self.accu, self.qdelay_old, self.burst) = (0.0, 0.0, 0.0, 0.150);
        }
        let may_mark = if self.is_linux { self.prob_parts <= self.mark_parts } else { self.prob < self.mark_below };
        let fate = if self.packets.len() >= self.limit_packets {
            Fate::Full
        } else if !(if self.is_linux { self.drop_early_linux(rng) } else { self.drop_early_rfc(rng) }) {
            Fate::Admitted
        } else if may_mark && is_capable {
            Fate::Marked
        } else {
            Fate::Dropped
        };
        let half = TARGET_S / 2.0;
        let bound = if self.off_when_empty { f64::MIN_POSITIVE } else { half };
        if !self.is_linux && self.prob == 0.0 && self.current_rfc() < bound && self.qdelay_old < bound {
            (self.burst, self.active) = (0.150, false);
        }
        if fate == Fate::Full || fate == Fate::Dropped {
            (self.accu, self.accu_parts) = (0.0, 0);
        } else {
            self.packets.push_back((now_ns, len));
        }
        fate
    }

    pub fn dequeue(&mut self, now_ns: u64) {
        self.timer(now_ns);
        let Some((since, len)) = self.packets.pop_front() else { return };
        let left = self.bytes();
        // The clock: ticks, or nanoseconds that become seconds when they are subtracted.
        let now = if self.is_linux { (now_ns / 64) as f64 } else { now_ns as f64 };
        let span = |a: f64, b: f64| if self.is_linux { a - b } else { (a - b) / 1e9 };
        let mut dtime = 0.0;
        if !self.by_rate {
            let since = if self.is_linux { (since / 64) as f64 } else { since as f64 };
            let waited = span(now, since);
            if self.dq_start != NOT_RUNNING {
                dtime = span(now, self.dq_start);
            }
            self.qdelay = if left == 0 { 0.0 } else { waited };
            self.dq_start = now;
        } else {
            if left >= 16384 && self.dq_count == NOT_RUNNING {
                (self.dq_start, self.dq_count) = (now, 0.0);
            }
            if self.dq_count == NOT_RUNNING {
                return;
            }
            self.dq_count += len as f64;
            let took = span(now, self.dq_start);
            if self.dq_count < 16384.0 || took == 0.0 {
                return;
            }
            self.average(took);
            dtime = took;
            (self.dq_start, self.dq_count) = if left < 16384 { (self.dq_start, NOT_RUNNING) } else { (now, 0.0) };
        }
        if self.is_linux {
            self.burst = f64::max(0.0, self.burst - dtime);
        }
    }

    fn average(&mut self, took: f64) {
        if self.is_linux {
            let (new, old) = ((self.dq_count as u64 * 256) / took as u64, self.dq_average as u64);
            self.dq_average = if old == 0 { new as f64 } else { (old - old / 8 + new / 8) as f64 };
        } else if self.dq_average == 0.0 {
            self.dq_average = took;
        } else {
            self.dq_average = 0.25 * took + 0.75 * self.dq_average;
        }
    }
}
