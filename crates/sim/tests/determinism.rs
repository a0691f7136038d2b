//! The same scenario and seed give the same tables, byte by byte, whatever the number of workers; ties can be shuffled;
//! and a component draws from its own random stream, whoever its neighbours are.

use crate::common::*;
use crosswind_record::{Column, Table, Tables};
use crosswind_sim::runs::Request;
use crosswind_sim::world::Ties;
use serde_json::{Value, json};

/// Everything that draws random numbers: starts, losses, RED.
fn noisy() -> Value {
    json!({
        "name": "noisy",
        "duration": "20 s",
        "topology": {
            "template": "dumbbell", "pairs": 4,
            "access": { "rate": "100 Mbit/s", "delay": "2 ms" },
            "bottleneck": {
                "rate": "5 Mbit/s", "delay": "20 ms",
                "queue": { "type": "red-ns2", "limit": "100 packets" },
                "loss": { "type": "uniform", "probability": 0.002 }
            }
        },
        "flow": {
            "long": { "from": "left", "to": "right", "count": 4, "start": { "uniform": ["0 s", "2 s"] },
                      "workload": { "type": "bulk" }, "tcp": { "preset": "rfc", "ecn": "on" } },
            "short": { "from": "left-1", "to": "right-2", "start": { "stratified": ["1 s", "9 s"] },
                       "workload": { "type": "bulk", "size": "100 kB" },
                       "tcp": { "preset": "enhanced-linux-2.4" } }
        },
        "record": { "sample": "100 ms", "events": "all" }
    })
}

/// Symmetric flows that start together: full of simultaneous events, without any random number.
fn symmetric() -> Value {
    json!({
        "name": "symmetric",
        "duration": "10 s",
        "topology": {
            "template": "dumbbell", "pairs": 3,
            "access": { "rate": "10 Mbit/s", "delay": "1 ms" },
            "bottleneck": { "rate": "5 Mbit/s", "delay": "20 ms", "queue": { "limit": "20 packets" } }
        },
        "flow": { "bulk": { "from": "left", "to": "right", "count": 3, "workload": { "type": "bulk" } } }
    })
}

/// Wall time is the one thing that may differ between equal runs.
fn is_measured_outside(table: &str, column: &str) -> bool {
    table == "run" && column == "wall_ns"
}

/// The first cell in which two results differ.
fn difference(a: &Tables, b: &Tables) -> Option<String> {
    let names = |t: &Tables| t.iter().map(|t| t.name().to_string()).collect::<Vec<_>>();
    if names(a) != names(b) {
        return Some(format!("tables {:?} and {:?}", names(a), names(b)));
    }
    a.iter().zip(b.iter()).find_map(|(x, y)| table_difference(x, y))
}

fn table_difference(x: &Table, y: &Table) -> Option<String> {
    if x.rows() != y.rows() {
        return Some(format!("table {} has {} rows and {} rows", x.name(), x.rows(), y.rows()));
    }
    let columns = x.columns().iter().zip(y.columns());
    columns
        .filter(|((n, _), _)| !is_measured_outside(x.name(), n))
        .find_map(|((n, c), (m, d))| (n != m || c != d).then(|| format!("table {}, column {n} (or {m})", x.name())))
}

/// How the engine worked depends on who watches.
fn is_of_the_engine(column: &str) -> bool {
    ["wall_ns", "events", "peak_packets"].contains(&column)
}

#[test]
fn a_run_that_nobody_watches_and_that_gathers_packets_gives_the_same_results() {
    let scenarios = [
        ("noisy", noisy()),
        ("symmetric", symmetric()),
        ("long and short", long_and_short()),
        ("timeless domain", domain("")),
    ];
    for (name, scenario) in scenarios {
        let with = |events: Value| {
            let mut s = scenario.clone();
            s["record"] = json!({ "sample": "100 ms", "events": events });
            run(&s)
        };
        let (watched, alone) = (with(json!("all")), with(json!([])));
        let events = |t: &Tables| number(table(t, "run"), "events", 0);
        assert!(events(&alone) < 0.8 * events(&watched), "{name}: {} and {}", events(&alone), events(&watched));
        for of_alone in alone.iter() {
            let of_watched = table(&watched, of_alone.name());
            for ((column, a), (_, b)) in of_alone.columns().iter().zip(of_watched.columns()) {
                assert!(a == b || is_of_the_engine(column), "{name}: {}.{column}", of_alone.name());
            }
        }
    }
}

