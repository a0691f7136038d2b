//! Real stacks give the same bytes on every machine and at every optimisation level: each run is compared with a stored hash.
//!
//! `stored.txt` holds one hash per run: over time, end, length, ECN and every byte of all datagrams where stacks are alone, over the
//! events and counters of all flows where they stand in whole scenarios. `make test` compares an optimisation level for tests with it,
//! `make stack-hashes` the optimised build. After a change that is meant to move them, write the file anew and look at the difference:
//!
//! ```text
//! CROSSWIND_WRITE_FINGERPRINTS=1 cargo test -p crosswind-stacks --test stored
//! ```
//!
//! CUBIC takes cube roots and powers from the system's mathematical library; another library may round differently.
#![cfg(all(feature = "quinn", feature = "noq", feature = "smoltcp"))]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../sim/tests/common/mod.rs"]
mod worlds;

use common::{Little, Path, pairs};
use crosswind_base::Time;
use crosswind_record::Tables;
use crosswind_sim::runs::Request;
use crosswind_stacks::ROWS;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use worlds::{hash_of, request, run_with, table};

const STORED: &str = include_str!("stored.txt");
const ENDLESS: u64 = 1 << 50;

/// Name -> hash.
type Hashes = BTreeMap<String, String>;

/// Stacks with their controllers, and one with a window law of Crosswind; smoltcp's flight is bounded by its buffer.
fn laws() -> [(&'static str, &'static str, Value); 6] {
    [
        ("quinn", "cubic", json!({"congestion": "cubic"})),
        ("quinn", "newreno", json!({"congestion": "newreno"})),
        ("quinn", "htcp", json!({"law": "htcp"})),
        ("noq", "cubic", json!({"congestion": "cubic"})),
        ("noq", "newreno", json!({"congestion": "newreno"})),
        ("smoltcp", "cubic", json!({"runs_at": "both", "congestion": "cubic", "send_buffer": "60 kB"})),
    ]
}

/// A queue that overflows, marks, losses, and an outage of a second.
fn networks() -> [(&'static str, Path); 4] {
    let plain = Path::new(20, 60, 30);
    [
        ("full-queue", plain),
        ("marks", Path { mark_from_packets: Some(40), ..plain }),
        ("losses", Path { lose_every: Some(97), ..plain }),
        ("outage", Path { dead: (2_000_000_000, 3_000_000_000), ..plain }),
    ]
}

/// Two flows, 6 s; every byte.
fn alone() -> Hashes {
    let mut found = Hashes::new();
    for (stack, law, params) in laws() {
        let row = ROWS.iter().find(|r| r.name == stack).expect("a stack that is built in");
        let (_, make) = (row.build.read)(&params, "transport").expect("parameters make sense");
        for (name, path) in networks() {
            let mut w = Little::new(path, pairs(2, 7, |role, rng| make(role, rng)), ENDLESS);
            w.run(Time::from_secs_f64(6.0));
            assert_eq!(w.failures(), Vec::<String>::new(), "{stack}, {law}, {name}");
            assert!(w.sent_packets > 1000, "{stack}, {law}, {name}: there was something to compare");
            found.insert(format!("alone {stack}-{law} {name}"), format!("{} {:016x}", w.sent_packets, w.hash));
        }
    }
    found
}

fn scenario(name: &str, flows: &Value, bottleneck: &Value) -> (String, Value) {
    let mut base = json!({"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": "60 packets"}});
    base.as_object_mut().expect("a table").extend(bottleneck.as_object().expect("a table").clone());
    let scenario = json!({
        "name": name, "duration": "6 s",
        "topology": {"template": "dumbbell", "pairs": 2, "bottleneck": base},
        "flow": flows, "record": {"events": "all"},
    });
    (name.into(), scenario)
}

