//! A span of time that is fixed or drawn: the idle time between two bursts, the length of an active period.

use crosswind_base::{Dur, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// How long something lasts each time.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "WrittenDraw")]
pub enum Draw {
    Fixed(Dur),
    Uniform(Dur, Dur),
    /// By its mean.
    Exponential(Dur),
    /// By its mean and shape (above 1, or the mean would be infinite).
    Pareto(Dur, f64),
}

impl Default for Draw {
    fn default() -> Draw {
        Draw::Fixed(Dur::ZERO)
    }
}

/// A draw as written in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum WrittenDraw {
    /// The same span every time.
    Fixed(Dur),
    Rule(WrittenRule),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum WrittenRule {
    /// Uniform in [from, to].
    Uniform([Dur; 2]),
    /// Exponential with this mean.
    Exponential(Dur),
    /// Pareto with this mean and shape: heavy-tailed between 1 and 2.
    Pareto { mean: Dur, shape: f64 },
}

const HELP: &str = "a duration such as \"5 s\", { uniform = [\"5 s\", \"15 s\"] }, { exponential = \"2 s\" } or \
                    { pareto = { mean = \"2 s\", shape = 1.5 } }";

impl<'de> Deserialize<'de> for Draw {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Draw, D::Error> {
        use serde::de::Error;
        let written = Value::deserialize(d)?;
        let wrong = || D::Error::custom(format!("expected {HELP}"));
        let draw = match &written {
            Value::Object(_) => match serde_json::from_value(written).map_err(|_| wrong())? {
                WrittenRule::Uniform([from, to]) => Draw::Uniform(from, to),
                WrittenRule::Exponential(mean) => Draw::Exponential(mean),
                WrittenRule::Pareto { mean, shape } => Draw::Pareto(mean, shape),
            },
            _ => Draw::Fixed(serde_json::from_value(written).map_err(|_| wrong())?),
        };
        let fits = match draw {
            Draw::Uniform(from, to) => from <= to,
            Draw::Pareto(_, shape) => shape > 1.0 && shape.is_finite(),
            _ => true,
        };
        let why = "the shorter span first in `uniform`, and a shape above 1 in `pareto`";
        if fits { Ok(draw) } else { Err(D::Error::custom(format!("expected {why}"))) }
    }
}

impl Serialize for Draw {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match *self {
            Draw::Fixed(d) => WrittenDraw::Fixed(d),
            Draw::Uniform(from, to) => WrittenDraw::Rule(WrittenRule::Uniform([from, to])),
            Draw::Exponential(mean) => WrittenDraw::Rule(WrittenRule::Exponential(mean)),
            Draw::Pareto(mean, shape) => WrittenDraw::Rule(WrittenRule::Pareto { mean, shape }),
        }
        .serialize(s)
    }
}

impl Draw {
    pub fn draw(&self, rng: &mut Rng) -> Dur {
        match *self {
            Draw::Fixed(d) => d,
            Draw::Uniform(from, to) => Dur(rng.between(from.0 as f64, to.0 as f64) as u64),
            Draw::Exponential(mean) => mean.mul_f64(rng.exponential(1.0)),
            // Smallest value mean * (shape - 1) / shape; 1 - u lies in (0, 1].
            Draw::Pareto(mean, shape) => mean.mul_f64((shape - 1.0) / shape * (1.0 - rng.uniform()).powf(-1.0 / shape)),
        }
    }

    /// No draw is above zero.
    pub fn is_never_positive(&self) -> bool {
        match *self {
            Draw::Fixed(d) | Draw::Exponential(d) | Draw::Pareto(d, _) | Draw::Uniform(_, d) => d == Dur::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use serde_json::json;

    fn read(v: Value) -> Draw {
        serde_json::from_value(v).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_draw_reads_as_it_is_written() {
        for v in [
            json!("5 s"),
            json!({"uniform": ["5 s", "15 s"]}),
            json!({"exponential": "2 s"}),
            json!({"pareto": {"mean": "2 s", "shape": 1.5}}),
        ] {
            assert_eq!(serde_json::to_value(read(v.clone())).unwrap(), v);
        }
    }

    #[test]
    fn every_distribution_has_the_mean_it_was_given() {
        let mut rng = Streams::new(1).named("draw");
        for (v, mean, percent) in [
            (json!("5 s"), 5.0, 0.0),
            (json!({"uniform": ["5 s", "15 s"]}), 10.0, 1.0),
            (json!({"exponential": "2 s"}), 2.0, 2.0),
            (json!({"pareto": {"mean": "2 s", "shape": 3.0}}), 2.0, 2.0),
        ] {
            let d = read(v);
            let n = 100_000;
            let sum: f64 = (0..n).map(|_| d.draw(&mut rng).as_secs_f64()).sum();
            let off = 100.0 * (sum / n as f64 / mean - 1.0);
            assert!(off.abs() <= percent, "{d:?}: {off} %");
        }
    }

    #[test]
    fn draws_that_make_no_sense_are_refused_with_what_would() {
        for (v, word) in [
            (json!({"uniform": ["15 s", "5 s"]}), "shorter"),
            (json!({"pareto": {"mean": "2 s", "shape": 1.0}}), "shape above 1"),
            (json!({"normal": "2 s"}), "exponential"),
            (json!(7), "duration"),
        ] {
            let e = serde_json::from_value::<Draw>(v.clone()).unwrap_err().to_string();
            assert!(e.contains(word), "{v}: {e}");
        }
    }
}
