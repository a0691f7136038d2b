//! The conformance suite on every row of the registry, and the registry's own promises.

use crosswind_base::{DropReason, Streams};
use crosswind_net::registry::{self, BuildCx, Kind, ROWS};
use crosswind_testkit::bench::{self, Bench, Entry};
use crosswind_testkit::conformance;
use serde_json::{Value, json};

#[test]
fn every_registered_element_conforms() {
    for row in ROWS {
        conformance::check(row);
    }
}

#[test]
fn the_suites_traffic_provokes_every_kind_of_loss_and_mark() {
    let mut seen = Vec::new();
    for row in ROWS {
        for setup in conformance::setups(row) {
            let mut bench = Bench::new(setup.build(1));
            for i in 0..4_000u64 {
                let ecn = if i % 2 == 0 { crosswind_base::Ecn::Ect0 } else { crosswind_base::Ecn::NotEct };
                bench.offer(crosswind_base::Time(i * 3_000_000), 1000, ecn);
            }
            seen.extend(bench.log.entries.iter().map(|e| match e {
                Entry::Dropped { why, .. } => why.name(),
                Entry::Marked { .. } => "mark",
            }));
            seen.sort_unstable();
            seen.dedup();
        }
    }
    assert_eq!(
        seen,
        ["early_drop", "fat_flow", "forced_drop", "handover", "link_error", "listed", "mark", "queue_full"]
    );
}

#[test]
fn names_are_unique_within_a_kind_and_defaults_exist() {
    for kind in [Kind::Queue, Kind::Link, Kind::Loss, Kind::Meter, Kind::Delayer] {
        let mut names = registry::names(kind);
        assert!(names.contains(&kind.default_type()));
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n, "{kind:?}");
    }
}

/// The path of the error that a value causes.
fn refused(kind: Kind, value: Value) -> (String, String) {
    let e = registry::normalise(kind, &value, "link.a").expect_err(&format!("{value} is accepted"));
    (e.path.clone(), e.to_string())
}

const MIN_LENGTH: &str = "link.a.channel.bad.length.min";
const THRESHOLD: &str = "link.a.arq.drop_threshold";
const PROBABILITY: &str = "link.a.random_delay.probability";
const RATES: &str = "link.a.rate_changes.rates";

/// A Seawind link with one key.
fn seawind(key: &str, value: Value) -> Value {
    json!({"type": "seawind", "preset": "arq-low", key: value})
}

/// A bad state of 2.5 s on average that lasts no less than `min`.
fn exponential(min: &str) -> Value {
    json!({"exponential": "2.5 s", "min": min, "max": "8 s"})
}

fn background(own: u32) -> Value {
    json!({"channels": 4, "own": own, "arrivals": "1 s", "holding": "1 s"})
}

#[test]
fn nonsense_is_refused_where_it_stands() {
    let cases = [
        (Kind::Queue, json!({"type": "droptial"}), "link.a.type", "droptail"),
        (Kind::Queue, json!({"limit": "0 packets"}), "link.a.limit", "above zero"),
        (Kind::Queue, json!({"limit": "20"}), "link.a.limit", "20 packets"),
        (Kind::Queue, json!({"limit": "2e9 packets"}), "link.a.limit", "at most"),
        (Kind::Queue, json!({"limt": "20 packets"}), "link.a.limt", "limit"),
        (Kind::Queue, json!({"type": 3}), "link.a.type", "name"),
        (Kind::Queue, json!([1]), "link.a", "droptail"),
        (Kind::Queue, json!({"type": "red-linux", "min_th": "6000 B"}), "link.a.min_th", "max_th"),
        (Kind::Queue, json!({"type": "red-linux", "min_th": "0 B"}), "link.a.min_th", "above zero"),
        (Kind::Queue, json!({"type": "red-linux", "max_p": 1.5}), "link.a.max_p", "0 to 1"),
        (Kind::Queue, json!({"type": "red-linux", "max_p": 0}), "link.a.max_p", "above 0"),
        (Kind::Queue, json!({"type": "red-linux", "w_q": 0.0}), "link.a.w_q", "above 0"),
        (Kind::Queue, json!({"type": "red-linux", "w_log": 40}), "link.a.w_log", "31"),
        (Kind::Queue, json!({"type": "red-linux", "avpkt": "0 B"}), "link.a.avpkt", "65535"),
        (Kind::Queue, json!({"type": "red-floyd-jacobson", "min_th": "15 packets"}), "link.a.min_th", "max_th"),
        (Kind::Queue, json!({"type": "red-ns2", "max_th": "15 packets"}), "link.a.min_th", "max_th"),
        (Kind::Link, json!({"rate": "0 bit/s"}), "link.a.rate", "positive rate"),
        (Kind::Link, json!({"delay": "2 days"}), "link.a.delay", "duration"),
        (Kind::Link, json!({"delay": "25 h"}), "link.a.delay", "24 h"),
        (Kind::Link, json!({"type": "seawind", "send_buffer": "575 B"}), "link.a.send_buffer", "mtu"),
        (Kind::Link, json!({"type": "seawind", "in_transit": 0}), "link.a.in_transit", "1 to"),
        (Kind::Link, seawind("preset", json!("arq-hi")), "link.a.preset", "arq-high"),
        (
            Kind::Link,
            seawind("channel", json!({"bad": {"length": exponential("5 s")}})),
            MIN_LENGTH,
            "at most the mean",
        ),
        (Kind::Link, seawind("channel", json!({"bad": {"error": 1.2}})), "link.a.channel.bad.error", "0 to 1"),
        (Kind::Link, seawind("channel", json!({"bad": {"eror": 0.2}})), "link.a.channel.bad.eror", "error"),
        (Kind::Link, seawind("channel", json!({"good": {"length": "0 s"}})), "link.a.channel.good.length", "1 ms"),
        (Kind::Link, seawind("channel", json!("bad")), "link.a.channel", "none"),
        (Kind::Link, seawind("arq", json!({"retries": 1})), "link.a.arq.retries", "retransmissions"),
        (Kind::Link, seawind("arq", json!({"retransmissions": 1, "drop_threshold": "1 s"})), THRESHOLD, "not both"),
        (
            Kind::Link,
            seawind("arq", json!({"drop_threshold": "1 s", "delay": "0 s"})),
            "link.a.arq.delay",
            "above zero",
        ),
        (Kind::Link, json!({"type": "seawind", "arq": {}, "error": 1.0}), "link.a.error", "retransmissions"),
        (Kind::Link, json!({"type": "seawind", "channel": {}, "error": 0.1}), "link.a.error", "beside a channel"),
        (Kind::Link, seawind("fragment", json!("0 B")), "link.a.fragment", "65535"),
        (Kind::Link, seawind("overhead", json!("1 MB")), "link.a.overhead", "65535"),
        (Kind::Link, seawind("random_delay", json!({"probability": 2.0, "length": "1 s"})), PROBABILITY, "0 to 1"),
        (Kind::Link, seawind("random_delay", json!({"probability": 0.5})), "link.a.random_delay.length", "length"),
        (Kind::Link, seawind("rate_changes", json!({"every": "1 s", "rates": []})), RATES, "at least one"),
        (Kind::Link, seawind("background", background(5)), "link.a.background.own", "4 channels"),
        (Kind::Loss, json!({"type": "list", "packets": [3, 0]}), "link.a.packets[1]", "from 1"),
        (Kind::Loss, json!({"type": "uniform", "probability": -0.1}), "link.a.probability", "0 to 1"),
    ];
    for (kind, value, path, word) in cases {
        let (at, text) = refused(kind, value.clone());
        assert_eq!(at, path, "{value}: {text}");
        assert!(text.contains(word), "{value}: {text}");
    }
}

