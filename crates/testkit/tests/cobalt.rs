//! COBALT: roots and first picks as computed, the pace of BLUE, and random traces against its plain form.

use crosswind_base::{Cx, DropReason, Dur, Ecn, Limit, Pool, Rng, Streams, Time};
use crosswind_net::queue::aqm::{Aqm, AqmQueue, EcnMode, Lent, Setup};
use crosswind_net::queue::cobalt::{self, Cobalt, CobaltLaw, CobaltParams, Profile, root_of};
use crosswind_net::queue::store::Fifo;
use crosswind_net::switch::Switch;
use crosswind_testkit::bench::{DiscBench, Entry, Log, Outcome, packet};
use crosswind_testkit::oracle::cobalt::Cobalt as Oracle;
use crosswind_testkit::oracle::codel::Waiting;
use std::collections::VecDeque;

const MS: u64 = 1_000_000;
const START: u64 = 1_000 * MS;

fn law(profile: Profile) -> CobaltLaw {
    let of_cake = CobaltLaw::of_cake(Dur::from_millis(5), Dur::from_millis(100), Dur::ZERO);
    CobaltLaw { profile, blue_threshold: (profile == Profile::Ns3).then_some(Dur::from_millis(400)), ..of_cake }
}

fn rng() -> Rng {
    Streams::new(1).named("cobalt")
}

/// One call at `now` on a backlog of so many packets that have all waited so long. How many were dropped.
fn call(law: &mut Cobalt, [now, waited]: [u64; 2], packets: usize) -> usize {
    let (mut pool, mut out, mut store, mut log) = (Pool::new(), Vec::new(), Fifo::new(), Log::default());
    for _ in 0..packets {
        store.push(pool.insert(packet(0, 1000, Ecn::NotEct)), 1000, Time(now - waited));
    }
    let setup = Setup::fits(Limit::Packets(1000), EcnMode::Drop);
    let mut cx = Cx::new(Time(now), 0, &mut pool, &mut out, &mut log, None);
    law.on_dequeue(&mut Lent::new(&setup, &mut store, &mut rng(), &mut cx));
    log.entries.len()
}

#[test]
fn roots_up_to_fifteen_are_a_table_of_four_steps_each() {
    let known = [
        0xffff_ffffu32,
        0xffff_ffff,
        0xb4ea_d8a0,
        0x93cd_39e7,
        0x7fff_ffff,
        0x727c_9717,
        0x6882_f5bf,
        0x60c2_479b,
        0x5a82_799a,
        0x5555_5555,
        0x50f4_4d8a,
        0x4d2f_d8f4,
        0x49e6_9d17,
        0x4700_6a81,
        0x446b_3b96,
        0x4219_528c,
    ];
    for (count, root) in known.into_iter().enumerate() {
        assert_eq!(root_of(count as u32, 7), root, "count {count}");
    }
    let gap = |count| (100_000_000 * u64::from(root_of(count, 0))) >> 32;
    assert_eq!([1, 2, 3, 4, 5].map(gap), [99_999_999, 70_670_846, 57_735_025, 49_999_999, 44_721_359]);
    let mut root = known[15];
    for (count, next) in (16..).zip([1_071_990_595, 1_040_347_021, 1_011_159_980, 984_308_765, 959_482_442]) {
        root = root_of(count, root);
        assert_eq!(root, next, "count {count}");
    }
}

/// The packets, one a millisecond, that are selected; the first `short` have waited 1 ms, all others 20 ms.
fn picks(profile: Profile, short: u64, n: u64) -> Vec<u64> {
    let mut c = Cobalt::new(law(profile));
    let mut is_selected = |i: &u64| call(&mut c, [START + i * MS, if *i < short { MS } else { 20 * MS }], 9) > 0;
    (0..n).filter(|i| is_selected(i)).collect()
}

#[test]
fn the_first_pick_of_the_kernel_comes_with_the_next_packet() {
    assert_eq!(picks(Profile::Linux, 10, 349), [11, 81, 139, 189, 234, 274, 312, 348]);
    assert_eq!(picks(Profile::Ns3, 10, 449), [110, 181, 239, 289, 334, 374, 412, 448]);
    for profile in [Profile::Linux, Profile::Ns3] {
        assert_eq!(picks(profile, 0, 339), [1, 71, 129, 179, 224, 264, 302, 338]);
    }
}

