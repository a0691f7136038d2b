//! Web-like transfers: how many there are, how large, and that each waits for its turn.

use crate::common::*;
use serde_json::{Value, json};

fn scenario(rate: &str, workload: Value, seconds: u64) -> Value {
    let mut workload = workload;
    workload["type"] = "web".into();
    json!({
        "name": "web", "duration": format!("{seconds} s"),
        "link": { "path": { "from": "server", "to": "client", "rate": rate, "delay": "10 ms" } },
        "flow": { "web": { "from": "server", "to": "client", "workload": workload, "tcp": { "mss": "1000 B" } } }
    })
}

#[test]
fn transfers_come_at_their_interval_until_there_are_no_more() {
    let workload = json!({ "size": "15 kB", "every": "10 s", "transfers": 4 });
    let t = run(&scenario("10 Mbit/s", workload, 100));
    assert_eq!(of_flow(&t, "web", "size_bytes"), 60_000.0);
    // The fourth begins 30 s after the connection is there; it takes some round trips, and closes the connection.
    let close = of_flow(&t, "web", "close_ns") / 1e9;
    assert!((30.0..30.5).contains(&close), "{close}");
}

#[test]
fn a_transfer_waits_behind_one_that_takes_longer_than_the_interval() {
    // 125 kB take a second at 1 Mbit/s and more; they come every 100 ms.
    let workload = json!({ "size": "125 kB", "every": "100 ms", "transfers": 8 });
    let t = run(&scenario("1 Mbit/s", workload, 100));
    assert_eq!(of_flow(&t, "web", "size_bytes"), 1e6);
    let close = of_flow(&t, "web", "close_ns") / 1e9;
    assert!((8.0..9.0).contains(&close), "{close}");
}

#[test]
fn sizes_and_intervals_have_the_means_that_they_were_given() {
    let workload = json!({ "size": { "uniform": ["10 kB", "20 kB"] }, "every": { "exponential": "1 s" } });
    let t = run(&scenario("100 Mbit/s", workload, 4000));
    // 4000 transfers of 15 kB on average: their sum has a deviation of 2 %.
    assert_within(of_flow(&t, "web", "size_bytes") / 60e6, 1.0, 6.0);
}

#[test]
fn what_cannot_be_a_transfer_is_refused_with_its_path() {
    for (workload, path) in [
        (json!({ "size": "0 B" }), "flow.web.workload.size"),
        (json!({ "every": "0 s" }), "flow.web.workload.every"),
        (json!({ "transfers": 0 }), "flow.web.workload.transfers"),
        (json!({ "size": { "uniform": ["2 kB", "1 kB"] } }), "flow.web.workload.size"),
        (json!({ "sizes": "2 kB" }), "flow.web.workload.sizes"),
    ] {
        assert_eq!(refusal(&scenario("1 Mbit/s", workload, 10)).path, path);
    }
}

#[test]
fn only_what_is_asked_for_has_a_time_series() {
    let workload = json!({ "size": "15 kB", "every": "1 s" });
    let mut s = scenario("10 Mbit/s", workload, 10);
    s["record"] = json!({ "sample": "1 s", "series": "totals", "sampled": ["path"] });
    let t = run(&s);
    let samples = table(&t, "sample");
    assert!(samples.rows() > 0);
    assert!((0..samples.rows()).all(|r| text(samples, "entity", r).starts_with("path/")));
    s["record"]["sampled"] = json!(["pth"]);
    let e = refusal(&s);
    assert_eq!(e.path, "record.sampled[0]");
}

#[test]
fn time_goes_on_where_intervals_round_to_nothing() {
    let workload = json!({ "size": "1 kB", "every": { "uniform": ["0 ns", "1 ns"] }, "transfers": 5 });
    assert_eq!(of_flow(&run(&scenario("10 Mbit/s", workload, 10)), "web", "size_bytes"), 5000.0);
}
