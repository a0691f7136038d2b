//! Random streams that are named, so that adding a component shifts nobody else's draws.

use rand::{Rng as _, SeedableRng};

/// The generator behind every stream: PCG-64 (DXSM), small, fast and portable.
#[derive(Clone, Debug)]
pub struct Rng(rand_pcg::Pcg64Dxsm);

/// The source of all streams of one run.
///
/// `Streams::new(seed).named("flow7/tcp")` depends on the seed and the name alone. Two configurations that share a
/// seed therefore see the same start times, losses and state histories in the components that they share, and can be
/// compared pair by pair (common random numbers).
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    pub fn new(seed: u64) -> Streams {
        Streams { seed }
    }

    pub fn named(&self, path: &str) -> Rng {
        // FNV-1a spreads the name, SplitMix64 mixes it with the seed into the 256 bits that the generator wants.
        let mut h = 0xcbf2_9ce4_8422_2325u64;
        for b in path.bytes() {
            h = (h ^ b as u64).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut x = self.seed ^ h.rotate_left(17);
        let mut key = [0u8; 32];
        for chunk in key.chunks_mut(8) {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x ^ h;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes());
        }
        Rng(rand_pcg::Pcg64Dxsm::from_seed(key))
    }
}

impl Rng {
    /// Uniform on [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
    /// Uniform on [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }
    /// Uniform on 0..n (n > 0), free of modulo bias.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "an empty range has no element to draw");
        ((self.0.next_u64() as u128 * n as u128) >> 64) as u64
    }
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }
    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
    /// The generator itself, for the distributions of `rand_distr`.
    pub fn raw(&mut self) -> &mut rand_pcg::Pcg64Dxsm {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let draw = |seed, name| Streams::new(seed).named(name).bits();
        assert_eq!(draw(1, "flow7/tcp"), draw(1, "flow7/tcp"));
        assert_ne!(draw(1, "flow7/tcp"), draw(1, "flow8/tcp"));
        assert_ne!(draw(1, "flow7/tcp"), draw(2, "flow7/tcp"));
    }

    #[test]
    fn uniform_draws_have_the_right_mean_and_stay_in_range() {
        let mut r = Streams::new(3).named("u");
        let xs: Vec<f64> = (0..100_000).map(|_| r.uniform()).collect();
        assert!(xs.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = xs.iter().sum::<f64>() / xs.len() as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }

    #[test]
    fn exponential_draws_have_the_right_mean() {
        let mut r = Streams::new(3).named("e");
        let mean = (0..200_000).map(|_| r.exponential(2.5)).sum::<f64>() / 200_000.0;
        assert!((mean - 2.5).abs() < 0.03, "{mean}");
    }
}
