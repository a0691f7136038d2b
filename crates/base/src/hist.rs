//! A histogram with bounded relative error, cheap enough for every packet.

/// Log-linear buckets: 32 per octave, so a value is known to 3 %. Counts are exact. An empty one takes one word.
#[derive(Clone, Debug, Default)]
pub struct Histogram(Option<Box<Counts>>);

#[derive(Clone, Debug)]
struct Counts {
    /// Empty as long as all values lie in the first bucket.
    counts: Vec<u64>,
    /// Bucket of the first count: most histograms live in a few octaves.
    first: u32,
    n: u64,
    sum: Sum,
    min: u64,
    max: u64,
}

/// A sum of 128 bits that is aligned like its halves: a histogram of one bucket is the rule in a crowd of small flows.
#[derive(Clone, Copy, Debug, Default)]
struct Sum([u64; 2]);

impl Sum {
    #[inline]
    fn add(&mut self, v: u64) {
        let (low, carry) = self.0[0].overflowing_add(v);
        self.0 = [low, self.0[1] + u64::from(carry)];
    }
    fn add_many(&mut self, v: u64, times: u64) {
        let all = self.get() + u128::from(v) * u128::from(times);
        self.0 = [all as u64, (all >> 64) as u64];
    }
    fn get(self) -> u128 {
        u128::from(self.0[1]) << 64 | u128::from(self.0[0])
    }
}

const SUB_BITS: u32 = 5;
const SUB: u64 = 1 << SUB_BITS;

#[inline]
fn index(v: u64) -> usize {
    if v < SUB {
        return v as usize;
    }
    let octave = 63 - v.leading_zeros() - SUB_BITS;
    ((octave as u64 + 1) * SUB + ((v >> octave) - SUB)) as usize
}

/// The smallest value of bucket `i`.
fn low(i: usize) -> u64 {
    let (octave, sub) = (i as u64 / SUB, i as u64 % SUB);
    if octave == 0 { sub } else { (SUB + sub) << (octave - 1) }
}

impl Histogram {
    pub const fn new() -> Histogram {
        Histogram(None)
    }
    /// The same value `times` over.
    pub fn record_many(&mut self, v: u64, times: u64) {
        if times > 0 {
            self.record(v);
            if let Some(c) = &mut self.0 {
                c.add_to_bucket(index(v), times - 1);
                c.n += times - 1;
                c.sum.add_many(v, times - 1);
            }
        }
    }
    #[inline]
    pub fn record(&mut self, v: u64) {
        match &mut self.0 {
            Some(c) => c.record(v),
            None => self.begin(v),
        }
    }
    #[cold]
    fn begin(&mut self, v: u64) {
        let mut sum = Sum::default();
        sum.add(v);
        self.0 = Some(Box::new(Counts { counts: Vec::new(), first: index(v) as u32, n: 1, sum, min: v, max: v }));
    }
    pub fn count(&self) -> u64 {
        self.0.as_ref().map_or(0, |c| c.n)
    }
    /// Of all values, exactly.
    pub fn sum(&self) -> u128 {
        self.0.as_ref().map_or(0, |c| c.sum.get())
    }
    /// NaN when empty.
    pub fn mean(&self) -> f64 {
        self.0.as_ref().map_or(f64::NAN, |c| c.sum.get() as f64 / c.n as f64)
    }
    /// Zero when empty.
    pub fn min(&self) -> u64 {
        self.0.as_ref().map_or(0, |c| c.min)
    }
    /// Zero when empty.
    pub fn max(&self) -> u64 {
        self.0.as_ref().map_or(0, |c| c.max)
    }
    /// The `q` quantile (0..=1), interpolated inside its bucket; NaN when empty.
    pub fn quantile(&self, q: f64) -> f64 {
        let exact = [self.min() as f64, self.max() as f64];
        quantile(q, self.count(), exact, self.buckets().map(|(low, high, c)| (low as f64, (high - 1) as f64, c)))
    }
    /// Non-empty buckets as (low, high exclusive, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let numbered = self.0.iter().flat_map(|c| (c.first as usize..).zip(c.by_bucket()));
        numbered.filter(|(_, c)| **c > 0).map(|(i, c)| (low(i), low(i + 1), *c))
    }
}

/// Room that is made beyond a value outside the range, so that it need not be made for each.
const MARGIN: usize = SUB as usize / 4;

impl Counts {
    #[inline]
    fn record(&mut self, v: u64) {
        self.add_to_bucket(index(v), 1);
        self.min = self.min.min(v);
        self.max = self.max.max(v);
        self.n += 1;
        self.sum.add(v);
    }
    /// Before they are counted in `n`.
    #[inline]
    fn add_to_bucket(&mut self, i: usize, times: u64) {
        let first = self.first as usize;
        if let Some(count) = self.counts.get_mut(i.wrapping_sub(first)) {
            *count += times;
        } else if !self.counts.is_empty() || i != first {
            *self.make_room(i) += times;
        }
    }
    /// From the first bucket on.
    fn by_bucket(&self) -> &[u64] {
        if self.counts.is_empty() { std::slice::from_ref(&self.n) } else { &self.counts }
    }
    /// Widens the range to bucket `i`, and some more.
    #[cold]
    fn make_room(&mut self, i: usize) -> &mut u64 {
        if self.counts.is_empty() {
            self.counts.push(self.n);
        }
        if i < self.first as usize {
            let first = i.saturating_sub(MARGIN);
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first as usize - first));
            self.first = first as u32;
        }
        let at = i - self.first as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + MARGIN, 0);
        }
        &mut self.counts[at]
    }
}