/// Stacks beside TCP in whole scenarios.
fn scenarios() -> Vec<(String, Value)> {
    let over = |transport: Value, workload: &Value| json!({"from": "left-1", "to": "right-1", "transport": transport, "workload": workload});
    let bulk = json!({"type": "bulk"});
    let tcp = json!({"from": "left-2", "to": "right-2", "tcp": {"law": "cubic"}, "workload": bulk});
    let beside =
        json!({"q": over(json!({"type": "quinn"}), &bulk), "n": over(json!({"type": "noq"}), &bulk), "t": tcp});
    let page = json!({"type": "page", "body": "20 kB", "object": "8 kB", "objects": 4});
    let web = json!({"type": "web", "size": "30 kB", "every": "500 ms", "transfers": 5});
    let pages = json!({"p": over(json!({"type": "quinn"}), &page), "w": over(json!({"type": "noq"}), &web)});
    let small = json!({"type": "smoltcp", "runs_at": "server", "send_buffer": "60 kB"});
    vec![
        scenario("codel", &beside, &json!({"queue": {"type": "codel", "ecn": "mark"}})),
        scenario("red", &beside, &json!({"queue": {"type": "red-ns2", "limit": "60 packets"}})),
        scenario("handover", &beside, &json!({"spikes": {"first": "3 s", "length": "400 ms", "discard": 20}})),
        scenario("pages", &pages, &json!({})),
        scenario("smoltcp", &json!({"s": over(small, &bulk), "t": tcp}), &json!({})),
    ]
}

/// Of every packet of every repetition, and of what was counted.
const KEPT: [(&str, &[&str]); 2] = [
    ("event", &["time_ns", "flow", "kind", "seq", "len", "aux"]),
    ("flow", &["sent_packets", "received_bytes", "size_bytes", "marks_packets", "drops_packets", "delay_p50_ns"]),
];

fn hashes(name: &str, t: &Tables) -> Hashes {
    let of = |of: &str, column: &str| {
        let table = table(t, of);
        let hash = hash_of(table.get(column).unwrap_or_else(|| panic!("table `{of}` has no column `{column}`")));
        (format!("{name} {of}.{column}"), format!("{} {hash:016x}", table.rows()))
    };
    KEPT.iter().flat_map(|(table, columns)| columns.iter().map(|c| of(table, c))).collect()
}

/// Four repetitions each, in one thread and in eight.
fn in_worlds() -> Hashes {
    let mut found = Hashes::new();
    for (name, what) in scenarios() {
        let run = |workers| {
            let request = Request { reps: (0..4).collect(), reps_total: 4, workers, ..request() };
            hashes(&format!("world {name}"), &run_with(std::slice::from_ref(&what), &request))
        };
        let one = run(1);
        assert_eq!(run(8), one, "{name}: eight threads give what one gives");
        found.extend(one);
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "writing the stored file is asked for through the environment")]
fn is_asked_to_write() -> bool {
    std::env::var("CROSSWIND_WRITE_FINGERPRINTS").is_ok_and(|v| v == "1")
}

#[expect(clippy::disallowed_methods, reason = "the stored results are a file of the test")]
fn write(found: &Hashes) {
    let mut text = String::from("# run, packets or rows, hash; written by the test, see main.rs\n");
    for (name, hash) in found {
        writeln!(text, "{name} {hash}").expect("text grows as it must");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stored/stored.txt");
    std::fs::write(path, text).expect("the folder of the test can be written");
}

#[test]
fn every_build_and_every_machine_gives_the_bytes_that_were_stored() {
    let found: Hashes = alone().into_iter().chain(in_worlds()).collect();
    if is_asked_to_write() {
        return write(&found);
    }
    let mut wrong: Vec<String> = Vec::new();
    let stored: Vec<&str> = STORED.lines().filter(|l| !l.starts_with('#')).collect();
    assert_eq!(stored.len(), found.len(), "what is run is what was stored");
    for ((name, hash), stored) in found.iter().zip(stored) {
        let line = format!("{name} {hash}");
        if line != stored {
            wrong.push(format!("{line}, stored: {stored}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "bytes differ from those that were stored");
}
