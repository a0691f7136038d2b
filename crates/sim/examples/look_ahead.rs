//! What each step of look-ahead buys: processor time of one dumbbell (ten flows, 100 Mbit/s), by queue and step, as a multiple of what
//! it takes with all of them. The least of several runs in turns. The figures stand in docs/look-ahead.md.
#![expect(clippy::disallowed_macros, clippy::print_stdout, reason = "a program prints")]

use crosswind_base::Dur;
use crosswind_sim::runs::bench::{BenchQueue, BenchSpec, run};
use crosswind_sim::world::LookAhead;

const STEPS: [(LookAhead, &str); 5] = [
    (LookAhead::Never, "never"),
    (LookAhead::Planned, "planned"),
    (LookAhead::ForwardEarly, "forwarded early"),
    (LookAhead::OneUpstream, "one upstream"),
    (LookAhead::Allowed, "gathered"),
];

const QUEUES: [BenchQueue; 7] = [
    BenchQueue::Droptail,
    BenchQueue::Red,
    BenchQueue::Codel,
    BenchQueue::FqCodel,
    BenchQueue::Pie,
    BenchQueue::Htb,
    BenchQueue::Trace,
];

fn main() {
    let word = |n: usize, default: u64| std::env::args().nth(n).map_or(default, |w| w.parse().expect("a number"));
    let (flows, seconds, times) = (word(1, 10) as u32, word(2, 20), word(3, 5));
    println!("ns of processor time for a data packet; {flows} flows, {seconds} s, the least of {times} runs");
    for queue in QUEUES {
        let mut least = [f64::INFINITY; STEPS.len()];
        for _ in 0..times {
            for (best, (look_ahead, _)) in least.iter_mut().zip(STEPS) {
                let spec =
                    BenchSpec { flows, queue, look_ahead, duration: Dur::from_secs(seconds), ..BenchSpec::default() };
                let row = run(&spec).expect("a benchmark");
                *best = best.min(1e9 * row.cpu_s / row.packets as f64);
            }
        }
        print!("{queue:?}");
        for (ns, (_, step)) in least.iter().zip(STEPS) {
            print!("  {step} {ns:.0} ({:.2})", ns / least[STEPS.len() - 1]);
        }
        println!();
    }
}
