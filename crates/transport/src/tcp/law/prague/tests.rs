use super::super::scalable_drive::{Path, drive};
use super::*;
use crate::tcp::params::TcpParams;
use crate::tcp::preset;

fn params(rtt_scaling: RttScaling) -> TcpParams {
    let p = preset::preset("prague").expect("a preset");
    let prague = PragueParams { rtt_scaling, transition_rounds: 10, ..PragueParams::default() };
    p.with(|p| p.controller.prague = prague)
}

fn ack(n: u32, ce: u32, ms: u64) -> Ack {
    let now = Time(ms * 1_000_000);
    Ack { now, newly_delivered: n, newly_ce: ce, window_limited: true, ..Ack::default() }
}

fn at(p: &TcpParams, segments: f64) -> Prague {
    let mut law = Prague::new(&p.controller.prague, Start::of(p));
    law.change(Change::StartFrom(segments * law.w.mss));
    law
}

#[test]
fn a_share_p_of_marks_leaves_two_of_them_a_round_trip() {
    for (every, want) in [(50, 98.0), (20, 38.0), (10, 18.0)] {
        let got = drive(&params(RttScaling::Off), Path::every(every, 0.020), 4000);
        assert!((got.mean_window / want - 1.0).abs() < 0.05, "every {every}: {} segments, not {want}", got.mean_window);
        assert!((1.8..=2.0).contains(&got.marks_a_round), "every {every}: {} marks", got.marks_a_round);
    }
}

#[test]
fn alpha_keeps_what_is_divided_away() {
    let mut alpha = ONE << GAIN_BITS;
    (0..10).for_each(|_| alpha = next_alpha(alpha, 100, 0));
    let want = (1u64 << 24) as f64 * (15.0_f64 / 16.0).powi(10);
    assert!((alpha as f64 - want).abs() <= 10.0, "{alpha}, not {want}");
    assert_eq!(next_alpha(ONE << GAIN_BITS, 7, 7), ONE << GAIN_BITS);
}

#[test]
fn the_first_mark_ends_slow_start_with_half_the_window_and_alpha_stands_until_then() {
    let p = params(RttScaling::Off);
    let mut law = at(&p, 40.0);
    for round in 0..5 {
        law.on_ack(&AckSample { nxt: 0, ..AckSample::of(&ack(1, 0, 20 * round)) });
    }
    assert_eq!(law.alpha(), 1.0);
    let before = law.exact;
    law.reduce(Trigger::Echo, 0.0);
    assert_eq!(law.exact, before / 2.0);
    assert!(!law.w.in_slow_start());
    let steps: Vec<f64> = (0..3)
        .map(|_| {
            law.on_ack(&AckSample { nxt: u64::MAX, ..AckSample::of(&ack(1, 1, 100)) });
            law.w.segments()
        })
        .collect();
    assert_eq!(steps, [44.0, 43.0, 42.0], "the window in use falls by a segment an ACK");
}

#[test]
fn after_a_mark_unmarked_segments_still_add_and_marked_ones_do_not() {
    let mut law = at(&params(RttScaling::Off), 40.0);
    law.reduce(Trigger::Echo, 0.0);
    let echo = Phase::Echo { high: u64::MAX };
    let mut grows = |n, ce| {
        let before = law.exact;
        law.on_ack(&AckSample { phase: echo, nxt: u64::MAX, ..AckSample::of(&ack(n, ce, 1)) });
        law.exact - before
    };
    assert!(grows(2, 1) > 0.0);
    assert_eq!([grows(2, 2), grows(1, 1)], [0.0; 2]);
}

#[test]
fn a_loss_halves_once_alpha_stays_and_nothing_grows_until_it_is_repaired() {
    let mut law = at(&params(RttScaling::Off), 40.0);
    law.reduce(Trigger::Echo, 0.0);
    let (alpha, before) = (law.alpha, law.exact);
    law.reduce(Trigger::Loss, 0.0);
    assert_eq!((law.exact, law.alpha), (before / 2.0, alpha));
    law.on_ack(&AckSample { phase: Phase::Recovery { high: 9 }, nxt: u64::MAX, ..AckSample::of(&ack(2, 0, 1)) });
    assert_eq!(law.exact, before / 2.0);
}

#[test]
fn scaled_ways_of_unequal_length_get_equal_rates_and_unscaled_ones_do_not() {
    let ratio = |scaling| {
        let rate = |rtt_s| drive(&params(scaling), Path::every(50, rtt_s), 8000).rate;
        rate(0.005) / rate(0.020)
    };
    let (scaled, unscaled) = (ratio(RttScaling::Rate), ratio(RttScaling::Off));
    assert!((0.9..1.1).contains(&scaled), "{scaled}");
    assert!((3.6..4.4).contains(&unscaled), "{unscaled}");
}

#[test]
fn what_a_segment_adds_follows_the_square_of_the_way_up_to_the_target() {
    let mut law = at(&params(RttScaling::Rate), 40.0);
    (law.rounds, law.agreed) = (10, Agreed::Accurate);
    let mut adds = |ms: f64| {
        law.srtt = ms / 1000.0;
        law.increase()
    };
    assert!((adds(12.5) - 0.25).abs() < 1e-12);
    assert_eq!([adds(25.0), adds(60.0), adds(120.0)], [1.0; 3]);
    law.srtt = 0.0125;
    law.agreed = Agreed::Classic;
    assert_eq!(law.increase(), 1.0, "without AccECN it is Reno");
    assert!((scalable_increase(0.020) - 1.373).abs() < 0.001, "{}", scalable_increase(0.020));
}

#[test]
fn the_rate_is_the_window_over_the_round_trip_and_twice_that_far_below_the_threshold() {
    let mut law = at(&params(RttScaling::Off), 40.0);
    law.srtt = 0.02;
    assert_eq!(law.pacing_rate(), Some(2.0 * 40.0 * law.w.mss / 0.02));
    law.w.ssthresh = law.w.cwnd;
    assert_eq!(law.pacing_rate(), Some(40.0 * law.w.mss / 0.02));
}

#[test]
fn the_window_never_falls_below_two_segments() {
    let mut law = at(&params(RttScaling::Off), 3.0);
    for _ in 0..9 {
        law.has_seen_mark = false;
        law.reduce(Trigger::Echo, 0.0);
    }
    assert_eq!(law.exact, 2.0 * law.w.mss);
    law.reduce(Trigger::Loss, 0.0);
    assert_eq!(law.exact, 2.0 * law.w.mss);
}

#[test]
fn the_preset_finds_losses_by_time_and_sends_ect1_to_those_who_count_marks_only() {
    use super::super::super::ecn::CodePoints;
    use crate::tcp::params::Detection;
    use crate::tcp::policies::RetransmissionEct::AsControl;
    use crosswind_base::Ecn;
    let p = preset::preset("prague").expect("a preset");
    assert_eq!(p.recovery.detection, Detection::Rack);
    let counted = CodePoints::of(Agreed::Accurate, &p, AsControl);
    assert_eq!((counted.data, counted.again, counted.control), (Ecn::Ect1, Ecn::Ect1, Ecn::Ect1));
    assert_eq!(CodePoints::of(Agreed::Classic, &p, AsControl), CodePoints::NONE);
    let replaced = p.with(|p| p.ecn.codepoint = Default::default());
    assert_eq!(CodePoints::of(Agreed::Accurate, &replaced, AsControl).data, Ecn::Ect0);
}
