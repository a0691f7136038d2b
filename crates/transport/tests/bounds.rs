//! The ends of the ranges of parameters: what lies on one is accepted, what lies just beyond is refused under its key.

use crosswind_transport::tcp::preset::read;
use serde_json::{Value, json};

fn tcp(keys: &Value) -> Result<(), String> {
    read(keys, "tcp").map(drop).map_err(|e| e.path)
}

#[track_caller]
fn accepted(keys: Value) {
    assert_eq!(tcp(&keys), Ok(()), "{keys}");
}

#[track_caller]
fn refused(keys: Value, path: &str) {
    assert_eq!(tcp(&keys), Err(format!("tcp.{path}")), "{keys}");
}

#[test]
fn parameters_of_laws() {
    let below_and_ends = [
        ("bic", "beta", 0.000_9, 0.001, 0.999, 1.0),
        ("bic", "s_max", 0.009, 0.01, 1e6, 1.1e6),
        ("cubic", "c", 1e-7, 1e-6, 1e6, 1.1e6),
        ("fast", "alpha", 0.09, 0.1, 1e9, 1.1e9),
        ("fast", "empty_growth", -0.1, 0.0, 100.0, 100.1),
        ("hstcp", "low_window", 0.9, 1.0, 3000.0, 4000.0),
        ("hstcp", "high_window", 75.0, 76.0, 1e9, 1.1e9),
        ("hstcp", "high_decrease", 0.009, 0.01, 0.5, 0.51),
        ("htcp", "beta_min", 0.009, 0.01, 0.8, 0.81),
        ("htcp", "rate_change", -0.1, 0.0, 1e3, 1.1e3),
        ("ltcp", "threshold", 0.9, 1.0, 1e9, 1.1e9),
        ("ltcp", "kr_exponent", -0.1, 0.0, 1.0, 1.1),
        ("aimd", "decrease", 0.000_9, 0.001, 0.999, 1.0),
        ("scalable", "beta", 0.000_9, 0.001, 0.999, 1.0),
        ("vegas", "alpha", -0.1, 0.0, 3.0, 3.1),
        ("vegas", "keep", 0.009, 0.01, 0.99, 1.0),
    ];
    for (law, key, below, low, high, above) in below_and_ends {
        accepted(json!({ law: { key: low } }));
        accepted(json!({ law: { key: high } }));
        // The other end of a range may be another key, and the message then names that one.
        for beyond in [below, above] {
            let found = tcp(&json!({ law: { key: beyond } })).expect_err(&format!("{law}.{key} = {beyond}"));
            assert!(found.starts_with(&format!("tcp.{law}.")), "{law}.{key} = {beyond}: {found}");
        }
    }
    refused(json!({ "westwood": { "tau": "0 s" } }), "westwood.tau (in seconds)");
    for (key, low, high, path) in [
        ("probe_gain", json!(1.0), json!(2.0), "probe_gain"),
        ("window_gain", json!(1.0), json!(100.0), "window_gain"),
        ("rate_rounds", json!(2), json!(1000), "rate_rounds"),
        ("rtt_window", json!("1 ms"), json!("1000000 s"), "rtt_window (in seconds)"),
    ] {
        accepted(json!({ "bbr": { key: low } }));
        accepted(json!({ "bbr": { key: high } }));
        let beyond = match key {
            "rate_rounds" => [json!(1), json!(1001)],
            "rtt_window" => [json!("999 us"), json!("1000001 s")],
            _ => [json!(0.999), json!(high.as_f64().expect("a number") + 0.001)],
        };
        beyond.into_iter().for_each(|b| refused(json!({ "bbr": { key: b } }), &format!("bbr.{path}")));
    }
    accepted(json!({ "fast": { "low_rate": "1 Mbit/s", "middle_rate": "1 Mbit/s" } }));
    accepted(json!({ "fast": { "low_rate": "1 Mbit/s", "middle_rate": "2 Mbit/s" } }));
    refused(json!({ "fast": { "low_rate": "2 Mbit/s", "middle_rate": "1 Mbit/s" } }), "fast.low_rate");
}

