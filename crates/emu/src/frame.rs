//! IP packets as they come out of a network device: what the network needs to know of them, and the two changes that a
//! network makes, ECN and DSCP (RFC 2474, RFC 3168), with the checksum kept right (RFC 1624).
//!
//! Nothing in here trusts a length that a packet claims.

use crosswind_base::TcpFlags;

const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV4_FIXED_BYTES: usize = 20;
const IPV6_FIXED_BYTES: usize = 40;
/// Hop-by-hop, routing, fragment and destination options (RFC 8200 section 4).
const IPV6_EXTENSIONS: [u8; 4] = [0, 43, 44, 60];
const IPV6_FRAGMENT: u8 = 44;
const EXTENSIONS_MAX: usize = 8;

/// Source and destination, in that order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Addresses {
    V4([[u8; 4]; 2]),
    V6([[u8; 16]; 2]),
}

impl Addresses {
    /// A number for each: that of version 4; one that stands for the address of version 6.
    pub fn numbers(&self) -> [u32; 2] {
        match self {
            Addresses::V4(both) => both.map(u32::from_be_bytes),
            Addresses::V6(both) => both.map(|a| {
                let words = a.chunks_exact(4).map(|w| w.iter().fold(0, |n, byte| n << 8 | u32::from(*byte)));
                words.fold(0, |all: u32, w| all.rotate_left(5).wrapping_mul(0x9e37_79b1) ^ w)
            }),
        }
    }
}

/// What a packet says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    pub addresses: Addresses,
    /// Bytes of the whole packet, IP header included; never more than there are.
    pub len: u16,
    /// DSCP in the upper six bits, ECN in the lower two.
    pub ds: u8,
    /// Protocol number of the transport.
    pub protocol: u8,
    /// Source and destination port; none for other protocols, later fragments and headers cut short.
    pub ports: Option<[u16; 2]>,
    /// Bytes behind the transport header; behind the IP header when the transport is not known.
    pub payload: u16,
    pub tcp_flags: TcpFlags,
}

impl Header {
    /// Whether it goes from where the other one goes to, back to where that one comes from: addresses, ports, protocol.
    pub fn answers(&self, other: &Header) -> bool {
        let turned = match other.addresses {
            Addresses::V4([a, b]) => Addresses::V4([b, a]),
            Addresses::V6([a, b]) => Addresses::V6([b, a]),
        };
        let ports = other.ports.map(|[a, b]| [b, a]);
        self.addresses == turned && ports.is_some() && self.ports == ports && self.protocol == other.protocol
    }
}

/// Why a frame is no packet that can be forwarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Shorter than its headers, or than the length that it claims.
    Short,
    /// Neither IPv4 nor IPv6, or a header length that cannot be.
    Malformed,
}

