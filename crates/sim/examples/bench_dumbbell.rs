//! The speed benchmark on its own: `cargo run --release --example bench_dumbbell -- [flows] [Mbit/s] [seconds]`, or with one
//! benchmark in JSON: `-- '{"flows": 100, "rate": "1 Gbit/s", "duration": "10 s", "queue": "red"}'`.
//! Without arguments it runs the usual list. Prints one JSON object per line.
#![expect(clippy::disallowed_macros, clippy::print_stdout, reason = "a program prints")]

use crosswind_base::{BitRate, Dur};
use crosswind_sim::runs::bench::{Acks, BenchSpec, run, usual};

fn specs(words: &[String]) -> Vec<BenchSpec> {
    match words {
        [] => usual(Acks::EverySegment),
        [json] if json.starts_with('{') => vec![serde_json::from_str(json).expect("a benchmark in JSON")],
        _ => {
            let get = |i: usize, default: u64| words.get(i).map_or(default, |w| w.parse().expect("a number"));
            vec![BenchSpec {
                flows: get(0, 1) as u32,
                rate: BitRate(get(1, 100) * 1_000_000),
                duration: Dur::from_secs(get(2, 60)),
                ..BenchSpec::default()
            }]
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    for spec in specs(&words) {
        let row = run(&spec).unwrap_or_else(|e| panic!("{e}"));
        println!("{}", serde_json::to_string(&row).expect("rows are plain data"));
    }
}
