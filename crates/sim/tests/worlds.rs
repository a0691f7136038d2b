//! Small worlds whose outcome can be worked out with pencil and paper.

use crate::common::*;
use crosswind_base::{BitRate, Dur, Time};
use crosswind_sim::flows::Parameters;
use crosswind_sim::scenario::Repetition;
use crosswind_sim::world::{Manner, Outcome, World};
use crosswind_transport::tcp::share::Cache;
use serde_json::{Value, json};

const HEADER: f64 = 40.0;

/// One flow from `server` to `client` over one link.
fn single(link: Value, workload: Value, tcp: Value, duration: &str) -> Value {
    let mut link = link;
    link["from"] = "server".into();
    link["to"] = "client".into();
    json!({
        "name": "single", "duration": duration,
        "link": { "path": link },
        "flow": { "bulk": { "from": "server", "to": "client", "workload": workload, "tcp": tcp } }
    })
}

fn endless() -> Value {
    json!({ "type": "bulk" })
}

fn of_size(bytes: u64) -> Value {
    json!({ "type": "bulk", "size": format!("{bytes} B") })
}

// ---- capacity and windows -------------------------------------------------------------------------------------------

#[test]
fn a_clean_link_gives_its_whole_capacity_less_the_headers() {
    // The window (60 segments) exceeds the path (17) and fits the queue, so nothing is lost and the line never idles.
    let link = json!({ "rate": "10 Mbit/s", "delay": "10 ms" });
    let t = run(&single(link, endless(), json!({ "preset": "rfc", "window_limit_segments": 60 }), "120 s"));
    assert_eq!(of_flow(&t, "bulk", "retransmitted_packets"), 0.0);
    assert_within(of_flow(&t, "bulk", "goodput_bps"), 10e6 * 1460.0 / (1460.0 + HEADER), 0.5);
    assert!(of_link(&t, "path", "utilisation_ratio") > 0.995);
}

#[test]
fn a_saw_tooth_over_a_queue_of_one_path_keeps_the_link_busy() {
    // The queue holds one bandwidth-delay product (80 ms): halving the window just empties it, it never runs dry. Two
    // hundred seconds make the start and its overshoot small.
    let link = json!({ "rate": "10 Mbit/s", "delay": "40 ms", "queue": { "limit": "100 kB" } });
    let t = run(&single(link, endless(), json!({ "delayed_ack": "0 s" }), "200 s"));
    assert!(of_flow(&t, "bulk", "fast_recoveries") >= 5.0, "there is a saw-tooth");
    assert!(of_flow(&t, "bulk", "timeouts") == 0.0, "SACK repairs every loss");
    assert!(of_link(&t, "path", "utilisation_ratio") > 0.98);
}

#[test]
fn a_window_limited_flow_sends_one_window_per_round_trip() {
    let link = json!({ "rate": "1 Gbit/s", "delay": "50 ms" });
    for segments in [1u32, 4, 10, 25] {
        let tcp = json!({ "mss": "1000 B", "delayed_ack": "0 s", "window_limit_segments": segments,
                          "initial_window_segments": segments });
        let t = run(&single(link.clone(), endless(), tcp, "100 s"));
        let rtt_s = 0.1 + (1040.0 + 40.0) * 8.0 / 1e9;
        assert_within(of_flow(&t, "bulk", "goodput_bps"), segments as f64 * 8000.0 / rtt_s, 0.3);
    }
}

#[test]
fn a_small_receive_buffer_limits_like_a_window() {
    let link = json!({ "rate": "1 Gbit/s", "delay": "50 ms" });
    let tcp = json!({ "mss": "1000 B", "delayed_ack": "0 s", "receive_buffer": "8000 B" });
    let t = run(&single(link, endless(), tcp, "100 s"));
    assert_within(of_flow(&t, "bulk", "goodput_bps"), 8.0 * 8000.0 / 0.1, 0.5);
}

// ---- slow start and exact times -------------------------------------------------------------------------------------

