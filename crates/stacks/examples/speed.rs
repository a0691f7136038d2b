//! How many data packets of a QUIC stack the simulator takes through a bottleneck in a second of the processor:
//!
//! ```text
//! cargo run --release -p crosswind-stacks --example speed -- 3
//! ```
//!
//! Ten flows of quinn, and of noq, over 100 Mbit/s and 60 ms with a queue of 750 packets, 20 s, null session and TLS, nothing recorded;
//! Crosswind's TCP beside them. The number: how often each is run, in turns; shown are the least, the median and the most. A name behind it
//! (`quinn`) runs that one alone, for `perf stat -e instructions:u`.
#![expect(clippy::print_stdout, clippy::disallowed_macros, reason = "an example for people")]
#![expect(clippy::disallowed_methods, reason = "it looks at the processor's time, and is no part of a simulation")]

#[path = "../../sim/tests/common/mod.rs"]
mod worlds;

use serde_json::{Value, json};
use worlds::{number, run, table};

/// What `/proc/PID/stat` counts in (Linux: USER_HZ).
const TICKS_PER_S: f64 = 100.0;

/// User and system time of this process in seconds; fields 14 and 15 of proc_pid_stat(5), behind the name in brackets.
fn processor_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name").split_whitespace().collect();
    let ticks = |n: usize| fields[n].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / TICKS_PER_S
}

fn scenario(flow: &Value) -> Value {
    let bottleneck = json!({"rate": "100 Mbit/s", "delay": "28 ms", "queue": {"limit": "750 packets"}});
    let mut flow = flow.clone();
    flow["from"] = "left-1".into();
    flow["to"] = "right-1".into();
    flow["count"] = 10.into();
    flow["workload"] = json!({"type": "bulk"});
    json!({
        "name": "speed", "duration": "20 s",
        "topology": {"template": "dumbbell", "pairs": 1, "bottleneck": bottleneck},
        "flow": {"a": flow},
    })
}

fn main() {
    let runs = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(3);
    let only = std::env::args().nth(2);
    let bodies = [
        ("quinn", json!({"transport": {"type": "quinn"}})),
        ("quinn-tls", json!({"transport": {"type": "quinn", "crypto": "tls"}})),
        ("noq", json!({"transport": {"type": "noq"}})),
        ("noq-tls", json!({"transport": {"type": "noq", "crypto": "tls"}})),
        ("tcp", json!({"tcp": {"preset": "linux-6-cubic"}})),
    ];
    let bodies: Vec<_> = bodies.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|o| o == name)).collect();
    let mut speeds = vec![Vec::new(); bodies.len()];
    for _ in 0..runs {
        for ((_, flow), speeds) in bodies.iter().zip(&mut speeds) {
            let before = processor_s();
            let t = run(&scenario(flow));
            let flows = table(&t, "flow");
            let packets: f64 = (0..flows.rows()).map(|row| number(flows, "sent_packets", row)).sum();
            speeds.push(packets / (processor_s() - before));
        }
    }
    for ((name, _), mut seen) in bodies.into_iter().zip(speeds) {
        seen.sort_by(f64::total_cmp);
        let thousand = |i: usize| seen[i] / 1e3;
        println!(
            "{name:9} {:.0} to {:.0}, median {:.0} thousand data packets a processor second",
            thousand(0),
            thousand(seen.len() - 1),
            thousand(seen.len() / 2)
        );
    }
}
