//! # No loss
//!
//! **Source**: none needed.
//!
//! **Idea**: every packet passes.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//!
//! **Deviations**: none.
//!
//! **Checked by**: conformance suite.

use super::{LossModel, LossPoint};
use crate::params::Params;
use crosswind_base::{ConfigError, DropReason, Packet, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing to set.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoLossParams {}

impl Params for NoLossParams {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Loses nothing, and costs nothing where the compiler sees it.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoLoss;

impl LossModel for NoLoss {
    #[inline]
    fn point(&self) -> LossPoint {
        LossPoint::Exit
    }
    #[inline]
    fn loses_nothing(&self) -> bool {
        true
    }
    #[inline]
    fn lose(&mut self, _p: &Packet, _now: Time) -> Option<DropReason> {
        None
    }
}
