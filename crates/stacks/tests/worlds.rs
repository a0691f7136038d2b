//! Real stacks as ends of flows of whole scenarios: workloads, neighbours, marks, failures, and the same result twice.
#![cfg(all(feature = "quinn", feature = "noq", feature = "smoltcp"))]

#[path = "../../sim/tests/common/mod.rs"]
mod worlds;

use crosswind_record::Tables;
use crosswind_sim::world::{LookAhead, Ties};
use serde_json::{Value, json};
use worlds::{number, refusal, request, run, run_with, table};

fn scenario(flows: Value, seconds: u64, bottleneck: Value) -> Value {
    let mut base = json!({"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": "60 packets"}});
    base.as_object_mut().expect("a table").extend(bottleneck.as_object().expect("a table").clone());
    json!({
        "name": "stacks", "duration": format!("{seconds} s"),
        "topology": {"template": "dumbbell", "pairs": 2, "bottleneck": base},
        "flow": flows,
    })
}

const STACKS: [&str; 2] = ["quinn", "noq"];

fn over(stack: &str, congestion: &str, workload: Value) -> Value {
    json!({"from": "left-1", "to": "right-1", "transport": {"type": stack, "congestion": congestion}, "workload": workload})
}

fn quinn(congestion: &str, workload: Value) -> Value {
    over("quinn", congestion, workload)
}

fn text(t: &Tables, column: &str, row: usize) -> String {
    worlds::text(table(t, "flow"), column, row).to_string()
}

#[test]
fn a_transfer_is_complete_and_the_network_and_the_stack_agree() {
    for stack in STACKS {
        let flow = over(stack, "cubic", json!({"type": "bulk", "size": "5 MB"}));
        let t = run(&scenario(json!({"a": flow}), 60, json!({})));
        assert_eq!((text(&t, "outcome", 0), text(&t, "protocol", 0)), ("complete".into(), stack.into()));
        let flow = table(&t, "flow");
        assert_eq!(number(flow, "size_bytes", 0), 5e6);
        assert!(number(flow, "drops_packets", 0) > 0.0, "the queue was full");
        // What the stack says of itself, against what the network saw. The last packets may say that all is over.
        let (sent, says) = (number(flow, "sent_packets", 0), number(flow, "stack_sent_packets", 0));
        assert!((sent - says).abs() <= 5.0, "{sent} left, {says} in the words of {stack}");
        let (dropped, lost) = (number(flow, "drops_packets", 0), number(flow, "stack_lost_packets", 0));
        assert!((dropped - lost).abs() <= 5.0, "{dropped} dropped, {lost} taken for lost by {stack}");
        assert!(number(flow, "goodput_bps", 0) > 8e6, "{stack}");
        assert!(number(flow, "stack_srtt_ns", 0) >= 40e6, "{stack}");
    }
}

#[test]
fn pages_and_web_sessions_run_over_stacks() {
    let page = json!({"type": "page", "body": "20 kB", "object": "8 kB", "objects": 4});
    let web = json!({"type": "web", "size": "30 kB", "every": "500 ms", "transfers": 5});
    for stack in STACKS {
        let flows = json!({"p": over(stack, "cubic", page.clone()), "w": over(stack, "newreno", web.clone())});
        let t = run(&scenario(flows, 60, json!({})));
        let pages = table(&t, "page");
        assert!(number(pages, "response_ns", 0) > 4.0 * 42e6, "{stack}: handshake, body, then objects");
        for row in 0..table(&t, "flow").rows() {
            assert_eq!(text(&t, "outcome", row), "complete", "{stack}: {}", text(&t, "name", row));
        }
    }
}

