//! Streams over UDP: exact times, losses, what is counted of them, and how they live beside TCP.

use crate::common::*;
use crosswind_base::{Dscp, Event, FlowId, Observer, Packet, Pool, Time, Vantage};
use crosswind_sim::flows::Parameters;
use crosswind_sim::scenario::Repetition;
use crosswind_sim::world::{Manner, Outcome, World};
use crosswind_transport::tcp::share::Cache;
use serde_json::{Value, json};

/// The audio of [Järvinen 2006]: 76 bytes on the wire every 20 ms.
fn audio(packets: u64) -> Value {
    json!({ "type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": packets })
}

fn scenario(link: Value, flows: Value) -> Value {
    let mut link = link;
    link["from"] = "server".into();
    link["to"] = "client".into();
    let mut flows = flows;
    for f in flows.as_object_mut().expect("a table of flows").values_mut() {
        f["from"] = "server".into();
        f["to"] = "client".into();
    }
    json!({ "name": "datagrams", "duration": "100 s", "link": { "path": link }, "flow": flows })
}

#[test]
fn every_packet_of_a_stream_alone_takes_its_bits_and_the_delay_and_nothing_more() {
    let link = json!({ "rate": "64 kbit/s", "delay": "300 ms" });
    let t = run(&scenario(link, json!({ "audio": { "start": "2 s", "workload": audio(1147) } })));
    let f = |c: &str| of_flow(&t, "audio", c);
    // 76 bytes at 64 kbit/s are 9.5 ms; one packet leaves before the next comes.
    for c in ["delay_min_ns", "delay_max_ns"] {
        assert_eq!(f(c), 309.5e6, "{c}");
    }
    assert_eq!((f("ipdv_min_ns"), f("ipdv_max_ns"), f("ipdv_undefined_packets")), (0.0, 0.0, 0.0));
    assert_eq!(f("jitter_mean_ns"), 0.0);
    assert_eq!((f("sent_packets"), f("received_packets"), f("received_bytes")), (1147.0, 1147.0, 1147.0 * 76.0));
    assert_eq!((f("size_bytes"), f("wire_size_bytes")), (55_056.0, 87_172.0));
    // The last packet leaves 1146 intervals after the first; that span is the sender's.
    assert_eq!((f("open_ns"), f("close_ns"), f("elapsed_ns")), (2e9, 24.92e9, 22.92e9));
    assert_within(f("throughput_bps") / 8.0, 3803.3, 0.01);
    assert_eq!((f("loss_runs"), f("loss_run_max_packets"), f("drops_packets")), (0.0, 0.0, 0.0));
    assert_eq!(f("delay_over_250ms_ratio"), 1.0);
    assert_eq!(f("delay_over_400ms_ratio"), 0.0);
    // The run goes on until the last packet has arrived.
    assert_eq!(number(table(&t, "run"), "end_ns", 0), 24.92e9 + 309.5e6);
    assert_eq!(text(table(&t, "run"), "outcome", 0), "all flows closed");
    assert_eq!(text(table(&t, "flow"), "protocol", 0), "udp");
}

#[test]
fn a_rate_counts_headers_and_means_the_same_as_its_interval() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "10 ms" });
    let by_rate = json!({ "type": "cbr", "payload": "48 B", "rate": "30400 bit/s", "packets": 100 });
    let t = run(&scenario(link, json!({ "a": { "workload": audio(100) }, "b": { "workload": by_rate } })));
    assert_eq!(of_flow(&t, "a", "close_ns"), of_flow(&t, "b", "close_ns"));
}

#[test]
fn a_stream_faster_than_its_link_loses_what_does_not_fit() {
    // 500 packets of 1000 B in 4.99 s are 800 kbit/s; the link carries half of that and the queue holds ten.
    let link = json!({ "rate": "400 kbit/s", "delay": "5 ms", "queue": { "limit": "10 packets" } });
    let w = json!({ "type": "cbr", "payload": "972 B", "interval": "10 ms", "packets": 500 });
    let t = run(&scenario(link, json!({ "flood": { "workload": w } })));
    let f = |c: &str| of_flow(&t, "flood", c);
    assert_eq!(f("sent_packets"), f("received_packets") + f("drops_packets"));
    // One packet in 20 ms for 5 s, and the ten that wait and the one on the line at the end.
    assert_within(f("received_packets"), 250.0 + 11.0, 1.0);
    // At worst one packet begins to leave as another comes, with nine others in between.
    assert_eq!(f("delay_max_ns"), 1e6 * (11.0 * 20.0 + 5.0));
    assert_eq!(f("loss_run_max_packets"), 1.0, "every other packet is lost");
    assert!(f("ipdv_undefined_packets") > 450.0, "no two packets in a row arrive once the queue is full");
    assert_eq!(f("loss_runs"), f("drops_packets"));
}

