//! Domains, contracts and edges in whole worlds: what is marked, dropped, delayed, and what is refused.

use crate::common::*;
use serde_json::{Value, json};

/// Two hosts in front of domain a, domain b behind it, one sink. 1000 bytes on the wire, 4 ms apart: 2 Mbit/s each.
fn scenario(contracts: Value) -> Value {
    let wire = |from: &str, to: &str| json!({"from": from, "to": to, "rate": "100 Mbit/s", "delay": "1 ms"});
    let stream = |host: &str| {
        json!({"from": host, "to": "sink",
            "workload": {"type": "cbr", "payload": "972 B", "interval": "4 ms", "packets": 2500}})
    };
    json!({
        "name": "domains", "duration": "20 s",
        "domain": {"a": {"nodes": ["edge-a", "core-a"]}, "b": {"nodes": ["edge-b"]}},
        "contract": contracts,
        "link": {"one": wire("host-1", "edge-a"), "two": wire("host-2", "edge-a"), "inside": wire("edge-a", "core-a"),
            "between": wire("core-a", "edge-b"), "out": wire("edge-b", "sink")},
        "flow": {"first": stream("host-1"), "second": stream("host-2")},
    })
}

/// A cell of the row of one flow at the boundary of one domain.
fn at_boundary(t: &crosswind_record::Tables, domain: &str, flow: &str, column: &str) -> f64 {
    let boundary = table(t, "boundary");
    let row = (0..4).find(|i| text(boundary, "domain", *i) == domain && text(boundary, "name", *i) == flow);
    number(boundary, column, row.unwrap_or_else(|| panic!("no row of {flow} at {domain}")))
}

fn bucket(mbps: &str) -> Value {
    json!({"type": "token-bucket", "cir": mbps, "cbs": "2000 B"})
}

#[test]
fn packets_within_the_contract_are_green_and_the_rest_yellow_flow_by_flow() {
    let t = run(&scenario(json!({
        "one": {"domain": "a", "flow": "first", "class": "AF1", "meter": bucket("1 Mbit/s")},
        "two": {"domain": "a", "flow": "second", "class": "AF2", "meter": bucket("1.5 Mbit/s")},
    })));
    // Half of 2 Mbit/s is within the first contract and three quarters within the second, and the bucket that is full at first.
    for (flow, green) in [("first", 1250.0), ("second", 1875.0)] {
        assert_eq!(at_boundary(&t, "a", flow, "arrived_other_packets"), 2500.0);
        let left = |colour: &str| at_boundary(&t, "a", flow, &format!("left_{colour}_packets"));
        assert_within(left("green"), green, 0.1);
        assert_eq!(left("green") + left("yellow"), 2500.0, "{flow}");
        assert_eq!(at_boundary(&t, "a", flow, "remarked_packets"), 0.0, "what had no colour is not marked anew");
        assert_eq!(of_flow(&t, flow, "received_packets"), 2500.0);
    }
}

#[test]
fn a_boundary_meters_the_aggregate_of_its_neighbour_and_downgrades_only() {
    let t = run(&scenario(json!({
        "one": {"domain": "a", "per": "flow", "class": "AF1", "meter": bucket("1 Mbit/s")},
        "border": {"domain": "b", "from": "a", "dscp": "AF11", "class": "AF1", "meter": bucket("1 Mbit/s")},
    })));
    let sum = |column: &str| at_boundary(&t, "b", "first", column) + at_boundary(&t, "b", "second", column);
    // 1250 of each come green; one meter lets 1 Mbit/s of the 2 pass.
    assert_within(sum("arrived_green_packets"), 2500.0, 0.1);
    assert_eq!(sum("arrived_green_packets") + sum("arrived_yellow_packets"), 5000.0);
    assert_within(sum("left_green_packets"), 1250.0, 0.2);
    assert_eq!(sum("left_green_packets") + sum("remarked_packets"), sum("arrived_green_packets"));
    assert_eq!(sum("left_yellow_packets"), sum("arrived_yellow_packets") + sum("remarked_packets"));
}