#[test]
fn messages_are_written_to_the_stream_as_they_come_and_all_of_them_arrive() {
    let cbr = json!({"type": "cbr", "payload": "1000 B", "interval": "10 ms", "packets": 500});
    let bursts = json!({"type": "on-off", "payload": "1000 B", "interval": "2 ms", "on": "100 ms", "off": "400 ms", "bursts": 6});
    for (stack, (workload, bytes)) in STACKS.into_iter().flat_map(|s| [(s, (&cbr, 5e5)), (s, (&bursts, 3e5))]) {
        let t = run(&scenario(json!({"a": over(stack, "cubic", workload.clone())}), 30, json!({})));
        assert_eq!(text(&t, "outcome", 0), "complete", "{stack}: {workload}");
        assert_eq!(number(table(&t, "flow"), "size_bytes", 0), bytes, "{stack}: {workload}");
        let seconds = number(table(&t, "flow"), "elapsed_ns", 0) / 1e9;
        assert!((2.5..6.0).contains(&seconds), "{stack}, in its own time: {seconds} s");
    }
}

#[test]
fn the_timeline_changes_the_pace_of_messages_over_a_stack() {
    let cbr = json!({"type": "cbr", "payload": "1000 B", "interval": "10 ms"});
    let mut what = scenario(json!({"a": over("quinn", "cubic", cbr)}), 10, json!({}));
    what["timeline"] = json!([{"at": "5 s", "flow": "a", "set": {"interval": "50 ms"}}]);
    let t = run(&what);
    let bytes = number(table(&t, "flow"), "size_bytes", 0);
    assert!((5.8e5..6.2e5).contains(&bytes), "{bytes} bytes: five hundred messages, then a hundred");
}

#[test]
fn ten_runs_with_one_seed_are_the_same_whatever_is_recorded_or_decided_early() {
    let tcp = json!({"from": "left-2", "to": "right-2", "tcp": {"law": "cubic"}, "workload": {"type": "bulk"}});
    let bulk = json!({"type": "bulk"});
    let flows = json!({"q": quinn("cubic", bulk.clone()), "n": over("noq", "cubic", bulk), "t": tcp});
    let plain = scenario(flows, 6, json!({"queue": {"type": "codel", "ecn": "mark"}}));
    let shown = |t: &Tables| {
        let flow = table(t, "flow");
        let names = ["sent_packets", "size_bytes", "marks_packets", "drops_packets", "delay_p50_ns", "received_bytes"];
        let cells = (0..3).flat_map(|row| names.map(|n| number(flow, n, row).to_bits()));
        cells.collect::<Vec<_>>()
    };
    let first = shown(&run(&plain));
    assert!((0..9).all(|_| shown(&run(&plain)) == first));
    let mut recorded = plain.clone();
    recorded["record"] = json!({"sample": "100 ms", "events": "all"});
    let watched = run(&recorded);
    assert_eq!(shown(&watched), first, "recording changes nothing");
    assert_eq!(
        shown(&run_with(
            std::slice::from_ref(&plain),
            &crosswind_sim::runs::Request { look_ahead: LookAhead::Never, ..request() }
        )),
        first
    );
    let other = run_with(std::slice::from_ref(&plain), &crosswind_sim::runs::Request { seed: 2, ..request() });
    assert_ne!(shown(&other), first, "the seed reaches the stack");
    let _ = run_with(std::slice::from_ref(&plain), &crosswind_sim::runs::Request { ties: Ties::Shuffled, ..request() });
    let samples = table(&watched, "sample");
    assert!(samples.rows() > 100, "the window has a time series");
}

#[test]
fn marks_reach_the_stack_and_its_answer_spares_losses() {
    let bottleneck = json!({"queue": {"type": "codel", "ecn": "mark", "limit": "1000 packets"}});
    let t = run(&scenario(json!({"a": quinn("cubic", json!({"type": "bulk"}))}), 20, bottleneck));
    let flow = table(&t, "flow");
    assert!(number(flow, "marks_packets", 0) > 3.0);
    assert_eq!(number(flow, "drops_packets", 0), 0.0);
    assert!(number(flow, "stack_congestion_events", 0) > 3.0);
}

