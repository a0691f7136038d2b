//! # Losses in phases
//!
//! **Source**: gurtov-2004 section 4.5.4 (process D6, the three-state sequential loss model).
//!
//! **Idea**: time is cut into phases that follow each other from the beginning of the run. Phase i lasts `length` and loses a
//! packet with `probability`, and one that was sent before with `again`. The last phase has no end, or all begin anew.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `phase` | list | one phase without loss | ours: nothing is lost until asked |
//! | `after` | - | stay | gurtov-2004: the model ends in its last state; `repeat` begins with the first again |
//! | `counts` | - | data | gurtov-2004: segments are lost, acknowledgements are not |
//! | `at` | - | exit | ours: the packet has used queue and link |
//!
//! Keys of a phase: `length` (a time, or a distribution such as `{ uniform = ["1 s", "2 s"] }`), `probability` (0), and `again`
//! (as `probability`) for segments below the highest that this model has seen of their flow: 1 loses every retransmission.
//!
//! **Deviations**: 1. The source gives no lengths of its first two states; they are parameters.
//!
//! **Checked by**: conformance suite; shares of every phase and the fate of retransmissions in the tests below.

use super::{Counts, LossModel, LossPoint};
use crate::params::{self, Params};
use crate::spread::Spread;
use crosswind_base::{ConfigError, DropReason, Dur, Packet, Rng, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What follows the last phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// Nothing: it has no end.
    #[default]
    Stay,
    /// The first one.
    Repeat,
}

/// One phase.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Phase {
    /// How long it lasts.
    pub length: Spread,
    /// Probability that a packet is lost.
    pub probability: f64,
    /// The same for a segment that was sent before; as `probability` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<f64>,
}

/// Parameters of losses in phases.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhasesParams {
    /// The phases, in order.
    pub phase: Vec<Phase>,
    /// What follows the last one.
    pub after: After,
    /// Which packets can be lost: those with payload, or all.
    pub counts: Counts,
    /// Before the queue (entry) or at the far end of the link (exit).
    pub at: LossPoint,
}

impl Default for PhasesParams {
    fn default() -> Self {
        PhasesParams { phase: vec![Phase::default()], after: After::Stay, counts: Counts::Data, at: LossPoint::Exit }
    }
}

impl Params for PhasesParams {
    fn check(&self) -> Result<(), ConfigError> {
        if self.phase.is_empty() {
            return Err(ConfigError::new("phase", "[]", "at least one phase"));
        }
        for (i, p) in self.phase.iter().enumerate() {
            let under = format!("phase[{i}]");
            let length = format!("{under}.length");
            if self.after == After::Repeat {
                p.length.check_recurring(&length)?
            } else {
                p.length.check(&length)?
            }
            params::check_range(&format!("{under}.probability"), p.probability, 0.0..=1.0)?;
            params::check_range(&format!("{under}.again"), p.again.unwrap_or(0.0), 0.0..=1.0)?;
        }
        Ok(())
    }
}

/// Loses packets by the phase of their time.
pub struct Phases {
    params: PhasesParams,
    lengths: Rng,
    losses: Rng,
    now: usize,
    ends: Time,
    /// End of the highest segment seen of each flow.
    highest: Vec<u64>,
}

impl Phases {
    /// `lengths` is shared by both directions of a link, `losses` is not.
    pub fn new(params: PhasesParams, mut lengths: Rng, losses: Rng) -> Phases {
        let first = params.phase[0].length.draw(&mut lengths);
        Phases { params, lengths, losses, now: 0, ends: Time::ZERO + first, highest: Vec::new() }
    }

    fn phase_at(&mut self, now: Time) -> &Phase {
        let last = self.params.phase.len() - 1;
        while now >= self.ends && !(self.now == last && self.params.after == After::Stay) {
            self.now = if self.now == last { 0 } else { self.now + 1 };
            self.ends += self.params.phase[self.now].length.draw(&mut self.lengths).max(Dur(1));
        }
        &self.params.phase[self.now]
    }

    /// Whether the segment was sent before, and that it is sent now.
    fn is_again(&mut self, p: &Packet) -> bool {
        let flow = p.flow.0 as usize;
        if self.highest.len() <= flow {
            self.highest.resize(flow + 1, 0);
        }
        let end = p.seq + u64::from(p.payload);
        let before = self.highest[flow];
        self.highest[flow] = before.max(end);
        p.payload > 0 && end <= before
    }
}

impl LossModel for Phases {
    fn point(&self) -> LossPoint {
        self.params.at
    }
    /// New phases begin at once with the first; without them the present one goes on.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let new: PhasesParams = params::merged(&self.params, set)?;
        Ok(Setting::new((new, set.contains_key("phase"))))
    }
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        let (params, has_new_phases): (PhasesParams, bool) = new.get();
        self.params = params;
        if has_new_phases {
            self.now = 0;
            self.ends = now + self.params.phase[0].length.draw(&mut self.lengths);
        }
        Ok(())
    }
    fn lose(&mut self, p: &Packet, now: Time) -> Option<DropReason> {
        if !self.params.counts.covers(p) {
            return None;
        }
        let is_again = self.is_again(p);
        let phase = self.phase_at(now);
        let probability = phase.again.filter(|_| is_again).unwrap_or(phase.probability);
        self.losses.chance(probability).then_some(DropReason::LinkError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use serde_json::{Value, json};

    fn phases(v: Value) -> Phases {
        let streams = Streams::new(3);
        Phases::new(params::read(&v, "loss").unwrap(), streams.named("lengths"), streams.named("losses"))
    }

    fn share(m: &mut Phases, from_s: u64, seq: impl Fn(u64) -> u64) -> f64 {
        const N: u64 = 20_000;
        let lost = (0..N).filter(|i| {
            let p = Packet { seq: seq(*i), payload: 100, ..Packet::default() };
            let at = Time::ZERO + Dur::from_secs(from_s) + Dur::from_nanos(*i * 50_000);
            m.lose(&p, at).is_some()
        });
        lost.count() as f64 / N as f64
    }

    #[test]
    fn every_phase_loses_its_share_and_the_last_one_stays() {
        let mut m = phases(json!({"phase": [{"length": "2 s"}, {"length": "1 s", "probability": 0.5, "again": 1.0},
            {"length": "1 s", "probability": 0.1}]}));
        assert_eq!(share(&mut m, 0, |i| 100 * i), 0.0);
        // Four standard errors: 0.014 and 0.0085.
        assert!((share(&mut m, 2, |i| 10_000_000 + 100 * i) - 0.5).abs() < 0.014);
        assert!((share(&mut m, 3, |i| 20_000_000 + 100 * i) - 0.1).abs() < 0.0085);
        assert!((share(&mut m, 90, |i| 30_000_000 + 100 * i) - 0.1).abs() < 0.0085);
    }

    #[test]
    fn what_was_sent_before_is_lost_for_certain_where_that_is_asked() {
        let mut m = phases(json!({"phase": [{"length": "1 s", "again": 1.0}, {}]}));
        assert_eq!(share(&mut m, 0, |i| 100 * (i / 2)), 0.5, "every segment goes twice");
        assert_eq!(share(&mut m, 1, |i| 100 * (i / 2)), 0.0, "in the next phase nothing is lost");
    }

    #[test]
    fn phases_may_begin_anew() {
        let mut m =
            phases(json!({"after": "repeat", "phase": [{"length": "1 s"}, {"length": "1 s", "probability": 1.0}]}));
        for second in 0..6 {
            assert_eq!(share(&mut m, second, |i| 100 * i), f64::from(second as u32 % 2));
        }
    }
}
