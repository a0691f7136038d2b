//! How long before a deadline a sleep is planned to end; from there on the driver spins.
//!
//! Sleeps overrun, by a few microseconds on an idle machine and by a hundred on a busy one. The margin follows the
//! 99.5 % quantile of what this machine did of late (a sleep that overran the estimate raises it by half, every other
//! one lowers it by 0.2 %: in balance one of 200 overruns it). A thread that never sleeps is taken off its processor by
//! the kernel, for 50 ms of every second, as soon as another thread is bound to that processor: when there has been next
//! to no sleep of late, the margin is the least one, so that small gaps between packets are slept through.

use crosswind_base::{Dur, Time};

/// The margin of a machine that has not been seen to sleep yet.
pub const MARGIN_AT_FIRST: Dur = Dur::from_micros(80);
const MARGIN_MIN: Dur = Dur::from_micros(20);
const MARGIN_MAX: Dur = Dur::from_micros(250);
/// From the end of a sleep to the packet's way out.
const AWAKENING: Dur = Dur::from_micros(4);
/// Shorter sleeps than this are mostly way in and out of the kernel.
const NAP_MIN: Dur = Dur::from_micros(10);
const RAISE: f64 = 1.5;
/// ln(1.5) * 0.005 / 0.995: as much downwards in 199 sleeps as upwards in one.
const LOWER: f64 = 1.0 - 0.002_037;
const WINDOW: Dur = Dur::from_millis(250);
/// One part in so many of a window must be slept; the kernel wants one in twenty.
const REST_PART: u64 = 12;

/// The margin, and what it follows.
#[derive(Clone, Debug)]
pub struct Margin {
    /// Chosen by the user once and for all.
    fixed: Option<Dur>,
    overrun_ns: f64,
    window: Time,
    slept: Dur,
    is_rested: bool,
}

impl Margin {
    pub fn new(fixed: Option<Dur>) -> Margin {
        let overrun_ns = (MARGIN_AT_FIRST.0 - AWAKENING.0) as f64;
        Margin { fixed, overrun_ns, window: Time::ZERO, slept: Dur::ZERO, is_rested: true }
    }

    /// How long to sleep when so much is left to the deadline; `None` means to spin.
    #[inline]
    pub fn nap(&mut self, now: Time, left: Dur) -> Option<Dur> {
        if now.since(self.window) >= WINDOW {
            self.is_rested = self.slept.0 * REST_PART >= now.since(self.window).0;
            (self.window, self.slept) = (now, Dur::ZERO);
        }
        let nap = left.saturating_sub(self.ahead());
        (nap >= NAP_MIN).then_some(nap)
    }

    #[inline]
    pub fn ahead(&self) -> Dur {
        match self.fixed {
            Some(margin) => margin,
            None if !self.is_rested => MARGIN_MIN,
            None => (Dur(self.overrun_ns as u64) + AWAKENING).clamp(MARGIN_MIN, MARGIN_MAX),
        }
    }

    /// A sleep has ended. `overrun`: by how much too late, if nothing interrupted it.
    #[inline]
    pub fn slept(&mut self, length: Dur, overrun: Option<Dur>) {
        self.slept = self.slept + length;
        let Some(over) = overrun else { return };
        self.overrun_ns *= if over.0 as f64 > self.overrun_ns { RAISE } else { LOWER };
        self.overrun_ns = self.overrun_ns.clamp(1_000.0, MARGIN_MAX.0 as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    const LONG: Dur = Dur::from_millis(5);

    #[test]
    fn the_margin_finds_the_overrun_that_one_sleep_in_two_hundred_exceeds() {
        let mut rng = Streams::new(1).named("overruns");
        for mean_us in [5.0, 20.0, 40.0] {
            let mut m = Margin::new(None);
            let mut over = 0;
            for i in 0..40_000 {
                // Exponential: 99.5 % lie below 5.3 times the mean; the margin leaves time to wake up besides.
                let overrun = Dur(rng.exponential(mean_us * 1e3) as u64);
                over += u32::from(i >= 20_000 && overrun + AWAKENING > m.ahead());
                m.slept(LONG, Some(overrun));
            }
            assert!((40..200).contains(&over), "{over} of 20000 at {mean_us} us");
        }
    }

    #[test]
    fn it_has_bounds_and_a_fixed_one_stays() {
        let mut m = Margin::new(None);
        assert_eq!(m.ahead(), MARGIN_AT_FIRST);
        (0..50).for_each(|_| m.slept(LONG, Some(Dur::from_millis(20))));
        assert_eq!(m.ahead(), MARGIN_MAX);
        (0..10_000).for_each(|_| m.slept(LONG, Some(Dur::ZERO)));
        assert_eq!(m.ahead(), MARGIN_MIN);
        let mut m = Margin::new(Some(Dur::from_micros(7)));
        m.slept(LONG, Some(Dur::from_millis(20)));
        assert_eq!(m.ahead(), Dur::from_micros(7));
        assert_eq!(m.nap(Time::ZERO, Dur::from_micros(17)), Some(Dur::from_micros(10)));
        assert_eq!(m.nap(Time::ZERO, Dur::from_micros(16)), None, "too short a sleep");
    }

    #[test]
    fn who_has_not_slept_sleeps_through_small_gaps() {
        let mut m = Margin::new(None);
        let left = Dur::from_micros(60);
        let mut now = Time::ZERO;
        assert_eq!(m.nap(now, left), None);
        now += WINDOW;
        assert_eq!(m.nap(now, left), Some(left.saturating_sub(MARGIN_MIN)), "a window without sleep is over");
        now += WINDOW;
        m.slept(Dur(WINDOW.0 / REST_PART + 1), None);
        assert_eq!(m.nap(now, left), None, "rested");
    }
}
