//! The test that docs/how-to/stacks.md shows, word for word (python/tests/test_docs.py); the smallest stack is the reader's.

mod windowed;

use serde_json::Value;
use windowed::Windowed;

struct MyStack;

impl MyStack {
    #[expect(clippy::new_ret_no_self, reason = "the guide names the stack of its reader")]
    fn new(_keys: &Value, role: crosswind_lab::Role, mut rng: crosswind_lab::Rng) -> Windowed {
        Windowed::new(role, 40, move || rng.bits() as u8 & 0x7f)
    }
}

use crosswind_lab::Lab;
use std::time::Duration;

#[test]
fn my_stack_shares_a_bottleneck_with_tcp() {
    let lab = Lab::toml(include_str!("share.toml")).unwrap().seed(1);
    let lab = lab.stack("mine", |keys, role, rng| Box::new(MyStack::new(keys, role, rng)));
    let run = lab.assert_repeatable(3);
    run.flow("mine").goodput_mbit().assert_within(3.0..=7.0);
    run.flow("mine").share_beside("tcp").assert_at_least(0.3);
    run.flow("mine").longest_burst(Duration::from_micros(100)).assert_at_most(40.0);
    assert!(run.loss_factors("mine").iter().all(|f| (f - 0.7).abs() < 1e-3));
}