#[test]
fn runs_of_losses_and_undefined_pairs_are_those_of_the_list() {
    // Packets 3, 4, 5, 9 and the last, 20, are lost.
    let link = json!({ "rate": "1 Mbit/s", "delay": "5 ms", "loss": { "type": "list", "packets": [3, 4, 5, 9, 20] } });
    let t = run(&scenario(link, json!({ "audio": { "workload": audio(20) } })));
    let f = |c: &str| of_flow(&t, "audio", c);
    assert_eq!((f("lost_packets"), f("drops_packets"), f("received_packets")), (5.0, 0.0, 15.0));
    assert_eq!((f("loss_runs"), f("loss_run_max_packets"), f("loss_run_p50_packets")), (3.0, 3.0, 1.0));
    assert_within(f("loss_run_mean_packets"), 5.0 / 3.0, 0.001);
    // Of 19 pairs: 2-3, 3-4, 4-5, 5-6, 8-9, 9-10, 19-20 are undefined.
    assert_eq!(f("ipdv_undefined_packets"), 7.0);
    assert_eq!(text(table(&t, "run"), "outcome", 0), "all flows closed", "the loss of the last packet ends the run");
}

#[test]
fn jitter_is_the_size_of_the_differences_between_neighbours_that_arrive() {
    // Every second packet takes 7 ms longer; the sixth and seventh, one of each kind, are lost, which leaves all neighbours unlike.
    let loss = json!({ "type": "list", "packets": [6, 7] });
    let link = json!({ "rate": "1 Mbit/s", "delay": "5 ms", "type": "reordering", "counts": "all", "paths": "two", "difference": "7 ms", "loss": loss });
    let t = run(&scenario(link, json!({ "audio": { "workload": audio(20) } })));
    assert_eq!(of_flow(&t, "audio", "received_packets"), 18.0);
    assert_eq!(of_flow(&t, "audio", "jitter_mean_ns"), 7e6);
    // Only differences of consecutive packets are delay variations: up, down, up, down, ..
    assert_eq!((of_flow(&t, "audio", "ipdv_min_ns"), of_flow(&t, "audio", "ipdv_max_ns")), (-7e6, 7e6));
}

#[test]
fn the_idle_time_between_bursts_does_not_count_in_the_throughput() {
    let link = json!({ "rate": "64 kbit/s", "delay": "300 ms" });
    let mut w = audio(100);
    w["bursts"] = 2.into();
    w["idle"] = json!({ "uniform": ["5 s", "15 s"] });
    let t = run(&scenario(link, json!({ "audio": { "workload": w } })));
    let f = |c: &str| of_flow(&t, "audio", c);
    assert_eq!(f("sent_packets"), 200.0);
    // Each burst spans 99 intervals; the silence begins an interval after its last packet.
    let idle = f("elapsed_ns") - 2.0 * 99.0 * 20e6 - 20e6;
    assert!((5e9..=15e9).contains(&idle), "{idle}");
    assert_within(f("throughput_bps"), 200.0 * 76.0 * 8.0 / (2.0 * 1.98), 0.001);
    assert_eq!(f("ipdv_undefined_packets"), 0.0);
}

#[test]
fn on_and_off_periods_have_the_mean_rate_that_they_were_given() {
    let link = json!({ "rate": "100 Mbit/s", "delay": "1 ms" });
    let w = json!({ "type": "on-off", "payload": "97 B", "rate": "1 Mbit/s", "on": { "exponential": "100 ms" },
                    "off": { "exponential": "300 ms" } });
    let mut s = scenario(link, json!({ "bursty": { "count": 20, "workload": w } }));
    s["duration"] = "200 s".into();
    let t = run(&s);
    let sent: f64 = (1..=20).map(|k| of_flow(&t, &format!("bursty-{k}"), "sent_bytes")).sum();
    // A quarter of the time at 1 Mbit/s; a period is lengthened to whole packets, half of one (0.5 ms) on average.
    assert_within(sent * 8.0 / 200.0 / 20.0, 1e6 * 100.5 / 400.5, 3.0);
}

