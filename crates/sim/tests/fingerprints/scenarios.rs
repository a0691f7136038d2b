//! The scenarios whose results are kept: short, and between them every part of the engine.

use serde_json::{Value, json};

/// A scenario and how it is run.
pub struct Kept {
    pub name: &'static str,
    pub scenario: Value,
    pub reps: u32,
    pub shuffled: bool,
}

fn once(name: &'static str, scenario: Value) -> Kept {
    Kept { name, scenario: named(name, scenario), reps: 1, shuffled: false }
}

fn named(name: &str, mut scenario: Value) -> Value {
    scenario["name"] = json!(name);
    scenario
}

pub fn all() -> Vec<Kept> {
    vec![
        once("ten-flows", dumbbell(Size { flows: 10, pairs: 10, mbit: 100, seconds: 4 }, json!({ "preset": "rfc" }))),
        once("three-hundred-flows", three_hundred_flows()),
        once("short-flows", short_flows()),
        once("one-large-window", one_large_window()),
        once("sack-loss-burst", loss_burst(json!({ "preset": "rfc", "mss": "1000 B", "initial_ssthresh": "500 kB" }))),
        once(
            "newreno-loss-burst",
            loss_burst(json!({ "preset": "rfc", "mss": "1000 B", "initial_ssthresh": "200 kB", "sack": "off",
                               "recovery": "newreno" })),
        ),
        once("delayed-acks-with-timestamps", delayed_acks()),
        once("red-ns2-and-random-losses", red_ns2()),
        once("red-linux", red_linux()),
        once("red-published-with-ecn", red_published()),
        Kept { reps: 4, ..once("gprs-baseline", gprs("baseline-linux-2.4")) },
        Kept { reps: 4, ..once("gprs-enhanced-with-memory", gprs_with_memory()) },
        once("chain-with-cross-traffic", chain()),
        once("access-tree-both-ways", access_tree()),
        once("ns2-agents", ns2_agents()),
        once("simultaneous-starts", simultaneous_starts()),
        Kept { shuffled: true, ..once("shuffled-ties", simultaneous_starts()) },
        Kept { reps: 3, ..once("radio-link", radio("arq-high", json!("none"))) },
        Kept { reps: 3, ..once("radio-link-with-everything", radio("arq-low", json!("100 B"))) },
    ]
}

struct Size {
    flows: u32,
    pairs: u32,
    mbit: u32,
    seconds: u32,
}

/// Endless flows, a drop-tail bottleneck of one bandwidth-delay product, 60 ms round trip.
fn dumbbell(s: Size, tcp: Value) -> Value {
    let limit = s.mbit * 60 / 8 * 1000;
    json!({
        "duration": format!("{} s", s.seconds),
        "topology": {
            "template": "dumbbell", "pairs": s.pairs,
            "access": { "rate": format!("{} Mbit/s", 10 * s.mbit), "delay": "3 ms" },
            "bottleneck": { "rate": format!("{} Mbit/s", s.mbit), "delay": "24 ms",
                            "queue": { "limit": format!("{limit} B") } }
        },
        "flow": { "bulk": { "from": "left", "to": "right", "count": s.flows, "start": { "every": "3 ms" },
                            "workload": { "type": "bulk" }, "tcp": tcp } },
        "record": { "sample": "100 ms" }
    })
}

fn three_hundred_flows() -> Value {
    let tcp = json!({ "preset": "rfc", "mss": "1000 B", "delayed_ack": "0 s" });
    let mut s = dumbbell(Size { flows: 300, pairs: 50, mbit: 40, seconds: 5 }, tcp);
    s["record"] = json!({ "events": ["bulk-7"] });
    s
}

fn short_flows() -> Value {
    let mut s = dumbbell(Size { flows: 600, pairs: 20, mbit: 20, seconds: 60 }, json!({ "preset": "rfc" }));
    s["flow"]["bulk"]["start"] = json!({ "uniform": ["0 s", "3 s"] });
    s["flow"]["bulk"]["workload"] = json!({ "type": "bulk", "size": "12 kB" });
    s["record"] = json!({});
    s
}

fn one_large_window() -> Value {
    let tcp = json!({ "preset": "rfc", "mss": "1000 B", "delayed_ack": "0 s" });
    let mut s = dumbbell(Size { flows: 1, pairs: 1, mbit: 300, seconds: 4 }, tcp);
    s["topology"]["bottleneck"]["delay"] = json!("94 ms");
    s
}

