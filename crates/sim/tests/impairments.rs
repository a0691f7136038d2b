//! Packets that are lost, marked or late by number: handshakes with losses, marks, and several impairments on one link.

use crate::common::*;
use crosswind_record::Tables;
use serde_json::{Value, json};

fn scenario(forward: Value, reverse: Value) -> Value {
    json!({
        "name": "impairments", "duration": "100 s",
        "link": { "l": { "from": "server", "to": "client", "rate": "10 Mbit/s", "delay": "20 ms",
            "loss": forward, "reverse": { "loss": reverse } } },
        "flow": { "f": { "from": "server", "to": "client", "workload": { "type": "bulk", "size": "200 kB" },
            "tcp": { "preset": "rfc", "ecn": "on" } } },
    })
}

fn took(t: &Tables) -> f64 {
    of_flow(t, "f", "elapsed_ns") / 1e9
}

#[test]
fn a_handshake_survives_the_loss_of_each_of_its_segments() {
    let none = || json!("none");
    let plain = took(&run(&scenario(none(), none())));
    // RFC 6298: one second, then two.
    let list = |key: &str, n: Value| json!({ "type": "list", key: n });
    for (forward, reverse, later, timeouts) in [
        (list("syn", json!([1])), none(), 1.0, 1.0),
        // From a window of one: a delayed ACK of 200 ms, and five round trips to where ten segments would have been in one.
        (list("syn", json!([1, 2])), none(), 3.4, 2.0),
        // Both ends notice: the timers of SYN and SYN-ACK expire.
        (none(), list("syn_ack", json!([1])), 1.0, 2.0),
        (list("ack", json!([1])), none(), 0.0, 0.0),
    ] {
        let what = format!("{forward} {reverse}");
        let t = run(&scenario(forward, reverse));
        assert_eq!(of_flow(&t, "f", "syn_timeouts"), timeouts, "{what}");
        assert!((took(&t) - plain - later).abs() < 0.15, "{what}: {} and {plain} s", took(&t));
        assert_eq!(of_flow(&t, "f", "size_bytes"), 200_000.0, "{what}");
    }
}

#[test]
fn a_lost_fin_is_sent_again() {
    let plain = took(&run(&scenario(json!("none"), json!("none"))));
    let t = run(&scenario(json!({ "type": "list", "fin": [1] }), json!("none")));
    assert!(took(&t) > plain + 0.9, "{}", took(&t));
    assert_eq!(of_flow(&t, "f", "lost_packets"), 1.0);
}

#[test]
fn the_third_segment_of_a_handshake_may_be_lost_while_there_is_nothing_to_send() {
    let mut s = scenario(json!({ "type": "list", "ack": [1] }), json!("none"));
    s["flow"]["f"]["workload"]["sending"] = "off".into();
    s["timeline"] = json!([{ "at": "10 s", "flow": "f", "set": { "sending": "on" } }]);
    let t = run(&s);
    // The SYN-ACK comes again after a second, and is answered.
    assert_eq!(of_flow(&t, "f", "size_bytes"), 200_000.0);
    assert!((10.0..11.0).contains(&took(&t)), "{}", took(&t));
}

#[test]
fn listed_packets_are_marked_at_either_end_of_a_link() {
    for at in ["entry", "exit"] {
        let t = run(&scenario(json!({ "type": "list", "marks": [20], "at": at }), json!("none")));
        assert_eq!(of_flow(&t, "f", "marks_packets"), 1.0, "{at}");
        assert_eq!(of_flow(&t, "f", "ecn_reductions"), 1.0, "{at}");
        assert_eq!(of_flow(&t, "f", "lost_packets"), 0.0, "{at}");
    }
    let mut s = scenario(json!({ "type": "list", "marks": [20] }), json!("none"));
    s["flow"]["f"]["tcp"]["ecn"] = "off".into();
    assert_eq!(of_flow(&run(&s), "f", "marks_packets"), 0.0, "who cannot be marked is not");
}

