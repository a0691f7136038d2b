//! DualPI2: the kernel's integers word for word, credits, thresholds, rates, and random traces against both descriptions.

use crosswind_base::{BitRate, DropReason, Dur, Ecn, Limit, Streams, Time};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::dualpi2::{Control, DualPi2, DualPi2Params, Kernel};
use crosswind_net::registry::{self, BuildCx, Kind};
use crosswind_testkit::bench::{DiscBench, Entry};
use crosswind_testkit::oracle::dualpi2 as oracle;
use crosswind_testkit::oracle::pi2::Fate;
use serde_json::{Value, json};

fn params(set: Value) -> DualPi2Params {
    crosswind_net::params::read(&set, "queue").unwrap_or_else(|e| panic!("{e}"))
}

fn linux(more: Value) -> DualPi2Params {
    let mut set = json!({"profile": "linux"});
    set.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params(set)
}

fn bench(p: DualPi2Params, seed: u64) -> DiscBench<DualPi2> {
    let streams = Streams::new(seed);
    let cx = BuildCx::new(&streams, "q").of_link(Some(BitRate(10_000_000)), None);
    DiscBench::new(DualPi2::build(p, &cx).unwrap_or_else(|e| panic!("{e}")))
}

/// So many packets come at once.
fn arrive(b: &mut DiscBench<DualPi2>, n: u32, at: Time, len: u16, ecn: Ecn) {
    for _ in 0..n {
        b.arrive(at, len, ecn);
    }
}

/// So many times the link asks at once.
fn depart(b: &mut DiscBench<DualPi2>, n: u32, at: Time) {
    for _ in 0..n {
        b.depart(at);
    }
}

/// An oracle with other values.
fn with(mut o: oracle::DualPi2, set: impl FnOnce(&mut oracle::DualPi2)) -> oracle::DualPi2 {
    set(&mut o);
    o
}

const MS: u64 = 1_000_000;
const MAX: u32 = u32::MAX;

/// The kernel's probability after each of these delays in ms.
fn driven(mut k: Kernel, delays: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let step = |ms| {
        k.update(Dur(ms * MS));
        k.parts()
    };
    delays.into_iter().map(step).collect()
}

fn kernel(more: Value) -> Kernel {
    Kernel::new(&linux(more))
}

#[test]
fn gains_are_the_kernels() {
    assert_eq!(kernel(json!({})).gains(), [44, 879]);
    assert_eq!(driven(kernel(json!({})), [20]), [278_125_000]);
    let from = kernel(json!({})).at(1_000_000_000, Dur(20 * MS));
    assert_eq!(driven(from, [20]), [1_003_437_500]);
    // A millisecond of rise.
    assert_eq!(driven(from, [21]), [1_003_437_500 + 687_500 + 13_734_375]);
}

#[test]
fn a_staircase_of_delays_gives_the_kernels_numbers() {
    let stairs = [(0, 2), (5, 4), (10, 4), (20, 6), (40, 8)];
    let p = driven(kernel(json!({})), stairs.iter().flat_map(|(ms, n)| std::iter::repeat_n(*ms, *n)));
    let known = [
        0,
        0,
        61_796_875,
        54_921_875,
        48_046_875,
        41_171_875,
        106_406_250,
        102_968_750,
        99_531_250,
        96_093_750,
        236_875_000,
        240_312_500,
        243_750_000,
        247_187_500,
        250_625_000,
        254_062_500,
        545_937_500,
        563_125_000,
        580_312_500,
        597_500_000,
        614_687_500,
        631_875_000,
        649_062_500,
        666_250_000,
    ];
    assert_eq!(p, known);
    // And down again; known from a separate program that was written from the rules alone.
    let down = [(20, 4), (15, 4), (10, 4), (0, 4)];
    let all = stairs.iter().chain(&down).flat_map(|(ms, n)| std::iter::repeat_n(*ms, *n));
    let known = [
        395_000_000,
        398_437_500,
        401_875_000,
        405_312_500,
        336_640_625,
        336_640_625,
        336_640_625,
        336_640_625,
        264_531_250,
        261_093_750,
        257_656_250,
        254_218_750,
        106_562_500,
        96_250_000,
        85_937_500,
        75_625_000,
    ];
    assert_eq!(driven(kernel(json!({})), all)[24..], known);
    let p = driven(kernel(json!({})), [20; 12]);
    assert_eq!(p, (0..12).map(|i| 278_125_000 + 3_437_500 * i).collect::<Vec<u32>>());
    let steady = kernel(json!({})).at(5, Dur(15 * MS));
    assert_eq!(driven(steady, [15; 10]), [5; 10]);
}

