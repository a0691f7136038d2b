//! # Limited slow start
//!
//! **Source**: rfc3742 section 2.
//!
//! **Idea**: while the window is at most `limit_segments`, slow start is as ever; above, an ACK adds `1/K` of a segment with
//! `K = int(cwnd / (limit_segments / 2))`, so that a round trip adds about half of `limit_segments` at most.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `slow_start` | - | `standard` | `limited` |
//! | `hystart.limit_segments` | segments | 100 | rfc3742 section 2 |
//!
//! **Deviations**: 1. The source counts ACKs and rounds each addition down to whole bytes; here what slow start would add is divided by K, in real
//! numbers. 2. Laws with a slow start of their own keep it.
//!
//! **Checked by**: unit tests (the growth per round trip, and the windows that the source names).

/// What is added above the limit for each of what slow start would add; windows in segments.
pub(super) fn share(window: f64, limit: f64) -> f64 {
    if window <= limit { 1.0 } else { 1.0 / (window / (0.5 * limit)).floor() }
}

#[cfg(test)]
mod tests {
    use super::share;
    use crate::tcp::facts::Ack;
    use crate::tcp::law::{Controller, Law};
    use crate::tcp::params::SlowStart;
    use crate::tcp::preset;

    #[test]
    fn the_share_is_one_up_to_the_limit_and_one_over_k_above() {
        let of = |window: f64| share(window, 100.0);
        assert_eq!(
            [of(50.0), of(100.0), of(101.0), of(149.0), of(150.0), of(1000.0)],
            [1.0, 1.0, 0.5, 0.5, 1.0 / 3.0, 0.05]
        );
    }

    #[test]
    fn a_round_trip_adds_half_the_limit_at_most() {
        let p = preset::preset("rfc").expect("a preset").with(|p| p.controller.slow_start = SlowStart::Limited);
        let mut law = Law::new(&p);
        let mss = p.connection.mss.0;
        let mut rounds = 0;
        while law.cwnd() < 2000.0 * mss as f64 {
            let before = law.cwnd() / mss as f64;
            for _ in 0..before as u64 {
                law.grow(&Ack { bytes: mss, ..Ack::default() });
            }
            let added = law.cwnd() / mss as f64 - before;
            assert!(added <= if before <= 100.0 { before } else { 50.0 } + 1e-9, "{before}: {added}");
            rounds += 1;
        }
        // Without the limit the window would be there after eight.
        assert!((42..50).contains(&rounds), "{rounds}");
    }
}
