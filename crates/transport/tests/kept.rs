//! What every law, loss detector, detector of spurious timeouts and signal does in worlds of many kinds, bit by bit: each segment that either end sends, the
//! window after each event, all totals. Kept as one hash each (`crates/testkit/src/kept.rs`).

use crosswind_base::units::Size;
use crosswind_base::{Dur, Streams, Time};
use crosswind_testkit::kept::{self, Hash, Hashes};
use crosswind_testkit::tcp::pair::{Closes, Dice, End, Fate, Pair, Pick};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::law::Controller;
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::preset::{self, read};
use crosswind_transport::tcp::sender::SenderStats;
use serde_json::{Map, Value, json};

fn hash_stats(h: &mut Hash, s: &SenderStats) {
    let counts = [s.segments, s.retransmitted_segments, s.retransmitted_bytes, s.window_probes, s.rtt_ns.count()];
    h.words(&counts);
    let judged = [s.timeouts, s.spurious_timeouts, s.spurious_detected, s.genuine_detected, s.avoidable_timeouts];
    let reduced = [s.fast_recoveries, s.ecn_reductions, s.early_reductions, s.local_reductions];
    judged.iter().chain(&reduced).for_each(|n| h.word(u64::from(*n)));
    h.number(s.cwnd_max_bytes);
    h.number(s.rtt_ns.mean());
}

fn hash_log(h: &mut Hash, w: &Pair) {
    for l in &w.log {
        let p = &l.packet;
        h.words(&[l.at.0, u64::from(l.from == End::Left), p.seq, p.ack, u64::from(p.payload), u64::from(p.wnd)]);
        h.words(&[u64::from(p.flags.0), u64::from(p.ts_val), u64::from(p.ts_ecr), u64::from(p.ds.0)]);
        for (left, right) in l.ext.iter().flat_map(|e| e.sack.as_slice()) {
            h.words(&[*left, *right]);
        }
    }
}

/// Until nothing is left to do, or so many events have been.
fn play(mut w: Pair) -> Hash {
    let mut h = Hash::default();
    w.open();
    for _ in 0..20_000 {
        if w.now > Time::from_secs_f64(900.0) || !w.step() {
            break;
        }
        if let Some(tx) = w.left.conn.tx.get() {
            h.number(tx.law.cwnd());
            h.number(tx.law.ssthresh());
            h.word(tx.in_flight(w.left.conn.params()));
        }
    }
    hash_log(&mut h, &w);
    hash_stats(&mut h, w.left.conn.tx.stats());
    hash_stats(&mut h, w.right.conn.tx.stats());
    h
}

fn ends(p: &TcpParams, segments: u64, delay_ms: u64, seed: u64) -> Pair {
    let mut w = Pair::new(p.clone(), segments * p.connection.mss.0, Dur::from_millis(delay_ms), seed);
    if p.connection.handshake == Handshake::Ns2 {
        w.left.closes = Closes::Never;
    }
    w.is_watched = seed % 2 == 1;
    w
}

/// Everything at once: losses, marks, copies and packets out of order in both directions.
fn rough(p: &TcpParams, seed: u64) -> Pair {
    let mut r = Streams::new(seed).named("world");
    let mut w = ends(p, 120, 20 + r.below(60), seed);
    let forward = Dice { lose: 0.04, mark: 0.05, duplicate: 0.02, late: 0.08, late_by_max: Dur::from_millis(300) };
    w.forward.dice = forward;
    w.reverse.dice = Dice { lose: 0.05, mark: 0.0, ..forward };
    w
}

/// A large window on a path whose delay swings; now and then a few segments are lost.
fn wide(p: &TcpParams, seed: u64) -> Pair {
    let mut w = ends(p, 3000, 25, seed);
    for k in 0..400u64 {
        let pick = Pick::During { from: Time(k * 40_000_000), until: Time((k + 1) * 40_000_000) };
        w.forward.rules.push((pick, Fate::Late(Dur::from_millis([0, 2, 5, 9, 14, 20, 9, 3][k as usize % 8]))));
    }
    w.forward.rules.extend([400, 401, 900, 1300, 1302, 1309, 2000, 2700].map(|i| (Pick::Index(i), Fate::Lose)));
    w.forward.rules.extend([600, 1700, 2300].map(|i| (Pick::Index(i), Fate::Mark)));
    w
}

/// Nothing is lost, but all is held up longer than the timer waits, three times; once a tail is lost as well.
fn held_up(p: &TcpParams, seed: u64) -> Pair {
    let mut w = ends(p, 260, 40, seed);
    for (from, until) in [(900, 2900), (5200, 9000), (14_000, 15_500)] {
        let [from, until] = [from, until].map(|ms| Time(ms * 1_000_000));
        w.forward.rules.push((Pick::During { from, until }, Fate::HoldUntil(until)));
    }
    w.forward.rules.extend([70, 71, 75, 190].map(|i| (Pick::Index(i), Fate::Lose)));
    w.reverse.rules.extend([30, 31, 32].map(|i| (Pick::Index(i), Fate::Lose)));
    w.forward.dice = Dice { lose: 0.01, ..Dice::default() };
    w
}

/// The table of a list, on buffers that let windows grow.
fn params(table: &Value) -> Result<TcpParams, crosswind_base::ConfigError> {
    let mut full = table.clone();
    if full.get("preset").is_none() {
        full["mss"] = "1000 B".into();
        full["window_scaling"] = "on".into();
        full["receive_buffer"] = "600 kB".into();
        full["send_buffer"] = "600 kB".into();
    }
    read(&full, "tcp").map(|p| p.with(|p| p.timers.retries_max = 100))
}

