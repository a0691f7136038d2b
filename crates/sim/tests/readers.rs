//! Programs that read slowly or not at all, that stop and go on, that have more to send later or something to answer.

use crate::common::*;
use serde_json::{Value, json};

/// One transfer over 10 Mbit/s with a round trip of 40 ms, into a buffer of 20 kB.
fn scenario(workload: Value) -> Value {
    json!({
        "name": "readers", "duration": "300 s",
        "link": { "l": { "from": "server", "to": "client", "rate": "10 Mbit/s", "delay": "20 ms" } },
        "flow": { "f": { "from": "server", "to": "client", "workload": workload,
            "tcp": { "preset": "rfc", "receive_buffer": "20 kB" } } },
    })
}

fn seconds(t: &crosswind_record::Tables, column: &str) -> f64 {
    of_flow(t, "f", column) / 1e9
}

#[test]
fn a_transfer_takes_as_long_as_its_reader() {
    for preset in ["rfc", "baseline-linux-2.4", "linux-6"] {
        let mut s = scenario(json!({ "type": "bulk", "size": "100 kB", "read_rate": "80 kbit/s" }));
        s["flow"]["f"]["tcp"]["preset"] = preset.into();
        let t = run(&s);
        // 100 kB at 10 kB/s; the last piece has been read when its time begins.
        let took = seconds(&t, "elapsed_ns");
        assert!((9.3..10.2).contains(&took), "{preset}: {took} s");
        assert_eq!(of_flow(&t, "f", "size_bytes"), 100_000.0);
        assert_eq!(of_flow(&t, "f", "timeouts"), 0.0, "{preset}");
    }
    let at_once = run(&scenario(json!({ "type": "bulk", "size": "100 kB" })));
    assert!(seconds(&at_once, "elapsed_ns") < 0.5);
}

#[test]
fn nobody_sends_crumbs_to_a_slow_reader() {
    let t = run(&scenario(json!({ "type": "bulk", "size": "100 kB", "read_rate": "80 kbit/s", "read_size": "100 B" })));
    // 69 full segments, the handshake, and a few parts of segments and probes.
    let packets = of_flow(&t, "f", "sent_packets");
    assert!(packets < 69.0 + 20.0, "{packets}");
}

#[test]
fn a_reader_that_stops_is_probed_until_it_goes_on() {
    let mut s = scenario(json!({ "type": "bulk", "size": "100 kB", "reading": "off" }));
    let stuck = run(&s);
    // The buffer of 20 kB is full, and no more is taken; probes after 1, 3, 7, 15, 31, 63, 123, 183, 243 s.
    assert_eq!(of_flow(&stuck, "f", "size_bytes"), 20_000.0);
    assert_eq!(of_flow(&stuck, "f", "window_probes"), 9.0);
    s["timeline"] = json!([{ "at": "100 s", "flow": "f", "set": { "reading": "on" } }]);
    let goes_on = run(&s);
    assert_eq!(of_flow(&goes_on, "f", "size_bytes"), 100_000.0);
    let took = seconds(&goes_on, "elapsed_ns");
    assert!((100.0..101.0).contains(&took), "the window is told at once: {took} s");
}

#[test]
fn a_closed_window_is_no_timeout_for_any_preset() {
    for preset in crosswind_transport::tcp::preset::names() {
        if preset.starts_with("ns2") || preset.starts_with("gurtov") {
            continue;
        }
        let mut s =
            scenario(json!({ "type": "bulk", "size": "200 kB", "read_rate": "400 kbit/s", "read_size": "30 kB" }));
        s["flow"]["f"]["tcp"] = json!({ "preset": preset, "receive_buffer": "30 kB" });
        let t = run(&s);
        assert_eq!(of_flow(&t, "f", "size_bytes"), 200_000.0, "{preset}");
        assert_eq!(of_flow(&t, "f", "timeouts"), 0.0, "{preset}");
        assert!(seconds(&t, "elapsed_ns") < 10.0, "{preset}");
    }
}

#[test]
fn a_transfer_stops_and_goes_on() {
    let mut s = scenario(json!({ "type": "bulk", "size": "1 MB" }));
    s["flow"]["f"]["tcp"]["receive_buffer"] = "1 MB".into();
    s["timeline"] = json!([
        { "at": "300 ms", "flow": "f", "set": { "sending": "off" } },
        { "at": "10 s", "flow": "f", "set": { "sending": "on" } },
    ]);
    let plain = seconds(&run(&scenario(json!({ "type": "bulk", "size": "1 MB" }))), "elapsed_ns");
    let t = run(&s);
    let took = seconds(&t, "elapsed_ns");
    assert!((10.0..10.0 + plain + 0.5).contains(&took), "{took} s, without the break {plain} s");
    assert_eq!(of_flow(&t, "f", "size_bytes"), 1_000_000.0);
    s["timeline"] = json!([{ "at": "300 ms", "flow": "f", "set": { "sending": "off" } }]);
    let t = run(&s);
    let size = of_flow(&t, "f", "size_bytes");
    assert!((1_000.0..500_000.0).contains(&size), "what had left arrives, and no more: {size}");
}

