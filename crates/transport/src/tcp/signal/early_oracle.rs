//! PERT and PERT-REM as the thesis writes them, per ACK and in milliseconds.

use super::early::{Curve, CurveName, Early, EarlyParams, Falls, Queueing};
use super::rem::{Rem, RemParams, Unchanged};
use crate::tcp::choices::Switch;
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Streams, Time};

fn ack(now_ms: f64, rtt_ms: f64) -> Ack {
    Ack {
        now: Time((now_ms * 1e6) as u64),
        ack: 0,
        bytes: 1000,
        segments: 1,
        rtt: Some(Dur((rtt_ms * 1e6).round() as u64)),
        in_flight_before: 0,
        window_limited: true,
        ..Ack::default()
    }
}

/// Random round-trip times of a queue that fills and empties, in milliseconds.
fn trace(seed: u64, steps: usize) -> Vec<f64> {
    let mut r = Streams::new(seed).named("trace");
    let mut queue = 0.0;
    (0..steps)
        .map(|i| {
            let drift = if (i / 2000) % 2 == 0 { 0.02 } else { -0.02 };
            queue = f64::clamp(queue + drift + r.between(-0.2, 0.2), 0.0, 40.0);
            ((60.0 + queue) * 1e6).floor() / 1e6
        })
        .collect()
}

#[test]
fn pert_responds_with_the_probability_of_its_pseudo_code_at_most_once_per_round_trip() {
    for falls in [Falls::Smoothly, Falls::AtOnce] {
        for seed in 0..10 {
            let params = EarlyParams { curve: CurveName::GentleRed, falls, ..EarlyParams::default() };
            let mut ours = Early::new(params, Streams::new(seed).named("pert"));
            let mut dice = Streams::new(seed).named("pert");
            let (mut p_min, mut srtt99, mut last) = (f64::INFINITY, f64::NAN, f64::NEG_INFINITY);
            let mut answers = 0;
            for (i, r) in trace(seed, 20_000).into_iter().enumerate() {
                let now = i as f64;
                p_min = f64::min(p_min, r);
                srtt99 = if srtt99.is_nan() || (falls == Falls::AtOnce && r < srtt99) {
                    r
                } else {
                    0.99 * srtt99 + 0.01 * r
                };
                let d = srtt99 - p_min;
                let p = match d {
                    d if d < 5.0 => 0.0,
                    d if d < 10.0 => 0.05 * (d - 5.0) / 5.0,
                    d if d < 20.0 => 0.05 + 0.95 * (d - 10.0) / 10.0,
                    _ => 1.0,
                };
                let respond = dice.uniform() < p && now - last >= srtt99;
                let got = ours.congested(&ack(now, r));
                assert!((ours.probability - p).abs() < 1e-7, "seed {seed} step {i}: {} and {p}", ours.probability);
                assert_eq!(got, respond, "seed {seed} step {i}");
                if got {
                    ours.answered(Time((now * 1e6) as u64));
                    last = now;
                    answers += 1;
                }
            }
            assert!(answers > 10, "the trace makes it respond ({answers})");
        }
    }
}

#[test]
fn an_ack_without_a_sample_is_judged_by_what_is_known_where_that_is_asked_for() {
    for (stale, pause_samples, at_once) in [(Switch::Off, 0, false), (Switch::On, 0, true), (Switch::On, 1, false)] {
        let params = EarlyParams { curve: CurveName::GentleRed, stale, pause_samples, ..EarlyParams::default() };
        let mut early = Early::new(params, Streams::new(1).named("stale"));
        early.congested(&ack(0.0, 60.0));
        (1..500).for_each(|i| {
            early.congested(&ack(f64::from(i), 100.0));
        });
        assert!((early.probability - 1.0).abs() < 1e-12, "far above every threshold");
        early.answered(Time(500_000_000));
        let silent = |now_ms| Ack { rtt: None, ..ack(now_ms, 0.0) };
        assert!(!early.congested(&silent(510.0)), "within a round trip of the last response");
        assert_eq!(early.congested(&silent(700.0)), at_once, "{stale:?}, {pause_samples}");
        assert!(early.congested(&ack(701.0, 100.0)), "a sample has come");
    }
}

