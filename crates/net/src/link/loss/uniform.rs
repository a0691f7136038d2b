//! # Independent losses
//!
//! **Source**: ns-2.35 (ErrorModel, unit packet, uniform variable).
//!
//! **Idea**: each packet is lost with probability `probability`, independently of all others.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `probability` | 1 | 0 | ours: nothing is lost until asked |
//! | `counts` | - | all | ns-2: every packet is drawn for |
//! | `at` | - | exit | ours: the packet has used queue and link |
//!
//! **Deviations**: none.
//!
//! **Checked by**: conformance suite; the mean and the independence test below.

use super::{Counts, LossModel, LossPoint};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Packet, Rng, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of independent losses.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UniformParams {
    /// Probability that a packet is lost.
    pub probability: f64,
    /// Which packets can be lost: those with payload, or all.
    pub counts: Counts,
    /// Before the queue (entry) or at the far end of the link (exit).
    pub at: LossPoint,
}

impl Default for UniformParams {
    fn default() -> Self {
        UniformParams { probability: 0.0, counts: Counts::All, at: LossPoint::Exit }
    }
}

impl Params for UniformParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_range("probability", self.probability, 0.0..=1.0)
    }
}

/// Loses packets independently.
pub struct Uniform {
    params: UniformParams,
    rng: Rng,
}

impl Uniform {
    pub fn new(params: UniformParams, rng: Rng) -> Uniform {
        Uniform { params, rng }
    }
}

impl LossModel for Uniform {
    fn point(&self) -> LossPoint {
        self.params.at
    }
    fn lose(&mut self, p: &Packet, _now: Time) -> Option<DropReason> {
        let is_lost = self.params.counts.covers(p) && self.rng.chance(self.params.probability);
        is_lost.then_some(DropReason::LinkError)
    }
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        self.params = new.get();
        Ok(())
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::loss::packet_with_payload as packet;
    use crosswind_base::Streams;

    #[test]
    fn losses_have_the_asked_frequency_and_do_not_cluster() {
        let params = UniformParams { probability: 0.1, ..UniformParams::default() };
        let mut m = Uniform::new(params, Streams::new(11).named("loss"));
        let lost: Vec<bool> = (0..200_000).map(|_| m.lose(&Packet::default(), Time::ZERO).is_some()).collect();
        let share = |n: usize, of: usize| n as f64 / of as f64;
        let all = lost.iter().filter(|l| **l).count();
        // Four standard deviations of a binomial share are 0.0027 here, and 0.0085 for the pairs.
        assert!((share(all, lost.len()) - 0.1).abs() < 0.0027);
        let after_loss = lost.windows(2).filter(|w| w[0] && w[1]).count();
        assert!((share(after_loss, all) - 0.1).abs() < 0.0085);
    }

    #[test]
    fn certain_loss_spares_packets_that_do_not_count() {
        let params = UniformParams { probability: 1.0, counts: Counts::Data, ..UniformParams::default() };
        let mut m = Uniform::new(params, Streams::new(1).named("loss"));
        assert_eq!(m.lose(&Packet::default(), Time::ZERO), None);
        assert_eq!(m.lose(&packet(1), Time::ZERO), Some(DropReason::LinkError));
    }
}
