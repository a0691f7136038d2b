//! Parameters of queues, links, losses, delayers and flows that change during a run, in small worlds with an outcome that
//! can be worked out on paper.

use crate::common::*;
use serde_json::{Value, json};

/// Datagrams of 1000 bytes on the wire, one every millisecond for ten seconds, over one link.
fn stream(link: Value, timeline: Value) -> Value {
    let mut link = link;
    link["from"] = "a".into();
    link["to"] = "b".into();
    json!({
        "name": "retuned", "duration": "60 s", "link": { "path": link }, "timeline": timeline,
        "flow": { "data": { "from": "a", "to": "b", "workload": {
            "type": "cbr", "payload": "972 B", "interval": "1 ms", "packets": 10_000 } } }
    })
}

fn at(time: &str, set: Value) -> Value {
    json!([{ "at": time, "link": "path", "direction": "forward", "set": set }])
}

#[test]
fn each_red_drops_by_its_new_thresholds_from_then_on() {
    for kind in ["red-floyd-jacobson", "red-linux", "red-ns2"] {
        // Two megabytes a second come, one goes: the queue grows by a packet every 2 ms, 500 of them in a second.
        let queue = json!({ "type": kind, "limit": "9000 packets", "min_th": "6 MB", "max_th": "7 MB",
                                  "w_q": 0.002 });
        let link = json!({ "rate": "4 Mbit/s", "delay": "1 ms", "queue": queue });
        let without = run(&stream(link.clone(), json!([])));
        assert_eq!(of_link(&without, "path", "drops_early_drop_packets"), 0.0, "{kind}");
        let set = json!({ "queue": { "min_th": "10 kB", "max_th": "20 kB" } });
        let t = run(&stream(link.clone(), at("5 s", set)));
        // 2500 wait at 5 s and take 5 s to go. Their average stays above the new threshold all the time, as it is 500
        // arrivals late: none of the 5000 that still come is let in.
        let early = of_link(&t, "path", "drops_early_drop_packets") + of_link(&t, "path", "drops_forced_drop_packets");
        assert_within(early, 5000.0, 0.2);
        assert_within(of_flow(&t, "data", "received_packets"), 5000.0, 0.2);
        let t = run(&stream(link, at("5 s", json!({ "queue": { "limit": "100 packets" } }))));
        // What is above the new limit goes at once, then every second packet.
        assert_within(of_link(&t, "path", "drops_queue_full_packets"), 2400.0 + 2500.0, 1.0);
    }
}

#[test]
fn every_queue_that_has_a_limit_keeps_to_a_new_one() {
    for kind in ["droptail", "bounded", "rem", "pi", "early-discard"] {
        let mut queue = json!({ "type": kind, "limit": "5000 packets" });
        match kind {
            "rem" => queue["target"] = json!(1e6),
            "pi" => queue["target"] = json!(1e6),
            _ => {}
        }
        let link = json!({ "rate": "4 Mbit/s", "delay": "1 ms", "queue": queue });
        let t = run(&stream(link, at("5 s", json!({ "queue": { "limit": "100 packets" } }))));
        let dropped = of_link(&t, "path", "drops_queue_full_packets");
        assert_within(dropped, 2400.0 + 2500.0, 1.0);
    }
}

#[test]
fn classes_and_shapers_take_new_rates() {
    let all = |queue: Value| json!({ "rate": "80 Mbit/s", "delay": "1 ms", "queue": queue });
    // 8 Mbit/s come for 10 s; the shaper lets 2 Mbit/s through, and 8 Mbit/s from 5 s on. Its queue is empty then.
    let inner = json!({ "type": "droptail", "limit": "10 packets" });
    let tbf = all(json!({ "type": "tbf", "rate": "2 Mbit/s", "burst": "1000 B", "queue": inner }));
    let t = run(&stream(tbf.clone(), at("5 s", json!({ "queue": { "rate": "16 Mbit/s" } }))));
    assert_within(of_flow(&t, "data", "received_packets"), 1250.0 + 5000.0, 1.0);
    let t = run(&stream(tbf, at("5 s", json!({ "queue": { "queue": { "limit": "2000 packets" } } }))));
    assert_within(of_flow(&t, "data", "received_packets"), 2500.0 + 2000.0, 1.0);
    let class = json!({ "only": { "rate": "2 Mbit/s", "burst": "1000 B", "cburst": "1000 B", "queue": inner } });
    let htb = all(json!({ "type": "htb", "class": class }));
    let set = json!({ "queue": { "class": { "only": { "rate": "16 Mbit/s", "ceil": "16 Mbit/s" } } } });
    let t = run(&stream(htb, at("5 s", set)));
    assert_within(of_flow(&t, "data", "received_packets"), 1250.0 + 5000.0, 1.0);
}

