//! Lifetimes of packets in whole worlds: what arrives is in time, and the books balance.

use crate::common::*;
use crosswind_sim::runs::Request;
use serde_json::{Value, json};

/// From the server over a fast line and a slow last hop with a spike from 10 s to 20 s.
fn scenario(queue: Value, workload: Value, lifetime: Value) -> Value {
    let mut s = json!({
        "name": "life", "duration": "40 s",
        "link": {
            "fast": { "from": "server", "to": "router", "rate": "10 Mbit/s", "delay": "50 ms" },
            "slow": { "from": "router", "to": "mobile", "rate": "30 kbit/s", "delay": "300 ms", "queue": queue,
                "spikes": { "first": "10 s", "length": "10 s", "holds": "queue" }, "reverse": { "queue": {} } },
        },
        "flow": { "data": { "from": "server", "to": "mobile", "workload": workload } },
        "record": { "events": "all" }
    });
    if !lifetime.is_null() {
        s["flow"]["data"]["lifetime"] = lifetime;
    }
    s
}

/// 17.5 kbit/s with the option, 58 % of the link.
fn stream() -> Value {
    json!({ "type": "cbr", "payload": "464 B", "interval": "228 ms" })
}

fn lpd() -> Value {
    json!({ "type": "lpd", "queue": { "limit": "200 packets" } })
}

fn droptail() -> Value {
    json!({ "limit": "200 packets" })
}

#[test]
fn without_discard_a_spike_is_followed_by_stale_packets_and_with_it_by_fresh_ones() {
    let stale = run(&scenario(droptail(), stream(), json!("5 s")));
    let fresh = run(&scenario(lpd(), stream(), json!("5 s")));
    // The backlog of 10 s at load 7/12 is worked off in 14 s; its packets are older than 5 s for 7/12 (10 s - 5 s) + 5 s
    // 5/12 and so on: the first is fresh when it waited less than 5 s, that is after 12 s.
    let of = |t: &crosswind_record::Tables, column: &str| of_flow(t, "data", column);
    let sent = of(&stale, "sent_packets");
    assert!(of(&stale, "stale_packets") > 40.0, "{}", of(&stale, "stale_packets"));
    assert_eq!(of(&fresh, "stale_packets"), 0.0);
    // Lost are those of the spike but for the last 5 s less what the link needs, 0.43 s and the 50 ms of the way to it.
    let lost = of_link(&fresh, "slow", "drops_expired_packets");
    assert_within(lost, (10.0 - (5.0 - 0.43 - 0.05)) / 0.228, 5.0);
    let last = of(&fresh, "valid_packets") + lost;
    assert!((sent - 4.0..=sent).contains(&last), "{last} of {sent}");
}

#[test]
fn bare_headers_cost_what_headers_cost_and_count_as_neither_fresh_nor_stale() {
    let headers = json!({ "data": "5 s", "expired": "headers" });
    let t = run(&scenario(lpd(), stream(), headers));
    let cut = of_flow(&t, "data", "cut_packets");
    assert!(cut > 15.0, "{cut}");
    assert_eq!(of_flow(&t, "data", "stale_packets"), 0.0);
    assert_eq!(of_link(&t, "slow", "drops_expired_packets"), 0.0);
    // 500 bytes each, 36 of them without their payload.
    let whole = of_flow(&t, "data", "valid_packets");
    assert_eq!(of_flow(&t, "data", "received_bytes"), 500.0 * whole + 36.0 * cut);
}

#[test]
fn an_absolute_deadline_counts_the_way_to_the_router_and_a_relative_one_does_not() {
    let lost = |form: &str, delay: &str| {
        let mut s = scenario(lpd(), stream(), json!({ "data": "5 s", "form": form }));
        s["link"]["fast"]["delay"] = delay.into();
        of_link(&run(&s), "slow", "drops_expired_packets")
    };
    let shifted = lost("relative", "2 s") - lost("relative", "10 ms");
    assert!(shifted.abs() <= 1.0, "only which packet is the first of the spike depends on it: {shifted}");
    // Two seconds less in the queue: about nine packets more.
    let more = lost("absolute", "2 s") - lost("absolute", "10 ms");
    assert!((7.0..=10.0).contains(&more), "{more}");
}

