//! The speed benchmark on its own: `cargo run --release --example bench_dumbbell -- [flows] [Mbit/s] [seconds]`.
//! Without arguments it runs the usual list. Prints one JSON object per line.
#![expect(clippy::disallowed_macros, clippy::print_stdout, reason = "a program prints")]

use crosswind_base::{BitRate, Dur};
use crosswind_sim::bench::{Acks, BenchSpec, run, usual};

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().expect("numbers are given")).collect();
    let specs = match numbers[..] {
        [] => usual(Acks::EverySegment),
        _ => {
            let get = |i: usize, default: u64| numbers.get(i).copied().unwrap_or(default);
            vec![BenchSpec {
                flows: get(0, 1) as u32,
                rate: BitRate(get(1, 100) * 1_000_000),
                duration: Dur::from_secs(get(2, 60)),
                acks: Acks::EverySegment,
            }]
        }
    };
    for spec in specs {
        let row = run(&spec).unwrap_or_else(|e| panic!("{e}"));
        println!("{}", serde_json::to_string(&row).expect("rows are plain data"));
    }
}
