//! PIE in real numbers, as rfc8033 is written.

use super::params::{CYCLE_BYTES, Estimator, PieParams, Quiet};
use crate::queue::aqm::Arrival;
use crate::queue::{Backlog, Head};
use crosswind_base::{Dur, Limit, Rng, Time};

/// What the RFC remembers; times in seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Rfc {
    pub p: f64,
    pub accu: f64,
    /// The wait of the packet that left last.
    waited: f64,
    last_delay: f64,
    burst: Dur,
    rests: Rests,
    /// When the measurement began, and what has left since.
    cycle: Option<(Time, u64)>,
    /// How long a cycle takes on average; 0: not known yet.
    cycle_time: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rests {
    No,
    Yes,
}

/// Below each probability steps are so much smaller.
const LADDER: [(f64, f64); 6] = [
    (0.000_001, 1.0 / 2048.0),
    (0.000_01, 1.0 / 512.0),
    (0.000_1, 1.0 / 128.0),
    (0.001, 1.0 / 32.0),
    (0.01, 1.0 / 8.0),
    (0.1, 0.5),
];

impl Rfc {
    pub fn new(p: &PieParams) -> Rfc {
        let rests = if p.active_from.is_off() { Rests::No } else { Rests::Yes };
        Rfc { p: 0.0, accu: 0.0, waited: 0.0, last_delay: 0.0, burst: p.max_burst, rests, cycle: None, cycle_time: 0.0 }
    }

    pub fn delay(&self, p: &PieParams, bytes: u64) -> f64 {
        match p.estimator {
            Estimator::Timestamp => self.waited,
            Estimator::Rate => bytes as f64 * self.cycle_time / CYCLE_BYTES as f64,
        }
    }

