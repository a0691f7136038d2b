//! Deficit round robin: rounds worked out by hand, shares by quantum, and random traces against plain lists.

use crosswind_base::{Cx, DropReason, Dscp, Streams, Time};
use crosswind_net::queue::{Head, QueueDisc, Removal};
use crosswind_net::registry::{BuildCx, Registered};
use crosswind_net::sched::drr::{self, Drr};
use crosswind_testkit::bench::{DiscBench, Outcome};
use crosswind_testkit::oracle::drr::Drr as Oracle;
use serde_json::{Value, json};

const CLASSES: [(&str, u8); 3] = [("a", 46), ("b", 8), ("c", 0)];

fn rig(quanta: [u64; 3], queue: &Value) -> DiscBench<Drr> {
    let class = |q: u64| json!({"quantum": format!("{q} B"), "queue": queue});
    let table = json!({
        "default": "c",
        "filter": [{"class": "a", "dscp": "EF"}, {"class": "b", "dscp": "CS1"}],
        "class": {"a": class(quanta[0]), "b": class(quanta[1]), "c": class(quanta[2])},
    });
    let p = crosswind_net::params::read(&table, "queue").unwrap_or_else(|e| panic!("{e}"));
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "q").with_elements(&Registered);
    DiscBench::new(drr::build(p, &cx).unwrap_or_else(|e| panic!("{e}")))
}

fn arrive(b: &mut DiscBench<Drr>, now: u64, class: usize, len: u16) -> bool {
    let dscp = Dscp::from_bits(CLASSES[class].1).expect("a code point");
    b.arrive_as(Time(now), len, dscp) == Outcome::Admitted
}

fn tail(limit: usize) -> Value {
    json!({"type": "droptail", "limit": format!("{limit} packets")})
}

#[test]
fn a_turn_sends_what_the_credit_covers_and_keeps_the_rest() {
    let mut b = rig([1000, 500, 1500], &tail(100));
    // Packets 0..8 of 600 B in a, 9..17 of 300 B in b, 18.. of 1500 B in c.
    for (class, len) in [(0, 600), (1, 300), (2, 1500)] {
        (0..9).for_each(|_| assert!(arrive(&mut b, 0, class, len)));
    }
    let left: Vec<u64> = (0..12).map(|_| b.depart(Time(1)).expect("backlogged")).collect();
    // a: 1000 -> one, 400 left; b: 500 -> one, 200 left; c one. Then a: 1400 -> two; b: 700 -> two, 100 left; c one.
    // Then a: 1200 -> two; b: 600 -> two.
    assert_eq!(left, [0, 9, 18, 1, 2, 10, 11, 19, 3, 4, 12, 13]);
}

#[test]
fn shares_are_those_of_the_quanta() {
    for queue in
        [tail(100_000), json!({"type": "codel", "target": "100 s", "interval": "100 s", "limit": "100000 packets"})]
    {
        let mut b = rig([3000, 2000, 1000], &queue);
        let lens = [1500u16, 200, 700];
        for (class, len) in lens.into_iter().enumerate() {
            (0..30_000_000 / usize::from(len) / 10).for_each(|_| assert!(arrive(&mut b, 0, class, len)));
        }
        let bounds: Vec<u64> = lens.iter().map(|l| u64::from(30_000_000 / u32::from(*l) / 10)).collect();
        let mut sent = [0u64; 3];
        for _ in 0..2000 {
            let seq = b.depart(Time(1)).expect("backlogged");
            let class = if seq < bounds[0] { 0 } else { 1 + usize::from(seq >= bounds[0] + bounds[1]) };
            sent[class] += u64::from(lens[class]);
        }
        let all: u64 = sent.iter().sum();
        for (class, part) in [1.0 / 2.0, 1.0 / 3.0, 1.0 / 6.0].into_iter().enumerate() {
            let share = sent[class] as f64 / all as f64;
            assert!((share - part).abs() < 0.01, "class {class}: {share}, expected {part}");
        }
    }
}

#[test]
fn it_gives_up_packets_where_the_queues_of_all_its_classes_do() {
    assert_eq!(rig([1500; 3], &tail(9)).disc.removal(), Removal::Possible);
    let shaped = json!({"type": "tbf", "rate": "8 kbit/s", "burst": "1000 B"});
    assert_eq!(rig([1500; 3], &shaped).disc.removal(), Removal::Impossible);
}

#[test]
fn a_class_that_holds_back_does_not_stop_the_others() {
    let shaped = json!({"type": "tbf", "rate": "8 kbit/s", "burst": "1000 B", "queue": {"limit": "100 packets"}});
    let mut b = rig([1500; 3], &shaped);
    (0..2).for_each(|_| assert!(arrive(&mut b, 0, 0, 1000)));
    assert!(arrive(&mut b, 0, 1, 1000));
    assert_eq!([b.depart(Time(0)), b.depart(Time(0)), b.depart(Time(0))], [Some(0), Some(2), None]);
    assert_eq!(b.disc.next_wake(), Some(Time(1_000_000_000)));
    assert_eq!(b.depart(Time(1_000_000_000)), Some(1));
}

/// Random classes through both sides. How many were let in and refused.
fn compare(quanta: [u64; 3], mut oracle: Oracle, seed: u64) -> [usize; 2] {
    let mut b = rig(quanta, &tail(12));
    let mut rng = Streams::new(seed).named("trace");
    let (mut seq, mut load, mut seen) = (0, 1.0, [0, 0]);
    for i in 0..40_000u64 {
        if i % 400 == 0 {
            load = rng.between(0.6, 1.6);
        }
        if rng.chance(0.003) {
            let mut asked = Vec::new();
            b.call(Time(i), |q, cx| {
                let mut third = |head: &Head, cx: &Cx<'_>| {
                    asked.push((head.since, cx.packet(head.id).seq));
                    cx.packet(head.id).seq % 3 == 0
                };
                q.remove(&mut third, DropReason::Reset, cx);
            });
            assert!(asked.is_sorted(), "the oldest first");
            oracle.remove(|seq| seq % 3 == 0);
        }
        if rng.chance(load / (1.0 + load)) {
            let (class, len) = (rng.below(3) as usize, 40 + rng.below(1460));
            let is_in = oracle.enqueue(class, seq, len as i64);
            seq += 1;
            assert_eq!(arrive(&mut b, i, class, len as u16), is_in, "seed {seed}, step {i}");
            seen[usize::from(!is_in)] += 1;
        } else {
            assert_eq!(b.depart(Time(i)), oracle.dequeue(), "seed {seed}, step {i}");
        }
    }
    seen
}

#[test]
fn random_traces_meet_plain_lists() {
    for seed in 0..8 {
        let seen = compare([1514, 600, 3000], Oracle::new(&[1514, 600, 3000], 12), seed);
        assert!(seen.iter().all(|n| *n > 500), "{seen:?}");
    }
}

#[test]
fn the_oracle_notices_another_quantum_and_another_limit() {
    for (quanta, limit) in [([1515, 600, 3000], 12), ([1514, 600, 3000], 13)] {
        let run = || compare([1514, 600, 3000], Oracle::new(&quanta, limit), 1);
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
