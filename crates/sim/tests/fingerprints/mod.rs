//! The results of varied scenarios, bit by bit: a faster engine must give the same tables.
//!
//! `stored.txt` holds one hash per column. After a change that is meant to move results (it stands in the changelog under
//! "Changed results"), write it anew and look at the difference:
//!
//! ```text
//! CROSSWIND_WRITE_FINGERPRINTS=1 cargo test -p crosswind-sim --test all fingerprints
//! git diff --stat crates/sim/tests/fingerprints/stored.txt
//! ```
//!
//! A new column is no failure: it is not in the file before that is written anew. Some laws use `ln` and `exp` of the
//! system's mathematical library; another library may round differently and move the scenarios with RED.

mod scenarios;

use crate::common::*;
use crosswind_record::{Table, Tables};
use crosswind_sim::runs::Request;
use crosswind_sim::world::Ties;
use scenarios::Kept;
use std::collections::BTreeMap;
use std::fmt::Write;

const STORED: &str = include_str!("stored.txt");

type Hashes = BTreeMap<String, String>;

/// `table.column` -> number of rows and hash.
fn hashes(tables: &Tables) -> Hashes {
    let of_table = |t: &Table| {
        let columns = t
            .columns()
            .iter()
            .map(|(name, c)| (format!("{}.{name}", t.name()), format!("{} {:016x}", t.rows(), hash_of(c))));
        columns.filter(|(name, _)| !NOT_A_RESULT.contains(&name.as_str())).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

fn results(kept: &Kept) -> Tables {
    let ties = if kept.shuffled { Ties::Shuffled } else { Ties::Ordered };
    let request = Request { reps: (0..kept.reps).collect(), reps_total: kept.reps, ties, ..request() };
    run_with(std::slice::from_ref(&kept.scenario), &request)
}

/// scenario -> column -> rows and hash, as stored.
fn stored() -> BTreeMap<&'static str, Hashes> {
    let mut all: BTreeMap<&str, Hashes> = BTreeMap::new();
    for line in STORED.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("a line is scenario, column, rows, hash");
        let (scenario, column, hash) = (word(), word(), word());
        all.entry(scenario).or_default().insert(column.into(), hash.into());
    }
    all
}

#[expect(clippy::disallowed_methods, reason = "writing the stored file is asked for through the environment")]
fn is_asked_to_write() -> bool {
    std::env::var("CROSSWIND_WRITE_FINGERPRINTS").is_ok_and(|v| v == "1")
}

#[expect(clippy::disallowed_methods, reason = "the stored results are a file of the test")]
fn write(found: &[(&'static str, Hashes)]) {
    let mut text = String::from("# scenario table.column rows hash; written by the test, see mod.rs\n");
    for (scenario, hashes) in found {
        for (column, hash) in hashes {
            writeln!(text, "{scenario} {column} {hash}").expect("text grows as it must");
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fingerprints/stored.txt");
    std::fs::write(path, text).expect("the folder of the test can be written");
}

#[test]
fn the_results_of_varied_scenarios_are_those_that_were_stored() {
    let found: Vec<(&str, Hashes)> = scenarios::all().iter().map(|k| (k.name, hashes(&results(k)))).collect();
    if is_asked_to_write() {
        return write(&found);
    }
    let (stored, mut wrong) = (stored(), Vec::new());
    for (scenario, found) in &found {
        let Some(stored) = stored.get(scenario) else {
            wrong.push(format!("{scenario}: never stored"));
            continue;
        };
        let differs = |(column, hash): &(&String, &String)| found.get(*column) != Some(*hash);
        let columns: Vec<&str> = stored.iter().filter(differs).map(|(c, _)| c.as_str()).collect();
        if !columns.is_empty() {
            wrong.push(format!("{scenario}: {} of {} columns: {}", columns.len(), stored.len(), columns.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "results have moved (mod.rs of this test says what to do):\n{}", wrong.join("\n"));
    assert!(found.len() >= 15 && stored.len() == found.len(), "every scenario is stored, and no other");
}

/// What a kept scenario must contain, or it would keep nothing.
#[test]
fn the_kept_scenarios_reach_what_they_are_kept_for() {
    let sum = |name: &str, table_name: &str, column: &str| -> f64 {
        let kept = scenarios::all().into_iter().find(|k| k.name == name).expect("the scenario is kept");
        let t = results(&kept);
        let t = table(&t, table_name);
        (0..t.rows()).map(|r| number(t, column, r)).sum()
    };
    let mut missing = Vec::new();
    for (name, table_name, column, least) in [
        ("one-large-window", "run", "packets", 100_000.0),
        ("sack-loss-burst", "flow", "lost_packets", 200.0),
        ("sack-loss-burst", "flow", "fast_recoveries", 1.0),
        ("newreno-loss-burst", "flow", "lost_packets", 100.0),
        ("newreno-loss-burst", "flow", "fast_recoveries", 1.0),
        ("three-hundred-flows", "flow", "timeouts", 100.0),
        ("short-flows", "link", "drops_queue_full_packets", 10.0),
        ("short-flows", "flow", "timeouts", 5.0),
        ("red-ns2-and-random-losses", "flow", "lost_packets", 10.0),
        ("red-linux", "link", "drops_early_drop_packets", 10.0),
        ("red-published-with-ecn", "flow", "marks_packets", 10.0),
        ("gprs-enhanced-with-memory", "flow", "spurious_detected", 1.0),
        ("ns2-agents", "flow", "timeouts", 1.0),
    ] {
        let found = sum(name, table_name, column);
        if found < least {
            missing.push(format!("{name}: {column} is {found}, expected at least {least}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