    pub fn update(&mut self, p: &PieParams, delay: f64) {
        if self.rests == Rests::Yes {
            return;
        }
        let step = p.alpha * (delay - p.target.as_secs_f64()) + p.beta * (delay - self.last_delay);
        let scale = LADDER.iter().find(|(below, _)| self.p < *below).map_or(1.0, |(_, scale)| *scale);
        let step = step * scale;
        self.p += if self.p >= 0.1 { step.min(0.02) } else { step };
        if delay == 0.0 && self.last_delay == 0.0 {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(p.t_update);
        self.last_delay = delay;
    }

    pub fn picks(&mut self, p: &PieParams, a: &Arrival, rng: &mut Rng) -> bool {
        let is_short = self.last_delay < p.target.as_secs_f64() / 2.0 && self.p < 0.2;
        if self.rests == Rests::Yes || self.burst > Dur::ZERO || is_short || a.backlog.bytes <= 2 * p.mean_packet.0 {
            return false;
        }
        let chance = if p.byte_mode { self.p * f64::from(a.len) / p.mean_packet.0 as f64 } else { self.p };
        if !p.derandomise {
            return rng.chance(chance);
        }
        self.accu = if chance == 0.0 { 0.0 } else { self.accu + chance };
        if self.accu < 0.85 {
            return false;
        }
        let is_selected = self.accu >= 8.5 || rng.chance(chance);
        if is_selected {
            self.accu = 0.0;
        }
        is_selected
    }

    /// A law that rests begins anew when the queue is long.
    pub fn may_turn_active(&mut self, p: &PieParams, held: &Backlog) {
        let is_long = match p.active_from.as_ref() {
            None => self.rests == Rests::Yes,
            Some(Limit::Packets(n)) => u64::from(held.packets) >= *n,
            Some(Limit::Bytes(n)) => held.bytes >= *n,
        };
        if self.rests == Rests::Yes && is_long {
            let Rfc { waited, cycle, cycle_time, .. } = *self;
            *self = Rfc { waited, cycle, cycle_time, rests: Rests::No, ..Rfc::new(p) };
        }
    }

    /// A queue that has been short for long may have a burst again; a law that may rest does.
    pub fn arm(&mut self, p: &PieParams, bytes: u64) {
        let half = p.target.as_secs_f64() / 2.0;
        let (delay, may_rest) = (self.delay(p, bytes), !p.active_from.is_off());
        let is_quiet = match p.inactive_when {
            Quiet::Empty if may_rest => delay == 0.0 && self.last_delay == 0.0,
            Quiet::Empty | Quiet::Short => delay < half && self.last_delay < half,
        };
        if self.p == 0.0 && is_quiet {
            self.burst = p.max_burst;
            self.rests = if may_rest { Rests::Yes } else { Rests::No };
        }
    }

    pub fn departed(&mut self, p: &PieParams, head: &Head, now: Time, left: u64) {
        if p.estimator == Estimator::Timestamp {
            self.waited = if left == 0 { 0.0 } else { now.since(head.since).as_secs_f64() };
            return;
        }
        if left >= CYCLE_BYTES && self.cycle.is_none() {
            self.cycle = Some((now, 0));
        }
        let Some((began, bytes)) = &mut self.cycle else { return };
        *bytes += u64::from(head.len);
        if *bytes >= CYCLE_BYTES {
            let took = now.since(*began).as_secs_f64();
            self.cycle_time = if self.cycle_time == 0.0 { took } else { 0.25 * took + 0.75 * self.cycle_time };
            self.cycle = if left < CYCLE_BYTES { None } else { Some((now, 0)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    fn law(p: f64, params: &PieParams) -> Rfc {
        Rfc { p, burst: Dur::ZERO, last_delay: 1.0, ..Rfc::new(params) }
    }
    fn long() -> Arrival {
        Arrival { backlog: Backlog { bytes: 100_000, packets: 100 }, len: 1000, now: Time(1) }
    }

    /// With the probability as it is: the packets of the earliest and of the last pick, and the mean gap between picks.
    fn gaps(p: f64) -> (usize, usize, f64) {
        let params = PieParams::default();
        let (mut law, mut rng) = (law(p, &params), Streams::new(1).named("pie"));
        let (mut gap, mut all) = (0, Vec::new());
        while all.len() < 60_000 {
            gap += 1;
            if law.picks(&params, &long(), &mut rng) {
                law.accu = 0.0;
                all.push(std::mem::take(&mut gap));
            }
        }
        let mean = all.iter().sum::<usize>() as f64 / all.len() as f64;
        (all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0), mean)
    }

    /// The last pick is certain at 8.5 / p, and rarely needed. The means of 0.01, 0.05, 0.2 and 0.5 are from a separate program.
    #[test]
    fn picks_are_kept_apart() {
        for (p, first, last, mean) in [
            (0.1, 9, 85, 17.997),
            (0.3, 3, 29, 5.333),
            (0.01, 85, 850, 183.955),
            (0.05, 17, 170, 35.993),
            (0.2, 5, 43, 8.999),
            (0.5, 2, 17, 3.000),
        ] {
            let (least, most, found) = gaps(p);
            // A sum of tenths may be a hair below the bound that exact numbers reach.
            assert!((first..=first + 1).contains(&least) && most <= last + 1, "{p}: {least} {most}");
            assert!((found - mean).abs() < 4.0 * (mean - 0.85 / p).max(1.0) / 245.0 + 0.12, "{p}: {found} and {mean}");
        }
    }

    #[test]
    fn a_sum_below_its_first_bound_spares_all_and_one_above_its_second_none() {
        let params = PieParams::default();
        let mut rng = Streams::new(2).named("pie");
        for (accu, selected) in [(0.84, 0), (8.5, 400)] {
            let mut law = law(0.001, &params);
            let picks = (0..400).filter(|_| {
                law.accu = accu;
                law.picks(&params, &long(), &mut rng)
            });
            assert_eq!(picks.count(), selected, "{accu}");
        }
    }

    #[test]
    fn after_a_pick_for_certain_the_sum_begins_anew_whether_the_packet_is_dropped_or_marked() {
        let params = PieParams::default();
        let mut rng = Streams::new(3).named("pie");
        let mut law = law(0.001, &params);
        law.accu = 8.5;
        let picks = (0..800).filter(|_| law.picks(&params, &long(), &mut rng));
        assert_eq!(picks.count(), 1, "and none of the next 800, which add up to 0.8");
    }
}
