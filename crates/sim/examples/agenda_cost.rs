//! What an entry of the agenda costs: `cargo run --release --example agenda_cost`. The figures of decision 0001.
//!
//! The same hold model twice: take the earliest, put it back a random while later. Once with one entry per stage in the
//! tournament of the agenda, once with one entry per packet in the standard library's binary heap.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that measures and prints"
)]

use crosswind_base::{Dur, Rng, Streams, Time};
use crosswind_engine::agenda::Agenda;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

const STEPS: u64 = 5_000_000;

fn later(rng: &mut Rng) -> Dur {
    Dur(1 + rng.below(1_000_000))
}

fn agenda_ns(stages: u32) -> f64 {
    let mut rng = Streams::new(1).named("agenda");
    let mut agenda = Agenda::new(stages as usize, 0);
    for s in 0..stages {
        agenda.at_latest(s, Time::ZERO + later(&mut rng));
    }
    let began = Instant::now();
    for _ in 0..STEPS {
        let (at, _) = agenda.first().expect("every stage has an entry");
        agenda.replace_first(at + later(&mut rng));
    }
    began.elapsed().as_nanos() as f64 / STEPS as f64
}

fn binary_heap_ns(packets: u32) -> f64 {
    let mut rng = Streams::new(1).named("agenda");
    let mut heap: BinaryHeap<Reverse<(Time, u64, u32)>> = BinaryHeap::new();
    let mut sequence = 0;
    for p in 0..packets {
        sequence += 1;
        heap.push(Reverse((Time::ZERO + later(&mut rng), sequence, p)));
    }
    let began = Instant::now();
    for _ in 0..STEPS {
        let Reverse((at, _, p)) = heap.pop().expect("the heap never empties");
        sequence += 1;
        heap.push(Reverse((at + later(&mut rng), sequence, p)));
    }
    began.elapsed().as_nanos() as f64 / STEPS as f64
}

fn main() {
    for n in [10, 100, 1_000, 10_000, 100_000] {
        println!("{n:>7} entries: tournament {:6.1} ns, binary heap {:6.1} ns", agenda_ns(n), binary_heap_ns(n));
    }
}