#[test]
fn blue_changes_at_most_once_per_target() {
    for (gap, events, updates) in [(MS, 1000, 167u32), (5 * MS, 200, 100), (5_001_000, 200, 200)] {
        let mut c = Cobalt::new(law(Profile::Linux));
        (0..events).for_each(|i| c.on_overflow(Time(START + i * gap)));
        assert_eq!(c.state().1, updates << 24, "every {gap} ns");
    }
    assert_eq!(167u32 << 24, 2_801_795_072);
    let mut c = Cobalt::new(law(Profile::Linux));
    // The very first overflow of a run counts, too.
    c.on_overflow(Time(1));
    let left: Vec<u32> = (1..=16).map(|i| (c.on_empty(Time(START + i * 6 * MS)), c.state().1).1).collect();
    assert!(left[14] > 0 && left[15] == 0 && !c.is_unresponsive());
}

fn queue(p: &CobaltParams, seed: u64) -> DiscBench<AqmQueue<Cobalt>> {
    DiscBench::new(cobalt::queue(p, Streams::new(seed).named("cobalt")))
}

/// The probability of BLUE.
fn p_of(b: &DiscBench<AqmQueue<Cobalt>>) -> f64 {
    f64::from(b.disc.law().state().1) / 4_294_967_296.0
}

#[test]
fn waits_beyond_the_threshold_of_ns3_raise_the_probability() {
    let ns3 = CobaltParams {
        profile: Profile::Ns3,
        blue_threshold: Switch::On(Dur::from_millis(400)),
        ecn: EcnMode::Drop,
        ..CobaltParams::default()
    };
    let mut b = queue(&ns3, 1);
    (0..200).for_each(|_| assert_eq!(b.arrive(Time(START), 1500, Ecn::NotEct), Outcome::Admitted));
    for i in 1..=100 {
        b.depart(Time(START + i * 10 * MS));
    }
    assert_eq!(p_of(&b), 60.0 / 256.0);
    let dropped = b.log.entries.len();
    assert!((35..65).contains(&dropped), "{dropped}");
    let mut b = queue(&CobaltParams { blue_threshold: Switch::Off, ecn: EcnMode::Mark, ..ns3 }, 1);
    (0..200).for_each(|_| assert_eq!(b.arrive(Time(START), 1500, Ecn::Ect0), Outcome::Admitted));
    for i in 1..=100 {
        b.depart(Time(START + i * 10 * MS));
    }
    let is_mark = |e: &Entry| matches!(e, Entry::Marked { .. });
    assert!(p_of(&b) == 0.0 && b.log.entries.len() > 10 && b.log.entries.iter().all(is_mark));
}

#[test]
fn the_last_packet_is_spared_by_the_kernel_alone() {
    for (profile, dropped) in [(Profile::Linux, 0), (Profile::Ns3, 1)] {
        let mut c = Cobalt::new(law(profile));
        call(&mut c, [START, 20 * MS], 9);
        assert_eq!(call(&mut c, [START + MS, 20 * MS], 1), dropped, "{profile:?}");
    }
}