/// The `q` quantile of `n` values in buckets (lowest, highest, count), interpolated inside one; NaN when there are none.
fn quantile(q: f64, n: u64, [min, max]: [f64; 2], buckets: impl Iterator<Item = (f64, f64, u64)>) -> f64 {
    if n == 0 {
        return f64::NAN;
    }
    let rank = q.clamp(0.0, 1.0) * (n - 1) as f64;
    let mut before = 0u64;
    for (low, high, c) in buckets {
        if rank < (before + c) as f64 {
            let inside = (rank - before as f64 + 0.5) / c as f64;
            return (low + inside * (high - low)).clamp(min, max);
        }
        before += c;
    }
    max
}

/// Counts of signed values in buckets of one width: known to that width, whatever their size.
#[derive(Clone, Debug)]
pub struct LinearHistogram {
    width: i64,
    /// Bucket k holds [k, k + 1) widths; `below` begins with -1 and goes down.
    below: Vec<u64>,
    above: Vec<u64>,
    n: u64,
    min: i64,
    max: i64,
}

/// Values beyond this many widths share the outermost bucket.
const LINEAR_BUCKETS_MAX: i64 = 1 << 18;

impl LinearHistogram {
    pub fn new(width: u32) -> LinearHistogram {
        LinearHistogram { width: i64::from(width.max(1)), below: Vec::new(), above: Vec::new(), n: 0, min: 0, max: 0 }
    }
    pub fn record(&mut self, v: i64) {
        let k = v.div_euclid(self.width).clamp(-LINEAR_BUCKETS_MAX, LINEAR_BUCKETS_MAX - 1);
        let (side, i) = if k < 0 { (&mut self.below, (-1 - k) as usize) } else { (&mut self.above, k as usize) };
        if i >= side.len() {
            side.resize(i + 1, 0);
        }
        side[i] += 1;
        self.min = if self.n == 0 { v } else { self.min.min(v) };
        self.max = if self.n == 0 { v } else { self.max.max(v) };
        self.n += 1;
    }
    pub fn count(&self) -> u64 {
        self.n
    }
    /// `None` when empty.
    pub fn range(&self) -> Option<(i64, i64)> {
        (self.n > 0).then_some((self.min, self.max))
    }
    /// Buckets that are not empty, upwards, as (low, high exclusive, count).
    pub fn buckets(&self) -> impl Iterator<Item = (i64, i64, u64)> + '_ {
        let below = self.below.iter().enumerate().rev().map(|(i, c)| (-1 - i as i64, *c));
        let above = self.above.iter().enumerate().map(|(i, c)| (i as i64, *c));
        let w = self.width;
        below.chain(above).filter(|(_, c)| *c > 0).map(move |(k, c)| (k * w, (k + 1) * w, c))
    }
    /// The `q` quantile (0..=1), interpolated inside its bucket; NaN when empty.
    pub fn quantile(&self, q: f64) -> f64 {
        let exact = [self.min as f64, self.max as f64];
        quantile(q, self.n, exact, self.buckets().map(|(low, high, c)| (low as f64, high as f64, c)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_in_its_bucket() {
        for v in (0..5000).chain((0..60).map(|k| 1u64 << k)).chain((1..60).map(|k| (1u64 << k) - 1)) {
            let i = index(v);
            assert!(low(i) <= v && v < low(i + 1), "{v} {i}");
        }
    }

    #[test]
    fn values_may_come_in_any_order() {
        let values = [5_000_000_u64, 17, 80_000_000_000, 0, 5_000_001, 1 << 40];
        let mut h = Histogram::new();
        for v in values {
            h.record_many(v, 3);
        }
        let seen: Vec<u64> = h.buckets().flat_map(|(low, _, n)| std::iter::repeat_n(low, n as usize)).collect();
        let mut want: Vec<u64> = values.iter().flat_map(|v| [low(index(*v)); 3]).collect();
        want.sort_unstable();
        assert_eq!(seen, want);
        assert_eq!((h.min(), h.max(), h.count()), (0, 1 << 40, 18));
    }

    #[test]
    fn quantiles_are_within_the_promised_error() {
        let mut h = Histogram::new();
        (1..=100_000u64).for_each(|v| h.record(v));
        for q in [0.01, 0.5, 0.95, 0.999] {
            let want = q * 100_000.0;
            assert!((h.quantile(q) - want).abs() / want < 0.032, "{q} {}", h.quantile(q));
        }
        assert_eq!((h.quantile(0.0), h.quantile(1.0)), (1.0, 100_000.0));
    }

    #[test]
    fn signed_values_are_known_to_one_width_on_both_sides_of_zero() {
        let mut h = LinearHistogram::new(100);
        assert!(h.quantile(0.5).is_nan() && h.range().is_none());
        let values: Vec<i64> = (-5000..5000).map(|k| k * 7).collect();
        values.iter().for_each(|v| h.record(*v));
        assert_eq!(h.range(), Some((-35_000, 34_993)));
        assert_eq!(h.count(), 10_000);
        for q in [0.01, 0.25, 0.5, 0.75, 0.99] {
            let want = values[(q * 9999.0) as usize] as f64;
            assert!((h.quantile(q) - want).abs() <= 100.0, "{q}: {} instead of {want}", h.quantile(q));
        }
        assert!(h.buckets().all(|(low, high, _)| low % 100 == 0 && high - low == 100));
        assert!(h.buckets().map(|b| b.0).is_sorted());
        assert_eq!(h.buckets().map(|b| b.2).sum::<u64>(), 10_000);
    }
}
