//! What `manifest.json` says about a set of results: enough to make them again, and whether to believe them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Raised when the meaning of a table or of a manifest field changes.
pub const SCHEMA_VERSION: u32 = 1;

/// How the results came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Discrete events in virtual time.
    Simulate,
    /// Real hosts behind emulated links, in real time.
    Emulate,
    /// A published experiment, with its claims checked.
    Reproduce,
}

/// The content of `manifest.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub schema_version: u32,
    pub code_version: String,
    /// Of the normalised scenario, see [`scenario_hash`].
    pub scenario_hash: String,
    pub seed: u64,
    pub mode: Mode,
    /// Wall time that the work took; 0 while it is not known.
    pub wall_ns: u64,
    /// False when something happened that makes the numbers doubtful; `warnings` says what.
    pub trusted: bool,
    /// To be read before the results are believed.
    pub warnings: Vec<String>,
}

impl Manifest {
    /// A manifest of results that nothing speaks against yet.
    pub fn new(scenario: &Value, seed: u64, mode: Mode) -> Manifest {
        Manifest {
            schema_version: SCHEMA_VERSION,
            code_version: env!("CARGO_PKG_VERSION").to_string(),
            scenario_hash: scenario_hash(scenario),
            seed,
            mode,
            wall_ns: 0,
            trusted: true,
            warnings: Vec::new(),
        }
    }
    /// Something that a reader must know, though the numbers hold.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }
    /// Something that makes the numbers doubtful.
    pub fn distrust(&mut self, why: impl Into<String>) {
        self.trusted = false;
        self.warn(why);
    }
}

/// Names a scenario by its content: 64 bits of FNV-1a and the length, in hexadecimal, over the JSON text with sorted
/// keys and no spaces. The order of keys in the file therefore does not matter; hash the *normalised* scenario, in
/// which all defaults are written out, so that spelling out a default does not matter either.
///
/// It tells scenarios apart that people write; it does not withstand someone who wants two to collide.
pub fn scenario_hash(scenario: &Value) -> String {
    let mut text = String::new();
    canonical(scenario, &mut text);
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}-{:x}", text.len())
}

fn canonical(v: &Value, out: &mut String) {
    match v {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(k, _)| *k);
            out.push('{');
            for (i, (k, v)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(k.as_str()).to_string());
                out.push(':');
                canonical(v, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, v) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                canonical(v, out);
            }
            out.push(']');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_change_the_hash_and_any_value_does() {
        let parse = |t: &str| serde_json::from_str::<Value>(t).unwrap();
        let a = parse(r#"{"name": "x", "link": {"a": {"rate": "1 Mbit/s", "delay": "3 ms"}}}"#);
        let b = parse(r#"{"link": {"a": {"delay": "3 ms", "rate": "1 Mbit/s"}}, "name": "x"}"#);
        assert_eq!(scenario_hash(&a), scenario_hash(&b));
        let c = parse(r#"{"link": {"a": {"delay": "4 ms", "rate": "1 Mbit/s"}}, "name": "x"}"#);
        assert_ne!(scenario_hash(&a), scenario_hash(&c));
        assert_ne!(scenario_hash(&json!([1, 2])), scenario_hash(&json!([2, 1])), "lists keep their order");
    }

    #[test]
    fn the_hash_is_fnv_1a_of_the_compact_text() {
        // The published value of the one-letter text "a" vouches for the step; the rest is two steps of it.
        let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100000001b3);
        assert_eq!(step(0xcbf29ce484222325, b'a'), 0xaf63dc4c8601ec8c);
        let want = step(step(0xcbf29ce484222325, b'{'), b'}');
        assert_eq!(scenario_hash(&json!({})), format!("{want:016x}-2"));
    }

    #[test]
    fn a_manifest_survives_the_way_through_json() {
        let mut m = Manifest::new(&json!({"name": "x"}), u64::MAX, Mode::Emulate);
        m.warn("short");
        assert!(m.trusted);
        m.distrust("late by 3 ms");
        let text = serde_json::to_string(&m).unwrap();
        assert!(text.contains(r#""mode":"emulate""#) && text.contains(r#""trusted":false"#), "{text}");
        let back: Manifest = serde_json::from_str(&text).unwrap();
        assert_eq!((&back, back.warnings.len()), (&m, 2));
    }
}
