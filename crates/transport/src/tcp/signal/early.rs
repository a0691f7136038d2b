//! An early response: congestion that the sender predicts from its own round-trip times. What the curves have in common: the
//! signal, the dice, the pause between responses, and what a response costs.

use super::super::choices::Switch;
use super::super::facts::Ack;
pub use super::curve::{Curve, Queueing};
use super::gentle::{Gentle, GentleParams};
use super::pi::{Pi, PiParams};
use super::rem::{Rem, RemParams};
use crosswind_base::{ConfigError, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which response curve is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CurveName {
    /// No early response.
    Off,
    /// PERT: the curve of gentle RED.
    GentleRed,
    /// PERT-REM: the price of REM.
    Rem,
    /// PERT-PI: a proportional-integral controller.
    Pi,
}

/// How the smoothed round-trip time follows a smaller sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Falls {
    /// With its weight, as it follows a larger one.
    Smoothly,
    /// At once (TCP-LDP).
    AtOnce,
}

/// What an early response costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// The share `share` of the window.
    Fixed,
    /// What the window law takes off after a loss.
    Law,
}

/// Parameters of early responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EarlyParams {
    /// Which response curve is used.
    pub curve: CurveName,
    /// Weight of the past in the smoothed round-trip time.
    pub weight: f64,
    /// How the smoothed round-trip time follows a smaller sample.
    pub falls: Falls,
    /// What a response costs.
    pub cost: Cost,
    /// Share of the window that a response costs, if it is fixed.
    pub share: f64,
    /// Round-trip samples that must have come since the last response, beyond the round trip that must have passed.
    pub pause_samples: u32,
    /// ACKs without a sample are judged as well, by what is known (TCP-LDP).
    pub stale: Switch,
    /// Responses in slow start as well; they end it.
    pub slow_start: Switch,
    /// With `curve = "gentle-red"`.
    pub gentle: GentleParams,
    /// With `curve = "rem"`.
    pub rem: RemParams,
    /// With `curve = "pi"`.
    pub pi: PiParams,
}

impl Default for EarlyParams {
    fn default() -> Self {
        EarlyParams {
            curve: CurveName::Off,
            weight: 0.99,
            falls: Falls::Smoothly,
            cost: Cost::Fixed,
            share: 0.35,
            pause_samples: 0,
            stale: Switch::Off,
            slow_start: Switch::On,
            gentle: GentleParams::default(),
            rem: RemParams::default(),
            pi: PiParams::default(),
        }
    }
}

impl EarlyParams {
    pub fn is_on(&self) -> bool {
        self.curve != CurveName::Off
    }
    pub fn check(&self, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
        for (key, value, low, high) in [("weight", self.weight, 0.0, 1.0), ("share", self.share, 0.0, 0.99)] {
            if !(low..=high).contains(&value) {
                let expected = format!("from {low} to {high}");
                return Err(ConfigError::new(at(&format!("early.{key}")), value.to_string(), expected));
            }
        }
        self.gentle.check().map_err(|e| e.under(&at("early.gentle")))?;
        self.rem.check().map_err(|e| e.under(&at("early.rem")))?;
        self.pi.check().map_err(|e| e.under(&at("early.pi")))
    }
}

#[expect(clippy::large_enum_variant, reason = "there is one for each connection that responds early, behind a box")]
#[derive(Clone, Debug)]
enum AnyCurve {
    Gentle(Gentle),
    Rem(Rem),
    Pi(Pi),
}

/// The predictor of one connection.
#[derive(Clone, Debug)]
pub struct Early {
    pub params: EarlyParams,
    curve: AnyCurve,
    rng: Rng,
    smoothed_s: f64,
    min_s: f64,
    last_s: f64,
    responded_at: Option<Time>,
    samples_since: u32,
    /// The probability at the last sample.
    pub probability: f64,
}

impl Early {
    pub fn new(params: EarlyParams, rng: Rng) -> Early {
        let curve = match params.curve {
            CurveName::Rem => AnyCurve::Rem(Rem::new(params.rem.clone())),
            CurveName::Pi => AnyCurve::Pi(Pi::new(params.pi.clone())),
            CurveName::GentleRed | CurveName::Off => AnyCurve::Gentle(Gentle::new(params.gentle.clone())),
        };
        Early {
            params,
            curve,
            rng,
            smoothed_s: 0.0,
            min_s: f64::INFINITY,
            last_s: 0.0,
            responded_at: None,
            samples_since: 0,
            probability: 0.0,
        }
    }

    /// Whether this ACK is to be answered as congestion.
    pub fn congested(&mut self, a: &Ack) -> bool {
        let Some(r) = a.rtt.map(|r| r.as_secs_f64()) else {
            return self.params.stale.on() && self.responds(a.now);
        };
        let first = self.smoothed_s == 0.0;
        self.min_s = self.min_s.min(r);
        self.smoothed_s = if first || (self.params.falls == Falls::AtOnce && r < self.smoothed_s) {
            r
        } else {
            self.params.weight * self.smoothed_s + (1.0 - self.params.weight) * r
        };
        let change_s = if first { 0.0 } else { r - self.last_s };
        self.last_s = r;
        self.samples_since = self.samples_since.saturating_add(1);
        let q = Queueing { delay_s: self.smoothed_s - self.min_s, change_s, now: a.now };
        self.probability = match &mut self.curve {
            AnyCurve::Gentle(c) => c.probability(q),
            AnyCurve::Rem(c) => c.probability(q),
            AnyCurve::Pi(c) => c.probability(q),
        };
        self.responds(a.now)
    }

    fn responds(&mut self, now: Time) -> bool {
        // One draw per ACK that is judged, so that a pause shifts nobody's dice.
        let hit = self.rng.uniform() < self.probability;
        hit && self.responded_at.is_none_or(|t| {
            now.since(t).as_secs_f64() >= self.smoothed_s && self.samples_since >= self.params.pause_samples
        })
    }

    /// A response was made now.
    pub fn answered(&mut self, now: Time) {
        self.responded_at = Some(now);
        self.samples_since = 0;
    }
}