#[test]
fn a_jump_is_cut_to_32_bits_as_in_the_kernel_or_clamped() {
    let known = [2_905_657_704, 3_239_095_204, 3_572_532_704, 3_905_970_204, 4_239_407_704, MAX];
    assert_eq!(driven(kernel(json!({})), [500; 6]), known);
    assert_eq!(driven(kernel(json!({"wrap": "clamp"})), [500]), [MAX]);
    assert_eq!(driven(kernel(json!({"overload": "overflow"})), [500; 2]), [2_147_483_647; 2]);
    assert_eq!(driven(kernel(json!({})), [250; 3]), [3_595_156_250, 3_756_718_750, 3_918_281_250]);
    for (ns, p) in [(298_524_276, 4_294_967_292), (298_524_277, 11)] {
        let mut k = kernel(json!({}));
        k.update(Dur(ns));
        assert_eq!(k.parts(), p, "{ns}");
    }
}

/// Known from a separate program that was written from the rules alone.
#[test]
fn jumps_that_32_bits_do_not_hold_leave_the_probability_anywhere() {
    for (ms, known) in [
        (300, [21_282_704, 217_220_204, 413_157_704]),
        (600, [52_877_908, 455_065_408, 857_252_908]),
        (1000, [1_526_660_612, 2_203_848_112, 2_881_035_612]),
        (4200, [432_020_356, 3_309_207_856, MAX]),
        (4300, [1_874_207_856, MAX, MAX]),
    ] {
        assert_eq!(driven(kernel(json!({})), [ms; 3]), known, "to {ms} ms");
    }
    for (ms, known) in [(300, 164_342_295), (320, 4_184_622_091), (400, 3_085_872_091), (500, 1_712_434_591)] {
        assert_eq!(driven(kernel(json!({})).at(MAX, Dur(ms * MS)), [0]), [known], "from {ms} ms");
        assert_eq!(
            driven(kernel(json!({"wrap": "clamp"})).at(MAX, Dur(ms * MS)), [0]),
            [if ms == 300 { known } else { 0 }],
            "from {ms} ms"
        );
    }
}

#[test]
fn a_million_updates_on_a_random_walk_are_those_of_exact_integers() {
    for overload in ["drop", "overflow"] {
        let mut rng = Streams::new(7).named("walk");
        let mut k = kernel(json!({"overload": overload}));
        let mut o = oracle::DualPi2::new(true, 1);
        o.drop_overload = overload == "drop";
        let mut delay = 0i64;
        for i in 0..1_000_000 {
            let step = if rng.chance(0.01) { 4e8 } else { 2e7 };
            delay = (delay + rng.between(-step, step) as i64).clamp(0, 5_000_000_000);
            if rng.chance(0.001) {
                delay = 0;
            }
            k.update(Dur(delay as u64));
            o.update_linux(delay as u64);
            assert_eq!(i128::from(k.parts()), o.pi2_prob, "update {i}, {overload}");
        }
    }
}

