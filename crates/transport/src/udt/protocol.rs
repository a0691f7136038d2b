//! UDT as a row of the table of transports.

use super::packet::DATA_HEADERS_BYTES;
use super::params::{PRESETS, UdtParams};
use super::{Receiver, Sender};
use crate::rate::protocol::{Delivery, Protocol};
use crate::rate::{self, Supply};
use crosswind_base::registry::Preset;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Rng};
use std::sync::Arc;

impl Protocol for UdtParams {
    const NAME: &'static str = "udt";
    const KEY: &'static str = "UDT or SABUL instead: a preset and what differs from it.";
    const DELIVERY: Delivery = Delivery::Reliable;
    const DATA_HEADERS_BYTES: u16 = DATA_HEADERS_BYTES;
    const LIVE_KEYS: &'static [&'static str] =
        &["control_interval", "pair_every_packets", "window_control", "window_limit_packets", "expiry"];
    const PRESETS: &'static [Preset<UdtParams>] = PRESETS;

    fn check(&self, path: &str) -> Result<(), ConfigError> {
        UdtParams::check(self, path)
    }
    fn packet_size(&mut self) -> &mut Size {
        &mut self.packet_size
    }
    fn send_queue_packets(&self) -> u32 {
        self.send_queue_packets
    }
    fn sender(self: Arc<UdtParams>, supply: Supply, rng: Rng) -> Box<dyn rate::Sender> {
        Box::new(Sender::new(self, supply, rng))
    }
    fn receiver(self: Arc<UdtParams>) -> Box<dyn rate::Receiver> {
        Box::new(Receiver::new(self))
    }
}