/// Two flows, one of which loses four hundred packets out of one window; and some that were retransmitted.
fn loss_burst(tcp: Value) -> Value {
    let burst = (600u32..1000).step_by(2).chain([1100, 1101, 1102, 1500]).collect::<Vec<_>>();
    let link = |loss: Value| {
        json!({ "from": "server", "to": "client", "rate": "20 Mbit/s", "delay": "100 ms", "loss": loss,
                                     "queue": { "limit": "3000 packets" }, "reverse": { "loss": "none" } })
    };
    json!({
        "duration": "60 s",
        "link": { "path": link(json!({ "type": "list", "packets": burst })) },
        "flow": { "bulk": { "from": "server", "to": "client", "workload": { "type": "bulk", "size": "4 MB" }, "tcp": tcp } },
        "record": { "sample": "200 ms", "events": "all" }
    })
}

fn delayed_acks() -> Value {
    let tcp = json!({ "preset": "rfc", "timestamps": "on", "delayed_ack": "150 ms", "delayed_ack_timer": "heartbeat",
                      "quick_acks": 4, "ack_every_segments": 3 });
    json!({
        "duration": "30 s",
        "link": { "path": { "from": "server", "to": "client", "rate": "2 Mbit/s", "delay": "40 ms",
                            "queue": { "limit": "25 packets" } } },
        "flow": { "write": { "from": "server", "to": "client", "count": 3, "start": { "every": "700 ms" },
                             "workload": { "type": "bulk", "size": "300 kB", "write": "5000 B" }, "tcp": tcp } },
        "record": { "sample": "50 ms", "events": ["write-2"] }
    })
}

fn red_ns2() -> Value {
    let mut s = dumbbell(Size { flows: 6, pairs: 6, mbit: 5, seconds: 20 }, json!({ "preset": "rfc", "ecn": "on" }));
    s["topology"]["bottleneck"]["queue"] = json!({ "type": "red-ns2", "limit": "100 packets" });
    s["topology"]["bottleneck"]["loss"] = json!({ "type": "uniform", "probability": 0.002 });
    s["flow"]["bulk"]["start"] = json!({ "uniform": ["0 s", "2 s"] });
    s["record"] = json!({ "sample": "100 ms", "events": "all" });
    s
}

fn red_linux() -> Value {
    let mut s = dumbbell(Size { flows: 8, pairs: 4, mbit: 10, seconds: 10 }, json!({ "preset": "enhanced-linux-2.4" }));
    s["topology"]["bottleneck"]["queue"] =
        json!({ "type": "red-linux", "limit": "120000 B", "min_th": "15 kB", "max_th": "60 kB", "max_p": 0.05 });
    s
}

fn red_published() -> Value {
    let mut s = dumbbell(Size { flows: 4, pairs: 2, mbit: 10, seconds: 10 }, json!({ "preset": "rfc", "ecn": "on" }));
    s["topology"]["bottleneck"]["queue"] = json!({ "type": "red-floyd-jacobson", "limit": "200 packets", "ecn": "mark",
        "min_th": "10 packets", "max_th": "40 packets", "max_p": 0.1, "w_q": 0.002 });
    s
}

/// Two long downloads and a short one behind a radio link.
fn gprs(preset: &str) -> Value {
    let tcp = json!({ "preset": preset });
    json!({
        "duration": "400 s",
        "link": {
            "lan": { "from": "server", "to": "router", "rate": "100 Mbit/s", "delay": "0 ms" },
            "last-hop": { "from": "router", "to": "mobile", "type": "seawind", "rate": "64 kbit/s", "delay": "300 ms",
                          "send_buffer": "12000 B", "queue": { "limit": "11520 B" },
                          "reverse": { "queue": { "limit": "1000 packets" } } }
        },
        "flow": {
            "bulk": { "from": "server", "to": "mobile", "count": 2,
                      "workload": { "type": "bulk", "size": "343040 B", "write": "4288 B" }, "tcp": tcp },
            "third": { "from": "server", "to": "mobile", "start": { "stratified": ["0 s", "36 s"] },
                       "workload": { "type": "bulk", "size": "21440 B", "write": "4288 B" }, "tcp": tcp }
        },
        "record": { "events": ["third"] }
    })
}

