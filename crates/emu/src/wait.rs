//! How long before a deadline a sleep is planned to end, and when the driver must sleep although it is not free to.
//!
//! From the end of a sleep on the driver spins. Sleeps overrun, by a few microseconds on an idle machine and by a
//! hundred in a virtual one. The [`Margin`] follows the 99.5 % quantile of what this machine did of late.
//!
//! A thread of fixed priority that never sleeps is taken off its processor for 50 ms of every second: by kernels that
//! schedule groups of such threads always, by others when another thread waits for the processor. [`Rest`] counts what
//! the thread owes; a debt is paid in gaps that hold half of the shortest sleeps, and a large debt at once: many packets
//! some tens of microseconds late instead of a few 50 ms late.

use crosswind_base::{Dur, Time};

/// The margin of a machine that has not been seen to sleep yet.
pub const MARGIN_AT_FIRST: Dur = Dur::from_micros(80);
const MARGIN_MIN: Dur = Dur::from_micros(20);
const MARGIN_MAX: Dur = Dur::from_micros(250);
/// From the end of a sleep to the packet's way out.
const AWAKENING: Dur = Dur::from_micros(4);
/// From shorter sleeps a thread is called back before it has left its processor: they are no rest. And every sleep is a
/// chance for a thread of the kernel to begin something that cannot be interrupted for milliseconds.
const NAP_SHORTEST: Dur = Dur::from_micros(40);

/// A quantile that is followed without a memory of values: up by one factor, down by another, in balance where as many
/// values as wanted lie above.
#[derive(Clone, Copy, Debug)]
struct Follower {
    value: f64,
    up: f64,
    down: f64,
}

impl Follower {
    fn new(first: Dur, above: f64, up: f64) -> Follower {
        Follower { value: first.0 as f64, up, down: (-up.ln() * above / (1.0 - above)).exp() }
    }
    #[inline]
    fn see(&mut self, value: Dur) {
        self.value *= if value.0 as f64 > self.value { self.up } else { self.down };
        self.value = self.value.clamp(1_000.0, MARGIN_MAX.0 as f64);
    }
    #[inline]
    fn get(&self) -> Dur {
        Dur(self.value as u64)
    }
}

/// The margin, and what it follows.
#[derive(Clone, Debug)]
pub struct Margin {
    /// Chosen by the user once and for all.
    fixed: Option<Dur>,
    /// One sleep in 200 overruns by more.
    rare: Follower,
    /// Every second one does.
    usual: Follower,
}

impl Margin {
    pub fn new(fixed: Option<Dur>) -> Margin {
        let first = MARGIN_AT_FIRST.saturating_sub(AWAKENING);
        Margin { fixed, rare: Follower::new(first, 0.005, 1.5), usual: Follower::new(first, 0.5, 1.02) }
    }

    /// How long to sleep when so much is left to the deadline; `None` means to spin.
    #[inline]
    pub fn nap(&self, left: Dur, owes: bool) -> Option<Dur> {
        let nap = left.saturating_sub(self.ahead());
        if nap >= NAP_SHORTEST {
            return Some(nap);
        }
        (owes && self.fixed.is_none() && left > NAP_SHORTEST + self.usual.get() + AWAKENING).then_some(NAP_SHORTEST)
    }

    #[inline]
    pub fn ahead(&self) -> Dur {
        self.fixed.unwrap_or_else(|| (self.rare.get() + AWAKENING).clamp(MARGIN_MIN, MARGIN_MAX))
    }

    /// A sleep has ended by so much too late, and nothing else had ended it.
    #[inline]
    pub fn overran(&mut self, by: Dur) {
        self.rare.see(by);
        self.usual.see(by);
    }
}

/// One part in so many of the time is spent off the processor; the kernel wants one in twenty.
const REST_PART: u64 = 14;
/// How often the time on the processor is read.
const LOOK_EVERY: Dur = Dur::from_micros(500);
/// Rest that may be had in advance, for times without any.
const CREDIT: i64 = 15_000_000;
/// Beyond this the rest is taken at once.
const DEBT_MAX: i64 = 100_000;

/// What the thread owes the others on its processor, in nanoseconds; negative when it has rested in advance.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    owed: i64,
    looked: Time,
    on_processor: Dur,
}

impl Rest {
    /// Whether it is time for another look at the clock of the thread.
    #[inline]
    pub fn wants_look(&self, now: Time) -> bool {
        now.since(self.looked) >= LOOK_EVERY
    }