#[test]
fn a_stream_and_a_transfer_share_one_link_and_the_books_balance() {
    let link = json!({ "rate": "64 kbit/s", "delay": "100 ms", "queue": { "limit": "8000 B" } });
    let bulk = json!({ "type": "bulk", "size": "150 kB" });
    let s = scenario(
        link,
        json!({ "bulk": { "workload": bulk, "tcp": { "preset": "baseline-linux-2.4" } },
                "audio": { "start": "5 s", "workload": audio(500) } }),
    );
    let t = run(&s);
    assert!(of_flow(&t, "audio", "drops_packets") > 0.0, "the transfer fills the queue");
    assert_eq!(of_flow(&t, "bulk", "size_bytes"), 150_000.0);
    // Together they never get more than the link has, and the transfer leaves little of it unused.
    let busy = of_link(&t, "path", "utilisation_ratio");
    assert!(busy > 0.9 && busy <= 1.0, "{busy}");
    // The interval of both: from the stream's start to the last packet of whichever ends first.
    // Resends of what was sent before the interval do not count in it.
    let shares = of_flow(&t, "bulk", "simultaneous_Bps") + of_flow(&t, "audio", "simultaneous_Bps");
    assert!((7200.0..=8000.0).contains(&shares), "{shares}");
    let plan = plan(&s);
    let parameters = Parameters::of(&plan).unwrap_or_else(|e| panic!("{e}"));
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let mut w = World::build(&plan, &parameters, rep, Manner::default(), caches).unwrap_or_else(|e| panic!("{e}"));
    for k in 1..300 {
        if w.run_until(Time::from_secs_f64(k as f64 * 0.31), None) == Some(Outcome::AllFlowsClosed) {
            break;
        }
        let sent: u64 = w.ends.iter().map(|e| e.port().sent_packets).sum();
        let arrived: u64 = w.ends.iter().map(|e| e.arrivals().packets).sum();
        let dropped: u64 = w.losses.stages.iter().flat_map(|s| s.by_reason).sum();
        assert_eq!(sent, arrived + dropped + w.engine.pool.in_use() as u64, "at {:?}", w.engine.now);
    }
}

#[test]
fn a_run_ends_with_the_flows_that_it_waits_for_and_they_do_not_notice() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "50 ms" });
    let flows = json!({ "bulk": { "workload": { "type": "bulk", "size": "1 MB" }, "tcp": { "preset": "rfc" } },
                        "short": { "workload": { "type": "bulk", "size": "20 kB" }, "tcp": { "preset": "rfc" } },
                        "audio": { "workload": { "type": "cbr", "payload": "200 B", "interval": "10 ms" } } });
    let mut s = scenario(link, flows);
    s["duration"] = "100 s".into();
    let whole = run(&s);
    s["until"] = json!(["bulk", "short"]);
    let cut = run(&s);
    assert_eq!(text(table(&whole, "run"), "outcome", 0), "duration reached");
    assert_eq!(text(table(&cut, "run"), "outcome", 0), "awaited flows closed");
    let end = number(table(&cut, "run"), "end_ns", 0);
    assert!(end >= of_flow(&cut, "bulk", "elapsed_ns") && end < 20e9, "{end}");
    for column in ["elapsed_ns", "size_bytes", "drops_packets", "retransmitted_packets"] {
        assert_eq!(of_flow(&cut, "bulk", column), of_flow(&whole, "bulk", column), "{column}");
    }
    // A hundred datagrams a second until then, and none afterwards.
    assert_within(of_flow(&cut, "audio", "sent_packets"), end / 1e7, 1.0);
    s["until"] = json!(["bluk"]);
    let e = refusal(&s);
    assert!(e.path == "until[0]" && e.to_string().contains("did you mean `bulk`"), "{e}");
}

#[test]
fn the_silences_are_the_same_whatever_runs_beside_the_stream() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "100 ms" });
    let mut w = audio(50);
    w["bursts"] = 4.into();
    w["idle"] = json!({ "exponential": "1 s" });
    let alone = run(&scenario(link.clone(), json!({ "audio": { "workload": w } })));
    let bulk = json!({ "type": "bulk", "size": "1 MB" });
    let both = run(&scenario(link, json!({ "audio": { "workload": w }, "another": { "workload": bulk } })));
    assert_eq!(of_flow(&alone, "audio", "elapsed_ns"), of_flow(&both, "audio", "elapsed_ns"));
}

/// Counts packets by flow and code point.
#[derive(Default)]
struct CodePoints(Vec<(u32, Dscp)>);

impl Observer for CodePoints {
    fn wants(&self, _: FlowId) -> bool {
        false
    }
    fn event(&mut self, _: Event) {}
    fn packet(&mut self, _: Time, _: Vantage, p: &Packet, _: &Pool) {
        self.0.push((p.flow.0, p.dscp()));
    }
}

