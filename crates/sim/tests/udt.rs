//! UDT and SABUL in small worlds.

use crate::common::*;
use crosswind_record::Tables;
use serde_json::{Value, json};

fn scenario(link: Value, flow: Value, duration: &str) -> Value {
    let mut link = link;
    (link["from"], link["to"]) = ("server".into(), "client".into());
    let mut flow = flow;
    (flow["from"], flow["to"]) = ("server".into(), "client".into());
    json!({
        "name": "udt", "duration": duration, "link": { "path": link }, "flow": { "stream": flow },
        "record": { "sample": "100 ms" },
    })
}

fn stream(t: &Tables, column: &str) -> f64 {
    of_flow(t, "stream", column)
}

const BOTH: [&str; 2] = ["udt-2", "sabul-2.2"];

#[test]
fn a_file_arrives_complete_whatever_is_lost_and_the_run_ends() {
    let link = json!({
        "rate": "50 Mbit/s", "delay": "20 ms", "queue": { "limit": "100 packets" },
        "loss": { "type": "uniform", "probability": 0.02 },
    });
    for preset in BOTH {
        let flow = json!({ "workload": { "type": "bulk", "size": "3000100 B" }, "udt": { "preset": preset } });
        let t = run(&scenario(link.clone(), flow, "100 s"));
        assert_eq!(stream(&t, "size_bytes"), 3_000_100.0, "{preset}");
        assert_eq!(text(table(&t, "run"), "outcome", 0), "all flows closed", "{preset}");
        assert!(stream(&t, "retransmitted_packets") >= stream(&t, "reported_losses_packets"), "{preset}");
    }
}

#[test]
fn a_long_fast_path_is_used_to_most_of_its_capacity() {
    let link = json!({ "rate": "100 Mbit/s", "delay": "50 ms", "queue": { "limit": "500 packets" } });
    for preset in BOTH {
        let flow = json!({ "workload": { "type": "bulk" }, "udt": { "preset": preset } });
        let t = run(&scenario(link.clone(), flow, "30 s"));
        let used = of_link(&t, "path", "utilisation_ratio");
        assert!(used > 0.85, "{preset} uses {used}");
    }
}

#[test]
fn packet_pairs_show_the_capacity_of_the_path() {
    let link = json!({ "rate": "80 Mbit/s", "delay": "10 ms", "queue": { "limit": "500 packets" } });
    let t = run(&scenario(link, json!({ "workload": { "type": "bulk" }, "udt": {} }), "10 s"));
    let samples = table(&t, "sample");
    let seen: Vec<f64> = (0..samples.rows())
        .filter(|r| text(samples, "metric", *r) == "path_capacity_bps")
        .map(|r| number(samples, "value", r))
        .collect();
    assert_within(seen[seen.len() - 1], 80e6, 5.0);
}

#[test]
fn a_limited_application_sends_at_its_own_pace() {
    let workload = json!({ "type": "cbr", "payload": "972 B", "interval": "5 ms", "packets": 1000 });
    let link = json!({ "rate": "50 Mbit/s", "delay": "20 ms" });
    let t = run(&scenario(link, json!({ "workload": workload, "udt": {} }), "100 s"));
    assert_eq!(stream(&t, "size_bytes"), 972_000.0);
    assert_within(stream(&t, "delay_p95_ns"), 20e6, 10.0);
}

#[test]
fn two_transports_at_once_are_refused() {
    let flow = json!({ "workload": { "type": "bulk" }, "udt": {}, "tfrc": {} });
    assert_eq!(refusal(&scenario(json!({ "rate": "1 Mbit/s" }), flow, "1 s")).path, "flow.stream.udt");
    let flow = json!({ "workload": { "type": "bulk" }, "udt": { "decrease": 0.5 } });
    assert_eq!(refusal(&scenario(json!({ "rate": "1 Mbit/s" }), flow, "1 s")).path, "flow.stream.udt.decrease");
}

#[test]
fn what_is_sent_again_is_no_run_of_losses() {
    let link = json!({ "rate": "10 Mbit/s", "delay": "10 ms", "loss": { "type": "uniform", "probability": 0.02 } });
    let w = json!({ "type": "cbr", "payload": "1000 B", "interval": "10 ms", "packets": 1000 });
    let t = run(&scenario(link, json!({ "workload": w, "udt": {} }), "60 s"));
    assert!(stream(&t, "retransmitted_packets") > 5.0);
    assert_eq!(stream(&t, "loss_runs"), 0.0);
}