    /// So long has the thread been on a processor since it began.
    pub fn look(&mut self, now: Time, on_processor: Dur) {
        let wall = now.since(self.looked);
        let busy = on_processor.saturating_sub(self.on_processor);
        let rested = wall.saturating_sub(busy);
        let change = (wall.0 / REST_PART) as i64 - rested.0 as i64;
        self.owed = (self.owed + change).clamp(-CREDIT, CREDIT);
        (self.looked, self.on_processor) = (now, on_processor);
    }

    #[inline]
    pub fn owes(&self) -> bool {
        self.owed > 0
    }

    /// The rest that has to be taken now, whatever is due.
    #[inline]
    pub fn overdue(&self) -> Option<Dur> {
        (self.owed > DEBT_MAX).then_some(NAP_SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    #[test]
    fn the_margin_finds_the_overrun_that_one_sleep_in_two_hundred_exceeds() {
        let mut rng = Streams::new(1).named("overruns");
        for mean_us in [5.0, 20.0, 40.0] {
            let mut m = Margin::new(None);
            let (mut rare, mut usual) = (0, 0);
            for i in 0..40_000 {
                // Exponential: 99.5 % lie below 5.3 times the mean; the margin leaves time to wake up besides.
                let overrun = Dur(rng.exponential(mean_us * 1e3) as u64);
                rare += u32::from(i >= 20_000 && overrun + AWAKENING > m.ahead());
                usual += u32::from(i >= 20_000 && overrun > m.usual.get());
                m.overran(overrun);
            }
            assert!((40..200).contains(&rare), "{rare} of 20000 at {mean_us} us");
            assert!((9_000..11_000).contains(&usual), "{usual} of 20000 at {mean_us} us");
        }
    }

    #[test]
    fn it_has_bounds_and_a_fixed_one_stays() {
        let mut m = Margin::new(None);
        assert_eq!(m.ahead(), MARGIN_AT_FIRST);
        (0..50).for_each(|_| m.overran(Dur::from_millis(20)));
        assert_eq!(m.ahead(), MARGIN_MAX);
        (0..10_000).for_each(|_| m.overran(Dur::ZERO));
        assert_eq!(m.ahead(), MARGIN_MIN);
        let mut m = Margin::new(Some(Dur::from_micros(7)));
        m.overran(Dur::from_millis(20));
        assert_eq!(m.ahead(), Dur::from_micros(7));
        assert_eq!(m.nap(Dur::from_micros(47), false), Some(NAP_SHORTEST));
        assert_eq!(m.nap(Dur::from_micros(46), true), None, "too short a sleep, and the user's margin is kept");
    }

    #[test]
    fn who_owes_sleeps_in_gaps_that_half_of_the_sleeps_fit() {
        let mut m = Margin::new(None);
        // Every tenth sleep overruns by much more than the others.
        (0..20_000).for_each(|i| m.overran(Dur::from_micros(if i % 10 == 0 { 150 } else { 30 })));
        assert!(m.ahead() >= Dur::from_micros(140));
        assert_eq!(m.nap(Dur::from_micros(90), false), None);
        assert_eq!(m.nap(Dur::from_micros(90), true), Some(NAP_SHORTEST));
        assert_eq!(m.nap(Dur::from_micros(60), true), None, "a packet would be late most of the time");
    }

    #[test]
    fn a_thread_that_spins_owes_one_part_in_fourteen() {
        let mut r = Rest::default();
        assert!(!r.wants_look(Time::ZERO) && r.wants_look(Time::ZERO + LOOK_EVERY));
        let mut now = Time::ZERO;
        let mut busy = Dur::ZERO;
        // Rested well at first: credit, but no more than 15 ms.
        now += Dur::from_secs(1);
        r.look(now, busy);
        assert!(!r.owes());
        // 15 ms of credit last for 14 times as long.
        for (ms, owes) in [(209, false), (2, true)] {
            now += Dur::from_millis(ms);
            busy = busy + Dur::from_millis(ms);
            r.look(now, busy);
            assert_eq!((r.owes(), r.overdue().is_some()), (owes, false), "after {ms} ms");
        }
        now += Dur::from_millis(2);
        busy = busy + Dur::from_millis(2);
        r.look(now, busy);
        assert_eq!(r.overdue(), Some(NAP_SHORTEST));
        // Half a millisecond of sleep pays for seven.
        now += Dur::from_micros(500);
        r.look(now, busy);
        assert!(!r.owes());
    }
}
