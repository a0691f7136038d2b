//! What is recorded, sampled or watched never changes what happens; nor does it matter whether lines look ahead.

use crate::common::*;
use crosswind_record::{Table, Tables};
use crosswind_sim::runs::{Progress, Request, run_many};
use crosswind_sim::scenario::{Registries, compile, parse};
use crosswind_sim::world::{LookAhead, Ties};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How the engine worked, and what of it was recorded: no result of the scenario.
fn is_result(column: &str) -> bool {
    let of_the_engine = ["wall_ns", "events", "peak_packets", "truncated_events"];
    ![&of_the_engine[..], &OF_TIES].concat().contains(&column)
}

/// Of the run, where ties are shuffled.
const OF_TIES: [&str; 3] = ["meetings_packets", "first_meeting_ns", "first_meeting"];

/// What happens in a run.
const RESULTS: [&str; 7] = ["run", "flow", "link", "boundary", "page", "object", "class"];

fn differences(a: &Table, b: &Table) -> Vec<String> {
    let names = |t: &Table| t.columns().iter().map(|(n, _)| n.clone()).filter(|n| is_result(n)).collect::<Vec<_>>();
    if (a.rows(), names(a)) != (b.rows(), names(b)) {
        return vec![format!("{}: other rows or columns", a.name())];
    }
    let pairs = names(a).into_iter().map(|n| (a.get(&n), b.get(&n), n));
    pairs.filter(|(x, y, _)| x != y).map(|(x, y, n)| format!("{}.{n}:\n  {x:?}\n  {y:?}", a.name())).collect()
}

/// The columns of results in which two runs differ.
fn compared(a: &Tables, b: &Tables) -> Vec<String> {
    let of = |t: &Tables, name: &str| t.get(name).is_some();
    let missing = RESULTS.iter().filter(|n| of(a, n) != of(b, n)).map(|n| format!("{n}: in one only"));
    let pairs = RESULTS.iter().filter_map(|n| Some((a.get(n)?, b.get(n)?)));
    missing.chain(pairs.flat_map(|(x, y)| differences(x, y))).collect()
}

/// A way to run a scenario that must not show in the results.
struct Way {
    name: String,
    record: Value,
    request: Request,
}

fn ways(seed: u64) -> Vec<Way> {
    let way = |name: &str, record: Value, request: Request| Way { name: name.to_string(), record, request };
    let of = || Request { seed, folder: std::env::temp_dir(), ..request() };
    let file = |what: &str| format!("crosswind-{}-{seed}.{what}", std::process::id());
    vec![
        way("plain", json!({}), of()),
        way("sampled", json!({ "sample": format!("{} ms", 1 + seed % 40) }), of()),
        way("seldom sampled", json!({ "sample": format!("{} ms", 300 + seed % 1000) }), of()),
        way("totals", json!({ "sample": "70 ms", "series": "totals", "hist": "all" }), of()),
        way("events", json!({ "events": "all" }), of()),
        way("captured", json!({ "pcap": file("pcapng"), "events": "all", "event_file": file("npy") }), of()),
        way("shuffled", json!({}), Request { ties: Ties::Shuffled, ..of() }),
        way("never ahead, sampled", json!({ "sample": "33 ms" }), Request { look_ahead: LookAhead::Never, ..of() }),
    ]
}

