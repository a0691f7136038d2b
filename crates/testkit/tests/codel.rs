//! CoDel: published and computed times, roots word for word, and random traces against its pseudo-code.

use crosswind_base::{Cx, DropReason, Dur, Ecn, Limit, Pool, Size, Streams, Time};
use crosswind_net::queue::aqm::{Aqm, EcnMode, Lent, Setup};
use crosswind_net::queue::codel::{self, CeThreshold, Codel, CodelLaw, CodelParams, Profile, newton_step};
use crosswind_net::queue::store::Fifo;
use crosswind_net::switch::Switch;
use crosswind_testkit::bench::{DiscBench, Entry, Log, Outcome, packet};
use crosswind_testkit::oracle::codel::{self as oracle, Codel as Oracle, Waiting};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;
const START: u64 = 1_000 * MS;

fn law(profile: Profile) -> CodelLaw {
    CodelLaw {
        profile,
        target: Dur::from_millis(5),
        interval: Dur::from_millis(100),
        mtu: Size(1514),
        threshold: CeThreshold::default(),
    }
}

/// One call at `now` with packets of these lengths that have all waited 20 ms. How many were dropped.
fn call(codel: &mut Codel, now: u64, lens: &[u16]) -> usize {
    let (mut pool, mut out, mut store, mut log) = (Pool::new(), Vec::new(), Fifo::new(), Log::default());
    for len in lens {
        store.push(pool.insert(packet(0, *len, Ecn::NotEct)), u32::from(*len), Time(now - 20 * MS));
    }
    let setup = Setup::fits(Limit::Packets(100), EcnMode::Drop);
    let mut cx = Cx::new(Time(now), 0, &mut pool, &mut out, &mut log, None);
    codel.on_dequeue(&mut Lent::new(&setup, &mut store, &mut (), &mut cx)).expect("a backlog");
    log.entries.len()
}

/// One call per step from 1 s on: in which steps packets were dropped, how many, and the schedule after it.
fn standing_queue(profile: Profile, step_us: u64, steps: u64) -> Vec<(u64, usize, Time)> {
    let mut codel = Codel::new(law(profile));
    let calls = (0..=steps).map(|i| {
        let dropped = call(&mut codel, START + i * step_us * 1000, &[1000; 9]);
        (i, dropped, codel.schedule().1)
    });
    calls.filter(|(_, dropped, _)| *dropped > 0).collect()
}

fn steps(found: &[(u64, usize, Time)]) -> Vec<u64> {
    found.iter().map(|(step, n, _)| [*step].repeat(*n)).collect::<Vec<_>>().concat()
}

#[test]
fn drops_of_a_standing_queue_follow_the_square_root() {
    let found = standing_queue(Profile::Rfc8289, 1000, 840);
    let expected = [100, 200, 271, 329, 379, 424, 464, 502, 538, 571, 603, 633, 662, 689, 716, 742, 767, 791, 815, 838];
    assert_eq!(steps(&found), expected);
    // The schedule itself: t(n+1) = t(n) + 100 / sqrt(n), from the first drop on.
    let ideal = [200.0, 270.711, 328.446, 378.446, 423.167, 463.992, 501.788, 537.144, 570.477, 602.100, 632.251];
    for ((_, _, next), ms) in found.iter().zip(ideal) {
        assert!(((next.0 - START) as f64 / 1e6 - ms).abs() < 6e-4, "{next:?} and {ms}");
    }
}

#[test]
fn the_kernel_drops_at_its_own_times() {
    let expected = [
        (101, 196_287),
        (201, 245_116),
        (251, 300_047),
        (308, 347_682),
        (357, 390_798),
        (401, 430_257),
        (441, 466_895),
        (479, 501_222),
        (514, 533_625),
        (547, 564_391),
        (578, 593_744),
        (608, 621_860),
        (637, 648_884),
        (665, 674_932),
        (692, 700_104),
        (717, 724_482),
        (742, 748_136),
        (767, 771_126),
        (790, 793_505),
        (813, 815_320),
    ];
    let found = standing_queue(Profile::Linux, 1000, 814);
    let units: Vec<(u64, u64)> = found.iter().map(|(i, _, next)| (*i, (next.0 >> 10) - (START >> 10))).collect();
    assert_eq!(units, expected);
    assert!(found.iter().all(|(_, n, _)| *n == 1));
    let fine: Vec<u64> = steps(&standing_queue(Profile::Linux, 100, 5_460));
    assert_eq!(fine, [1001, 2001, 2501, 3064, 3552, 3993, 4397, 4772, 5124, 5456]);
}

