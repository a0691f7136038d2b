//! What every element does with varied traffic, bit by bit: each in each of its setups, and each queue with each value of
//! each of its keys, from the start and changed during a run. Who is served when, who is dropped, for what reason, what is
//! written into packets, all momentary values, all totals. Kept as one hash each (`crates/testkit/src/kept.rs`).

use crosswind_base::{DropReason, Dur, Streams};
use crosswind_net::registry::{self, Kind, ROWS, Row};
use crosswind_testkit::alone::{
    Alone, Outcome, Plan, Traffic, bases, hash_entries, hash_packet, hash_report, hash_taken, hash_values, table, tries,
};
use crosswind_testkit::bench::Bench;
use crosswind_testkit::conformance::{Setup, setups};
use crosswind_testkit::kept::{self, Hash, Hashes};
use serde_json::{Value, json};

/// An element in front of or on a link of 2 Mbit/s: first alone, then with changes, then with packets taken out of it.
fn stage(setup: &Setup, row: &Row, seed: u64) -> Hash {
    let mut h = Hash::default();
    let mut bench = Bench::new(if seed == 0 { setup.build(seed) } else { setup.build_changing(seed) });
    let mut rng = Streams::new(seed).named("steps");
    let mut traffic = Traffic(Streams::new(seed).named("traffic"));
    let changes = tries(row);
    let mut next_change = 0;
    for i in 0..2400u64 {
        let load = [0.3, 1.6, 0.9][i as usize / 300 % 3];
        let gap = if rng.chance(0.2) { 0.0 } else { rng.exponential(900.0 * 8.0 / 2e6 / load) };
        let at = bench.now + Dur::from_secs_f64(gap + if rng.chance(0.002) { 0.7 } else { 0.0 });
        let (p, ext) = traffic.next(i, at);
        bench.offer_packet(at, p, ext);
        if i % 100 == 99 {
            hash_values(&mut h, &bench.sample());
        }
        if seed == 1 && i % 80 == 79 && !changes.is_empty() {
            let (key, v) = &changes[next_change % changes.len()];
            next_change += 1;
            let set = table(key, v);
            let set = if row.kind == Kind::Queue { table("queue", &Value::Object(set)) } else { set };
            hash_taken(&mut h, &bench.change(at, &set));
        }
        if seed == 2 && i % 150 == 149 {
            bench.purge(|p| p.seq % 3 == 1, DropReason::Expired);
        }
    }
    hash_report(&mut h, &bench.report());
    bench.drain();
    hash_entries(&mut h, &bench.log.entries);
    bench.deliveries.iter().for_each(|d| h.words(&[d.at.0, d.seq]));
    bench.delivered.iter().for_each(|(p, e)| hash_packet(&mut h, p, e.as_ref()));
    hash_report(&mut h, &bench.report());
    h
}

/// A name that does not depend on the order of the setups.
fn name_of(row: &Row, what: &impl std::fmt::Debug) -> String {
    format!("{} {:08x}", row.name, Hash::of(&format!("{what:?}")) as u32)
}

fn stages(wanted: impl Fn(Kind) -> bool) -> Hashes {
    let mut found = Hashes::new();
    for row in ROWS.iter().filter(|r| wanted(r.kind)) {
        for setup in setups(row) {
            for seed in 0..3 {
                found.insert(format!("{} {seed}", name_of(row, &setup)), stage(&setup, row, seed));
            }
        }
    }
    found
}

#[test]
fn links_losses_and_delayers_do_what_they_did() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/links.txt");
    kept::check(include_str!("kept/links.txt"), path, &stages(|k| !matches!(k, Kind::Queue | Kind::Meter)));
}

#[test]
fn queues_in_front_of_a_link_do_what_they_did() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/stages.txt");
    kept::check(include_str!("kept/stages.txt"), path, &stages(|k| k == Kind::Queue));
}

fn driven(queue: &Value, seed: u64, plan: &Plan<'_>) -> Outcome {
    Alone::new(queue, seed).unwrap_or_else(|e| panic!("{queue}: {e}")).run(plan)
}

#[test]
fn queues_alone_do_what_they_did() {
    let mut found = Hashes::new();
    for row in ROWS.iter().filter(|r| r.kind == Kind::Queue) {
        for queue in bases(row) {
            for (seed, takes_out_every) in [(1, None), (2, Some(60))] {
                let outcome = driven(&queue, seed, &Plan { steps: 3000, takes_out_every, ..Plan::default() });
                found.insert(format!("{} {seed}", name_of(row, &queue)), outcome.hash);
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/queues.txt");
    kept::check(include_str!("kept/queues.txt"), path, &found);
}

/// Whatever is refused leaves a queue as it was, down to the classes that stood before the wrong one.
#[test]
fn a_change_that_is_refused_changes_nothing() {
    let whole = Plan { steps: 400, ..Plan::default() };
    let mut refused = 0;
    for row in ROWS.iter().filter(|r| r.kind == Kind::Queue) {
        for base in [json!({"type": row.name}), bases(row).pop().expect("a row has a setup")] {
            let unchanged = driven(&base, 3, &whole).hash.value();
            for (key, v) in tries(row) {
                let set = table(&key, &v);
                let tried = driven(&base, 3, &Plan { change: Some((200, &set)), ..whole });
                if tried.taken.as_ref().is_some_and(Result::is_err) {
                    refused += 1;
                    assert_eq!(tried.hash.value(), unchanged, "{}: {key} = {v}", row.name);
                }
            }
        }
    }
    assert!(refused > 50, "only {refused} changes were refused");
}

/// The queue of a row with each value of each key, from the start and from the middle of a run, or where it is refused.
fn with_each_value(row: &Row) -> Hashes {
    let (bare, last) = (json!({"type": row.name}), bases(row).pop().expect("a row has a setup"));
    let (whole, mut found) = (Plan { steps: 400, ..Plan::default() }, Hashes::new());
    for (which, base) in [("bare", bare), ("tuned", last)] {
        for (key, v) in tries(row) {
            let mut queue = base.clone();
            queue[&key] = v.clone();
            let h = found.entry(format!("{} {which} {key}", row.name)).or_default();
            match registry::normalise(Kind::Queue, &queue, "queue") {
                Ok(full) => {
                    h.text(&full.to_string());
                    h.word(Alone::new(&queue, 3).map_or(0, |a| a.run(&whole).hash.value()));
                }
                Err(e) => h.text(&e.path),
            }
            let set = table(&key, &v);
            let changed = driven(&base, 3, &Plan { change: Some((200, &set)), ..whole });
            h.word(changed.hash.value());
            h.text(&format!("{:?}", changed.taken));
        }
    }
    found
}

#[test]
fn queues_do_what_they_did_with_every_value_of_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/values.txt");
    let found = ROWS.iter().filter(|r| r.kind == Kind::Queue).flat_map(with_each_value).collect();
    kept::check(include_str!("kept/values.txt"), path, &found);
}
