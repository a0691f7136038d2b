//! Web pages: round trips that can be counted, the rule of four connections, and what the tables add up.

use crate::common::*;
use serde_json::{Value, json};

fn scenario(link: Value, page: Value, tcp: Value) -> Value {
    let mut link = link;
    link["from"] = "server".into();
    link["to"] = "browser".into();
    let mut workload = page;
    workload["type"] = "page".into();
    json!({
        "name": "page", "duration": "200 s", "link": { "path": link },
        "flow": { "web": { "from": "server", "to": "browser", "start": "1 s", "workload": workload, "tcp": tcp } }
    })
}

fn fast() -> Value {
    json!({ "rate": "10 Gbit/s", "delay": "50 ms" })
}

fn rounds(first: u64, segments: u64) -> u64 {
    (1..).find(|k| first * ((1 << k) - 1) >= segments).expect("the sum grows without end")
}

/// Rows of the table of objects: name, opened, first byte, done, all in ns.
fn objects(t: &crosswind_record::Tables) -> Vec<(String, f64, f64, f64)> {
    let o = table(t, "object");
    (0..o.rows())
        .map(|r| {
            let n = |c: &str| number(o, c, r);
            (text(o, "name", r).to_string(), n("open_ns"), n("first_byte_ns"), n("done_ns"))
        })
        .collect()
}

#[test]
fn a_page_without_objects_takes_its_handshake_and_its_rounds() {
    // A round trip for SYN and SYN-ACK; then the request and the first window together make one, and each further
    // window another. The line is so fast that nothing else counts.
    for (first, segments) in [(2u64, 22u64), (4, 22), (4, 1), (10, 22)] {
        let page = json!({ "objects": 0, "body": format!("{} B", 536 * segments) });
        let tcp = json!({ "mss": "536 B", "delayed_ack": "0 s", "initial_window_segments": first });
        let t = run(&scenario(fast(), page, tcp));
        let response = number(table(&t, "page"), "response_ns", 0) / 100e6;
        let expected = 1.0 + rounds(first, segments) as f64;
        assert!(response >= expected && response < expected + 0.02, "{first} {segments}: {response} not {expected}");
        assert_eq!(number(table(&t, "page"), "open_ns", 0), 1e9);
        // The connection is closed half a round trip later at the browser, and then at the server.
        assert!(of_flow(&t, "web/body", "elapsed_ns") > response * 100e6);
    }
}

#[test]
fn objects_start_with_the_first_data_of_the_body_and_with_each_completion() {
    let link = json!({ "rate": "64 kbit/s", "delay": "300 ms", "queue": { "limit": "40000 B" } });
    let t = run(&scenario(link, json!({}), json!({ "preset": "baseline-linux-2.4" })));
    let all = objects(&t);
    assert_eq!(all.len(), 9);
    assert_eq!((all[0].0.as_str(), all[8].0.as_str()), ("web/body", "web/8"));
    for (name, opened, _, _) in &all[1..4] {
        assert_eq!(*opened, all[0].2, "{name} opens with the first data of the body");
    }
    let mut done: Vec<f64> = all.iter().map(|o| o.3).collect();
    done.sort_by(f64::total_cmp);
    for (k, (name, opened, first, complete)) in all[4..].iter().enumerate() {
        assert_eq!(*opened, done[k], "{name} opens when the {}. object is complete", k + 1);
        assert!(first > opened && complete >= first);
    }
    // No more than four at any time, and four most of the time.
    for (_, at, _, _) in &all {
        let running = all.iter().filter(|o| o.1 <= *at && *at < o.3).count();
        assert!(running <= 4, "{running} connections at {at}");
    }
    let page = table(&t, "page");
    let response = all.iter().map(|o| o.3).fold(0.0, f64::max) - 1e9;
    assert_eq!(number(page, "response_ns", 0), response);
    assert_eq!(number(page, "size_bytes", 0), 11_792.0 + 8.0 * 8576.0);
    // 80400 bytes in 150 segments of 576 bytes need 10.8 s on the line.
    assert!(response > 10.8e9 && response < 20e9, "{response}");
}