#[test]
fn an_endless_flow_stops_and_goes_on() {
    let mut s = scenario(json!({ "type": "bulk", "sending": "off" }));
    s["flow"]["f"]["tcp"]["receive_buffer"] = "60 kB".into();
    s["duration"] = "20 s".into();
    assert_eq!(of_flow(&run(&s), "f", "size_bytes"), 0.0);
    s["timeline"] = json!([
        { "at": { "first": "0 s", "every": "4 s" }, "flow": "f", "set": { "sending": "on" } },
        { "at": { "first": "2 s", "every": "4 s" }, "flow": "f", "set": { "sending": "off" } },
    ]);
    let half = of_flow(&run(&s), "f", "size_bytes");
    s["timeline"] = json!([{ "at": "0 s", "flow": "f", "set": { "sending": "on" } }]);
    let all = of_flow(&run(&s), "f", "size_bytes");
    assert!((0.4..0.55).contains(&(half / all)), "{half} of {all}");
}

#[test]
fn a_flow_has_more_to_send_later_and_ends_when_it_is_told() {
    let mut s = scenario(json!({ "type": "bulk", "size": "10 kB", "close": "never" }));
    s["timeline"] = json!([
        { "at": "5 s", "flow": "f", "set": { "size": "30 kB" } },
        { "at": "9 s", "flow": "f", "set": { "size": "40 kB", "close": "fin" } },
    ]);
    let t = run(&s);
    assert_eq!(of_flow(&t, "f", "size_bytes"), 40_000.0);
    let took = seconds(&t, "elapsed_ns");
    assert!((9.0..9.5).contains(&took), "{took} s");
}

#[test]
fn an_answer_comes_over_a_connection_that_is_closed_one_way() {
    let t = run(&scenario(json!({ "type": "bulk", "size": "10 kB", "answer": "50 kB" })));
    assert_eq!(of_flow(&t, "f", "size_bytes"), 10_000.0);
    let plain = seconds(&run(&scenario(json!({ "type": "bulk", "size": "10 kB" }))), "elapsed_ns");
    let took = seconds(&t, "elapsed_ns");
    assert!(took > plain + 0.07, "the answer takes rounds of its own: {took} s, without {plain} s");
}

#[test]
fn what_a_transfer_cannot_become_is_refused() {
    let with = |workload: Value, set: Value| {
        let mut s = scenario(workload);
        s["timeline"] = json!([{ "at": "1 s", "flow": "f", "set": set }]);
        refusal(&s).to_string()
    };
    let sized = || json!({ "type": "bulk", "size": "10 kB" });
    let open = || json!({ "type": "bulk", "size": "10 kB", "close": "never" });
    assert!(with(sized(), json!({ "size": "20 kB" })).contains("timeline[0].set.size"));
    assert!(with(open(), json!({ "size": "5 kB" })).contains("at least 10000 B"));
    assert!(with(json!({ "type": "bulk" }), json!({ "size": "5 kB" })).contains("never"));
    assert!(with(sized(), json!({ "close": "never" })).contains("timeline[0].set.close"));
    assert!(with(sized(), json!({ "write": "1 kB" })).contains("sending"));
    let e = refusal(&scenario(json!({ "type": "bulk", "answer": "1 kB" }))).to_string();
    assert!(e.contains("flow.f.workload.answer"), "{e}");
    let mut s = scenario(json!({ "type": "bulk", "size": "10 kB", "read_rate": "1 Mbit/s" }));
    s["flow"]["f"].as_object_mut().expect("a table").remove("tcp");
    s["flow"]["f"]["tfrc"] = json!({});
    assert!(refusal(&s).to_string().contains("workload.type"));
}

#[test]
fn a_reader_may_change_before_its_connection_begins() {
    let mut s = scenario(json!({ "type": "bulk", "size": "100 kB", "read_rate": "80 kbit/s" }));
    s["flow"]["f"]["start"] = "2 s".into();
    s["timeline"] = json!([{ "at": "1 s", "flow": "f", "set": { "tcp": { "delayed_ack": "100 ms" } } }]);
    let took = seconds(&run(&s), "elapsed_ns");
    assert!((9.3..10.2).contains(&took), "{took} s");
}

#[test]
fn a_link_may_ask_for_small_segments() {
    let mut s = scenario(json!({ "type": "bulk", "size": "100 kB" }));
    s["flow"]["f"]["tcp"] = json!({ "preset": "linux-6", "mss_option": "536 B" });
    let t = run(&s);
    // 524 bytes beside the timestamps: 191 segments, SYN and FIN.
    assert!((191.0..198.0).contains(&of_flow(&t, "f", "sent_packets")), "{}", of_flow(&t, "f", "sent_packets"));
}