/// Which queue each of so many packets came from, while both always hold packets of these lengths; `true` for Classic.
fn turns(p: DualPi2Params, [l, c]: [u16; 2], n: usize) -> (Vec<bool>, Vec<i64>) {
    let mut b = bench(p, 1);
    let mut kinds = Vec::new();
    let offer = |b: &mut DiscBench<DualPi2>, kinds: &mut Vec<bool>, is_c: bool| {
        let (len, ecn) = if is_c { (c, Ecn::NotEct) } else { (l, Ecn::Ect1) };
        b.arrive(Time(1), len, ecn);
        kinds.push(is_c);
    };
    for is_c in [false, true, false, true] {
        offer(&mut b, &mut kinds, is_c);
    }
    let (mut all, mut credits) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let number = b.depart(Time(1)).expect("both hold packets");
        let is_c = kinds[number as usize];
        all.push(is_c);
        credits.push(b.disc.credit());
        offer(&mut b, &mut kinds, is_c);
    }
    (all, credits)
}

#[test]
fn the_kernels_credit_gives_the_classic_queue_its_share() {
    let (all, credits) = turns(linux(json!({})), [1500, 1500], 100);
    assert!(all.iter().enumerate().all(|(i, is_c)| *is_c == (i % 10 == 9)), "{all:?}");
    assert_eq!(
        credits[..10],
        [-106_120, -91_120, -76_120, -61_120, -46_120, -31_120, -16_120, -1_120, 13_880, -121_120]
    );
    let (all, credits) = turns(linux(json!({"classic_share": 0.5})), [1500, 1500], 10);
    assert!(all.iter().enumerate().all(|(i, is_c)| *is_c == (i % 2 == 1)) && credits[1] == 0, "{all:?}");
    let (all, _) = turns(linux(json!({"classic_share": 0.9})), [1500, 1500], 20);
    assert!(all[..9].iter().all(|is_c| *is_c) && all[9..11] == [false, true], "{all:?}");
    let (all, _) = turns(params(json!({})), [1500, 1500], 1600);
    assert_eq!(all.iter().filter(|is_c| **is_c).count(), 100);
    // By bytes, whatever the packets.
    for ([l, c], first, known) in [([200, 1500], 61, 0.100_009_1), ([1500, 64], 9, 0.099_868_4)] {
        let (all, _) = turns(linux(json!({})), [l, c], 20_000);
        assert_eq!(all.iter().position(|is_c| *is_c), Some(first), "{l} {c}");
        let bytes: [f64; 2] =
            [(false, l), (true, c)].map(|(k, len)| all.iter().filter(|a| **a == k).count() as f64 * f64::from(len));
        let share = bytes[1] / (bytes[0] + bytes[1]);
        assert!((share - known).abs() < 1e-7, "{l} {c}: {share}");
    }
}

#[test]
fn other_schedulers_serve_by_time_or_l_first() {
    let mut b = bench(params(json!({"scheduler": "ts-fifo", "time_shift": "50 ms"})), 1);
    b.arrive(Time::ZERO, 100, Ecn::NotEct);
    for at in [50 * MS, 50 * MS + 1] {
        b.arrive(Time(at), 100, Ecn::Ect1);
    }
    let order: Vec<_> = (0..3).map(|_| b.depart(Time(60 * MS))).collect();
    assert_eq!(order, [Some(1), Some(0), Some(2)]);
    let (all, _) = turns(params(json!({"scheduler": "strict"})), [1500, 1500], 100);
    assert!(all.iter().all(|is_c| !is_c));
}

#[test]
fn the_ramp_and_the_step_mark_by_the_wait_in_l() {
    let marked = |p: DualPi2Params, wait_ns: u64, n: u32| {
        let mut b = bench(p, 1);
        arrive(&mut b, n + 3, Time(MS), 700, Ecn::Ect1);
        depart(&mut b, n, Time(MS + wait_ns));
        b.log.entries.len()
    };
    for (wait, n, marks) in [(800_000, 40, 0), (900_000, 41, 10), (1_000_000, 41, 20), (1_200_000, 41, 40)] {
        let got = marked(params(json!({"limit": "9000 packets"})), wait, n);
        assert_eq!(got, marks, "{wait}");
    }
    for (wait, marks) in [(1_000_000, 0), (1_000_001, 5)] {
        assert_eq!(marked(linux(json!({})), wait, 5), marks, "{wait}");
    }
    // By the packets that are left: 7, 6, 5, 4, 3.
    assert_eq!(marked(linux(json!({"step_packets": 5})), 1, 5), 2);
    // The first two came to fewer than two packets.
    assert_eq!(marked(linux(json!({"step_spares": 2})), 2 * MS, 5), 3);
}