#[test]
fn pert_rem_follows_the_price_of_its_pseudo_code() {
    for seed in 0..10 {
        let params = EarlyParams { curve: CurveName::Rem, ..EarlyParams::default() };
        let mut ours = Early::new(params, Streams::new(seed).named("rem"));
        let (mut p_min, mut srtt99, mut price, mut ctr) = (f64::INFINITY, f64::NAN, 0.0f64, 0);
        let (mut last_q, mut last_r) = (0.0, f64::NAN);
        let mut seen: Vec<f64> = Vec::new();
        for (i, r) in trace(seed, 3000).into_iter().enumerate() {
            p_min = f64::min(p_min, r);
            srtt99 = if srtt99.is_nan() { r } else { 0.99 * srtt99 + 0.01 * r };
            let q = srtt99 - p_min;
            // The mode, over classes of equal ratio; the earlier class wins a tie that it reached first.
            let target = 2.0 * mode(&seen);
            let next = f64::max(0.0, price + 0.02 * (0.8 * (q - target) + (q - last_q)));
            last_q = q;
            if r - last_r >= 1e-3 {
                seen.push(r - last_r); // less than 1 us is rounding
            }
            last_r = r;
            if next == price && price > 0.0 {
                ctr += 1;
                price *= 0.999f64.powi(ctr);
            } else {
                (ctr, price) = (0, next);
            }
            ours.congested(&ack(i as f64, r));
            let p = 1.0 - 1.001f64.powf(-price);
            assert!((ours.probability - p).abs() < 1e-7, "seed {seed} step {i}: {} and {p}", ours.probability);
        }
    }
}

fn queueing(delay_ms: f64, change_ms: f64) -> Queueing {
    Queueing { delay_s: delay_ms / 1e3, change_s: change_ms / 1e3, now: Time(0) }
}

/// A price whose target is 1 ms: the only positive change of the round-trip time so far was half of that.
fn price_with_a_target_of_one_ms(params: RemParams) -> Rem {
    let mut rem = Rem::new(params);
    rem.probability(queueing(0.0, 0.5));
    assert_eq!(rem.price, 0.0, "nothing waits yet");
    rem
}

#[test]
fn a_millisecond_above_the_target_adds_16_thousandths_a_sample_and_a_millisecond_more_20() {
    let mut rem = price_with_a_target_of_one_ms(RemParams::default());
    // From 0 to 2 ms: 0.02 (0.8 (2 - 1) + 2), then 0.02 0.8 (2 - 1) for as long as it stays there.
    rem.probability(queueing(2.0, 0.0));
    assert!((rem.price - 0.056).abs() < 1e-9, "{}", rem.price);
    for n in 1..=100 {
        rem.probability(queueing(2.0, 0.0));
        let expected = 0.056 + 0.016 * f64::from(n);
        assert!((rem.price - expected).abs() < 1e-9, "{} and {expected}", rem.price);
    }
    // One millisecond less: the target. The queue falls, which takes 0.02 off; then the price stands, and decays.
    let before = rem.price;
    rem.probability(queueing(1.0, 0.0));
    assert!((rem.price - (before - 0.02)).abs() < 1e-9);
}

#[test]
fn a_price_of_ten_answers_one_sample_in_a_hundred() {
    let mut rem = price_with_a_target_of_one_ms(RemParams::default());
    rem.price = 10.0 - 0.056;
    let p = rem.probability(queueing(2.0, 0.0));
    assert!((p - 0.009_945).abs() < 1e-6, "1 - 1.001^-10, not {p}");
}

#[test]
fn queues_in_seconds_are_queues_in_milliseconds_with_a_thousandth_of_gamma() {
    // What the unit is does not matter beyond gamma: everything that the price is made of is linear in it.
    let mut ms = price_with_a_target_of_one_ms(RemParams::default());
    let mut s = price_with_a_target_of_one_ms(RemParams { gamma: 0.02 / 1e3, ..RemParams::default() });
    for n in 0..200 {
        let delay_ms = 3.0 + f64::from(n % 7);
        ms.probability(queueing(delay_ms, 0.0));
        s.probability(queueing(delay_ms, 0.0));
        assert!((ms.price / 1e3 - s.price).abs() < 1e-9, "{} and {}", ms.price, s.price);
    }
}

