//! quinn in virtual time: complete transfers, the same bytes with the same seed, and its window.
#![cfg(feature = "quinn")]

mod common;

use common::{Little, Path, pairs};
use crosswind_base::Time;
use crosswind_stacks::quinn::{Congestion, Quinn, QuinnParams};
use crosswind_transport::stack::{Cut, CutBecause, State};

const ENDLESS: u64 = 1 << 50;

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

fn world(params: &QuinnParams, path: Path, flows: usize, size: u64, seed: u64) -> Little {
    params.check("flow.a.transport").expect("parameters make sense");
    Little::new(path, pairs(flows, seed, |role, rng| Box::new(Quinn::new(params, role, rng))), size)
}

fn ran(params: &QuinnParams, path: Path, flows: usize, size: u64, seconds: u64) -> Little {
    let mut w = world(params, path, flows, size, 7);
    w.run(at(seconds as f64));
    assert_eq!(w.failures(), Vec::<String>::new());
    w
}

#[test]
fn a_transfer_arrives_whole_and_in_order_and_both_ends_close() {
    for lose_every in [None, Some(50)] {
        let path = Path { lose_every, ..Path::new(10, 100, 40) };
        let w = ran(&QuinnParams::default(), path, 1, 3_000_000, 60);
        assert!(w.transfers[0].has_ended, "the end has come");
        assert_eq!(w.transfers[0].read, 3_000_000);
        assert!(w.ends.iter().all(|e| e.state() == State::Closed), "both ends know that it is over");
    }
}

#[test]
fn ten_runs_with_one_seed_send_the_same_bytes_at_the_same_times_and_another_seed_does_not() {
    let path = Path { mark_from_packets: Some(40), ..Path::new(20, 60, 30) };
    for congestion in [Congestion::Cubic, Congestion::Newreno] {
        let params = QuinnParams { congestion, ..QuinnParams::default() };
        let hash = |seed| {
            let mut w = world(&params, path, 3, ENDLESS, seed);
            w.run(at(2.5));
            assert!(w.sent_packets > 3000 && w.marks_packets > 0, "there was something to compare");
            w.hash
        };
        let first = hash(1);
        assert!((0..9).all(|_| hash(1) == first), "{congestion:?}: what is not seeded leaks into the bytes");
        assert_ne!(hash(2), first, "{congestion:?}: the seed reaches the stack");
    }
}

#[test]
fn cubic_cuts_to_seven_tenths_and_newreno_to_a_half_at_every_loss() {
    // Quinn up to 0.11.14 cut to 0.595 in every second case: only the window shows it.
    for (congestion, factor) in [(Congestion::Cubic, 0.7), (Congestion::Newreno, 0.5)] {
        let params = QuinnParams { congestion, ..QuinnParams::default() };
        let w = ran(&params, Path::new(20, 100, 60), 1, ENDLESS, 60);
        let losses: Vec<_> = w.cuts.iter().filter(|c| c.why == CutBecause::Loss).collect();
        assert!(losses.len() >= 6, "{congestion:?}: {} reductions", losses.len());
        for c in losses {
            let ratio = c.after_bytes as f64 / c.before_bytes as f64;
            assert!((ratio - factor).abs() < 0.001, "{congestion:?} at {:?}: {ratio}", c.at);
        }
    }
}

#[test]
fn marks_reduce_the_window_without_a_loss() {
    let path = Path { mark_from_packets: Some(60), ..Path::new(20, 400, 60) };
    let w = ran(&QuinnParams::default(), path, 1, ENDLESS, 30);
    assert!(w.marks_packets > 10);
    let after_start = w.cuts.iter().filter(|c| c.at > at(5.0));
    let (marks, losses) = after_start.partition::<Vec<&Cut>, _>(|c| c.why == CutBecause::EcnCe);
    assert!(marks.len() >= 3 && losses.is_empty(), "{marks:?} {losses:?}");
}

#[test]
fn ten_flows_fill_a_line_of_100_mbit() {
    let w = ran(&QuinnParams::default(), Path::new(100, 750, 60), 10, ENDLESS, 4);
    assert!(w.goodput_mbit() > 80.0, "{} Mbit/s", w.goodput_mbit());
    let probe = w.ends[0].probe();
    assert!(probe.cwnd_bytes > Some(10_000) && probe.srtt_ns > Some(60_000_000), "{probe:?}");
    assert!(probe.sent_packets > Some(100) && probe.in_flight_bytes.is_some(), "{probe:?}");
}

#[test]
fn a_peer_that_falls_silent_is_a_failure_with_a_reason() {
    let path = Path { lose_every: Some(1), ..Path::new(10, 100, 40) };
    let mut w = world(&QuinnParams::default(), path, 1, 1000, 1);
    w.run(at(120.0));
    assert_eq!(w.failures(), ["timed out"]);
}

#[test]
fn a_controller_that_no_seed_reaches_is_refused_unless_allowed() {
    let params = QuinnParams { congestion: Congestion::Bbr, ..QuinnParams::default() };
    let e = params.check("flow.a.transport").expect_err("quinn's BBR draws from the operating system");
    assert_eq!(e.path, "flow.a.transport.congestion");
    assert!(e.to_string().contains("no seed reaches"), "{e}");
}