#[test]
fn all_packets_of_a_flow_carry_its_code_point_in_both_directions() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "10 ms" });
    let s = scenario(
        link,
        json!({ "audio": { "workload": audio(5), "dscp": "EF" },
                "bulk": { "workload": { "type": "bulk", "size": "20 kB" }, "dscp": 10, "tcp": { "ecn": "on" } },
                "rest": { "workload": { "type": "bulk", "size": "20 kB" } } }),
    );
    let plan = plan(&s);
    let parameters = Parameters::of(&plan).unwrap_or_else(|e| panic!("{e}"));
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let mut w = World::build(&plan, &parameters, rep, Manner::default(), caches).unwrap_or_else(|e| panic!("{e}"));
    let mut seen = CodePoints::default();
    w.run_until(Time::from_secs_f64(100.0), Some(&mut seen));
    let wanted = [Dscp::EXPEDITED, Dscp::parse("AF11").expect("a name"), Dscp::DEFAULT];
    for (flow, wanted) in wanted.into_iter().enumerate() {
        let of_flow: Vec<Dscp> = seen.0.iter().filter(|(f, _)| *f as usize == flow).map(|x| x.1).collect();
        assert!(of_flow.len() >= 10 && of_flow.iter().all(|d| *d == wanted), "flow {flow}: {of_flow:?}");
    }
}

#[test]
fn the_log_of_a_stream_tells_of_every_packet_sent_lost_and_received() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "5 ms", "loss": { "type": "list", "packets": [3] } });
    let mut s = scenario(link, json!({ "audio": { "workload": audio(5) } }));
    s["record"] = json!({ "events": ["audio"] });
    let t = run(&s);
    let events = table(&t, "event");
    let of = |kind: &str| -> Vec<f64> {
        let rows = (0..events.rows()).filter(|r| text(events, "kind", *r) == kind);
        rows.map(|r| number(events, "seq", r)).collect()
    };
    assert_eq!(of("send"), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!((of("lost"), of("receive")), (vec![2.0], vec![0.0, 1.0, 3.0, 4.0]));
    assert_eq!((of("open").len(), of("close")), (1, vec![4.0]));
}

// ---- retransmissions that nobody needed --------------------------------------------------------------------------------------

#[test]
fn a_retransmission_is_unnecessary_exactly_when_an_earlier_copy_arrives() {
    // One segment that takes 540 ms on the line; the timer knows only the small packets of the handshake (124 ms).
    let unnecessary = |lost: Value| {
        let link = json!({ "rate": "8 kbit/s", "delay": "10 ms", "loss": { "type": "list", "packets": lost },
                           "reverse": { "loss": "none" } });
        let tcp = json!({ "rto_min": "300 ms", "mss": "500 B" });
        let flows = json!({ "bulk": { "workload": { "type": "bulk", "size": "500 B" }, "tcp": tcp } });
        let mut s = scenario(link, flows);
        s["duration"] = "5 s".into();
        let t = run(&s);
        (of_flow(&t, "bulk", "retransmitted_packets"), of_flow(&t, "bulk", "unnecessary_retransmissions_packets"))
    };
    assert_eq!(unnecessary(json!([])), (1.0, 1.0), "both copies arrive");
    assert_eq!(unnecessary(json!([2])), (1.0, 1.0), "the retransmission is lost, but it was not needed either");
    let (retransmitted, needless) = unnecessary(json!([1]));
    assert_eq!(retransmitted - needless, 1.0, "the first retransmission was needed when the original was lost");
}

// ---- what is refused -------------------------------------------------------------------------------------------------