/// Mean of the class that first reached the greatest count.
fn mode(changes: &[f64]) -> f64 {
    let class = |ms: f64| ((ms.log10() + 3.0) * 64.0 / 6.0).min(63.0) as usize;
    let mut counts = [0u32; 64];
    let mut best = None;
    for &c in changes {
        counts[class(c)] += 1;
        if best.is_none_or(|b| counts[class(c)] > counts[b]) {
            best = Some(class(c));
        }
    }
    let Some(best) = best else { return 0.0 };
    let inside: Vec<f64> = changes.iter().copied().filter(|c| class(*c) == best).collect();
    inside.iter().sum::<f64>() / inside.len() as f64
}

#[test]
fn over_an_empty_queue_a_price_decays_within_the_resolution_of_an_exact_clock() {
    let after_100_acks = |unchanged| {
        let mut rem = price_with_a_target_of_one_ms(RemParams { unchanged, ..RemParams::default() });
        rem.price = 10.0;
        // A single flow and an empty queue: the round-trip time stands still, and its average comes down to it, never twice the same.
        for ack in 0..100 {
            rem.probability(queueing(0.1 * 0.99f64.powi(ack), 0.0));
        }
        rem.price
    };
    assert!(after_100_acks(Unchanged::WithinResolution) < 1.0);
    assert!(after_100_acks(Unchanged::Equal) > 1.0, "numbers that are never equal never decay");
}

#[test]
fn a_queue_above_the_target_or_a_step_of_a_packet_moves_the_price_as_before() {
    let prices = |unchanged, delay_ms: f64, change_ms: f64| {
        let mut rem = price_with_a_target_of_one_ms(RemParams { unchanged, ..RemParams::default() });
        rem.price = 10.0;
        rem.probability(queueing(delay_ms, change_ms));
        rem.price
    };
    for (delay_ms, change_ms) in [(2.0, 0.0), (1.5, 0.1), (0.5, 0.6), (0.5, -0.6), (0.5, 0.5), (0.5, -0.5)] {
        let [a, b] = [Unchanged::Equal, Unchanged::WithinResolution].map(|u| prices(u, delay_ms, change_ms));
        assert_eq!(a, b, "{delay_ms} {change_ms}");
    }
    assert_eq!(
        prices(Unchanged::WithinResolution, 0.5, -0.4),
        10.0 * 0.999,
        "less than the resolution, below the target"
    );
}

#[test]
fn rounding_to_nanoseconds_is_not_the_resolution_of_round_trip_times() {
    let price = |noise_ms: f64| {
        let mut rem = Rem::new(RemParams::default());
        for ack in 0..100 {
            let change_ms = if ack % 10 == 0 { 0.055 } else { noise_ms };
            rem.probability(queueing(0.0, change_ms));
            rem.probability(queueing(0.0, -change_ms));
        }
        rem.probability(queueing(0.210, 0.0));
        rem.price
    };
    // 0.1 ms above a target of two packets, and a rise of 0.21 ms.
    let expected = 0.02 * (0.8 * 0.1 + 0.21);
    for noise_ms in [0.0, 1e-6, 2e-6, 9e-6] {
        assert!((price(noise_ms) - expected).abs() < 1e-9, "{noise_ms}: {}", price(noise_ms));
    }
    assert!(
        (price(0.02) - 0.02 * (0.8 * 0.170 + 0.21)).abs() < 1e-9,
        "a step that is seen more often is the resolution"
    );
}

#[test]
fn changes_beyond_the_classes_count_in_the_last_of_them() {
    for change_ms in [1.0, 999.0, 1000.0, 5000.0] {
        let mut rem = Rem::new(RemParams::default());
        rem.probability(queueing(0.0, change_ms));
        // A millisecond above the target, twice the change, and it stays there: 0.02 * 0.8 a sample.
        let [first, second] = [0, 1].map(|_| {
            rem.probability(queueing(2.0 * change_ms + 1.0, 0.0));
            rem.price
        });
        assert!((second - first - 0.016).abs() < 1e-6, "{change_ms} ms: {}", second - first);
    }
}

#[test]
fn who_has_no_curve_responds_to_nothing_early() {
    for (curve, is_on) in
        [(CurveName::Off, false), (CurveName::GentleRed, true), (CurveName::Rem, true), (CurveName::Pi, true)]
    {
        assert_eq!(EarlyParams { curve, ..EarlyParams::default() }.is_on(), is_on, "{curve:?}");
    }
}
