//! What QUIC stacks log of themselves: virtual times, the same text twice, and not one byte changed on the way.
#![cfg(all(feature = "quinn", feature = "noq", feature = "qlog"))]

mod common;
#[path = "../../sim/tests/common/mod.rs"]
mod worlds;

use common::{Little, Path, pairs};
use crosswind_base::Time;
use crosswind_sim::runs::Request;
use crosswind_stacks::ROWS;
use crosswind_transport::stack::{Role, Stack};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};
use worlds::{number, refusal, request, run_with, table};

const STACKS: [&str; 2] = ["quinn", "noq"];
/// Seconds that the little world runs.
const SECONDS: f64 = 3.0;

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody else writes").write(data)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A world with losses; what its ends log, the client's first.
fn world(stack: &str, crypto: &str, is_logging: bool) -> (Little, Vec<Vec<u8>>) {
    let row = ROWS.iter().find(|r| r.name == stack).expect("a stack that is built in");
    assert!(row.build.logs, "{stack}");
    let (_, make) = (row.build.read)(&json!({ "crypto": crypto }), "flow.a.transport").expect("parameters make sense");
    let texts = [Text::default(), Text::default()];
    let ends = pairs(1, 3, |role, rng| {
        let mut end: Box<dyn Stack> = make(role, rng);
        let text = &texts[usize::from(role == Role::Server)];
        if is_logging {
            assert!(end.log_to(Box::new(text.clone())), "{stack}");
        }
        end
    });
    let mut w = Little::new(Path::new(20, 40, 30), ends, 1 << 50);
    w.run(Time::from_secs_f64(SECONDS));
    assert!(w.sent_packets > 1000 && w.drops_packets > 0, "{stack}: there was something to log");
    assert!(!w.ends[0].log_to(Box::new(Text::default())), "{stack}: it is too late now");
    (w, texts.map(|t| t.0.lock().expect("the world is still").clone()).to_vec())
}

/// The records of a sequence of JSON texts (RFC 7464): a record separator, a text, a line feed.
fn records(text: &[u8]) -> Vec<Value> {
    assert_eq!((text.first(), text.last()), (Some(&0x1e), Some(&b'\n')));
    let texts = text.split(|b| *b == 0x1e).skip(1);
    texts.map(|t| serde_json::from_slice(t).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(t)))).collect()
}

fn named(events: &[Value], end: &str) -> usize {
    events.iter().filter(|e| e["name"].as_str().is_some_and(|n| n.ends_with(end))).count()
}

#[test]
fn a_log_changes_no_byte_on_the_way() {
    for (stack, crypto) in STACKS.into_iter().flat_map(|s| [(s, "null"), (s, "tls")]) {
        let (silent, nothing) = world(stack, crypto, false);
        let (logging, texts) = world(stack, crypto, true);
        assert_eq!(silent.hash, logging.hash, "{stack} with {crypto}: time, size, ECN and every byte");
        assert!(nothing.iter().all(Vec::is_empty) && texts.iter().all(|t| !t.is_empty()), "{stack}");
    }
}

#[test]
fn a_log_has_virtual_times_and_what_the_network_saw_and_is_the_same_twice() {
    for stack in STACKS {
        let (w, texts) = world(stack, "null", true);
        assert_eq!(texts, world(stack, "null", true).1, "{stack}: no clock, no draw of its own");
        for (end, text) in texts.iter().enumerate() {
            let all = records(text);
            assert!(all[0]["trace"]["vantage_point"]["type"].is_string(), "{stack}: {}", all[0]);
            assert!(
                all[0]["title"].as_str().is_some_and(|t| t.contains(["client", "server"][end])),
                "{stack}: {}",
                all[0]
            );
            let events = &all[1..];
            let times: Vec<f64> = events.iter().map(|e| e["time"].as_f64().expect("milliseconds")).collect();
            assert!(times.is_sorted(), "{stack}: events stand in the order of time");
            let (first, last) = (times[0], times[times.len() - 1]);
            assert!((0.0..35.0).contains(&first), "{stack}: {first} ms, since virtual time zero");
            assert!((2900.0..=1000.0 * SECONDS).contains(&last), "{stack}: {last} ms of {SECONDS} s");
        }
        let client = records(&texts[0]);
        // The first datagrams may hold two packets, of two levels.
        let sent = named(&client, "packet_sent") as u64;
        assert!(sent.abs_diff(w.sent_packets) <= 5, "{stack}: {sent} packets in {} datagrams", w.sent_packets);
        assert_eq!(Some(named(&client, "packet_lost") as u64), w.ends[0].probe().lost_packets, "{stack}: losses");
        assert!(named(&client, "metrics_updated") > 100, "{stack}");
        assert!(named(&records(&texts[1]), "packet_received") > 1000, "{stack}");
    }
}

