//! The three RED profiles against their literal oracles on random traces.

use crosswind_base::{BitRate, DropReason, Dur, Ecn, Limit, Rng, Size, Streams, Time};
use crosswind_net::params::Params;
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::red::floyd_jacobson::{FloydJacobson, FloydJacobsonParams};
use crosswind_net::queue::red::linux::{IdleDamping, Linux, LinuxParams, MaxPRounding};
use crosswind_net::queue::red::ns2::{LinkFacts, Ns2, Ns2Params, Weight};
use crosswind_net::queue::red::{EcnMode, Law, Measure, Red};
use crosswind_net::queue::store::Admission;
use crosswind_testkit::bench::{DiscBench, Outcome};
use crosswind_testkit::oracle::{self, Decision};

fn expected(d: Decision) -> Outcome {
    match d {
        Decision::Admit => Outcome::Admitted,
        Decision::Mark => Outcome::Marked,
        Decision::DropEarly => Outcome::Dropped(DropReason::EarlyDrop),
        Decision::DropForced => Outcome::Dropped(DropReason::ForcedDrop),
        Decision::DropFull => Outcome::Dropped(DropReason::QueueFull),
    }
}

/// What a trace does next. Idle phases, bursts and mixed sizes alternate.
enum Step {
    Arrive(u16, Ecn),
    Depart,
}

/// How often each outcome occurred, so that a test can demand that all did.
#[derive(Default, Debug)]
struct Tally {
    marked: u32,
    early: u32,
    forced: u32,
    full: u32,
}

impl Tally {
    fn add(&mut self, o: Outcome) {
        match o {
            Outcome::Admitted => {}
            Outcome::Marked => self.marked += 1,
            Outcome::Dropped(DropReason::EarlyDrop) => self.early += 1,
            Outcome::Dropped(DropReason::ForcedDrop) => self.forced += 1,
            Outcome::Dropped(_) => self.full += 1,
        }
    }
}

/// Random steps; load drifts between idle and overload so that every branch is visited.
fn trace(rng: &mut Rng, steps: usize) -> Vec<(Time, Step)> {
    let mut now = Time::ZERO;
    let mut load = 0.5;
    let mut out = Vec::with_capacity(steps);
    for i in 0..steps {
        if i % 200 == 0 {
            load = rng.between(0.2, 0.75);
            if rng.chance(0.3) {
                now += Dur::from_secs_f64(rng.exponential(3.0));
            }
        }
        now += Dur::from_secs_f64(rng.exponential(0.02));
        let step = if rng.chance(load) {
            let len = if rng.chance(0.8) { 576 } else { 40 + rng.below(500) as u16 };
            Step::Arrive(len, if rng.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct })
        } else {
            Step::Depart
        };
        out.push((now, step));
    }
    out
}

/// An oracle, seen from a trace.
trait Oracle {
    fn arrive(&mut self, at: Time, len: u16, ecn: Ecn) -> Decision;
    fn depart(&mut self, at: Time);
    fn avg_bytes(&self) -> f64;
}

impl Oracle for oracle::red_floyd_jacobson::Red {
    fn arrive(&mut self, at: Time, len: u16, ecn: Ecn) -> Decision {
        self.arrive(at.as_secs_f64(), len as f64, ecn.is_capable())
    }
    fn depart(&mut self, at: Time) {
        self.depart(at.as_secs_f64())
    }
    fn avg_bytes(&self) -> f64 {
        self.avg
    }
}

impl Oracle for oracle::red_linux::Red {
    fn arrive(&mut self, at: Time, len: u16, ecn: Ecn) -> Decision {
        self.arrive(at.0, len as u64, ecn.is_capable())
    }
    fn depart(&mut self, at: Time) {
        self.depart(at.0)
    }
    fn avg_bytes(&self) -> f64 {
        self.qave as f64 / (1u64 << self.w_log) as f64
    }
}

impl Oracle for oracle::red_ns2::Red {
    fn arrive(&mut self, at: Time, len: u16, ecn: Ecn) -> Decision {
        self.arrive(at.as_secs_f64(), len as f64, ecn.is_capable())
    }
    fn depart(&mut self, at: Time) {
        self.depart(at.as_secs_f64())
    }
    fn avg_bytes(&self) -> f64 {
        if self.is_in_bytes { self.ave } else { self.ave * self.mean_size }
    }
}

