//! A link in the middle of the way takes smaller packets than the hosts send.

use crate::common::*;
use serde_json::{Value, json};

fn scenario(preset: &str) -> Value {
    let link =
        |from: &str, to: &str, rate: &str, delay: &str| json!({ "from": from, "to": to, "rate": rate, "delay": delay });
    let mut s = json!({
        "name": "mtu", "duration": "60 s",
        "link": {
            "near": link("server", "r1", "100 Mbit/s", "5 ms"),
            "middle": link("r1", "r2", "10 Mbit/s", "20 ms"),
            "far": link("r2", "client", "100 Mbit/s", "5 ms"),
        },
        "flow": { "f": { "from": "server", "to": "client", "workload": { "type": "bulk", "size": "300 kB" },
            "tcp": { "preset": preset } } },
    });
    s["link"]["middle"]["path_mtu"] = json!({ "size": "576 B" });
    s
}

#[test]
fn tcp_finds_the_size_that_fits() {
    for preset in ["rfc", "baseline-linux-2.4", "linux-6", "linux-6-cubic", "sack-2006", "enhanced-linux-2.4"] {
        let mut s = scenario(preset);
        s["flow"]["f"]["tcp"]["mss"] = "1400 B".into();
        let t = run(&s);
        assert_eq!(of_flow(&t, "f", "size_bytes"), 300_000.0, "{preset}");
        assert_eq!(of_flow(&t, "f", "timeouts"), 0.0, "{preset}");
        let dropped = of_link(&t, "middle", "drops_too_big_packets");
        // The first window, and no more.
        assert!((1.0..=10.0).contains(&dropped), "{preset}: {dropped}");
        assert!(of_flow(&t, "f", "elapsed_ns") < 3e9, "{preset}");
    }
}

#[test]
fn what_fits_is_not_touched() {
    let mut s = scenario("rfc");
    s["flow"]["f"]["tcp"]["mss"] = "536 B".into();
    let fits = run(&s);
    assert_eq!(of_link(&fits, "middle", "drops_too_big_packets"), 0.0);
    s["link"]["middle"].as_object_mut().expect("a table").remove("path_mtu");
    assert_eq!(of_flow(&fits, "f", "elapsed_ns"), of_flow(&run(&s), "f", "elapsed_ns"));
}

#[test]
fn a_link_may_become_narrower() {
    let mut s = scenario("rfc");
    s["link"]["middle"]["path_mtu"] = json!({ "size": "1500 B" });
    s["timeline"] = json!([{ "at": "150 ms", "link": "middle", "direction": "forward", "set": { "path_mtu": { "size": "1000 B" } } }]);
    let t = run(&s);
    assert_eq!(of_flow(&t, "f", "size_bytes"), 300_000.0);
    assert!(of_link(&t, "middle", "drops_too_big_packets") >= 1.0);
    s["link"]["middle"]["path_mtu"] = json!({ "size": "10 B" });
    assert!(refusal(&s).to_string().contains("link.middle.path_mtu.size"));
}

#[test]
fn datagrams_pass() {
    let mut s = scenario("rfc");
    s["flow"]["u"] = json!({ "from": "server", "to": "client",
        "workload": { "type": "cbr", "payload": "1200 B", "interval": "10 ms", "packets": 20 } });
    assert_eq!(of_flow(&run(&s), "u", "received_packets"), 20.0);
}
