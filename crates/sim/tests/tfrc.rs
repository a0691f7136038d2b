//! TFRC in small worlds whose outcome can be worked out on paper.

use crate::common::*;
use crosswind_record::Tables;
use serde_json::{Value, json};

fn scenario(link: Value, flow: Value) -> Value {
    let mut link = link;
    (link["from"], link["to"]) = ("server".into(), "client".into());
    let mut flow = flow;
    (flow["from"], flow["to"]) = ("server".into(), "client".into());
    json!({
        "name": "tfrc", "duration": "100 s", "link": { "path": link }, "flow": { "stream": flow },
        "record": { "sample": "50 ms" },
    })
}

fn stream(t: &Tables, column: &str) -> f64 {
    of_flow(t, "stream", column)
}

/// Slow, long, and never full: nothing but slow start happens.
fn open_path() -> Value {
    json!({ "rate": "100 Mbit/s", "delay": "100 ms", "queue": { "limit": "10000 packets" } })
}

#[test]
fn without_losses_the_link_is_filled_and_nothing_is_lost() {
    let link = json!({ "rate": "2 Mbit/s", "delay": "50 ms", "queue": { "limit": "100000 packets" } });
    for preset in ["rfc5348", "rfc3448", "ns2-tfrc", "ns2-tfrc-old", "testbed-tfrc"] {
        let flow = json!({ "workload": { "type": "bulk" }, "tfrc": { "preset": preset } });
        let t = run(&scenario(link.clone(), flow));
        assert_eq!(stream(&t, "loss_events"), 0.0, "{preset}");
        assert_within(stream(&t, "throughput_bps"), 2e6, 3.0);
        assert_eq!(text(table(&t, "flow"), "protocol", 0), "tfrc");
    }
}

#[test]
fn a_file_is_sent_once_and_the_run_ends_when_all_of_it_has_arrived() {
    let flow = json!({ "workload": { "type": "bulk", "size": "500000 B" }, "tfrc": {} });
    let t = run(&scenario(open_path(), flow));
    assert_eq!(stream(&t, "size_bytes"), 500_000.0);
    assert_eq!(stream(&t, "sent_packets"), (500_000.0f64 / 956.0).ceil());
    assert_eq!(text(table(&t, "run"), "outcome", 0), "all flows closed");
}

#[test]
fn regular_losses_bring_the_rate_of_the_equation() {
    // One packet in a hundred is lost: every loss interval has 100 packets, so p = 0.01 and the rate is the equation's.
    let drops: Vec<u64> = (1..4000).map(|k| 100 * k).collect();
    let link = json!({
        "rate": "100 Mbit/s", "delay": "50 ms", "loss": { "type": "list", "packets": drops },
    });
    let flow = json!({ "workload": { "type": "bulk" }, "tfrc": { "discounting": "off" } });
    let t = run(&scenario(link, flow));
    let (r, p) = (0.1f64, 0.01f64);
    let rate = 8.0 * 1000.0
        / (r * (2.0 * p / 3.0f64).sqrt() + 12.0 * r * (3.0 * p / 8.0f64).sqrt() * p * (1.0 + 32.0 * p * p));
    assert_within(stream(&t, "allowed_rate_bps"), rate, 2.0);
    assert_within(stream(&t, "loss_event_ratio"), 0.01, 2.0);
}

#[test]
fn a_limited_application_sends_at_its_own_pace() {
    let workload = json!({ "type": "cbr", "payload": "472 B", "interval": "20 ms", "packets": 1000 });
    let t = run(&scenario(open_path(), json!({ "workload": workload, "tfrc": {} })));
    assert_eq!((stream(&t, "sent_packets"), stream(&t, "refused_packets")), (1000.0, 0.0));
    assert_eq!(stream(&t, "received_bytes"), 1000.0 * (472.0 + 44.0));
    assert_within(stream(&t, "delay_p95_ns"), 100e6, 2.0);
}

#[test]
fn an_application_faster_than_the_link_is_refused_what_does_not_fit() {
    let link = json!({ "rate": "200 kbit/s", "delay": "50 ms", "queue": { "limit": "10 packets" } });
    let workload = json!({ "type": "cbr", "payload": "956 B", "interval": "10 ms", "packets": 5000 });
    let t = run(&scenario(link, json!({ "workload": workload, "tfrc": { "send_queue_packets": 20 } })));
    assert_eq!(stream(&t, "sent_packets") + stream(&t, "refused_packets"), 5000.0);
    assert!(stream(&t, "drops_packets") < 0.1 * stream(&t, "sent_packets"), "the rate follows the link");
}

#[test]
fn what_makes_no_sense_over_tfrc_is_refused() {
    let refused = |flow: Value| refusal(&scenario(open_path(), flow)).path;
    assert_eq!(refused(json!({ "workload": { "type": "page" }, "tfrc": {} })), "flow.stream.workload.type");
    assert_eq!(
        refused(json!({ "workload": { "type": "bulk", "write": "10 B" }, "tfrc": {} })),
        "flow.stream.workload.write"
    );
    let both = json!({ "workload": { "type": "bulk" }, "tfrc": {}, "tcp": { "preset": "rfc" } });
    assert_eq!(refused(both), "flow.stream.tcp");
    let wrong = json!({ "workload": { "type": "bulk" }, "tfrc": { "preset": "rfc-5348" } });
    assert_eq!(refused(wrong), "flow.stream.tfrc.preset");
    let small = json!({ "workload": { "type": "bulk" }, "tfrc": { "packet_size": "40 B" } });
    assert_eq!(refused(small), "flow.stream.tfrc.packet_size");
}
