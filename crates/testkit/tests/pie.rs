//! PIE: computed probabilities, the kernel's word for word, gaps between picks, and random traces against the pseudo-code.

use crosswind_base::{DropReason, Dur, Ecn, Limit, Streams, Time};
use crosswind_net::queue::aqm::EcnMode;
use crosswind_net::queue::pie::{self, Estimator, MAX_P, Pie, PieParams, Profile, gains};
use crosswind_testkit::bench::{DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::pie::{self as oracle, Fate};

fn params(profile: Profile) -> PieParams {
    let mean_packet = crosswind_base::Size(if profile == Profile::Linux { 1514 } else { 1500 });
    PieParams { profile, mean_packet, ..PieParams::default() }
}

/// The law after each of these delays in ms.
fn driven(profile: Profile, delays: impl IntoIterator<Item = u64>) -> Vec<Pie> {
    let mut law = Pie::new(params(profile));
    let step = |ms| {
        law.update(Dur::from_millis(ms), ms == 0);
        law.clone()
    };
    delays.into_iter().map(step).collect()
}

fn step_to(ms: u64) -> impl Iterator<Item = u64> {
    [0, 0].into_iter().chain(std::iter::repeat_n(ms, 100))
}

fn is_near(p: f64, known: f64) -> bool {
    (p - known).abs() <= 6e-7 * known
}

#[test]
fn the_probability_climbs_the_ladder_of_the_rfc() {
    let p: Vec<f64> = driven(Profile::Rfc8033, step_to(50)).iter().map(Pie::probability).collect();
    let known = [
        3.265381e-5,
        6.683350e-5,
        1.010132e-4,
        2.377319e-4,
        3.744507e-4,
        5.111694e-4,
        6.478882e-4,
        7.846069e-4,
        9.213257e-4,
        1.058044e-3,
        1.604919e-3,
        2.151794e-3,
    ];
    known.iter().zip(&p[2..]).for_each(|(known, p)| assert!(is_near(*p, *known), "{p} and {known}"));
    assert!(is_near(p[28], 1.035492e-2) && is_near(p[29], 1.254242e-2), "{} {}", p[28], p[29]);
    let until = |bound: f64| p[2..].iter().position(|p| *p >= bound).expect("it gets there") + 1;
    assert_eq!([0.001, 0.01, 0.05, 0.1, 0.2].map(until), [10, 27, 46, 68, 91]);
}

#[test]
fn the_kernels_probability_is_its_integers() {
    let p: Vec<u64> = driven(Profile::Linux, step_to(50)).iter().filter_map(Pie::parts).collect();
    let known = [
        2_352_953_750_000,
        4_815_859_453_125,
        7_278_765_156_250,
        17_130_389_062_500,
        26_982_012_968_750,
        36_833_636_875_000,
        46_685_260_781_250,
        56_536_884_687_500,
        66_388_508_593_750,
        76_240_132_500_000,
        115_646_629_218_750,
        155_053_125_937_500,
    ];
    assert_eq!(p[2..14], known);
    assert_eq!(p[28..30], [746_150_576_718_750, 903_776_563_593_750]);
    // Above 250 ms it hurries, and nothing stops it at 1.
    let p: Vec<u64> = driven(Profile::Linux, [300; 6]).iter().filter_map(Pie::parts).collect();
    let known = [
        1_455_599_455_602_308,
        4_180_277_229_485_866,
        6_904_955_003_369_424,
        9_629_632_777_252_982,
        12_511_936_538_770_098,
        15_394_240_300_287_214,
    ];
    assert_eq!(p, known);
    let last = driven(Profile::Linux, [1000; 100]).pop().expect("100 updates").probability();
    assert!((last - 4.02).abs() < 0.005, "{last}");
}

#[test]
fn the_kernels_gains_shrink_with_the_probability() {
    let known = [
        (1.0, 576_460_752, 5_764_607_522),
        (0.05, 288_230_376, 2_882_303_761),
        (0.005, 72_057_594, 720_575_940),
        (5e-4, 18_014_398, 180_143_985),
        (5e-5, 4_503_599, 45_035_996),
        (5e-6, 1_125_899, 11_258_999),
        (5e-7, 281_474, 2_814_749),
    ];
    for (p, alpha, beta) in known {
        assert_eq!(gains([2, 20], (p * MAX_P as f64) as u64), [alpha, beta], "at {p}");
    }
}

#[test]
fn a_triangle_of_delays_raises_and_lowers_it() {
    let delays = [0, 20, 40, 60, 80, 100, 100, 80, 60, 40, 20, 15, 10, 5, 0, 0];
    let known = [0.0, 1.2512e-5, 2.3224e-4, 1.1893e-3, 5.3299e-3, 9.7830e-3, 1.1111e-2, 2.6736e-3, 2.5177e-4];
    for (i, law) in driven(Profile::Rfc8033, delays).iter().enumerate() {
        let (p, known) = (law.probability(), known.get(i).copied().unwrap_or(0.0));
        assert!((p - known).abs() <= 6e-5 * known, "{i}: {p} and {known}");
    }
}

/// One random trace through both; how many were admitted, marked, dropped, and did not fit.
fn compare(is_linux: bool, by_rate: bool, mut oracle: oracle::Pie, seed: u64) -> [usize; 4] {
    let profile = if is_linux { Profile::Linux } else { Profile::Rfc8033 };
    let estimator = if by_rate { Estimator::Rate } else { Estimator::Timestamp };
    let p = PieParams { limit: Limit::Packets(120), ecn: EcnMode::Mark, estimator, ..params(profile) };
    let mut b = DiscBench::new(pie::queue(p, Streams::new(seed).named("pie")));
    let mut draws = Streams::new(seed).named("pie");
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut load, mut seen) = (0, 1.0, [0; 4]);
    for i in 0..40_000 {
        if i % 1000 == 0 {
            load = rng.between(0.6, 1.6);
            now += if rng.chance(0.2) { rng.exponential(1e9) as u64 } else { 0 };
        }
        now += rng.exponential(5e5) as u64;
        if !rng.chance(load / (1.0 + load)) {
            b.depart(Time(now));
            oracle.dequeue(now);
            continue;
        }
        let (len, ecn) = (40 + rng.below(1460), if rng.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct });
        let before = b.log.entries.len();
        let out = b.arrive(Time(now), len as u16, ecn);
        let is_marked = b.log.entries[before..].iter().any(|e| matches!(e, Entry::Marked { .. }));
        let got = match out {
            Outcome::Dropped(DropReason::EarlyDrop) => Fate::Dropped,
            Outcome::Dropped(_) => Fate::Full,
            _ if is_marked => Fate::Marked,
            _ => Fate::Admitted,
        };
        let want = oracle.enqueue(now, len, ecn == Ecn::Ect0, &mut draws);
        assert_eq!(got, want, "seed {seed}, step {i}");
        seen[want as usize] += 1;
    }
    seen
}

#[test]
fn random_traces_meet_the_pseudo_code_and_the_kernels_integers() {
    for (is_linux, by_rate) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut all = [0; 4];
        for seed in 0..6 {
            let seen = compare(is_linux, by_rate, oracle::Pie::new(is_linux, by_rate, 120), seed);
            all = [0, 1, 2, 3].map(|i| all[i] + seen[i]);
        }
        assert!(all[0] > 10_000 && all[1] > 50 && all[2] > 50 && all[3] > 0, "{is_linux} {by_rate}: {all:?}");
    }
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let mut late = oracle::Pie::new(false, false, 120);
    late.next_ns += 5_000_000;
    let mut other = oracle::Pie::new(true, false, 120);
    other.mean_packet = 3000;
    let slightly_wrong = [(false, late), (true, other)];
    for (is_linux, wrong) in slightly_wrong {
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compare(is_linux, false, wrong, 1)));
        assert!(found.is_err(), "linux: {is_linux}");
    }
}
