//! What became of each flow: complete, gave up, aborted, cut off, not opened, endless; and that nothing but a complete flow
//! that was closed as it should be has an elapsed time.

use crate::common::*;
use crosswind_record::Tables;
use serde_json::{Value, json};

/// One flow over a link of 2 Mbit/s and 50 ms each way.
fn one(workload: Value, link: Value, duration: &str) -> Value {
    let mut path = json!({ "from": "a", "to": "b", "rate": "2 Mbit/s", "delay": "50 ms" });
    for (key, value) in link.as_object().expect("keys of a link") {
        path[key] = value.clone();
    }
    json!({
        "name": "one", "duration": duration, "link": { "path": path },
        "flow": { "f": { "from": "a", "to": "b", "workload": workload } }
    })
}

fn bulk() -> Value {
    json!({ "type": "bulk", "size": "30 kB" })
}

fn loses_all() -> Value {
    json!({ "loss": { "type": "uniform", "probability": 1.0 } })
}

/// Loses nothing until the timeline says so.
fn lossless() -> Value {
    json!({ "loss": { "type": "uniform", "probability": 0.0 } })
}

fn word<'a>(t: &'a Tables, name: &str, row: usize) -> &'a str {
    text(table(t, name), "outcome", row)
}

fn elapsed(t: &Tables) -> f64 {
    of_flow(t, "f", "elapsed_ns")
}

#[test]
fn a_transfer_that_gave_up_is_not_closed() {
    let t = run(&one(bulk(), loses_all(), "3000 s"));
    assert_eq!(word(&t, "flow", 0), "gave up");
    assert_eq!(word(&t, "run", 0), "flows closed or gave up");
    assert_eq!((of_flow(&t, "f", "size_bytes"), elapsed(&t)), (0.0, -1.0));
    assert_eq!(number(table(&t, "run"), "elapsed_ns", 0), -1.0);
    assert_eq!(of_flow(&t, "f", "open_ns"), 0.0);
}

#[test]
fn a_transfer_that_gives_up_in_its_middle_says_when() {
    let mut s = one(json!({ "type": "bulk", "size": "1 MB" }), lossless(), "3000 s");
    s["timeline"] = json!([{ "at": "2 s", "link": "path", "set": { "loss": { "probability": 1.0 } } }]);
    let t = run(&s);
    assert_eq!(word(&t, "flow", 0), "gave up");
    let got = of_flow(&t, "f", "size_bytes");
    assert!((1e5..1e6).contains(&got), "{got} of 1 MB arrived");
    assert_eq!(elapsed(&t), -1.0);
    let close = of_flow(&t, "f", "close_ns");
    assert!(close > 100e9, "it tried for {close} ns");
    // Its rate is taken up to when it gave up.
    assert_within(of_flow(&t, "f", "goodput_bps"), got * 8.0 / (close / 1e9), 0.1);
}

#[test]
fn what_the_application_got_decides() {
    // All data and the FIN arrive, and no ACK of them does: the sender gives up, and the transfer is complete.
    let mut s = one(bulk(), lossless(), "3000 s");
    let lost = json!({ "loss": { "probability": 1.0 } });
    s["flow"]["f"]["tcp"] = json!({ "initial_window_segments": 40 });
    s["timeline"] = json!([{ "at": "201 ms", "link": "path", "direction": "reverse", "set": lost }]);
    let t = run(&s);
    assert_eq!(of_flow(&t, "f", "size_bytes"), 30_000.0);
    assert!(of_flow(&t, "f", "close_ns") > 100e9, "the sender tried to the end");
    assert_eq!((word(&t, "flow", 0), elapsed(&t)), ("complete", -1.0));
    assert_eq!(word(&t, "run", 0), "all flows closed");
    // A connection that is left open on purpose has done what it was to do, too.
    let t = run(&one(json!({ "type": "bulk", "size": "30 kB", "close": "never" }), json!({}), "20 s"));
    assert_eq!((word(&t, "flow", 0), elapsed(&t)), ("complete", -1.0));
}

#[test]
fn complete_and_cut_off_and_endless() {
    let t = run(&one(bulk(), json!({}), "60 s"));
    assert_eq!((word(&t, "flow", 0), word(&t, "run", 0)), ("complete", "all flows closed"));
    assert!(elapsed(&t) > 0.3e9);
    let t = run(&one(json!({ "type": "bulk", "size": "30 MB" }), json!({}), "5 s"));
    assert_eq!((word(&t, "flow", 0), word(&t, "run", 0), elapsed(&t)), ("cut off", "duration reached", -1.0));
    for endless in [
        json!({ "type": "bulk" }),
        json!({ "type": "cbr", "payload": "100 B", "interval": "10 ms" }),
        json!({ "type": "on-off", "payload": "100 B", "interval": "10 ms", "on": "1 s", "off": "1 s" }),
        json!({ "type": "ping" }),
        json!({ "type": "web" }),
    ] {
        let t = run(&one(endless.clone(), json!({}), "5 s"));
        assert_eq!((word(&t, "flow", 0), elapsed(&t)), ("endless", -1.0), "{endless}");
    }
}

#[test]
fn streams_are_complete_when_all_was_sent() {
    let cbr = json!({ "type": "cbr", "payload": "100 B", "interval": "10 ms", "packets": 100 });
    for protocol in ["udp", "tfrc", "udt"] {
        for (duration, expected) in [("20 s", "complete"), ("500 ms", "cut off")] {
            let mut s = one(cbr.clone(), json!({}), duration);
            if protocol != "udp" {
                s["flow"]["f"][protocol] = json!({});
            }
            let t = run(&s);
            assert_eq!((text(table(&t, "flow"), "protocol", 0), word(&t, "flow", 0)), (protocol, expected));
        }
    }
}

#[test]
fn what_the_timeline_breaks_off_did_not_give_up() {
    let mut s = one(json!({ "type": "bulk", "size": "30 MB" }), json!({}), "60 s");
    for by in ["sender", "receiver"] {
        s["timeline"] = json!([{ "at": "2 s", "flow": "f", "set": { "abort": by } }]);
        let t = run(&s);
        assert_eq!((word(&t, "flow", 0), elapsed(&t)), ("aborted", -1.0));
        assert!((2e9..2.5e9).contains(&of_flow(&t, "f", "close_ns")));
    }
    s["flow"]["f"]["start"] = "10 s".into();
    assert_eq!(word(&run(&s), "flow", 0), "aborted", "before it had begun");
}

#[test]
fn pages_and_their_objects() {
    let page = json!({ "type": "page", "objects": 3 });
    let t = run(&one(page.clone(), json!({}), "60 s"));
    assert_eq!(word(&t, "page", 0), "complete");
    assert!((0..4).all(|r| word(&t, "object", r) == "complete" && word(&t, "flow", r) == "complete"));
    let t = run(&one(page.clone(), loses_all(), "9000 s"));
    assert_eq!(word(&t, "page", 0), "gave up");
    assert!((0..4).all(|r| word(&t, "object", r) == "gave up"));
    assert_eq!(number(table(&t, "page"), "response_ns", 0), -1.0);
    let page = json!({ "type": "page", "objects": 3, "parallel": 1 });
    let t = run(&one(page, json!({ "rate": "20 kbit/s" }), "2 s"));
    assert_eq!(
        (word(&t, "page", 0), word(&t, "object", 0), word(&t, "object", 3)),
        ("cut off", "cut off", "not opened")
    );
}
