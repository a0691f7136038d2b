//! Differentiated services on the push side of queues: meters that give packets colours, and the conditioner that
//! marks, polices, shapes and writes delay options by them.
//!
//! A meter is a row of the registry. A [`Conditioner`](conditioner::Conditioner) is a contract at work; an
//! [`Boundary`](boundary::Boundary) is the place where traffic enters a domain.

pub mod boundary;
pub mod conditioner;
pub mod srtcm;
pub mod terms;
pub mod token_bucket;
pub mod trtcm;
pub mod trtcm_4115;
pub mod tsw2cm;
pub mod tsw3cm;
pub mod window;

use auto_impl::auto_impl;
use crosswind_base::{Colour, ConfigError, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a meter is told of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Metered {
    /// Bytes on the wire, IP header included.
    pub len: u32,
    /// The colour that it came with; green when it has none.
    pub was: Colour,
    pub now: Time,
}

/// Compares traffic with its contract.
#[auto_impl(Box)]
pub trait Meter {
    fn colour(&mut self, p: &Metered) -> Colour;
    /// The worst colour that it can give.
    fn worst(&self) -> Colour;
}

/// A meter chosen at run time.
pub type BoxMeter = Box<dyn Meter + Send>;

/// Whether a meter heeds the colour that a packet comes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Every packet counts as green.
    #[default]
    ColourBlind,
    /// A packet keeps its colour or gets a worse one.
    ColourAware,
}

impl Mode {
    /// The colour that the meter starts from.
    #[inline]
    pub fn seen(self, was: Colour) -> Colour {
        if self == Mode::ColourAware { was } else { Colour::Green }
    }
}

/// A bucket that can hold something.
fn check_burst(key: &str, size: Size) -> Result<(), ConfigError> {
    crate::sched::charge::check_bucket(key, size)
}