/// Rounds that slow start from a window of `first` segments needs for `segments`: the window doubles in each.
fn rounds(first: u64, segments: u64) -> u64 {
    (1..).find(|k| first * ((1 << k) - 1) >= segments).expect("the sum grows without end")
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    // The line is so fast (10 Gbit/s) that a transfer takes whole round trips of 100 ms: one for the handshake, then one
    // per doubling. The last segment carries the FIN, so the last ACK ends the flow.
    let link = json!({ "rate": "10 Gbit/s", "delay": "50 ms" });
    for first in [1u64, 2, 4, 10] {
        for segments in [1, first, first + 1, 3 * first, 3 * first + 1, 31 * first, 31 * first + 1] {
            let tcp = json!({ "mss": "1000 B", "delayed_ack": "0 s", "initial_window_segments": first });
            let t = run(&single(link.clone(), of_size(1000 * segments), tcp, "100 s"));
            let round_trips = of_flow(&t, "bulk", "elapsed_ns") / 100e6;
            let expected = (1 + rounds(first, segments)) as f64;
            assert!(
                round_trips >= expected && round_trips < expected + 0.02,
                "{segments} segments, initial window {first}: {round_trips} round trips, expected {expected}"
            );
        }
    }
}

#[test]
fn a_transfer_of_one_segment_takes_exactly_its_handshake_and_its_bits() {
    // SYN and SYN-ACK carry MSS (4), window scale (3 + 1) and SACK-permitted (2 + 2): 52 bytes. The ACK of the handshake
    // leaves just before the segment, which carries the FIN; the receiver's FIN carries the last ACK, 40 bytes.
    for (rate, delay) in [(64_000u64, Dur::from_millis(300)), (10_000_000, Dur::from_millis(7))] {
        let link = json!({ "rate": format!("{rate} bit/s"), "delay": format!("{} ns", delay.0) });
        let t = run(&single(link, of_size(536), json!({ "mss": "536 B" }), "100 s"));
        let bits = |bytes: u64| BitRate(rate).tx_time(bytes).0;
        let expected = bits(52) + bits(52) + bits(40) + bits(576) + bits(40) + 4 * delay.0;
        assert_eq!(of_flow(&t, "bulk", "elapsed_ns") as u64, expected, "at {rate} bit/s");
        assert_eq!(of_flow(&t, "bulk", "size_bytes"), 536.0);
    }
}

#[test]
fn a_write_larger_than_the_buffer_is_taken_in_parts_to_its_end() {
    // A buffer of 200 kB never holds the window (40 segments) up, not even when less than a buffer is left to write.
    let link = json!({ "rate": "10 Mbit/s", "delay": "10 ms", "queue": { "limit": "100 kB" } });
    let took = |buffer: &str| {
        let tcp = json!({ "preset": "rfc", "window_limit_segments": 40, "send_buffer": buffer });
        of_flow(&run(&single(link.clone(), of_size(500_000), tcp, "100 s")), "bulk", "elapsed_ns")
    };
    assert_eq!(took("200 kB"), took("10 MB"));
}

#[test]
fn a_lone_lost_segment_costs_exactly_one_timeout() {
    // Packet 1 with data is lost; nothing else is in flight, so only the timer (1 s from the time it was sent) helps.
    let link = json!({ "rate": "64 kbit/s", "delay": "100 ms", "loss": { "type": "list", "packets": [1] },
                       "reverse": { "loss": "none" } });
    let clean = json!({ "rate": "64 kbit/s", "delay": "100 ms" });
    let tcp = json!({ "mss": "536 B" });
    let elapsed = |link: Value| {
        let t = run(&single(link, of_size(536), tcp.clone(), "100 s"));
        (of_flow(&t, "bulk", "elapsed_ns"), of_flow(&t, "bulk", "timeouts"))
    };
    let (with, without) = (elapsed(link), elapsed(clean));
    assert_eq!((with.1, without.1), (1.0, 0.0));
    // The segment had waited for the handshake's 40-byte ACK (5 ms) the first time; the timer ran meanwhile.
    assert_eq!(with.0 - without.0, 1e9 - 5e6);
}

// ---- queues and books -----------------------------------------------------------------------------------------------

/// Four flows that overflow a small queue, in packets or in bytes.
fn crowded(limit: &str, duration: &str) -> Value {
    json!({
        "name": "crowded", "duration": duration,
        "topology": {
            "template": "dumbbell", "pairs": 4,
            "access": { "rate": "100 Mbit/s", "delay": "2 ms" },
            "bottleneck": { "rate": "4 Mbit/s", "delay": "15 ms", "queue": { "limit": limit } }
        },
        "flow": { "bulk": { "from": "left", "to": "right", "count": 4, "start": { "every": "70 ms" },
                            "workload": { "type": "bulk" } } },
        "record": { "sample": "10 ms" }
    })
}

