//! A run that breaks down costs itself only; a run that is told to stop stops; what asks for endless work is refused.

use crate::common::*;
use crosswind_record::Tables;
use crosswind_sim::flows::OwnLaws;
use crosswind_sim::runs::{Progress, Request, run_many};
use crosswind_transport::tcp::Trigger;
use crosswind_transport::tcp::law::own::{Facts, OwnLaw};
use crosswind_transport::tcp::params::Maker;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A law that may break down.
struct Breaks {
    now: bool,
}

impl OwnLaw for Breaks {
    fn on_ack(&mut self, facts: &Facts) -> Option<f64> {
        assert!(!self.now || facts.cwnd_segments < 8.0, "the law has broken down");
        None
    }
    fn reduce(&mut self, _: Trigger, _: &Facts) -> Option<f64> {
        None
    }
    fn copy(&self) -> Box<dyn OwnLaw> {
        Box::new(Breaks { now: self.now })
    }
}

fn scenario(sharing: Value) -> Value {
    json!({
        "name": "breaks", "duration": "20 s", "sharing": sharing,
        "link": { "path": { "from": "a", "to": "b", "rate": "2 Mbit/s", "delay": "20 ms", "queue": { "limit": "10 packets" } } },
        "flow": { "bulk": { "from": "a", "to": "b", "workload": { "type": "bulk", "size": "200 kB" },
                            "tcp": { "law": "own", "own_law": "breaks" } } },
        "record": { "sample": "100 ms", "events": "all" },
    })
}