/// All tables of a run; why there are none, if it is not to be had.
fn tried(scenario: &Value, request: &Request) -> Result<Tables, String> {
    let run = || {
        let parsed = parse(&scenario.to_string(), &Registries).map_err(|e| format!("refused: {e}"))?;
        let plan = compile(&parsed).map_err(|e| format!("refused: {e}"))?;
        let done = run_many(&[plan], request, &Progress::default()).map_err(|e| format!("failed: {e}"))?;
        match done.failed.first() {
            Some(f) => Err(format!("failed: {}", f.why)),
            None => Ok(done.tables),
        }
    };
    let text = |e: &(dyn std::any::Any + Send)| {
        let text = e.downcast_ref::<String>().cloned();
        text.or_else(|| e.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default()
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|e| Err(format!("panic: {}", text(&*e))))
}

fn meetings(t: &Tables) -> f64 {
    number(table(t, "run"), "meetings_packets", 0)
}

/// Files that a run has written and nobody reads.
#[expect(clippy::disallowed_methods, reason = "what a test has written it removes")]
fn remove_files(record: &Value) {
    for key in ["pcap", "event_file"] {
        if let Some(path) = record[key].as_str() {
            let _ = std::fs::remove_file(std::env::temp_dir().join(path));
        }
    }
}

/// A link of which more packets have left, one way or the other, than came.
fn imbalance(t: &Tables) -> Option<String> {
    let links = table(t, "link");
    (0..links.rows()).find_map(|row| {
        let of = |column: &str| number(links, column, row);
        let columns = links.columns().iter().map(|(name, _)| name.as_str());
        let dropped: f64 = columns.filter(|name| name.starts_with("drops_")).map(of).sum();
        let (came, gone) = (of("arrived_packets"), of("delivered_packets") + dropped);
        let which = || format!("{} {}", text(links, "link", row), text(links, "direction", row));
        (gone > came || of("delivered_packets") > of("sent_packets"))
            .then(|| format!("books of {}: {came} came, {gone} left, {dropped} of them dropped", which()))
    })
}

/// In which way the results are others than when everything happens at its own time and nothing is recorded.
fn deviation(scenario: &Value, seed: u64) -> Option<String> {
    let truth = tried(scenario, &Request { seed, look_ahead: LookAhead::Never, ..request() });
    if truth.as_ref().is_err_and(|e| e.starts_with("refused")) {
        return None;
    }
    if let Some(how) = truth.as_ref().ok().and_then(imbalance) {
        return Some(how);
    }
    if seed % 8 == 0 {
        let of = |workers| tried(scenario, &Request { seed, workers, reps: vec![0, 1, 2], reps_total: 3, ..request() });
        if let (Ok(a), Ok(b)) = (of(1), of(3)) {
            let found = compared(&a, &b);
            if !found.is_empty() {
                return Some(format!("workers: {}", found.join("\n")));
            }
        }
    }
    ways(seed).into_iter().find_map(|way| {
        let mut s = scenario.clone();
        s["record"] = way.record.clone();
        let found = tried(&s, &way.request);
        remove_files(&way.record);
        match (&truth, found) {
            // The order of simultaneous events decides something where packets met.
            (Ok(_), Ok(b)) if way.request.ties == Ties::Shuffled && meetings(&b) > 0.0 => None,
            (Ok(a), Ok(b)) => {
                let found = compared(a, &b);
                (!found.is_empty()).then(|| format!("{}: {}", way.name, found.join("\n")))
            }
            (Err(a), Err(b)) => Some(format!("{}: {a}; {b}", way.name)),
            (Err(a), Ok(_)) => Some(format!("{}: the truth alone: {a}", way.name)),
            (Ok(_), Err(b)) => Some(format!("{}: {b}", way.name)),
        }
    })
}

/// Random scenarios, one a line, as `python -m validation.fuzz --write` makes them; from another file, as many as wanted.
#[expect(clippy::disallowed_methods, reason = "the scenarios are a file beside the test")]
fn scenarios() -> Vec<Value> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recording/scenarios.jsonl");
    let file = std::env::var_os("CROSSWIND_SCENARIOS").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn in_random_networks_nothing_depends_on_what_is_recorded_or_decided_early() {
    let (all, mut run, mut wrong) = (scenarios(), 0, Vec::new());
    for (seed, scenario) in all.iter().enumerate() {
        match parse(&scenario.to_string(), &Registries).and_then(|s| compile(&s)) {
            Ok(_) => run += 1,
            Err(e) => {
                eprintln!("line {}: refused: {e}", seed + 1);
                continue;
            }
        }
        if let Some(how) = deviation(scenario, seed as u64) {
            eprintln!("line {}: {scenario}\n{how}", seed + 1);
            wrong.push(seed + 1);
        }
    }
    assert!(wrong.is_empty(), "{} of {run} run otherwise, in lines {wrong:?}", wrong.len());
    assert!(10 * run > 9 * all.len(), "{run} of {} could be run: keys have changed, write the file again", all.len());
}

fn recorded(scenario: &Value, record: Value) -> Value {
    let mut s = scenario.clone();
    s["record"] = record;
    s
}

#[track_caller]
fn assert_unchanged(scenario: &Value) {
    let truth = run_with(std::slice::from_ref(scenario), &Request { look_ahead: LookAhead::Never, ..request() });
    for record in [
        json!({}),
        json!({ "sample": "1 ms" }),
        json!({ "sample": "20 ms" }),
        json!({ "sample": "1 s" }),
        json!({ "sample": "370 ms", "series": "totals" }),
        json!({ "events": "all" }),
    ] {
        let found = compared(&truth, &run(&recorded(scenario, record.clone())));
        assert!(found.is_empty(), "{record}: {}", found.join("\n"));
    }
}

/// A bulk transfer over two links; the router between them is a domain.
fn domain(contract: Value, workload: Value) -> Value {
    json!({
        "name": "domain", "duration": "10 s",
        "link": {
            "first": { "from": "a", "to": "r", "rate": "10 Mbit/s", "delay": "10 ms", "queue": { "limit": "50 packets" } },
            "second": { "from": "r", "to": "b", "rate": "1 Gbit/s", "delay": "10 ms" }
        },
        "domain": { "d": { "nodes": ["r"] } },
        "contract": { "c": contract },
        "flow": { "f": { "from": "a", "to": "b", "workload": workload } }
    })
}

#[test]
fn a_contract_without_a_meter_changes_nothing() {
    for workload in [json!({ "type": "bulk" }), json!({ "type": "cbr", "payload": "1000 B", "interval": "900 us" })] {
        let with = domain(json!({ "domain": "d" }), workload);
        assert_unchanged(&with);
        let mut without = with.clone();
        without.as_object_mut().unwrap().retain(|key, _| key != "contract" && key != "domain");
        let (with, without) = (run(&with), run(&without));
        for name in ["flow", "link"] {
            let found = differences(table(&with, name), table(&without, name));
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
        let mut noted = domain(json!({ "domain": "d", "intervals": "on" }), json!({ "type": "bulk" }));
        noted["contract"]["c"]["intervals"] = "on".into();
        assert_unchanged(&noted);
    }
}

#[test]
fn packets_that_a_spike_holds_in_a_queue_with_a_bucket_leave_when_the_bucket_lets_them() {
    let spikes = json!({ "first": "0.3 s", "every": "2 s", "length": "200 ms", "holds": "queue" });
    let htb =
        json!({ "type": "htb", "default": "all", "class": { "all": { "rate": "1 Mbit/s", "ceil": "1 Mbit/s" } } });
    for queue in [htb, json!({ "type": "tbf", "rate": "1 Mbit/s" })] {
        let s = json!({
            "name": "spiky", "duration": "20 s",
            "link": { "path": { "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms", "queue": queue, "spikes": spikes } },
            "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" } } }
        });
        assert_unchanged(&s);
        // 90 % of the time at 1 Mbit/s, less headers, and what timeouts cost.
        let goodput = of_flow(&run(&s), "f", "goodput_bps");
        assert!((780e3..900e3).contains(&goodput), "{goodput}");
    }
}

#[test]
fn a_transfer_that_stays_open_is_measured_up_to_its_last_event() {
    assert_unchanged(&json!({
        "name": "open", "duration": "10 s",
        "link": { "path": { "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms" } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk", "size": "200 kB", "close": "never" } } }
    }));
}

#[test]
fn what_a_router_says_arrives_between_packets_that_were_known_before_their_time() {
    assert_unchanged(&json!({
        "name": "mtu", "duration": "100 ms",
        "topology": { "template": "dumbbell", "bottleneck": { "reverse": { "path_mtu": { "size": "355 B" } } } },
        "flow": { "f": { "from": "right", "to": "left", "workload": { "type": "page" } } }
    }));
}
