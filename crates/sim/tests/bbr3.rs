//! BBR version 3 behind one drop-tail queue: it fills the path and not the queue, keeps its rate under losses below its threshold, and finds a
//! rate that has grown tenfold in rounds that grow with its logarithm.

use crate::common::*;
use crosswind_record::{Column, Tables};
use serde_json::{Value, json};

/// 10 Mbit/s carries 1448 bytes of 1500.
const PAYLOAD_BPS: f64 = 10e6 * 1448.0 / 1500.0;
const PRODUCT: f64 = 10e6 / 8.0 / 1500.0 * 0.04;

fn path(preset: &str, products: f64) -> Value {
    let limit = format!("{} packets", (products * PRODUCT).round());
    json!({
        "name": "bbr3", "duration": "30 s",
        "link": { "path": { "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "19.4 ms", "queue": { "limit": limit } } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": { "preset": preset } } },
        "record": { "sample": "20 ms" },
    })
}

/// Samples of a metric from 5 s on.
fn samples(t: &Tables, metric: &str) -> Vec<f64> {
    let all = table(t, "sample");
    let Some(Column::Text(metrics)) = all.get("metric") else { panic!("samples name their metric") };
    let rows = metrics.iter().enumerate().filter(|(r, m)| *m == metric && number(all, "time_ns", *r) > 5e9);
    rows.map(|(r, _)| number(all, "value", r)).collect()
}

fn mean(values: &[f64]) -> f64 {
    assert!(values.len() > 500, "{} samples", values.len());
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn one_product_is_under_way_at_the_full_rate_behind_a_short_and_a_long_queue() {
    for preset in ["bbr3", "bbr3-google"] {
        for products in [2.0, 10.0] {
            let t = run(&path(preset, products));
            let rate = of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS;
            assert!(rate > 0.93, "{preset} {products}: {rate} of the link");
            let flight = mean(&samples(&t, "in_flight_bytes")) / 1448.0 / PRODUCT;
            assert!((0.85..1.35).contains(&flight), "{preset} {products}: {flight} products under way");
            let waiting = mean(&samples(&t, "queue_packets")) / PRODUCT;
            assert!(waiting < 0.4, "{preset} {products}: {waiting} products wait");
        }
    }
}

#[test]
fn half_a_product_for_a_while_every_five_seconds() {
    let t = run(&path("bbr3", 2.0));
    let states = samples(&t, "bbr_state");
    let probing = states.iter().filter(|s| **s == 6.0).count() as f64 / states.len() as f64;
    // 200 ms and a round trip or two of five seconds.
    assert!((0.03..0.07).contains(&probing), "{probing} of the time");
}

#[test]
fn losses_of_a_hundredth_cost_little_and_those_of_a_twentieth_much() {
    let rate = |probability: f64| {
        let mut s = path("bbr3", 2.0);
        s["link"]["path"]["loss"] = json!({ "type": "uniform", "probability": probability, "counts": "data" });
        of_flow(&run(&s), "f", "goodput_bps") / PAYLOAD_BPS
    };
    let (few, many) = (rate(0.003), rate(0.05));
    assert!(few > 0.85, "{few} below the threshold");
    assert!(many < 0.8 * few, "{many} above it");
}

/// The states that samples of a millisecond show, in their order.
fn states(length: &str) -> Vec<(f64, f64)> {
    let mut s = path("bbr3", 2.0);
    (s["duration"], s["record"]) = (json!("5 s"), json!({ "sample": "1 ms" }));
    s["flow"]["f"]["tcp"]["delayed_ack"] = json!("0 s");
    s["link"]["path"]["spikes"] = json!({ "first": "1.96 s", "every": "1000 s", "length": length });
    let t = run(&s);
    let all = table(&t, "sample");
    let Some(Column::Text(metrics)) = all.get("metric") else { panic!("samples name their metric") };
    let mut seen: Vec<(f64, f64)> = Vec::new();
    for (r, _) in metrics.iter().enumerate().filter(|(_, m)| *m == "bbr_state") {
        let state = number(all, "value", r);
        if seen.last().is_none_or(|(_, s)| *s != state) {
            seen.push((number(all, "time_ns", r) / 1e9, state));
        }
    }
    seen
}

#[test]
fn a_probe_that_the_timer_broke_off_for_nothing_begins_again() {
    // One expiry, and three of them.
    for length in ["450 ms", "1500 ms"] {
        let seen = states(length);
        let broken = seen.iter().position(|(at, s)| *s == 2.0 && *at > 1.96).expect("the timer ends the probe");
        let next: Vec<f64> = seen[broken..].iter().map(|s| s.1).take(3).collect();
        assert_eq!(next, [2.0, 4.0, 5.0], "{length}: DOWN, REFILL, UP");
        assert!(
            seen[broken].0 < 2.5 && seen[broken + 2].0 - seen[broken + 1].0 > 0.04,
            "{length}: a round of REFILL: {seen:?}"
        );
    }
}

#[test]
fn a_program_s_limit_below_the_path_is_no_limit_of_the_path_and_one_above_is() {
    let limited = |limit: &str| {
        let mut s = path("bbr3", 4.0);
        s["flow"]["f"]["tcp"]["pacing_limit"] = json!(limit);
        let t = run(&s);
        (samples(&t, "bbr_state"), of_flow(&t, "f", "goodput_bps") / 1e6)
    };
    // Samples are application-limited: they end no Startup, which ProbeRTT alone interrupts.
    let (states, rate) = limited("5 Mbit/s");
    assert!(states.iter().all(|s| [0.0, 6.0].contains(s)) && states.contains(&0.0), "{states:?}");
    assert!((4.5..5.01).contains(&rate), "{rate} Mbit/s");
    // Beyond the path's rate the window is what holds back, and the pipe is found full.
    let (states, rate) = limited("20 Mbit/s");
    assert!(!states.contains(&0.0), "Startup is over after five seconds");
    assert!(rate * 1e6 > 0.93 * PAYLOAD_BPS, "{rate} Mbit/s");
}
