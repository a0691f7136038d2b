//! A hundred thousand links in one scenario: validating and running it ends in bounded time and memory. Everything that can be named is
//! named, since a walk through all links for each name would take minutes.

use crosswind_sim::runs::{Progress, run_many};
use crosswind_sim::scenario::{Registries, compile, parse};
use serde_json::{Map, Value, json};

const LINKS: usize = 100_000;
const FLOWS: usize = 2000;

/// Hosts around one router. Every link has a change of its own and a time series, every flow is waited for and recorded.
fn star() -> Value {
    let link = |i: usize| json!({ "from": format!("h{i}"), "to": "hub", "rate": "10 Mbit/s", "delay": "1 ms" });
    let flow = |i: usize| {
        let (from, to) = (format!("h{}", 2 * i), format!("h{}", 2 * i + 1));
        json!({ "from": from, "to": to, "workload": { "type": "bulk", "size": "3 kB" } })
    };
    let named = |letter: &str, n: usize| (0..n).map(|i| format!("{letter}{i}")).collect::<Vec<String>>();
    let (links, flows) = (named("l", LINKS), named("f", FLOWS));
    let sampled = [links.clone(), flows.clone()].concat();
    let change = |name: &String| json!({ "at": "50 ms", "link": name, "set": { "rate": "5 Mbit/s" } });
    json!({
        "name": "star",
        "duration": "200 ms",
        "link": links.iter().cloned().zip((0..).map(link)).collect::<Map<_, _>>(),
        "flow": flows.iter().cloned().zip((0..).map(flow)).collect::<Map<_, _>>(),
        "timeline": links.iter().map(change).collect::<Vec<_>>(),
        "until": flows,
        "record": { "sample": "150 ms", "sampled": sampled, "events": flows, "hist": flows },
    })
}

/// Seconds of the processor that this process has used: other work on the machine adds nothing.
fn processor_s() -> f64 {
    let of = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    of.tv_sec as f64 + of.tv_nsec as f64 * 1e-9
}

/// The most memory that this process has had, in bytes; none where the system does not tell.
#[allow(clippy::disallowed_methods, reason = "a test of what the process takes")]
fn peak_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[test]
fn a_hundred_thousand_links_end_in_bounded_time_and_memory() {
    let text = star().to_string();
    let began = processor_s();
    let plan = compile(&parse(&text, &Registries).expect("a valid scenario")).expect("a valid scenario");
    assert_eq!((plan.egresses.len(), plan.flows.len(), plan.timeline.len()), (2 * LINKS, FLOWS, 2 * LINKS));
    let validated = processor_s();
    let done = run_many(&[plan], &crate::common::request(), &Progress::default()).expect("it runs");
    assert_eq!(done.failed, []);
    let (validate_s, run_s) = (validated - began, processor_s() - validated);
    assert!(validate_s < 40.0 && run_s < 60.0, "{validate_s} s to validate, {run_s} s to run");
    assert!(peak_bytes().is_none_or(|b| b < 6 << 30), "{:?}", peak_bytes());
}

#[test]
fn more_links_than_a_scenario_may_have_are_refused_in_one_line() {
    let tree = json!({ "template": "access-tree", "clients": 1_000_000, "last_hop": { "rate": "1 Mbit/s" } });
    let flow = json!({ "from": "server", "to": "client-1", "workload": { "type": "bulk", "size": "1 kB" } });
    let s = json!({ "name": "tree", "duration": "1 s", "topology": tree, "flow": { "f": flow } });
    let e = crate::common::refusal(&s);
    assert_eq!(e.path, "topology.clients");
    assert!(e.found.contains("1000001") && e.to_string().lines().count() == 1, "{e}");
}
