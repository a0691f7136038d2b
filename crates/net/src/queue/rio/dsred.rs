//! One virtual queue of the diffserv module of ns-2 (`dsredq.cc`), in its own steps.
//!
//! It differs from the RED of ns-2: the limit is tested before the average moves; idle time counts from the last departure,
//! not from the end of its transmission; the probability is spread as `p / (1 - count p)`, from the first packet above
//! the threshold on; the average alone decides, however short the queue is.

use super::super::red::{Arrival, Verdict};
use crosswind_base::{DropReason, Rng, Time};

/// Thresholds in packets.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
    pub w_q: f64,
    /// Packets of mean size that the link sends in a second.
    pub packets_per_s: f64,
}

/// The law of one colour.
#[derive(Clone, Debug)]
pub struct DsRed {
    p: Profile,
    avg: f64,
    count: i64,
    idle_since: Option<Time>,
}

impl DsRed {
    pub fn new(p: Profile) -> DsRed {
        DsRed { p, avg: 0.0, count: 0, idle_since: Some(Time::ZERO) }
    }

    /// Other thresholds, the same past.
    pub fn continue_as(&mut self, fresh: DsRed) {
        self.p = fresh.p;
    }

    /// Moves the average. Idle time counts until a packet has been admitted: a refused one does not end it.
    pub fn observe(&mut self, a: &Arrival) {
        let idle = self.idle_since.map_or(0.0, |since| a.now.since(since).as_secs_f64());
        let m = (self.p.packets_per_s * idle) as u64;
        self.avg *= (1.0 - self.p.w_q).powf((m + 1) as f64);
        self.avg += self.p.w_q * f64::from(a.backlog.packets);
    }

    pub fn decide(&mut self, rng: &mut Rng) -> Verdict {
        let p = &self.p;
        if self.avg <= p.min_th {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.avg > p.max_th {
            self.count = 0;
            return Verdict::Signal(DropReason::ForcedDrop);
        }
        self.count += 1;
        let p_b = p.max_p * (self.avg - p.min_th) / (p.max_th - p.min_th);
        let p_a = p_b / (1.0 - self.count as f64 * p_b);
        if !rng.chance(p_a) {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Signal(DropReason::EarlyDrop)
    }

    /// A packet that this average counts has been admitted.
    pub fn admitted(&mut self) {
        self.idle_since = None;
    }

    /// The last packet that this average counts has left.
    pub fn emptied(&mut self, now: Time) {
        self.idle_since = Some(now);
    }

    pub fn avg_packets(&self) -> f64 {
        self.avg
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Backlog;
    use crosswind_base::Streams;

    #[test]
    fn an_average_at_the_upper_threshold_drops_early_and_one_above_it_always() {
        // With a weight of 1 the average is the queue.
        let p = Profile { min_th: 2.0, max_th: 4.0, max_p: 1e-9, w_q: 1.0, packets_per_s: 0.0 };
        let forced = Verdict::Signal(DropReason::ForcedDrop);
        for (packets, verdict) in [(2, Verdict::Pass), (4, Verdict::Pass), (5, forced)] {
            let mut law = DsRed::new(p);
            law.observe(&Arrival { backlog: Backlog { bytes: 0, packets }, len: 1000, now: Time::ZERO });
            assert_eq!(law.decide(&mut Streams::new(1).named("red")), verdict, "{packets} packets");
        }
    }
}
