//! FQ-PIE: who is refused, whose probability it is, and random traces against plain lists.

use crosswind_base::{DropReason, Ecn, FlowId, Streams, Time};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::flows::FlowQueues;
use crosswind_net::queue::fq_pie::FqPieParams;
use crosswind_net::registry::{self, BuildCx, Kind};
use crosswind_testkit::bench::{DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::fq_pie::FqPie as Oracle;
use crosswind_testkit::oracle::pie::{Fate, Pie};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

fn rig(params: &Value, seed: u64) -> DiscBench<FlowQueues<FqPieParams>> {
    let p: FqPieParams = crosswind_net::params::read(params, "queue").unwrap_or_else(|e| panic!("{e}"));
    let streams = Streams::new(seed);
    DiscBench::new(FlowQueues::build(p, &BuildCx::new(&streams, "q")).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn a_full_queue_refuses_whoever_arrives_and_drops_nothing_that_waits() {
    let mut b = rig(&json!({"isolation": "exact", "limit": "5 packets"}), 1);
    for _ in 0..5 {
        assert_eq!(b.arrive_of(Time(0), FlowId(1), 1500, Ecn::NotEct), Outcome::Admitted);
    }
    // The longest queue is that of flow 1, the packet that goes is that of flow 2.
    assert_eq!(b.arrive_of(Time(0), FlowId(2), 100, Ecn::Ect0), Outcome::Dropped(DropReason::QueueFull));
    b.depart(Time(MS));
    assert_eq!(b.arrive_of(Time(MS), FlowId(2), 100, Ecn::Ect0), Outcome::Admitted);
    let left: Vec<u64> = std::iter::from_fn(|| b.depart(Time(2 * MS))).collect();
    assert_eq!(left, [1, 6, 2, 3, 4], "a packet of 1500 B leaves 14 B of the first quantum; then flow 2 is new");
    // A smaller limit takes from the head of the longest.
    for flow in [1, 1, 1, 2] {
        b.arrive_of(Time(3 * MS), FlowId(flow), 1000, Ecn::NotEct);
    }
    b.change(Time(3 * MS), &json!({"limit": "2 packets"}));
    assert_eq!(std::iter::from_fn(|| b.depart(Time(4 * MS))).collect::<Vec<_>>(), [9, 10]);
}

#[test]
fn a_flow_that_waits_long_is_selected_and_one_beside_it_that_does_not_is_spared() {
    // Two packets of each millisecond's five are of flow 2, which gets its half of four departures at once.
    let mut b = rig(&json!({"isolation": "exact"}), 3);
    for i in 0..4000u64 {
        for flow in [1, 1, 1, 2, 2] {
            b.arrive_of(Time(i * MS), FlowId(flow), 1500, Ecn::NotEct);
        }
        for k in 0..4 {
            b.depart(Time(i * MS + k * MS / 4));
        }
    }
    let dropped: Vec<u64> = b
        .log
        .entries
        .iter()
        .map(|e| match e {
            Entry::Dropped { seq, why: DropReason::EarlyDrop, .. } => seq % 5,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(dropped.len() > 500 && dropped.iter().all(|place| *place < 3), "{}", dropped.len());
}

/// Random flows through both sides: how many were admitted, marked, dropped, and refused.
fn compare(is_linux: bool, by_rate: bool, percent: u64, seed: u64) -> [usize; 4] {
    let (profile, estimator) = (if is_linux { "linux" } else { "rfc8033" }, if by_rate { "rate" } else { "timestamp" });
    let mut b = rig(
        &json!({"profile": profile, "estimator": estimator, "isolation": "exact", "limit": "150 packets", "quantum": "600 B",
            "ecn": "mark", "ecn_below": percent as f64 / 100.0}),
        seed,
    );
    let pie = || {
        let mut pie = Pie::new(is_linux, by_rate, usize::MAX);
        pie.mark_up_to(percent);
        pie
    };
    let mut oracle = Oracle::new(pie, 12, 600, 150);
    let mut draws = Streams::new(seed).named("q/pie");
    let mut rng = Streams::new(seed).named("trace");
    let (mut places, mut now, mut load, mut seen) = (Vec::<u32>::new(), 0, 1.0, [0; 4]);
    for i in 0..40_000 {
        if i % 1000 == 0 {
            load = rng.between(0.7, 1.6);
            now += if rng.chance(0.2) { rng.exponential(1e9) as u64 } else { 0 };
        }
        now += rng.exponential(4e5) as u64;
        if !rng.chance(load / (1.0 + load)) {
            assert_eq!(b.depart(Time(now)), oracle.dequeue(now), "seed {seed}, step {i}");
            continue;
        }
        let flow = if rng.chance(0.8) { rng.below(3) } else { rng.below(12) } as u32;
        let place = places.iter().position(|f| *f == flow).unwrap_or(places.len());
        if place == places.len() {
            places.push(flow);
        }
        let (len, ecn) = (40 + rng.below(1460), if rng.chance(0.6) { Ecn::Ect0 } else { Ecn::NotEct });
        let got = match b.arrive_of(Time(now), FlowId(flow), len as u16, ecn) {
            Outcome::Admitted => Fate::Admitted,
            Outcome::Marked => Fate::Marked,
            Outcome::Dropped(DropReason::EarlyDrop) => Fate::Dropped,
            Outcome::Dropped(_) => Fate::Full,
        };
        let seq = seen.iter().sum::<usize>() as u64;
        let want = oracle.enqueue(place, (seq, len), now, ecn == Ecn::Ect0, &mut draws);
        assert_eq!(got, want, "seed {seed}, step {i}");
        seen[got as usize] += 1;
        assert_eq!(b.disc.backlog().packets as usize, oracle.held(), "seed {seed}, step {i}");
    }
    seen
}

#[test]
fn random_flows_meet_plain_lists_and_the_pie_of_each() {
    let mut all = [0; 4];
    for seed in 0..3 {
        for (is_linux, by_rate, percent) in [(true, false, 10), (true, true, 3), (false, false, 10), (false, true, 25)]
        {
            let seen = compare(is_linux, by_rate, percent, seed);
            assert!(seen[1] + seen[2] > 30, "{is_linux} {by_rate} {seed}: {seen:?}");
            all.iter_mut().zip(seen).for_each(|(all, n)| *all += n);
        }
    }
    assert!(all.iter().all(|n| *n > 100), "{all:?}");
}

#[test]
fn the_oracle_notices_another_law_and_another_threshold() {
    assert!(
        std::panic::catch_unwind(|| {
            let mut b = rig(&json!({"isolation": "exact", "profile": "rfc8033"}), 1);
            let mut oracle = Oracle::new(|| Pie::new(true, false, usize::MAX), 1, 1514, 10_240);
            let (mut draws, mut rng) = (Streams::new(1).named("q/pie"), Streams::new(1).named("trace"));
            for i in 0..20_000u64 {
                let now = i * MS / 2;
                if rng.chance(0.45) {
                    b.depart(Time(now));
                    oracle.dequeue(now);
                    continue;
                }
                let got = b.arrive_of(Time(now), FlowId(1), 1500, Ecn::NotEct);
                let want = oracle.enqueue(0, (i, 1500), now, false, &mut draws);
                assert_eq!(got == Outcome::Admitted, want == Fate::Admitted);
            }
        })
        .is_err()
    );
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    for (params, path) in [
        (json!({"type": "fq-pie", "ecn_below": 0.125}), "queue.ecn_below"),
        (json!({"type": "fq-pie", "alpha": 0.1}), "queue.alpha"),
        (json!({"type": "fq-pie", "flows": 0}), "queue.flows"),
        (json!({"type": "fq-pie", "quantum": "0 B"}), "queue.quantum"),
        (json!({"type": "fq-pie", "filter": [{"class": "new"}]}), "queue.filter[0].class"),
    ] {
        let e = registry::normalise(Kind::Queue, &params, "queue").expect_err("a wrong value");
        assert_eq!(e.path, path, "{e}");
    }
    let full = registry::normalise(Kind::Queue, &json!({"type": "fq_pie", "profile": "rfc8033"}), "queue");
    let full = full.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((&full["ecn"], &full["mean_packet"]), (&json!("mark"), &json!("1500 B")));
}
