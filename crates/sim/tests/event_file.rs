//! Events that stream to a file are those that the table would have held; parts of a run hold those that it has there.

use crate::common::*;
use crosswind_record::{Column, eventfile};
use serde_json::{Value, json};

fn scenario(record: Value) -> Value {
    json!({
        "name": "streamed", "duration": "60 s",
        "link": { "path": { "from": "a", "to": "b", "rate": "2 Mbit/s", "delay": "20 ms", "queue": { "limit": "10 packets" } } },
        "flow": { "bulk": { "from": "a", "to": "b", "count": 2, "workload": { "type": "bulk", "size": "200 kB" } } },
        "record": record
    })
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads what the run has written")]
fn a_streamed_event_is_a_row_of_the_table() {
    let (folder, name) = (std::env::temp_dir(), format!("crosswind-events-{}.npy", std::process::id()));
    let path = folder.join(&name);
    let in_memory = run(&scenario(json!({ "events": "all" })));
    let there = crosswind_sim::runs::Request { folder, ..request() };
    let streamed = run_with(&[scenario(json!({ "events": "all", "event_file": name }))], &there);
    let bytes = std::fs::read(&path).expect("the run has written it");
    std::fs::remove_file(&path).expect("it is there");
    assert!(streamed.get("event").is_none(), "nothing is kept in memory");
    let t = table(&in_memory, "event");
    assert!(t.rows() > 500);
    assert_eq!(bytes.len(), eventfile::HEADER_BYTES + t.rows() * eventfile::RECORD_BYTES);
    assert_eq!(bytes[..eventfile::HEADER_BYTES], eventfile::header(t.rows() as u64));
    let records = bytes[eventfile::HEADER_BYTES..].chunks(eventfile::RECORD_BYTES);
    let (Some(Column::U64(times)), Some(Column::U64(seqs))) = (t.get("time_ns"), t.get("seq")) else { panic!() };
    for (i, r) in records.enumerate() {
        assert_eq!((u64_at(r, 0), u64_at(r, 8)), (times[i], seqs[i]), "event {i}");
        assert!(
            r[28..].starts_with(text(t, "kind", i).as_bytes()) && r[40..].starts_with(text(t, "end", i).as_bytes())
        );
    }
}

#[test]
fn a_file_without_chosen_flows_is_refused() {
    let s = scenario(json!({ "event_file": "events.npy" })).to_string();
    let e = crosswind_sim::scenario::parse(&s, &crosswind_sim::scenario::Registries).expect_err("no flows are chosen");
    assert_eq!(e.path, "record.event_file");
}

#[test]
fn only_the_chosen_parts_of_a_run_are_recorded() {
    let all = run(&scenario(json!({ "events": "all" })));
    let parts = run(&scenario(json!({ "events": "all", "between": [["0.2 s", "0.5 s"], ["1 s", "1.1 s"]] })));
    let times = |tables: &crosswind_record::Tables| match table(tables, "event").get("time_ns") {
        Some(Column::U64(t)) => t.clone(),
        _ => panic!("events have times"),
    };
    let inside = |t: &u64| (200_000_000..500_000_000).contains(t) || (1_000_000_000..1_100_000_000).contains(t);
    let expected: Vec<u64> = times(&all).into_iter().filter(inside).collect();
    assert!(expected.len() > 50 && expected.len() < times(&all).len());
    assert_eq!(times(&parts), expected);
}

#[test]
fn parts_of_a_run_are_pairs_of_times_that_lie_in_it() {
    for wrong in [json!(["3 s", "3 s"]), json!(["60 s", "61 s"]), json!(["3 s"]), json!("3 s")] {
        let s = scenario(json!({ "events": "all", "between": [["1 s", "2 s"], wrong] })).to_string();
        let e = crosswind_sim::scenario::parse(&s, &crosswind_sim::scenario::Registries).expect_err("no such part");
        assert_eq!(e.path, "record.between[1]");
        assert!(e.expected.contains("time"), "{e}");
    }
}
