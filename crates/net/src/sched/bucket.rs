//! Token buckets in whole numbers: no rate is rounded and nothing drifts.

use crosswind_base::{BitRate, Dur, Size, Time};

/// Credit for one byte, in bits times nanoseconds per second: a bucket of rate `r` gains `r` of these in a nanosecond.
pub const PER_BYTE: i128 = 8_000_000_000;

/// Credit that grows with time up to a depth and is spent in bytes. Whether it may become negative is up to the user.
#[derive(Clone, Debug)]
pub struct Bucket {
    per_ns: i128,
    depth: i128,
    /// Credit at `at`.
    credit: i128,
    at: Time,
}

impl Bucket {
    /// A full bucket.
    pub fn new(rate: BitRate, depth: Size) -> Bucket {
        let depth = depth.0 as i128 * PER_BYTE;
        Bucket { per_ns: rate.0 as i128, depth, credit: depth, at: Time::ZERO }
    }

    /// Another rate and depth from now on; credit that does not fit any more is lost.
    pub fn set(&mut self, now: Time, rate: BitRate, depth: Size) {
        let credit = self.credit_at(now);
        *self = Bucket::new(rate, depth);
        (self.credit, self.at) = (credit.min(self.depth), now);
    }

    #[inline]
    fn credit_at(&self, now: Time) -> i128 {
        (self.credit + self.per_ns * now.since(self.at).0 as i128).min(self.depth)
    }

    /// Whether the credit is at least what `bytes` bytes cost; with zero bytes, that it is not negative.
    #[inline]
    pub fn covers(&self, bytes: u64, now: Time) -> bool {
        self.credit_at(now) >= bytes as i128 * PER_BYTE
    }

    /// Whether it is more than that.
    #[inline]
    pub fn exceeds(&self, bytes: u64, now: Time) -> bool {
        self.credit_at(now) > bytes as i128 * PER_BYTE
    }

    /// Whether it is not negative, with a debt of up to the whole depth allowed.
    #[inline]
    pub fn covers_in_debt(&self, now: Time) -> bool {
        self.credit_at(now) >= -self.depth
    }

    /// When the credit reaches the cost of `bytes` bytes, if nothing is spent until then: not before `now`, and never
    /// when the bucket is too small.
    pub fn covers_from(&self, bytes: u64, now: Time) -> Time {
        let cost = bytes as i128 * PER_BYTE;
        if cost > self.depth {
            return Time::NEVER;
        }
        let missing = cost - self.credit_at(now);
        if missing <= 0 {
            return now;
        }
        now + Dur(((missing + self.per_ns - 1) / self.per_ns) as u64)
    }

    /// Spends `bytes` bytes; a debt stops growing at what `debt_max` earns.
    #[inline]
    pub fn spend(&mut self, bytes: u64, now: Time, debt_max: Dur) {
        let least = -self.per_ns * debt_max.0 as i128;
        self.credit = (self.credit_at(now) - bytes as i128 * PER_BYTE).max(least);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREVER: Dur = Dur::from_secs(1_000_000);

    #[test]
    fn another_rate_and_depth_hold_from_now_on() {
        let at = |ms: u64| Time(ms * 1_000_000);
        let mut b = Bucket::new(BitRate(8_000), Size(1000));
        b.spend(600, Time::ZERO, Dur::ZERO);
        b.set(at(100), BitRate(16_000), Size(700));
        // 400 B were left, 100 came at the old rate; 2 B per ms come now, up to 700.
        assert!(b.covers(500, at(100)) && !b.covers(501, at(100)));
        assert!(b.covers(520, at(110)) && !b.covers(521, at(110)));
        assert!(b.covers(700, at(900)) && !b.covers(701, at(900)));
    }

    #[test]
    fn a_bucket_fills_at_its_rate_and_no_further_than_its_depth() {
        let mut b = Bucket::new(BitRate(8000), Size(100));
        assert!(b.covers(100, Time::ZERO) && !b.covers(101, Time(u64::MAX / 2)));
        b.spend(100, Time::ZERO, FOREVER);
        assert!(!b.covers(1, Time(999_999)) && b.covers(1, Time(1_000_000)));
        assert_eq!(b.covers_from(60, Time::ZERO), Time(60_000_000));
        assert_eq!(b.covers_from(101, Time::ZERO), Time::NEVER);
        assert!(b.covers(100, Time::from_secs_f64(1000.0)));
    }

    #[test]
    fn a_debt_is_paid_off_at_the_rate_and_has_a_limit() {
        let mut b = Bucket::new(BitRate(8000), Size(100));
        b.spend(150, Time::ZERO, FOREVER);
        assert_eq!(b.covers_from(0, Time::ZERO), Time(50_000_000));
        assert!(b.covers_in_debt(Time::ZERO));
        b.spend(51, Time::ZERO, FOREVER);
        assert!(!b.covers_in_debt(Time::ZERO) && b.covers_in_debt(Time(1_000_000)));
        b.spend(1_000_000, Time::ZERO, Dur::from_secs(2));
        assert_eq!(b.covers_from(0, Time::ZERO), Time(2_000_000_000));
    }

    #[test]
    fn an_awkward_rate_does_not_drift_over_a_million_packets() {
        let rate = BitRate(3_000_007);
        let mut b = Bucket::new(rate, Size(1500));
        let mut now = Time::ZERO;
        for _ in 0..1_000_000 {
            now = b.covers_from(1000, now);
            b.spend(1000, now, FOREVER);
        }
        // 999 998.5 packets wait for credit: the first 1500 bytes are there at once.
        let exact = (1_000_000_000f64 - 1500.0) * 8e9 / 3_000_007.0;
        assert!((now.0 as f64 - exact).abs() <= 1e6 + 1.0, "{} {exact}", now.0);
        let late = now.0 as f64 - exact;
        assert!((0.0..2.0).contains(&late), "{late}");
    }
}