#[test]
fn a_flight_that_a_timer_will_send_again_is_gone_when_it_does() {
    let bulk = json!({ "type": "bulk" });
    let tcp = |lifetime: Value, queue: Value| {
        let mut s = scenario(queue, bulk.clone(), lifetime);
        s["flow"]["data"]["tcp"] = json!({ "preset": "rfc", "window_limit_segments": 20, "mss": "960 B" });
        s["duration"] = "60 s".into();
        run(&s)
    };
    let (plain, mortal) = (tcp(Value::Null, droptail()), tcp(json!("rto"), lpd()));
    assert!(of_flow(&plain, "data", "spurious_timeouts") >= 1.0);
    assert!(of_flow(&plain, "data", "unnecessary_retransmissions_packets") >= 10.0, "the whole flight is sent twice");
    // What left just before the spike arrives, and its acknowledgements are held up: three segments are on a link of 300 ms.
    let again = of_flow(&mortal, "data", "unnecessary_retransmissions_packets");
    assert!(again <= 3.0, "{again}: none of those that waited in the router arrives twice");
    assert!(of_link(&mortal, "slow", "drops_expired_packets") >= 10.0);
}

#[test]
fn segments_that_links_cut_are_counted_too() {
    let mut s = scenario(lpd(), json!({ "type": "bulk" }), json!({ "data": "5 s", "expired": "headers" }));
    s["flow"]["data"]["tcp"] = json!({ "preset": "rfc", "window_limit_segments": 20, "mss": "960 B" });
    let t = run(&s);
    // Those that had waited for more than five seconds when the spike was over: the window less what left before.
    let cut = of_flow(&t, "data", "cut_packets");
    assert!(cut >= 10.0, "{cut}");
    // The handshake and the FIN have no payload either, and are not cut.
    let (valid, stale) = (of_flow(&t, "data", "valid_packets"), of_flow(&t, "data", "stale_packets"));
    let rest = of_flow(&t, "data", "received_packets") - valid - stale - cut;
    assert!((0.0..=25.0).contains(&rest), "{rest} are neither data for the first time nor cut");
}

#[test]
fn the_option_finds_room_in_the_longest_datagram_or_the_flow_is_refused() {
    let with = |payload: u32, lifetime: Value| {
        let pace = json!({ "type": "cbr", "payload": format!("{payload} B"), "interval": "1 s", "packets": 3 });
        scenario(json!({ "limit": "9 packets" }), pace, lifetime)
    };
    let longest = run(&with(65_499, json!("5 s")));
    assert_eq!(of_flow(&longest, "data", "sent_bytes"), 3.0 * 65_535.0);
    assert_eq!(refusal(&with(65_500, json!("5 s"))).path, "flow.data.workload.payload");
    assert_eq!(of_flow(&run(&with(65_507, Value::Null)), "data", "sent_bytes"), 3.0 * 65_535.0);
    let mut s = with(500, json!("5 s"));
    s["timeline"] = json!([{ "at": "2 s", "flow": "data", "set": { "payload": "65507 B" } }]);
    assert_eq!(refusal(&s).path, "timeline[0].set.payload");
    for transport in ["tfrc", "udt"] {
        let mut s = scenario(droptail(), json!({ "type": "bulk" }), json!("5 s"));
        s["flow"]["data"][transport] = json!({ "packet_size": "65535 B" });
        assert_eq!(refusal(&s).path, format!("flow.data.{transport}.packet_size"));
    }
}

#[test]
fn lifetimes_that_make_no_sense_are_refused() {
    for (lifetime, path, word) in [
        (json!("rto"), "flow.data.lifetime.rule", "data"),
        (json!("soon"), "flow.data.lifetime", "5 s"),
        (json!({ "data": "90 s" }), "flow.data.lifetime.data", "absolute"),
        (json!({ "data": "9 s", "expired": "retransmit" }), "flow.data.lifetime", "one of discard, forward, headers"),
    ] {
        let e = refusal(&scenario(lpd(), stream(), lifetime));
        assert_eq!(e.path, path, "{e}");
        assert!(e.to_string().contains(word), "{e}");
    }
    for transport in ["tfrc", "udt"] {
        let mut s = scenario(lpd(), json!({ "type": "bulk" }), json!("rto"));
        s["flow"]["data"][transport] = json!({});
        assert_eq!(refusal(&s).path, "flow.data.lifetime.rule", "{transport} has no timer of this kind");
    }
}