/// The average that is told to whoever looks.
fn sampled_average<L: Law>(bench: &DiscBench<Red<L>>, at: Time) -> f64 {
    let mut average = None;
    bench.disc.sample(at, &mut |name, v| average = if name == "red_avg_bytes" { Some(v) } else { average });
    average.expect("RED tells its average")
}

/// Runs a trace through both sides and compares every decision and the average after it.
fn compare<L: Law>(bench: &mut DiscBench<Red<L>>, oracle: &mut impl Oracle, steps: &[(Time, Step)]) -> Tally {
    let mut tally = Tally::default();
    for (i, &(at, ref step)) in steps.iter().enumerate() {
        let Step::Arrive(len, ecn) = *step else {
            bench.depart(at);
            oracle.depart(at);
            continue;
        };
        let got = bench.arrive(at, len, ecn);
        assert_eq!(got, expected(oracle.arrive(at, len, ecn)), "step {i} at {at:?}");
        let (mine, avg) = (sampled_average(bench, at), oracle.avg_bytes());
        assert!((mine - avg).abs() <= 1e-6 * avg.max(1.0), "step {i}: average {mine}, oracle {avg}");
        tally.add(got);
    }
    tally
}

#[test]
fn the_published_law_decides_like_its_pseudo_code() {
    for seed in 0..20 {
        let streams = Streams::new(seed);
        let params = FloydJacobsonParams {
            limit: Limit::Bytes(11_520),
            ecn: if seed % 3 == 0 { EcnMode::Drop } else { EcnMode::Mark },
            min_th: Limit::Bytes(1728),
            max_th: Limit::Bytes(8000),
            w_q: 0.05,
            measure: Measure::Bytes,
            avpkt: Size(576),
            ..FloydJacobsonParams::default()
        };
        let is_ecn = params.ecn == EcnMode::Mark;
        let law = FloydJacobson::new(params.clone(), BitRate(64_000));
        let mut bench = DiscBench::new(Red::new(params.common(), law, streams.named("red")));
        let mut oracle = oracle::red_floyd_jacobson::Red {
            min_th: 1728.0,
            max_th: 8000.0,
            w_q: 0.05,
            max_p: 0.1,
            s: 0.072,
            limit: 11_520.0,
            is_ecn,
            avg: 0.0,
            count: -1.0,
            q_time: 0.0,
            queue: Vec::new(),
            rng: streams.named("red"),
        };
        let steps = trace(&mut streams.named("trace"), 20_000);
        let t = compare(&mut bench, &mut oracle, &steps);
        assert!(t.early > 20 && t.forced > 20 && t.full > 20 && (t.marked > 20) == is_ecn, "seed {seed}: {t:?}");
    }
}

fn linux(seed: u64, params: LinuxParams) -> Tally {
    let streams = Streams::new(seed);
    let law = Linux::new(params.clone(), BitRate(64_000));
    let mut bench = DiscBench::new(Red::new(params.common(), law, streams.named("red")));
    let w_log = params.w_log.expect("the tests set it");
    let (scell_log, stab) = oracle::red_linux::table(w_log, 576.0, 8000.0);
    let mut oracle = oracle::red_linux::Red {
        qth_min: 1728,
        qth_max: 8000,
        w_log,
        // 6272 / 0.1 as it is, or the power of two above it.
        r_range: if params.max_p_rounding == MaxPRounding::None { 62_720 } else { 65_536 },
        scell_log,
        stab,
        is_product_32_bits: params.idle_damping == IdleDamping::Overflow32,
        limit: 11_520,
        is_ecn: true,
        qave: 0,
        qcount: -1,
        qr: 0,
        idle_start_ns: Some(0),
        queue: Vec::new(),
        // 2^32 times the span over the range.
        moving_p: params.adaptive.then_some((429_496_730, 0)),
        rng: streams.named("red"),
    };
    let steps = trace(&mut streams.named("trace"), 20_000);
    compare(&mut bench, &mut oracle, &steps)
}

