//! Downloads that are broken off, and what still comes down the link, with and without Fast Reset.

use crate::common::*;
use serde_json::{Value, json};

/// A download over 30 kbit/s with 50 packets of queue, broken off by the mobile at 30 s.
fn scenario(fast_reset: bool) -> Value {
    let mut s = json!({
        "name": "abort", "duration": "120 s",
        "link": {
            "fast": { "from": "server", "to": "router", "rate": "10 Mbit/s", "delay": "20 ms" },
            "slow": { "from": "router", "to": "mobile", "rate": "30 kbit/s", "delay": "300 ms",
                "queue": { "limit": "50 packets" }, "reverse": { "rate": "10 kbit/s" } },
        },
        "flow": {
            "page": { "from": "server", "to": "mobile", "workload": { "type": "bulk" },
                "tcp": { "preset": "rfc", "window_limit_segments": 20 } },
            "other": { "from": "server", "to": "mobile",
                "workload": { "type": "cbr", "payload": "100 B", "interval": "1 s", "packets": 60 } },
        },
        "timeline": [{ "at": "30 s", "flow": "page", "set": { "abort": "receiver" } }]
    });
    if fast_reset {
        s["link"]["slow"]["fast_reset"] = json!({});
    }
    s
}

#[test]
fn what_waits_for_a_connection_that_was_reset_is_thrown_away() {
    let (without, with) = (run(&scenario(false)), run(&scenario(true)));
    let dropped = of_link(&with, "slow", "drops_reset_packets");
    assert!(dropped >= 15.0, "{dropped} of a window of 20 segments");
    assert_eq!(of_link(&without, "slow", "drops_reset_packets"), 0.0);
    // What had been handed to the link arrives, and what was under way.
    let after = |t| of_flow(t, "page", "received_packets");
    assert!((dropped - 1.0..=dropped + 1.0).contains(&(after(&without) - after(&with))));
    for t in [&without, &with] {
        assert_eq!(of_flow(t, "other", "received_packets"), 60.0, "other flows lose nothing");
        assert!((30e9..32e9).contains(&of_flow(t, "page", "close_ns")), "the sender hears of it");
    }
}

#[test]
fn a_reset_is_answered_in_the_one_direction_that_fast_reset_watches() {
    // Only the way of the reset watches: the queue that it empties is that of an ordinary egress.
    let mut s = scenario(false);
    s["link"]["slow"]["reverse"]["fast_reset"] = json!({});
    let one = run(&s);
    let both = run(&scenario(true));
    let dropped = of_link(&one, "slow", "drops_reset_packets");
    assert!(dropped >= 15.0, "{dropped} of a window of 20 segments");
    assert_eq!(dropped, of_link(&both, "slow", "drops_reset_packets"));
    assert_eq!(of_flow(&one, "page", "received_packets"), of_flow(&both, "page", "received_packets"));
    assert_eq!(of_flow(&one, "other", "received_packets"), 60.0, "other flows lose nothing");
    // Only the way of the data watches, and no reset takes it.
    let mut s = scenario(true);
    s["link"]["slow"]["reverse"]["fast_reset"] = "none".into();
    assert_eq!(of_link(&run(&s), "slow", "drops_reset_packets"), 0.0);
}

#[test]
fn a_page_that_is_broken_off_opens_no_more_connections() {
    let s = json!({
        "name": "page", "duration": "300 s",
        "link": { "slow": { "from": "server", "to": "mobile", "rate": "30 kbit/s", "delay": "300 ms" } },
        "flow": { "page": { "from": "server", "to": "mobile",
            "workload": { "type": "page", "objects": 8, "body": "20 kB", "object": "20 kB", "parallel": 2 } } },
        "timeline": [{ "at": "15 s", "flow": "page", "set": { "abort": "receiver" } }]
    });
    let t = run(&s);
    let flows = table(&t, "flow");
    let sent: Vec<f64> = (0..flows.rows()).map(|r| number(flows, "sent_packets", r)).collect();
    assert!(sent.iter().filter(|n| **n > 0.0).count() <= 4, "{sent:?}");
    let end = number(table(&t, "run"), "end_ns", 0) / 1e9;
    assert!(end < 40.0, "the run is over when the last connection is: {end} s");
}

#[test]
fn only_a_connection_can_be_broken_off() {
    let mut s = scenario(false);
    s["timeline"][0]["flow"] = "other".into();
    assert_eq!(refusal(&s).path, "timeline[0].set.abort");
    let mut s = scenario(false);
    s["timeline"][0]["set"] = json!({ "abort": "both" });
    assert!(refusal(&s).to_string().contains("receiver"));
    for transport in ["tfrc", "udt"] {
        let mut s = scenario(false);
        let page = s["flow"]["page"].as_object_mut().expect("a table");
        page.shift_remove("tcp");
        page.insert(transport.into(), json!({}));
        assert_eq!(refusal(&s).path, "timeline[0].set.abort", "{transport}");
    }
}
