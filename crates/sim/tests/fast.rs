//! FAST as published behind one queue: at rest it keeps alpha packets there, whatever the receiver's habits.

use crate::common::*;
use serde_json::{Value, json};

const ALPHA: f64 = 60.0;

/// 100 Mbit/s and 100 ms: 833 packets of 1500 bytes.
fn path(habit: Value) -> Value {
    let mut tcp = json!({
        "preset": "linux-2.4-highspeed", "law": "fast", "grow_when": "always", "pacing": "window",
        "fast": { "version": "published", "alpha": ALPHA, "empty_growth": 2.0 },
    });
    for (k, v) in habit.as_object().expect("a table") {
        tcp[k] = v.clone();
    }
    json!({
        "name": "fast", "duration": "40 s",
        "link": { "path": {
            "from": "a", "to": "b", "rate": "100 Mbit/s", "delay": "50 ms",
            "queue": { "limit": "2000 packets" },
        } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": tcp } },
        "record": { "sample": "100 ms" },
    })
}

#[test]
fn at_rest_alpha_packets_wait_whatever_the_habits_of_the_receiver() {
    let habits = [
        json!({ "delayed_ack": "0 s" }),
        json!({ "delayed_ack": "40 ms", "ack_every_segments": 2 }),
        json!({ "ack_habit": { "least_segments": 1, "mean_segments": 2.0, "most_segments": 14 } }),
        json!({ "ack_habit": { "least_segments": 4, "mean_segments": 8.0, "most_segments": 16 } }),
    ];
    for habit in habits {
        let t = run(&path(habit.clone()));
        let samples = table(&t, "sample");
        let is_it = |r: &usize| {
            let of = (text(samples, "metric", *r), text(samples, "entity", *r));
            of == ("queue_packets", "path/forward") && number(samples, "time_ns", *r) > 20e9
        };
        let queue: Vec<f64> = (0..samples.rows()).filter(is_it).map(|r| number(samples, "value", r)).collect();
        let mean = queue.iter().sum::<f64>() / queue.len() as f64;
        assert!((mean / ALPHA - 1.0).abs() < 0.1, "{habit}: {mean} packets in {} samples", queue.len());
    }
}