#[test]
fn a_policer_drops_and_a_shaper_delays_what_exceeds_the_contract() {
    let policer = json!({"domain": "a", "flow": "first", "green": "EF", "yellow": "drop", "meter": bucket("1 Mbit/s")});
    let shape = json!({"type": "tbf", "rate": "1 Mbit/s", "burst": "1000 B", "queue": {"limit": "5000 packets"}});
    let mut s = scenario(json!({"one": policer, "two": {"domain": "a", "flow": "second", "shape": shape}}));
    s["duration"] = "30 s".into();
    let t = run(&s);
    assert_within(of_flow(&t, "first", "received_packets"), 1250.0, 0.1);
    assert_eq!(of_flow(&t, "first", "drops_packets"), 2500.0 - of_flow(&t, "first", "received_packets"));
    assert_eq!(at_boundary(&t, "a", "first", "policed_packets"), of_flow(&t, "first", "drops_packets"));
    // The last of 2500 packets leaves the shaper after 2499 times 8 ms.
    assert_eq!(of_flow(&t, "second", "received_packets"), 2500.0);
    let last_ms = 2499.0 * 8.0 - 2499.0 * 4.0;
    assert_within(of_flow(&t, "second", "delay_max_ns") / 1e6, last_ms, 0.1);
}

#[test]
fn what_the_shaper_of_a_contract_drops_stands_in_the_row_of_its_flow() {
    let shape = json!({"type": "tbf", "rate": "1 Mbit/s", "burst": "1000 B", "queue": {"limit": "20 packets"}});
    let mut s = scenario(json!({"one": {"domain": "a", "flow": "first", "shape": shape}}));
    s["duration"] = "30 s".into();
    let t = run(&s);
    // Half of 2500 packets are too many; nothing else on the way drops any.
    let dropped = at_boundary(&t, "a", "first", "shaper_drops_packets");
    assert_within(dropped, 1250.0, 3.0);
    assert_eq!(dropped, 2500.0 - of_flow(&t, "first", "received_packets"));
    assert_eq!(
        (dropped, at_boundary(&t, "a", "first", "policed_packets")),
        (of_flow(&t, "first", "drops_packets"), 0.0)
    );
}

#[test]
fn limits_of_delay_written_at_the_edge_are_kept_by_the_queues_behind_it() {
    let contract = json!({"both": {"domain": "a", "mtq": "5 ms", "qtl": "8 ms"}});
    let mut s = scenario(contract);
    for slow in ["between", "out"] {
        s["link"][slow]["rate"] = "3 Mbit/s".into();
        s["link"][slow]["queue"] = json!({"type": "early-discard", "limit": "100 packets"});
    }
    for flow in ["first", "second"] {
        s["flow"][flow]["queue_delay_limits"] = json!(["8 ms", "2 ms"]);
    }
    s["record"] = json!({"hist": ["first"]});
    let t = run(&s);
    let both = |column: &str| of_flow(&t, "first", column) + of_flow(&t, "second", column);
    // 4 Mbit/s through 3: a quarter is dropped, by the limit of one queue, and nobody is late.
    assert_within(both("drops_local_delay_packets"), 1250.0, 1.0);
    assert_eq!((both("late_1_packets"), both("drops_delay_budget_packets")), (0.0, 0.0));
    assert!(both("late_2_packets") > 0.0);
}

/// [Igarashi] chapter 7 in small: 200-byte packets through three queues of 20 Mbit/s, of which each is offered more.
fn chain(contract: Value) -> Value {
    let hop = |from: &str, to: &str| {
        json!({"from": from, "to": to, "rate": "20 Mbit/s", "delay": "1 ms",
            "queue": {"type": "early-discard", "limit": "200 packets"}})
    };
    let wide = |from: &str, to: &str| json!({"from": from, "to": to, "rate": "1 Gbit/s", "delay": "1 ms"});
    let voice = |from: &str, to: &str, count: u32| {
        json!({"from": from, "to": to, "count": count, "queue_delay_limits": ["10 ms", "10079999 ns", "9999999 ns"],
            "workload": {"type": "on-off", "payload": "172 B", "interval": "7 ms", "first": "off", "rounding": "nearest",
                "on": {"exponential": "350 ms"}, "off": {"exponential": "650 ms"}}})
    };
    let mut s = json!({
        "name": "chain", "duration": "20 s",
        "domain": {"backbone": {"nodes": ["node-1", "node-2", "node-3", "node-4"]}},
        "link": {"in-1": wide("host-1", "node-1"), "in-2": wide("host-2", "node-2"), "in-3": wide("host-3", "node-3"),
            "hop-1": hop("node-1", "node-2"), "hop-2": hop("node-2", "node-3"), "hop-3": hop("node-3", "node-4")},
        "flow": {"long": voice("host-1", "node-4", 250), "second": voice("host-2", "node-3", 40),
            "third": voice("host-3", "node-4", 40)},
    });
    if !contract.is_null() {
        s["contract"] = json!({"voice": contract});
    }
    s
}

