//! Example tests for two stacks of other people: quinn and noq beside TCP CUBIC.

use crosswind_lab::{Lab, Role};
use crosswind_stacks::ROWS;
use serde_json::json;
use std::time::Duration;

/// A flow over a stack, and one of TCP CUBIC.
fn beside_tcp(stack: &'static str) -> Lab {
    let row = ROWS.iter().find(|r| r.name == stack).expect("a stack that is built in");
    let (_, make) = (row.build.read)(&json!({ "congestion": "cubic" }), "transport").expect("parameters");
    let bulk = json!({ "type": "bulk" });
    Lab::dumbbell("20 Mbit/s", "30 ms", 100, "30 s")
        .flow("mine", json!({ "from": "left-1", "to": "right-1", "transport": { "type": "mine" }, "workload": bulk }))
        .flow("tcp", json!({ "from": "left-2", "to": "right-2", "tcp": { "law": "cubic" }, "workload": bulk }))
        .stack("mine", move |_, role, rng| make(role, rng))
}

#[test]
fn cubic_of_both_shares_a_fifo_with_tcp_cubic_and_cuts_to_seven_tenths() {
    for stack in ["quinn", "noq"] {
        let run = beside_tcp(stack).seed(5).assert_repeatable(2);
        run.flow("mine").share_beside("tcp").assert_within(0.25..=0.75);
        run.flow("mine").longest_burst(Duration::from_micros(1)).assert_at_most(10.0);
        let factors = run.loss_factors("mine");
        assert!(factors.len() >= 3 && factors.iter().all(|f| (f - 0.7).abs() < 1e-3), "{stack}: {factors:?}");
        assert!(run.sent("mine").iter().any(|s| s.role == Role::Server), "{stack} acknowledges");
    }
}
