//! The fields of TFRC's packets, and where a simulated packet keeps them. Both kinds are UDP datagrams whose payload begins
//! with 16 bytes of them (captures show them).
//!
//! | data | field of `Packet` | feedback | field of `Packet` |
//! |---|---|---|---|
//! | number of the packet | `seq` | number of the report | `seq` |
//! | time stamp, us | `ts_val` | stamp of the last data packet | `ts_ecr` |
//! | the sender's RTT, us | `ts_ecr` | time since it came, us | `ts_val` |
//! | urgent (1 bit), round (15 bits), t_RTO in ms (16 bits) | `wnd` | receive rate, B/s | `wnd` |
//! | (not sent: burst of the application) | `ack` | packets lost since the last report (32 bits), p in 2^-32 (32 bits; a capture shows only this) | `ack` |

use crate::rate::clock::{span_us, stamp_us};
use crate::udp;
use crosswind_base::packet::{Datagram, Proto};
use crosswind_base::{Dur, Packet, Time};

/// Fields of TFRC in the payload of UDP, data and feedback alike.
pub const FIELDS_BYTES: u16 = 16;
/// IP, UDP and TFRC headers of a data packet.
pub const DATA_HEADERS_BYTES: u16 = udp::HEADERS_BYTES + FIELDS_BYTES;
/// A feedback packet.
pub const FEEDBACK_BYTES: u16 = udp::HEADERS_BYTES + FIELDS_BYTES;

/// What a data packet tells the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    pub number: u64,
    pub stamp: u32,
    /// Zero while unknown.
    pub rtt: Dur,
    pub t_rto: Dur,
    /// Counts the sender's answers to feedback, and its expiries.
    pub round: u16,
    /// A report is wanted at once.
    pub is_urgent: bool,
}

const ROUNDS: u16 = 0x7fff;

impl Data {
    pub fn read(p: &Packet) -> Data {
        Data {
            number: p.seq,
            stamp: p.ts_val,
            rtt: Dur::from_micros(u64::from(p.ts_ecr)),
            t_rto: Dur::from_millis(u64::from(p.wnd & 0xffff)),
            round: (p.wnd >> 16) as u16 & ROUNDS,
            is_urgent: p.wnd >> 31 == 1,
        }
    }

    /// A packet with these fields; the caller adds its length.
    pub fn write(&self, burst: u64, now: Time) -> Packet {
        let t_rto_ms = (self.t_rto.0 / 1_000_000).min(0xffff) as u32;
        Packet {
            sent_at: now,
            seq: self.number,
            ack: burst,
            ts_val: self.stamp,
            ts_ecr: span_us(self.rtt),
            wnd: u32::from(self.is_urgent) << 31 | u32::from(self.round & ROUNDS) << 16 | t_rto_ms,
            proto: Proto::Udp(Datagram::TfrcData),
            ..Packet::default()
        }
    }
}

/// Whether round `a` lies after round `b`.
pub fn is_later_round(a: u16, b: u16) -> bool {
    let ahead = a.wrapping_sub(b) & ROUNDS;
    ahead != 0 && ahead < ROUNDS / 2
}

/// What a report tells the sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Feedback {
    pub number: u64,
    /// Stamp of the last data packet, and how long ago it came.
    pub echo: u32,
    pub delay: Dur,
    /// Bytes per second.
    pub receive_rate: f64,
    pub lost_packets: u32,
    /// `p`
    pub loss_event_rate: f64,
}

const P_UNIT: f64 = 4_294_967_296.0;

impl Feedback {
    pub fn read(p: &Packet) -> Feedback {
        Feedback {
            number: p.seq,
            echo: p.ts_ecr,
            delay: Dur::from_micros(u64::from(p.ts_val)),
            receive_rate: f64::from(p.wnd),
            lost_packets: (p.ack >> 32) as u32,
            loss_event_rate: (p.ack & 0xffff_ffff) as f64 / P_UNIT,
        }
    }

    pub fn write(&self, cause: Time, now: Time) -> Packet {
        let p = (self.loss_event_rate * P_UNIT).round().min(P_UNIT - 1.0) as u64;
        Packet {
            sent_at: now,
            cause,
            seq: self.number,
            ack: u64::from(self.lost_packets) << 32 | p,
            ts_val: span_us(self.delay),
            ts_ecr: self.echo,
            wnd: self.receive_rate.round().min(f64::from(u32::MAX)) as u32,
            proto: Proto::Udp(Datagram::TfrcFeedback),
            ..Packet::default()
        }
    }
}

/// The stamp of a packet that is sent now.
pub fn stamp(now: Time) -> u32 {
    stamp_us(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let d = Data {
            number: 7,
            stamp: 99,
            rtt: Dur::from_micros(350_123),
            t_rto: Dur::from_millis(1400),
            round: 0x7ffe,
            is_urgent: true,
        };
        assert_eq!(Data::read(&d.write(3, Time(5))), d);
        let f = Feedback {
            number: 2,
            echo: 99,
            delay: Dur::from_micros(12),
            receive_rate: 3750.0,
            lost_packets: 4,
            loss_event_rate: 0.125,
        };
        assert_eq!(Feedback::read(&f.write(Time(1), Time(5))), f);
    }

    #[test]
    fn rounds_are_compared_across_their_wrap() {
        assert!(is_later_round(1, 0x7fff) && !is_later_round(0x7fff, 1) && !is_later_round(5, 5));
    }
}
