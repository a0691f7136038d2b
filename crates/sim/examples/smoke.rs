//! Runs one scenario given as JSON and prints the flow table: `cargo run --example smoke -- file.json`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program reads and prints"
)]
use crosswind_sim::runs::{Progress, Request, run_many};
use crosswind_sim::scenario::{Registries, compile, parse};

fn main() {
    let path = std::env::args().nth(1).expect("a file name");
    let text = std::fs::read_to_string(path).expect("a readable file");
    let scenario = parse(&text, &Registries).unwrap_or_else(|e| panic!("{e}"));
    let plan = compile(&scenario).unwrap_or_else(|e| panic!("{e}"));
    let request = Request::once(1);
    let done = run_many(&[plan], &request, &Progress::default()).unwrap_or_else(|e| panic!("{e}"));
    for t in ["run", "flow", "link"] {
        for (name, column) in done.tables.get(t).expect("the table exists").columns() {
            println!("{t}.{name}: {column:?}");
        }
    }
}
