//! PIE: computed probabilities, the kernel's word for word, gaps between picks, and random traces against the pseudo-code.

use crosswind_base::{DropReason, Dur, Ecn, Limit, Streams, Time};
use crosswind_net::queue::aqm::EcnMode;
use crosswind_net::queue::pie::{self, Estimator, MAX_P, Pie, PieParams, Profile, Quiet, gains};
use crosswind_net::registry::{self, Kind};
use crosswind_net::switch::Switch;
use crosswind_testkit::bench::{DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::pie::{self as oracle, Fate};
use serde_json::json;

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

/// A step to 100 ms. Known here from a separate program that was written from the rules alone.
#[test]
fn a_step_to_a_tenth_of_a_second_climbs_faster() {
    let after = |p: &[f64], n: usize| p[1 + n];
    let p: Vec<f64> = driven(Profile::Rfc8033, step_to(100)).iter().map(Pie::probability).collect();
    let known = [(1, 6.622314e-5), (5, 1.145325e-3), (10, 7.785950e-3), (20, 5.294220e-2), (30, 1.113797e-1)];
    for (n, known) in known {
        assert!(is_near(after(&p, n), known), "{n}: {} and {known}", after(&p, n));
    }
    let p: Vec<u64> = driven(Profile::Linux, step_to(100)).iter().filter_map(Pie::parts).collect();
    let known = [4_771_877_968_750, 10_753_220_390_625, 34_678_592_734_375, 752_439_781_640_625, 1_135_245_749_765_625];
    assert_eq!([1, 2, 3, 12, 13].map(|n| p[1 + n]), known);
}

/// Datagrams of 1000 bytes, one every 10 ms, at a queue of 300 that is served every `served` ms: early drops, marks, and packets
/// that did not fit, of 400, and the first that was not simply let in. The pace of the test suite of ns-3.
fn steady(p: PieParams, served: u64, ecn: Ecn) -> [usize; 4] {
    let mut b = DiscBench::new(pie::queue(PieParams { limit: Limit::Packets(300), ..p }, Streams::new(1).named("pie")));
    let mut out = [0, 0, 0, 400];
    let mut next = served;
    for i in 0..400u64 {
        while next <= 10 * i {
            b.depart(Time(next * 1_000_000));
            next += served;
        }
        let what = match b.arrive(Time(10 * i * 1_000_000), 1000, ecn) {
            Outcome::Dropped(DropReason::EarlyDrop) => 0,
            Outcome::Marked => 1,
            Outcome::Dropped(_) => 2,
            Outcome::Admitted => continue,
        };
        out[what] += 1;
        out[3] = out[3].min(i as usize);
    }
    out
}

#[test]
fn a_line_that_is_a_little_too_slow_loses_packets_early_as_in_the_suite_of_ns3() {
    let base = PieParams { ecn: EcnMode::Drop, mean_packet: crosswind_base::Size(1000), ..params(Profile::Rfc8033) };
    let early = |p: PieParams, served: u64| {
        let [early, marks, full, _] = steady(p, served, Ecn::NotEct);
        assert_eq!((marks, full), (0, 0));
        early
    };
    let with = |set: fn(&mut PieParams)| {
        let mut p = base.clone();
        set(&mut p);
        p
    };
    let usual = early(base.clone(), 14);
    assert!(usual > 0 && early(with(|p| p.target = Dur::from_millis(60)), 14) < usual, "a higher target: fewer");
    assert!(early(base.clone(), 15) > usual && usual > early(base.clone(), 12), "a slower service: more");
    let rare = |ms| early(PieParams { t_update: Dur::from_millis(ms), ..base.clone() }, 14);
    assert!(rare(90) < rare(30), "{} {}", rare(90), rare(30));
    // A law that never turns active drops nothing; one that does drops later.
    let rests = |n| steady(PieParams { active_from: Switch::On(Limit::Packets(n)), ..base.clone() }, 14, Ecn::NotEct);
    let first = steady(base.clone(), 14, Ecn::NotEct)[3];
    assert_eq!(rests(300)[0], 0);
    assert!(rests(40)[3] > rests(20)[3] && rests(20)[3] > first, "{:?} {:?} {first}", rests(40), rests(20));
    let marking = PieParams { ecn: EcnMode::Mark, ecn_below: 0.3, ..base.clone() };
    assert_eq!(steady(marking.clone(), 14, Ecn::NotEct)[1], 0);
    let [early, marks, full, _] = steady(marking, 20, Ecn::Ect0);
    assert!(early > 0 && marks > 0 && full == 0, "the probability passes 0.3: {early} {marks}");
}

#[test]
fn from_a_tenth_on_no_step_is_higher_than_a_fiftieth() {
    let p: Vec<f64> = driven(Profile::Rfc8033, step_to(400)).iter().map(Pie::probability).collect();
    let above = p.windows(2).filter(|w| w[0] >= 0.1 && w[1] < 1.0);
    let steps: Vec<f64> = above.map(|w| w[1] - w[0]).collect();
    // Without the cap each would be 0.125 times 385 ms.
    assert!(steps.len() > 20 && steps.iter().all(|s| *s <= 0.02 + 1e-12) && 0.125 * 0.385 > 0.02, "{steps:?}");
}

#[test]
fn the_kernel_has_no_rest_and_says_so() {
    for (key, v) in [("active_from", json!("300 packets")), ("inactive_when", json!("empty"))] {
        let mut queue = json!({"type": "pie", "profile": "linux"});
        queue[key] = v;
        let e = registry::normalise(Kind::Queue, &queue, "queue").expect_err("no such switch");
        assert_eq!(e.path, format!("queue.{key}"));
    }
}

/// One random trace through both; how many were admitted, marked, dropped, and did not fit.
fn compare(is_linux: bool, by_rate: bool, oracle: oracle::Pie, seed: u64) -> [usize; 4] {
    compare_with(is_linux, by_rate, PieParams::default(), oracle, seed)
}

/// The same with the on and off of `rests`.
fn compare_with(is_linux: bool, by_rate: bool, rests: PieParams, mut oracle: oracle::Pie, seed: u64) -> [usize; 4] {
    let profile = if is_linux { Profile::Linux } else { Profile::Rfc8033 };
    let estimator = if by_rate { Estimator::Rate } else { Estimator::Timestamp };
    let PieParams { active_from, inactive_when, .. } = rests;
    let p = PieParams {
        limit: Limit::Packets(120),
        ecn: EcnMode::Mark,
        estimator,
        active_from,
        inactive_when,
        ..params(profile)
    };
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
fn a_law_that_rests_meets_the_pseudo_code_with_on_and_off() {
    for (by_rate, when) in [(false, Quiet::Short), (true, Quiet::Short), (false, Quiet::Empty), (true, Quiet::Empty)] {
        let mut all = [0; 4];
        for seed in 0..6 {
            let rests =
                PieParams { active_from: Switch::On(Limit::Packets(40)), inactive_when: when, ..PieParams::default() };
            let mut oracle = oracle::Pie::new(false, by_rate, 120);
            (oracle.active_from, oracle.off_when_empty) = (Some(40), when == Quiet::Empty);
            let seen = compare_with(false, by_rate, rests, oracle, seed);
            all = [0, 1, 2, 3].map(|i| all[i] + seen[i]);
        }
        assert!(all[0] > 10_000 && all[1] > 50 && all[2] > 50, "{by_rate} {when:?}: {all:?}");
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