/// Six repetitions in one thread; the law that is made as number `broken` breaks down.
fn runs(sharing: Value, broken: Option<usize>) -> (Tables, Vec<(u32, u32, String)>) {
    let made = Arc::new(AtomicUsize::new(0));
    let maker = Maker::new(move |_| {
        let now = Some(made.fetch_add(1, Ordering::Relaxed)) == broken;
        Box::new(Breaks { now })
    });
    let laws = OwnLaws::from([("breaks".to_string(), maker)]);
    let request = Request { reps: (0..6).collect(), reps_total: 6, laws, ..request() };
    let done = run_many(&[plan(&scenario(sharing))], &request, &Progress::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(!done.interrupted);
    (done.tables, done.failed.into_iter().map(|f| (f.scenario, f.rep, f.why)).collect())
}

/// The numbers of the repetitions in a table.
fn reps(t: &Tables, name: &str) -> Vec<u32> {
    let t = table(t, name);
    let mut all: Vec<u32> = (0..t.rows()).map(|r| number(t, "rep", r) as u32).collect();
    all.dedup();
    all
}

#[test]
fn a_run_that_panics_costs_itself_only() {
    let (whole, none) = runs(json!({}), None);
    assert_eq!((reps(&whole, "run"), none.len()), ((0..6).collect(), 0));
    let (rest, failed) = runs(json!({}), Some(2));
    assert_eq!(failed.len(), 1);
    let broken = failed[0].1;
    assert!(failed[0].0 == 0 && (1..5).contains(&broken), "{failed:?}");
    let others: Vec<u32> = (0..6).filter(|r| *r != broken).collect();
    assert!(failed[0].2.contains("the law has broken down"), "{}", failed[0].2);
    for name in ["run", "flow", "link", "sample", "event"] {
        assert_eq!(reps(&rest, name), others, "{name}");
        let column = if name == "run" { "end_ns" } else { "rep" };
        let of = |t: &Tables| {
            let t = table(t, name);
            let rows = (0..t.rows()).filter(|r| number(t, "rep", *r) as u32 != broken);
            rows.map(|r| number(t, column, r)).collect::<Vec<_>>()
        };
        assert_eq!(of(&rest), of(&whole), "{name}: the others are as they would have been");
    }
}

#[test]
fn those_that_would_have_inherited_from_it_are_not_made_up() {
    let (rest, failed) = runs(json!({ "persist": "across-repetitions" }), Some(2));
    let broken = failed[0].1;
    assert!((1..5).contains(&broken), "{failed:?}");
    assert_eq!(reps(&rest, "run"), (0..broken).collect::<Vec<_>>());
    assert_eq!(failed.iter().map(|f| f.1).collect::<Vec<_>>(), (broken..6).collect::<Vec<_>>());
    assert!(failed[1].2.contains("not run"), "{}", failed[1].2);
}

/// A law during whose first ACK somebody wants the run no more; it counts those that come all the same.
struct Stops {
    progress: Arc<Progress>,
    acks: Arc<AtomicUsize>,
}

impl OwnLaw for Stops {
    fn on_ack(&mut self, _: &Facts) -> Option<f64> {
        self.progress.cancel.store(true, Ordering::Relaxed);
        self.acks.fetch_add(1, Ordering::Relaxed);
        None
    }
    fn reduce(&mut self, _: Trigger, _: &Facts) -> Option<f64> {
        None
    }
    fn copy(&self) -> Box<dyn OwnLaw> {
        Box::new(Stops { progress: self.progress.clone(), acks: self.acks.clone() })
    }
}

#[test]
fn a_run_stops_soon_when_it_is_told_to() {
    // Ten seconds, after which a run looks up in any case, are some six million packets.
    let s = json!({ "name": "long", "duration": "1000 s",
        "link": { "l": { "from": "a", "to": "b", "rate": "8 Gbit/s", "delay": "1 ms" } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" }, "tcp": { "law": "own", "own_law": "stops" } } } });
    let (progress, acks) = (Arc::new(Progress::default()), Arc::new(AtomicUsize::new(0)));
    let law = Stops { progress: progress.clone(), acks: acks.clone() };
    let laws = OwnLaws::from([("stops".to_string(), Maker::new(move |_| law.copy()))]);
    let request = Request { laws, ..request() };
    let done = run_many(&[plan(&s)], &request, &progress).unwrap_or_else(|e| panic!("{e}"));
    assert!(done.interrupted && done.failed.is_empty() && done.tables.get("run").is_none_or(|t| t.rows() == 0));
    let after = acks.load(Ordering::Relaxed);
    assert!((1..100_000).contains(&after), "{after} ACKs came");
}

#[test]
fn endless_work_is_refused_before_it_begins() {
    let flow = |workload: Value, count: u32| {
        json!({ "name": "endless", "duration": "1000 s",
            "link": { "l": { "from": "a", "to": "b", "spikes": "none" } },
            "flow": { "f": { "from": "a", "to": "b", "count": count, "workload": workload } } })
    };
    let cbr = |key: &str, v: &str| json!({ "type": "cbr", "payload": "100 B", key: v });
    let cases = [
        (cbr("interval", "1.5 ns"), 1, "flow.f.workload.interval"),
        (cbr("rate", "100 Gbit/s"), 1, "flow.f.workload.rate"),
        (cbr("interval", "1 ms"), 10_000, "flow.f.workload.interval"),
        (json!({ "type": "ping", "interval": "1 ns" }), 1, "flow.f.workload.interval"),
        (json!({ "type": "web", "every": "1 ns" }), 1, "flow.f.workload.every"),
        (
            json!({ "type": "on-off", "payload": "9 B", "rate": "100 Gbit/s", "on": "2 s", "off": "1 s" }),
            1,
            "flow.f.workload.rate",
        ),
        (json!({ "type": "on-off", "payload": "9 B", "interval": "1 s", "on": "1 ns", "off": "1 ns" }), 1, ""),
    ];
    for (workload, count, path) in cases {
        let s = flow(workload.clone(), count);
        if path.is_empty() {
            plan(&s);
            continue;
        }
        let e = refusal(&s);
        assert_eq!(e.path, path, "{workload}: {e}");
        assert!(e.found.contains("in 1000 s") && e.expected.contains("2e9"), "{e}");
    }
    plan(&flow(json!({ "type": "cbr", "payload": "100 B", "interval": "1.5 ns", "packets": 1000 }), 1));
}

#[test]
fn spikes_that_never_end_are_refused() {
    let with = |spikes: Value| {
        json!({ "name": "closed", "duration": "10 s", "link": { "l": { "from": "a", "to": "b", "spikes": spikes } },
            "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" } } } })
    };
    for wrong in [
        json!({ "first": "0 s", "every": "1 s" }),
        json!({ "every": "2 s", "length": "2 s" }),
        json!({ "every": { "uniform": ["1 s", "3 s"] }, "length": { "exponential": "3 s" } }),
    ] {
        let e = refusal(&with(wrong.clone()));
        assert!(e.path == "link.l.spikes.length" && e.expected.contains("every"), "{wrong}: {e}");
    }
    plan(&with(json!({ "first": "0 s", "every": "1 s", "spacing": "end-to-start" })));
    plan(&with(json!({ "every": "2 s", "length": "1999 ms" })));
}

#[test]
fn what_only_a_world_finds_wrong_is_found_before() {
    for queue in [json!("prio"), json!("htb"), json!("tbf")] {
        let mut queue = json!({ "type": queue });
        if queue["type"] == "prio" {
            queue["class"] = json!({ "all": { "prio": 1 } });
        }
        let link = json!({ "from": "a", "to": "b", "queue": queue, "spikes": { "first": "1 s", "discard": 20 } });
        let s = json!({ "name": "discards", "duration": "3 s", "link": { "l": link },
            "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk" } } } });
        let parsed = crosswind_sim::scenario::parse(&s.to_string(), &crosswind_sim::scenario::Registries);
        let compiled = parsed.and_then(|s| crosswind_sim::scenario::compile(&s));
        assert_eq!(compiled.expect_err("these queues keep their order").path, "link.l.spikes.discard");
    }
}

#[test]
fn writes_of_two_bytes_are_no_work() {
    // A socket's buffer of a gigabyte, filled two bytes at a time: that would be half a billion writes.
    let s = |write: &str| {
        json!({ "name": "crumbs", "duration": "10 s",
            "link": { "l": { "from": "a", "to": "b", "rate": "10 Mbit/s", "queue": { "limit": "30 packets" } } },
            "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "bulk", "write": write } } } })
    };
    let goodput = |write| of_flow(&run(&s(write)), "f", "goodput_bps");
    assert_within(goodput("2 B"), goodput("100 MB"), 1.0);
}
