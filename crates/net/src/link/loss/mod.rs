//! Loss models: which packets a link loses, whatever the link is, and what it writes into the ECN field of the others.

pub mod ecn_field;
pub mod list;
pub mod none;
pub mod phases;
pub mod replay_window;
pub mod several;
pub mod uniform;

use auto_impl::auto_impl;
use crosswind_base::{ConfigError, DropReason, Ecn, Packet, PacketId, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A loss model chosen at run time.
pub type BoxLoss = Box<dyn LossModel + Send>;

/// Where on its way through the egress a packet is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossPoint {
    /// Before the queue: the packet uses neither queue nor link (`lossmodel` of ns-2).
    Entry,
    /// At the far end of the link: the packet has used queue and link (`link-lossmodel` of ns-2).
    #[default]
    Exit,
}

/// Which packets a loss model looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Packets with payload only; pure acknowledgements, SYN and FIN always pass.
    #[default]
    Data,
    All,
}

impl Counts {
    #[inline]
    pub fn covers(self, p: &Packet) -> bool {
        self == Counts::All || p.payload > 0
    }
}

/// Decides for each packet, once, in the order in which packets reach the model.
#[auto_impl(Box)]
pub trait LossModel {
    fn point(&self) -> LossPoint;
    fn loses_nothing(&self) -> bool {
        false
    }
    /// A packet comes to the queue, before anything else happens to it. For models that have to know who overtakes whom.
    #[inline]
    fn arrives(&mut self, _id: PacketId) {}
    /// The reason if this packet is lost, whose turn it is at `now`.
    fn lose(&mut self, p: &Packet, now: Time) -> Option<DropReason>;
    /// The same for models that heard of it in [`LossModel::arrives`].
    #[inline]
    fn lose_known(&mut self, _id: PacketId, p: &Packet, now: Time) -> Option<DropReason> {
        self.lose(p, now)
    }
    /// What the ECN field of the packet that was looked at last becomes; CE only where it may be marked.
    #[inline]
    fn rewrites(&self) -> Option<Ecn> {
        None
    }
    /// New values for some parameters, from now on.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        Err(ConfigError::cannot_change(set))
    }
    /// What has been read holds from now on.
    fn change(&mut self, _new: &Setting, _now: Time) -> Result<(), ConfigError> {
        unreachable!("only what has been read is changed")
    }
    /// Both at once, for whoever is told during a run.
    fn read_and_change(&mut self, set: &Map<String, Value>, now: Time) -> Result<(), ConfigError> {
        let new = self.read_change(set)?;
        self.change(&new, now)
    }
}

#[cfg(test)]
fn packet_with_payload(payload: u16) -> Packet {
    Packet { payload, ..Packet::default() }
}

/// What docs/how-to-add.md shows compiles, and does what it says.
#[cfg(test)]
#[path = "../../../tests/guide/every.rs"]
mod every_of_the_guide;

#[cfg(test)]
mod tests {
    use super::every_of_the_guide::{Every, EveryParams};
    use super::*;
    use crate::params::Params;

    #[test]
    fn every_nth_packet_with_data_is_lost_as_the_guide_says() {
        assert_eq!((EveryParams::default().nth, EveryParams { nth: 0 }.check().is_err()), (100, true));
        let params = EveryParams { nth: 3 };
        params.check().expect("a number above zero");
        let mut model = Every::new(params);
        assert!(model.point() == LossPoint::Exit);
        let mut lost = |payload| model.lose(&packet_with_payload(payload), Time::ZERO).is_some();
        assert_eq!([1, 0, 1, 1, 0, 1, 1, 1].map(&mut lost), [false, false, false, true, false, false, false, true]);
    }
}
