//! SFB: steps of its bins, penalties and the change of the hash, and random traces against the kernel's counting.

use crosswind_base::{Cx, DropReason, Dur, Ecn, FlowId, Limit, Packet, Rng, Streams, Time};
use crosswind_net::queue::aqm::AqmQueue;
use crosswind_net::queue::sfb::{self, Sfb, SfbParams, hash_of};
use crosswind_net::queue::{Head, QueueDisc};
use crosswind_testkit::bench::{DiscBench, Outcome};
use crosswind_testkit::oracle::sfb::{Answer, Options, Sfb as Oracle};
use serde_json::json;
use std::collections::VecDeque;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

fn streams(seed: u64) -> [Rng; 2] {
    ["hash", "sfb"].map(|part| Streams::new(seed).named(part))
}

fn bench(p: SfbParams, seed: u64) -> DiscBench<AqmQueue<Sfb>> {
    DiscBench::new(sfb::queue(p, streams(seed)))
}

fn of_flow(flow: u32) -> Packet {
    Packet { flow: FlowId(flow), ..Packet::default() }
}

#[test]
fn a_full_bin_needs_993_packets_to_the_end_of_its_probability() {
    let mut b = bench(law_params(), 1);
    let mut steps = 0;
    b.arrive_of(Time(0), FlowId(7), 1000, Ecn::Ect0);
    while p_of(&mut b, 7) < u16::MAX {
        b.arrive_of(Time(0), FlowId(7), 1000, Ecn::Ect0);
        steps += 1;
    }
    assert_eq!(steps, 993);
}

fn law_params() -> SfbParams {
    SfbParams { bin_size: 1, max: 60_000, limit: Limit::Packets(100_000), ..SfbParams::default() }
}

fn p_of(b: &mut DiscBench<AqmQueue<Sfb>>, flow: u32) -> u16 {
    b.disc.law().clone().p_of(&of_flow(flow))
}

#[test]
fn an_empty_bin_takes_eleven_back_with_each_packet() {
    let mut b = bench(law_params(), 1);
    for _ in 0..101 {
        b.arrive_of(Time(0), FlowId(7), 1000, Ecn::Ect0);
    }
    assert_eq!(p_of(&mut b, 7), 6600);
    while b.depart(Time(1)).is_some() {}
    for i in 1..=10 {
        b.arrive_of(Time(1), FlowId(7), 1000, Ecn::Ect0);
        b.depart(Time(1));
        assert_eq!(p_of(&mut b, 7), 6600 - 11 * i);
    }
}

#[test]
fn who_does_not_listen_gets_a_burst_and_then_only_what_it_waits_for() {
    let mut b = bench(SfbParams { max: 60_000, limit: Limit::Packets(100_000), ..SfbParams::default() }, 3);
    let drops = |b: &mut DiscBench<AqmQueue<Sfb>>, from: u64, n: u64| {
        (0..n)
            .filter(|i| matches!(b.arrive_of(Time(from + i * MS), FlowId(1), 1000, Ecn::NotEct), Outcome::Dropped(_)))
            .count()
    };
    let mut rounds = 0;
    while p_of(&mut b, 1) < u16::MAX {
        drops(&mut b, rounds * MS, 1);
        rounds += 1;
    }
    let start = 100 * S;
    // One of the twenty tokens went with the packet that reached the end.
    assert_eq!(drops(&mut b, start, 19), 0);
    // Each one refused starts the wait for the next token anew: at one a millisecond nothing passes any more.
    let admitted = 5_000 - drops(&mut b, start + 19 * MS, 5_000);
    assert_eq!(admitted, 20, "those of the hundred seconds before");
    let slow = (1..=20).filter(|i| {
        b.arrive_of(Time(start + (6_000 + 100 * i) * MS), FlowId(1), 1000, Ecn::NotEct) == Outcome::Admitted
    });
    assert_eq!(slow.count(), 20);
    assert_eq!(b.arrive_of(Time(200 * S), FlowId(2), 1000, Ecn::NotEct), Outcome::Admitted);
}

#[test]
fn a_flow_whose_smallest_bin_is_full_is_refused() {
    let mut b = bench(SfbParams::default(), 1);
    let outcomes: Vec<Outcome> = (0..40).map(|_| b.arrive_of(Time(0), FlowId(5), 1000, Ecn::Ect0)).collect();
    assert!(outcomes[..20].iter().all(|o| *o == Outcome::Admitted));
    assert_eq!(outcomes[39], Outcome::Dropped(DropReason::ForcedDrop));
    let mut full = outcomes.iter().filter(|o| !matches!(o, Outcome::Dropped(_)));
    assert_eq!(full.by_ref().count(), 25);
}

