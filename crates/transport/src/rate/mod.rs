//! What the transports share that send at a rate instead of keeping a window: the traits that their two ends have, what the
//! application has given them to send, and time stamps as they stand in packets.
//!
//! One file each: [`crate::tfrc`], [`crate::udt`].

pub mod supply;
pub mod tuning;

pub use supply::{Piece, Supply};
pub use tuning::Tuning;

use crate::tcp::Io;
use crosswind_base::packet::Ext;
use crosswind_base::{Dur, Metrics, Packet, Time};

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
    /// Other parameters, of those that may change.
    fn retune(&mut self, new: &Tuning);
}

/// The end that receives data.
pub trait Receiver {
    fn on_packet(&mut self, p: &Packet, io: &mut dyn Io);
    fn on_wake(&mut self, io: &mut dyn Io);
    fn next_wake(&self) -> Option<Time>;
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64));
    fn report(&self, out: &mut dyn Metrics);
    /// Other parameters, of those that may change.
    fn retune(&mut self, new: &Tuning);
    /// Bytes that have arrived in order. `None`: what is lost does not come again.
    fn delivered(&self) -> Option<u64> {
        None
    }
}

/// A time as packets carry it: whole microseconds, modulo 2^32.
pub fn stamp_us(t: Time) -> u32 {
    (t.0 / 1000) as u32
}

/// Time since a stamp was made; right when that is less than 71 minutes ago.
pub fn since_stamp(now: Time, stamp: u32) -> Dur {
    Dur::from_micros(u64::from(stamp_us(now).wrapping_sub(stamp)))
}

/// A span as packets carry it.
pub fn span_us(d: Dur) -> u32 {
    u32::try_from(d.0 / 1000).unwrap_or(u32::MAX)
}

/// Time between two packets of `bytes` at a rate in bytes per second; at most an hour, so that a rate near zero is no
/// special case.
pub fn interval(bytes: f64, rate_bytes_per_s: f64) -> Dur {
    Dur::from_secs_f64((bytes / rate_bytes_per_s).clamp(1e-9, 3600.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_that_has_wrapped_still_tells_its_age() {
        let sent = Time(4_294_967_000_000);
        assert_eq!(since_stamp(sent + Dur::from_millis(700), stamp_us(sent)), Dur::from_millis(700));
    }
}
