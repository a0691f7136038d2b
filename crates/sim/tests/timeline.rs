//! Changes during a run, delay spikes and named systems, in small worlds with an outcome that can be worked out on paper.

use crate::common::*;
use crosswind_sim::scenario::{Registries, normalise, parse};
use serde_json::{Value, json};

/// Datagrams of 1000 bytes on the wire, one every millisecond for ten seconds, from `a` over two links to `c`.
fn stream(first: Value, second: Value) -> Value {
    let ends = |mut link: Value, from: &str, to: &str| {
        link["from"] = from.into();
        link["to"] = to.into();
        link
    };
    json!({
        "name": "stream", "duration": "60 s",
        "link": { "first": ends(first, "a", "b"), "second": ends(second, "b", "c") },
        "flow": { "data": { "from": "a", "to": "c", "workload": {
            "type": "cbr", "payload": "972 B", "interval": "1 ms", "packets": 10_000 } } }
    })
}

fn fast() -> Value {
    json!({ "rate": "80 Mbit/s", "delay": "1 ms", "queue": { "limit": "20000 packets" } })
}

fn with(mut scenario: Value, timeline: Value) -> Value {
    scenario["timeline"] = timeline;
    scenario
}

#[test]
fn a_line_of_a_row_may_change_though_it_could_be_planned_ahead() {
    // From 2 s to 7 s the second line carries 500 packets a second, half of what comes; then it works off 2500.
    let timeline = json!([
        { "at": "7 s", "link": "second", "set": { "rate": "80 Mbit/s" } },
        { "at": "2 s", "link": "second", "direction": "forward", "set": { "rate": "4 Mbit/s" } },
    ]);
    let t = run(&with(stream(fast(), fast()), timeline));
    assert_eq!(of_flow(&t, "data", "received_packets"), 10_000.0);
    let most = of_link(&t, "second", "queue_max_bytes");
    assert!((2_498_000.0..=2_501_000.0).contains(&most), "{most} bytes waited when the rate came back");
    let busy = 5.0 + 5.0 * 0.1 + 2500.0 * 0.0001;
    assert_within(of_link(&t, "second", "utilisation_ratio") * of_run(&t, "end_s"), busy, 1.0);
}

fn of_run(t: &crosswind_record::Tables, column: &str) -> f64 {
    match column {
        "end_s" => number(table(t, "run"), "end_ns", 0) / 1e9,
        _ => number(table(t, "run"), column, 0),
    }
}

#[test]
fn a_schedule_gives_its_change_again_and_again() {
    // Slow from 1 s, 3 s, 5 s on, fast from 2 s, 4 s, 6 s on: three seconds in which half of the packets are too many.
    let timeline = json!([
        { "at": { "first": "1 s", "every": "2 s", "until": "5 s" }, "link": "second",
          "set": { "rate": "4 Mbit/s", "queue": { "limit": "1 packets" } } },
        { "at": ["2 s", "4 s", "6 s"], "link": "second", "set": { "rate": "80 Mbit/s", "queue": { "limit": "9 packets" } } },
    ]);
    let t = run(&with(stream(fast(), fast()), timeline));
    assert_within(of_flow(&t, "data", "received_packets"), 8_500.0, 0.1);
    assert_within(of_link(&t, "second", "drops_queue_full_packets"), 1_500.0, 0.5);
}

#[test]
fn a_source_goes_on_with_another_pace() {
    let timeline = json!([{ "at": "2 s", "flow": "data", "set": { "rate": "4 Mbit/s" } }]);
    let t = run(&with(stream(fast(), fast()), timeline));
    // 2000 packets in 2 s, the others two milliseconds apart.
    assert_within(of_run(&t, "end_s"), 2.0 + 8000.0 * 0.002, 0.1);
}

#[test]
fn a_handover_takes_rate_delay_and_buffer_of_the_other_system() {
    let mut slow = json!({ "profile": "gprs" });
    slow["reverse"] = json!({ "rate": "20 kbit/s" });
    let handover = json!([{ "at": "5 s", "link": "second", "set": { "profile": "umts" } }]);
    let t = run(&with(stream(fast(), slow), handover));
    // 30 kbit/s for 5 s, then 384 kbit/s for 5 s; a queue of 20 packets at the end.
    let carried = (5.0 * 30e3 + 5.0 * 384e3) / 8000.0 + 20.0;
    assert_within(of_flow(&t, "data", "received_packets"), carried, 1.0);
    assert!(of_link(&t, "second", "queue_max_bytes") == 20_000.0);
}

#[test]
fn nothing_is_delivered_during_a_spike_and_the_queue_comes_after_it() {
    let mut spiky = fast();
    spiky["spikes"] = json!({ "first": "2 s", "length": "3 s" });
    let mut s = stream(fast(), spiky);
    s["record"] = json!({ "sample": "100 ms" });
    let t = run(&s);
    assert_eq!(of_flow(&t, "data", "received_packets"), 10_000.0);
    // 3000 packets come during the spike; one of them waits on the line, not in the queue.
    let most = of_link(&t, "second", "queue_max_bytes");
    assert!((2_996_000.0..=3_000_000.0).contains(&most), "{most}");
    // The one that waits longest comes first in the spike.
    assert_within(of_flow(&t, "data", "delay_max_ns"), 3.0e9, 1.0);
}

