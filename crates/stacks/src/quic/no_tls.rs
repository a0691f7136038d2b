//! A build without TLS: scenarios that ask for it have been refused.

use super::proto::crypto;
use super::seeded::Date;
use crosswind_base::Rng;
use std::sync::Arc;

/// Nothing is drawn.
pub struct Draws;

impl Draws {
    pub fn new(_: Rng) -> Draws {
        Draws
    }
    pub fn begin(&self) {}
}

pub fn client(_: &Date) -> Arc<dyn crypto::ClientConfig> {
    unreachable!("refused with the scenario")
}

pub fn server(_: &Date, _: usize) -> Arc<dyn crypto::ServerConfig> {
    unreachable!("refused with the scenario")
}