/// Known here from a separate program that was written from the rules alone.
#[test]
fn on_a_coarse_grid_drops_come_with_the_first_packet_that_is_late_enough() {
    let found = standing_queue(Profile::Rfc8289, 10_000, 70);
    assert_eq!(
        steps(&found).iter().map(|s| s * 10).collect::<Vec<_>>()[..12],
        [100, 200, 280, 330, 380, 430, 470, 510, 540, 580, 610, 640]
    );
    let found = standing_queue(Profile::Linux, 10_000, 70);
    assert_eq!(
        steps(&found).iter().map(|s| s * 10).collect::<Vec<_>>()[..12],
        [110, 210, 260, 320, 370, 410, 450, 490, 530, 560, 590, 620]
    );
}

#[test]
fn one_newton_step_a_count_gives_the_kernels_roots() {
    let known = [
        (2, 32_769),
        (3, 36_864),
        (4, 31_968),
        (5, 28_935),
        (6, 26_481),
        (7, 24_588),
        (8, 23_037),
        (9, 21_746),
        (10, 20_647),
        (11, 19_699),
        (12, 18_869),
        (16, 16_360),
        (20, 14_640),
        (32, 11_580),
        // From here on known from a separate program.
        (64, 8191),
        (128, 5792),
        (256, 4095),
        (512, 2896),
        (1000, 2072),
        (1024, 2047),
    ];
    let gaps = [(2u32, 48_829u64), (3, 54_931), (4, 47_635), (8, 34_327), (16, 24_378), (32, 17_255)];
    let mut root = u16::MAX;
    for count in 2..=1024 {
        root = newton_step(root, count);
        if let Some((_, r)) = known.iter().find(|(c, _)| *c == count) {
            assert_eq!(root, *r, "count {count}");
        }
        if let Some((_, gap)) = gaps.iter().find(|(c, _)| *c == count) {
            assert_eq!((97_656 * (u64::from(root) << 16)) >> 32, *gap, "count {count}");
        }
    }
}

fn queue(p: CodelParams) -> DiscBench<impl crosswind_net::queue::QueueDisc> {
    DiscBench::new(codel::queue(&p))
}

fn linux(ecn: EcnMode) -> CodelParams {
    CodelParams { profile: Profile::Linux, mtu: Size(1514), ecn, ..CodelParams::default() }
}

#[test]
fn twenty_packets_at_once_are_thinned_out_at_the_head_or_marked() {
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let mut b = queue(linux(EcnMode::Mark));
        (0..20).for_each(|_| assert_eq!(b.arrive(Time(0), 1000, ecn), Outcome::Admitted));
        let mut at = |ms: u64| {
            let before = b.log.entries.len();
            let out = b.depart(Time(ms * MS));
            (out, b.log.entries[before..].to_vec())
        };
        assert_eq!(at(10), (Some(0), vec![]));
        let now = Time(210 * MS);
        let gone = if ecn == Ecn::NotEct {
            (Some(2), vec![Entry::Dropped { at: now, seq: 1, why: DropReason::EarlyDrop }])
        } else {
            (Some(1), vec![Entry::Marked { at: now, seq: 1 }])
        };
        assert_eq!(at(210), gone);
        let (next, entries) = at(210);
        assert!(next.is_some() && entries.is_empty());
        // The second is due at 310 ms, the third 50 ms later, the fourth 56.2 ms after that: three by 420 ms.
        let (_, entries) = at(420);
        assert_eq!(entries.len(), if ecn == Ecn::NotEct { 3 } else { 1 }, "{entries:?}");
    }
}

#[test]
fn a_threshold_marks_what_waited_longer_and_was_chosen() {
    let threshold = CodelParams { ce_threshold: Switch::On(Dur::from_millis(2)), ..linux(EcnMode::Mark) };
    let marks = |p: &CodelParams, ecn: Ecn| -> Vec<usize> {
        let mut b = queue(p.clone());
        (0..20).for_each(|_| assert_eq!(b.arrive(Time(0), 1000, ecn), Outcome::Admitted));
        let mut marks = |ms: u64| {
            let before = b.log.entries.len();
            b.depart(Time(ms * MS));
            b.log.entries[before..].iter().filter(|e| matches!(e, Entry::Marked { .. })).count()
        };
        vec![marks(1), marks(3), marks(10)]
    };
    assert_eq!(marks(&threshold, Ecn::Ect0), [0, 1, 1]);
    assert_eq!(marks(&threshold, Ecn::NotEct), [0, 0, 0]);
    let ect1 = CodelParams { ce_threshold_mask: 3, ce_threshold_selector: 1, ..threshold };
    assert_eq!((marks(&ect1, Ecn::Ect0), marks(&ect1, Ecn::Ect1)), (vec![0, 0, 0], vec![0, 1, 1]));
}