#[test]
fn a_profile_is_a_link_and_every_key_beside_it_is_stronger() {
    let mut s = stream(json!({ "profile": "gprs-allocating", "queue": { "limit": "5 packets" } }), fast());
    s["topology"] = json!({ "template": "access-tree", "last_hop": "umts" });
    let all = normalise(&parse(&s.to_string(), &Registries).unwrap_or_else(|e| panic!("{e}")));
    let first = &all["link"]["first"];
    assert_eq!((&first["rate"], &first["delay"]), (&json!("30 kbit/s"), &json!("100 ms")));
    assert_eq!(first["queue"]["limit"], "5 packets");
    assert_eq!(first["reverse"]["queue"]["limit"], "5 packets");
    assert_eq!(first["reverse"]["rate"], "10 kbit/s");
    assert_eq!(first["channel_allocation"]["hold"], json!({ "uniform": ["2 s", "5 s"] }));
    assert_eq!(first["reverse"]["channel_allocation"]["hold"], json!({ "uniform": ["10 ms", "400 ms"] }));
    assert_eq!(all["topology"]["last_hop"]["rate"], "384 kbit/s");
    let again = normalise(&parse(&all.to_string(), &Registries).unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(all, again, "what was written can be read");
}

#[test]
fn what_cannot_change_is_refused_before_the_run() {
    for (entry, path, word) in [
        (json!({ "at": "1 s", "link": "secnd", "set": {} }), "timeline[0].link", "second"),
        (json!({ "at": "1 s", "link": "second", "set": { "rat": "1 Mbit/s" } }), "timeline[0].set.rat", "rate"),
        (
            json!({ "at": "1 s", "link": "second", "set": { "queue": { "limit": "x" } } }),
            "timeline[0].set.queue.limit",
            "packets",
        ),
        (json!({ "at": "1 s", "link": "second", "set": { "profile": "umtss" } }), "timeline[0].set.profile", "umts"),
        (json!({ "at": "1 s", "set": {} }), "timeline[0]", "what is to change"),
        (json!({ "at": "1 s", "flow": "dat", "set": {} }), "timeline[0].flow", "data"),
        (json!({ "at": "1 s", "flow": "data", "set": { "bursts": 7 } }), "timeline[0].set.bursts", "payload"),
        (json!({ "at": "1 s", "flow": "data", "set": { "payload": "0 B" } }), "timeline[0].set.payload", "1 B"),
        (
            json!({ "at": { "first": "1 s", "every": "0 s" }, "link": "second", "set": {} }),
            "timeline[0].at.every",
            "interval",
        ),
        (json!({ "at": "soon", "link": "second", "set": {} }), "timeline[0].at", "30 s"),
    ] {
        let e = refusal(&with(stream(fast(), fast()), json!([entry])));
        assert_eq!(e.path, path, "{e}");
        assert!(e.to_string().contains(word), "{e}");
    }
}

#[test]
fn an_application_over_a_rate_based_transport_changes_its_pace() {
    // A hundred datagrams in ten seconds and ten in the next ten; the paths hold far more.
    for transport in ["tfrc", "udt"] {
        let mut s = stream(fast(), fast());
        s["duration"] = "20 s".into();
        s["flow"]["data"][transport] = json!({});
        s["flow"]["data"]["workload"] = json!({ "type": "cbr", "payload": "500 B", "interval": "100 ms" });
        let entry = json!([{ "at": "10 s", "flow": "data", "set": { "interval": "1 s" } }]);
        let t = run(&with(s.clone(), entry));
        let received = of_flow(&t, "data", "size_bytes") / 500.0;
        assert!((105.0..=115.0).contains(&received), "{transport}: {received}");
        let other_size = json!([{ "at": "10 s", "flow": "data", "set": { "payload": "400 B" } }]);
        assert_eq!(refusal(&with(s.clone(), other_size)).path, "timeline[0].set.payload", "{transport}");
        s["flow"]["data"]["queue_delay_limits"] = json!(["10 ms"]);
        assert_eq!(refusal(&s).path, "flow.data.queue_delay_limits", "{transport} carries no sums of waits");
    }
}

#[test]
fn unknown_profiles_and_spikes_of_a_type_are_refused() {
    let e = refusal(&stream(json!({ "profile": "gprss" }), fast()));
    assert_eq!(e.path, "link.first.profile");
    assert!(e.hint.contains("gprs"), "{e}");
    let e = refusal(&stream(json!({ "spikes": { "type": "spikes" } }), fast()));
    assert_eq!(e.path, "link.first.spikes.type");
}

#[test]
fn what_a_change_sends_or_drops_is_recorded_as_everything_else() {
    let mut s = stream(fast(), json!({ "rate": "1 Mbit/s", "queue": { "limit": "400 packets" } }));
    s["flow"]["more"] = json!({ "from": "a", "to": "c", "tcp": { "preset": "rfc", "initial_window_segments": 10 },
        "workload": { "type": "bulk", "size": "100 kB", "close": "never" } });
    s["timeline"] = json!([
        { "at": "5 s", "link": "second", "set": { "queue": { "limit": "10 packets" } } },
        { "at": "40 s", "flow": "more", "set": { "size": "200 kB" } },
        { "at": "41 s", "flow": "more", "set": { "abort": "sender" } },
    ]);
    s["record"] = json!({ "events": "all" });
    let t = run(&s);
    let events = table(&t, "event");
    let of_kind = |kind: &str, at_s: f64| {
        let here = |i: &usize| text(events, "kind", *i) == kind && number(events, "time_ns", *i) == at_s * 1e9;
        (0..events.rows()).filter(here).count()
    };
    assert!(of_kind("drop", 5.0) > 300, "{} packets had to go", of_kind("drop", 5.0));
    assert!(of_kind("send", 40.0) > 5, "{} segments left at once", of_kind("send", 40.0));
}
