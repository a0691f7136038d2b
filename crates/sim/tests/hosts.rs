//! Hosts whose own interface is the bottleneck, and routers with a stage in front of their buffer.

use crate::common::*;
use serde_json::{Value, json};

/// Packets that found the queue of a link full; its column is there where that occurred.
fn overflows(t: &crosswind_record::Tables, link: &str) -> f64 {
    let column = "drops_queue_full_packets";
    if table(t, "link").get(column).is_some() { of_link(t, link, column) } else { 0.0 }
}

/// [Igarashi] Table 4.2, path EARTH2: a host behind 100 Mbit/s, then ATM cells of 120 Mbit/s, which carry 106 of IP.
fn earth2(mbps: f64, host_queue: Value) -> Value {
    let interval_ns = (1500.0 * 8.0 * 1e3 / mbps).round();
    let mut s = json!({
        "name": "earth2", "duration": "10 s",
        "link": {
            "interface": {"from": "host", "to": "router", "rate": "100 Mbit/s", "delay": "0 ms", "queue": {"limit": "30 packets"}},
            "satellite": {"from": "router", "to": "sink", "type": "atm", "rate": "120 Mbit/s", "delay": "230 ms",
                "queue": {"limit": "100 packets"}},
        },
        "flow": {"stream": {"from": "host", "to": "sink", "workload": {
            "type": "cbr", "payload": "1472 B", "interval": format!("{interval_ns} ns"), "packets": 50_000}}},
    });
    if !host_queue.is_null() {
        s["flow"]["stream"]["host_queue"] = host_queue;
    }
    s
}

fn host() -> Value {
    json!({"limit_packets": 30, "rate": "100 Mbit/s"})
}

#[test]
fn a_stream_as_fast_as_its_host_or_faster_loses_nothing_and_leaves_at_the_rate_of_the_host() {
    for mbps in [90.0, 100.0, 105.0, 150.0, 900.0] {
        let t = run(&earth2(mbps, host()));
        let f = |c: &str| of_flow(&t, "stream", c);
        assert_eq!(f("drops_packets"), 0.0, "{mbps} Mbit/s");
        assert_eq!(overflows(&t, "satellite"), 0.0, "{mbps} Mbit/s");
        assert_within(f("elapsed_ns"), 50_000.0 * 12_000.0 / f64::min(mbps, 100.0) * 1e3, 0.1);
        // What waits, waits in the host: 30 packets of 0.12 ms, and 0.12 ms on each line.
        assert!(f("delay_max_ns") <= 230e6 + 32.0 * 0.12e6, "{mbps} Mbit/s: {}", f("delay_max_ns"));
    }
    let t = run(&earth2(105.0, Value::Null));
    assert!(of_flow(&t, "stream", "drops_packets") > 1000.0, "a sender that does not wait loses at its own interface");
}

#[test]
fn a_burst_leaves_no_faster_than_the_bus_of_its_host() {
    let burst = |host_queue: Value| {
        let mut s = earth2(100.0, host_queue);
        s["link"]["interface"]["rate"] = "975 Mbit/s".into();
        s["link"]["interface"]["queue"]["limit"] = "1000 packets".into();
        s["link"]["satellite"] = json!({"from": "router", "to": "sink", "rate": "310 Mbit/s", "delay": "50 ms",
            "queue": {"limit": "100 packets"}});
        s["flow"]["stream"]["workload"] =
            json!({"type": "cbr", "payload": "1472 B", "interval": "1 ns", "packets": 160});
        run(&s)
    };
    // While 160 packets come in at r, 160 * 310 / r leave; what is beyond the buffer, and the one on the line, is lost.
    for (host_queue, rate) in [(json!({"limit_packets": 1, "rate": "620 Mbit/s"}), 620.0), (Value::Null, 975.0)] {
        let lost = of_flow(&burst(host_queue), "stream", "drops_packets");
        let expected = f64::max(0.0, 160.0 * (1.0 - 310.0 / rate) - 101.0);
        assert!((lost - expected).abs() <= 2.0, "{rate} Mbit/s: {lost}, not {expected}");
    }
}

#[test]
fn a_transport_that_is_faster_than_its_host_sleeps_and_loses_nothing_there() {
    let udt = |host_queue: Value| {
        let mut s = earth2(100.0, host_queue);
        s["link"]["satellite"]["delay"] = "5 ms".into();
        s["flow"]["stream"]["workload"] = json!({"type": "bulk"});
        s["flow"]["stream"]["udt"] = json!({"preset": "udt-2"});
        run(&s)
    };
    let t = udt(host());
    assert_eq!(overflows(&t, "interface"), 0.0);
    assert!(of_flow(&t, "stream", "received_packets") > 70_000.0, "{}", of_flow(&t, "stream", "received_packets"));
    assert!(overflows(&udt(Value::Null), "interface") > 0.0);
}

#[test]
fn hosts_that_make_no_sense_are_refused() {
    for (queue, path) in [
        (json!({"limit_packets": 0, "rate": "1 Mbit/s"}), "flow.stream.host_queue.limit_packets"),
        (json!({"limit_packets": 1, "rate": "0 Mbit/s"}), "flow.stream.host_queue.rate"),
        (json!({"limit_packets": 1}), "flow.stream.host_queue.rate"),
        (json!({"limit": 1, "rate": "1 Mbit/s"}), "flow.stream.host_queue.limit"),
    ] {
        assert_eq!(refusal(&earth2(100.0, queue.clone())).path, path, "{queue}");
    }
    let mut s = earth2(100.0, host());
    s["flow"]["stream"]["workload"] = json!({"type": "bulk"});
    let e = refusal(&s);
    assert!(e.path == "flow.stream.host_queue" && e.to_string().contains("tcp.host_queue"), "{e}");
}

#[test]
fn a_stage_in_front_of_a_routers_buffer_takes_bursts_and_loses_what_the_buffer_would_have_held() {
    // The stage of an input port passes packets on at 1.2 times the rate of the output, so that the buffer behind it sees
    // no burst: what does not fit is lost in the stage, however large the buffer is.
    let burst = |stage: u32, buffer: u32| {
        let mut s = earth2(100.0, Value::Null);
        s["link"] = json!({
            "access": {"from": "host", "to": "port", "rate": "1 Gbit/s", "delay": "0 ms", "queue": {"limit": "1000 packets"}},
            "port": {"from": "port", "to": "router", "rate": "372 Mbit/s", "delay": "0 ms",
                "queue": {"limit": format!("{stage} packets")}},
            "output": {"from": "router", "to": "sink", "rate": "310 Mbit/s", "delay": "50 ms",
                "queue": {"limit": format!("{buffer} packets")}},
        });
        s["flow"]["stream"]["workload"] =
            json!({"type": "cbr", "payload": "1472 B", "interval": "1 ns", "packets": 300});
        let t = run(&s);
        [overflows(&t, "port"), overflows(&t, "output")]
    };
    let [in_stage, in_buffer] = burst(100, 2000);
    // 300 packets at 1000 Mbit/s, 372 of which pass meanwhile: 188 less 101 are lost, 212 reach the buffer.
    assert!((in_stage - (300.0 * (1.0 - 0.372) - 101.0)).abs() <= 2.0 && in_buffer == 0.0, "{in_stage} {in_buffer}");
    let [in_stage, in_buffer] = burst(1000, 100);
    assert!(in_stage == 0.0 && in_buffer == 0.0, "{in_stage} {in_buffer}: 300 less 250 packets wait in the buffer");
}
