//! Times and spans as they stand in packets, and the time between two packets at a rate.

use crosswind_base::{Dur, Time};

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
