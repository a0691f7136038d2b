//! Spans of time that are drawn: fixed, uniform, or exponential between bounds.

use crosswind_base::{ConfigError, Dur, Rng, units};
use schemars::JsonSchema;
use serde::de::{Error as _, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// What happens to an exponential draw outside its bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// Draw again: the distribution is truncated.
    #[default]
    Redraw,
    /// Take the bound.
    Clamp,
}

/// A span of time, or the distribution from which it is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Spread {
    Fixed(Dur),
    Uniform([Dur; 2]),
    /// Mean before truncation, and bounds.
    Exponential {
        mean: Dur,
        min: Dur,
        max: Option<Dur>,
        outside: Outside,
    },
}

impl Default for Spread {
    fn default() -> Spread {
        Spread::Fixed(Dur::ZERO)
    }
}

impl Spread {
    /// Exponential with this mean, truncated to `bounds` by drawing again.
    pub const fn truncated(mean: Dur, bounds: [Dur; 2]) -> Spread {
        Spread::Exponential { mean, min: bounds[0], max: Some(bounds[1]), outside: Outside::Redraw }
    }

    /// One value. A fixed span draws nothing; the others draw once.
    pub fn draw(&self, rng: &mut Rng) -> Dur {
        match *self {
            Spread::Fixed(d) => d,
            Spread::Uniform([low, high]) => Dur(rng.between(low.0 as f64, high.0 as f64).round() as u64),
            Spread::Exponential { mean, min, max, outside } => {
                let (mean, low) = (mean.0 as f64, min.0 as f64);
                let high = max.map_or(f64::INFINITY, |m| m.0 as f64);
                let value = match outside {
                    Outside::Clamp => rng.exponential(mean).clamp(low, high),
                    // Drawing again until the value lies inside has this inverse distribution function.
                    Outside::Redraw => {
                        let (at_low, at_high) = ((-low / mean).exp(), (-high / mean).exp());
                        -mean * (at_low - rng.uniform() * (at_low - at_high)).ln()
                    }
                };
                Dur(value.round() as u64)
            }
        }
    }

    /// The mean; of an exponential one that before truncation.
    pub fn mean(&self) -> Dur {
        match *self {
            Spread::Fixed(d) => d,
            Spread::Uniform([low, high]) => Dur(low.0 / 2 + high.0 / 2),
            Spread::Exponential { mean, .. } => mean,
        }
    }

    /// The largest value that can be drawn; `None` without a bound.
    pub fn most(&self) -> Option<Dur> {
        match *self {
            Spread::Fixed(d) => Some(d),
            Spread::Uniform([_, high]) => Some(high),
            Spread::Exponential { max, .. } => max,
        }
    }

    /// Refuses distributions that cannot be drawn from, and those whose mean lies outside their bounds. `path` is the
    /// key of the spread.
    pub fn check(&self, path: &str) -> Result<(), ConfigError> {
        const DAY: Dur = Dur::from_secs(86_400);
        let show = units::show_dur;
        let under = |key: &str| format!("{path}.{key}");
        match *self {
            Spread::Fixed(d) if d > DAY => Err(ConfigError::new(path, show(d), "a span of at most 24 h")),
            Spread::Fixed(_) => Ok(()),
            Spread::Uniform([low, high]) if low > high || high > DAY => {
                let found = format!("[\"{}\", \"{}\"]", show(low), show(high));
                Err(ConfigError::new(under("uniform"), found, "two spans in ascending order, at most 24 h"))
            }
            Spread::Uniform(_) => Ok(()),
            Spread::Exponential { mean, .. } if mean == Dur::ZERO || mean > DAY => {
                Err(ConfigError::new(under("exponential"), show(mean), "a mean above zero and at most 24 h"))
            }
            Spread::Exponential { mean, min, .. } if min > mean => {
                Err(ConfigError::new(under("min"), show(min), format!("at most the mean ({})", show(mean))).hint(
                    "`exponential` is the mean before truncation; a smaller `min` or a larger mean makes sense of it",
                ))
            }
            Spread::Exponential { mean, min, max: Some(max), .. } if max < mean || max == min => {
                let expected = format!("at least the mean ({}) and more than min ({})", show(mean), show(min));
                Err(ConfigError::new(under("max"), show(max), expected))
            }
            Spread::Exponential { .. } => Ok(()),
        }
    }

    /// Like `check`, for spans that follow each other without end: they must not be vanishingly short.
    pub fn check_recurring(&self, path: &str) -> Result<(), ConfigError> {
        const LEAST: Dur = Dur::from_millis(1);
        self.check(path)?;
        let typical = match *self {
            Spread::Fixed(d) => d,
            Spread::Uniform([_, high]) => high,
            Spread::Exponential { mean, .. } => mean,
        };
        if typical < LEAST {
            return Err(ConfigError::new(path, units::show_dur(typical), "spans of 1 ms or more")
                .hint("spans follow each other without end; shorter ones would only slow the simulation down"));
        }
        Ok(())
    }
}

const HELP: &str = "a span such as \"700 ms\", or { uniform = [\"1 s\", \"3 s\"] }, or { exponential = \"10 s\", min = \"5 s\", max = \"15 s\" }";

