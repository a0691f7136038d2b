//! Shaping without a burst: a clock says when the next packet may leave, and a pause saves nothing.

use crosswind_base::{Dur, Time};

/// Nanoseconds for each byte as a binary fraction: a number below 2^34, and how many of its bits are behind the point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    ns: u64,
    shift: u32,
}

const POINT: u32 = 34;
/// No clock goes slower, in bytes per second.
const SLOWEST: u64 = 64;

impl Pace {
    /// Of a rate in bytes per second; without one, no byte takes time.
    pub fn of(rate: u64) -> Pace {
        let (mut ns, mut shift) = (0, 0);
        if rate > 0 {
            (ns, shift) = ((1_000_000_000u64 << POINT) / rate.max(SLOWEST), POINT);
            while ns >> POINT > 0 {
                ns >>= 1;
                shift -= 1;
            }
        }
        Pace { ns, shift }
    }
    #[inline]
    pub fn time(self, bytes: u64) -> Dur {
        Dur((bytes * self.ns) >> self.shift)
    }
    pub fn is_unlimited(self) -> bool {
        self.ns == 0
    }
}

/// The clock of all tins together, and one that goes slower and hears of what was sent only: a packet leaves when the first of
/// them allows it.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    pub pace: Pace,
    next: Time,
    failsafe: Time,
}

/// Whether a packet went on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Sent,
    Dropped,
}

impl Shaper {
    pub fn new(pace: Pace) -> Shaper {
        Shaper { pace, next: Time::ZERO, failsafe: Time::ZERO }
    }
    /// When the next packet may leave.
    #[inline]
    pub fn opens(&self) -> Time {
        self.next.min(self.failsafe)
    }
    /// A packet comes and nothing waits.
    #[inline]
    pub fn starts(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }
    #[inline]
    pub fn charge(&mut self, bytes: u64, fate: Fate) {
        let time = self.pace.time(bytes);
        self.next += time;
        if fate == Fate::Sent {
            self.failsafe += time + Dur(time.0 >> 1);
        }
    }
}

/// The clock of one tin is never more than one packet ahead: it decides about priority, not about rate.
#[inline]
pub fn tin_clock(next: Time, now: Time, time: Dur) -> Time {
    if next < now { next + time } else { next.max(now + time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_the_time_of_its_rate() {
        for (kbit, ns) in
            [(256, 47_312_500), (1000, 12_112_000), (2000, 6_056_000), (3000, 4_037_333), (5000, 2_422_400)]
        {
            assert_eq!(Pace::of(kbit * 125).time(1514), Dur(ns), "{kbit} kbit/s");
        }
        assert!(Pace::of(0).is_unlimited() && Pace::of(0).time(1514) == Dur::ZERO);
    }

    #[test]
    fn a_tin_is_charged_for_one_packet_ahead_at_most() {
        let d = Dur(10);
        assert_eq!(tin_clock(Time(5), Time(100), d), Time(15), "far behind: one packet");
        assert_eq!(tin_clock(Time(100), Time(100), d), Time(110));
        assert_eq!(tin_clock(Time(105), Time(100), d), Time(110));
        assert_eq!(tin_clock(Time(500), Time(100), d), Time(500));
    }
}