#[test]
fn packets_with_an_option_are_slow_in_routers_that_look_at_it_and_others_are_not() {
    let processing_delay = json!({ "delay": { "uniform": ["2 ms", "8 ms"] } });
    let pings = |lifetime: Value, processing_delay: Value| {
        let hop = |from: &str, to: &str| {
            let body = json!({ "from": from, "to": to, "rate": "10 Mbit/s", "delay": "10 ms", "processing_delay": processing_delay });
            (format!("{from}{to}"), body)
        };
        let mut s = json!({ "name": "options", "duration": "60 s", "record": { "events": "all" },
            "link": serde_json::Map::from_iter([hop("a", "b"), hop("b", "c"), hop("c", "d")]),
            "flow": { "probe": { "from": "a", "to": "d", "workload": {
                "type": "cbr", "payload": "32 B", "interval": "100 ms", "packets": 500 } } } });
        if !lifetime.is_null() {
            s["flow"]["probe"]["lifetime"] = lifetime;
        }
        run(&s)
    };
    let delay = |t: &crosswind_record::Tables, which: &str| of_flow(t, "probe", which) / 1e6;
    let plain = pings(Value::Null, processing_delay.clone());
    assert_within(delay(&plain, "delay_max_ns"), 30.0 + 3.0 * 60.0 * 8.0 / 1e4, 1.0);
    let marked = pings("5 s".into(), processing_delay);
    let longest = delay(&marked, "delay_max_ns");
    // Three routers: 6 to 24 ms, 15 on average.
    assert!(longest > 47.0 && longest < 55.0, "{longest} ms");
    assert_within(delay(&marked, "delay_p50_ns"), 30.0 + 15.0 + 0.16, 3.0);
    // A firewall lets none of them through, and all of the others.
    let wall = json!({ "refused": 1.0 });
    let refused = pings("5 s".into(), wall.clone());
    assert_eq!(of_flow(&refused, "probe", "received_packets"), 0.0);
    // They came to the first link, went no further, and are counted once.
    let counted = ["arrived_packets", "drops_policed_packets", "sent_packets", "delivered_packets"];
    assert_eq!(counted.map(|column| of_link(&refused, "ab", column)), [500.0, 500.0, 0.0, 0.0]);
    assert_eq!(of_flow(&pings(Value::Null, wall), "probe", "received_packets"), 500.0);
}

/// A stream with an absolute deadline of 5 s over a link with random spikes, in a run of ten minutes.
fn spiky(seed: u64, holds: &str, form: &str, queue: Value) -> crosswind_record::Tables {
    let mut s = scenario(queue, stream(), json!({ "data": "5 s", "form": form }));
    s["duration"] = "600 s".into();
    s["seed"] = seed.into();
    s["link"]["slow"]["queue"]["queue"] = json!({ "limit": "1000 packets" });
    s["link"]["slow"]["spikes"] = json!({ "first": { "uniform": ["1 s", "10 s"] }, "every": { "uniform": ["20 s", "40 s"] },
        "length": { "uniform": ["1 s", "15 s"] }, "holds": holds });
    run_with(&[s], &Request { seed, ..request() })
}

#[test]
fn a_link_that_pulls_when_it_can_send_and_a_deadline_of_the_sender_leave_no_stale_packet() {
    let stale = |seed: u64, holds: &str, form: &str| of_flow(&spiky(seed, holds, form, lpd()), "data", "stale_packets");
    let mut held_back = 0.0;
    for seed in 1..=8 {
        let t = spiky(seed, "queue", "absolute", lpd());
        assert_eq!(of_flow(&t, "data", "stale_packets"), 0.0, "seed {seed}");
        held_back += of_link(&t, "slow", "drops_expired_packets");
    }
    assert!(held_back > 1000.0, "{held_back}: spikes longer than the lifetime have something to discard");
    // One packet waits on the line through each spike. There are some twenty, two thirds of them longer than its 4.5 s.
    let on_line: Vec<f64> = (1..=8).map(|seed| stale(seed, "line", "absolute")).collect();
    assert!(on_line.iter().all(|n| (8.0..=20.0).contains(n)), "{on_line:?}: one for each spike that lasts too long");
    // A lifetime counted from the router on forgets the way to it.
    assert!((1..=8).map(|seed| stale(seed, "queue", "relative")).sum::<f64>() > 0.0);
}