#[test]
fn a_radio_link_changes_its_errors_its_channel_and_its_rate() {
    let plain =
        json!({ "type": "seawind", "rate": "80 Mbit/s", "delay": "1 ms", "queue": { "limit": "9999 packets" } });
    let t = run(&stream(plain.clone(), at("4 s", json!({ "error": 1.0 }))));
    assert_within(of_flow(&t, "data", "received_packets"), 4000.0, 0.1);
    let t = run(&stream(plain.clone(), at("4 s", json!({ "rate": "4 Mbit/s" }))));
    assert_within(number(table(&t, "run"), "end_ns", 0) / 1e9, 4.0 + 12.0, 0.1);
    // Good for 2 s, bad for 2 s, and so on; the bad state loses nothing at first.
    let mut faded = plain;
    faded["channel"] = json!({ "trace": ["2 s", "2 s"], "good": { "error": 0.0 }, "bad": { "error": 0.0 } });
    let t = run(&stream(faded, at("5 s", json!({ "channel": { "bad": { "error": 1.0 } } }))));
    assert_within(of_flow(&t, "data", "received_packets"), 10_000.0 - 2000.0, 0.1);
}

#[test]
fn a_trace_gives_way_to_another_one() {
    // One packet of 1504 bytes each millisecond, then one every four.
    let link = json!({ "type": "trace", "opportunities_ms": [1], "queue": { "limit": "9999 packets" } });
    let t = run(&stream(link, at("2 s", json!({ "opportunities_ms": [4], "opportunity": "1000 B" }))));
    assert_within(number(table(&t, "run"), "end_ns", 0) / 1e9, 2.0 + 8000.0 * 0.004, 0.2);
}

#[test]
fn losses_and_spikes_follow_their_new_rules() {
    let link = |more: Value| {
        let mut l = json!({ "rate": "80 Mbit/s", "delay": "1 ms", "queue": { "limit": "9999 packets" } });
        l.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
        l
    };
    let phases = json!({ "loss": { "type": "phases", "phase": [{ "length": "1 s" }] } });
    let new = json!({ "loss": { "phase": [{ "length": "1 s", "probability": 1.0 }, { "length": "1 s" }] } });
    let t = run(&stream(link(phases), at("4 s", new)));
    assert_within(of_flow(&t, "data", "received_packets"), 9000.0, 0.2);
    let list = json!({ "loss": { "type": "list", "packets": [5, 6000, 7000] } });
    let t = run(&stream(link(list), at("4 s", json!({ "loss": { "packets": [6, 8000] } }))));
    assert_eq!(of_flow(&t, "data", "received_packets"), 10_000.0 - 2.0, "number 5, and 8000 of the new list");
    // A spike of 1 s every 3 s from 1 s on, none from 5 s on: the second one (4 to 5 s) is the last.
    let spikes = json!({ "spikes": { "first": "1 s", "every": "3 s", "length": "1 s", "loss": 1.0 } });
    let t = run(&stream(link(spikes.clone()), at("5 s", json!({ "spikes": "none" }))));
    assert_within(of_flow(&t, "data", "received_packets"), 8000.0, 0.1);
    // Set anew in the middle of the second: it goes on to its end, and the next begins 2 s after the change.
    let t = run(&stream(link(spikes), at("4500 ms", json!({ "spikes": { "every": "2 s" } }))));
    assert_within(of_flow(&t, "data", "received_packets"), 10_000.0 - 4000.0, 0.1);
}

/// A transfer without end over 100 Mbit/s and 100 ms each way.
fn transfer(timeline: Value) -> Value {
    json!({
        "name": "window", "duration": "20 s", "timeline": timeline, "record": { "sample": "10 s" },
        "link": { "path": { "from": "a", "to": "b", "rate": "100 Mbit/s", "delay": "100 ms" } },
        "flow": { "bulk": { "from": "a", "to": "b", "workload": { "type": "bulk" },
            "tcp": { "preset": "rfc", "mss": "1000 B", "window_limit_segments": 10, "initial_window_segments": 10 } } }
    })
}

#[test]
fn a_connection_keeps_to_a_new_window_and_its_receiver_to_a_new_delay_of_acks() {
    let slow = of_flow(&run(&transfer(json!([]))), "bulk", "received_packets");
    assert_within(slow, 20.0 / 0.2 * 10.0, 2.0);
    let set = json!([{ "at": "10 s", "flow": "bulk", "set": { "tcp": { "window_limit_segments": 30 } } }]);
    let t = run(&transfer(set));
    let fast = of_flow(&t, "bulk", "received_packets");
    assert!((slow * 1.8..slow * 2.01).contains(&fast), "{slow} and {fast}");
    let acks =
        |t: &crosswind_record::Tables| number(table(t, "run"), "packets", 0) - of_flow(t, "bulk", "sent_packets");
    let every = json!([{ "at": "10 s", "flow": "bulk", "set": { "tcp": { "delayed_ack": "0 s" } } }]);
    let (with, without) = (acks(&run(&transfer(every))), acks(&run(&transfer(json!([])))));
    assert!((without * 1.45..without * 1.55).contains(&with), "{without} and {with}: one for each in the second half");
}