#[test]
fn the_page_adds_up_what_its_connections_say() {
    // A queue so short that the bursts of four connections overflow it.
    let link = json!({ "rate": "64 kbit/s", "delay": "300 ms", "queue": { "limit": "3000 B" } });
    let t = run(&scenario(link, json!({}), json!({ "preset": "baseline-linux-2.4", "initial_window_segments": 4 })));
    let flows = table(&t, "flow");
    let sum = |c: &str| (0..flows.rows()).map(|r| number(flows, c, r)).sum::<f64>();
    let page = |c: &str| number(table(&t, "page"), c, 0);
    assert!(page("drops_packets") > 0.0);
    assert_eq!(page("drops_packets"), sum("drops_packets"));
    assert_eq!(page("size_bytes"), sum("size_bytes"));
    assert!(page("timeouts") >= sum("timeouts") + sum("syn_timeouts"));
    assert_eq!(text(table(&t, "run"), "outcome", 0), "all flows closed");
    assert!(objects(&t).iter().all(|o| o.3 > 0.0), "every object arrived in the end");
}

#[test]
fn a_lost_request_is_sent_again_after_the_timeout_of_the_browser() {
    // The first data packet in the direction of the server is the request; it is lost once.
    let mut link = fast();
    link["reverse"] = json!({ "loss": { "type": "list", "packets": [1], "counts": "data" } });
    let page = json!({ "objects": 0, "body": "500 B" });
    let tcp = json!({ "mss": "536 B" });
    let clean = number(table(&run(&scenario(fast(), page.clone(), tcp.clone())), "page"), "response_ns", 0);
    let t = run(&scenario(link, page, tcp));
    let late = number(table(&t, "page"), "response_ns", 0) - clean;
    // The default's smallest timeout is 1 s; it runs while the request waits for the 40-byte ACK before it (32 ns).
    assert_eq!(late, 1e9 - 32.0);
    assert_eq!((of_flow(&t, "web/body", "timeouts"), number(table(&t, "page"), "timeouts", 0)), (0.0, 1.0));
}

#[test]
fn pages_and_transfers_are_generators_of_one_interval() {
    let mut s = scenario(
        json!({ "rate": "64 kbit/s", "delay": "300 ms", "queue": { "limit": "11520 B" } }),
        json!({}),
        json!({ "preset": "enhanced-linux-2.4" }),
    );
    s["flow"]["bulk"] = json!({ "from": "server", "to": "browser", "count": 2, "tcp": { "preset": "enhanced-linux-2.4" },
                                "workload": { "type": "bulk", "size": "343040 B", "write": "4288 B" } });
    let t = run(&s);
    let page = number(table(&t, "page"), "simultaneous_Bps", 0);
    let bulk = of_flow(&t, "bulk-1", "simultaneous_Bps") + of_flow(&t, "bulk-2", "simultaneous_Bps");
    // From the page's first SYN until its last connection is closed: nearly the whole line, and a part for the page.
    assert!(page > 1000.0 && page + bulk > 7000.0 && page + bulk <= 8000.0, "{page} {bulk}");
    let jain = number(table(&t, "run"), "simultaneous_jain_ratio", 0);
    assert!(jain > 1.0 / 3.0 && jain <= 1.0, "{jain}");
    // 640 segments of each transfer and 150 of the page, with headers, over the time of all.
    let elapsed = number(table(&t, "run"), "elapsed_ns", 0) / 1e9;
    let overall = number(table(&t, "run"), "overall_Bps", 0);
    assert_within(overall, (2.0 * 640.0 + 150.0) * 576.0 / elapsed, 0.001);
    assert_eq!(of_flow(&t, "web/1", "wire_size_bytes"), 16.0 * 576.0);
}

#[test]
fn names_of_connections_can_be_asked_for_and_wrong_ones_are_refused() {
    let mut s = scenario(fast(), json!({ "objects": 2 }), json!({}));
    s["record"] = json!({ "events": ["web/body", "web/2"] });
    let t = run(&s);
    let events = table(&t, "event");
    let mut flows: Vec<u64> = (0..events.rows()).map(|r| number(events, "flow", r) as u64).collect();
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows, [0, 2]);
    s["record"] = json!({ "events": ["web/3"] });
    assert!(refusal(&s).to_string().contains("web/3"));
    for (key, value) in [("parallel", json!(0)), ("body", json!("0 B")), ("objects", json!(20_000))] {
        let mut page = json!({});
        page[key] = value;
        let e = refusal(&scenario(fast(), page, json!({})));
        assert_eq!(e.path, format!("flow.web.workload.{key}"), "{e}");
    }
}

