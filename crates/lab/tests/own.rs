//! A stack of one's own in a lab: what it gets beside TCP, that it repeats, and what a test says when it does not.

mod windowed;

use crosswind_lab::Lab;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use windowed::Windowed;

fn lab() -> Lab {
    Lab::toml(include_str!("share.toml")).expect("a scenario").stack("mine", |keys, role, mut rng| {
        let window = keys["window"].as_u64().unwrap_or(40) as usize;
        Box::new(Windowed::new(role, window, move || rng.bits() as u8 & 0x7f))
    })
}

fn said(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it must not pass");
    panic.downcast_ref::<String>().expect("a sentence").clone()
}

#[test]
fn a_transfer_is_complete_although_the_queue_drops() {
    let flow = json!({
        "from": "left-1", "to": "right-1", "workload": { "type": "bulk", "size": "2 MB" },
        "transport": { "type": "mine", "window": 80 },
    });
    let run = Lab::dumbbell("10 Mbit/s", "20 ms", 40, "60 s").flow("a", flow).seed(3);
    let run = run.stack("mine", |keys, role, _| {
        Box::new(Windowed::new(role, keys["window"].as_u64().expect("a key of the scenario") as usize, || 0))
    });
    let run = run.run().expect("a run");
    assert_eq!((run.flow("a").outcome(), run.flow("a").number("size_bytes")), ("complete", 2e6));
    assert!(run.flow("a").number("drops_packets") > 0.0, "the window does not fit into path and queue");
}

#[test]
fn a_fixed_window_beside_tcp_gets_what_its_window_and_the_queue_allow() {
    let run = lab().seed(1).assert_repeatable(2);
    let mine = run.flow("mine");
    // 40 chunks of 1200 bytes in at most 40 ms of path and 73 ms of a full queue, and at least in the path alone.
    mine.goodput_mbit().assert_within(40.0 * 9600.0 / 113e3..=40.0 * 9600.0 / 40e3);
    mine.longest_burst(Duration::from_micros(100)).assert_within(1.0..=40.0);
    mine.delay_p50_ms().assert_within(20.0..=94.0);
    mine.share_beside("tcp").assert_within(0.2..=0.8);
    assert!(run.sent("mine").len() > 2000);
}

#[test]
fn a_figure_that_misses_says_what_was_measured_and_how_to_get_it_again() {
    let run = lab().seed(7).run().expect("a run");
    let said = said(|| run.flow("mine").goodput_mbit().assert_at_most(0.5));
    for part in ["flow `mine`: goodput in Mbit/s: measured ", "expected at most 0.5", "seed 7", "type = \"mine\""] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

#[test]
fn a_stack_that_draws_from_outside_is_caught_with_the_first_difference() {
    static DRAWN: AtomicU32 = AtomicU32::new(0);
    let leaking = lab().stack("mine", |_, role, _| {
        Box::new(Windowed::new(role, 40, || (DRAWN.fetch_add(1, Ordering::Relaxed) >> 9) as u8 & 0x7f))
    });
    let said = said(|| drop(leaking.assert_repeatable(1)));
    assert!(said.contains("does not repeat") && said.contains("`mine`, datagram "), "{said}");
}

#[test]
fn what_is_wrong_in_a_scenario_is_said_with_its_path() {
    let e = Lab::toml(include_str!("share.toml")).expect("a scenario").run().expect_err("nobody brings `mine`");
    assert_eq!(e.path, "flow.mine.transport.type");
    let e = Lab::toml("name = ").expect_err("no TOML");
    assert!(e.to_string().contains("a scenario in TOML"), "{e}");
}
