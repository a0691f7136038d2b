//! The cross-layer option of gurtov-2004 section 5.1.2 as eight bytes of an IPv4 header.
//!
//! | byte | field | value |
//! |---|---|---|
//! | 0 | type | 30: one of those set aside for experiments, not copied into fragments |
//! | 1 | length | 8 |
//! | 2 | reorder | by how many packets it may be overtaken: 3, as TCP takes it |
//! | 3 | flags | 1 takes damage, 2 is damaged, 4 and 8 what becomes of it (0 forward, 1 discard, 2 headers only), 16 slow |
//!
//! Of the flags only those that say what becomes of an expired packet are ever set: no link here damages packets, and none
//! asks how a flow responds.
//!
//! | byte | field | value |
//! |---|---|---|
//! | 4-7 | lifetime | below 65535: milliseconds left; from 65535 on: the deadline in milliseconds since midnight UT, plus 65535 |
//!
//! The source leaves the widths of the fields to its figure, which is lost; these follow from the length and from the values
//! that it names.

use crosswind_base::packet::{Expired, Life, Lifetime};
use crosswind_base::{Dur, Time};
use serde::{Deserialize, Serialize};

/// Start of every run in Unix time: 9 September 2001, 01:46:40 UTC, so that run time can be read off after the nine
/// zeros. It is not zero because some programs (tcptrace) take zero for "no time".
pub const START_UNIX_S: u64 = 1_000_000_000;

/// The type of the option.
pub const TYPE: u8 = 30;
const LENGTH: u8 = Life::OPTION_BYTES as u8;
/// By how many packets one may be overtaken before a TCP takes it for lost.
const REORDER_PACKETS: u8 = 3;
/// From this value on a lifetime is a deadline.
const DEADLINES_FROM: u32 = 65_535;
const DAY_MS: u64 = 86_400_000;

/// Milliseconds since midnight UT at logical zero: what deadlines are counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeOfDay(pub u64);

impl TimeOfDay {
    /// That of every simulated run, as captures show it.
    pub const OF_CAPTURES: TimeOfDay = TimeOfDay(START_UNIX_S % 86_400 * 1000);
}

impl Default for TimeOfDay {
    fn default() -> TimeOfDay {
        TimeOfDay::OF_CAPTURES
    }
}

/// The option of a packet.
pub fn encode(life: &Life, start: TimeOfDay) -> [u8; Life::OPTION_BYTES as usize] {
    let lifetime = match life.lifetime {
        Lifetime::Left(d) => (d.0 / 1_000_000).min(u64::from(DEADLINES_FROM) - 1) as u32,
        Lifetime::Until(at) => DEADLINES_FROM + ((start.0 + at.0 / 1_000_000) % DAY_MS) as u32,
    };
    let treatment = match life.expired {
        Expired::Forward => 0,
        Expired::Discard => 1,
        Expired::Headers => 2,
    };
    let [a, b, c, d] = lifetime.to_be_bytes();
    [TYPE, LENGTH, REORDER_PACKETS, treatment << 2, a, b, c, d]
}

/// What the eight bytes say, to a router that sees them at `now`: a deadline is the one within half a day of it. Nothing
/// when they are no such option.
pub fn decode(bytes: &[u8], now: Time, start: TimeOfDay) -> Option<Life> {
    let &[TYPE, LENGTH, _, flags, a, b, c, d] = bytes else { return None };
    let value = u32::from_be_bytes([a, b, c, d]);
    let lifetime = match value.checked_sub(DEADLINES_FROM) {
        None => Lifetime::Left(Dur::from_millis(u64::from(value))),
        Some(of_day) => {
            let now_ms = start.0 + now.0 / 1_000_000;
            // The same time of day today, unless yesterday or tomorrow is nearer.
            let ahead = (u64::from(of_day) % DAY_MS + DAY_MS - now_ms % DAY_MS) % DAY_MS;
            let deadline_ms =
                if ahead <= DAY_MS / 2 { now_ms + ahead } else { (now_ms + ahead).saturating_sub(DAY_MS) };
            Lifetime::Until(Time(deadline_ms.saturating_sub(start.0) * 1_000_000))
        }
    };
    let expired = match flags >> 2 & 3 {
        0 => Expired::Forward,
        1 => Expired::Discard,
        2 => Expired::Headers,
        _ => return None,
    };
    Some(Life { lifetime, expired, is_cut: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: TimeOfDay = TimeOfDay::OF_CAPTURES;
    const LIFE: Life =
        Life { lifetime: Lifetime::Left(Dur::from_millis(5000)), expired: Expired::Headers, is_cut: false };

    #[test]
    fn the_bytes_are_those_of_the_layout() {
        assert_eq!(encode(&LIFE, START), [30, 8, 3, 0b1000, 0, 0, 0x13, 0x88]);
        // A run begins at 01:46:40, that is 6 400 000 ms after midnight; 10 s later and 65535 more.
        let until = Life { lifetime: Lifetime::Until(Time::from_secs_f64(10.0)), expired: Expired::Discard, ..LIFE };
        assert_eq!(encode(&until, START)[4..], (6_400_000u32 + 10_000 + 65_535).to_be_bytes());
        assert_eq!(encode(&until, START)[3], 0b100);
    }

    #[test]
    fn what_was_written_is_read_again_to_the_millisecond() {
        let now = Time::from_secs_f64(85_000.0);
        for expired in [Expired::Forward, Expired::Discard, Expired::Headers] {
            for lifetime in [
                Lifetime::Left(Dur::ZERO),
                Lifetime::Left(Dur::from_millis(65_534)),
                Lifetime::Until(Time::from_secs_f64(84_999.5)),
                Lifetime::Until(now),
                Lifetime::Until(Time::from_secs_f64(85_030.25)),
            ] {
                let life = Life { lifetime, expired, ..LIFE };
                assert_eq!(decode(&encode(&life, START), now, START), Some(life), "{lifetime:?}");
            }
        }
    }

    #[test]
    fn other_options_are_none_of_ours() {
        assert_eq!(decode(&[7, 8, 3, 4, 0, 0, 0, 0], Time::ZERO, START), None);
        assert_eq!(decode(&[30, 4, 3, 4], Time::ZERO, START), None);
        assert_eq!(
            decode(&[30, 8, 3, 0b1100, 0, 0, 0, 0], Time::ZERO, START),
            None,
            "the fourth treatment is not defined"
        );
    }

    #[test]
    fn no_eight_bytes_are_too_much_for_the_decoder() {
        for k in 0..=255u8 {
            let Some(life) = decode(&[30, 8, k, k & 0b0111, k, k, k, k], Time::ZERO, TimeOfDay(86_399_999)) else {
                continue;
            };
            assert!(!life.is_cut);
        }
    }

    #[test]
    fn a_deadline_past_midnight_is_tomorrows() {
        // Ten seconds before midnight, a deadline five seconds behind it.
        let start = TimeOfDay(86_390_000);
        let life = Life { lifetime: Lifetime::Until(Time::from_secs_f64(15.0)), ..LIFE };
        assert_eq!(encode(&life, start)[4..], (65_535 + 5000u32).to_be_bytes());
        assert_eq!(decode(&encode(&life, start), Time::ZERO, start), Some(life));
    }
}
