//! Changes during a run as they are written: new values for parameters of links and flows, at a time or by a schedule.

use super::body::Direction;
use crosswind_base::units::show_dur;
use crosswind_base::{ConfigError, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

type Keys = Map<String, Value>;

/// New values for some keys of a link or a flow, from one moment on, or at several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// When, from the start of the run: a time, a list of times, or a rule.
    pub at: When,
    /// Name of the link that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Name of the flow that changes, or of a group of flows. Either a link or a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// One direction of the link. Left out: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub direction: Option<Direction>,
    /// The keys that change, such as `{ rate = "32 kbit/s", queue = { limit = "7 packets" } }`. For a link, `profile` stands
    /// for the keys of an access system, and `reverse` holds what is different in the other direction.
    pub set: Keys,
}

/// When something changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a time such as \"30 s\", a list of times, or { first = \"10 s\", every = \"20 s\", until = \"90 s\" }"
)]
pub enum When {
    /// Once.
    Once(Dur),
    /// At each of these times.
    Each(Vec<Dur>),
    /// Again and again.
    Every(Schedule),
}

/// At `first`, and then at regular intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    pub first: Dur,
    pub every: Dur,
    /// No change comes later. Left out: the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Dur>,
}

/// Most changes of a run.
pub(super) const CHANGES_LIMIT: u64 = 1_000_000;

impl When {
    pub(super) fn times(&self, duration: Dur, path: &str) -> Result<Vec<Dur>, ConfigError> {
        match self {
            When::Once(at) => Ok(vec![*at]),
            When::Each(all) => Ok(all.clone()),
            When::Every(s) => {
                let until = s.until.unwrap_or(duration).min(duration);
                if s.every == Dur::ZERO || until.saturating_sub(s.first).0 / s.every.0 > CHANGES_LIMIT {
                    let expected = format!("an interval that gives at most {CHANGES_LIMIT} changes");
                    return Err(ConfigError::new(format!("{path}.every"), show_dur(s.every), expected));
                }
                let steps = (0..).map(|k| s.first + s.every.saturating_mul(k));
                Ok(steps.take_while(|at| *at <= until).collect())
            }
        }
    }
}
