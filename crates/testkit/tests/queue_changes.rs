//! Parameters of queues that change during a run, for every queue and every key: what is set before the first packet is what is
//! written in the scenario, what is set to what it is changes nothing, and what a queue promises to those in front of it.

use crosswind_base::{Backlog, Streams};
use crosswind_net::queue::{BoxQueue, QueueDisc, Removal};
use crosswind_net::registry::{self, BuildCx, Kind, ROWS, Row};
use crosswind_testkit::alone::{Alone, Outcome, Plan, bases, table, tries};
use serde_json::{Map, Value, json};

fn queues() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|r| r.kind == Kind::Queue)
}

fn driven(queue: &Value, plan: &Plan<'_>) -> Outcome {
    Alone::new(queue, 3).unwrap_or_else(|e| panic!("{queue}: {e}")).run(plan)
}

const WHOLE: Plan<'_> = Plan { steps: 400, change: None, takes_out_every: None };

/// Tables of tables, of which a change names only what is new.
const NESTED: [&str; 3] = ["queue", "class", "filter"];

#[test]
fn what_is_set_before_the_first_packet_is_what_is_written_in_the_scenario() {
    let (mut wrong, mut taken) = (Vec::new(), 0);
    for row in queues() {
        for base in [json!({"type": row.name}), bases(row).pop().expect("a row has a setup")] {
            for (key, v) in tries(row).into_iter().filter(|(key, _)| !NESTED.contains(&key.as_str())) {
                let mut queue = base.clone();
                queue[&key] = v.clone();
                let changed = driven(&base, &Plan { change: Some((0, &table(&key, &v))), ..WHOLE });
                let what = format!("{base}: {key} = {v}");
                match (Alone::new(&queue, 3).map(|a| a.run(&WHOLE).hash), changed.taken) {
                    (Ok(written), Some(Ok(()))) if written == changed.hash => taken += 1,
                    (Ok(_), Some(Ok(()))) if goes_on(row.name, &key) => {}
                    (Ok(_), Some(Ok(()))) => wrong.push(format!("{what} is another queue when it is set")),
                    (Ok(_), Some(Err(_))) if is_fixed(row.name, &key) => {}
                    (Ok(_), _) => wrong.push(format!("{what} cannot be set")),
                    (Err(_), Some(Err(_))) => {}
                    (Err(e), _) => wrong.push(format!("{what} can be set, and not be written: {e}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(taken > 500, "{taken}");
}

/// What decides how many laws, queues or classes there are, or which packets wait where.
const FIXED: [(&str, &[&str]); 14] = [
    ("cake", &["ack_filter", "isolation", "tins"]),
    ("cobalt", &["profile"]),
    ("codel", &["profile"]),
    ("dualpi2", &["profile"]),
    ("fq-codel", &["flows", "isolation"]),
    ("fq-pie", &["estimator", "flows", "isolation", "profile"]),
    ("htb", &["cell", "default", "hysteresis", "kbit", "mpu", "overhead", "oversubscription", "r2q", "tick"]),
    ("pie", &["estimator", "profile"]),
    ("prio", &["default"]),
    ("red-linux", &["adaptive"]),
    ("rio", &["profile", "red"]),
    ("sfq", &["flows"]),
    ("tbf", &["metered", "peak_rate"]),
    ("wred", &["profile", "red"]),
];

fn is_fixed(name: &str, key: &str) -> bool {
    FIXED.iter().any(|(row, keys)| *row == name && keys.contains(&key))
}

/// What goes on as it was begun: a clock whose due step comes at its time and only those after it at the new distance, and the
/// places of queues that were laid out for the limit of the beginning.
fn goes_on(name: &str, key: &str) -> bool {
    match name {
        "pie" | "fq-pie" => key == "t_update",
        "pi2" | "dualpi2" => matches!(key, "t_update" | "target"),
        "sfq" => key == "limit",
        _ => false,
    }
}

#[test]
fn what_is_set_to_what_it_is_changes_nothing() {
    let mut wrong = Vec::new();
    for row in queues() {
        for queue in bases(row) {
            let alone = driven(&queue, &WHOLE);
            let set = driven(&queue, &Plan { change: Some((200, &Map::new())), ..WHOLE });
            if set.hash != alone.hash || set.taken != Some(Ok(())) {
                wrong.push(format!("{queue}: {:?}", set.taken));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const PROMISED: [&str; 24] = [
    "droptail",
    "bounded",
    "red-floyd-jacobson",
    "red-linux",
    "red-ns2",
    "rio",
    "wred",
    "early-discard",
    "lpd",
    "codel",
    "cobalt",
    "fq-codel",
    "fq-pie",
    "fq",
    "sfq",
    "sfb",
    "drr",
    "cake",
    "rem",
    "pi",
    "pie",
    "tbf",
    "prio",
    "htb",
];

/// What those in front of a queue may rely on: it refuses at arrival or never, it takes what fits, it gives up packets.
#[test]
fn queues_promise_what_they_keep() {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward").of_link(Some(crosswind_base::BitRate(2_000_000)), None);
    let kept = |names: &[&str], promise: &dyn Fn(&BoxQueue) -> bool| {
        for row in queues().filter(|row| PROMISED.contains(&row.name)) {
            let queue = json!({"type": row.name});
            let q = registry::build_queue(&queue, "q", &cx).unwrap_or_else(|e| panic!("{queue}: {e}"));
            assert_eq!(promise(&q), names.contains(&row.name), "{}", row.name);
        }
    };
    let red = ["red-floyd-jacobson", "red-linux", "red-ns2", "rio", "wred"];
    let at_arrival = [&["droptail", "early-discard", "sfb", "pie"][..], &red[..]].concat();
    kept(&at_arrival, &|q| q.decides_on_arrival());
    kept(&["droptail"], &|q| q.always_admits(Backlog { bytes: 1500, packets: 1 }));
    let all_but = |others: &[&str]| PROMISED.into_iter().filter(|n| !others.contains(n)).collect::<Vec<_>>();
    kept(&all_but(&["rio", "wred", "tbf", "prio", "htb"]), &|q| q.removal() == Removal::Possible);
}
