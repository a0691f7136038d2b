//! What the tests of whole worlds share: running a scenario written as JSON, and reading cells of its tables.
#![allow(dead_code)] // tests of `stacks` include this file, and each uses its own part

use crosswind_base::ConfigError;
use crosswind_record::{Column, Table, Tables};
use crosswind_sim::runs::{Progress, Request, run_many};
use crosswind_sim::scenario::{Plan, Registries, compile, parse};
use serde_json::Value;

pub fn plan(scenario: &Value) -> Plan {
    let parsed = parse(&scenario.to_string(), &Registries).unwrap_or_else(|e| panic!("{e}"));
    compile(&parsed).unwrap_or_else(|e| panic!("{e}"))
}

/// Why a scenario is refused.
pub fn refusal(scenario: &Value) -> ConfigError {
    match parse(&scenario.to_string(), &Registries) {
        Err(e) => e,
        Ok(s) => compile(&s).expect_err("the scenario should have been refused"),
    }
}

/// One run with seed 1.
pub fn request() -> Request {
    Request::once(1)
}

pub fn run_with(scenarios: &[Value], request: &Request) -> Tables {
    let plans: Vec<Plan> = scenarios.iter().map(plan).collect();
    let done = run_many(&plans, request, &Progress::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(!done.interrupted);
    assert_eq!(done.failed, [], "every run is finished");
    done.tables
}

pub fn run(scenario: &Value) -> Tables {
    run_with(std::slice::from_ref(scenario), &request())
}

pub fn table<'a>(tables: &'a Tables, name: &str) -> &'a Table {
    tables.get(name).unwrap_or_else(|| panic!("there is no table `{name}`"))
}

/// A cell as a number.
pub fn number(table: &Table, column: &str, row: usize) -> f64 {
    match table.get(column).unwrap_or_else(|| panic!("table `{}` has no column `{column}`", table.name())) {
        Column::U64(v) => v[row] as f64,
        Column::I64(v) => v[row] as f64,
        Column::F64(v) => v[row],
        Column::U32(v) => v[row] as f64,
        Column::Text(_) => panic!("`{column}` holds text"),
    }
}

pub fn text<'a>(table: &'a Table, column: &str, row: usize) -> &'a str {
    match table.get(column) {
        Some(Column::Text(t)) => t.iter().nth(row).expect("the row exists"),
        _ => panic!("table `{}` has no text column `{column}`", table.name()),
    }
}

/// A cell of the row of a flow.
pub fn of_flow(tables: &Tables, name: &str, column: &str) -> f64 {
    let t = table(tables, "flow");
    let row = (0..t.rows()).find(|r| text(t, "name", *r) == name).unwrap_or_else(|| panic!("no flow `{name}`"));
    number(t, column, row)
}

/// A cell of the row of the forward direction of a link.
pub fn of_link(tables: &Tables, name: &str, column: &str) -> f64 {
    let t = table(tables, "link");
    let is_it = |r: &usize| text(t, "link", *r) == name && text(t, "direction", *r) == "forward";
    let row = (0..t.rows()).find(is_it).unwrap_or_else(|| panic!("no link `{name}`"));
    number(t, column, row)
}

/// `measured` lies within `percent` of `expected`.
#[track_caller]
pub fn assert_within(measured: f64, expected: f64, percent: f64) {
    let off = 100.0 * (measured / expected - 1.0);
    assert!(off.abs() <= percent, "measured {measured}, expected {expected}: {off:+.3} % is more than {percent} %");
}

/// What tells how the engine worked and how long it took. It is no result.
pub const NOT_A_RESULT: [&str; 3] = ["run.wall_ns", "run.events", "run.peak_packets"];

/// Hash of a column: FNV-1a, 64 bits.
pub fn hash_of(c: &Column) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    let mut mix = |bytes: &[u8]| bytes.iter().for_each(|b| h = (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    match c {
        Column::U64(v) => v.iter().for_each(|x| mix(&x.to_le_bytes())),
        Column::I64(v) => v.iter().for_each(|x| mix(&x.to_le_bytes())),
        Column::F64(v) => v.iter().for_each(|x| mix(&x.to_bits().to_le_bytes())),
        Column::U32(v) => v.iter().for_each(|x| mix(&x.to_le_bytes())),
        Column::Text(t) => t.iter().for_each(|x| {
            mix(x.as_bytes());
            mix(&[0]);
        }),
    }
    h
}