#[test]
fn a_preset_gives_way_to_every_key_beside_it() {
    let link = |v: Value| registry::normalise(Kind::Link, &v, "x").unwrap_or_else(|e| panic!("{v}: {e}"));
    let high = link(json!({"type": "seawind", "preset": "arq-high"}));
    assert_eq!((&high["arq"]["retransmissions"], &high["hold"]), (&json!(4), &json!("acknowledged")));
    assert_eq!(high["channel"]["bad"]["length"], json!({"exponential": "2.5 s", "min": "1.4 s", "max": "4 s"}));
    let other = link(json!({"type": "seawind", "preset": "arq-high", "channel": {"bad": {"error": 0.3}},
                            "arq": {"drop_threshold": "701 ms"}, "hold": "sent"}));
    assert_eq!(other["channel"]["bad"]["length"], high["channel"]["bad"]["length"]);
    assert_eq!((&other["channel"]["bad"]["error"], &other["hold"]), (&json!(0.3), &json!("sent")));
    assert_eq!(other["arq"].get("retransmissions"), None, "a threshold takes the place of the number");
    let none = link(json!({"type": "seawind", "preset": "arq-high", "channel": "none", "arq": "none"}));
    assert_eq!((&none["channel"], &none["arq"]), (&json!("none"), &json!("none")));
    assert_eq!(link(json!({"type": "seawind", "preset": "high-speed"}))["rate"], "384 kbit/s");
}

#[test]
fn a_link_buffer_of_exactly_one_packet_is_allowed() {
    let one = json!({"type": "seawind", "send_buffer": "576 B", "in_transit": 1});
    registry::normalise(Kind::Link, &one, "x").expect("LSB of one packet");
}

#[test]
fn a_queue_that_needs_the_rate_of_its_link_takes_it_or_says_so() {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    let red = json!({"type": "red-linux"});
    bench::egress([&red, &json!({"type": "wire"})], "link.a", &cx).map(|_| ()).expect("the link has a rate");
    let e = registry::build_queue(&red, "link.a.queue", &cx).map(|_| ()).expect_err("no link, no rate");
    assert_eq!(e.path, "link.a.queue.rate");
}

#[test]
fn losses_at_the_entry_use_no_link_and_losses_at_the_exit_do() {
    let sent = |at: &str| {
        let setup = conformance::Setup {
            queue: json!("droptail"),
            link: json!("wire"),
            loss: json!({"type": "list", "packets": [2], "at": at}),
            delayers: json!(null),
        };
        let mut bench = Bench::new(setup.build(1));
        for _ in 0..3 {
            bench.offer(crosswind_base::Time::ZERO, 1000, crosswind_base::Ecn::NotEct);
        }
        bench.drain();
        assert_eq!(bench.drops_of(DropReason::Listed), 1);
        assert_eq!(bench.deliveries.iter().map(|d| d.seq).collect::<Vec<_>>(), [0, 2]);
        bench.report().get("sent_packets")
    };
    assert_eq!((sent("entry"), sent("exit")), (2.0, 3.0));
}