#[test]
fn the_ramp_spares_the_last_packet_of_l() {
    // Three, two, one and none are left behind them; a sum of ones is above 1 from the second on.
    for (spares, marks) in [(0, 2), (1, 1), (3, 0)] {
        let mut b = bench(params(json!({"step_spares": spares})), 1);
        arrive(&mut b, 4, Time(MS), 700, Ecn::Ect1);
        depart(&mut b, 4, Time(3 * MS));
        assert_eq!(b.log.entries.len(), marks, "{spares}");
    }
}

#[test]
fn packets_go_where_ecn_and_filters_send_them() {
    let of = |p: DualPi2Params, ecn: Ecn| {
        let mut b = bench(p, 1);
        b.arrive(Time::ZERO, 1000, Ecn::Ce);
        b.arrive(Time::ZERO, 1000, ecn);
        b.arrive(Time::ZERO, 1000, Ecn::Ce);
        b.depart(Time::ZERO);
        b.depart(Time::ZERO) == Some(1)
    };
    for (ecn, by_default, by_any) in
        [(Ecn::NotEct, false, false), (Ecn::Ect0, false, true), (Ecn::Ect1, true, true), (Ecn::Ce, true, true)]
    {
        assert_eq!(of(params(json!({})), ecn), by_default, "{ecn:?}");
        assert_eq!(of(params(json!({"classify": "any-ect"})), ecn), by_any, "{ecn:?}");
    }
    let short = |class: &str| json!({"filter": [{"class": class, "size_max": "1000 B"}]});
    for (class, goes_to_l) in [("l4s", true), ("llll", true), ("classic", false)] {
        assert_eq!(of(params(short(class)), Ecn::NotEct), goes_to_l, "{class}");
        assert!(of(params(short(class)), Ecn::Ect1), "ECN goes first");
    }
    let e = registry::normalise(Kind::Queue, &json!({"type": "dualpi2", "filter": [{"class": "l4"}]}), "queue")
        .unwrap_err();
    assert!(e.path == "queue.filter[0].class" && e.to_string().contains("l4s"), "{e}");
}

#[test]
fn a_filter_can_put_packets_in_l_that_are_dropped_where_others_are_marked_or_never_selected() {
    for (class, drops) in [("l4s", 4), ("llll", 0)] {
        let mut b = bench(linux(json!({"filter": [{"class": class, "size_max": "1000 B"}]})), 1);
        arrive(&mut b, 4, Time(MS), 700, Ecn::NotEct);
        let left = (0..4).filter_map(|_| b.depart(Time(3 * MS))).count();
        let entries = b.log.entries.iter().filter(|e| matches!(e, Entry::Dropped { why: DropReason::EarlyDrop, .. }));
        assert_eq!((entries.count(), left), (drops, 4 - drops), "{class}");
    }
}

/// Of packets that leave at one moment, the shares that are marked and dropped; `wait` in the other queue sets the probability.
fn rates(mut p: DualPi2Params, ecn: Ecn, n: u32) -> [f64; 2] {
    let others = if ecn == Ecn::Ect1 { Ecn::NotEct } else { Ecn::Ect1 };
    p.classic_share = if ecn == Ecn::Ect1 { 0.0 } else { 1.0 };
    let mut b = bench(p, 5);
    arrive(&mut b, 3, Time(MS), 1514, others);
    let now = Time(16 * MS);
    arrive(&mut b, 2 * n, now, 100, ecn);
    depart(&mut b, n, now);
    let count = |fate| fates(&b.log.entries).iter().filter(|f| f.1 == fate).count() as f64;
    let (marked, dropped) = (count(Fate::Marked), count(Fate::Dropped));
    [marked, dropped].map(|x| x / (f64::from(n) + dropped))
}

