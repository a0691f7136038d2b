//! Errors of scenario files, and reading typed parameters out of a JSON value with the path to whatever is wrong.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;

/// What is wrong with a configuration, where, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// Dotted path inside the scenario, e.g. `link.bottleneck.queue.min_th`.
    pub path: String,
    /// What stands there.
    pub found: String,
    /// What could stand there.
    pub expected: String,
    /// The nearest valid name, or other advice. May be empty.
    pub hint: String,
}

impl ConfigError {
    pub fn new(path: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> ConfigError {
        ConfigError { path: path.into(), found: found.into(), expected: expected.into(), hint: String::new() }
    }
    /// What was to change while a run goes on, and cannot.
    pub fn cannot_change(set: &Map<String, Value>) -> ConfigError {
        let keys: Vec<&str> = set.keys().map(String::as_str).collect();
        ConfigError::new(keys.join(", "), "a change while it runs", "a parameter that can change while it runs")
    }
    pub fn hint(mut self, hint: impl Into<String>) -> ConfigError {
        self.hint = hint.into();
        self
    }
    /// Puts `prefix` before the path: the caller knows where the value came from.
    pub fn under(mut self, prefix: &str) -> ConfigError {
        self.path = match (prefix.is_empty(), self.path.is_empty()) {
            (true, _) => self.path,
            (_, true) => prefix.to_string(),
            _ => format!("{prefix}.{}", self.path),
        };
        self
    }
    /// An unknown name among `valid`, with the nearest one as a hint.
    pub fn unknown(path: impl Into<String>, found: &str, what: &str, valid: &[&str]) -> ConfigError {
        let mut names: Vec<&str> = valid.to_vec();
        names.sort_unstable();
        let expected = match names.is_empty() {
            true => "nothing: there is no key here".to_string(),
            false => format!("{what}: one of {}", names.join(", ")),
        };
        let e = ConfigError::new(path, format!("`{found}`"), expected);
        match nearest(found, valid) {
            Some(n) => e.hint(format!("did you mean `{n}`?")),
            None => e,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "(top level)" } else { &self.path };
        write!(f, "{path}: found {}, expected {}", self.found, self.expected)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for ConfigError {}

/// The valid name that is closest to `found`, if any is close enough to be meant. One slip of the fingers always is, which
/// the measure for longer names does not see in short ones.
pub fn nearest<'a>(found: &str, valid: &[&'a str]) -> Option<&'a str> {
    let is_slip = |v: &str| found.chars().count() > 2 && strsim::osa_distance(found, v) == 1;
    valid
        .iter()
        .map(|v| (if is_slip(v) { 1.0 } else { strsim::jaro_winkler(found, v) }, *v))
        .filter(|(s, _)| *s > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, v)| v)
}

/// Reads a `T` out of `v`; errors carry the path below `path`, what was found and what was expected.
pub fn read<T: DeserializeOwned>(v: &Value, path: &str) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(v).map_err(|e| {
        let inner = e.path().to_string();
        let inner = if inner == "." { String::new() } else { inner };
        let message = e.into_inner().to_string();
        explain(&message, &inner, v).under(path)
    })
}

/// Turns serde's sentence into found / expected / hint.
fn explain(message: &str, path: &str, root: &Value) -> ConfigError {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let what = if message.starts_with("unknown field") { "a known key" } else { "a known name" };
        let found = quoted.first().copied().unwrap_or("?");
        // serde's path already ends in the unknown key when it is known; keep it once.
        let path = path.strip_suffix(found).map_or(path, |p| p.trim_end_matches('.'));
        let at = if message.starts_with("unknown field") { join(path, found) } else { path.to_string() };
        return ConfigError::unknown(at, found, what, &quoted[1.min(quoted.len())..]);
    }
    if message.starts_with("missing field") {
        let name = quoted.first().copied().unwrap_or("?");
        return ConfigError::new(join(path, name), "nothing", format!("a value for `{name}`"));
    }
    let found = lookup(root, path).map_or_else(|| "this value".to_string(), show);
    let expected = message.split_once("expected ").map_or(message, |(_, e)| e);
    ConfigError::new(path, found, expected)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

fn lookup<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    let mut v = root;
    for key in path.split('.').filter(|k| !k.is_empty()) {
        let (name, index) = match key.split_once('[') {
            Some((n, i)) => (n, i.trim_end_matches(']').parse::<usize>().ok()),
            None => (key, None),
        };
        if !name.is_empty() {
            v = v.get(name)?;
        }
        if let Some(i) = index {
            v = v.get(i)?;
        }
    }
    Some(v)
}

fn show(v: &Value) -> String {
    let s = v.to_string();
    if s.chars().count() > 60 { format!("{}...", s.chars().take(57).collect::<String>()) } else { s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units;
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct P {
        #[serde(with = "units::rate")]
        rate: crate::BitRate,
        #[serde(default)]
        depth: u32,
    }

    #[test]
    fn one_slip_of_the_fingers_is_seen_through_also_in_a_short_name() {
        let keys = ["law", "ltcp", "receiver"];
        assert_eq!(
            [nearest("lwa", &keys), nearest("aw", &keys), nearest("tcp", &keys)],
            [Some("law"), None, Some("ltcp")]
        );
        assert_eq!(nearest("xyz", &keys), None);
    }

    #[test]
    fn an_unknown_key_names_its_path_and_the_nearest_key() {
        let e = read::<P>(&serde_json::json!({"rate": "1 Mbit/s", "dept": 3}), "link.x").unwrap_err();
        assert_eq!(e.path, "link.x.dept");
        assert!(e.hint.contains("depth"), "{e}");
    }

    #[test]
    fn a_wrong_unit_names_what_was_found_and_expected() {
        let e = read::<P>(&serde_json::json!({"rate": "1 parsec"}), "link.x").unwrap_err();
        assert_eq!(e.path, "link.x.rate");
        assert!(e.found.contains("parsec") && e.expected.contains("64 kbit/s"), "{e}");
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Empty {}

    #[test]
    fn a_key_where_none_is_known_is_told_so() {
        let e = read::<Empty>(&serde_json::json!({"x": 1}), "flow.f.fast_reset").unwrap_err();
        assert_eq!((e.path.as_str(), e.expected.as_str()), ("flow.f.fast_reset.x", "nothing: there is no key here"));
    }

    #[test]
    fn a_missing_key_is_named() {
        let e = read::<P>(&serde_json::json!({}), "link.x").unwrap_err();
        assert_eq!(e.path, "link.x.rate");
    }
}
