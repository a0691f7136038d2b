//! Queues of laws in whole worlds: what each class gets, and that CoDel keeps queues as short as it says.

use crate::common::*;
use crosswind_record::Tables;
use crosswind_sim::runs::Request;
use crosswind_sim::world::LookAhead;
use serde_json::{Value, json};

/// Two transfers and a stream of 200 bytes every 20 ms over 4 Mbit/s and 40 ms.
fn scenario(queue: &Value, law: &str) -> Value {
    let bulk = json!({"from": "a", "to": "b", "count": 2, "workload": {"type": "bulk"},
                      "tcp": {"preset": "rfc", "law": law, "mss": "1000 B"}});
    json!({
        "name": "classes", "duration": "10 s",
        "link": {"path": {"from": "a", "to": "b", "rate": "4 Mbit/s", "delay": "20 ms", "queue": queue}},
        "flow": {
            "bulk": bulk,
            "voice": {"from": "a", "to": "b", "dscp": "EF",
                      "workload": {"type": "cbr", "payload": "172 B", "interval": "20 ms", "packets": 400}},
        },
    })
}

/// A cell of one class of the way there.
fn of_class(t: &Tables, class: &str, column: &str) -> f64 {
    let classes = table(t, "class");
    let is_meant = |i: &usize| text(classes, "class", *i) == class && text(classes, "direction", *i) == "forward";
    number(classes, column, (0..classes.rows()).find(is_meant).unwrap_or_else(|| panic!("no class {class}")))
}

#[test]
fn classes_of_schedulers_have_rows_of_their_own_at_any_depth() {
    let inner = json!({"type": "prio", "default": "rest", "filter": [{"class": "first", "flow": "bulk-1"}],
                       "class": {"first": {"prio": 1, "queue": {"limit": "30 packets"}},
                                 "rest": {"prio": 2, "queue": {"limit": "30 packets"}}}});
    let queue = json!({"type": "prio", "default": "data", "filter": [{"class": "voice", "dscp": "EF"}],
                       "class": {"voice": {"prio": 1}, "data": {"prio": 2, "queue": inner}}});
    let t = run(&scenario(&queue, "reno"));
    assert_eq!(of_class(&t, "voice", "arrived_packets"), 400.0);
    assert_eq!(of_class(&t, "voice", "sent_bytes"), 400.0 * 200.0);
    // It waits for a packet that is on the line, 1040 bytes at most.
    assert!(of_class(&t, "voice", "queue_delay_max_ns") <= 2.08e6);
    assert!(of_class(&t, "data", "queue_delay_p99_ns") >= of_class(&t, "data", "queue_delay_p50_ns"));
    let sum = |column: &str| of_class(&t, "data/first", column) + of_class(&t, "data/rest", column);
    for column in ["arrived_packets", "arrived_bytes", "sent_packets", "sent_bytes", "drops_queue_full_packets"] {
        assert_eq!(sum(column), of_class(&t, "data", column), "{column}");
    }
    assert_eq!(of_class(&t, "data", "drops_packets"), of_link(&t, "path", "drops_queue_full_packets"));
    assert!(of_class(&t, "data", "drops_packets") > 0.0);
}

#[test]
fn flow_queues_keep_a_stream_out_of_the_queue_of_transfers() {
    for name in ["fq-codel", "fq_codel"] {
        let t = run(&scenario(&json!({"type": name}), "cubic"));
        // Behind at most one packet of each transfer, and the one on the line.
        assert!(of_class(&t, "new", "queue_delay_p95_ns") < 5e6);
        assert!(of_class(&t, "old", "drops_early_drop_packets") > 5.0);
        assert_eq!(of_class(&t, "old", "drops_fat_flow_packets"), 0.0);
        let arrived = of_class(&t, "new", "arrived_packets") + of_class(&t, "old", "arrived_packets");
        assert_eq!(arrived, of_link(&t, "path", "arrived_packets"));
        let flows = table(&t, "flow");
        let share: Vec<f64> = (0..2).map(|i| number(flows, "goodput_bps", i)).collect();
        assert!((share[0] / share[1] - 1.0).abs() < 0.05, "{share:?}");
    }
}

