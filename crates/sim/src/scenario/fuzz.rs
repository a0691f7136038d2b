//! Mutated scenarios: whatever the text, reading ends in a scenario or in an error with a path, never in a panic.

use super::tests::{dumbbell, gprs};
use super::*;
use crosswind_base::{Rng, Streams};
use serde_json::{Map, Value, json};

const ROUNDS: u64 = 6_000;

#[test]
fn mutated_scenarios_are_read_or_refused_and_what_is_read_normalises_to_a_fixed_point() {
    let (mut read, mut planned) = (0, 0);
    for round in 0..ROUNDS {
        let mut rng = Streams::new(round).named("mutant");
        let mut v = match rng.uniform() {
            x if x < 0.4 => gprs(),
            x if x < 0.8 => mixed(),
            _ => dumbbell(2, 3),
        };
        for _ in 0..1 + rng.below(2) {
            mutate(&mut v, &mut rng);
        }
        let Ok(s) = parse(&v.to_string(), &Registries) else { continue };
        read += 1;
        let once = normalise(&s);
        let again = parse_value(&once, &Registries).unwrap_or_else(|e| panic!("round {round}: {e}\n{once}"));
        assert_eq!(normalised_text(&again), once.to_string(), "round {round}");
        // Small ones only: a million flows are legal, and slow.
        let flows: u64 = s.flow.values().map(|f| u64::from(f.count)).sum();
        if flows <= 1000 && s.topology.as_ref().is_none_or(small) {
            planned += u64::from(compile(&s).is_ok());
        }
    }
    assert!(read > ROUNDS / 20 && read < ROUNDS, "{read} of {ROUNDS} were read: the mutations test too little");
    assert!(planned > ROUNDS / 40, "{planned}");
}

/// Pages and streams beside a transfer.
fn mixed() -> Value {
    let mut v = gprs();
    let flow = |workload: Value, start: Value| json!({ "from": "server", "to": "mobile", "start": start, "dscp": "EF", "workload": workload });
    v["flow"]["page"] = flow(json!({ "type": "page", "objects": 3 }), json!({ "uniform": ["0 s", "3 s"] }));
    v["flow"]["page"]["count"] = 2.into();
    let audio = json!({ "type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": 10, "bursts": 2,
                        "idle": { "uniform": ["1 s", "2 s"] } });
    v["flow"]["audio"] = flow(audio, json!({ "poisson": "3 /s" }));
    let bursty = json!({ "type": "on-off", "payload": "100 B", "rate": "1 Mbit/s", "on": { "exponential": "1 s" },
                         "off": { "pareto": { "mean": "1 s", "shape": 1.5 } } });
    v["flow"]["bursty"] = flow(bursty, json!("1 s"));
    v["record"] = json!({ "events": ["page-1/body", "audio"], "hist": "all" });
    v
}

#[test]
fn mutilated_text_is_refused_without_a_panic() {
    let text = mixed().to_string();
    for round in 0..ROUNDS {
        let mut rng = Streams::new(round).named("bytes");
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(3) {
                0 => bytes[at] = rng.below(256) as u8,
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let _ =
            parse(&String::from_utf8_lossy(&bytes), &Registries).map(|s| s.topology.is_none() && compile(&s).is_ok());
    }
    for text in ["", "null", "[]", "3", "\"x\"", "{}", "{\"link\":{\"\":{}}}"] {
        assert!(parse(text, &Registries).is_err(), "{text}");
    }
    assert!(parse(&"[".repeat(100_000), &Registries).is_err());
    assert!(parse(&format!("{{\"a\":{}", "{\"a\":".repeat(100_000)), &Registries).is_err());
}

#[test]
fn random_paths_are_set_or_refused_without_a_panic() {
    const WORDS: [&str; 14] = [
        "link", "flow", "last-hop", "bulk", "queue", "limit", "reverse", "loss", "packets", "0", "", "tcp", "record",
        "ünï",
    ];
    for round in 0..ROUNDS {
        let mut rng = Streams::new(round).named("paths");
        let mut v = gprs();
        let path: Vec<&str> = (0..rng.below(6)).map(|_| WORDS[rng.below(WORDS.len() as u64) as usize]).collect();
        let path = path.join(".");
        if set(&mut v, &path, odd_value(&mut rng)).is_ok() {
            let _ = parse_value(&v, &Registries);
        } else {
            assert_eq!(v, gprs(), "a refused path {path} must change nothing");
        }
    }
}

fn small(t: &Topology) -> bool {
    match t {
        Topology::Dumbbell(d) => d.pairs <= 1000,
        Topology::Chain(c) => c.hops <= 1000 && c.pairs <= 1000,
        Topology::AccessTree(a) => a.clients <= 1000,
    }
}

/// Changes, removes, adds or moves one value somewhere in the tree.
fn mutate(v: &mut Value, rng: &mut Rng) {
    let steps = 1 + rng.below(5);
    let mut at = v;
    for _ in 0..steps {
        let down = match at {
            Value::Object(m) if !m.is_empty() => rng.below(m.len() as u64) as usize,
            Value::Array(a) if !a.is_empty() => rng.below(a.len() as u64) as usize,
            _ => break,
        };
        at = match at {
            Value::Object(m) => m.values_mut().nth(down).expect("the index is below the length"),
            Value::Array(a) => &mut a[down],
            _ => unreachable!("only containers are descended into"),
        };
    }
    match (rng.below(8), at) {
        (0, Value::Object(m)) if !m.is_empty() => {
            let key = m.keys().nth(rng.below(m.len() as u64) as usize).cloned().expect("the index is below the length");
            m.remove(&key);
        }
        (1, Value::Object(m)) => {
            m.insert(odd_text(rng), odd_value(rng));
        }
        (2, Value::String(s)) => {
            let keep = s.chars().count().saturating_sub(1 + rng.below(2) as usize);
            *s = s.chars().take(keep).collect();
        }
        (3, Value::Number(n)) => *n = rng.below(5).into(),
        (4..8, Value::String(s)) => {
            // Another number with the same unit.
            let digit = char::from(b'0' + rng.below(10) as u8);
            *s = s.chars().map(|c| if c.is_ascii_digit() && rng.chance(0.5) { digit } else { c }).collect();
        }
        (4..8, Value::Object(m)) => *m = std::mem::take(m).into_iter().rev().collect(),
        (_, at) => *at = odd_value(rng),
    }
}

fn odd_text(rng: &mut Rng) -> String {
    const TEXTS: [&str; 26] = [
        "",
        "none",
        "type",
        "rate",
        "queue",
        "reverse",
        "0 s",
        "1 s",
        "1e308 s",
        "-1 s",
        "NaN s",
        "1e400 B",
        "18446744073709551615 B",
        "1e15 bit/s",
        "3 packets",
        "9e18 ns",
        "ü",
        "a.b",
        "all",
        "left",
        "router",
        "third",
        "droptail",
        "wire",
        "on",
        "🦀 ms",
    ];
    TEXTS[rng.below(TEXTS.len() as u64) as usize].to_string()
}

fn odd_value(rng: &mut Rng) -> Value {
    match rng.below(11) {
        0 => Value::Null,
        1 => json!(rng.chance(0.5)),
        2 => json!(rng.bits()),
        3 => json!(-(rng.below(10) as i64)),
        4 => json!(rng.between(-1.0, 1.0) * 1e300),
        5 => json!([odd_text(rng), odd_text(rng)]),
        6 => Value::Object(Map::from_iter([(odd_text(rng), json!(odd_text(rng)))])),
        7 => json!(rng.below(4)),
        _ => json!(odd_text(rng)),
    }
}
