//! Whole scenarios on the radio link: the same channel for all configurations, bad input, both directions.

use crate::common::*;
use crosswind_record::{Column, Tables};
use crosswind_sim::runs::Request;
use serde_json::{Value, json};

/// Two downloads over a radio link with these keys.
fn scenario(link: Value) -> Value {
    let mut last_hop = json!({"from": "router", "to": "mobile", "type": "seawind", "queue": {"limit": "11520 B"},
                              "reverse": {"queue": {"limit": "1000 packets"}}});
    for (k, v) in link.as_object().expect("a table") {
        last_hop[k] = v.clone();
    }
    json!({
        "name": "radio",
        "seed": 5,
        "duration": "600 s",
        "link": {"lan": {"from": "server", "to": "router", "rate": "100 Mbit/s", "delay": "0 ms"},
                 "last-hop": last_hop},
        "flow": {"bulk": {"from": "server", "to": "mobile", "count": 2,
                          "workload": {"type": "bulk", "size": "214400 B", "write": "4288 B"},
                          "tcp": {"preset": "baseline-linux-2.4", "mss": "536 B"}}},
        "record": {"sample": "500 ms"}
    })
}

/// Times at which the channel of the last hop was bad when sampled, per repetition, up to one minute.
fn bad_times(tables: &Tables, entity: &str) -> Vec<(u64, u64)> {
    let t = table(tables, "sample");
    let words = |column: &str| match t.get(column) {
        Some(Column::Text(words)) => words.iter(),
        _ => panic!("`{column}` holds text"),
    };
    let of_channel = |(r, (metric, name)): (usize, (&str, &str))| {
        let is_bad = metric == "channel_bad_ratio" && name == entity && number(t, "value", r) == 1.0;
        let early = number(t, "time_ns", r) < 60e9;
        (is_bad && early).then(|| (number(t, "rep", r) as u64, number(t, "time_ns", r) as u64))
    };
    words("metric").zip(words("entity")).enumerate().filter_map(of_channel).collect()
}

#[test]
fn configurations_and_directions_meet_one_channel_and_repetitions_meet_others() {
    let several = Request { reps: vec![0, 1, 2], reps_total: 3, ..request() };
    let bad = |link: Value, entity: &str| bad_times(&run_with(&[scenario(link)], &several), entity);
    let high = bad(json!({"preset": "arq-high"}), "last-hop/forward");
    let share = high.len() as f64 / (3.0 * 120.0);
    assert!((0.05..0.5).contains(&share), "{share} of three minutes are bad");
    let of_rep = |rep: u64| high.iter().filter(|b| b.0 == rep).map(|b| b.1).collect::<Vec<_>>();
    assert!(of_rep(0) != of_rep(1) && of_rep(1) != of_rep(2));
    let low = json!({"preset": "arq-low", "send_buffer": "1 packets", "queue": {"limit": "100 packets"}});
    assert_eq!(high, bad(low, "last-hop/forward"));
    assert_eq!(high, bad(json!({"preset": "arq-medium"}), "last-hop/reverse"));
    assert_ne!(high, bad(json!({"preset": "arq-high", "channel": {"history": "direction"}}), "last-hop/forward"));
}

#[test]
fn persistence_trades_losses_for_silence() {
    let t = |preset: &str| run(&scenario(json!({"preset": preset})));
    let (clean, low, high) = (t("error-free"), t("arq-low"), t("arq-high"));
    let of = |t: &Tables, column: &str| of_link(t, "last-hop", column);
    assert_eq!(of(&clean, "link_retransmitted_packets"), 0.0);
    assert!(of(&low, "link_retransmitted_packets") > 10.0 && of(&high, "link_retransmitted_packets") > 10.0);
    let lost = "drops_link_error_packets";
    assert!(of(&clean, lost) == 0.0 && of(&low, lost) > 5.0 && of(&high, lost) < of(&low, lost));
    assert!(of_flow(&high, "bulk-1", "rtt_max_ns") > of_flow(&clean, "bulk-1", "rtt_max_ns"));
    let last = |t: &Tables| of_flow(t, "bulk-1", "elapsed_ns").max(of_flow(t, "bulk-2", "elapsed_ns"));
    assert!(last(&clean) < last(&high), "stalls cost time");
}

#[test]
fn a_channel_or_an_arq_that_makes_no_sense_is_refused_with_the_place_and_the_reason() {
    let cases = [
        (
            json!({"channel": {"bad": {"length": {"exponential": "2.5 s", "min": "3 s", "max": "4 s"}}}}),
            "link.last-hop.channel.bad.length.min",
            "mean",
        ),
        (json!({"channel": {"god": {"error": 0}}}), "link.last-hop.channel.god", "good"),
        (json!({"preset": "arq-huge"}), "link.last-hop.preset", "arq-high"),
        (json!({"preset": "arq-low", "arq": {"delay": "soon"}}), "link.last-hop.arq.delay", "700 ms"),
        (json!({"reverse": {"channel": {"bad": {"error": 2}}}}), "link.last-hop.reverse.channel.bad.error", "0 to 1"),
    ];
    for (link, path, word) in cases {
        let e = refusal(&scenario(link.clone()));
        assert_eq!(e.path, path, "{link}: {e}");
        assert!(e.to_string().contains(word), "{link}: {e}");
    }
}

#[test]
fn a_scenario_with_all_defaults_written_out_is_read_as_the_same_scenario() {
    use crosswind_sim::scenario::{Registries, parse};
    let link = json!({"preset": "arq-high", "arq": {"drop_threshold": "2801 ms"}, "fragment": "100 B",
                      "reverse": {"preset": "error-free", "channel": "none", "arq": "none", "fragment": "none"}});
    let once = parse(&scenario(link).to_string(), &Registries).unwrap_or_else(|e| panic!("{e}"));
    let written = serde_json::to_value(&once).expect("a scenario is plain data");
    let twice = parse(&written.to_string(), &Registries).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(written, serde_json::to_value(&twice).expect("plain data"));
    let reverse = &written["link"]["last-hop"]["reverse"];
    assert_eq!(
        (&reverse["channel"], &reverse["fragment"], &reverse["hold"]),
        (&json!("none"), &json!("none"), &json!("sent"))
    );
}