#[test]
fn picks_have_the_rates_of_the_coupling_and_of_an_overload() {
    // 15 ms of wait raise it by beta times 15 ms.
    let of = |p: f64, more: Value| {
        let mut all = json!({"alpha": 0.0, "beta": p / 0.015, "limit": "1000000 packets"});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        linux(all)
    };
    let n = 200_000;
    let near = |got: f64, rate: f64| {
        // The gain is rounded to 256ths, and then down to parts for 64 ns.
        let error = 4.0 * (rate * (1.0 - rate) / f64::from(n)).sqrt() + 0.004 * rate;
        assert!((got - rate).abs() <= error, "{got} instead of {rate}");
    };
    for (p, ecn, [marks, drops]) in [
        (0.05, Ecn::NotEct, [0.0, 0.0025]),
        (0.05, Ecn::Ect0, [0.0025, 0.0]),
        (0.05, Ecn::Ect1, [0.1, 0.0]),
        (0.6, Ecn::Ect0, [0.0, 0.36]),
        (0.6, Ecn::Ect1, [0.64, 0.36]),
    ] {
        let [m, d] = rates(of(p, json!({})), ecn, n);
        near(m, marks);
        near(d, drops);
    }
    assert_eq!(rates(of(0.6, json!({"overload": "overflow"})), Ecn::Ect1, 1000), [1.0, 0.0]);
}

fn fates(entries: &[Entry]) -> Vec<(u64, Fate)> {
    let fate = |e: &Entry| match e {
        Entry::Marked { seq, .. } => (*seq, Fate::Marked),
        Entry::Dropped { seq, why: DropReason::EarlyDrop, .. } => (*seq, Fate::Dropped),
        Entry::Dropped { seq, .. } => (*seq, Fate::Full),
    };
    entries.iter().map(fate).collect()
}

/// One random trace through both; how many were marked, dropped, and did not fit.
fn compare(more: &Value, mut oracle: oracle::DualPi2, seed: u64) -> [usize; 4] {
    let mut p = params(more.clone());
    p.limit = crosswind_net::switch::Switch::On(Limit::Packets(120));
    let streams = Streams::new(seed);
    let mut b = DiscBench::new(DualPi2::build(p, &BuildCx::new(&streams, "q")).expect("it can be built"));
    let mut draws = streams.named("q/dualpi2");
    let mut rng = streams.named("trace");
    let (mut now, mut load, mut scalable, mut seen, mut number) = (0, 1.0, 0.5, [0; 4], 0);
    for i in 0..40_000 {
        if i % 1000 == 0 {
            (load, scalable) = (rng.between(0.6, 1.5), rng.between(0.0, 1.0));
            now += if rng.chance(0.2) { rng.exponential(1e9) as u64 } else { 0 };
        }
        now += rng.exponential(3e5) as u64;
        let before = b.log.entries.len();
        let want = if rng.chance(load / (1.0 + load)) {
            let ecn = [[Ecn::NotEct, Ecn::Ect0], [Ecn::Ect1, Ecn::Ce]][usize::from(rng.chance(scalable))];
            let ecn = ecn[rng.below(2) as usize];
            let len = 40 + rng.below(1460);
            b.arrive(Time(now), len as u16, ecn);
            let events = oracle.enqueue(now, number, (len, ecn as u8), &mut draws);
            number += 1;
            events
        } else {
            let out = b.depart(Time(now));
            let (events, left) = oracle.dequeue(now, &mut draws);
            assert_eq!(out, left, "{more} seed {seed}, step {i}");
            events
        };
        assert_eq!(fates(&b.log.entries[before..]), want, "{more} seed {seed}, step {i}");
        want.iter().for_each(|w| seen[w.1 as usize] += 1);
    }
    match b.disc.control() {
        Control::Rfc(base) => assert_eq!(base.p(), oracle.prob),
        Control::Linux(kernel) => assert_eq!(i128::from(kernel.parts()), oracle.pi2_prob),
    }
    seen
}

