//! PI2: random traces against its description, gains, and what a Classic and a Scalable sender get of one queue.

use crosswind_base::{DropReason, Dur, Ecn, Limit, Streams, Time};
use crosswind_net::queue::pi2::{self, Decides, Pi2, Pi2Params};
use crosswind_net::registry::{self, Kind};
use crosswind_testkit::bench::{DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::pi2::{self as oracle, Fate};
use serde_json::json;

fn fates(entries: &[Entry]) -> Vec<(u64, Fate)> {
    let fate = |e: &Entry| match e {
        Entry::Marked { seq, .. } => (*seq, Fate::Marked),
        Entry::Dropped { seq, why: DropReason::EarlyDrop, .. } => (*seq, Fate::Dropped),
        Entry::Dropped { seq, .. } => (*seq, Fate::Full),
    };
    entries.iter().map(fate).collect()
}

/// One random trace through both; how many were untouched, marked, dropped, and did not fit.
fn compare(decides: Decides, mut oracle: oracle::Pi2, seed: u64) -> [usize; 4] {
    let p = Pi2Params { limit: Limit::Packets(120), decides, ..Pi2Params::default() };
    let mut b = DiscBench::new(pi2::queue(p, Streams::new(seed).named("pi2")));
    let mut draws = Streams::new(seed).named("pi2");
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut load, mut seen, mut number) = (0, 1.0, [0; 4], 0);
    for i in 0..40_000 {
        if i % 1000 == 0 {
            load = rng.between(0.6, 1.6);
            now += if rng.chance(0.2) { rng.exponential(1e9) as u64 } else { 0 };
        }
        now += rng.exponential(5e5) as u64;
        let before = b.log.entries.len();
        let (got, want): (Vec<_>, Vec<_>) = if rng.chance(load / (1.0 + load)) {
            let ecn = Ecn::from_bits(rng.below(4) as u8);
            let out = b.arrive(Time(now), 40 + rng.below(1460) as u16, ecn);
            let fate = oracle.enqueue(now, number, ecn as u8, &mut draws);
            number += 1;
            assert_eq!(out == Outcome::Admitted, fate == Fate::Untouched, "seed {seed}, step {i}");
            (fates(&b.log.entries[before..]), if fate == Fate::Untouched { vec![] } else { vec![(number - 1, fate)] })
        } else {
            let out = b.depart(Time(now));
            let left = oracle.dequeue(now, &mut draws);
            let last = left.last().filter(|l| l.1 != Fate::Dropped).map(|l| l.0);
            assert_eq!(out, last, "seed {seed}, step {i}");
            (fates(&b.log.entries[before..]), left.into_iter().filter(|l| l.1 != Fate::Untouched).collect())
        };
        assert_eq!(got, want, "seed {seed}, step {i}");
        seen[0] += usize::from(want.is_empty());
        want.iter().for_each(|w| seen[w.1 as usize] += 1);
    }
    seen
}

#[test]
fn random_traces_meet_the_description() {
    for decides in [Decides::Arrival, Decides::Departure] {
        let mut all = [0; 4];
        for seed in 0..6 {
            let seen = compare(decides, oracle::Pi2::new(decides == Decides::Departure, 120), seed);
            all = [0, 1, 2, 3].map(|i| all[i] + seen[i]);
        }
        assert!(all[0] > 10_000 && all[1] > 500 && all[2] > 500 && all[3] > 0, "{decides:?}: {all:?}");
    }
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let mut late = oracle::Pi2::new(false, 120);
    late.next_ns += 5_000_000;
    let mut other = oracle::Pi2::new(false, 120);
    other.k = 1.9;
    for wrong in [late, other] {
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compare(Decides::Arrival, wrong, 1)));
        assert!(found.is_err());
    }
}

