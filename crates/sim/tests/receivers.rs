//! Receivers by operating system in small worlds: growth by ACKs, empty ACKs, and no SACK.

use crate::common::*;
use crosswind_record::Tables;
use serde_json::{Value, json};

/// One flow over 100 ms without losses, in congestion avoidance from the start, its window sampled every 10 s.
fn path(tcp: Value) -> Value {
    let mut tcp = tcp;
    for (k, v) in [("preset", json!("linux-2.4-highspeed")), ("initial_window_segments", json!(100))] {
        tcp[k] = v;
    }
    tcp["initial_ssthresh"] = "2000 B".into();
    json!({
        "name": "receivers", "duration": "60 s",
        "link": { "path": { "from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "50 ms" } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": tcp } },
        "record": { "sample": "10 s" },
    })
}

fn growth_per_round_trip(t: &Tables) -> f64 {
    let samples = table(t, "sample");
    let w: Vec<f64> = (0..samples.rows())
        .filter(|r| text(samples, "metric", *r) == "cwnd_bytes")
        .map(|r| number(samples, "value", r) / 1448.0)
        .collect();
    (w[w.len() - 1] - w[0]) / (10.0 * (w.len() - 1) as f64) * 0.1
}

#[test]
fn a_sender_that_counts_acks_grows_by_one_over_the_segments_of_an_ack() {
    for every in [1u32, 2, 4] {
        let t = run(&path(json!({ "delayed_ack": "50 ms", "ack_every_segments": every })));
        let growth = growth_per_round_trip(&t);
        assert!((growth * f64::from(every) - 1.0).abs() < 0.05, "an ACK for {every}: {growth} segments per round trip");
    }
}

#[test]
fn a_sender_that_counts_bytes_does_not_care_how_often_it_is_acknowledged() {
    for every in [1u32, 4] {
        let counting = json!({ "delayed_ack": "50 ms", "ack_every_segments": every, "avoidance_counting": "bytes" });
        let growth = growth_per_round_trip(&run(&path(counting)));
        assert!((growth - 1.0).abs() < 0.05, "an ACK for {every}: {growth} segments per round trip");
    }
}

#[test]
fn windows_grow_in_the_order_of_ack_rates() {
    let growth = |os: &str| growth_per_round_trip(&run(&path(json!({ "receiver": os }))));
    let order: Vec<f64> = ["solaris-9", "freebsd-5.3", "windows-2000", "windows-xp"].map(growth).to_vec();
    assert!(order.windows(2).all(|w| w[0] > 1.1 * w[1]), "{order:?}");
}

#[test]
fn the_receiver_without_sack_repairs_its_losses_all_the_same() {
    let mut s = path(json!({ "receiver": "freebsd-4.7" }));
    s["link"]["path"]["loss"] = json!({ "type": "uniform", "probability": 0.001 });
    s["flow"]["f"]["workload"]["size"] = "20 MB".into();
    let t = run(&s);
    assert_eq!(of_flow(&t, "f", "size_bytes"), 20e6);
    assert!(of_flow(&t, "f", "fast_recoveries") > 0.0);
    let acks = of_link_back(&t);
    let segments = of_flow(&t, "f", "sent_packets");
    // Half as many as segments, a quarter more of empty ones, and the duplicates of losses.
    assert!((0.55..0.8).contains(&(acks / segments)), "{acks} ACKs for {segments} segments");
}

fn of_link_back(t: &Tables) -> f64 {
    let links = table(t, "link");
    let row = (0..links.rows()).find(|r| text(links, "direction", *r) == "reverse").expect("a duplex link");
    number(links, "sent_packets", row)
}
