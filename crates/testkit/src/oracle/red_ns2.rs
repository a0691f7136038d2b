//! RED in the steps of ns-2.35, in packets or bytes, with its coefficient form of the probability.

use super::Decision;
use crosswind_base::Rng;

pub struct Red {
    /// Queue and thresholds in bytes instead of packets.
    pub is_in_bytes: bool,
    /// Probability proportional to size.
    pub is_by_size: bool,
    pub is_gentle: bool,
    pub is_waiting: bool,
    pub is_adaptive: bool,
    pub th_min: f64,
    pub th_max: f64,
    pub q_w: f64,
    pub max_p: f64,
    pub mark_p: f64,
    pub mean_size: f64,
    pub alpha: f64,
    pub beta: f64,
    pub interval: f64,
    pub top: f64,
    pub bottom: f64,
    /// Packets of mean size a second.
    pub ptc: f64,
    pub bits_per_s: f64,
    pub limit: f64,
    pub is_ecn: bool,
    pub cur_max_p: f64,
    pub last_set: f64,
    pub ave: f64,
    pub count: f64,
    pub count_bytes: f64,
    pub is_old: bool,
    pub is_idle: bool,
    pub idle_time: f64,
    pub line_free: f64,
    pub queue: Vec<f64>,
    pub rng: Rng,
}

impl Red {
    fn q_len(&self) -> f64 {
        if self.is_in_bytes { self.queue.iter().sum() } else { self.queue.len() as f64 }
    }

    fn estimate(&mut self, now: f64) {
        let mut m = 1;
        if self.is_idle && now > self.idle_time {
            m += (self.ptc * (now - self.idle_time)) as u64;
        }
        self.is_idle = false;
        for _ in 0..m {
            self.ave *= 1.0 - self.q_w;
        }
        self.ave += self.q_w * self.q_len();
        if self.is_adaptive && now > self.last_set + self.interval {
            let part = 0.4 * (self.th_max - self.th_min);
            if self.ave < self.th_min + part && self.cur_max_p > self.bottom {
                self.cur_max_p *= self.beta;
                self.last_set = now;
            } else if self.ave > self.th_max - part && self.top > self.cur_max_p {
                let step = if self.alpha > 0.25 * self.cur_max_p { 0.25 * self.cur_max_p } else { self.alpha };
                self.cur_max_p += step;
                self.last_set = now;
            }
        }
    }

    fn probability(&self) -> f64 {
        let (v_a, v_b) = (1.0 / (self.th_max - self.th_min), -self.th_min / (self.th_max - self.th_min));
        let (v_c, v_d) = ((1.0 - self.max_p) / self.th_max, 2.0 * self.max_p - 1.0);
        let p = if self.is_gentle && self.ave >= self.th_max {
            v_c * self.ave + v_d
        } else if self.ave >= self.th_max {
            1.0
        } else {
            (v_a * self.ave + v_b) * self.cur_max_p
        };
        if p > 1.0 { 1.0 } else { p }
    }

    fn spread(&self, p: f64, len: f64) -> f64 {
        let count = if self.is_by_size { (self.count_bytes / self.mean_size).floor() } else { self.count };
        let mut out;
        if self.is_waiting {
            if count * p < 1.0 {
                out = 0.0;
            } else if count * p < 2.0 {
                out = p / (2.0 - count * p);
            } else {
                out = 1.0;
            }
        } else if count * p < 1.0 {
            out = p / (1.0 - count * p);
        } else {
            out = 1.0;
        }
        if self.is_by_size && out < 1.0 {
            out *= len / self.mean_size;
        }
        if out > 1.0 { 1.0 } else { out }
    }

    pub fn arrive(&mut self, now: f64, len: f64, is_capable: bool) -> Decision {
        self.estimate(now);
        self.count += 1.0;
        self.count_bytes += len;
        let mut decision = Decision::Admit;
        if self.ave >= self.th_min && self.q_len() > 1.0 {
            if !self.is_old {
                self.is_old = true;
                self.count = 1.0;
                self.count_bytes = len;
            } else {
                let p1 = self.probability();
                if self.rng.uniform() <= self.spread(p1, len) {
                    self.count = 0.0;
                    self.count_bytes = 0.0;
                    decision = if self.is_ecn && is_capable && p1 < self.mark_p {
                        Decision::Mark
                    } else if p1 >= 1.0 {
                        Decision::DropForced
                    } else {
                        Decision::DropEarly
                    };
                }
            }
        } else {
            self.is_old = false;
        }
        let is_selected = matches!(decision, Decision::DropEarly | Decision::DropForced);
        if !is_selected && self.q_len() >= self.limit {
            decision = Decision::DropFull;
            self.count = 0.0;
            self.count_bytes = 0.0;
        }
        if matches!(decision, Decision::Admit | Decision::Mark) {
            self.queue.push(len);
        }
        if self.queue.is_empty() {
            self.rest(now);
        }
        decision
    }

    fn rest(&mut self, now: f64) {
        self.is_idle = true;
        self.idle_time = if now > self.line_free { now } else { self.line_free };
    }

    pub fn depart(&mut self, now: f64) {
        if !self.queue.is_empty() {
            let len = self.queue.remove(0);
            if self.queue.is_empty() {
                self.line_free = now + 8.0 * len / self.bits_per_s;
                self.rest(now);
            }
        }
    }
}