#[test]
fn gains_follow_from_the_longest_round_trip() {
    let of = |set: serde_json::Value| {
        let mut queue = json!({"type": "pi2"});
        queue.as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
        let full = registry::normalise(Kind::Queue, &queue, "queue").expect("it is valid");
        (full["t_update"].clone(), full["alpha"].as_f64().unwrap(), full["beta"].as_f64().unwrap())
    };
    assert_eq!(of(json!({})), ("15 ms".into(), 0.15, 3.0));
    assert_eq!(of(json!({"rtt_max": "30 ms"})), ("10 ms".into(), 1.111111111, 10.0));
    assert_eq!(of(json!({"target": "5 ms", "t_update": "16 ms"})), ("16 ms".into(), 0.16, 3.0));
    assert_eq!(of(json!({"rtt_max": "30 ms", "alpha": 0.5})), ("10 ms".into(), 0.5, 10.0));
}

#[test]
fn gains_follow_when_the_round_trip_changes_during_a_run_and_the_probability_stays() {
    let mut b = DiscBench::new(pi2::queue(Pi2Params::default(), Streams::new(1).named("pi2")));
    b.arrive(Time::ZERO, 1500, Ecn::Ect0);
    b.change(Time(40_000_000), &json!({"rtt_max": "30 ms"}));
    let stays = b.disc.law().base_probability();
    assert!(stays > 0.0);
    // At 45 ms, as it was planned: 10 Hz for the rise from 30 ms, and 0.1 * 10 ms / (30 ms)^2 for what is above 15 ms.
    b.arrive(Time(45_000_000), 1500, Ecn::NotEct);
    let expected = stays + 1.111111111 * 0.030 + 10.0 * 0.015;
    assert!((b.disc.law().base_probability() - expected).abs() < 1e-12);
}

#[test]
fn a_long_silence_costs_no_time() {
    let mut b = DiscBench::new(pi2::queue(Pi2Params::default(), Streams::new(1).named("pi2")));
    b.depart(Time(1 << 62));
    assert_eq!(b.disc.law().base_probability(), 0.0);
}

#[test]
fn classic_and_scalable_packets_are_selected_with_the_square_and_with_twice_the_root() {
    for decides in [Decides::Arrival, Decides::Departure] {
        let p = Pi2Params { decides, alpha: 0.0, beta: 5.0, ..Pi2Params::default() };
        let mut b = DiscBench::new(pi2::queue(p, Streams::new(3).named("pi2")));
        // A packet that has waited 20 ms by the only update that counts: p' = 0.1, and then it stays.
        b.arrive(Time(10_000_000), 1500, Ecn::NotEct);
        b.depart(Time(30_000_000));
        let at = Time(30_000_000);
        assert!((b.disc.law().base_probability() - 0.1).abs() < 1e-12);
        let n = 200_000;
        let selected = |b: &mut DiscBench<_>, ecn| {
            let before = b.log.entries.len();
            for _ in 0..n {
                b.arrive(at, 100, ecn);
                b.depart(at);
            }
            (b.log.entries.len() - before) as f64 / f64::from(n)
        };
        for (ecn, rate) in [(Ecn::NotEct, 0.01), (Ecn::Ect0, 0.01), (Ecn::Ect1, 0.2), (Ecn::Ce, 0.2)] {
            let (got, error) = (selected(&mut b, ecn), (rate * (1.0 - rate) / f64::from(n)).sqrt());
            assert!((got - rate).abs() < 4.0 * error, "{decides:?} {ecn:?}: {got}");
        }
    }
}

#[test]
fn updates_are_those_of_the_rfc() {
    let mut law = Pi2::new(Pi2Params::default());
    let mut p = 0.0f64;
    let mut last = 0.0;
    for ms in [0u64, 5, 20, 40, 40, 40, 15, 15, 500, 500, 0, 0] {
        law.update(Dur::from_millis(ms));
        let q = ms as f64 / 1e3;
        p = (p + 0.15 * (q - 0.015) + 3.0 * (q - last)).clamp(0.0, 1.0);
        last = q;
        assert!((law.base_probability() - p).abs() < 1e-12, "{ms}");
    }
}
