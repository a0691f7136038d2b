//! Quantities as people write them: `"64 kbit/s"`, `"300 ms"`, `"11520 B"`, `"20 packets"`.
//!
//! A unit is never guessed: a bare number is refused unless it is zero.

use crate::{BitRate, Dur};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Size(pub u64);

/// The limit of a queue, in bytes or in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    Bytes(u64),
    Packets(u64),
}

const DURATIONS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
const RATES: &[(&str, f64)] =
    &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("B/s", 8.0), ("kB/s", 8e3), ("MB/s", 8e6)];
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
];

/// Splits `"64 kbit/s"` into its number and its unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let t = text.trim();
    let end = t
        .char_indices()
        .find(|(i, c)| {
            let exponent =
                matches!(c, 'e' | 'E') && t[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            let sign_of_exponent = matches!(c, '-' | '+') && (*i == 0 || t[..*i].ends_with(['e', 'E']));
            !(c.is_ascii_digit() || *c == '.' || *c == '_' || exponent || sign_of_exponent)
        })
        .map_or(t.len(), |(i, _)| i);
    let number: f64 = t[..end].replace('_', "").parse().ok()?;
    number.is_finite().then_some((number, t[end..].trim()))
}

fn parse(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (n, unit) = split(text)?;
    if n < 0.0 {
        return None;
    }
    if unit.is_empty() {
        return (n == 0.0).then_some(0.0);
    }
    let scale = units.iter().find(|(u, _)| *u == unit)?.1;
    let v = n * scale;
    // Above this a u64 of nanoseconds, bits or bytes could overflow in arithmetic.
    (v <= 9e18).then_some(v)
}

pub fn parse_dur(text: &str) -> Option<Dur> {
    parse(text, DURATIONS).map(|v| Dur(v.round() as u64))
}
/// The fastest link: 100 Tbit/s. A byte then takes less than a tenth of a picosecond.
pub const RATE_LIMIT: BitRate = BitRate(100_000_000_000_000);

pub fn parse_rate(text: &str) -> Option<BitRate> {
    parse(text, RATES).map(|v| BitRate(v.round() as u64)).filter(|r| r.0 > 0 && r.0 <= RATE_LIMIT.0)
}
pub fn parse_size(text: &str) -> Option<Size> {
    parse(text, SIZES).map(|v| Size(v.round() as u64))
}
pub fn parse_limit(text: &str) -> Option<Limit> {
    if let Some((n, unit)) = split(text)
        && matches!(unit, "packet" | "packets" | "p")
    {
        return (n >= 0.0 && n.fract() == 0.0 && n <= 1e12).then_some(Limit::Packets(n as u64));
    }
    parse_size(text).map(|s| Limit::Bytes(s.0))
}

const DUR_HELP: &str = "a duration with its unit, such as \"300 ms\" or \"2 s\" (ns, us, ms, s, min, h)";
const RATE_HELP: &str = "a positive rate with its unit, such as \"64 kbit/s\" or \"10 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, B/s), at most 100000 Gbit/s";
const SIZE_HELP: &str = "a size with its unit, such as \"576 B\" or \"64 KiB\" (B, kB, MB, GB, KiB, MiB, GiB)";
const LIMIT_HELP: &str = "a limit such as \"20 packets\" or \"11520 B\"";

/// Text, or the bare number zero.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Number(f64),
    Other(serde::de::IgnoredAny),
}

fn take<'de, D: Deserializer<'de>, T>(d: D, parse: fn(&str) -> Option<T>, help: &str) -> Result<T, D::Error> {
    let parsed = match Written::deserialize(d)? {
        Written::Text(t) => parse(&t),
        Written::Number(0.0) => parse("0"),
        Written::Number(_) | Written::Other(_) => None,
    };
    parsed.ok_or_else(|| D::Error::custom(format!("expected {help}")))
}

/// Writes with the largest unit that leaves a short exact number.
fn put(v: f64, units: &[(&str, f64)]) -> String {
    let best = units.iter().filter(|(u, s)| *u != "bytes" && *u != "µs" && v >= *s && (v / s * 1000.0).fract() == 0.0);
    match best.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((u, s)) => format!("{} {u}", v / s),
        None => format!("{v} {}", units[0].0),
    }
}