#[test]
fn a_smaller_limit_forgets_the_packets_that_go() {
    let mut b = bench(SfbParams::default(), 1);
    (0..20).for_each(|_| assert_eq!(b.arrive_of(Time(0), FlowId(5), 1000, Ecn::Ect0), Outcome::Admitted));
    b.change(Time(1), &json!({"limit": "3 packets"}));
    b.change(Time(2), &json!({"limit": "100 packets"}));
    let more =
        (0..40).filter(|_| !matches!(b.arrive_of(Time(3), FlowId(5), 1000, Ecn::Ect0), Outcome::Dropped(_))).count();
    assert_eq!(more, 22, "three were left of twenty-five");
}

fn params() -> SfbParams {
    SfbParams {
        limit: Limit::Packets(30),
        increment: 3000,
        decrement: 400,
        bin_size: 8,
        max: 14,
        penalty_rate: 300,
        penalty_burst: 5,
        rehash: Dur::from_millis(900),
        warmup: Dur::from_millis(300),
        ..SfbParams::default()
    }
}

fn options() -> Options {
    Options {
        limit: 30,
        max: 14,
        bin_size: 8,
        inc: 3000,
        dec: 400,
        penalty_rate: 300,
        penalty_burst: 5,
        rehash_ns: 900 * MS,
        warmup_ns: 300 * MS,
    }
}

/// Random flows through both sides. How many of each answer there were.
fn compare(o: Options, seed: u64) -> [usize; 6] {
    let mut b = bench(params(), seed);
    let mut oracle = Oracle::new(o);
    let [mut salts, mut draws] = streams(seed);
    let mut salt = [salts.bits(), salts.bits()];
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut seen, mut waiting, mut load) = (0, [0; 6], VecDeque::new(), 1.0);
    for i in 0..40_000 {
        if i % 400 == 0 {
            load = rng.between(0.7, 2.5);
        }
        if rng.chance(0.003) {
            let mut place = 0;
            b.call(Time(now), |q, cx| {
                let mut every_third = |_: &Head, _: &Cx<'_>| {
                    place += 1;
                    place % 3 == 0
                };
                q.remove(&mut every_third, DropReason::Reset, cx);
            });
            let (gone, left): (Vec<_>, Vec<_>) = waiting.drain(..).zip(1..).partition(|(_, place)| place % 3 == 0);
            gone.iter().for_each(|(cb, _)| oracle.count(*cb, -1));
            waiting.extend(left.into_iter().map(|(cb, _)| cb));
        }
        now += rng.exponential(4e5) as u64;
        if rng.chance(load / (1.0 + load)) {
            let flow = if rng.chance(0.7) { rng.below(2) } else { rng.below(30) } as u32;
            let ecn = if flow % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
            let (answer, cb) = if oracle.held >= o.limit {
                (Answer::DropFull, [0, 0])
            } else {
                let before = oracle.slot;
                if oracle.swaps(now) {
                    salt[before] = salts.bits();
                }
                let r = draws.bits() >> 48;
                oracle.arrive(before, salt.map(|s| hash_of(s, &of_flow(flow))), now, r)
            };
            let want = match answer {
                Answer::Pass => Outcome::Admitted,
                Answer::Pick if ecn == Ecn::Ect0 => Outcome::Marked,
                Answer::Pick | Answer::DropEarly => Outcome::Dropped(DropReason::EarlyDrop),
                Answer::DropBucket | Answer::DropPenalty => Outcome::Dropped(DropReason::ForcedDrop),
                Answer::DropFull => Outcome::Dropped(DropReason::QueueFull),
            };
            assert_eq!(b.arrive_of(Time(now), FlowId(flow), 1000, ecn), want, "seed {seed}, step {i}");
            if !matches!(want, Outcome::Dropped(_)) {
                oracle.count(cb, 1);
                waiting.push_back(cb);
            }
            seen[answer as usize] += 1;
        } else if b.depart(Time(now)).is_some() {
            oracle.count(waiting.pop_front().expect("both hold one"), -1);
        }
    }
    seen
}

#[test]
fn random_flows_meet_the_bins_of_the_kernel() {
    for seed in 0..8 {
        let seen = compare(options(), seed);
        assert!(seen.iter().all(|n| *n > 20), "seed {seed}: {seen:?}");
    }
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let right = options();
    for wrong in [
        Options { dec: 401, ..right },
        Options { max: 15, ..right },
        Options { penalty_rate: 310, ..right },
        Options { warmup_ns: 0, ..right },
        Options { rehash_ns: 901 * MS, ..right },
    ] {
        assert!(std::panic::catch_unwind(|| compare(wrong, 1)).is_err(), "{wrong:?}");
    }
}
