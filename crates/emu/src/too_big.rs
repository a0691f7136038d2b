//! Packets that are too big for a link: what a router says of them, and how it cuts them.
//!
//! IPv4 with "don't fragment": the sender is told with ICMP type 3 code 4 and the MTU of the link (RFC 792, RFC 1191).
//! IPv4 without it: fragments (RFC 791 section 3.2). IPv6: the sender is told with ICMPv6 type 2 (RFC 4443 section 3.2,
//! RFC 8201); routers never cut, and a link carries 1280 bytes whatever its MTU, as RFC 8200 section 5 demands of the
//! layer below. Nobody is told of a message that is an error itself, nor of a later fragment (RFC 1812 section 4.3.2.7,
//! RFC 4443 section 2.4).

use crate::frame::{Addresses, Header, checksum};

/// Links carry IPv6 packets of this size in any case.
pub const IPV6_MTU_MIN: u16 = 1280;
const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
const UNREACHABLE: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
const PACKET_TOO_BIG: u8 = 2;
/// Error messages of ICMP: unreachable, quench, redirect, time exceeded, parameter problem.
const ERRORS: [u8; 5] = [3, 4, 5, 11, 12];
/// From here on ICMPv6 messages are no errors.
const INFORMATIONAL_V6: u8 = 128;
/// A message quotes as much of the packet as leaves it at most so long (RFC 1812 section 4.3.2.3, RFC 4443 section 2.4).
const MESSAGE_MAX_BYTES: usize = 576;
const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
const ICMP_BYTES: usize = 8;
const TTL: u8 = 64;
/// Precedence "internetwork control" (RFC 1812 section 4.3.2.5).
const CONTROL: u8 = 0xc0;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;
/// The bit of an option's number that says that every fragment carries it.
const COPIED: u8 = 0x80;

/// What becomes of a packet that is longer than the MTU of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It goes on whole.
    Passes,
    /// Pieces go on.
    Fragments(Vec<Vec<u8>>),
    /// It is thrown away, and this message goes to its sender.
    Told(Vec<u8>),
    /// It is thrown away, and nobody may be told.
    Silent,
}

/// A router's own addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Router {
    pub v4: [u8; 4],
    pub v6: [u8; 16],
}