#[test]
fn streams_that_make_no_sense_are_refused_with_path_and_reason() {
    let link = json!({ "rate": "1 Mbit/s", "delay": "10 ms" });
    for (change, path, word) in [
        (json!({ "interval": null }), "flow.audio.workload.interval", "interval"),
        (json!({ "rate": "1 Mbit/s" }), "flow.audio.workload.rate", "one of the two"),
        (json!({ "payload": "0 B" }), "flow.audio.workload.payload", "1 B"),
        (json!({ "payload": "70 kB" }), "flow.audio.workload.payload", "65507"),
        (json!({ "packets": 0 }), "flow.audio.workload.packets", "at least one"),
        (json!({ "bursts": 0 }), "flow.audio.workload.bursts", "at least one"),
        (json!({ "packets": null, "bursts": 2 }), "flow.audio.workload.packets", "burst"),
        (json!({ "idle": { "uniform": ["3 s", "1 s"] } }), "flow.audio.workload.idle", "shorter"),
        (json!({ "paylod": "3 B" }), "flow.audio.workload.paylod", "payload"),
        (json!({ "type": "cbx" }), "flow.audio.workload.type", "cbr"),
    ] {
        let mut w = audio(10);
        for (key, value) in change.as_object().expect("a table") {
            match value {
                Value::Null => drop(w.as_object_mut().expect("a table").remove(key)),
                v => w[key] = v.clone(),
            }
        }
        let e = refusal(&scenario(link.clone(), json!({ "audio": { "workload": w } })));
        assert_eq!(e.path, path, "{e}");
        assert!(e.to_string().contains(word), "{e}");
    }
    let flows = json!({ "audio": { "workload": audio(10), "tcp": { "preset": "rfc" } } });
    let e = refusal(&scenario(link.clone(), flows));
    assert!(e.path == "flow.audio.tcp" && e.to_string().contains("UDP"), "{e}");
    let flows = json!({ "audio": { "workload": audio(10), "dscp": "EX" } });
    let e = refusal(&scenario(link.clone(), flows));
    assert!(e.path == "flow.audio.dscp" && e.to_string().contains("EF"), "{e}");
    let flows = json!({ "audio": { "workload": audio(10), "start": { "poisson": "10 kbit/s" } } });
    let e = refusal(&scenario(link, flows));
    assert!(e.path == "flow.audio.start.poisson" && e.to_string().contains("1000 /s"), "{e}");
}

// ---- starts ----------------------------------------------------------------------------------------------------------

#[test]
fn poisson_starts_come_in_order_at_the_given_rate_and_differ_between_repetitions() {
    let link = json!({ "rate": "1 Gbit/s", "delay": "1 ms" });
    let short = json!({ "type": "cbr", "payload": "100 B", "interval": "1 ms", "packets": 1 });
    let flows = json!({ "short": { "count": 2000, "workload": short, "start": { "poisson": "1000 /s" } } });
    let plan = plan(&scenario(link, flows));
    let at = |index: u32| plan.starts(Repetition { seed: 1, index, of: 2 });
    let first = at(0);
    assert!(first.is_sorted() && first == at(0) && first != at(1));
    // 2000 exponential gaps of 1 ms: 2 s, with a standard error of 45 ms.
    let last = first[1999].as_secs_f64();
    assert!((last - 2.0).abs() < 0.15, "{last}");
    let gaps: Vec<f64> = first.windows(2).map(|w| (w[1] - w[0]).as_secs_f64()).collect();
    let short = gaps.iter().filter(|g| **g < 0.001).count() as f64 / gaps.len() as f64;
    assert!((short - (1.0 - (-1f64).exp())).abs() < 0.04, "{short} of the gaps are below the mean");
}

#[test]
fn a_ping_is_answered_and_each_way_has_its_own_delay() {
    let s = json!({
        "name": "ping", "duration": "10 s",
        "link": { "hop": { "from": "a", "to": "b", "rate": "8 kbit/s", "delay": "30 ms",
            "reverse": { "rate": "80 kbit/s", "delay": "200 ms" } } },
        "flow": { "ping": { "from": "a", "to": "b", "workload": { "type": "ping", "packets": 5 } } },
        "record": { "events": "all" }
    });
    let t = run(&s);
    assert_eq!(of_flow(&t, "ping", "received_packets"), 5.0);
    assert!(of_flow(&t, "ping", "reply_packets") >= 4.0, "the run ends when the last question has arrived");
    // 60 bytes take 60 ms there and 6 ms back.
    assert_eq!(of_flow(&t, "ping", "delay_p50_ns"), 90e6);
    assert_within(of_flow(&t, "ping", "reply_delay_p50_ns"), 206e6, 0.5);
    for column in ["rtt_min_ns", "rtt_p50_ns", "rtt_p99_ns", "rtt_max_ns"] {
        assert_within(of_flow(&t, "ping", column), 296e6, 0.5);
    }
    assert_eq!(of_flow(&t, "ping", "delay_p99_ns"), 90e6);
}

#[test]
fn what_waits_when_a_run_ends_is_not_lost() {
    // The last packet leaves the source at 4.99 s, and half of them wait in front of the link.
    let link = json!({ "rate": "400 kbit/s", "delay": "5 ms", "queue": { "limit": "1000 packets" } });
    let w = json!({ "type": "cbr", "payload": "972 B", "interval": "10 ms", "packets": 500 });
    let mut s = scenario(link, json!({ "flood": { "workload": w } }));
    s["duration"] = "6 s".into();
    let t = run(&s);
    assert_eq!(of_flow(&t, "flood", "sent_packets"), 500.0);
    assert!(of_flow(&t, "flood", "received_packets") < 310.0);
    assert_eq!(of_flow(&t, "flood", "loss_runs"), 0.0);
}