fn played(p: &TcpParams, name: &str, found: &mut Hashes) {
    for seed in 1..=3 {
        found.insert(format!("{name} rough {seed}"), play(rough(p, seed)));
    }
    found.insert(format!("{name} wide"), play(wide(p, 4)));
    for seed in [5, 6] {
        found.insert(format!("{name} held-up {seed}"), play(held_up(p, seed)));
    }
}

fn of_list(list: &str) -> Hashes {
    let all: Map<String, Value> = serde_json::from_str(include_str!("kept/tables.json")).expect("lists of tables");
    let tables = all[list].as_array().expect("a list");
    let wrong: Vec<String> = tables.iter().filter_map(|t| params(t).err().map(|e| format!("{t}: {e}"))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut found = Hashes::new();
    for table in tables {
        played(&params(table).expect("tried above"), &table.to_string(), &mut found);
    }
    found
}

macro_rules! kept_lists {
    ($($test:ident $list:literal;)*) => {$(
        #[test]
        fn $test() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/", $list, ".txt");
            kept::check(include_str!(concat!("kept/", $list, ".txt")), path, &of_list($list));
        }
    )*};
}
kept_lists! {
    laws_do_what_they_did "law";
    detectors_do_what_they_did "detect";
    judges_do_what_they_did "undo";
    signals_do_what_they_did "signal";
}

/// The words that a key may have, where it is one of a list; and on and off.
fn words(schema: &Value, of: &Value) -> Vec<Value> {
    if let Some(name) = of["$ref"].as_str() {
        return words(schema, schema.pointer(&name[1..]).expect("a reference leads somewhere"));
    }
    let listed = of["enum"].as_array().cloned().unwrap_or_default();
    let single = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|all| of[all].as_array()).flatten();
    let single: Vec<Value> = single.flat_map(|one| words(schema, one)).collect();
    let own = of["const"].as_str().map(|word| word.into());
    listed.into_iter().chain(single).chain(own).filter(Value::is_string).collect()
}

/// The keys of a table, where it is one.
fn keys<'a>(schema: &'a Value, of: &'a Value) -> Vec<(&'a String, &'a Value)> {
    if let Some(name) = of["$ref"].as_str() {
        return keys(schema, schema.pointer(&name[1..]).expect("a reference leads somewhere"));
    }
    of["properties"].as_object().into_iter().flatten().collect()
}

/// Each word of each key, also of the tables inside the table.
fn choices() -> Vec<Value> {
    let schema = serde_json::to_value(schemars::schema_for!(TcpParams)).expect("a schema is JSON");
    let mut all = Vec::new();
    for (key, of) in keys(&schema, &schema) {
        all.extend(words(&schema, of).into_iter().map(|word| json!({ key: word })));
        for (inner, of) in keys(&schema, of) {
            all.extend(words(&schema, of).into_iter().map(|word| json!({ key: { inner: word } })));
        }
    }
    all
}

#[test]
fn choices_do_what_they_did() {
    let (mut found, choices) = (Hashes::new(), choices());
    assert!(choices.len() > 100, "{}", choices.len());
    for base in ["rfc", "sack-dcr", "linux-6", "ns2-newreno"] {
        for choice in &choices {
            let mut table = choice.clone();
            table["preset"] = base.into();
            let Ok(p) = params(&table) else { continue };
            let h = found.entry(format!("{base} {choice}")).or_insert_with(Hash::default);
            h.words(&[play(rough(&p, 1)).value(), play(held_up(&p, 2)).value()]);
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/choices.txt");
    kept::check(include_str!("kept/choices.txt"), path, &found);
}

/// A reader that lets the window close now and then, so that the same is acknowledged again; some segments are lost.
fn slow(p: &TcpParams, seed: u64) -> Pair {
    let p = p.clone().with(|t| {
        t.receiver.receive_buffer = Size(8 * p.connection.mss.0);
        t.timers.retries_max = 100;
    });
    let mut w = ends(&p, 60, 40, seed).read_slowly(3 * p.connection.mss.0, Dur::from_millis(400));
    w.reverse.dice = Dice { lose: 0.03, duplicate: 0.1, ..Dice::default() };
    w.forward.dice = Dice { lose: 0.02, late: 0.05, late_by_max: Dur::from_millis(300), ..Dice::default() };
    w
}

#[test]
fn no_choice_does_anything_else_because_somebody_watches() {
    let mut differ = Vec::new();
    for base in ["rfc", "sack-dcr", "linux-6", "ns2-newreno"] {
        for choice in choices() {
            let mut table = choice.clone();
            table["preset"] = base.into();
            let Ok(p) = params(&table) else { continue };
            for (kind, world) in [("rough", rough as fn(&TcpParams, u64) -> Pair), ("slow", slow)] {
                for seed in 0..2 {
                    let [watched, alone] = [true, false].map(|is_watched| {
                        let mut w = world(&p, seed);
                        w.is_watched = is_watched;
                        play(w).value()
                    });
                    if watched != alone {
                        differ.push(format!("{base} {choice} {kind} {seed}"));
                    }
                }
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn presets_do_what_they_did() {
    let mut found = Hashes::new();
    for name in preset::names() {
        let p = read(&json!({ "preset": name }), "tcp").expect("a preset is valid");
        played(
            &p.with(|t| {
                t.timers.retries_max = 100;
                t.host.send_buffer = Size(t.host.send_buffer.0.max(200_000));
            }),
            name,
            &mut found,
        );
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept/presets.txt");
    kept::check(include_str!("kept/presets.txt"), path, &found);
}
