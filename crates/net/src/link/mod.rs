//! Links: when a packet's bits have left, and when (or whether) they arrive.

pub mod arq;
pub mod atm;
pub mod delayer;
mod device;
pub mod loss;
pub mod reordering;
pub mod seawind;
pub mod trace;
pub mod wire;

use auto_impl::auto_impl;
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Past, Setting, Time};
use serde_json::{Map, Value};

/// A link chosen at run time.
pub type BoxLink = Box<dyn Link + Send>;

/// What becomes of a packet that was handed to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Deliver(Time),
    /// Lost; the loss is final at this time.
    Lost(Time),
}

/// A link's answer to one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxPlan {
    /// From when on the link takes the next packet (back-pressure of everything below the queue is in here).
    pub free_at: Time,
    pub fate: Fate,
    /// Transmission attempts below IP (1 without link-level retransmission).
    pub attempts: u32,
    /// When this packet's transmission begins and ends; for utilisation.
    pub tx_start: Time,
    pub tx_end: Time,
}

/// A link: a calculator of plans. It holds no packets; the egress keeps those in flight.
#[auto_impl(Box)]
pub trait Link {
    /// Called only when `now >= free_at` of the previous plan.
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan;
    /// Whether packets arrive in the order of transmission, each no earlier than the one before. The egress then need
    /// not be woken when the link becomes free: it catches up, at the logical time, with the next arrival or delivery.
    fn is_in_order(&self) -> bool {
        false
    }
    /// New values for some parameters; what has been planned stays as it was planned.
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
    /// New values for what holds packets up in front of the line, by its key. Whether the link has it.
    fn read_delayer(&self, _key: &str, _new: &Value) -> Result<Option<Setting>, ConfigError> {
        Ok(None)
    }
    /// What has been read holds from now on.
    fn change_delayer(&mut self, _key: &str, _new: &Setting, _now: Time) -> Result<(), ConfigError> {
        unreachable!("only what has been read is changed")
    }
    /// The rate of a line whose plans depend on nothing but the order and the starting times of packets, so that it may
    /// be asked before those times; the least one, if packets of some lengths get through more slowly.
    fn steady_rate(&self) -> Option<BitRate> {
        None
    }
    /// Of a line with a steady rate: whether packets reach the far end in order, and no more of them in any time than its rate
    /// lets through, but for one.
    fn is_even(&self) -> bool {
        false
    }
    /// No packet of a line with a steady rate arrives sooner than this after the end of its transmission.
    fn least_delay(&self) -> Dur {
        Dur::ZERO
    }
    /// The rate at which it is set now. A line that goes through changes of its own is set at the one that it began with; one that
    /// follows a trace has none.
    fn nominal_rate(&self) -> Option<BitRate> {
        None
    }
    /// How long the line has been busy by now with repetitions that no plan tells of.
    fn repeated(&self, _now: Time) -> Dur {
        Dur::ZERO
    }
    /// Where this repetition's stretch of a long history begins, where there is one: known, it saves the link of a later repetition
    /// time, and changes nothing else.
    fn begun(&self) -> Option<Past> {
        None
    }
    /// Before the first packet.
    fn go_on_from(&mut self, _earlier: Past) {
        unreachable!("only what has begun goes on")
    }
    /// Momentary values such as bytes in a buffer below IP, name ending in its unit.
    fn sample(&self, _now: Time, _out: &mut dyn FnMut(&'static str, f64)) {}
}
