//! # A path that rewrites the ECN field
//!
//! **Source**: rfc9000 section 13.4.2 and rfc9768 section 3.2.2.3 (senders have to notice such paths); ours.
//!
//! **Idea**: nothing is lost. The ECN field of every packet becomes `becomes`, whatever a queue or the sender has written into it: routers that
//! take it for a part of the old type-of-service byte clear it. Beside losses: in `several`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `becomes` | - | `not-ect` | the field is cleared, as is seen most |
//! | `counts` | - | all | SYN and bare ACKs are rewritten, too |
//! | `at` | - | exit | ours: behind queue and link |
//!
//! **Deviations**: 1. With `ce` only packets that are ECN-capable are marked, and counted as marked.
//!
//! **Checked by**: conformance suite; unit test below; `crates/sim/tests/impairments.rs`; `crates/emu/tests/loss_models.rs` (real frames).

use super::{Counts, LossModel, LossPoint};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Ecn, Packet, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the field becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Becomes {
    /// Cleared: no packet is ECN-capable any more, and marks are gone.
    #[default]
    NotEct,
    /// ECT(0), marks as well.
    Ect0,
    /// ECT(1), marks as well.
    Ect1,
    /// Marked, where it may be.
    Ce,
}

/// Parameters of a path that rewrites the ECN field.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcnFieldParams {
    /// What the field becomes.
    pub becomes: Becomes,
    /// Which packets are rewritten: those with payload, or all.
    pub counts: Counts,
    /// Before the queue (entry) or at the far end of the link (exit).
    pub at: LossPoint,
}

impl Default for EcnFieldParams {
    fn default() -> Self {
        EcnFieldParams { becomes: Becomes::NotEct, counts: Counts::All, at: LossPoint::Exit }
    }
}

impl Params for EcnFieldParams {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Rewrites, and loses nothing.
pub struct EcnField {
    params: EcnFieldParams,
    covers: bool,
}

impl EcnField {
    pub fn new(params: EcnFieldParams) -> EcnField {
        EcnField { params, covers: false }
    }
}

impl LossModel for EcnField {
    fn point(&self) -> LossPoint {
        self.params.at
    }
    fn lose(&mut self, p: &Packet, _now: Time) -> Option<DropReason> {
        self.covers = self.params.counts.covers(p);
        None
    }
    fn rewrites(&self) -> Option<Ecn> {
        self.covers.then_some(match self.params.becomes {
            Becomes::NotEct => Ecn::NotEct,
            Becomes::Ect0 => Ecn::Ect0,
            Becomes::Ect1 => Ecn::Ect1,
            Becomes::Ce => Ecn::Ce,
        })
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
    use crate::link::loss::packet_with_payload;

    #[test]
    fn the_field_of_those_that_count_is_rewritten_and_nothing_is_lost() {
        let params = EcnFieldParams { becomes: Becomes::Ect0, counts: Counts::Data, ..EcnFieldParams::default() };
        let mut m = EcnField::new(params);
        assert_eq!(m.rewrites(), None);
        let mut said = |payload| (m.lose(&packet_with_payload(payload), Time::ZERO), m.rewrites());
        assert_eq!([1, 0, 7].map(&mut said), [(None, Some(Ecn::Ect0)), (None, None), (None, Some(Ecn::Ect0))]);
    }
}