/// A distribution as written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Uniform between two spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uniform: Option<[Dur; 2]>,
    /// Exponential with this mean (before truncation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exponential: Option<Dur>,
    /// Lower bound of an exponential span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min: Option<Dur>,
    /// Upper bound of an exponential span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<Dur>,
    /// What happens to a draw outside the bounds: it is drawn again, or the bound is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<Outside>,
}

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let none = Written { uniform: None, exponential: None, min: None, max: None, outside: None };
        match *self {
            Spread::Fixed(d) => d.serialize(s),
            Spread::Uniform(range) => Written { uniform: Some(range), ..none }.serialize(s),
            Spread::Exponential { mean, min, max, outside } => {
                let min = (min > Dur::ZERO).then_some(min);
                let outside = (outside != Outside::Redraw).then_some(outside);
                Written { exponential: Some(mean), min, max, outside, ..none }.serialize(s)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Spread, D::Error> {
        d.deserialize_any(SpreadVisitor)
    }
}

struct SpreadVisitor;

impl<'de> Visitor<'de> for SpreadVisitor {
    type Value = Spread;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HELP)
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Spread, E> {
        units::parse_dur(text).map(Spread::Fixed).ok_or_else(|| E::custom(format!("expected {HELP}")))
    }
    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Spread, E> {
        if n == 0 { Ok(Spread::Fixed(Dur::ZERO)) } else { Err(E::custom(format!("expected {HELP}"))) }
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Spread, A::Error> {
        let w = Written::deserialize(MapAccessDeserializer::new(map))?;
        match (w.uniform, w.exponential) {
            (Some(range), None) if w.min.is_none() && w.max.is_none() && w.outside.is_none() => {
                Ok(Spread::Uniform(range))
            }
            (None, Some(mean)) => Ok(Spread::Exponential {
                mean,
                min: w.min.unwrap_or_default(),
                max: w.max,
                outside: w.outside.unwrap_or_default(),
            }),
            _ => Err(A::Error::custom(format!("expected {HELP}"))),
        }
    }
}

impl JsonSchema for Spread {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Spread".into()
    }
    fn json_schema(g: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let (fixed, drawn) = (g.subschema_for::<Dur>(), g.subschema_for::<Written>());
        schemars::json_schema!({"anyOf": [fixed, drawn], "description": HELP})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use serde_json::{Value, json};

    fn read(v: Value) -> Result<Spread, ConfigError> {
        let s: Spread = crosswind_base::config::read(&v, "x")?;
        s.check("x").map(|()| s)
    }

    #[test]
    fn spans_are_written_as_they_are_read() {
        for v in [
            json!("700 ms"),
            json!({"uniform": ["1 s", "3 s"]}),
            json!({"exponential": "10 s"}),
            json!({"exponential": "10 s", "min": "5 s", "max": "15 s"}),
            json!({"exponential": "10 s", "min": "5 s", "outside": "clamp"}),
        ] {
            let s = read(v.clone()).expect("valid");
            assert_eq!(serde_json::to_value(s).expect("plain data"), v);
        }
    }

    #[test]
    fn impossible_spans_are_refused_at_the_key_that_is_wrong() {
        let cases = [
            (json!("7 parsec"), "x", "700 ms"),
            (json!(7), "x", "700 ms"),
            (json!({"uniform": ["3 s", "1 s"]}), "x.uniform", "ascending"),
            (json!({"exponential": "1 s", "min": "2 s"}), "x.min", "at most the mean"),
            (json!({"exponential": "3 s", "min": "1 s", "max": "2 s"}), "x.max", "at least the mean"),
            (json!({"exponential": "0 s"}), "x.exponential", "above zero"),
            (json!({"exponential": "1 s", "maximum": "2 s"}), "x.maximum", "max"),
            (json!({"exponential": "1 s", "uniform": ["1 s", "2 s"]}), "x", "exponential"),
            (json!({"min": "1 s"}), "x", "exponential"),
        ];
        for (v, path, word) in cases {
            let e = read(v.clone()).expect_err("refused");
            assert_eq!(e.path, path, "{v}: {e}");
            assert!(e.to_string().contains(word), "{v}: {e}");
        }
    }

    #[test]
    fn a_truncated_exponential_has_its_closed_form_mean_and_clamping_has_another() {
        let mut rng = Streams::new(3).named("spread");
        let mut mean = |s: Spread| (0..200_000).map(|_| s.draw(&mut rng).as_secs_f64()).sum::<f64>() / 200_000.0;
        let s = Dur::from_secs;
        // m + (a e^-a/m - b e^-b/m) / (e^-a/m - e^-b/m) with m = 10, a = 5, b = 15: 9.18 s.
        let (at_5, at_15) = ((-0.5f64).exp(), (-1.5f64).exp());
        let want = 10.0 + (5.0 * at_5 - 15.0 * at_15) / (at_5 - at_15);
        assert!((want - 9.18).abs() < 0.001);
        assert!((mean(Spread::truncated(s(10), [s(5), s(15)])) - want).abs() < 0.03);
        // Clamped: 5 + the integral of e^-x/10 from 5 to 15 = 8.83 s.
        let clamped = Spread::Exponential { mean: s(10), min: s(5), max: Some(s(15)), outside: Outside::Clamp };
        assert!((mean(clamped) - (5.0 + 10.0 * (at_5 - at_15))).abs() < 0.03);
        assert!((mean(Spread::Uniform([s(1), s(3)])) - 2.0).abs() < 0.01);
        let unbounded = Spread::Exponential { mean: s(2), min: Dur::ZERO, max: None, outside: Outside::Redraw };
        assert!((mean(unbounded) - 2.0).abs() < 0.03);
    }

    #[test]
    fn no_draw_leaves_the_bounds() {
        let mut rng = Streams::new(4).named("spread");
        let bounds = [Dur::from_millis(1400), Dur::from_secs(4)];
        let s = Spread::truncated(Dur::from_millis(2500), bounds);
        assert!((0..100_000).map(|_| s.draw(&mut rng)).all(|d| bounds[0] <= d && d <= bounds[1]));
    }
}