fn variants() -> Vec<(Value, oracle::DualPi2)> {
    let (rfc, linux) = (|| oracle::DualPi2::new(false, 120), || oracle::DualPi2::new(true, 120));
    let kernel = |more: Value| {
        let mut set = json!({"profile": "linux"});
        set.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        set
    };
    vec![
        (json!({}), rfc()),
        (json!({"scheduler": "ts-fifo", "time_shift": "5 ms"}), with(rfc(), |o| o.ts_fifo = Some(5 * MS))),
        (kernel(json!({})), linux()),
        (kernel(json!({"overload": "overflow"})), with(linux(), |o| o.drop_overload = false)),
        (kernel(json!({"decides": "arrival"})), with(linux(), |o| o.drop_early = true)),
        (
            kernel(json!({"step_spares": 3, "step": "3 ms"})),
            with(linux(), |o| (o.min_qlen_step, o.step_ns) = (3, 3 * MS)),
        ),
    ]
}

#[test]
fn random_traces_meet_the_pseudo_code_and_the_kernels_rules() {
    let kinds = variants().len();
    for v in 0..kinds {
        let mut all = [0; 4];
        for seed in 0..4 {
            let (set, oracle) = variants().swap_remove(v);
            let seen = compare(&set, oracle, seed);
            all = [0, 1, 2, 3].map(|i| all[i] + seen[i]);
        }
        assert!(all[1] > 1000 && all[2] > 200, "{v}: {all:?}");
    }
}

#[test]
fn the_oracle_notices_a_law_that_is_slightly_wrong() {
    let wrong = [
        (json!({}), with(oracle::DualPi2::new(false, 120), |o| o.next_ns = 20 * MS)),
        (json!({"profile": "linux"}), with(oracle::DualPi2::new(true, 120), |o| o.step_ns = 990_000)),
        (json!({"profile": "linux"}), with(oracle::DualPi2::new(true, 120), |o| o.drop_overload = false)),
    ];
    for (set, oracle) in wrong {
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compare(&set, oracle, 1)));
        assert!(found.is_err(), "{set}");
    }
}

#[test]
fn limits_follow_from_the_link_and_change_with_the_probability_kept() {
    // 250 ms at 10 Mbit/s, and room for one more packet of 1500 B.
    let mut b = bench(params(json!({})), 1);
    arrive(&mut b, 400, Time::ZERO, 1000, Ecn::NotEct);
    assert_eq!(b.disc.backlog().bytes, 312_000);
    b.change(Time(16 * MS), &json!({"limit": "100 packets"}));
    assert_eq!(b.disc.backlog().packets, 100);
    let p = b.disc.control().p();
    b.change(Time(17 * MS), &json!({"rtt_max": "30 ms", "step": "2 ms"}));
    assert!(p > 0.0 && b.disc.control().p() == p);
    let mut b = bench(linux(json!({"limit": "3 packets", "memory_limit": "2500 B"})), 1);
    arrive(&mut b, 3, Time::ZERO, 1000, Ecn::Ect1);
    assert_eq!(b.disc.backlog().packets, 2);
}

#[test]
fn what_a_profile_has_not_is_refused_with_what_it_expects() {
    let refused = |set: Value| {
        let mut queue = json!({"type": "dualpi2"});
        queue.as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
        registry::normalise(Kind::Queue, &queue, "queue").expect_err("it is not valid").path.clone()
    };
    for (set, path) in [
        (json!({"overload": "overflow"}), "queue.overload"),
        (json!({"step_packets": 5}), "queue.step_packets"),
        (json!({"profile": "linux", "ramp": "1 ms"}), "queue.ramp"),
        (json!({"profile": "linux", "coupling": 1.5}), "queue.coupling"),
        (json!({"profile": "linux", "picks": "spread"}), "queue.picks"),
        (json!({"limit": "1000 B"}), "queue.limit"),
    ] {
        assert_eq!(refused(set.clone()), path, "{set}");
    }
}