#[test]
fn every_column_that_a_run_can_have_is_in_the_registry_of_metrics() {
    use crosswind_record::metric::{MetricKind, find};
    let mut s = scenario(json!({ "rate": "1 Mbit/s", "delay": "10 ms" }), json!({ "objects": 1 }), json!({}));
    let stream = json!({ "type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": 20 });
    s["flow"]["audio"] = json!({ "from": "server", "to": "browser", "workload": stream });
    s["record"] = json!({ "sample": "100 ms", "events": "all" });
    let t = run(&s);
    let mut unknown = Vec::new();
    for table in t.iter() {
        let kind = match table.name() {
            "run" => MetricKind::Run,
            "flow" => MetricKind::Flow,
            "page" => MetricKind::Page,
            "object" => MetricKind::Object,
            "link" => MetricKind::Link,
            "boundary" => MetricKind::Boundary,
            _ => MetricKind::Column,
        };
        for (name, column) in table.columns() {
            if find(kind, name).is_none() && find(MetricKind::Column, name).is_none() {
                unknown.push(format!("{}.{name}", table.name()));
            }
            let kind = match table.name() {
                "hist" => MetricKind::Hist,
                "sample" => MetricKind::Sample,
                _ => continue,
            };
            if let (true, crosswind_record::Column::Text(names)) = (name == "metric", column) {
                let missing = names.iter().filter(|n| find(kind, n).is_none());
                unknown.extend(missing.map(|n| format!("{}: {n}", table.name())));
            }
        }
    }
    unknown.sort();
    unknown.dedup();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn histograms_of_single_flows_can_be_asked_for_and_hold_every_packet() {
    let mut s = scenario(json!({ "rate": "1 Mbit/s", "delay": "10 ms" }), json!({ "objects": 1 }), json!({}));
    let stream = json!({ "type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": 300 });
    s["flow"]["audio"] = json!({ "from": "server", "to": "browser", "workload": stream });
    s["record"] = json!({ "hist": ["audio"] });
    let t = run(&s);
    let hist = table(&t, "hist");
    let sum = |metric: &str| -> f64 {
        let rows = (0..hist.rows()).filter(|r| text(hist, "metric", *r) == metric);
        rows.inspect(|r| assert_eq!(text(hist, "entity", *r), "audio")).map(|r| number(hist, "count", r)).sum()
    };
    assert_eq!((sum("delay_ns"), sum("ipdv_ns"), sum("rtt_ns")), (300.0, 299.0, 0.0));
    let variations = (0..hist.rows()).filter(|r| text(hist, "metric", *r) == "ipdv_ns");
    assert!(variations.map(|r| number(hist, "low", r)).any(|low| low < 0.0), "delays shrink as well");
    s["record"] = json!({ "hist": ["adio"] });
    let e = refusal(&s);
    assert!(e.path == "record.hist[0]" && e.hint.contains("audio"), "{e}");
}

#[test]
fn all_objects_at_once_are_no_more_than_there_are() {
    let page = json!({ "type": "page", "objects": 5, "parallel": 4_294_967_295u32 });
    let t = run(&scenario(fast(), page, json!({})));
    assert_eq!(objects(&t).len(), 6);
}

#[test]
fn there_is_no_common_interval_where_one_generator_never_began() {
    let mut s = scenario(fast(), json!({ "type": "page", "objects": 1 }), json!({}));
    s["flow"]["late"] = json!({ "from": "server", "to": "browser", "start": "20 s", "workload": { "type": "bulk" } });
    s["timeline"] = json!([{ "at": "10 s", "flow": "late", "set": { "abort": "sender" } }]);
    assert!(number(table(&run(&s), "page"), "simultaneous_Bps", 0).is_nan());
}
