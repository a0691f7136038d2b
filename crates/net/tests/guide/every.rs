//! The loss model of docs/how-to-add.md, word for word (python/tests/test_docs.py).

use super::{Counts, LossModel, LossPoint};
use crate::params::Params;
use crosswind_base::{ConfigError, DropReason, Packet, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of regular losses.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EveryParams {
    /// One packet in this many is lost.
    pub nth: u64,
}

impl Default for EveryParams {
    fn default() -> Self {
        EveryParams { nth: 100 }
    }
}

impl Params for EveryParams {
    fn check(&self) -> Result<(), ConfigError> {
        if self.nth == 0 { Err(ConfigError::new("nth", "0", "a number of at least 1")) } else { Ok(()) }
    }
}

/// Loses every n-th packet with payload.
pub struct Every {
    params: EveryParams,
    seen: u64,
}

impl Every {
    pub fn new(params: EveryParams) -> Every {
        Every { params, seen: 0 }
    }
}

impl LossModel for Every {
    fn point(&self) -> LossPoint {
        LossPoint::Exit
    }
    fn lose(&mut self, p: &Packet, _now: Time) -> Option<DropReason> {
        self.seen += u64::from(Counts::Data.covers(p));
        (Counts::Data.covers(p) && self.seen % self.params.nth == 0).then_some(DropReason::LinkError)
    }
}