fn scenario(record: Value) -> Value {
    let bottleneck = json!({"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": "60 packets"}});
    let over = |stack: &str, workload: Value| json!({"from": "left-1", "to": "right-1", "transport": {"type": stack}, "workload": workload});
    let bulk = json!({"type": "bulk", "size": "1 MB"});
    let page = over("quinn", json!({"type": "page", "body": "20 kB", "object": "8 kB", "objects": 2}));
    let (mut noq, mut tcp) = (over("noq", bulk.clone()), over("quinn", bulk.clone()));
    noq["count"] = 2.into();
    tcp["transport"] = "tcp".into();
    json!({
        "name": "logs", "duration": "20 s", "record": record,
        "topology": {"template": "dumbbell", "pairs": 1, "bottleneck": bottleneck},
        "flow": {"quinn": over("quinn", bulk), "noq": noq, "page": page, "tcp": tcp},
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads the files of a run")]
fn a_scenario_names_a_folder_and_each_end_has_its_file_and_no_result_is_another() {
    let folder = std::env::temp_dir().join(format!("crosswind-qlog-{}", std::process::id()));
    let made = |record| {
        let ask = Request { folder: folder.clone(), reps: vec![0, 1], reps_total: 2, ..request() };
        run_with(&[scenario(record)], &ask)
    };
    let (with, without) = (made(json!({"qlog": "logs"})), made(json!({})));
    let (a, b) = (table(&with, "flow"), table(&without, "flow"));
    assert_eq!(a.rows(), b.rows());
    for column in ["sent_packets", "drops_packets", "delay_p99_ns", "stack_sent_packets"] {
        let of = |t| (0..a.rows()).map(|row| number(t, column, row).to_bits()).collect::<Vec<_>>();
        assert_eq!(of(a), of(b), "{column}");
    }
    let flows = ["quinn", "noq-1", "noq-2", "page/body", "page/1", "page/2"];
    let mut files = 0;
    for name in flows.iter().flat_map(|f| ["client", "server"].map(|end| format!("{f}-{end}"))) {
        for rep in 0..2 {
            let path = folder.join(format!("logs/{name}-rep{rep}.sqlog"));
            let text = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let all = records(&text);
            assert!(named(&all, "packet_sent") > 0 && named(&all, "packet_received") > 0, "{name}");
            files += 1;
        }
    }
    assert_eq!(files, 24);
    let top = std::fs::read_dir(folder.join("logs")).expect("the folder");
    assert_eq!(top.filter(|e| e.as_ref().is_ok_and(|e| e.path().is_file())).count(), 12, "TCP has no file");
    std::fs::remove_dir_all(&folder).expect("it was made here");
}

#[test]
fn a_folder_for_logs_that_nobody_keeps_or_too_many_or_elsewhere_is_refused() {
    let mut nobody = scenario(json!({"qlog": "logs"}));
    for f in nobody["flow"].as_object_mut().expect("flows").values_mut() {
        f.as_object_mut().expect("a flow").remove("transport");
    }
    let mut many = scenario(json!({"qlog": "logs"}));
    many["flow"]["noq"]["count"] = 300.into();
    let elsewhere = scenario(json!({"qlog": "../logs"}));
    for (what, says) in [(nobody, "keeps such a log"), (many, "at most 200"), (elsewhere, "leads out")] {
        let e = refusal(&what);
        assert_eq!(e.path, "record.qlog");
        assert!(e.to_string().contains(says), "{e}");
    }
}
