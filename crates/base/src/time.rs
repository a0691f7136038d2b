//! Time in whole nanoseconds, rates in bits per second, and serialisation that never drifts.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time: nanoseconds since the start of the run. 64 bits hold 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dur(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(pub u64);

const NS_PER_S: u64 = 1_000_000_000;

/// The nearest whole number, halves up, as `f64::round` gives it, without a call of the mathematics library.
#[inline]
fn rounded(x: f64) -> u64 {
    // Signed, because processors convert those at once.
    let whole = x as i64;
    if whole == i64::MAX {
        return x as u64;
    }
    (whole + i64::from(x - whole as f64 >= 0.5)).max(0) as u64
}

impl Time {
    pub const ZERO: Time = Time(0);
    /// Later than anything that can happen.
    pub const NEVER: Time = Time(u64::MAX);

    pub fn from_secs_f64(s: f64) -> Time {
        Time(rounded(s * NS_PER_S as f64))
    }
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
    /// Time elapsed since `earlier`; zero when `earlier` lies in the future.
    pub fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

/// A time that may not have come: an `Option<Time>` in eight bytes, for what every flow carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment(Time);

impl Moment {
    pub const NONE: Moment = Moment(Time::NEVER);

    #[inline]
    pub fn get(self) -> Option<Time> {
        (self != Moment::NONE).then_some(self.0)
    }
    #[inline]
    pub fn is_some(self) -> bool {
        self != Moment::NONE
    }
    #[inline]
    pub fn is_none(self) -> bool {
        self == Moment::NONE
    }
    /// It is now, unless it has been.
    pub fn come_first(&mut self, now: Time) {
        if self.is_none() {
            self.0 = now;
        }
    }
}

impl Default for Moment {
    fn default() -> Moment {
        Moment::NONE
    }
}

impl From<Time> for Moment {
    fn from(at: Time) -> Moment {
        Moment(at)
    }
}

impl Dur {
    pub const ZERO: Dur = Dur(0);
    pub const MAX: Dur = Dur(u64::MAX);

    pub const fn from_nanos(ns: u64) -> Dur {
        Dur(ns)
    }
    pub const fn from_micros(us: u64) -> Dur {
        Dur(us * 1_000)
    }
    pub const fn from_millis(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }
    pub const fn from_secs(s: u64) -> Dur {
        Dur(s * NS_PER_S)
    }
    pub fn from_secs_f64(s: f64) -> Dur {
        Dur(rounded(s * NS_PER_S as f64))
    }
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
    pub fn mul_f64(self, k: f64) -> Dur {
        Dur(rounded(self.0 as f64 * k))
    }
    pub fn saturating_mul(self, k: u64) -> Dur {
        Dur(self.0.saturating_mul(k))
    }
    pub fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }
    /// Rounded up to a whole number of `tick`s (a zero tick leaves the value alone).
    pub fn ceil_to(self, tick: Dur) -> Dur {
        if tick.0 == 0 { self } else { Dur(self.0.div_ceil(tick.0) * tick.0) }
    }
}

impl BitRate {
    pub const fn from_bps(bps: u64) -> BitRate {
        BitRate(bps)
    }
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
    /// Time to send `bytes`, rounded to the nearest nanosecond. For back-to-back packets use [`Serializer`].
    pub fn tx_time(self, bytes: u64) -> Dur {
        let num = bytes as u128 * 8 * NS_PER_S as u128;
        Dur(((num + self.0 as u128 / 2) / self.0 as u128) as u64)
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    fn add(self, d: Dur) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}
impl Sub<Dur> for Time {
    type Output = Time;
    fn sub(self, d: Dur) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}
impl Sub for Time {
    type Output = Dur;
    /// Panics in debug builds when `other` is later: a negative span is a bug of the caller.
    fn sub(self, other: Time) -> Dur {
        debug_assert!(self >= other, "negative time span");
        Dur(self.0.wrapping_sub(other.0))
    }
}
impl Add for Dur {
    type Output = Dur;
    fn add(self, d: Dur) -> Dur {
        Dur(self.0.saturating_add(d.0))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { write!(f, "never") } else { write!(f, "{:.9}s", self.as_secs_f64()) }
    }
}
impl fmt::Debug for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}
impl fmt::Debug for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}bit/s", self.0)
    }
}

