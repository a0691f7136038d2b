//! # Listed losses
//!
//! **Source**: ns-2.35 (ErrorModel/List, `drop-packet`).
//!
//! **Idea**: the n-th packets that reach the model are lost, counted from 1 in order of arrival.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `packets` | ordinals | [] | ours: nothing is lost until listed |
//! | `counts` | - | data | ours: retransmissions count, acknowledgements do not |
//! | `at` | - | exit | ours: the packet has used queue and link |
//!
//! **Deviations**: 1. Numbers start at 1. (ns-2's list starts at 0.)
//!
//! **Checked by**: conformance suite; unit tests below.

use super::{Counts, LossModel, LossPoint};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Packet, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of listed losses.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListParams {
    /// Which packets are lost, counted from 1 in order of arrival at the model.
    pub packets: Vec<u64>,
    /// What is counted: packets with payload, or all.
    pub counts: Counts,
    /// Before the queue (entry) or at the far end of the link (exit).
    pub at: LossPoint,
}

impl Params for ListParams {
    fn check(&self) -> Result<(), ConfigError> {
        match self.packets.iter().position(|n| *n == 0) {
            Some(i) => Err(ConfigError::new(format!("packets[{i}]"), "0", "a number from 1: the first packet is 1")),
            None => Ok(()),
        }
    }
}

/// Loses the packets of a list.
pub struct List {
    params: ListParams,
    /// Sorted, without repetition; `next` is the first that has not come yet.
    listed: Vec<u64>,
    next: usize,
    seen: u64,
}

impl List {
    pub fn new(params: ListParams) -> List {
        let mut listed = params.packets.clone();
        listed.sort_unstable();
        listed.dedup();
        List { params, listed, next: 0, seen: 0 }
    }
}

impl LossModel for List {
    fn point(&self) -> LossPoint {
        self.params.at
    }
    fn lose(&mut self, p: &Packet, _now: Time) -> Option<DropReason> {
        if !self.params.counts.covers(p) {
            return None;
        }
        self.seen += 1;
        if self.listed.get(self.next) != Some(&self.seen) {
            return None;
        }
        self.next += 1;
        Some(DropReason::Listed)
    }
    /// Numbers go on counting from the start of the run.
    fn change(&mut self, set: &Map<String, Value>, _now: Time) -> Result<(), ConfigError> {
        let seen = self.seen;
        *self = List::new(params::merged(&self.params, set)?);
        self.next = self.listed.partition_point(|n| *n <= seen);
        self.seen = seen;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::loss::packet_with_payload as packet;

    fn lost(params: ListParams, payloads: &[u16]) -> Vec<usize> {
        let mut m = List::new(params);
        let one = |(i, payload): (usize, &u16)| m.lose(&packet(*payload), Time::ZERO).map(|_| i);
        payloads.iter().enumerate().filter_map(one).collect()
    }

    #[test]
    fn data_packets_are_counted_from_one_and_acknowledgements_are_not() {
        let params = ListParams { packets: vec![3, 1, 3], ..ListParams::default() };
        assert_eq!(lost(params, &[0, 536, 0, 536, 536, 536]), [1, 4]);
    }

    #[test]
    fn all_packets_are_counted_when_asked() {
        let params = ListParams { packets: vec![1, 3], counts: Counts::All, ..ListParams::default() };
        assert_eq!(lost(params, &[0, 536, 0, 536]), [0, 2]);
    }
}
