//! TFRC as a row of the table of transports.

use super::packet::DATA_HEADERS_BYTES;
use super::params::TfrcParams;
use super::preset::PRESETS;
use super::{Receiver, Sender};
use crate::rate::protocol::{Delivery, Protocol};
use crate::rate::{self, Supply};
use crosswind_base::registry::Preset;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Rng};
use std::sync::Arc;

impl Protocol for TfrcParams {
    const NAME: &'static str = "tfrc";
    const KEY: &'static str = "TFRC instead of TCP or bare UDP: a preset and what differs from it.";
    const DELIVERY: Delivery = Delivery::Unreliable;
    const DATA_HEADERS_BYTES: u16 = DATA_HEADERS_BYTES;
    const LIVE_KEYS: &'static [&'static str] = &[
        "feedback_size",
        "ecn",
        "equation",
        "segments_per_ack",
        "timeout_term",
        "rto_tick",
        "rtt_memory",
        "initial_window",
        "increase",
        "slow_start",
        "conservative",
        "conservative_gain",
        "interpacket_correction",
        "no_feedback_rtts",
        "no_feedback",
        "minimum_rate",
        "max_backoff",
        "discounting",
        "discount_floor",
        "event_clock",
        "event_per_round",
        "feedback_per_rtt",
        "headercast",
    ];
    const PRESETS: &'static [Preset<TfrcParams>] = PRESETS;

    fn check(&self, path: &str) -> Result<(), ConfigError> {
        TfrcParams::check(self, path)
    }
    fn packet_size(&mut self) -> &mut Size {
        &mut self.packet_size
    }
    fn send_queue_packets(&self) -> u32 {
        self.send_queue_packets
    }
    fn sender(self: Arc<TfrcParams>, supply: Supply, _: Rng) -> Box<dyn rate::Sender> {
        Box::new(Sender::new(self, supply))
    }
    fn receiver(self: Arc<TfrcParams>) -> Box<dyn rate::Receiver> {
        Box::new(Receiver::new(self))
    }
}