/// (time, metric, value) of the samples of one entity.
fn samples<'a>(t: &'a Tables, entity: &str) -> Vec<(u64, &'a str, f64)> {
    let rows = table(t, "sample");
    let of = (0..rows.rows()).filter(|i| text(rows, "entity", *i) == entity);
    of.map(|i| (number(rows, "time_ns", i) as u64, text(rows, "metric", i), number(rows, "value", i))).collect()
}

/// Values of one metric, in order of time.
fn series(t: &Tables, entity: &str, metric: &str) -> Vec<f64> {
    samples(t, entity).into_iter().filter(|(_, m, _)| *m == metric).map(|(.., v)| v).collect()
}

#[test]
fn what_classes_hold_over_time_is_together_what_their_queue_holds() {
    let inner = json!({"type": "prio", "default": "rest", "filter": [{"class": "first", "flow": "bulk-1"}],
                       "class": {"first": {"prio": 1}, "rest": {"prio": 2}}});
    let prio = json!({"type": "prio", "default": "data", "filter": [{"class": "voice", "dscp": "EF"}],
                      "class": {"voice": {"prio": 1}, "data": {"prio": 2, "queue": inner}}});
    let flows = json!({"type": "fq_codel", "filter": [{"class": "voice", "dscp": "EF"}]});
    for (queue, classes) in [(prio, &["voice", "data"][..]), (flows, &["voice", "new", "old"][..])] {
        let mut s = scenario(&queue, "cubic");
        s["record"] = json!({"sample": "70 ms"});
        let t = run(&s);
        let of = |class: &str, metric: &str| series(&t, &format!("path/forward/{class}"), metric);
        for metric in ["queue_packets", "queue_bytes", "throughput_bps"] {
            let whole = series(&t, "path/forward", metric);
            let parts: Vec<Vec<f64>> = classes.iter().map(|c| of(c, metric)).collect();
            let peak = whole.iter().copied().fold(0.0, f64::max);
            assert!(peak > 0.0 && whole.len() > 100 && parts.iter().all(|p| p.len() == whole.len()), "{metric}");
            // A packet leaves its class when the line begins to send it, and counts as sent when that is over.
            let slack = if metric == "throughput_bps" { 1500.0 * 8.0 / 0.07 } else { 0.0 };
            for (i, all) in whole.iter().enumerate() {
                let sum: f64 = parts.iter().map(|p| p[i]).sum();
                assert!((sum - all).abs() <= slack, "{metric} at sample {i}: {sum} and {all}");
            }
        }
        let waits: Vec<f64> = of("voice", "queue_delay_ns").into_iter().filter(|v| v.is_finite()).collect();
        let longest = of_class(&t, "voice", "queue_delay_max_ns");
        assert!(waits.len() > 100 && waits.iter().all(|w| (0.0..=longest).contains(w)), "{longest}: {waits:?}");
    }
}

#[test]
fn totals_of_classes_over_time_end_at_those_of_the_run() {
    let queue = json!({"type": "fq_codel"});
    let mut s = scenario(&queue, "cubic");
    s["flow"]["bulk"]["tcp"]["ecn"] = json!("on");
    s["record"] = json!({"sample": "100 ms", "series": "totals"});
    let t = run(&s);
    for metric in ["arrived_packets", "sent_packets", "sent_bytes", "drops_packets", "marks_packets"] {
        for class in ["new", "old"] {
            let counted = series(&t, &format!("path/forward/{class}"), metric);
            assert!(counted.is_sorted() && counted.len() == 100, "{class} {metric}: {}", counted.len());
            assert_eq!(*counted.last().unwrap(), of_class(&t, class, metric), "{class} {metric}");
        }
    }
    let marks = series(&t, "path/forward", "marks_packets");
    assert!(marks.is_sorted() && *marks.last().unwrap() > 5.0);
    assert_eq!(*marks.last().unwrap(), of_link(&t, "path", "marks_packets"));
}