#[test]
fn the_linux_law_decides_like_its_description() {
    for seed in 0..20 {
        let params = LinuxParams {
            max_th: Size(8000),
            w_log: Some(4 + seed as u32 % 2),
            max_p_rounding: if seed % 2 == 0 { MaxPRounding::None } else { MaxPRounding::TcPlog },
            idle_damping: if seed % 4 < 2 { IdleDamping::Fixed } else { IdleDamping::Overflow32 },
            ..LinuxParams::default()
        };
        let t = linux(seed, params);
        assert!(t.early > 20 && t.forced > 20 && t.full > 20 && t.marked > 20, "seed {seed}: {t:?}");
    }
}

#[test]
fn an_adaptive_linux_law_decides_like_its_description_and_unlike_one_that_is_not() {
    let of = |seed: u64, adaptive| {
        linux(seed, LinuxParams { max_th: Size(8000), w_log: Some(4), adaptive, ..LinuxParams::default() })
    };
    for seed in 0..10 {
        let (moving, fixed) = (of(seed, true), of(seed, false));
        assert!(moving.early > 20 && moving.forced > 20, "seed {seed}: {moving:?}");
        assert_ne!(moving.early, fixed.early, "seed {seed}");
    }
}

fn ns2(seed: u64, params: Ns2Params) -> Tally {
    let streams = Streams::new(seed);
    let rate = BitRate(64_000);
    let link = LinkFacts { rate, delay: Dur::from_millis(100) };
    let (th_min, th_max) = params.thresholds(rate);
    let mut bench = DiscBench::new(Red::new(params.common(), Ns2::new(params.clone(), link), streams.named("red")));
    let is_in_bytes = params.measure == Measure::Bytes;
    let mut oracle = oracle::red_ns2::Red {
        is_in_bytes,
        is_by_size: params.drop_by == Measure::Bytes,
        is_gentle: params.gentle,
        is_waiting: params.wait,
        is_adaptive: params.adaptive,
        th_min,
        th_max,
        q_w: 0.05,
        max_p: 0.1,
        mark_p: params.mark_p,
        mean_size: 576.0,
        alpha: 0.01,
        beta: 0.9,
        interval: 0.5,
        top: 0.5,
        bottom: 0.01,
        ptc: 64_000.0 / (8.0 * 576.0),
        bits_per_s: 64_000.0,
        limit: if is_in_bytes { 11_520.0 } else { 20.0 },
        is_ecn: true,
        cur_max_p: 0.1,
        last_set: 0.0,
        ave: 0.0,
        count: 0.0,
        count_bytes: 0.0,
        is_old: false,
        is_idle: true,
        idle_time: 0.0,
        line_free: 0.0,
        queue: Vec::new(),
        rng: streams.named("red"),
    };
    let steps = trace(&mut streams.named("trace"), 20_000);
    compare(&mut bench, &mut oracle, &steps)
}

#[test]
fn the_ns2_law_decides_like_ns2_in_all_its_modes() {
    let mut total = Tally::default();
    for seed in 0..32u64 {
        let bit = |n: u32| seed >> n & 1 == 1;
        let in_bytes = bit(0);
        let params = Ns2Params {
            limit: if in_bytes { Limit::Bytes(11_520) } else { Limit::Packets(20) },
            ecn: EcnMode::Mark,
            min_th: Some(Limit::Packets(3)),
            max_th: Some(Limit::Packets(9)),
            measure: if in_bytes { Measure::Bytes } else { Measure::Packets },
            drop_by: if bit(1) { Measure::Bytes } else { Measure::Packets },
            gentle: bit(2),
            wait: bit(3),
            adaptive: bit(4),
            mean_packet: Size(576),
            w_q: Weight::Value(0.05),
            ..Ns2Params::default()
        };
        let t = ns2(seed, params);
        total = Tally {
            marked: total.marked + t.marked,
            early: total.early + t.early,
            forced: total.forced + t.forced,
            full: total.full + t.full,
        };
    }
    assert!([total.marked, total.early, total.forced, total.full].iter().all(|n| *n > 300), "{total:?}");
}

#[test]
fn the_oracles_notice_a_law_that_is_slightly_wrong() {
    // The average of one side gets a weight that is 1 % off: the comparison must fail.
    let wrong = std::panic::catch_unwind(|| {
        let params = Ns2Params {
            limit: Limit::Packets(20),
            ecn: EcnMode::Mark,
            min_th: Some(Limit::Packets(3)),
            max_th: Some(Limit::Packets(9)),
            measure: Measure::Packets,
            mean_packet: Size(576),
            w_q: Weight::Value(0.0505),
            ..Ns2Params::default()
        };
        ns2(1, params)
    });
    assert!(wrong.is_err());
}

