//! # Replay window of a tunnel
//!
//! **Source**: rfc4303 section 3.4.3 (the receiver's window of sequence numbers); rfc9331 section 6.2 (what it does to two queues).
//!
//! **Idea**: the link is a tunnel such as IPsec's. Packets are numbered when they come to its queue; its far end refuses those whose number
//! lies `window` or more below the highest that it has seen. Where one queue overtakes another, as in `dualpi2`, the packets of the slower
//! one are lost when more than `window` packets overtake them.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `window` | packets | 64 | rfc4303 section 3.4.3; 0: no protection, nothing is refused |
//!
//! **Deviations**: 1. The far end is asked when a packet leaves the queue: who is overtaken on the link itself (`reordering`) is not refused for
//! it, and what the link loses has been seen. 2. No packet comes twice, so none is refused for that. 3. Packets do not grow by the headers
//! of a tunnel. 4. Each direction of the link is a tunnel of its own.
//!
//! **Checked by**: oracle `replay_window` (a window of bits, as the standard describes it) behind two queues; conformance suite; unit
//! test below; `crates/emu/tests/loss_models.rs` (real frames).

use super::{LossModel, LossPoint};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Packet, PacketId, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of a tunnel with a replay window.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayWindowParams {
    /// Packets that a packet may be behind the newest, itself counted; 0: as many as come.
    pub window: u32,
}

impl Default for ReplayWindowParams {
    fn default() -> Self {
        ReplayWindowParams { window: 64 }
    }
}

impl Params for ReplayWindowParams {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Numbers packets, and refuses those that come too late.
pub struct ReplayWindow {
    params: ReplayWindowParams,
    /// How many were numbered.
    sent: u64,
    /// Of each packet, by its place in the pool: the number that it got when it came to the queue.
    numbers: Vec<u64>,
    /// The highest number that reached the far end.
    highest: u64,
}

impl ReplayWindow {
    pub fn new(params: ReplayWindowParams) -> ReplayWindow {
        ReplayWindow { params, sent: 0, numbers: Vec::new(), highest: 0 }
    }
}

impl LossModel for ReplayWindow {
    fn point(&self) -> LossPoint {
        LossPoint::Exit
    }
    fn arrives(&mut self, id: PacketId) {
        let place = id.0 as usize;
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, 0);
        }
        self.sent += 1;
        self.numbers[place] = self.sent;
    }
    /// Without its number nothing is known of a packet.
    fn lose(&mut self, _p: &Packet, _now: Time) -> Option<DropReason> {
        None
    }
    fn lose_known(&mut self, id: PacketId, _p: &Packet, _now: Time) -> Option<DropReason> {
        let number = self.numbers[id.0 as usize];
        self.highest = self.highest.max(number);
        let window = u64::from(self.params.window);
        (window > 0 && self.highest - number >= window).then_some(DropReason::LinkError)
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

    #[test]
    fn a_packet_may_be_as_far_behind_as_the_window_is_wide() {
        let mut m = ReplayWindow::new(ReplayWindowParams { window: 3 });
        (10..18).for_each(|id| m.arrives(PacketId(id)));
        let mut lost = |id| m.lose_known(PacketId(id), &Packet::default(), Time::ZERO).is_some();
        // Numbers 1 to 8 are those of 10 to 17. Behind the fourth: one may be two behind, not three.
        assert_eq!(
            [13, 11, 10, 12, 17, 14, 15, 16].map(&mut lost),
            [false, false, true, false, false, true, false, false]
        );
        let mut off = ReplayWindow::new(ReplayWindowParams { window: 0 });
        (0..500).for_each(|id| off.arrives(PacketId(id)));
        assert!([499, 0].iter().all(|id| off.lose_known(PacketId(*id), &Packet::default(), Time::ZERO).is_none()));
    }

    #[test]
    fn a_place_in_the_pool_has_the_number_of_the_packet_that_came_last() {
        let mut m = ReplayWindow::new(ReplayWindowParams { window: 1 });
        let mut pass = |id: u32| {
            m.arrives(PacketId(id));
            m.lose_known(PacketId(id), &Packet::default(), Time::ZERO).is_none()
        };
        assert!([5, 0, 5, 5, 9].iter().all(|id| pass(*id)), "in order, whatever the places");
    }
}