#[test]
fn a_path_may_clear_the_marks_or_put_its_own_there() {
    let reductions = |behind: Value| {
        let mut s = scenario(json!({ "type": "list", "marks": [20] }), json!("none"));
        s["link"]["l"]["to"] = "router".into();
        s["link"]["m"] = json!({ "from": "router", "to": "client", "rate": "10 Mbit/s", "delay": "1 ms",
            "loss": behind, "reverse": { "loss": "none" } });
        let t = run(&s);
        assert_eq!(of_flow(&t, "f", "size_bytes"), 200_000.0);
        (of_flow(&t, "f", "marks_packets"), of_flow(&t, "f", "ecn_reductions"))
    };
    let field = |becomes: &str| json!({ "type": "ecn-field", "becomes": becomes });
    assert_eq!(reductions(json!("none")), (1.0, 1.0));
    assert_eq!(reductions(json!({ "type": "ecn-field" })), (1.0, 0.0), "the mark has gone");
    assert_eq!(reductions(field("ect0")), (1.0, 0.0));
    let (marks, cuts) = reductions(field("ce"));
    assert!(marks > 100.0 && cuts > 3.0, "{marks} marks, {cuts} reductions: every packet is marked");
    // The last of several has the last word.
    let both = json!([{ "type": "list", "marks": [30] }, { "type": "ecn-field" }]);
    assert_eq!(reductions(both), (1.0, 0.0));
}

#[test]
fn packets_of_one_link_are_late_lost_and_marked() {
    let loss = json!([{ "type": "list", "packets": [30], "marks": [60] }, { "type": "list", "syn": [1] }]);
    let mut s = scenario(loss, json!("none"));
    s["link"]["l"]["type"] = "reordering".into();
    s["link"]["l"]["packets"] = json!([100]);
    s["link"]["l"]["late_mean"] = "5 ms".into();
    let t = run(&s);
    assert_eq!(of_flow(&t, "f", "syn_timeouts"), 1.0);
    assert_eq!(of_flow(&t, "f", "lost_packets"), 2.0);
    assert_eq!(of_flow(&t, "f", "marks_packets"), 1.0);
    // The retransmit of the lost segment, and the one that is late.
    assert!(of_flow(&t, "f", "out_of_order_packets") >= 2.0);
    assert_eq!(of_flow(&t, "f", "size_bytes"), 200_000.0);
}

#[test]
fn what_is_written_as_a_list_is_read_again_as_written_in_full() {
    let s = scenario(json!([{ "type": "list", "packets": [3] }, { "type": "uniform" }]), json!("none"));
    let parsed = crosswind_sim::scenario::parse(&s.to_string(), &crosswind_sim::scenario::Registries).expect("valid");
    let full = serde_json::to_value(&parsed).expect("plain data");
    assert_eq!(full["link"]["l"]["loss"]["of"][1]["probability"], json!(0.0));
    let again = crosswind_sim::scenario::parse(&full.to_string(), &crosswind_sim::scenario::Registries).expect("valid");
    assert_eq!(serde_json::to_value(&again).expect("plain data"), full);
    let e = refusal(&scenario(json!([{ "type": "list" }, { "type": "lisst" }]), json!("none"))).to_string();
    assert!(e.contains("link.l.loss.of[1].type") && e.contains("list"), "{e}");
    let mut s = scenario(json!("none"), json!("none"));
    s["link"]["l"]["queue"] = json!([{ "type": "droptail" }]);
    assert!(refusal(&s).to_string().contains("link.l.queue"));
}

#[test]
fn what_is_recorded_changes_nothing_of_it() {
    let loss = json!([{ "type": "list", "packets": [30], "marks": [60] }, { "type": "list", "syn": [1] }]);
    let mut s = scenario(loss, json!({ "type": "list", "ack": [9, 10] }));
    s["link"]["l"]["path_mtu"] = json!({ "size": "1000 B" });
    s["flow"]["f"]["workload"] =
        json!({ "type": "bulk", "size": "200 kB", "read_rate": "2 Mbit/s", "answer": "20 kB" });
    s["flow"]["f"]["tcp"]["receive_buffer"] = "12 kB".into();
    s["flow"]["g"] = json!({ "from": "server", "to": "client", "workload": { "type": "bulk" } });
    s["duration"] = "20 s".into();
    s["timeline"] = json!([
        { "at": "2 s", "flow": "f", "set": { "reading": "off" } },
        { "at": "3 s", "flow": "g", "set": { "sending": "off" } },
        { "at": "5 s", "flow": "f", "set": { "reading": "on" } },
        { "at": "7 s", "flow": "g", "set": { "sending": "on" } },
    ]);
    let results = |s: &Value| {
        let t = run(s);
        let columns =
            ["elapsed_ns", "size_bytes", "sent_packets", "retransmitted_packets", "lost_packets", "window_probes"];
        ["f", "g"].map(|flow| columns.map(|c| of_flow(&t, flow, c)))
    };
    let plain = results(&s);
    for record in [json!({ "sample": "20 ms" }), json!({ "sample": "1 s", "events": "all" })] {
        s["record"] = record;
        assert_eq!(results(&s), plain, "{}", s["record"]);
    }
}