#[test]
fn a_path_that_breaks_ends_a_flow_with_a_reason_and_not_in_silence() {
    let lossy = json!({"loss": {"type": "uniform", "probability": 1.0}});
    let t = run(&scenario(json!({"a": quinn("cubic", json!({"type": "bulk", "size": "1 MB"}))}), 100, lossy));
    assert_eq!((text(&t, "outcome", 0), text(&t, "failure", 0)), ("gave up".into(), "timed out".into()));
}

#[test]
fn tcp_cubic_and_quinn_cubic_share_a_fifo() {
    let tcp = json!({"from": "left-2", "to": "right-2", "tcp": {"law": "cubic"}, "workload": {"type": "bulk"}});
    let t = run(&scenario(json!({"q": quinn("cubic", json!({"type": "bulk"})), "t": tcp}), 60, json!({})));
    let flow = table(&t, "flow");
    let (q, t) = (number(flow, "goodput_bps", 0), number(flow, "goodput_bps", 1));
    assert!(q + t > 9e6, "the line is full: {q} {t}");
    let share = q / (q + t);
    assert!((0.2..0.8).contains(&share), "neither starves: quinn has {share}");
}

/// smoltcp at these ends, Crosswind's own TCP at the others. The buffer is what bounds its flight.
/// Queues and links that a stack may meet, at 10 Mbit/s and 40 ms.
fn places() -> [(&'static str, Value); 6] {
    [
        ("red", json!({"queue": {"type": "red-ns2", "limit": "60 packets"}})),
        ("codel", json!({"queue": {"type": "codel", "limit": "1000 packets"}})),
        ("fq-codel", json!({"queue": {"type": "fq-codel", "limit": "1000 packets"}})),
        ("dualpi2", json!({"queue": {"type": "dualpi2"}})),
        // As many bytes as the rate brings in each millisecond but every fourth.
        ("trace", json!({"type": "trace", "rate": null, "opportunities_ms": [1, 2, 4], "opportunity": "1670 B"})),
        ("handover", json!({"spikes": {"first": "3 s", "length": "400 ms", "discard": 20}})),
    ]
}

#[test]
fn quinn_beside_tcp_accounts_for_every_packet_wherever_it_is_placed() {
    let bulk = json!({"type": "bulk", "size": "4 MB"});
    for (name, place) in places() {
        let tcp = json!({"from": "left-2", "to": "right-2", "tcp": {"law": "cubic"}, "workload": bulk});
        let mut what = scenario(json!({"q": quinn("cubic", bulk.clone()), "t": tcp}), 60, place);
        let bottleneck = what["topology"]["bottleneck"].as_object_mut().expect("a table");
        bottleneck.retain(|_, v| !v.is_null());
        let t = run(&what);
        let flow = table(&t, "flow");
        for row in 0..2 {
            assert_eq!(text(&t, "outcome", row), "complete", "{name}");
            assert_eq!(number(flow, "size_bytes", row), 4e6, "{name}");
            let gone = number(flow, "drops_packets", row) + number(flow, "lost_packets", row);
            let (sent, came) = (number(flow, "sent_packets", row), number(flow, "received_packets", row));
            // The last ones may say that all is over, and still be on their way.
            assert!((0.0..=3.0).contains(&(sent - came - gone)), "{name}: {sent} sent, {came} arrived, {gone} lost");
        }
    }
}

#[test]
fn a_page_over_an_empty_path_takes_its_round_trips_and_its_bytes() {
    // Handshake and body, handshake and six objects at once: four round trips of 100 ms. Each handshake is a datagram of 1200 B to the
    // server and one back; six go to the server at once. Objects come with 45 B of headers for each 1155 B.
    let page = json!({"type": "page", "body": "11 kB", "object": "8 kB", "objects": 6, "parallel": 6});
    let what = json!({
        "name": "page", "duration": "60 s",
        "link": {"l": {"from": "server", "to": "browser", "rate": "10 Mbit/s", "delay": "50 ms", "queue": {"limit": "100 packets"}}},
        "flow": {"p": {"from": "server", "to": "browser", "transport": {"type": "quinn"}, "workload": page}},
    });
    let ms = |bytes: f64| bytes * 8.0 / 1e4;
    let handshakes = ms(2.0 * 1200.0) + ms(6.0 * 1200.0) + ms(6.0 * 1200.0);
    let expected = 400.0 + handshakes + ms(1200.0) + ms(6.0 * 8000.0 * 1.04);
    let t = run(&what);
    let took = number(table(&t, "page"), "response_ns", 0) / 1e6;
    assert!((took / expected - 1.0).abs() < 0.05, "{took} ms, by the formula {expected} ms");
}

fn smoltcp(runs_at: &str, workload: Value) -> Value {
    let mut flow = over("smoltcp", "cubic", workload);
    flow["transport"]["runs_at"] = runs_at.into();
    flow["transport"]["send_buffer"] = "60 kB".into();
    flow
}

#[test]
fn smoltcp_and_own_tcp_exchange_bulk_pages_and_sessions_in_real_bytes() {
    let page = json!({"type": "page", "body": "20 kB", "object": "8 kB", "objects": 4});
    let web = json!({"type": "web", "size": "30 kB", "every": "500 ms", "transfers": 5});
    for ends in ["both", "client", "server"] {
        let flows = json!({
            "b": smoltcp(ends, json!({"type": "bulk", "size": "3 MB"})),
            "p": smoltcp(ends, page.clone()), "w": smoltcp(ends, web.clone()),
        });
        let told = scenario(flows, 60, json!({}));
        let t = run(&told);
        let flow = table(&t, "flow");
        for row in 0..flow.rows() {
            assert_eq!(text(&t, "outcome", row), "complete", "{ends}: {}", text(&t, "name", row));
        }
        let row = (0..flow.rows()).find(|r| text(&t, "name", *r) == "b").expect("the bulk flow");
        assert_eq!((number(flow, "size_bytes", row), text(&t, "protocol", row)), (3e6, "smoltcp".into()));
        let (sent, says) = (number(flow, "sent_packets", row), number(flow, "stack_sent_packets", row));
        assert!((sent - says).abs() <= 5.0, "{ends}: {sent} left, {says} in the words of the stack");
        let mut recorded = told.clone();
        recorded["record"] = json!({"sample": "100 ms", "events": "all"});
        let again = run(&recorded);
        for column in ["sent_packets", "received_bytes", "delay_p50_ns", "drops_packets"] {
            let of = |t: &Tables| {
                (0..flow.rows()).map(|r| number(table(t, "flow"), column, r).to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(of(&again), of(&t), "{ends}: {column}");
        }
    }
}

#[test]
fn what_a_stack_cannot_do_is_refused_where_it_stands() {
    let refused = |transport: Value, workload: Value| {
        let mut flow = quinn("cubic", workload);
        flow["transport"] = transport;
        let e = refusal(&scenario(json!({"a": flow}), 1, json!({})));
        (e.path.clone(), e.to_string())
    };
    let bulk = json!({"type": "bulk"});
    let (path, said) = refused(json!({"type": "quin"}), bulk.clone());
    assert!(path == "flow.a.transport.type" && said.contains("quinn"), "{path} {said}");
    let (path, _) = refused(json!({"type": "quinn", "segments": 0}), bulk.clone());
    assert_eq!(path, "flow.a.transport.segments");
    let (path, said) = refused(json!({"type": "quinn", "congestion": "bbr"}), bulk.clone());
    assert!(path == "flow.a.transport.congestion" && said.contains("no seed reaches"), "{path} {said}");
    let (path, said) = refused(json!({"type": "quinn", "law": "cubik"}), bulk);
    assert!(path == "flow.a.transport.law" && said.contains("cubic"), "{path} {said}");
    let (path, said) =
        refused(json!({"type": "quinn"}), json!({"type": "ping", "payload": "100 B", "interval": "20 ms"}));
    assert!(path == "flow.a.transport" && said.contains("bulk"), "{path} {said}");
}