/// Random arrivals and departures through both sides: marks, drops and overflows.
fn compare(p: &CobaltParams, mut oracle: Oracle, limit: usize, seed: u64) -> [usize; 3] {
    let mut b = queue(p, seed);
    let mut draws = Streams::new(seed).named("cobalt");
    let mut random32 = || (draws.bits() >> 32) as u32;
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut seq, mut waiting, mut seen, mut load) = (0, 0, VecDeque::new(), [0; 3], 1.0);
    for i in 0..40_000 {
        if i % 500 == 0 {
            load = rng.between(0.6, 1.6);
            now += if rng.chance(0.2) { (rng.exponential(1e9)) as u64 } else { 0 };
        }
        now += rng.exponential(4e5) as u64;
        if rng.chance(load / (1.0 + load)) {
            let (len, ecn) = (40 + rng.below(1460), if rng.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct });
            let ecn = if p.l4s && rng.chance(0.3) { Ecn::Ect1 } else { ecn };
            let full = waiting.len() == limit;
            let expected = if full { Outcome::Dropped(DropReason::QueueFull) } else { Outcome::Admitted };
            assert_eq!(b.arrive(Time(now), len as u16, ecn), expected, "seed {seed}, step {i}");
            if full {
                oracle.queue_full(now);
                seen[2] += 1;
            } else {
                waiting.push_back(Waiting { seq, len, since_ns: now, is_capable: ecn.is_capable() });
                if ecn == Ecn::Ect1 {
                    oracle.scalable.insert(seq);
                }
            }
            seq += 1;
        } else if !waiting.is_empty() {
            let before = b.log.entries.len();
            let out = b.depart(Time(now));
            let want = oracle.dequeue(now, &mut waiting, &mut random32);
            let (mut marked, mut dropped) = (Vec::new(), Vec::new());
            b.log.entries[before..].iter().for_each(|e| match e {
                Entry::Marked { seq, .. } => marked.push(*seq),
                Entry::Dropped { seq, why, .. } => {
                    assert_eq!(*why, DropReason::EarlyDrop);
                    dropped.push(*seq);
                }
            });
            assert_eq!((out, &marked, &dropped), (want.out, &want.marked, &want.dropped), "seed {seed}, step {i}");
            let state = b.disc.law().state();
            assert_eq!(state, (oracle.count as u32, oracle.p_drop as u32), "seed {seed}, step {i}");
            seen = [seen[0] + marked.len(), seen[1] + dropped.len(), seen[2]];
        }
    }
    seen
}

fn params(profile: Profile, ecn: EcnMode) -> CobaltParams {
    let blue_threshold = if profile == Profile::Ns3 { Switch::On(Dur::from_millis(400)) } else { Switch::Off };
    CobaltParams { profile, ecn, blue_threshold, limit: Limit::Packets(60), ..CobaltParams::default() }
}

#[test]
fn random_traces_meet_the_plain_form_of_both() {
    for seed in 0..10 {
        let ecn = if seed % 2 == 0 { EcnMode::Mark } else { EcnMode::Drop };
        let is_ecn = ecn == EcnMode::Mark;
        for (profile, oracle) in [
            (Profile::Linux, Oracle::linux(5 * MS, 100 * MS, is_ecn)),
            (Profile::Ns3, Oracle::ns3(5 * MS, 100 * MS, is_ecn)),
        ] {
            let seen = compare(&params(profile, ecn), oracle, 60, seed);
            assert!(seen[1] > 100 && (seen[0] > 20) == is_ecn && seen[2] > 20, "{seen:?}");
        }
    }
}

#[test]
fn the_threshold_of_ns3_meets_the_plain_form_and_scalable_packets_see_nothing_else() {
    for seed in 0..10 {
        let l4s = seed % 2 == 0;
        let p =
            CobaltParams { ce_threshold: Switch::On(Dur::from_millis(3)), l4s, ..params(Profile::Ns3, EcnMode::Mark) };
        let oracle = Oracle { ce_threshold: Some(3_000_000), l4s, ..Oracle::ns3(5 * MS, 100 * MS, true) };
        let seen = compare(&p, oracle.clone(), 60, seed);
        assert!(seen[0] > 1000 && seen[1] > 100, "{seen:?}");
        let wrong = Oracle { l4s: !l4s, ..oracle };
        assert!(std::panic::catch_unwind(|| compare(&p, wrong, 60, seed)).is_err(), "seed {seed}");
    }
    let refused = CobaltParams { ce_threshold: Switch::On(Dur::from_millis(3)), ..CobaltParams::default() };
    assert!(crosswind_net::params::Params::check(&refused).is_err());
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let p = params(Profile::Linux, EcnMode::Drop);
    let right = Oracle::linux(5 * MS, 100 * MS, false);
    for (i, wrong) in [
        Oracle { rec_inv_sqrt: 0xffff_ffff, ..right.clone() },
        Oracle { p_dec: 1 << 21, ..right.clone() },
        Oracle { spares_last: false, ..right },
    ]
    .into_iter()
    .enumerate()
    {
        assert!(std::panic::catch_unwind(|| compare(&p, wrong, 60, 1)).is_err(), "mutant {i}");
    }
}