#[test]
fn a_change_before_a_connection_begins_costs_it_neither_its_habit_of_acknowledging_nor_its_dice() {
    let chunks =
        json!({ "preset": "rfc", "ack_habit": { "least_segments": 2, "mean_segments": 4.0, "most_segments": 8 } });
    for (tcp, tells) in [(chunks, "sent_packets"), (json!({ "preset": "pert" }), "early_reductions")] {
        let mut s = transfer(json!([]));
        s["flow"]["bulk"]["tcp"] = tcp.clone();
        s["flow"]["bulk"]["start"] = "5 s".into();
        s["link"]["path"]["queue"] = json!({ "limit": "2000 packets" });
        let untouched = run(&s);
        // A key that decides nothing here.
        s["timeline"] = json!([{ "at": "1 s", "flow": "bulk", "set": { "tcp": { "retries_max": 99 } } }]);
        let changed = run(&s);
        for column in [tells, "received_packets", "rtt_mean_ns"] {
            assert_eq!(of_flow(&changed, "bulk", column), of_flow(&untouched, "bulk", column), "{tcp}: {column}");
        }
        assert!(of_flow(&untouched, "bulk", tells) > 0.0, "{tcp}");
        assert_eq!(
            number(table(&changed, "run"), "packets", 0),
            number(table(&untouched, "run"), "packets", 0),
            "{tcp}"
        );
    }
}

#[test]
fn a_rate_based_flow_and_the_lifetime_of_packets_change_while_they_live() {
    let mut s = transfer(json!([]));
    s["flow"] = json!({ "bulk": { "from": "a", "to": "b", "workload": { "type": "bulk" }, "lifetime": "1 s",
        "tfrc": { "preset": "rfc5348", "packet_size": "1000 B" } } });
    s["duration"] = "10 s".into();
    s["link"]["path"]["rate"] = "1 Mbit/s".into();
    let reports = |s: &Value| of_flow(&run(s), "bulk", "feedback_packets");
    let once = reports(&s);
    s["timeline"] = json!([{ "at": "5 s", "flow": "bulk", "set": { "tfrc": { "feedback_per_rtt": 4 } } }]);
    assert!(reports(&s) > 1.5 * once);
    s["timeline"] = json!([{ "at": "5 s", "flow": "bulk", "set": { "lifetime": "1 ms" } }]);
    let t = run(&s);
    let (fresh, late) = (of_flow(&t, "bulk", "valid_packets"), of_flow(&t, "bulk", "stale_packets"));
    assert!(fresh > 100.0 && late > 100.0, "{fresh} {late}");
}

#[test]
fn what_cannot_change_is_refused_before_the_run_with_its_path() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "1 ms", "queue": { "type": "red-ns2" } });
    for (set, path, word) in [
        (json!({ "queue": { "min_thr": "3 packets" } }), "timeline[0].set.queue.min_thr", "min_th"),
        (
            json!({ "queue": { "min_th": "9 packets", "max_th": "3 packets" } }),
            "timeline[0].set.queue.min_th",
            "1500 B",
        ),
        (json!({ "type": "seawind" }), "timeline[0].set.type", "`wire`"),
        (json!({ "queue": { "type": "droptail" } }), "timeline[0].set.queue.type", "`red-ns2`"),
        (json!({ "reverse": { "type": "arq" } }), "timeline[0].set.reverse.type", "types cannot change"),
        (json!({ "spikes": { "every": "3 s" } }), "timeline[0].set.spikes", "from the start"),
    ] {
        let e = refusal(&stream(link.clone(), at("1 s", set)));
        assert_eq!(e.path, path, "{e}");
        assert!(e.to_string().contains(word), "{e}");
    }
    for (set, path, word) in [
        (json!({ "tcp": { "rto_mni": "1 s" } }), "timeline[0].set.tcp.rto_mni", "rto_min"),
        (json!({ "tcp": { "mss": "500 B" } }), "timeline[0].set.tcp.mss", "before the connection begins"),
        (json!({ "tfrc": { "ecn": "on" } }), "timeline[0].set.tfrc", "own transport"),
        (json!({ "dscp": "EX" }), "timeline[0].set.dscp", "EF"),
        (json!({ "lifetime": { "data": "5 s", "expired": "headrs" } }), "timeline[0].set.lifetime", "`headers`"),
        (json!({ "lifetime": { "dta": "5 s" } }), "timeline[0].set.lifetime.dta", "`data`"),
    ] {
        let e = refusal(&transfer(json!([{ "at": "1 s", "flow": "bulk", "set": set }])));
        assert_eq!(e.path, path, "{e}");
        assert!(e.to_string().contains(word), "{e}");
    }
}