pub fn show_dur(d: Dur) -> String {
    put(d.0 as f64, DURATIONS)
}
pub fn show_rate(r: BitRate) -> String {
    put(r.0 as f64, &RATES[..4])
}
pub fn show_size(s: Size) -> String {
    format!("{} B", s.0)
}
pub fn show_limit(l: Limit) -> String {
    match l {
        Limit::Bytes(b) => format!("{b} B"),
        Limit::Packets(p) => format!("{p} packets"),
    }
}

macro_rules! human {
    ($t:ty, $module:ident, $parse:ident, $show:ident, $help:ident, $schema:literal, $pattern:literal) => {
        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                take(d, $parse, $help)
            }
        }
        impl Serialize for $t {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&$show(*self))
            }
        }
        impl JsonSchema for $t {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": ["string", "number"], "description": $help, "pattern": $pattern})
            }
        }
        pub mod $module {
            //! `#[serde(with = ..)]` form of the same reader and writer.
            pub fn serialize<S: serde::Serializer>(v: &$t, s: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(v, s)
            }
            pub fn deserialize<'de, D: serde::Deserializer<'de>>(d: D) -> Result<$t, D::Error> {
                serde::Deserialize::deserialize(d)
            }
        }
    };
}

human!(crate::Dur, dur, parse_dur, show_dur, DUR_HELP, "Duration", r"^\s*[0-9.eE_+-]+\s*(ns|us|µs|ms|s|min|h)?\s*$");
human!(
    crate::BitRate,
    rate,
    parse_rate,
    show_rate,
    RATE_HELP,
    "Rate",
    r"^\s*[0-9.eE_+-]+\s*(bit/s|kbit/s|Mbit/s|Gbit/s|B/s|kB/s|MB/s)?\s*$"
);
human!(
    crate::Size,
    size,
    parse_size,
    show_size,
    SIZE_HELP,
    "Size",
    r"^\s*[0-9.eE_+-]+\s*(B|bytes|kB|MB|GB|KiB|MiB|GiB)?\s*$"
);
human!(
    crate::Limit,
    limit,
    parse_limit,
    show_limit,
    LIMIT_HELP,
    "Limit",
    r"^\s*[0-9.eE_+-]+\s*(packet|packets|p|B|bytes|kB|MB|GB|KiB|MiB|GiB)?\s*$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!(parse_rate("64 kbit/s"), Some(BitRate(64_000)));
        assert_eq!(parse_rate("2.4Gbit/s"), Some(BitRate(2_400_000_000)));
        assert_eq!(parse_dur("300 ms"), Some(Dur::from_millis(300)));
        assert_eq!(parse_dur("1e-3 s"), Some(Dur::from_millis(1)));
        assert_eq!(parse_size("11520 B"), Some(Size(11520)));
        assert_eq!(parse_limit("20 packets"), Some(Limit::Packets(20)));
        assert_eq!(parse_limit("64 KiB"), Some(Limit::Bytes(65536)));
    }

    #[test]
    fn nonsense_is_refused() {
        for t in ["", "ms", "-3 ms", "3", "3 parsec", "1e400 s", "nan s", "1 2 ms"] {
            assert_eq!(parse_dur(t), None, "{t}");
        }
        assert_eq!(parse_rate("0 bit/s"), None);
        assert_eq!((parse_rate("100000 Gbit/s"), parse_rate("1e15 bit/s")), (Some(RATE_LIMIT), None));
        assert_eq!(parse_limit("1.5 packets"), None);
    }

    #[test]
    fn writing_and_reading_round_trip() {
        for ns in [0, 1, 999, 1_000, 72_000_000, 1_500_000_000, 123_456_789] {
            assert_eq!(parse_dur(&show_dur(Dur(ns))), Some(Dur(ns)), "{}", show_dur(Dur(ns)));
        }
        for bps in [1, 64_000, 1_000_000_000, 2_048_001] {
            assert_eq!(parse_rate(&show_rate(BitRate(bps))), Some(BitRate(bps)));
        }
    }
}
