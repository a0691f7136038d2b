//! Claims 14 to 17 of [Järvinen 2006] on its RED queue, and what the exact numbers are for each profile.

use crosswind_base::{BitRate, DropReason, Ecn, Limit, Rng, Size, Streams, Time};
use crosswind_net::queue::Backlog;
use crosswind_net::queue::red::floyd_jacobson::{FloydJacobson, FloydJacobsonParams};
use crosswind_net::queue::red::linux::{IdleDamping, Linux, LinuxParams};
use crosswind_net::queue::red::{Arrival, Law, Measure, Red, Verdict};
use crosswind_testkit::bench::{DiscBench, Outcome};

const RATE: BitRate = BitRate(64_000);

fn published() -> FloydJacobsonParams {
    FloydJacobsonParams {
        limit: Limit::Bytes(11_520),
        min_th: Limit::Bytes(1728),
        max_th: Limit::Bytes(5184),
        w_q: 1.0 / 512.0,
        measure: Measure::Bytes,
        avpkt: Size(576),
        ..FloydJacobsonParams::default()
    }
}

fn linux(idle_damping: IdleDamping) -> Linux {
    Linux::new(LinuxParams { idle_damping, ..LinuxParams::default() }, RATE)
}

/// Tells the law of an arrival at a queue of so many 576-byte packets.
fn arrive(law: &mut impl Law, packets: u32, rng: &mut Rng) -> Verdict {
    let backlog = Backlog { bytes: packets as u64 * 576, packets };
    law.arrive(&Arrival { backlog, len: 576, now: Time(1) }, rng)
}

/// Gaps between picks while the average stays at six packets.
fn gaps_at_six_packets(law: &mut impl Law, rng: &mut Rng) -> Vec<usize> {
    for _ in 0..20_000 {
        arrive(law, 6, rng);
    }
    assert!((law.avg_bytes() - 3456.0).abs() < 1.1, "{}", law.avg_bytes());
    let mut gaps = Vec::new();
    let mut gap = 0;
    while gaps.len() < 20_001 {
        gap += 1;
        match arrive(law, 6, rng) {
            Verdict::Pass => {}
            Verdict::Signal(DropReason::EarlyDrop) => gaps.push(std::mem::take(&mut gap)),
            other => panic!("{other:?} at six packets"),
        }
    }
    gaps.split_off(1)
}

/// Every gap from 1 to `longest` is as frequent as any other, within five standard deviations, and none is longer.
fn assert_uniform(gaps: &[usize], longest: usize) {
    let n = gaps.len() as f64;
    let p = 1.0 / longest as f64;
    for gap in 1..=longest + 1 {
        let seen = gaps.iter().filter(|g| **g == gap).count() as f64 / n;
        let want = if gap <= longest { p } else { 0.0 };
        assert!((seen - want).abs() <= 5.0 * (p / n).sqrt(), "gap {gap}: share {seen}, wanted {want}");
    }
}

fn mean(gaps: &[usize]) -> f64 {
    gaps.iter().sum::<usize>() as f64 / gaps.len() as f64
}

#[test]
fn claim_14_gaps_between_marks_are_uniform_with_mean_ten_and_a_half() {
    let gaps = gaps_at_six_packets(&mut linux(IdleDamping::Fixed), &mut Streams::new(14).named("red"));
    assert!((mean(&gaps) / 10.5 - 1.0).abs() < 0.05, "{}", mean(&gaps));
    assert_uniform(&gaps, 20);
}

#[test]
fn the_published_pseudo_code_makes_gaps_one_packet_shorter_at_most() {
    let mut law = FloydJacobson::new(published(), RATE);
    let gaps = gaps_at_six_packets(&mut law, &mut Streams::new(14).named("red"));
    assert_uniform(&gaps, 19);
    assert!((mean(&gaps) - 10.0).abs() < 0.2, "{}", mean(&gaps));
}

#[test]
fn claim_15_above_the_maximum_capable_packets_are_marked_and_others_dropped() {
    let params = LinuxParams { w_log: Some(0), ..LinuxParams::default() };
    let law = Linux::new(params.clone(), RATE);
    let mut bench = DiscBench::new(Red::new(params.common(), law, Streams::new(15).named("red")));
    let mut now = 0;
    let mut next = |bench: &mut DiscBench<_>, ecn| {
        now += 1_000_000;
        bench.arrive(Time(now), 576, ecn)
    };
    // With weight 1 the average is the queue: fill it to nine packets, then every arrival meets the maximum.
    while bench.pool.in_use() < 9 {
        next(&mut bench, Ecn::Ect0);
    }
    for _ in 9..20 {
        assert_eq!(next(&mut bench, Ecn::NotEct), Outcome::Dropped(DropReason::ForcedDrop));
        assert_eq!(next(&mut bench, Ecn::Ect0), Outcome::Marked);
    }
    assert_eq!(next(&mut bench, Ecn::Ect0), Outcome::Dropped(DropReason::QueueFull), "20 packets fill 11520 B");
}

#[test]
fn claim_16_the_average_reaches_half_of_a_step_after_355_arrivals() {
    fn arrivals_to_half(law: &mut impl Law) -> usize {
        let mut rng = Streams::new(16).named("red");
        // The very first arrival ends an idle period.
        arrive(law, 0, &mut rng);
        (1..)
            .find(|_| {
                arrive(law, 9, &mut rng);
                law.avg_bytes() >= 4.5 * 576.0
            })
            .expect("the average rises")
    }
    for m in
        [arrivals_to_half(&mut linux(IdleDamping::Fixed)), arrivals_to_half(&mut FloydJacobson::new(published(), RATE))]
    {
        assert!(m.abs_diff(355) <= 2, "{m}");
    }
}

/// The factor that one idle second leaves of an average of three packets.
fn idle_second(law: &mut impl Law) -> f64 {
    let mut rng = Streams::new(17).named("red");
    for _ in 0..20_000 {
        arrive(law, 3, &mut rng);
    }
    let before = law.avg_bytes();
    assert!((before - 1728.0).abs() < 1.1);
    law.emptied(Time(1), 576);
    let empty = Backlog { bytes: 0, packets: 0 };
    law.arrive(&Arrival { backlog: empty, len: 576, now: Time(1_000_000_001) }, &mut rng);
    law.avg_bytes() / before
}

#[test]
fn claim_17_one_idle_second_leaves_973_thousandths_by_the_exponential() {
    for factor in [idle_second(&mut FloydJacobson::new(published(), RATE)), idle_second(&mut linux(IdleDamping::Exact))]
    {
        assert!((factor / 0.973 - 1.0).abs() < 0.005, "{factor}");
    }
}

#[test]
fn claim_17_the_overflow_leaves_a_higher_average_than_the_fix() {
    let fixed = idle_second(&mut linux(IdleDamping::Fixed));
    let overflow = idle_second(&mut linux(IdleDamping::Overflow32));
    assert!(overflow > 0.998, "the overflowed product takes almost nothing away: {overflow}");
    // The kernel's line with the cell that tc picks (2^22 us): 1 - 1e6 / 2^22. The claim expected about 0.973 here.
    assert!((fixed - (1.0 - 1e6 / 4_194_304.0)).abs() < 0.001, "{fixed}");
    assert!(overflow > fixed);
}
