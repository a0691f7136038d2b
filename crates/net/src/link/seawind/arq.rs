//! Errors and their repair: what becomes of one link frame, attempt by attempt.

use super::channel::{Channel, ChannelParams, State};
use crate::spread::Spread;
use crosswind_base::{ConfigError, Dur, Rng, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an error probability is the probability of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// One attempt to send a frame (a whole packet unless it is fragmented), however long it is.
    #[default]
    Frame,
    /// One byte of it: an attempt fails when any byte does.
    Byte,
    /// One bit of it.
    Bit,
}

impl ErrorUnit {
    /// Probability that an attempt of `bytes` fails.
    #[inline]
    fn of_attempt(self, error: f64, bytes: u32) -> f64 {
        match self {
            ErrorUnit::Frame => error,
            ErrorUnit::Byte => 1.0 - (1.0 - error).powi(bytes as i32),
            ErrorUnit::Bit => 1.0 - (1.0 - error).powi(8 * bytes as i32),
        }
    }
}

/// Which state of the channel an attempt meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateAt {
    /// That at the time of the attempt.
    #[default]
    Attempt,
    /// That at the first attempt, however much later this one is.
    First,
}

/// Link-level retransmission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArqParams {
    /// What each retransmission adds to the delay of the frame.
    pub delay: Spread,
    /// A frame is lost when the attempt after this many retransmissions has failed; without a limit here and in
    /// `drop_threshold` it never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmissions: Option<u32>,
    /// A frame is lost when its delay would exceed this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_threshold: Option<Dur>,
    /// Which state of the channel the retransmissions meet.
    pub state_at: StateAt,
}

impl Default for ArqParams {
    fn default() -> Self {
        ArqParams {
            delay: Spread::Fixed(Dur::from_millis(700)),
            retransmissions: None,
            drop_threshold: None,
            state_at: StateAt::Attempt,
        }
    }
}

/// Most retransmissions of one frame that can be asked for.
const RETRANSMISSIONS_MAX: u32 = 10_000;
/// The largest error probability that retransmission without limit is expected to overcome.
const ERROR_MAX_UNLIMITED: f64 = 0.99;

impl ArqParams {
    /// Paths are relative to the link. `errors`: path and value of every error probability.
    pub fn check(&self, errors: &[(&str, f64)], unit: ErrorUnit) -> Result<(), ConfigError> {
        self.delay.check("arq.delay")?;
        if self.retransmissions.is_some_and(|n| n > RETRANSMISSIONS_MAX) {
            let found = self.retransmissions.unwrap_or_default().to_string();
            return Err(ConfigError::new("arq.retransmissions", found, format!("at most {RETRANSMISSIONS_MAX}")));
        }
        if let (Some(_), Some(t)) = (self.retransmissions, self.drop_threshold) {
            return Err(ConfigError::new(
                "arq.drop_threshold",
                units::show_dur(t),
                "`retransmissions` or this, not both",
            )
            .hint("with the delay d of a retransmission, n retransmissions are the threshold n * d"));
        }
        if self.retransmissions.is_some() {
            return Ok(());
        }
        if self.drop_threshold.is_some() && self.delay.most() == Some(Dur::ZERO) {
            return Err(ConfigError::new("arq.delay", "0", "a delay above zero, or `retransmissions` as the limit")
                .hint("retransmissions without delay never reach a threshold of delay"));
        }
        let hopeless = |e: &&(&str, f64)| e.1 > ERROR_MAX_UNLIMITED || (unit != ErrorUnit::Frame && e.1 > 1e-3);
        match errors.iter().find(hopeless).filter(|_| self.drop_threshold.is_none()) {
            None => Ok(()),
            Some((path, error)) => Err(ConfigError::new(
                *path,
                error.to_string(),
                "a smaller probability where nothing limits the retries",
            )
            .hint("give arq `retransmissions` or a `drop_threshold`")),
        }
    }
}

/// What became of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Delay added until the last attempt.
    pub delay: Dur,
    pub attempts: u32,
    pub fate: FrameFate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameFate {
    Arrives,
    Lost,
}

/// The error process of one direction of a link, with its repair.
#[derive(Clone, Debug)]
pub struct Errors {
    pub channel: Option<Channel>,
    /// Error probability without a channel.
    pub error: f64,
    pub unit: ErrorUnit,
    pub arq: Option<ArqParams>,
    pub rng: Rng,
}

impl Errors {
    /// No transmission will end before `now` any more.
    #[inline]
    pub fn forget(&mut self, now: Time) {
        if let Some(c) = &mut self.channel {
            c.forget(now);
        }
    }

    /// Sends a frame whose first transmission ends at `end`.
    pub fn send(&mut self, end: Time, bytes: u32) -> Outcome {
        let mut delay = Dur::ZERO;
        let mut attempts = 1;
        while self.fails(end, delay, bytes) {
            let lost = Outcome { delay, attempts, fate: FrameFate::Lost };
            let Some(arq) = &self.arq else { return lost };
            if arq.retransmissions.is_some_and(|n| attempts > n) {
                return lost;
            }
            delay = delay + arq.delay.draw(&mut self.rng);
            if arq.drop_threshold.is_some_and(|most| delay > most) {
                return lost;
            }
            attempts += 1;
        }
        Outcome { delay, attempts, fate: FrameFate::Arrives }
    }

    fn fails(&mut self, end: Time, delay: Dur, bytes: u32) -> bool {
        let frozen = self.arq.as_ref().is_some_and(|a| a.state_at == StateAt::First);
        let at = if frozen { end } else { end + delay };
        let error = match &mut self.channel {
            None => self.error,
            Some(c) => {
                let (state, _) = c.at(at);
                c.params().state(state).error
            }
        };
        error > 0.0 && self.rng.chance(self.unit.of_attempt(error, bytes))
    }
}

/// Every error probability of a link, with its path.
pub fn error_probabilities(error: f64, channel: Option<&ChannelParams>) -> Vec<(&'static str, f64)> {
    match channel {
        None => vec![("error", error)],
        Some(c) => {
            vec![("channel.good.error", c.state(State::Good).error), ("channel.bad.error", c.state(State::Bad).error)]
        }
    }
}
