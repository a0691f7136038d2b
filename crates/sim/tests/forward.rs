//! Runs in which time once ran backwards.

use crate::common::*;
use serde_json::{Value, json};

fn bulk(tcp: Value) -> Value {
    json!({ "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": tcp })
}

fn scenario(link: Value, flows: Value, timeline: Value) -> Value {
    let mut link = link;
    (link["from"], link["to"]) = ("a".into(), "b".into());
    json!({ "name": "forward", "duration": "20 s", "link": { "l": link }, "flow": flows, "timeline": timeline,
            "record": { "sample": "100 ms" } })
}

#[test]
fn a_change_of_nothing_lets_a_shaper_go_on() {
    let queue = json!({ "type": "htb", "class": { "all": { "rate": "1 Mbit/s" } } });
    let link = json!({ "rate": "10 Mbit/s", "delay": "10 ms", "queue": queue });
    let changed = |timeline| scenario(link.clone(), json!({ "f": bulk(json!({})) }), timeline);
    let nothing = json!([{ "at": "1713 ms", "link": "l", "set": { "queue": {} } }]);
    let rate = |t| of_flow(&t, "f", "goodput_bps");
    assert_within(rate(run(&changed(nothing))), rate(run(&changed(json!([])))), 0.1);
}

#[test]
fn the_delay_of_a_trace_becomes_shorter_under_two_flows() {
    let link = json!({ "type": "trace", "delay": "3 s", "opportunities_ms": [1] });
    let flows = json!({ "f": bulk(json!({})), "g": bulk(json!({})) });
    for at in ["6500 ms", "7200 ms", "9500 ms", "9700 ms", "12600 ms", "13 s", "15 s"] {
        let timeline = json!([{ "at": at, "link": "l", "set": { "delay": "100 ms" } }]);
        let t = run(&scenario(link.clone(), flows.clone(), timeline));
        assert!(of_flow(&t, "f", "received_packets") > 100.0, "{at}");
    }
}

#[test]
fn acks_of_a_coarse_clock_are_never_due_in_the_past() {
    for preset in ["tcp-ldp", "ns2-sack1", "linux-6", "rfc", "pert", "ltcp-variable"] {
        for (rate, delay) in
            [("1 Mbit/s", "5 ms"), ("9 Mbit/s", "60 ms"), ("64 kbit/s", "300 ms"), ("3 Mbit/s", "33 ms")]
        {
            for tick in ["", "0 s", "100 ms", "600 ms"] {
                let mut tcp = json!({ "preset": preset, "delayed_ack_timer": "linux-2.4" });
                if !tick.is_empty() {
                    tcp["rto_tick"] = tick.into();
                }
                let link = json!({ "rate": rate, "delay": delay, "queue": { "limit": "9 packets" } });
                let s = scenario(link, json!({ "f": bulk(tcp) }), json!([]));
                {
                    assert!(of_flow(&run(&s), "f", "received_packets") > 10.0, "{preset} {rate} {tick}");
                }
            }
        }
    }
}
