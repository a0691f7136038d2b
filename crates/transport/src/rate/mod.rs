//! What the transports share that send at a rate instead of keeping a window: the traits that their two ends have, what the
//! application has given them to send, and time stamps as they stand in packets.
//!
//! One row each in [`table`].

pub mod clock;
pub mod protocol;
pub mod supply;
pub mod table;

pub use clock::{interval, since_stamp, span_us, stamp_us};
pub use supply::{Piece, Supply};

use crate::tcp::io::Io;
use crosswind_base::packet::Ext;
use crosswind_base::{Metrics, Packet, Setting, Time};

/// The end that sends data.
pub trait Sender {
    /// Sends the first packet.
    fn open(&mut self, io: &mut dyn Io);
    fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut dyn Io);
    /// The time of `next_wake` has come, or the supply has changed.
    fn on_wake(&mut self, io: &mut dyn Io);
    fn next_wake(&self) -> Option<Time>;
    /// What the application has given it to send.
    fn supply(&mut self) -> &mut Supply;
    /// How many bytes more the application may give it.
    fn room_bytes(&self) -> u64;
    /// All data that there ever will be is dealt with.
    fn is_over(&self) -> bool;
    /// Momentary values for the time series.
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64));
    /// Totals at the end of a run.
    fn report(&self, out: &mut dyn Metrics);
    /// Other parameters of this transport, of those that may change: an `Arc` of its own.
    fn retune(&mut self, new: &Setting);
}

/// The end that receives data.
pub trait Receiver {
    fn on_packet(&mut self, p: &Packet, io: &mut dyn Io);
    fn on_wake(&mut self, io: &mut dyn Io);
    fn next_wake(&self) -> Option<Time>;
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64));
    fn report(&self, out: &mut dyn Metrics);
    /// Other parameters of this transport, of those that may change: an `Arc` of its own.
    fn retune(&mut self, new: &Setting);
    /// Bytes that have arrived in order. `None`: what is lost does not come again.
    fn delivered(&self) -> Option<u64> {
        None
    }
}
