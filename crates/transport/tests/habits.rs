//! Receivers that acknowledge in chunks: lengths against a second copy of the draw, means and shares, names and refusals.

use crosswind_base::Streams;
use crosswind_transport::tcp::conn::habit::{AckHabitParams, Habit};
use crosswind_transport::tcp::preset;
use serde_json::json;

fn chunks(least: u32, mean: f64, most: u32) -> AckHabitParams {
    AckHabitParams { least_segments: least, mean_segments: mean, most_segments: most, empty_share: 0.0 }
}

/// By trials: another segment as long as a coin says so.
fn share_of_length(p: &AckHabitParams, length: u32) -> f64 {
    let extra = p.mean_segments - f64::from(p.least_segments);
    let goes_on = extra / (1.0 + extra);
    let steps = length - p.least_segments;
    let reached = goes_on.powi(steps as i32);
    if length == p.most_segments { reached } else { reached * (1.0 - goes_on) }
}

#[test]
fn chunks_are_geometric_between_their_least_and_their_largest_length() {
    for p in [chunks(1, 2.0, 14), chunks(1, 4.0, 14), chunks(4, 8.0, 16), chunks(1, 1.5, 2)] {
        let mut habit = Habit::new(p.clone(), Streams::new(5).named("acks"));
        let mut seen = vec![0u32; p.most_segments as usize + 1];
        let draws = 200_000;
        for _ in 0..draws {
            habit.draw();
            seen[habit.chunk as usize] += 1;
        }
        for length in 0..=p.most_segments {
            let expected = if length < p.least_segments { 0.0 } else { share_of_length(&p, length) };
            let share = f64::from(seen[length as usize]) / f64::from(draws);
            assert!((share - expected).abs() < 0.005, "{p:?}: {length} segments in {share}, not {expected}");
        }
    }
}

#[test]
fn a_chunk_without_spread_has_always_the_same_length() {
    let mut habit = Habit::new(chunks(3, 3.0, 3), Streams::new(1).named("acks"));
    assert!((0..100).all(|_| {
        habit.draw();
        habit.chunk == 3
    }));
}

#[test]
fn a_fifth_of_all_acks_says_nothing_new_when_that_is_the_share() {
    let p = AckHabitParams { empty_share: 0.2, ..AckHabitParams::default() };
    let mut habit = Habit::new(p, Streams::new(1).named("acks"));
    let regular = 100_000;
    let empty = (0..regular).filter(|_| habit.repeats()).count();
    let share = empty as f64 / (empty + regular) as f64;
    assert!((share - 0.2).abs() < 0.005, "{share}");
}

#[test]
fn a_system_by_name_sets_its_habits_and_keys_beside_it_are_stronger() {
    let read = |v| preset::read(&v, "tcp").expect("a valid table");
    let bsd = read(json!({ "preset": "linux-2.4-highspeed", "receiver": "freebsd-4.7" }));
    assert!(
        !bsd.connection.sack.on()
            && bsd.receiver.ack_habit.empty_share == 0.2
            && bsd.receiver.ack_habit.least_segments == 0
    );
    let xp = read(json!({ "receiver": "windows-xp", "ack_habit": { "most_segments": 32 }, "delayed_ack": "7 ms" }));
    assert_eq!((xp.receiver.ack_habit.least_segments, xp.receiver.ack_habit.most_segments), (4, 32));
    assert_eq!(xp.receiver.delayed_ack.0, 7_000_000);
    let plain = read(json!({ "preset": "linux-2.4-highspeed" }));
    assert!(!plain.receiver.ack_habit.is_on());
}

#[test]
fn habits_that_make_no_sense_are_refused_with_their_place() {
    let wrong = |v| preset::read(&v, "tcp").expect_err("refused").path;
    assert_eq!(wrong(json!({ "ack_habit": { "empty_share": 1.0 } })), "tcp.ack_habit.empty_share");
    assert_eq!(wrong(json!({ "ack_habit": { "most_segments": 4 } })), "tcp.ack_habit.least_segments");
    let (least, most) = ("least_segments", "most_segments");
    assert_eq!(
        wrong(json!({ "ack_habit": { least: 5, "mean_segments": 5.0, most: 4 } })),
        "tcp.ack_habit.most_segments"
    );
    assert_eq!(
        wrong(json!({ "ack_habit": { least: 1, "mean_segments": 9.0, most: 4 } })),
        "tcp.ack_habit.mean_segments"
    );
    assert!(wrong(json!({ "receiver": "freebsd-4.8" })).starts_with("tcp.receiver"));
}
