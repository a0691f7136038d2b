//! A quantity that is fixed or drawn: the idle time between two bursts, the length of an active period, the size of a
//! transfer.

use crosswind_base::{Dur, Rng, Size};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// What can be drawn: a span of time, or a size.
pub trait Drawn: Copy + PartialEq + PartialOrd + Default + Serialize + DeserializeOwned + JsonSchema {
    /// What may stand in a file.
    const HELP: &'static str;
    fn to_f64(self) -> f64;
    fn from_f64(v: f64) -> Self;
}

impl Drawn for Dur {
    const HELP: &'static str = "a duration such as \"5 s\", { uniform = [\"5 s\", \"15 s\"] }, { exponential = \"2 s\" } or \
                                { pareto = { mean = \"2 s\", shape = 1.5 } }";
    fn to_f64(self) -> f64 {
        self.0 as f64
    }
    fn from_f64(v: f64) -> Dur {
        Dur(v as u64)
    }
}

impl Drawn for Size {
    const HELP: &'static str = "a size such as \"12 kB\", { uniform = [\"10 kB\", \"20 kB\"] }, { exponential = \"12 kB\" } or \
                                { pareto = { mean = \"12 kB\", shape = 1.2 } }";
    fn to_f64(self) -> f64 {
        self.0 as f64
    }
    fn from_f64(v: f64) -> Size {
        Size(v as u64)
    }
}

/// How long something lasts each time, or how large it is.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "WrittenDraw<T>", bound = "T: Drawn")]
pub enum Draw<T = Dur> {
    Fixed(T),
    Uniform(T, T),
    /// By its mean.
    Exponential(T),
    /// By its mean and shape (above 1, or the mean would be infinite).
    Pareto(T, f64),
}

impl<T: Drawn> Default for Draw<T> {
    fn default() -> Draw<T> {
        Draw::Fixed(T::default())
    }
}

/// A draw as written in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DrawOf{T}")]
#[serde(untagged)]
enum WrittenDraw<T> {
    /// The same every time.
    Fixed(T),
    Rule(WrittenRule<T>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RuleOf{T}")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum WrittenRule<T> {
    /// Uniform in [from, to].
    Uniform([T; 2]),
    /// Exponential with this mean.
    Exponential(T),
    /// Pareto with this mean and shape: heavy-tailed between 1 and 2.
    Pareto { mean: T, shape: f64 },
}

impl<'de, T: Drawn> Deserialize<'de> for Draw<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Draw<T>, D::Error> {
        use serde::de::Error;
        let written = Value::deserialize(d)?;
        let wrong = || D::Error::custom(format!("expected {}", T::HELP));
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

impl<T: Drawn> Serialize for Draw<T> {
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

impl<T: Drawn> Draw<T> {
    pub fn draw(&self, rng: &mut Rng) -> T {
        let times = |mean: T, k: f64| T::from_f64((mean.to_f64() * k).round());
        match *self {
            Draw::Fixed(d) => d,
            Draw::Uniform(from, to) => T::from_f64(rng.between(from.to_f64(), to.to_f64())),
            Draw::Exponential(mean) => times(mean, rng.exponential(1.0)),
            // Smallest value mean * (shape - 1) / shape; 1 - u lies in (0, 1].
            Draw::Pareto(mean, shape) => times(mean, (shape - 1.0) / shape * (1.0 - rng.uniform()).powf(-1.0 / shape)),
        }
    }

    /// No draw is above zero.
    pub fn is_never_positive(&self) -> bool {
        match *self {
            Draw::Fixed(d) | Draw::Exponential(d) | Draw::Pareto(d, _) | Draw::Uniform(_, d) => d == T::default(),
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