/// Turns packet sizes into exact transmission times.
///
/// A nanosecond clock cannot hold 1000 bytes at 3 Mbit/s exactly; the part that is left over is carried to the next
/// packet of the same busy period, so that a million back-to-back packets end within one nanosecond of where they
/// should.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: BitRate,
    /// Left over from the last division, in units of 1/rate nanoseconds; always below `rate`.
    carry: u64,
    /// The last size and its quotient and remainder: most packets of a link have one of two sizes.
    cached: [(u32, u64, u64); 2],
}

impl Serializer {
    pub fn new(rate: BitRate) -> Serializer {
        assert!(rate.0 > 0, "a serialiser needs a positive rate");
        Serializer { rate, carry: 0, cached: [(0, 0, 0); 2] }
    }
    pub fn rate(&self) -> BitRate {
        self.rate
    }
    pub fn set_rate(&mut self, rate: BitRate) {
        *self = Serializer::new(rate);
    }
    /// The line went idle: the next packet starts on a whole nanosecond.
    #[inline]
    pub fn restart(&mut self) {
        self.carry = 0;
    }
    /// Time on the line of the next packet, `bytes` long.
    #[inline]
    pub fn take(&mut self, bytes: u32) -> Dur {
        let slot = (bytes > 127) as usize;
        if self.cached[slot].0 != bytes {
            let num = bytes as u128 * 8 * NS_PER_S as u128;
            let (q, r) = (num / self.rate.0 as u128, num % self.rate.0 as u128);
            self.cached[slot] = (bytes, q as u64, r as u64);
        }
        let (_, q, r) = self.cached[slot];
        let sum = self.carry + r;
        if sum >= self.rate.0 {
            self.carry = sum - self.rate.0;
            Dur(q + 1)
        } else {
            self.carry = sum;
            Dur(q)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_packets_at_an_awkward_rate_end_within_a_nanosecond() {
        let mut s = Serializer::new(BitRate(3_000_007));
        let total: u64 = (0..1_000_000).map(|_| s.take(1000).0).sum();
        let exact = 1_000_000f64 * 8000.0 * 1e9 / 3_000_007.0;
        assert!((total as f64 - exact).abs() <= 1.0, "{total} {exact}");
    }

    #[test]
    fn rounding_is_that_of_the_library() {
        let mut rng = crate::Streams::new(1).named("rounding");
        let drawn = (0..100_000).map(|i| (rng.uniform() - 0.1) * 10f64.powi(i % 24 - 2));
        let edges = [0.49999999999999994, 0.5, 1.5, 2.5, -0.5, -3.7, 4503599627370495.5, 9.3e18, 1.9e19, -1e300, 1e300];
        let halves = (0..1000).map(|i| f64::from(i) / 2.0);
        for x in drawn.chain(edges).chain(halves).chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
            assert_eq!(rounded(x), x.round() as u64, "{x}");
        }
    }

    #[test]
    fn serialisation_matches_the_published_figures() {
        // [Järvinen 2006] claim 1: 576 B take 72 ms at 64 kbit/s, 12 ms at 384 kbit/s.
        assert_eq!(BitRate(64_000).tx_time(576), Dur::from_millis(72));
        assert_eq!(BitRate(384_000).tx_time(576), Dur::from_millis(12));
        assert_eq!(BitRate(64_000).tx_time(76), Dur::from_micros(9_500));
    }

    #[test]
    fn rounding_up_to_ticks() {
        assert_eq!(Dur(1).ceil_to(Dur(10)), Dur(10));
        assert_eq!(Dur(10).ceil_to(Dur(10)), Dur(10));
        assert_eq!(Dur(7).ceil_to(Dur::ZERO), Dur(7));
    }
}
