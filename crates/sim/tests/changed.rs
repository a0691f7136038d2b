//! What comes after a change of the timeline, and what results say of it.

use crate::common::*;
use crosswind_record::Tables;
use crosswind_sim::runs::Request;
use crosswind_sim::world::LookAhead;
use crosswind_transport::tcp::facts::Trigger;
use crosswind_transport::tcp::law::own::{Facts, Maker, OwnLaw};
use serde_json::{Value, json};

/// One flow of that workload over 10 Mbit/s and 10 ms.
fn one(workload: Value, duration: &str, timeline: Value) -> Value {
    json!({
        "name": "changed", "duration": duration, "timeline": timeline,
        "link": { "path": { "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "10 ms" } },
        "flow": { "f": { "from": "a", "to": "b", "workload": workload } },
    })
}

fn of_flow_at(time: &str, set: Value) -> Value {
    json!([{ "at": time, "flow": "f", "set": set }])
}

fn outcome(t: &Tables) -> &str {
    text(table(t, "flow"), "outcome", 0)
}

#[test]
fn a_sampled_queue_takes_as_long_as_the_present_rate_says() {
    let mut s = one(json!({ "type": "bulk" }), "20 s", json!([]));
    s["timeline"] = json!([{ "at": "10 s", "link": "path", "set": { "rate": "1 Mbit/s" } }]);
    s["link"]["path"]["queue"] = json!({ "limit": "50 packets" });
    s["record"] = json!({ "sample": "100 ms" });
    let t = run(&s);
    let t = table(&t, "sample");
    let of = |metric: &str| -> Vec<f64> {
        let is_it = |r: &usize| text(t, "metric", *r) == metric && text(t, "entity", *r) == "path/forward";
        (0..t.rows()).filter(is_it).map(|r| number(t, "value", r)).collect()
    };
    let (bytes, delays) = (of("queue_bytes"), of("queue_delay_ns"));
    assert_eq!((bytes.len(), delays.len()), (200, 200));
    for (i, (bytes, delay)) in bytes.iter().zip(delays).enumerate() {
        let mbps = if i < 99 { 10.0 } else { 1.0 };
        assert_eq!(delay, bytes * 8e9 / (mbps * 1e6), "sample {i}");
    }
}

#[test]
fn a_transfer_that_became_longer_is_complete_when_all_of_it_is_there() {
    let part = json!({ "type": "bulk", "size": "100 kB", "close": "never" });
    assert_eq!(outcome(&run(&one(part.clone(), "5 s", json!([])))), "complete");
    let longer = |size: &str| run(&one(part.clone(), "5 s", of_flow_at("2 s", json!({ "size": size }))));
    assert_eq!(outcome(&longer("200 kB")), "complete");
    assert_eq!(outcome(&longer("200 MB")), "cut off");
}

#[test]
fn what_a_change_cannot_do_is_refused() {
    let endless = json!({ "type": "bulk", "close": "never" });
    let cbr = json!({ "type": "cbr", "payload": "1000 B", "interval": "10 ms" });
    for (workload, at, set, path) in [
        (endless.clone(), "1 s", json!({ "close": "fin" }), "close"),
        (endless.clone(), "0 s", json!({ "tcp": { "mss": "500 B" } }), "tcp.mss"),
        (endless, "1 s", json!({ "lifetime": { "data": "1 s", "from": "object" } }), "lifetime.from"),
    ] {
        let e = refusal(&one(workload, "5 s", of_flow_at(at, set)));
        assert_eq!(e.path, format!("timeline[0].set.{path}"));
    }
    let mut over_tfrc = one(cbr, "5 s", of_flow_at("1 s", json!({ "lifetime": "1 s" })));
    over_tfrc["flow"]["f"]["workload"]["payload"] = "65490 B".into();
    over_tfrc["flow"]["f"]["tfrc"] = json!({});
    assert!(refusal(&over_tfrc).to_string().contains("lifetime"), "{}", refusal(&over_tfrc));
}

/// A window of one segment, for ever.
struct One;

impl OwnLaw for One {
    fn on_ack(&mut self, _: &Facts) -> Option<f64> {
        Some(1.0)
    }
    fn reduce(&mut self, _: Trigger, _: &Facts) -> Option<f64> {
        None
    }
    fn copy(&self) -> Box<dyn OwnLaw> {
        Box::new(One)
    }
}

#[test]
fn a_law_that_a_program_brings_may_come_before_the_connection_begins() {
    let mut s = one(json!({ "type": "bulk" }), "11 s", json!([]));
    s["flow"]["f"]["start"] = "1 s".into();
    s["timeline"] = of_flow_at("500 ms", json!({ "tcp": { "law": "own", "own_law": "one" } }));
    let mut request = request();
    request.laws.insert("one".into(), Maker::new(|_| Box::new(One)));
    let t = run_with(&[s], &request);
    // A segment a round trip, which takes 21 ms and what the receiver holds an ACK back for: a full line carries 8000.
    let packets = of_flow(&t, "f", "sent_packets");
    assert!((50.0..=500.0).contains(&packets), "{packets}");
}

#[test]
fn nobody_waits_for_the_objects_of_a_page_that_was_broken_off() {
    let page = json!({ "type": "page", "objects": 8, "parallel": 2, "body": "1 MB" });
    let t = run(&one(page, "600 s", of_flow_at("300 ms", json!({ "abort": "receiver" }))));
    assert_eq!(text(table(&t, "run"), "outcome", 0), "all flows closed");
    assert!(number(table(&t, "run"), "end_ns", 0) < 10e9);
    assert_eq!(text(table(&t, "page"), "outcome", 0), "aborted");
}

#[test]
fn a_look_ahead_knows_how_long_packets_become() {
    let mut s = one(json!({ "type": "bulk" }), "4 s", json!([]));
    s["flow"]["f"]["tcp"] = json!({ "mss": "500 B" });
    s["flow"]["f"]["start"] = "100 ms".into();
    // The second link is a little faster than the first: while it sends a long packet, short ones gather that its queue has no
    // room for.
    s["link"]["far"] = json!({ "from": "b", "to": "c", "rate": "10.1 Mbit/s", "delay": "1 ms",
        "queue": { "limit": "2600 B" } });
    s["flow"]["f"]["to"] = "c".into();
    s["flow"]["short"] = json!({ "from": "a", "to": "c", "workload": { "type": "bulk" }, "tcp": { "mss": "500 B" } });
    s["timeline"] = of_flow_at("50 ms", json!({ "tcp": { "mss": "9000 B" } }));
    let with = |look_ahead| run_with(&[s.clone()], &Request { look_ahead, ..request() });
    let (plain, ahead) = (with(LookAhead::Never), with(LookAhead::Allowed));
    for column in ["sent_packets", "received_packets", "drops_packets", "timeouts"] {
        assert_eq!(of_flow(&plain, "f", column), of_flow(&ahead, "f", column), "{column}");
    }
    for column in ["arrived_packets", "queue_max_bytes", "drops_queue_full_packets"] {
        assert_eq!(of_link(&plain, "far", column), of_link(&ahead, "far", column), "{column}");
    }
}
