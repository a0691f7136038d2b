//! What UDT's receiver measures of arrivals: how fast packets come, and how far apart those come that left together.

use crosswind_base::{Dur, Time};

/// The round-trip time after one more sample, at either end: weighted 7 to 1, in whole nanoseconds.
pub(super) fn smoothed(before: Option<Dur>, sample: Dur) -> Dur {
    before.map_or(sample, |mean| Dur((7 * mean.0 + sample.0) / 8))
}

const KEPT: usize = 16;

/// The last sixteen spans; their typical rate.
#[derive(Clone, Debug)]
struct Window {
    spans: [Dur; KEPT],
    next: usize,
    filled: usize,
}

impl Window {
    fn new() -> Window {
        Window { spans: [Dur::ZERO; KEPT], next: 0, filled: 0 }
    }
    fn add(&mut self, span: Dur) {
        self.spans[self.next] = span;
        self.next = (self.next + 1) % KEPT;
        self.filled = (self.filled + 1).min(KEPT);
    }
    /// Packets per second out of the spans within a factor of eight of the median; zero when these are too few.
    fn rate(&self, at_least: usize) -> f64 {
        let mut sorted = self.spans;
        let sorted = &mut sorted[..self.filled];
        sorted.sort_unstable();
        let Some(&median) = sorted.get(self.filled / 2) else { return 0.0 };
        let near = |s: &&Dur| s.0 < 8 * median.0.max(1) && 8 * s.0 >= median.0;
        let (n, sum) = sorted.iter().filter(near).fold((0usize, 0u64), |(n, sum), s| (n + 1, sum + s.0));
        if n < at_least || sum == 0 { 0.0 } else { n as f64 * 1e9 / sum as f64 }
    }
}

#[derive(Clone, Debug)]
pub struct Arrivals {
    spans: Window,
    pairs: Window,
    last: Option<Time>,
    pair_began: Option<(u64, Time)>,
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals { spans: Window::new(), pairs: Window::new(), last: None, pair_began: None }
    }
}

impl Arrivals {
    /// A data packet arrives; every `pair_every`-th begins a pair (0: none does).
    pub fn note(&mut self, number: u64, pair_every: u64, now: Time) {
        if let Some(last) = self.last {
            self.spans.add(now.since(last));
        }
        self.last = Some(now);
        if pair_every == 0 {
            return;
        }
        if number % pair_every == 0 {
            self.pair_began = Some((number, now));
        } else if let Some((first, at)) = self.pair_began.take().filter(|(first, _)| first + 1 == number) {
            debug_assert!(first < number);
            self.pairs.add(now.since(at));
        }
    }

    /// Packets per second that arrive.
    pub fn rate(&self) -> f64 {
        self.spans.rate(KEPT / 2 + 1)
    }
    /// Packets per second that the path could carry.
    pub fn capacity(&self) -> f64 {
        self.pairs.rate(1)
    }
}