fn gprs_with_memory() -> Value {
    let mut s = gprs("enhanced-linux-2.4");
    s["sharing"] = json!({ "persist": "across-repetitions", "gap": "5 s" });
    // A deep queue, windows that fill it, and a crowd that comes at once: timeouts without losses.
    for flow in ["bulk", "third"] {
        s["flow"][flow]["tcp"]["receive_window"] = json!("buffer");
        s["flow"][flow]["tcp"]["receive_buffer"] = json!("65535 B");
    }
    s["link"]["last-hop"]["queue"] = json!({ "limit": "300 packets" });
    s["flow"]["third"]["count"] = json!(8);
    s["flow"]["third"]["start"] = json!("12 s");
    s
}

/// Two states, ARQ and stalls; with frames also everything else that a radio link can do.
fn radio(preset: &str, fragment: Value) -> Value {
    let mut s = gprs("baseline-linux-2.4");
    let link = &mut s["link"]["last-hop"];
    link["preset"] = json!(preset);
    if fragment != "none" {
        link["overhead"] = json!("6 B");
        link["allocation"] = json!({ "delay": "200 ms", "idle_timeout": "2 s" });
        link["random_delay"] = json!({ "probability": 0.05, "length": { "uniform": ["100 ms", "900 ms"] } });
        link["rate_changes"] = json!({ "every": { "exponential": "20 s" }, "rates": ["32 kbit/s", "128 kbit/s"] });
        link["outages"] = json!({ "every": { "exponential": "40 s" }, "length": "2 s" });
        link["background"] = json!({ "channels": 4, "own": 2, "arrivals": "9 s", "holding": "21 s" });
    }
    link["fragment"] = fragment;
    s
}

fn chain() -> Value {
    let flow = |from: &str, to: &str, count: u32| {
        json!({ "from": from, "to": to, "count": count,
        "start": { "every": "50 ms" }, "workload": { "type": "bulk" }, "tcp": { "preset": "rfc" } })
    };
    json!({
        "duration": "8 s",
        "topology": { "template": "chain", "hops": 4, "pairs": 3, "access": { "rate": "100 Mbit/s", "delay": "1 ms" },
                      "hop": { "rate": "10 Mbit/s", "delay": "5 ms", "queue": { "limit": "40 packets" } } },
        "flow": { "through": flow("source", "sink", 3), "across": flow("cross-in", "cross-out", 8) },
        "record": { "sample": "250 ms" }
    })
}

fn access_tree() -> Value {
    let flow = |from: &str, to: &str| {
        json!({ "from": from, "to": to, "count": 6, "start": { "uniform": ["0 s", "1 s"] },
        "workload": { "type": "bulk", "size": "200 kB" }, "tcp": { "preset": "baseline-linux-2.4" } })
    };
    json!({
        "duration": "120 s",
        "topology": { "template": "access-tree", "clients": 6, "trunk": { "rate": "10 Mbit/s", "delay": "10 ms" },
                      "last_hop": { "type": "seawind", "rate": "384 kbit/s", "delay": "80 ms",
                                    "queue": { "limit": "20 packets" } } },
        "flow": { "down": flow("server", "client"), "up": flow("client", "server") }
    })
}

fn ns2_agents() -> Value {
    let flow = |preset: &str| {
        json!({ "from": "server", "to": "client", "count": 2, "start": { "every": "400 ms" },
        "workload": { "type": "bulk" }, "tcp": { "preset": preset, "window_limit_segments": 100 } })
    };
    json!({
        "duration": "20 s",
        "link": { "path": { "from": "server", "to": "client", "rate": "3 Mbit/s", "delay": "30 ms",
                            "queue": { "limit": "15 packets" } } },
        "flow": { "reno": flow("ns2-reno"), "newreno": flow("ns2-newreno"), "sack": flow("ns2-sack1") }
    })
}

/// Equal flows that start together: full of simultaneous events.
fn simultaneous_starts() -> Value {
    let mut s = dumbbell(Size { flows: 5, pairs: 5, mbit: 5, seconds: 10 }, json!({ "preset": "rfc" }));
    s["flow"]["bulk"]["start"] = json!("0 s");
    s
}