#[test]
fn totals_are_the_same_however_often_one_looks() {
    let scenarios = [
        ("noisy", noisy()),
        ("symmetric", symmetric()),
        ("long and short", long_and_short()),
        ("domain", domain("80 kbit/s")),
        ("timeless domain", domain("")),
    ];
    for (name, scenario) in scenarios {
        let with = |sample: Value| {
            let mut s = scenario.clone();
            s["record"] = sample;
            run(&s)
        };
        let (seldom, often) = (with(json!({})), with(json!({ "sample": "13 ms" })));
        let little = with(json!({ "sample": "13 ms", "sampled": ["bottleneck"] }));
        for kind in ["flow", "link"] {
            assert_eq!(table_difference(table(&seldom, kind), table(&often, kind)), None, "{name}");
            assert_eq!(table_difference(table(&seldom, kind), table(&little, kind)), None, "{name}, one line sampled");
        }
        assert_eq!(of_the_bottleneck(&often), of_the_bottleneck(&little), "{name}: sampled alone or with all others");
    }
}

/// Streams through a domain of two queues, into which packets come in the middle too; with a meter where `profile` is one.
fn domain(profile: &str) -> Value {
    let wire = |from: &str, to: &str| json!({ "from": from, "to": to, "rate": "1 Gbit/s", "delay": "1 ms" });
    let hop = |from: &str, to: &str, rate: &str| {
        json!({ "from": from, "to": to, "rate": rate, "delay": "1 ms", "type": "reordering", "share": 0.0, "counts": "all",
                "jitter": "100 ns", "queue": { "type": "early-discard", "limit": "20 packets" } })
    };
    let stream = |from: &str, to: &str| {
        json!({ "from": from, "to": to, "count": 20, "queue_delay_limits": ["10 ms"],
                "workload": { "type": "on-off", "payload": "172 B", "interval": "7 ms",
                              "on": { "exponential": "350 ms" }, "off": { "exponential": "650 ms" }, "first": "off" } })
    };
    let contract = |flow: &str| {
        let mut c = json!({ "domain": "core", "flow": flow, "mtq": "5 ms", "class": "AF1" });
        if !profile.is_empty() {
            c["meter"] = json!({ "type": "tsw2cm", "cir": profile });
        }
        c
    };
    json!({
        "name": "domain",
        "duration": "20 s",
        "link": {
            "in": wire("host-1", "node-1"), "also-in": wire("host-2", "node-2"),
            "hop": hop("node-1", "node-2", "1.5 Mbit/s"), "bottleneck": hop("node-2", "node-3", "2.5 Mbit/s")
        },
        "flow": { "far": stream("host-1", "node-3"), "near": stream("host-2", "node-3") },
        "domain": { "core": { "nodes": ["node-1", "node-2", "node-3"] } },
        "contract": { "far": contract("far"), "near": contract("near") },
        "record": { "sample": "100 ms" }
    })
}

/// Its samples: time, metric and value.
fn of_the_bottleneck(t: &Tables) -> Vec<(u64, String, f64)> {
    let t = table(t, "sample");
    let (Some(Column::U64(at)), Some(Column::F64(value))) = (t.get("time_ns"), t.get("value")) else { panic!() };
    let (Some(Column::Text(of)), Some(Column::Text(metric))) = (t.get("entity"), t.get("metric")) else { panic!() };
    let rows = at.iter().zip(of.iter()).zip(metric.iter().zip(value));
    let kept = rows.filter(|((_, of), _)| of.starts_with("bottleneck/"));
    let kept: Vec<_> = kept.map(|((at, _), (metric, value))| (*at, metric.to_string(), *value)).collect();
    assert!(kept.len() > 1000, "it is sampled");
    kept
}

/// Access lines whose lengths differ by far more than a queue.
fn long_and_short() -> Value {
    let line =
        |from: &str, to: &str, delay: &str| json!({ "from": from, "to": to, "rate": "50 Mbit/s", "delay": delay });
    let flow = |from: &str, start: &str| {
        json!({ "from": from, "to": "sink", "start": start, "workload": { "type": "bulk" },
                "tcp": { "preset": "rfc", "initial_ssthresh": "60 kB" } })
    };
    json!({
        "name": "long-and-short",
        "duration": "12 s",
        "link": {
            "near": line("a", "left", "1 ms"),
            "far": line("b", "left", "150 ms"),
            "next": line("c", "left", "3 ms"),
            "bottleneck": { "from": "left", "to": "right", "rate": "5 Mbit/s", "delay": "20 ms",
                            "queue": { "limit": "30 packets" } },
            "last": line("right", "sink", "1 ms")
        },
        "flow": { "near": flow("a", "0 s"), "far": flow("b", "50 ms"), "next": flow("c", "1 s") }
    })
}

#[test]
fn a_scenario_run_twice_gives_identical_tables() {
    let (a, b) = (run(&noisy()), run(&noisy()));
    assert_eq!(difference(&a, &b), None);
    assert!(table(&a, "event").rows() > 1000 && table(&a, "sample").rows() > 1000, "there is something to compare");
}

