//! The cross-layer option of gurtov-2004 section 5.1.2 in the packets of real hosts: read where an IPv4 packet enters the
//! network, and written back where it leaves, without the time that was spent on the way. Of a packet that has lost its
//! payload ("headercasting") lengths and checksums are made right again.
//!
//! **Deviations**: 1. IPv6's hop-by-hop form is not read. 2. Of a packet that was cut into pieces the first carries the option.

use crate::frame::{self, checksum};
use crosswind_base::Time;
use crosswind_base::packet::{Life, Lifetime, Proto};
use crosswind_record::option::{self, TYPE, TimeOfDay};

const FIXED_BYTES: usize = 20;
const OPTION_BYTES: usize = Life::OPTION_BYTES as usize;
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const FIN: u8 = 1;

/// Where the option begins. The frame has been parsed before.
fn place(frame: &[u8]) -> Option<usize> {
    if frame[0] >> 4 != 4 {
        return None;
    }
    let options = frame.get(..usize::from(frame[0] & 15) * 4)?;
    let mut at = FIXED_BYTES;
    while at < options.len() {
        match options[at] {
            END_OF_OPTIONS => return None,
            NO_OPERATION => at += 1,
            kind => {
                let n = usize::from(*options.get(at + 1)?);
                if n < 2 || at + n > options.len() {
                    return None;
                }
                if kind == TYPE && n == OPTION_BYTES {
                    return Some(at);
                }
                at += n;
            }
        }
    }
    None
}

/// The lifetime that a packet carries, if it does. The frame has been parsed before.
#[inline]
pub fn read(frame: &[u8], now: Time, start: TimeOfDay) -> Option<Life> {
    if frame[0] & 15 == 5 { None } else { carried(frame, now, start) }
}

#[cold]
fn carried(frame: &[u8], now: Time, start: TimeOfDay) -> Option<Life> {
    let at = place(frame)?;
    option::decode(&frame[at..at + OPTION_BYTES], now, start)
}

/// Writes back what is left of the lifetime, and takes away the payload that a link has taken away.
#[cold]
pub fn write(frame: &mut Vec<u8>, life: &Life, len: u16, start: TimeOfDay) {
    let Some(at) = place(frame) else { return };
    if let Lifetime::Left(_) = life.lifetime {
        frame[at + 4..at + OPTION_BYTES].copy_from_slice(&option::encode(life, start)[4..]);
    }
    if life.is_cut {
        cut(frame, len);
    }
    let header = usize::from(frame[0] & 15) * 4;
    frame[10..12].fill(0);
    let sum = checksum(&frame[..header]);
    frame[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// The headers alone. A FIN stands behind the payload, so it goes with it.
fn cut(frame: &mut Vec<u8>, len: u16) {
    let Ok(h) = frame::parse(frame) else { return };
    if usize::from(len) >= frame.len() {
        return;
    }
    frame.truncate(usize::from(len));
    frame[2..4].copy_from_slice(&len.to_be_bytes());
    let header = usize::from(frame[0] & 15) * 4;
    if h.ports.is_none() || frame.len() < header + 8 {
        return;
    }
    let transport = &mut frame[header..];
    let behind = transport.len() as u16;
    let field = if h.protocol == Proto::UDP_NUMBER {
        transport[4..6].copy_from_slice(&behind.to_be_bytes());
        6
    } else {
        transport[13] &= !FIN;
        16
    };
    transport[field..field + 2].fill(0);
    let mut pseudo = frame[12..20].to_vec();
    pseudo.extend([0, h.protocol]);
    pseudo.extend(behind.to_be_bytes());
    pseudo.extend(&frame[header..]);
    // RFC 768: a sum of zero is sent as its complement.
    let sum = match checksum(&pseudo) {
        0 if field == 6 => 0xffff,
        sum => sum,
    };
    frame[header + field..header + field + 2].copy_from_slice(&sum.to_be_bytes());
}
