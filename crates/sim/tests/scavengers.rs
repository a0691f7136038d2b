//! Laws that go by delay beside Reno, and alone: LEDBAT++ gives way, Copa keeps its queue short; and HyStart++ halves what slow start loses.

use crate::common::*;
use crosswind_record::Column;
use serde_json::{Value, json};

const PAYLOAD_BPS: f64 = 10e6 * 1448.0 / 1500.0;

fn path(tcp: Value, limit: u32) -> Value {
    json!({
        "name": "scavengers", "duration": "60 s",
        "link": { "path": { "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms",
            "queue": { "limit": format!("{limit} packets") } } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": tcp } },
    })
}

#[test]
fn ledbat_alone_holds_its_target_and_beside_reno_gives_way() {
    let law = json!({ "preset": "linux-6", "law": "ledbat++" });
    // 500 packets are 600 ms: its 60 ms are 50 packets.
    let t = run(&path(law.clone(), 500));
    let rate = of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS;
    assert!(rate > 0.85, "{rate} of the link");
    let mut s = path(law, 150);
    s["flow"]["reno"] =
        json!({ "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": { "preset": "linux-6" } });
    let t = run(&s);
    let share = of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS;
    assert!(share < 0.1, "{share} beside Reno");
}

#[test]
fn copa_alone_uses_the_link_and_loses_nothing() {
    let t = run(&path(json!({ "preset": "linux-6", "law": "copa" }), 100));
    let rate = of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS;
    assert!(rate > 0.93, "{rate} of the link");
    assert_eq!(of_flow(&t, "f", "retransmitted_packets"), 0.0);
}

#[test]
fn hystart_plus_loses_less_than_half_of_what_slow_start_loses() {
    let first_loss = |slow_start: &str| {
        // Paced, four products of queue.
        let mut s = path(json!({ "preset": "linux-6", "slow_start": slow_start, "pacing": "linux" }), 133);
        s["duration"] = json!("3 s");
        let t = run(&s);
        (of_flow(&t, "f", "retransmitted_packets"), of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS)
    };
    let (lost_before, _) = first_loss("standard");
    assert!(lost_before > 50.0, "standard slow start overshoots: {lost_before}");
    // It notices at two and a half products; five rounds of a quarter more may still come to the limit of the queue.
    let (lost, rate) = first_loss("hystart++");
    assert!(lost < 0.5 * lost_before, "{lost} and {lost_before}");
    assert!(rate > 0.85, "{rate} of the link");
}

#[test]
fn search_ends_slow_start_before_a_long_queue_is_full() {
    let start = |slow_start: &str| {
        // Ten products of queue: SEARCH compares windows of 3.5 round trips, and needs some of them.
        let mut s = path(json!({ "preset": "linux-6", "slow_start": slow_start, "pacing": "linux" }), 333);
        s["duration"] = json!("4 s");
        let t = run(&s);
        (of_flow(&t, "f", "retransmitted_packets"), of_flow(&t, "f", "goodput_bps") / PAYLOAD_BPS)
    };
    let (lost, _) = start("standard");
    assert!(lost > 100.0, "standard slow start overshoots: {lost}");
    let (lost, rate) = start("search");
    assert!(lost == 0.0 && rate > 0.85, "{lost} lost, {rate} of the link");
}

#[test]
fn hystart_plus_on_a_paced_path_ends_without_a_loss_where_the_queue_holds_its_five_rounds() {
    // It notices in the round after the pipe is full, at two to four products, and five rounds of a quarter more are a factor of three
    // (RFC 9406): four products of queue are too few, and an overshoot below one product is not to be had.
    let product = 10e6 / 8.0 * 0.04 / 1500.0;
    let start = |slow_start: &str| {
        let mut s = path(json!({ "preset": "linux-6", "slow_start": slow_start, "pacing": "linux" }), 333);
        s["duration"] = json!("5 s");
        s["record"] = json!({ "sample": "5 ms" });
        let t = run(&s);
        let samples = table(&t, "sample");
        let Some(Column::Text(metrics)) = samples.get("metric") else { panic!("samples name their metric") };
        let of = |metric: &str| -> Vec<f64> {
            let rows = metrics.iter().enumerate().filter(|(_, m)| *m == metric);
            rows.map(|(r, _)| number(samples, "value", r)).collect()
        };
        let (windows, thresholds) = (of("cwnd_bytes"), of("ssthresh_bytes"));
        let ended = windows.iter().zip(&thresholds).find(|(w, s)| w >= s).map(|(w, _)| *w);
        (of_flow(&t, "f", "retransmitted_packets"), ended.expect("slow start ends") / 1448.0)
    };
    assert!(start("standard").0 > 100.0, "standard slow start overshoots");
    let (lost, window) = start("hystart++");
    assert_eq!(lost, 0.0, "no loss");
    let five_rounds = 1.25_f64.powi(5);
    let products = window / product;
    assert!((2.0 * five_rounds..4.0 * five_rounds).contains(&products), "{products} products at the end of slow start");
}