#[test]
fn a_departure_from_an_empty_queue_changes_nothing() {
    let params = LinuxParams::default();
    let law = Linux::new(params.clone(), BitRate(64_000));
    let mut bench = DiscBench::new(Red::new(params.common(), law, Streams::new(1).named("red")));
    assert_eq!(bench.depart(Time(5)), None);
    assert_eq!(bench.disc.backlog().packets, 0);
    assert_eq!(bench.arrive(Time(6), 576, Ecn::NotEct), Outcome::Admitted);
    assert_eq!(bench.depart(Time(7)), Some(0));
}

#[test]
fn below_its_thresholds_red_of_linux_2_4_admits_what_its_fifo_admits() {
    let params = LinuxParams {
        limit: Limit::Bytes(5000),
        admission: Admission::Linux24,
        min_th: Size(1 << 20),
        max_th: Size(1 << 21),
        ..LinuxParams::default()
    };
    let mut rng = Streams::new(9).named("trace");
    let law = Linux::new(params.clone(), BitRate(64_000));
    let mut red = DiscBench::new(Red::new(params.common(), law, Streams::new(9).named("red")));
    let mut fifo = oracle::droptail::DropTail::new(oracle::droptail::Rule::HeldBytes(5000));
    let mut full = 0;
    for i in 0..20_000u64 {
        if rng.chance(0.52) {
            let len = 40 + rng.below(1460);
            let want = fifo.arrive(len);
            assert_eq!(red.arrive(Time(i), len as u16, Ecn::NotEct), expected(want), "step {i}");
            full += (want == Decision::DropFull) as u32;
        } else {
            assert_eq!(red.depart(Time(i)).is_some(), fifo.depart().is_some());
        }
    }
    assert!(full > 500, "only {full} drops: the trace is too light");
}

#[test]
fn the_exponent_of_the_probability_is_the_one_that_tc_finds() {
    /// What `tc` is described to do: it doubles max_p / (max - min) until it is above one, 31 times at most.
    fn exponent(min: u64, max: u64, max_p: f64) -> Option<u32> {
        let mut p = max_p / (max - min) as f64;
        for n in 0..32 {
            if p > 1.0 {
                return Some(n);
            }
            p *= 2.0;
        }
        None
    }
    // Thresholds and probability, the exponent and what is left of the probability.
    let known = [
        (1728, 5184, 0.1, 16, 0.0527),
        (5000, 18_000, 0.1, 17, 0.0992),
        (800, 3500, 0.1, 15, 0.0824),
        (32 << 10, 128 << 10, 0.02, 23, 0.0117),
        // A power of two is not above one: it doubles once more, and half of it is left.
        (1024, 2048, 0.125, 14, 0.0625),
    ];
    for (min, max, max_p, n, left) in known {
        let p = LinuxParams {
            min_th: Size(min),
            max_th: Size(max),
            max_p,
            max_p_rounding: MaxPRounding::TcPlog,
            ..LinuxParams::default()
        };
        assert_eq!((exponent(min, max, max_p), p.random_range()), (Some(n), 1 << n), "{min} {max} {max_p}");
        assert!((Linux::new(p, BitRate(64_000)).max_p() - left).abs() < 5e-5, "{min} {max} {max_p}");
    }
    let mut rng = Streams::new(4).named("thresholds");
    let mut refused = 0;
    for _ in 0..5_000 {
        let min = 1 + rng.below(1 << 20);
        let widest = 1 + rng.below(26);
        let (max, max_p) = (min + 1 + rng.below(1 << widest), 10f64.powf(rng.between(-5.0, 0.0)));
        let p = LinuxParams {
            min_th: Size(min),
            max_th: Size(max),
            max_p,
            max_p_rounding: MaxPRounding::TcPlog,
            ..LinuxParams::default()
        };
        match exponent(min, max, max_p) {
            Some(n) => assert_eq!((p.random_range(), p.check().is_ok()), (1 << n, true), "{min} {max} {max_p}"),
            None => {
                assert_eq!(p.check().expect_err("tc refuses it").path, "max_p", "{min} {max} {max_p}");
                refused += 1;
            }
        }
    }
    assert!(refused > 10, "{refused}");
}
