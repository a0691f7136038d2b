//! Whether marks come from a queue that is not L4S: round trips that vary, and a standing queue, tell.

use crate::tcp::choices::choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// What is done about marks of a queue that is not L4S.
    #[derive(Default)]
    Fallback {
        /// Nothing.
        #[default]
        Off,
        /// The answer to them approaches that of Reno.
        On,
        /// The same with the constants of the 5.15 tree, which are too small for its units: every path is taken for a classic one.
        #[serde(rename = "linux-5.15")]
        Linux515,
    }
);

/// Below, marks are those of L4S; one above, the answer is a classic one.
const CLASSIC: f64 = 8.0;
const SCORE_MAX: f64 = 17.0;
/// Alpha of a classic answer: five sixteenths of the window.
const CLASSIC_ALPHA: f64 = 0.625;
const MEAN_DEVIATION: f64 = 750e-6;
const QUEUE: f64 = 2000e-6;
/// The same in the 5.15 tree: logarithms in 2^-20 where 2^-24 are meant.
const MEAN_DEVIATION_FAULTY: f64 = 1.513e-6;
const QUEUE_FAULTY: f64 = 1.608e-6;

/// How classic the path looks.
#[derive(Clone, Debug)]
pub(super) struct Score {
    rule: Fallback,
    classic: f64,
    mean: f64,
    deviation: f64,
    least: f64,
}

impl Score {
    pub fn new(rule: Fallback) -> Score {
        Score { rule, classic: 0.0, mean: 0.0, deviation: 0.0, least: f64::INFINITY }
    }

    /// A round trip, while the threshold is so many segments.
    pub fn take(&mut self, rtt_s: f64, ssthresh: f64) {
        if self.rule == Fallback::Off {
            return;
        }
        self.least = self.least.min(rtt_s);
        if self.mean == 0.0 {
            self.mean = rtt_s;
            return;
        }
        let gain = (ssthresh.max(1.0).log2().floor() * 1.5 + 1.0).floor().min(18.0) as i32;
        let error = rtt_s - self.mean;
        self.mean += error * 0.5_f64.powi(gain);
        self.deviation += (error.abs() - self.deviation) * 0.5_f64.powi(gain + 1);
    }

    pub fn on_round(&mut self) {
        if self.rule == Fallback::Off {
            return;
        }
        let queue = (self.mean - self.least).max(0.0);
        self.classic = (self.classic + self.step(self.deviation, queue)).clamp(0.0, SCORE_MAX);
    }

    /// What a round with this mean deviation and this queue adds.
    fn step(&self, deviation: f64, queue: f64) -> f64 {
        let (of_deviation, of_queue) = match self.rule {
            Fallback::Linux515 => (MEAN_DEVIATION_FAULTY, QUEUE_FAULTY),
            _ => (MEAN_DEVIATION, QUEUE),
        };
        let varies = if deviation > 0.0 { 0.5 * (deviation / of_deviation).log2() } else { -SCORE_MAX };
        let stands = if queue > 0.0 { (0.5 * (queue / of_queue).log2()).max(0.0) } else { 0.0 };
        varies + stands
    }

    /// Alpha for an answer to marks.
    pub fn at_least(&self, alpha: f64) -> f64 {
        if self.rule == Fallback::Off || self.classic <= CLASSIC {
            return alpha;
        }
        alpha.max(CLASSIC_ALPHA * (self.classic - CLASSIC).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_grows_by_one_with_twice_the_deviation_and_twice_the_queue() {
        let s = Score::new(Fallback::On);
        assert!((s.step(1500e-6, 4000e-6) - 1.0).abs() < 1e-9);
        assert!((s.step(375e-6, 0.0) + 0.5).abs() < 1e-9);
    }

    #[test]
    fn with_the_constants_of_5_15_any_path_is_classic_within_four_rounds() {
        let s = Score::new(Fallback::Linux515);
        let step = s.step(750e-6, 0.0);
        assert!(step > 4.0 && 4.0 * step > CLASSIC + 1.0, "{step}");
        assert_eq!(Score { classic: 17.0, ..s }.at_least(0.1), CLASSIC_ALPHA);
    }
}