#[test]
fn another_seed_gives_other_tables() {
    let other = Request { seed: 2, ..request() };
    assert!(difference(&run(&noisy()), &run_with(&[noisy()], &other)).is_some());
}

#[test]
fn one_worker_and_many_give_identical_tables_in_the_same_order() {
    let of = |workers| Request { reps: (0..6).collect(), reps_total: 6, workers, ..request() };
    let scenarios = [noisy(), symmetric()];
    let alone = run_with(&scenarios, &of(1));
    for workers in [2, 5] {
        assert_eq!(difference(&alone, &run_with(&scenarios, &of(workers))), None, "{workers} workers");
    }
}

#[test]
fn a_repetition_is_the_same_alone_and_among_others() {
    let of = |reps: Vec<u32>| Request { reps, reps_total: 6, ..request() };
    let all = run_with(&[noisy()], &of((0..6).collect()));
    let fourth = run_with(&[noisy()], &of(vec![4]));
    let (all, fourth) = (table(&all, "flow"), table(&fourth, "flow"));
    let flows = fourth.rows();
    for row in 0..flows {
        for column in ["sent_packets", "drops_packets", "lost_packets", "marks_packets", "size_bytes"] {
            assert_eq!(number(all, column, 4 * flows + row), number(fourth, column, row), "{column} of row {row}");
        }
    }
}

#[test]
fn shuffled_ties_change_the_order_but_not_the_determinism() {
    let shuffled = |seed| Request { seed, ties: Ties::Shuffled, ..request() };
    let once = run_with(&[symmetric()], &shuffled(1));
    assert_eq!(difference(&once, &run_with(&[symmetric()], &shuffled(1))), None, "a seed decides the order");
    assert!(difference(&once, &run(&symmetric())).is_some(), "this scenario has ties, so their order shows");
    assert!(difference(&once, &run_with(&[symmetric()], &shuffled(2))).is_some(), "another seed, another order");
}

#[test]
fn a_run_with_shuffled_ties_says_where_the_order_decided_something() {
    let shuffled = Request { ties: Ties::Shuffled, ..request() };
    let met = |s: &Value| {
        let t = run_with(std::slice::from_ref(s), &shuffled);
        let run = table(&t, "run");
        let first = (number(run, "first_meeting_ns", 0), text(run, "first_meeting", 0).to_string());
        (number(run, "meetings_packets", 0), first)
    };
    let (packets, (at_ns, line)) = met(&symmetric());
    // Three hosts send their SYNs at time zero; each takes 41.6 us (52 B) on its line and 1 ms behind it.
    assert_eq!((at_ns, line.as_str()), (1_041_600.0, "bottleneck/forward"));
    assert!(packets > 20.0, "{packets}");
    let mut apart = symmetric();
    apart["flow"]["bulk"]["start"] = json!({ "uniform": ["0 s", "1 s"] });
    apart["flow"]["bulk"]["count"] = 1.into();
    assert_eq!(met(&apart), (0.0, (-1.0, String::new())));
    let (shuffled, ordered) = (run_with(&[apart.clone()], &shuffled), run(&apart));
    for name in ["flow", "link"] {
        assert_eq!(table_difference(table(&shuffled, name), table(&ordered, name)), None, "nothing met");
    }
}

#[test]
fn shuffled_ties_keep_the_books_balanced() {
    let t = run_with(&[symmetric()], &Request { ties: Ties::Shuffled, ..request() });
    // The shared link stays as busy whoever comes first.
    assert!(of_link(&t, "bottleneck", "utilisation_ratio") > 0.9);
    assert!(of_link(&t, "bottleneck", "queue_max_bytes") <= 20.0 * 1500.0);
}

/// A lossy link with one flow, and on request an unrelated one beside it that sorts first and draws a lot.
fn beside(neighbour: bool) -> Value {
    let link = |from: &str, to: &str| {
        json!({ "from": from, "to": to, "rate": "3 Mbit/s", "delay": "30 ms",
                "queue": { "type": "red-floyd-jacobson", "limit": "60 packets", "min_th": "5 packets",
                           "max_th": "30 packets" },
                "loss": { "type": "uniform", "probability": 0.01 } })
    };
    let flow = |from: &str, to: &str| json!({ "from": from, "to": to, "start": { "uniform": ["0 s", "1 s"] }, "workload": { "type": "bulk" } });
    let mut s = json!({
        "name": "beside", "duration": "30 s",
        "link": { "path": link("server", "client") },
        "flow": { "mine": flow("server", "client") }
    });
    if neighbour {
        s["link"]["a-path"] = link("a-server", "a-client");
        s["flow"]["a-flow"] = flow("a-server", "a-client");
    }
    s
}

