//! Above the probability `mark_p` RED of ns-2 drops what it would have marked: the test `congested1_mark_p` of ns-2's suite `red`. Two
//! flows in slow start push the average beyond twice the upper threshold, where the probability is 1. ns-2.35 drops 102 packets,
//! 33 of them since the queue is full, and with seeds 1 to 8 of its generator 88 on average, 52 to 102 (29 to 41 and 11 to 72).
//! Where such packets were marked, only the full queue would drop. The test holds the mechanism, not an agreement: 104 on average here is
//! 18 % more than there, for which no cause is known, and the quarter that it allows is ours. `validation/tests/test_red_marks.py` asks ns-2 itself.

use crate::common::*;
use serde_json::{Value, json};

fn congested(mark_p: f64) -> Value {
    let red = json!({
        "type": "red-ns2", "limit": "100 packets", "min_th": "5 packets", "max_th": "15 packets", "measure": "packets",
        "drop_by": "bytes", "mean_packet": "500 B", "w_q": 0.002, "gentle": true, "ecn": "mark", "mark_p": mark_p,
    });
    let access = |from: &str, to: &str, delay: &str| {
        let queue = json!({ "type": "droptail", "limit": "51 packets" });
        json!({ "from": from, "to": to, "rate": "10 Mbit/s", "delay": delay, "queue": queue })
    };
    let tcp = json!({
        "preset": "ns2-sack1", "mss": "1500 B", "ecn": "on", "window_limit_segments": 1000, "initial_window_segments": 1,
        "initial_ssthresh": "1500000 B", "rto_min": "0 s", "window_scaling": "on", "receive_buffer": "4 MB", "send_buffer": "4 MB",
    });
    let flow = |from: &str, to: &str, start: &str| json!({ "from": from, "to": to, "start": start, "workload": { "type": "bulk" }, "tcp": tcp });
    json!({
        "name": "congested", "duration": "5 s",
        "link": {
            "s1": access("s1", "r1", "0 s"), "s2": access("s2", "r1", "1 ms"),
            "bottleneck": {
                "from": "r1", "to": "r2", "rate": "1.5 Mbit/s", "delay": "10 ms", "queue": red,
                "reverse": { "queue": { "type": "droptail", "limit": "101 packets" } },
            },
            "s3": access("s3", "r2", "2 ms"), "s4": access("s4", "r2", "3 ms"),
        },
        "flow": { "one": flow("s1", "s3", "0 s"), "two": flow("s2", "s4", "200 ms") },
    })
}

/// What the bottleneck drops for this reason in each of twelve repetitions.
fn drops(mark_p: f64, why: &str) -> Vec<f64> {
    let many = crosswind_sim::runs::Request { reps: (0..12).collect(), reps_total: 12, ..request() };
    let tables = run_with(&[congested(mark_p)], &many);
    let links = table(&tables, "link");
    let is_it = |i: &usize| text(links, "link", *i) == "bottleneck" && text(links, "direction", *i) == "forward";
    (0..links.rows()).filter(is_it).map(|i| number(links, &format!("drops_{why}_packets"), i)).collect()
}

#[test]
fn with_certainty_red_of_ns2_drops_what_it_marks_below_it() {
    let [full, certain, early] = ["queue_full", "forced_drop", "early_drop"].map(|why| drops(1.0, why));
    assert!(early.iter().all(|n| *n == 0.0), "below certainty all is marked: {early:?}");
    assert!(full.iter().all(|n| (20.0..=45.0).contains(n)), "ns-2: 29 to 41; {full:?}");
    assert!(certain.iter().all(|n| *n >= 11.0), "ns-2: 11 to 72; {certain:?}");
    let mean = full.iter().chain(&certain).sum::<f64>() / 12.0;
    assert!((mean / 88.0 - 1.0).abs() < 0.25, "ns-2: 88; {mean}");
}

#[test]
fn from_a_tenth_on_red_of_ns2_drops_where_that_is_the_bound_of_marks() {
    // ns-2.35: 78, none of them since the queue is full.
    let early = drops(0.1, "early_drop");
    let mean = early.iter().sum::<f64>() / 12.0;
    assert!((mean / 78.0 - 1.0).abs() < 0.25, "ns-2: 78; {early:?}");
}