#[test]
fn one_full_packet_that_is_left_is_spared() {
    for (left, dropped) in [(1514, 0), (1515, 1)] {
        let mut codel = Codel::new(law(Profile::Linux));
        call(&mut codel, START, &[100, left, 0]);
        assert_eq!(call(&mut codel, START + 101 * MS, &[100, left, 0]), dropped, "{left} B");
    }
}

#[test]
fn a_limit_of_500_takes_500_and_they_leave_in_order() {
    let mut b = queue(CodelParams { limit: Limit::Packets(500), ..linux(EcnMode::Drop) });
    let full = (0..503).filter(|_| b.arrive(Time(0), 1000, Ecn::Ect0) == Outcome::Dropped(DropReason::QueueFull));
    assert_eq!(full.count(), 3);
    assert_eq!((0..6).map(|_| b.depart(Time(1)).expect("a packet")).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

/// Random arrivals and departures through both sides; what came of it: marks and drops.
fn compare(p: &CodelParams, mut oracle: impl Oracle, seed: u64) -> [usize; 2] {
    let mut b = queue(p.clone());
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut seq, mut waiting, mut seen) = (START, 0, VecDeque::new(), [0, 0]);
    let mut load = 1.0;
    for i in 0..40_000 {
        if i % 500 == 0 {
            load = rng.between(0.6, 1.6);
            now += if rng.chance(0.2) { (rng.exponential(1e9)) as u64 } else { 0 };
        }
        now += rng.exponential(4e5) as u64;
        if rng.chance(load / (1.0 + load)) {
            let (len, ecn) = (40 + rng.below(1460), if rng.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct });
            assert_eq!(b.arrive(Time(now), len as u16, ecn), Outcome::Admitted);
            waiting.push_back(Waiting { seq, len, since_ns: now, is_capable: ecn == Ecn::Ect0 });
            seq += 1;
        } else {
            let before = b.log.entries.len();
            let out = b.depart(Time(now));
            let want = oracle.dequeue(now, &mut waiting, 0);
            let (mut marked, mut dropped) = (Vec::new(), Vec::new());
            b.log.entries[before..].iter().for_each(|e| match e {
                Entry::Marked { seq, .. } => marked.push(*seq),
                Entry::Dropped { seq, why, .. } => {
                    assert_eq!(*why, DropReason::EarlyDrop);
                    dropped.push(*seq);
                }
            });
            assert_eq!((out, &marked, &dropped), (want.out, &want.marked, &want.dropped), "seed {seed}, step {i}");
            seen = [seen[0] + marked.len(), seen[1] + dropped.len()];
        }
    }
    seen
}

#[test]
fn random_traces_meet_the_pseudo_code_and_the_kernels_integers() {
    for seed in 0..10 {
        let ecn = if seed % 2 == 0 { EcnMode::Mark } else { EcnMode::Drop };
        let is_ecn = ecn == EcnMode::Mark;
        let free = CodelParams { limit: Limit::Packets(1 << 20), ecn, ..CodelParams::default() };
        let seen = compare(&free, oracle::Rfc::new(5e6, 1e8, 1500, is_ecn), seed);
        assert!(seen[1] > 100 && (seen[0] > 20) == is_ecn, "{seen:?}");
        let kernel = CodelParams { limit: Limit::Packets(1 << 20), ..linux(ecn) };
        let seen = compare(&kernel, oracle::Linux::new(4882, 97_656, 1514, is_ecn), seed);
        assert!(seen[1] > 100 && (seen[0] > 20) == is_ecn, "{seen:?}");
    }
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let free = CodelParams { limit: Limit::Packets(1 << 20), ecn: EcnMode::Drop, ..CodelParams::default() };
    for wrong in [oracle::Rfc::new(5e6, 0.999e8, 1500, false), oracle::Rfc::new(5e6, 1e8, 1500, true)] {
        assert!(std::panic::catch_unwind(|| compare(&free, wrong, 1)).is_err());
    }
}