/// Reads the headers of a frame without a link layer.
pub fn parse(frame: &[u8]) -> Result<Header, Refused> {
    match frame.first().map(|b| b >> 4) {
        Some(4) => parse_v4(frame),
        Some(6) => parse_v6(frame),
        Some(_) => Err(Refused::Malformed),
        None => Err(Refused::Short),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Refused> {
    bytes.get(at..at + N).and_then(|b| b.try_into().ok()).ok_or(Refused::Short)
}

fn parse_v4(frame: &[u8]) -> Result<Header, Refused> {
    if frame.len() < IPV4_FIXED_BYTES {
        return Err(Refused::Short);
    }
    let header = usize::from(frame[0] & 15) * 4;
    let len = word(frame, 2).ok_or(Refused::Short)?;
    if header < IPV4_FIXED_BYTES || usize::from(len) < header {
        return Err(Refused::Malformed);
    }
    let packet = frame.get(..usize::from(len)).ok_or(Refused::Short)?;
    let first = word(packet, 6).is_some_and(|w| w & 0x1fff == 0);
    let transport = Transport { protocol: frame[9], has_header: first, bytes: &packet[header..] };
    let addresses = Addresses::V4([array(packet, 12)?, array(packet, 16)?]);
    Ok(transport.header(Header { addresses, len, ds: frame[1], ..BLANK }))
}

fn parse_v6(frame: &[u8]) -> Result<Header, Refused> {
    if frame.len() < IPV6_FIXED_BYTES {
        return Err(Refused::Short);
    }
    let behind = word(frame, 4).ok_or(Refused::Short)?;
    let len = u16::try_from(IPV6_FIXED_BYTES + usize::from(behind)).map_err(|_| Refused::Malformed)?;
    let packet = frame.get(..usize::from(len)).ok_or(Refused::Short)?;
    let ds = frame[0] << 4 | frame[1] >> 4;
    let addresses = Addresses::V6([array(packet, 8)?, array(packet, 24)?]);
    let mut transport = Transport { protocol: frame[6], has_header: true, bytes: &packet[IPV6_FIXED_BYTES..] };
    for _ in 0..EXTENSIONS_MAX {
        if !IPV6_EXTENSIONS.contains(&transport.protocol) || !transport.has_header {
            break;
        }
        let [next, more] = match transport.bytes.get(..2) {
            Some(b) => [b[0], b[1]],
            None => break,
        };
        let is_fragment = transport.protocol == IPV6_FRAGMENT;
        let size = if is_fragment { 8 } else { 8 * (usize::from(more) + 1) };
        let Some(rest) = transport.bytes.get(size..) else { break };
        let first = !is_fragment || word(transport.bytes, 2).is_some_and(|w| w & 0xfff8 == 0);
        transport = Transport { protocol: next, has_header: first, bytes: rest };
    }
    Ok(transport.header(Header { addresses, len, ds, ..BLANK }))
}

const BLANK: Header = Header {
    addresses: Addresses::V4([[0; 4]; 2]),
    len: 0,
    ds: 0,
    protocol: 0,
    ports: None,
    payload: 0,
    tcp_flags: TcpFlags(0),
};

/// What follows the IP header.
struct Transport<'a> {
    protocol: u8,
    /// False for the later fragments of a packet.
    has_header: bool,
    bytes: &'a [u8],
}

impl Transport<'_> {
    fn header(&self, ip: Header) -> Header {
        let mut h = Header { protocol: self.protocol, payload: self.bytes.len() as u16, ..ip };
        if !self.has_header {
            return h;
        }
        let size = match self.protocol {
            TCP => self.bytes.get(12).map(|b| usize::from(b >> 4) * 4).filter(|n| *n >= 20),
            UDP => Some(8),
            _ => None,
        };
        let Some(behind) = size.and_then(|n| self.bytes.get(n..)) else { return h };
        h.payload = behind.len() as u16;
        h.ports = word(self.bytes, 0).zip(word(self.bytes, 2)).map(|(a, b)| [a, b]);
        if self.protocol == TCP {
            h.tcp_flags = TcpFlags(self.bytes[13]);
        }
        h
    }
}

/// The ones' complement sum of RFC 1071 as it stands in a header. Over what carries a right one it is zero.
pub fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|c| u64::from(u16::from_be_bytes([c[0], c.get(1).copied().unwrap_or(0)])));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Changes the byte that holds DSCP and ECN, and the IPv4 checksum with it. The frame has been parsed before.
pub fn set_ds(frame: &mut [u8], ds: u8) {
    if frame[0] >> 4 == 6 {
        frame[0] = 0x60 | ds >> 4;
        frame[1] = frame[1] & 15 | ds << 4;
        return;
    }
    let old = u16::from_be_bytes([frame[0], frame[1]]);
    frame[1] = ds;
    let new = u16::from_be_bytes([frame[0], frame[1]]);
    let checksum = u16::from_be_bytes([frame[10], frame[11]]);
    // RFC 1624 equation 3: HC' = ~(~HC + ~m + m'), in ones' complement.
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    frame[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests;
