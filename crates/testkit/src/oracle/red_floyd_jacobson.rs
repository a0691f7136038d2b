//! RED, line by line after the pseudo-code of Floyd and Jacobson (1993), with bytes as the measure.

use super::Decision;
use crosswind_base::Rng;

pub struct Red {
    pub min_th: f64,
    pub max_th: f64,
    pub w_q: f64,
    pub max_p: f64,
    /// Seconds that the link needs for a typical packet.
    pub s: f64,
    pub limit: f64,
    pub is_ecn: bool,
    pub avg: f64,
    pub count: f64,
    pub q_time: f64,
    pub queue: Vec<f64>,
    pub rng: Rng,
}

impl Red {
    fn q(&self) -> f64 {
        self.queue.iter().sum()
    }

    pub fn arrive(&mut self, time: f64, len: f64, is_capable: bool) -> Decision {
        // calculate new average queue size
        if self.q() != 0.0 {
            self.avg = (1.0 - self.w_q) * self.avg + self.w_q * self.q();
        } else {
            let m = (time - self.q_time) / self.s;
            self.avg *= (1.0 - self.w_q).powf(m);
        }
        let selected = if self.min_th <= self.avg && self.avg < self.max_th {
            self.count += 1.0;
            let pb = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th);
            let pa = pb / (1.0 - self.count * pb);
            let u = self.rng.uniform();
            if self.count * pb >= 1.0 || u < pa {
                self.count = 0.0;
                Some(Decision::DropEarly)
            } else {
                None
            }
        } else if self.max_th <= self.avg {
            self.count = 0.0;
            Some(Decision::DropForced)
        } else {
            self.count = -1.0;
            None
        };
        let decision = match selected {
            Some(_) if self.is_ecn && is_capable => Decision::Mark,
            Some(drop) => drop,
            None => Decision::Admit,
        };
        let decision = match decision {
            Decision::Admit | Decision::Mark if self.q() + len > self.limit => Decision::DropFull,
            other => other,
        };
        if matches!(decision, Decision::Admit | Decision::Mark) {
            self.queue.push(len);
        }
        if self.queue.is_empty() {
            self.q_time = time;
        }
        decision
    }

    pub fn depart(&mut self, time: f64) {
        if !self.queue.is_empty() {
            self.queue.remove(0);
            if self.queue.is_empty() {
                self.q_time = time;
            }
        }
    }
}
