//! BBR behind one drop-tail queue: it finds rate and delay of the path, fills the path and not the queue, whatever the limit of the queue,
//! and losses that are not congestion leave its rate alone ([Cardwell 2017]).

use crate::common::*;
use crosswind_record::{Column, Tables};
use serde_json::{Value, json};

const RTT_S: f64 = 0.04;
/// 10 Mbit/s carries 1448 bytes of 1500.
const PAYLOAD_BPS: f64 = 10e6 * 1448.0 / 1500.0;
/// Product of rate and round trip in packets.
const PRODUCT: f64 = 10e6 / 8.0 / 1500.0 * RTT_S;

fn path(preset: &str, products: f64) -> Value {
    let limit = format!("{} packets", (products * PRODUCT).round());
    json!({
        "name": "bbr", "duration": "32 s",
        "link": { "path": { "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms", "queue": { "limit": limit } } },
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
    for products in [1.0, 10.0] {
        let t = run(&path("linux-6-bbr", products));
        let rate = of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS;
        assert!(rate > 0.93, "{products}: {rate} of the link");
        let flight = mean(&samples(&t, "in_flight_bytes")) / 1448.0 / PRODUCT;
        assert!((0.85..1.35).contains(&flight), "{products}: {flight} products under way");
        let waiting = mean(&samples(&t, "queue_packets")) / PRODUCT;
        assert!(waiting < 0.3, "{products}: {waiting} products wait");
    }
    // CUBIC fills what there is.
    let cubic = run(&path("linux-6-cubic", 10.0));
    assert!(mean(&samples(&cubic, "queue_packets")) / PRODUCT > 3.0);
}

#[test]
fn every_ten_seconds_the_window_is_four_segments_for_a_while() {
    let t = run(&path("linux-6-bbr", 2.0));
    let windows = samples(&t, "cwnd_bytes");
    let small = windows.iter().filter(|w| **w <= 4.0 * 1448.0).count() as f64 / windows.len() as f64;
    // 200 ms and a round trip of 10 s and a little, and the way there: about 2 % ([Cardwell 2017]).
    assert!((0.015..0.04).contains(&small), "{small} of the time");
}

#[test]
fn losses_of_a_twentieth_cost_a_twentieth() {
    let mut s = path("linux-6-bbr", 2.0);
    s["link"]["path"]["loss"] = json!({ "type": "uniform", "probability": 0.05, "counts": "data" });
    let t = run(&s);
    let rate = of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS / 0.95;
    assert!(rate > 0.9, "{rate} of what the link lets through");
    assert!(of_flow(&t, "f", "retransmitted_packets") > 500.0, "segments were lost");
}

#[test]
fn a_receiver_that_holds_sacks_makes_the_path_look_faster_than_it_is() {
    let median_rate = |held: &str| {
        let mut s = path("linux-6-bbr", 2.0);
        s["link"]["path"]["loss"] = json!({ "type": "uniform", "probability": 0.01, "counts": "data" });
        s["flow"]["f"]["tcp"]["sack_compression"] = json!(held);
        let mut rates = samples(&run(&s), "path_rate_bps");
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2] / PAYLOAD_BPS
    };
    let (prompt, held) = (median_rate("0 ms"), median_rate("1 ms"));
    assert!((0.998..1.002).contains(&prompt), "{prompt} of the link");
    // An interval that begins with a held ACK is up to 1.1 ms of about 50 ms too short.
    assert!((1.012..1.026).contains(&held), "{held} of the link");
}

#[test]
fn ten_flows_lose_less_than_a_twentieth() {
    let mut s = path("linux-6-bbr", 2.0);
    s["duration"] = json!("60 s");
    s["link"]["path"]["rate"] = json!("100 Mbit/s");
    s["link"]["path"]["queue"]["limit"] = json!("667 packets");
    s["flow"]["f"]["count"] = json!(10);
    s["flow"]["f"]["start"] = json!({ "uniform": ["0 s", "1 s"] });
    s.as_object_mut().expect("a table").remove("record");
    let t = run(&s);
    let flows = table(&t, "flow");
    let sum = |column: &str| (0..flows.rows()).map(|row| number(flows, column, row)).sum::<f64>();
    let (retransmitted, sent) = (sum("retransmitted_packets"), sum("sent_packets"));
    assert!(flows.rows() == 10 && sent > 400_000.0, "{} flows, {sent} packets", flows.rows());
    assert!(retransmitted < 0.05 * sent, "{retransmitted} of {sent}");
}