#[test]
fn a_queue_never_holds_more_than_its_limit() {
    for (limit, bytes) in [("12 packets", 12 * 1500), ("20000 B", 20_000), ("1500 B", 1500)] {
        let t = run(&crowded(limit, "20 s"));
        assert!(of_link(&t, "bottleneck", "drops_queue_full_packets") > 10.0, "{limit}: the queue overflows");
        let most = of_link(&t, "bottleneck", "queue_max_bytes");
        assert!(most <= bytes as f64 && most > bytes as f64 - 1500.0, "{limit}: {most} bytes");
    }
}

#[test]
fn the_queue_delay_never_exceeds_what_the_queue_can_hold() {
    let t = run(&crowded("20000 B", "20 s"));
    // A packet waits for the rest of the one on the line and for at most a full queue before it.
    let most_ns = (20_000.0 + 1500.0) * 8.0 / 4e6 * 1e9;
    assert!(of_link(&t, "bottleneck", "queue_delay_max_ns") <= most_ns);
    assert!(of_link(&t, "bottleneck", "queue_delay_max_ns") > 0.9 * (20_000.0 - 1500.0) * 8.0 / 4e6 * 1e9);
}

#[test]
fn utilisation_is_what_was_sent_over_what_could_have_been() {
    let t = run(&crowded("30 packets", "20 s"));
    let sent_bits = of_link(&t, "bottleneck", "sent_bytes") * 8.0;
    let one_packet = 1500.0 * 8.0 / (4e6 * 20.0);
    let off = of_link(&t, "bottleneck", "utilisation_ratio") - sent_bits / (4e6 * 20.0);
    assert!(off.abs() <= one_packet, "off by {off}");
    assert!(of_link(&t, "bottleneck", "utilisation_ratio") <= 1.0);
}

#[test]
fn flows_together_get_no_more_than_the_capacity() {
    let t = run(&crowded("30 packets", "20 s"));
    let sum: f64 = (1..=4).map(|k| of_flow(&t, &format!("bulk-{k}"), "size_bytes")).sum();
    assert!(sum * 8.0 / 20.0 <= 4e6 * 1460.0 / 1500.0);
    assert!(sum * 8.0 / 20.0 >= 0.9 * 4e6 * 1460.0 / 1500.0);
}

/// Builds the world of a scenario and hands it over.
fn with_world(scenario: &Value, look: impl FnOnce(&mut World<'_>)) {
    let plan = plan(scenario);
    let parameters = Parameters::of(&plan).unwrap_or_else(|e| panic!("{e}"));
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let mut world = World::build(&plan, &parameters, rep, Manner::default(), caches).unwrap_or_else(|e| panic!("{e}"));
    look(&mut world);
}

/// sent = arrived + dropped or lost + in the network, at any moment.
fn books_balance(w: &World<'_>) {
    let sent: u64 = w.ends.iter().map(|e| e.port().sent_packets).sum();
    let arrived: u64 = w.ends.iter().map(|e| e.arrivals().packets).sum();
    let dropped: u64 = w.losses.stages.iter().flat_map(|s| s.by_reason).sum();
    assert_eq!(sent, arrived + dropped + w.engine.pool.in_use() as u64, "at {:?}", w.engine.now);
    let of_flows: u64 = w.losses.flows.iter().map(|f| f.drops_packets + f.lost_packets).sum();
    assert_eq!(of_flows, dropped, "flows and stages count the same losses");
}

#[test]
fn every_packet_sent_has_arrived_or_been_lost_or_is_on_its_way() {
    let mut s = crowded("12 packets", "20 s");
    s["topology"]["bottleneck"]["loss"] = json!({ "type": "uniform", "probability": 0.01 });
    with_world(&s, |w| {
        for k in 1..200 {
            w.run_until(Time::from_secs_f64(k as f64 * 0.0973), None);
            books_balance(w);
        }
        assert!(w.losses.flows[0].drops_packets > 0 && w.losses.flows[0].lost_packets > 0);
    });
}

#[test]
fn a_finished_world_is_empty() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "20 ms", "queue": { "limit": "5 packets" } });
    with_world(&single(link, of_size(300_000), json!({}), "100 s"), |w| {
        assert_eq!(w.run_until(Time::from_secs_f64(100.0), None), Some(Outcome::AllFlowsClosed));
        assert!(w.losses.flows[0].drops_packets > 0, "the small queue was full at times");
        assert_eq!(
            w.ends[1].tcp().map(|e| e.conn.rx.delivered()),
            Some(300_000),
            "everything arrived in spite of that"
        );
        assert_eq!(w.drain(), 0);
        books_balance(w);
    });
}

