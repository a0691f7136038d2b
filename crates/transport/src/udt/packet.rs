//! The fields of UDT's packets, and where a simulated packet keeps them. All are UDP datagrams; captures hold the real headers
//! (`record/wire`).
//!
//! | packet | fields (field of `Packet`) |
//! |---|---|
//! | data | number (`seq`) |
//! | ACK | its own number (`seq`); all packets below have come (`ack`); round-trip time, us (`ts_val`); packets/s that arrive (`wnd`); capacity, packets/s (`ts_ecr`) |
//! | NAK | ranges of lost packets (SACK list of the side table); which of several NAKs of one report it is (`ack`) |
//! | ACK2 | number of the ACK that it answers (`seq`) |
//! | SYN (SABUL) | a control interval is over |

use crate::rate::clock::span_us;
use crate::udp;
use crosswind_base::packet::{Datagram, Proto};
use crosswind_base::{Dur, Packet, Time};

/// IP and UDP headers, and the number of a data packet.
pub const DATA_HEADERS_BYTES: u16 = udp::HEADERS_BYTES + 4;
/// IP and UDP headers, and the type of a control packet.
pub const CONTROL_HEADERS_BYTES: u16 = udp::HEADERS_BYTES + 4;

/// A packet of this kind without fields.
pub fn control(kind: Datagram, fields_bytes: u16, now: Time) -> Packet {
    Packet { sent_at: now, len: CONTROL_HEADERS_BYTES + fields_bytes, proto: Proto::Udp(kind), ..Packet::default() }
}

/// What an ACK says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ack {
    pub number: u64,
    pub below: u64,
    pub rtt: Dur,
    /// Packets per second.
    pub arrival_rate: f64,
    pub capacity: f64,
}

impl Ack {
    pub fn read(p: &Packet) -> Ack {
        Ack {
            number: p.seq,
            below: p.ack,
            rtt: Dur::from_micros(u64::from(p.ts_val)),
            arrival_rate: f64::from(p.wnd),
            capacity: f64::from(p.ts_ecr),
        }
    }
    pub fn write(&self, now: Time) -> Packet {
        let whole = |rate: f64| rate.round().min(f64::from(u32::MAX)) as u32;
        Packet {
            seq: self.number,
            ack: self.below,
            ts_val: span_us(self.rtt),
            wnd: whole(self.arrival_rate),
            ts_ecr: whole(self.capacity),
            ..control(Datagram::UdtAck, 20, now)
        }
    }
}
