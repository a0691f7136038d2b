//! Damaged tapes: whatever segment arrives, and whatever stands in a tape, it ends as it is written or with a line that is
//! wrong, never with a panic.

use crosswind_base::{Rng, Streams};
use crosswind_testkit::tcp::tape::play;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const ROUNDS: u64 = 6000;

#[expect(clippy::disallowed_methods, reason = "tests read their tapes")]
fn tapes() -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tapes");
    let files = std::fs::read_dir(folder).expect("the folder of tapes is beside this file");
    let mut paths: Vec<_> = files.map(|e| e.expect("a readable folder").path()).collect();
    paths.sort();
    let is_tape = |p: &&std::path::PathBuf| p.extension().is_some_and(|x| x == "tape");
    let lines = |p: &std::path::PathBuf| std::fs::read_to_string(p).expect("text").lines().map(String::from).collect();
    paths.iter().filter(is_tape).map(lines).collect()
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n.max(1) as u64) as usize
}

/// A word of a line as something else of its kind, or as no word at all.
fn damaged(word: &str, rng: &mut Rng) -> String {
    const NUMBERS: [&str; 9] = ["0", "1", "999", "65535", "65536", "2147483648", "4294967295", "4294967296", "-1"];
    const FLAGS: [&str; 8] = ["S", "F", "R", ".", "S.", "F.", "R.", "SF."];
    if word.chars().any(|c| c.is_ascii_digit()) && rng.chance(0.8) {
        let number = NUMBERS[below(rng, NUMBERS.len())];
        let mut parts: Vec<String> = word.split(':').map(String::from).collect();
        let at = below(rng, parts.len());
        parts[at] = number.into();
        return parts.join(":");
    }
    if FLAGS.contains(&word) {
        return FLAGS[below(rng, FLAGS.len())].into();
    }
    ["", "ack", "sack 1:0", "ts 1:1", "win 0", "1e400", "<", ">", "close", "ü"][below(rng, 10)].into()
}

/// One change: mostly to an arriving segment.
fn damage(tape: &mut Vec<String>, rng: &mut Rng) {
    let arriving: Vec<usize> = (0..tape.len()).filter(|i| tape[*i].contains(" < ")).collect();
    let line = if arriving.is_empty() || rng.chance(0.3) {
        below(rng, tape.len())
    } else {
        arriving[below(rng, arriving.len())]
    };
    match rng.below(6) {
        0 => drop(tape.remove(line)),
        1 => tape.insert(line, tape[line].clone()),
        2 => {
            let other = below(rng, tape.len());
            tape.swap(line, other);
        }
        _ => {
            let mut words: Vec<String> = tape[line].split(' ').map(String::from).collect();
            let at = below(rng, words.len());
            words[at] = damaged(&words[at], rng);
            tape[line] = words.join(" ");
        }
    }
}

#[test]
fn a_damaged_tape_plays_or_says_which_line_is_wrong() {
    let tapes = tapes();
    let mut wrong = 0;
    for round in 0..ROUNDS {
        let mut rng = Streams::new(round).named("damaged tapes");
        let mut tape = tapes[below(&mut rng, tapes.len())].clone();
        for _ in 0..1 + rng.below(2) {
            if !tape.is_empty() {
                damage(&mut tape, &mut rng);
            }
        }
        let text = tape.join("\n");
        let played = catch_unwind(AssertUnwindSafe(|| play("damaged.tape", &text)));
        let Ok(played) = played else { panic!("round {round} panics:\n{text}") };
        wrong += u64::from(played.is_err());
    }
    assert!(wrong > ROUNDS / 4 && wrong < ROUNDS, "{wrong} of {ROUNDS} were wrong: the damages test too little");
}