// ---- the square-root law --------------------------------------------------------------------------------------------

/// Segments per second at loss probability `p`, averaged over four runs.
fn rate_under_loss(p: f64, rtt_s: f64) -> f64 {
    let link = json!({ "rate": "10 Gbit/s", "delay": format!("{} ms", rtt_s * 500.0),
                       "loss": { "type": "uniform", "probability": p, "counts": "data" },
                       "reverse": { "loss": "none" } });
    let s = single(link, endless(), json!({ "mss": "1000 B", "delayed_ack": "0 s" }), "1500 s");
    let request = crosswind_sim::runs::Request { reps: (0..4).collect(), reps_total: 4, workers: 2, ..request() };
    let t = run_with(&[s], &request);
    let flows = table(&t, "flow");
    (0..4).map(|r| number(flows, "goodput_bps", r) / 8000.0).sum::<f64>() / 4.0
}

#[test]
fn goodput_follows_one_over_the_square_root_of_the_loss_probability() {
    // Mathis et al. 1997: rate = C / (RTT sqrt(p)) segments; with independent losses and an ACK per segment C = 1.31.
    let rare = rate_under_loss(0.001, 0.2);
    assert_within(rare, 1.31 / (0.2 * 0.001f64.sqrt()), 15.0);
    // The law itself, free of the constant: a quarter of the losses, twice the rate; twice the delay, half of it.
    assert_within(rate_under_loss(0.001 / 4.0, 0.2) / rare, 2.0, 10.0);
    assert_within(rate_under_loss(0.001, 0.4) / rare, 0.5, 10.0);
}

/// A stream of 1000 bytes on the wire every 2 ms, 4 Mbit/s, for ten seconds, over one link.
fn one_link(link: Value) -> Value {
    let mut s = json!({
        "name": "one", "duration": "10 s", "link": { "a": link },
        "flow": { "x": { "from": "s", "to": "r", "workload": { "type": "cbr", "payload": "972 B", "interval": "2 ms" } } },
    });
    s["link"]["a"]["from"] = "s".into();
    s["link"]["a"]["to"] = "r".into();
    s
}

#[test]
fn totals_of_a_queue_are_reported_from_inside_any_other() {
    let rio = json!({ "type": "rio" });
    let class = json!({ "one": { "prio": 0, "queue": rio }, "two": { "prio": 1, "queue": rio } });
    let filter = json!([{ "class": "two", "flow": "x" }]);
    let leaf = json!({ "rate": "500 kbit/s", "queue": rio });
    let queues = [
        json!({ "queue": rio }),
        json!({ "queue": rio, "spikes": { "first": "1 s", "length": "1 s", "holds": "queue" } }),
        json!({ "queue": { "type": "lpd", "looks": "departure", "queue": rio } }),
        json!({ "queue": { "type": "tbf", "rate": "500 kbit/s", "queue": rio } }),
        json!({ "queue": { "type": "prio", "default": "one", "class": class, "filter": filter } }),
        json!({ "queue": { "type": "htb", "default": "one", "class": { "one": leaf } } }),
    ];
    for mut link in queues {
        let what = link.to_string();
        link["rate"] = "1 Mbit/s".into();
        let t = run(&one_link(link));
        let arrived: f64 =
            ["green", "yellow", "red"].iter().map(|c| of_link(&t, "a", &format!("{c}_arrived_packets"))).sum();
        // All of them, but for those that found an empty queue in front of a free line.
        assert!((4990.0..=5001.0).contains(&arrived), "{what}: {arrived}");
    }
}

#[test]
fn a_repairing_line_that_is_never_idle_is_fully_used() {
    let t = run(&one_link(json!({ "type": "arq", "rate": "1 Mbit/s", "delay": "1 ms", "error": 0.5 })));
    assert_within(of_link(&t, "a", "utilisation_ratio"), 1.0, 0.5);
}
