//! BLUE: steps worked out by hand, and random traces against a plain list of events.

use crosswind_base::{DropReason, Dur, Ecn, Limit, Streams, Time};
use crosswind_net::queue::aqm::{AqmQueue, EcnMode};
use crosswind_net::queue::blue::{self, Blue, BlueParams};
use crosswind_net::switch::Switch;
use crosswind_testkit::bench::{DiscBench, Outcome};
use crosswind_testkit::oracle::blue::Blue as Oracle;

const MS: u64 = 1_000_000;

fn bench(p: BlueParams, seed: u64) -> DiscBench<AqmQueue<Blue>> {
    DiscBench::new(blue::queue(p, Streams::new(seed).named("blue")))
}

fn p_of(b: &DiscBench<AqmQueue<Blue>>) -> f64 {
    b.disc.law().p()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn an_overflow_counts_once_in_a_freeze_time() {
    let mut b = bench(BlueParams { limit: Limit::Packets(1), ..BlueParams::default() }, 1);
    b.arrive(Time(0), 1000, Ecn::NotEct);
    for i in 0..=1000 {
        // Full all the time: packets that the probability picks are dropped for want of room, too.
        assert_eq!(b.arrive(Time(i * MS), 1000, Ecn::NotEct), Outcome::Dropped(DropReason::QueueFull));
    }
    // At 0, 101, 202 .. 909 ms: strictly more than 100 ms must have passed.
    assert!(near(p_of(&b), 0.2), "{}", p_of(&b));
}

#[test]
fn a_link_that_stays_idle_takes_a_step_back_each_freeze_time() {
    let mut b = bench(BlueParams { limit: Limit::Packets(1), ..BlueParams::default() }, 1);
    b.arrive(Time(0), 1000, Ecn::Ect0);
    b.arrive(Time(0), 1000, Ecn::Ect0);
    assert!(near(p_of(&b), 0.02));
    b.depart(Time(10 * MS));
    // Idle from 10 ms on, but frozen until 100 ms: steps at 100, 200, 300 and 400 ms.
    b.arrive(Time(450 * MS), 1000, Ecn::Ect0);
    assert!(near(p_of(&b), 0.02 - 4.0 * 0.002), "{}", p_of(&b));
    b.depart(Time(451 * MS));
    b.arrive(Time(499 * MS), 1000, Ecn::Ect0);
    assert!(near(p_of(&b), 0.012));
    b.depart(Time(499 * MS));
    b.arrive(Time(3_600_000 * MS), 1000, Ecn::Ect0);
    assert_eq!(p_of(&b), 0.0);
}

#[test]
fn a_level_is_an_overflow_before_the_queue_is_full() {
    let p = BlueParams { level: Switch::On(Limit::Packets(2)), ..BlueParams::default() };
    let mut b = bench(p, 1);
    for i in 0..3 {
        assert_eq!(b.arrive(Time(i), 1000, Ecn::NotEct), Outcome::Admitted);
        assert_eq!(p_of(&b), 0.0);
    }
    b.arrive(Time(3), 1000, Ecn::NotEct);
    assert!(near(p_of(&b), 0.02));
}

/// Random arrivals and departures through both sides: selected, refused.
fn compare(p: &BlueParams, mut oracle: Oracle, seed: u64) -> [usize; 2] {
    let mut b = bench(p.clone(), seed);
    let mut draws = Streams::new(seed).named("blue");
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut held, mut seen, mut load) = (0u64, 0u32, [0; 2], 1.0);
    for i in 0..60_000 {
        if i % 2000 == 0 {
            load = rng.between(0.5, 2.0);
            now += if rng.chance(0.3) { rng.exponential(5e9) as u64 } else { 0 };
        }
        now += rng.exponential(4e5) as u64;
        if rng.chance(load / (1.0 + load)) {
            let ecn = if rng.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct };
            oracle.arrival(now);
            if held > 15 {
                oracle.overflow(now);
            }
            let (is_selected, is_full) = (draws.chance(oracle.p), held == 20);
            let want = match (is_full, is_selected, ecn) {
                (true, ..) => Outcome::Dropped(DropReason::QueueFull),
                (_, false, _) => Outcome::Admitted,
                (_, true, Ecn::Ect0) => Outcome::Marked,
                (_, true, _) => Outcome::Dropped(DropReason::EarlyDrop),
            };
            assert_eq!(b.arrive(Time(now), 1000, ecn), want, "seed {seed}, step {i}");
            if is_full {
                oracle.overflow(now);
            }
            let is_in = matches!(want, Outcome::Admitted | Outcome::Marked);
            held += u32::from(is_in);
            if !is_in && held == 0 {
                oracle.idle_ns = Some(now);
            }
            seen[0] += usize::from(is_selected && !is_full);
            seen[1] += usize::from(is_full);
        } else if b.depart(Time(now)).is_some() {
            held -= 1;
            if held == 0 {
                oracle.idle_ns = Some(now);
            }
        }
        assert!(near(p_of(&b), oracle.p), "seed {seed}, step {i}: {} and {}", p_of(&b), oracle.p);
    }
    seen
}

fn params() -> BlueParams {
    BlueParams {
        limit: Limit::Packets(20),
        level: Switch::On(Limit::Packets(15)),
        freeze_time: Dur::from_millis(20),
        ecn: EcnMode::Mark,
        ..BlueParams::default()
    }
}

#[test]
fn random_traces_meet_the_plain_events() {
    for seed in 0..8 {
        let seen = compare(&params(), Oracle::new(0.02, 0.002, 20 * MS), seed);
        assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
    }
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let right = Oracle::new(0.02, 0.002, 20 * MS);
    for wrong in [
        Oracle { up: 0.021, ..right.clone() },
        Oracle { down: 0.0021, ..right.clone() },
        Oracle { freeze_ns: 21 * MS, ..right },
    ] {
        assert!(std::panic::catch_unwind(|| compare(&params(), wrong, 1)).is_err());
    }
}