#[test]
fn codel_holds_the_standing_queue_of_transfers_near_its_target() {
    for law in ["reno", "cubic"] {
        let of = |queue: Value| run(&scenario(&queue, law));
        let full = of(json!({"type": "droptail", "limit": "300 packets"}));
        assert!(of_link(&full, "path", "queue_delay_p50_ns") > 200e6);
        for (name, profile) in [("codel", "rfc8289"), ("codel", "linux"), ("cobalt", "linux"), ("cobalt", "ns3")] {
            let t = of(json!({"type": name, "profile": profile}));
            let (middle, busy) = (of_link(&t, "path", "queue_delay_p50_ns"), of_link(&t, "path", "utilisation_ratio"));
            assert!((1e6..20e6).contains(&middle) && busy > 0.9, "{law}, {name}, {profile}: {middle} {busy}");
            assert!(of_link(&t, "path", "drops_early_drop_packets") > 10.0);
        }
    }
}

#[test]
fn pie_holds_the_standing_queue_of_transfers_near_its_target() {
    for profile in ["rfc8033", "linux"] {
        // Over 10 s the line of `linux` is busy for 82 % only: slow start makes it wait 366 ms, and above 250 ms the kernel's
        // probability grows by another 2 % at each update. The standing queue is what comes after that.
        let mut long = scenario(&json!({"type": "pie", "profile": profile}), "cubic");
        long["duration"] = "60 s".into();
        let t = run(&long);
        let (middle, busy) = (of_link(&t, "path", "queue_delay_p50_ns"), of_link(&t, "path", "utilisation_ratio"));
        assert!((5e6..30e6).contains(&middle) && busy > 0.9, "{profile}: {middle} {busy}");
        assert!(of_link(&t, "path", "drops_early_drop_packets") > 10.0, "{profile}");
    }
}

#[test]
fn pi2_holds_the_standing_queue_of_transfers_near_its_target() {
    for decides in ["arrival", "departure"] {
        let mut long = scenario(&json!({"type": "pi2", "decides": decides}), "cubic");
        long["duration"] = "60 s".into();
        let t = run(&long);
        let (middle, busy) = (of_link(&t, "path", "queue_delay_p50_ns"), of_link(&t, "path", "utilisation_ratio"));
        assert!((5e6..30e6).contains(&middle) && busy > 0.9, "{decides}: {middle} {busy}");
        assert!(of_link(&t, "path", "drops_early_drop_packets") > 10.0, "{decides}");
    }
}

#[test]
fn dualpi2_holds_classic_transfers_near_its_target_and_names_both_queues() {
    for profile in ["rfc9332", "linux"] {
        for ecn in ["off", "on"] {
            let mut long = scenario(&json!({"type": "dualpi2", "profile": profile}), "cubic");
            long["duration"] = "60 s".into();
            long["flow"]["bulk"]["tcp"]["ecn"] = ecn.into();
            let t = run(&long);
            let (middle, busy) = (of_link(&t, "path", "queue_delay_p50_ns"), of_link(&t, "path", "utilisation_ratio"));
            assert!((5e6..30e6).contains(&middle) && busy > 0.9, "{profile} {ecn}: {middle} {busy}");
            let picks = ["drops_early_drop_packets", "marks_packets"].map(|name| of_class(&t, "classic", name));
            assert!(picks[usize::from(ecn == "on")] > 10.0, "{profile} {ecn}: {picks:?}");
            // A mark takes no packet of ECT(0) to the other queue.
            assert_eq!(of_class(&t, "l4s", "arrived_packets"), 0.0);
            assert_eq!(of_class(&t, "classic", "arrived_packets"), of_link(&t, "path", "arrived_packets"));
        }
    }
}