/// Decides about a frame that was parsed before and is longer than `mtu`.
pub fn decide(frame: &[u8], h: &Header, mtu: u16, router: Router) -> Fate {
    let tell = |message: Option<Vec<u8>>| message.map_or(Fate::Silent, Fate::Told);
    match h.addresses {
        Addresses::V6(_) if h.len <= IPV6_MTU_MIN.max(mtu) => Fate::Passes,
        Addresses::V6([sender, _]) => tell(too_big_v6(frame, h, mtu.max(IPV6_MTU_MIN), [router.v6, sender])),
        Addresses::V4(_) if word(frame, 6) & DONT_FRAGMENT == 0 => {
            fragments(frame, usize::from(mtu)).map_or(Fate::Silent, Fate::Fragments)
        }
        Addresses::V4([sender, _]) => tell(needed_v4(frame, h, mtu, [router.v4, sender])),
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// ICMP "fragmentation needed" about a frame.
fn needed_v4(frame: &[u8], h: &Header, mtu: u16, [from, to]: [[u8; 4]; 2]) -> Option<Vec<u8>> {
    let behind = &frame[usize::from(frame[0] & 15) * 4..];
    let is_error = h.protocol == ICMP && behind.first().is_none_or(|kind| ERRORS.contains(kind));
    if is_error || word(frame, 6) & OFFSET != 0 {
        return None;
    }
    let quoted = &frame[..frame.len().min(MESSAGE_MAX_BYTES - IPV4_BYTES - ICMP_BYTES)];
    let len = (IPV4_BYTES + ICMP_BYTES + quoted.len()) as u16;
    let mut m = Vec::with_capacity(usize::from(len));
    m.extend([0x45, CONTROL]);
    m.extend(len.to_be_bytes());
    m.extend([0, 0, 0, 0, TTL, ICMP, 0, 0]);
    m.extend(from);
    m.extend(to);
    m.extend([UNREACHABLE, FRAGMENTATION_NEEDED, 0, 0, 0, 0]);
    m.extend(mtu.to_be_bytes());
    m.extend(quoted);
    seal(&mut m[..IPV4_BYTES], 0.., 10);
    seal(&mut m, IPV4_BYTES.., IPV4_BYTES + 2);
    Some(m)
}

/// ICMPv6 "packet too big" about a frame.
fn too_big_v6(frame: &[u8], h: &Header, mtu: u16, [from, to]: [[u8; 16]; 2]) -> Option<Vec<u8>> {
    // Of a protocol that is not known the payload is everything behind the headers of IP.
    let kind = frame.get(usize::from(h.len - h.payload));
    if h.protocol == ICMP_V6 && kind.is_none_or(|k| *k < INFORMATIONAL_V6) {
        return None;
    }
    let quoted = &frame[..frame.len().min(usize::from(IPV6_MTU_MIN) - IPV6_BYTES - ICMP_BYTES)];
    let behind = (ICMP_BYTES + quoted.len()) as u16;
    let mut m = Vec::with_capacity(IPV6_BYTES + usize::from(behind));
    m.extend([0x60 | CONTROL >> 4, CONTROL << 4, 0, 0]);
    m.extend(behind.to_be_bytes());
    m.extend([ICMP_V6, TTL]);
    m.extend(from);
    m.extend(to);
    m.extend([PACKET_TOO_BIG, 0, 0, 0]);
    m.extend(u32::from(mtu).to_be_bytes());
    m.extend(quoted);
    // The pseudo-header of RFC 8200 section 8.1: addresses, length and protocol.
    let mut summed = m[8..IPV6_BYTES].to_vec();
    summed.extend(u32::from(behind).to_be_bytes());
    summed.extend([0, 0, 0, ICMP_V6]);
    summed.extend(&m[IPV6_BYTES..]);
    m[IPV6_BYTES + 2..IPV6_BYTES + 4].copy_from_slice(&checksum(&summed).to_be_bytes());
    Some(m)
}

/// Writes a checksum over some bytes of a message into it.
fn seal(m: &mut [u8], over: std::ops::RangeFrom<usize>, at: usize) {
    let sum = checksum(&m[over]);
    m[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// The pieces of an IPv4 packet, none longer than `mtu`; `None` when there is no room for eight bytes of data in it.
pub fn fragments(frame: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let header_bytes = usize::from(frame[0] & 15) * 4;
    let (header, data) = frame.split_at(header_bytes);
    let later = later_header(header);
    let flags = word(header, 6);
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let own: &[u8] = if at == 0 { header } else { &later };
        let room = mtu.checked_sub(own.len())?;
        let is_last = data.len() - at <= room;
        let size = if is_last { data.len() - at } else { room & !7 };
        if size == 0 {
            return None;
        }
        let more = if is_last { flags & MORE_FRAGMENTS } else { MORE_FRAGMENTS };
        let offset = (flags & OFFSET) + (at / 8) as u16;
        let mut piece = own.to_vec();
        piece.extend(&data[at..at + size]);
        let len = piece.len() as u16;
        piece[2..4].copy_from_slice(&len.to_be_bytes());
        piece[6..8].copy_from_slice(&(more | offset & OFFSET).to_be_bytes());
        piece[10..12].fill(0);
        seal(&mut piece[..own.len()], 0.., 10);
        pieces.push(piece);
        at += size;
    }
    Some(pieces)
}

/// The header of all fragments but the first: options that are not to be copied are left out.
fn later_header(header: &[u8]) -> Vec<u8> {
    let mut own = header[..IPV4_BYTES].to_vec();
    let mut at = IPV4_BYTES;
    while at < header.len() {
        let len = match header[at] {
            0 => break,
            1 => 1,
            _ => header.get(at + 1).map_or(0, |n| usize::from(*n)),
        };
        let Some(option) = header.get(at..at + len).filter(|o| !o.is_empty()) else { break };
        if option[0] & COPIED != 0 {
            own.extend(option);
        }
        at += len;
    }
    own.resize(own.len().next_multiple_of(4), 0);
    own[0] = 0x40 | (own.len() / 4) as u8;
    own
}

#[cfg(test)]
mod tests;