#[test]
fn limits_hold_for_the_waits_that_queues_count_which_are_whole_packet_times() {
    let sum = |t: &crosswind_record::Tables, column: &str| {
        let flows = table(t, "flow");
        (0..flows.rows()).map(|row| number(flows, column, row)).sum::<f64>()
    };
    let late = |t: &crosswind_record::Tables| [1, 2, 3].map(|n| sum(t, &format!("late_{n}_packets")));
    let free = run(&chain(Value::Null));
    // A packet of 200 B takes 0.08 ms: 10 ms are 125 of them, and no sum lies between 10 and 10.08 ms.
    let [beyond, a_packet_beyond, reached] = late(&free);
    assert!(beyond > 1000.0 && beyond == a_packet_beyond && reached > beyond, "{beyond} {a_packet_beyond} {reached}");
    let budget = run(&chain(json!({"domain": "backbone", "qtl": "10 ms"})));
    // None goes beyond the budget, and none reaches it; true delays go beyond it by what is on the three lines.
    assert_eq!(late(&budget), [0.0; 3]);
    assert!(sum(&budget, "drops_delay_budget_packets") > 1000.0);
    let flows = table(&budget, "flow");
    let longest = (0..flows.rows()).map(|row| number(flows, "delay_max_ns", row)).fold(0.0, f64::max);
    let fixed = 4e6 + 1600.0 + 3.0 * 80_000.0;
    assert!(longest > fixed + 9.7e6 && longest <= fixed + 10e6 + 3.0 * 80_000.0, "{longest}");
    // A limit of 16 ms in one queue is never reached: at most 199 packets wait when one is let in.
    let wide = run(&chain(json!({"domain": "backbone", "mtq": "16 ms"})));
    assert!(
        table(&wide, "flow").get("drops_local_delay_packets").is_none(),
        "a column stands for a cause that occurred"
    );
    assert!(of_link(&wide, "hop-2", "drops_queue_full_packets") > 1000.0);
}

#[test]
fn contracts_that_make_no_sense_are_refused_with_the_reason() {
    let meter = bucket("1 Mbit/s");
    for (contracts, path, says) in [
        (json!({"x": {"domain": "c", "class": "AF1"}}), "contract.x.domain", "a, b"),
        (json!({"x": {"domain": "a", "flow": "frist"}}), "contract.x.flow", "first"),
        (json!({"x": {"domain": "b", "from": "d"}}), "contract.x.from", "core-a"),
        (json!({"x": {"domain": "a", "from": "b"}}), "contract.x", "outside"),
        (json!({"x": {"domain": "a", "meter": {"type": "srtcm"}}}), "contract.x.meter.cir", "committed rate"),
        (json!({"x": {"domain": "a", "meter": {"cir": "1 Mbit/s"}}}), "contract.x.meter.type", "tsw2cm"),
        (json!({"x": {"domain": "a", "green": "AF11", "meter": meter}}), "contract.x.yellow", "class"),
        (json!({"x": {"domain": "a", "mtq": "9 ms", "qtl": "5 ms"}}), "contract.x.mtq", "no effect"),
        (json!({"x": {"domain": "a", "qtl": "0 ms"}}), "contract.x.qtl", "above zero"),
        (json!({"x": {"domain": "a", "class": "AF5"}}), "contract.x.class", "AF1"),
        (json!({"x": {"domain": "a", "flow": "first"}, "y": {"domain": "a"}}), "contract.y", "`x`"),
        (
            json!({"x": {"domain": "a", "meter": {"type": "trtcm", "cir": "2 Mbit/s", "pir": "1 Mbit/s"}}}),
            "contract.x.meter.pir",
            "2 Mbit/s",
        ),
    ] {
        let e = refusal(&scenario(contracts.clone()));
        let all = format!("{} {} {}", e.found, e.expected, e.hint);
        assert!(e.path == path && all.contains(says), "{contracts}: {e}");
    }
    let mut twice = scenario(json!({}));
    twice["domain"]["b"]["nodes"] = json!(["core-a"]);
    assert_eq!(refusal(&twice).path, "domain.b.nodes[0]");
    twice["domain"]["b"]["nodes"] = json!(["coer-a"]);
    assert!(refusal(&twice).hint.contains("core-a"));
}