fn cells(t: &Table, row: usize, without: &[&str]) -> Vec<(String, String)> {
    let cell = |c: &Column| match c {
        Column::U64(v) => v[row].to_string(),
        Column::I64(v) => v[row].to_string(),
        Column::F64(v) => v[row].to_bits().to_string(),
        Column::U32(v) => v[row].to_string(),
        Column::Text(v) => v.iter().nth(row).expect("the row exists").to_string(),
    };
    let wanted = t.columns().iter().filter(|(n, _)| !without.contains(&n.as_str()));
    wanted.map(|(n, c)| (n.clone(), cell(c))).collect()
}

fn row_of(t: &Table, column: &str, name: &str) -> usize {
    (0..t.rows()).find(|r| text(t, column, *r) == name).expect("the row exists")
}

#[test]
fn a_new_component_shifts_nobody_elses_draws() {
    let (alone, beside) = (run(&beside(false)), run(&beside(true)));
    assert!(of_flow(&alone, "mine", "lost_packets") > 10.0, "the flow has met its random losses");
    for (name, column, key) in [("flow", "name", "mine"), ("link", "link", "path")] {
        let (x, y) = (table(&alone, name), table(&beside, name));
        // The number of the flow moves, and the interval in which all flows are active is another one.
        let without = ["flow", "simultaneous_Bps"];
        let (x_row, y_row) = (row_of(x, column, key), row_of(y, column, key));
        assert_eq!(cells(x, x_row, &without), cells(y, y_row, &without), "table {name}");
    }
}

#[test]
fn hosts_forget_between_repetitions_as_often_as_they_are_told_to() {
    let scenario = |probability: f64| {
        json!({
            "name": "memory", "duration": "60 s",
            "link": { "path": { "from": "server", "to": "client", "rate": "1 Mbit/s", "delay": "50 ms",
                                "queue": { "limit": "5 packets" } } },
            "sharing": { "persist": "across-repetitions", "forget_probability": probability },
            "flow": { "bulk": { "from": "server", "to": "client", "workload": { "type": "bulk", "size": "300 kB" },
                                "tcp": { "preset": "enhanced-linux-2.4" } } }
        })
    };
    let fresh = |probability: f64| {
        let reps = 60;
        let request = Request { reps: (0..reps).collect(), reps_total: reps, ..request() };
        let t = run_with(&[scenario(probability)], &request);
        let flows = table(&t, "flow");
        (0..flows.rows()).filter(|r| number(flows, "ssthresh_initial_bytes", *r) == 65_535.0).count()
    };
    // The first repetition knows nothing; what the later ones know, they learnt from the drops of the one before.
    assert_eq!((fresh(0.0), fresh(1.0)), (1, 60));
    let some = fresh(0.33);
    assert!((12..=30).contains(&some), "{some} of 60");
}

#[test]
fn the_last_instant_of_a_run_is_whole() {
    // Two transfers that never meet end at one instant; the run waits for one of them.
    let line = |to: &str| json!({ "from": "a", "to": to, "rate": "2 Mbit/s", "delay": "10 ms" });
    let flow = |to: &str| json!({ "from": "a", "to": to, "workload": { "type": "bulk", "size": "30 kB" } });
    let twins = |until: &str| {
        json!({
            "name": "twins", "duration": "60 s", "until": [until],
            "link": { "left": line("b"), "right": line("c") },
            "flow": { "left": flow("b"), "right": flow("c") }
        })
    };
    let of = |until: &str, ties: Ties| run_with(&[twins(until)], &Request { ties, ..request() });
    let truth = of("left", Ties::Ordered);
    for (name, column) in [("flow", "name"), ("link", "link")] {
        let t = table(&truth, name);
        let of = |twin| cells(t, row_of(t, column, twin), &["flow", "name", "group", "link", "to"]);
        assert_eq!(of("left"), of("right"), "table {name}");
    }
    for (until, ties) in [("right", Ties::Ordered), ("left", Ties::Shuffled), ("right", Ties::Shuffled)] {
        let other = of(until, ties);
        for name in ["flow", "link"] {
            assert_eq!(table_difference(table(&truth, name), table(&other, name)), None, "until {until}, {ties:?}");
        }
    }
}

#[test]
fn a_memory_that_is_flushed_now_and_then_does_not_depend_on_the_number_of_workers() {
    let mut s = noisy();
    s["sharing"] = json!({ "lifetime": "7 s" });
    s["flow"]["web"] = json!({ "from": "left-2", "to": "right-3", "workload": { "type": "page", "objects": 40, "parallel": 1 },
        "tcp": { "preset": "baseline-linux-2.4", "share_ssthresh": "on" } });
    let of = |workers| Request { reps: (0..64).collect(), reps_total: 64, workers, ..request() };
    let alone = run_with(&[s.clone()], &of(1));
    assert_eq!(difference(&alone, &run_with(&[s], &of(3))), None);
}