#[test]
fn rows_of_a_law_by_its_table() {
    let with = |rows: Value| json!({ "law": "tabulated", "law_table": rows });
    let row = |window: f64, increase: f64, keep: f64| json!({ "window": window, "increase": increase, "keep": keep });
    accepted(with(json!([row(1.0, 0.0, 0.0), row(2.0, 1.0, 1.0)])));
    for wrong in [row(0.9, 1.0, 0.5), row(1.0, -0.1, 0.5), row(1.0, 1.0, -0.1), row(1.0, 1.0, 1.1)] {
        refused(with(json!([wrong])), "law_table");
    }
    refused(with(json!([])), "law_table");
    refused(json!({ "law": "reno", "law_table": [row(1.0, 1.0, 0.5)] }), "law_table");
    refused(with(json!([row(2.0, 1.0, 0.5), row(2.0, 1.0, 0.5)])), "law_table");
    refused(with(json!([row(2.0, 1.0, 0.5), row(1.0, 1.0, 0.5)])), "law_table");
}

#[test]
fn parameters_of_early_response() {
    let early = |keys: Value| json!({ "preset": "pert", "early": keys });
    for (table, fine, wrong, path) in [
        ("rem", json!({ "gamma": 1e-9 }), json!({ "gamma": 0.0 }), "gamma"),
        ("rem", json!({ "alpha": 1e-9 }), json!({ "alpha": 0.0 }), "alpha"),
        ("rem", json!({ "phi": 1.000_001 }), json!({ "phi": 1.0 }), "phi"),
        ("rem", json!({ "gamma": 1.0 }), json!({ "gamma": -1.0 }), "gamma"),
        ("rem", json!({ "alpha": 1.0 }), json!({ "alpha": -1.0 }), "alpha"),
        ("rem", json!({ "phi": 10.0 }), json!({ "phi": 0.5 }), "phi"),
        ("rem", json!({ "decay": 1e-9 }), json!({ "decay": 0.0 }), "decay"),
        ("rem", json!({ "decay": 1.0 }), json!({ "decay": 1.000_001 }), "decay"),
        ("pi", json!({ "a": 0.5, "b": 0.0 }), json!({ "a": 0.5, "b": 0.5 }), "a"),
        ("pi", json!({ "a": 0.5, "b": 0.4 }), json!({ "a": 0.5, "b": -0.1 }), "a"),
        ("pi", json!({ "period": "1 ns" }), json!({ "period": "0 s" }), "period"),
        ("gentle", json!({ "max_p": 0.0 }), json!({ "max_p": -0.1 }), "max_p"),
        ("gentle", json!({ "max_p": 1.0 }), json!({ "max_p": 1.1 }), "max_p"),
    ] {
        accepted(early(json!({ table: fine })));
        refused(early(json!({ table: wrong })), &format!("early.{table}.{path}"));
    }
    let delays = |min: &str, max: &str, certain: &str| {
        early(json!({ "gentle": { "min_delay": min, "max_delay": max, "certain_delay": certain } }))
    };
    accepted(delays("1 ms", "2 ms", "3 ms"));
    for wrong in
        [["2 ms", "2 ms", "3 ms"], ["3 ms", "2 ms", "4 ms"], ["1 ms", "3 ms", "3 ms"], ["1 ms", "3 ms", "2 ms"]]
    {
        refused(delays(wrong[0], wrong[1], wrong[2]), "early.gentle.min_delay");
    }
    for (key, high, above) in [("weight", 1.0, 1.01), ("share", 0.99, 1.0)] {
        accepted(early(json!({ key: 0.0 })));
        accepted(early(json!({ key: high })));
        refused(early(json!({ key: -0.01 })), &format!("early.{key}"));
        refused(early(json!({ key: above })), &format!("early.{key}"));
    }
}

#[test]
fn the_patience_of_a_detector() {
    let dcr = |keys: Value| json!({ "preset": "sack-dcr", "dcr": keys });
    accepted(dcr(json!({ "tau_rtts": 0.0 })));
    accepted(dcr(json!({ "tau_rtts": 100.0 })));
    refused(dcr(json!({ "tau_rtts": 100.1 })), "dcr.tau_rtts");
    for recovery in ["sack", "newreno", "reno"] {
        accepted(json!({ "preset": "sack-dcr", "recovery": recovery }));
    }
    refused(json!({ "preset": "sack-dcr", "recovery": "rack" }), "recovery");
}
