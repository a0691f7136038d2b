//! Single rules by the numbers that they give, with packets of 1500 bytes.

use super::*;
use crate::tcp::preset;
use crosswind_base::units::Size;

const MSS: f64 = 1500.0;

/// A path of this rate (bytes per second) and 40 ms, and a window of so many segments.
fn on_path(bw: f64, cwnd: f64) -> Bbr3 {
    let p = preset::preset("bbr3").expect("a preset").with(|p| p.connection.mss = Size(1500));
    let mut b = Bbr3::new(&p.controller.bbr3, Start::of(&p));
    (b.bw, b.max_bw, b.min_rtt) = (bw, bw, Some(Dur::from_millis(40)));
    b.full.reached = true;
    b.w.cwnd = cwnd * MSS;
    b
}

fn lost(flight: f64, since: f64) -> Lost {
    let bytes = |segments: f64| (segments * MSS) as u64;
    let (now, start, len) = (Time::ZERO, 0, 1500);
    Lost { now, start, len, delivered: 0, lost_since: bytes(since), flight: bytes(flight), is_app_limited: false }
}

#[test]
fn the_flight_at_a_loss_is_where_the_losses_crossed_the_threshold() {
    let b = on_path(1e6, 100.0);
    let at = |flight: f64, lost: f64| b.inflight_at_loss(flight * MSS, lost * MSS, MSS) / MSS;
    assert!((at(120.0, 3.0) - 119.388).abs() < 1e-3);
    assert_eq!(at(100.0, 3.0), 99.0, "the prefix is never negative");
    assert!(!b.is_inflight_too_high(2.0 * MSS, 100.0 * MSS), "2 of 100 are the threshold, not above it");
}

#[test]
fn the_long_term_cap_falls_to_the_flight_or_to_seven_tenths_of_the_target() {
    let mut b = on_path(200.0 * MSS / 0.04, 300.0);
    (b.is_bw_probe_sample, b.state) = (true, State::Up);
    b.on_lost(&lost(120.0, 3.0));
    assert!((b.inflight_longterm / MSS - 140.0).abs() < 1e-9);
    assert!(b.state == State::Down && b.prev_probe_too_high && !b.is_bw_probe_sample);
    b.undo(&b.clone());
    assert_eq!((b.state, b.inflight_longterm), (State::Refill, f64::INFINITY), "it was a mistake");
}

#[test]
fn rates_are_shown_in_bits_a_second_and_caps_where_there_are_some() {
    let mut b = on_path(1e6, 100.0);
    b.bw_shortterm = 5e5;
    let mut shown = Vec::new();
    b.sample(&mut |name, v| shown.push((name, v)));
    let value = |name: &str| shown.iter().find(|s| s.0 == name).map(|s| s.1);
    assert_eq!(["path_rate_bps", "rate_cap_bps", "flight_cap_bytes"].map(value), [Some(8e6), Some(4e6), None]);
}

#[test]
fn the_short_term_rate_loses_three_tenths_a_round_but_not_what_was_delivered() {
    for (latest, expected) in [(2.0, [7.0, 4.9, 3.43]), (6.0, [7.0, 6.0, 6.0])] {
        let mut b = on_path(10.0, 100.0);
        b.bw_latest = latest;
        for rate in expected {
            b.adapt_lower_bounds();
            assert!((b.bw_shortterm - rate).abs() < 1e-9, "{} and {rate}", b.bw_shortterm);
        }
    }
}

#[test]
fn cruising_leaves_headroom_of_a_segment_at_least_and_keeps_four() {
    let mut b = on_path(1e6, 100.0);
    for (cap, left) in [(100.0, 85.0), (20.0, 17.0), (5.0, 4.0)] {
        b.inflight_longterm = cap * MSS;
        assert!((b.inflight_with_headroom() / MSS - left).abs() < 1e-9);
    }
}

#[test]
fn the_cap_grows_by_one_two_four_and_eight_segments_in_four_rounds() {
    let mut b = on_path(1e6, 100.0);
    (b.inflight_longterm, b.is_full_now, b.state) = (100.0 * MSS, true, State::Up);
    let mut rs = Sample {
        now: Time::ZERO,
        rate: 1e6,
        delivered: 1.0,
        prior_delivered: 0,
        newly_acked: MSS,
        lost: 0.0,
        tx_in_flight: 0.0,
        is_app_limited: false,
        rtt: None,
        may_have_waited: false,
        before: 0.0,
        after: 0.0,
        all_delivered: 0,
    };
    rs.tx_in_flight = 0.0;
    b.raise_inflight_longterm_slope();
    let mut grown = Vec::new();
    for _ in 0..4 {
        let before = b.inflight_longterm;
        for ack in 0..100 {
            b.round_start = ack == 99;
            b.w.cwnd = 100.0 * MSS;
            let cap = std::mem::replace(&mut b.inflight_longterm, 100.0 * MSS);
            let from = b.inflight_longterm;
            b.probe_inflight_longterm_upward(&rs);
            b.inflight_longterm = cap + b.inflight_longterm - from;
        }
        grown.push((b.inflight_longterm - before) / MSS);
    }
    assert_eq!(grown, [1.0, 2.0, 4.0, 8.0]);
}

#[test]
fn the_first_rate_is_the_initial_window_in_the_first_round_trip_however_long_that_is() {
    let p = preset::preset("bbr3").expect("a preset").with(|p| p.connection.mss = Size(1200));
    let mut b = Bbr3::new(&p.controller.bbr3, Start::of(&p));
    assert!((b.pacing_rate / 33.24e6 - 1.0).abs() < 1e-6, "before any round trip: one millisecond");
    b.learn_first_rtt(Dur::from_millis(40), Time(1));
    assert!((b.pacing_rate / 0.831e6 - 1.0).abs() < 1e-6, "{}", b.pacing_rate);
    b.learn_first_rtt(Dur::from_millis(10), Time(2));
    assert!((b.pacing_rate / 0.831e6 - 1.0).abs() < 1e-6, "only once");
}

#[test]
fn windows_are_products_of_rate_and_round_trip() {
    let mut b = on_path(1.25e6, 100.0);
    let most = |b: &Bbr3| b.quantised(b.bdp_multiple(b.bw, b.cwnd_gain()));
    b.state = State::Cruise;
    assert_eq!(most(&b), 100_000.0);
    b.state = State::Up;
    assert_eq!(most(&b), 112_500.0 + 3000.0);
    assert_eq!(b.probe_rtt_cwnd(), 25_000.0);
    (b.bw, b.min_rtt) = (8000.0, Some(Dur::from_millis(10)));
    assert_eq!(b.probe_rtt_cwnd(), 6000.0);
}

#[test]
fn a_small_product_is_probed_after_as_many_rounds_as_it_has_segments_and_a_large_one_after_63() {
    let rounds = |product: f64| {
        let mut b = on_path(product * MSS / 0.04, product * 2.0);
        b.start_down(Time(1), 0);
        b.rounds_since_probe_up = 1;
        let mut rounds = 0;
        while !b.is_time_to_probe(Time(2)) {
            b.rounds_since_probe_up += 1;
            rounds += 1;
        }
        rounds
    };
    assert_eq!((rounds(33.0), rounds(500.0)), (32, 62));
    let mut b = on_path(1e9, 1e6);
    b.start_down(Time(1), 0);
    let wait = b.bw_probe_wait;
    assert!((2.0..=3.0).contains(&wait.as_secs_f64()));
    assert!(!b.is_time_to_probe(Time(1) + wait) && b.is_time_to_probe(Time(2) + wait));
}