#[test]
fn cake_shares_by_host_keeps_a_call_short_and_sends_at_its_rate() {
    let from = |host: &str, count: u32| json!({"from": host, "to": "b", "count": count, "workload": {"type": "bulk"}, "tcp": {"preset": "linux-6-cubic"}});
    let home = |isolation: &str| {
        json!({
            "name": "home", "duration": "20 s",
            "link": {
                "one": {"from": "a", "to": "r", "rate": "1 Gbit/s", "delay": "0 ms"},
                "other": {"from": "c", "to": "r", "rate": "1 Gbit/s", "delay": "0 ms"},
                "path": {"from": "r", "to": "b", "rate": "1 Gbit/s", "delay": "10 ms",
                         "queue": {"type": "cake", "rate": "10 Mbit/s", "framing": "ethernet", "isolation": isolation}},
            },
            "flow": {"single": from("a", 1), "many": from("c", 4),
                     "call": {"from": "c", "to": "b", "dscp": "EF",
                              "workload": {"type": "cbr", "payload": "172 B", "interval": "20 ms"}}},
        })
    };
    for (isolation, expected) in
        [("flows", 1.0 / 5.0), ("triple-isolate", 1.0 / 5.0), ("dual-srchost", 1.0 / 2.0), ("dual-dsthost", 1.0 / 5.0)]
    {
        let t = run(&home(isolation));
        let flows = table(&t, "flow");
        let of = |i: usize| number(flows, "goodput_bps", i);
        let bulk: Vec<usize> = (0..flows.rows()).filter(|i| text(flows, "name", *i) != "call").collect();
        let single = bulk.iter().find(|i| text(flows, "name", **i).starts_with("single")).expect("it is there");
        let share = of(*single) / bulk.iter().map(|i| of(*i)).sum::<f64>();
        // One transfer alone does not fill its half after each loss; that shares are exact while all wait, the queue's own tests show.
        assert!((share / expected - 1.0).abs() < 0.1, "{isolation}: {share}");
        // 38 bytes beside each packet of 1500, and the call.
        let bytes =
            of_class(&t, "best-effort", "sent_bytes") * 1538.0 / 1500.0 + of_class(&t, "voice", "sent_bytes") * 1.19;
        assert!((bytes * 8.0 / 20.0 / 10e6 - 1.0).abs() < 0.02, "{isolation}: {bytes}");
        // Never behind more than the packet that the shaper has let out.
        assert!(of_class(&t, "voice", "queue_delay_p99_ns") < 2.5e6, "{isolation}");
        assert!(of_class(&t, "best-effort", "queue_delay_p50_ns") < 30e6, "{isolation}");
    }
}

#[test]
fn what_is_recorded_and_decided_early_changes_nothing_for_queues_that_decide_late() {
    let linux = json!({"type": "codel", "profile": "linux"});
    for queue in [
        json!({"type": "codel"}),
        json!({"type": "fq-codel"}),
        linux,
        json!({"type": "cobalt"}),
        json!({"type": "pie"}),
        json!({"type": "pi2"}),
        json!({"type": "dualpi2"}),
        json!({"type": "dualpi2", "profile": "linux"}),
        json!({"type": "cake"}),
        json!({"type": "cake", "rate": "3.5 Mbit/s", "framing": "docsis"}),
    ] {
        let plain = scenario(&queue, "cubic");
        let mut watched = plain.clone();
        watched["record"] = json!({"sample": "10 ms", "events": "all"});
        let truth = run_with(std::slice::from_ref(&plain), &Request { look_ahead: LookAhead::Never, ..request() });
        for other in [run(&plain), run(&watched)] {
            for name in ["link", "class"].into_iter().filter(|n| truth.get(n).is_some()) {
                assert_eq!(table(&other, name), table(&truth, name), "{queue}");
            }
        }
    }
}
