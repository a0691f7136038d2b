//! Simulated packets as the IPv4, TCP and UDP headers that a capture of a real network would show.
//!
//! | field | value |
//! |---|---|
//! | addresses | flow `f`: 10.`f >> 8`.`f & 255`.1 is its sender, ....2 its receiver (low 16 bits of `f`) |
//! | ports | sender 49152 + a number below 16384 made from `f`; receiver 9 (discard: the payload is zeros) |
//! | identification | 16 bits mixed from what identifies the packet: equal at both vantages, new for a retransmission |
//! | DSCP, TTL, flags | 0; 64 at both vantages; DF |
//! | ECN | the packet's two bits |
//! | sequence, acknowledgement | initial number of the flow and direction + the 64-bit offset, modulo 2^32 |
//! | window | on a SYN as it is; later divided by the scale that its sender announced, if both ends announced one |
//! | IP options | the cross-layer option of a packet that has a lifetime ([`crate::option`]) |
//! | AE, CWR, ECE | as the packet has them; AE is the lowest bit of the byte that holds the data offset |
//! | options | MSS, window scale, SACK-permitted on a SYN; timestamps and AccECN when the packet has any; SACK blocks |
//! | fields of TFRC | the first bytes of the payload of UDP, see [`datagram`] |
//! | ICMP | from the address of the other end; quotes the packet's IP header, ports and sequence number |
//! | payload | zeros; checksums cover all of it even where a capture keeps only the beginning |
//!
//! The flow's *sender* is the end that opened it; `Meta::is_reverse` of a packet tells the other direction.
//! IP lengths are those of the headers written here. A transport profile that counts fewer header bytes than its
//! options take on a real wire (40 on every segment, say) is shown with the real length; [`Framed::is_relabelled`]
//! tells when that happened.

pub mod datagram;

use crate::option;
use crosswind_base::packet::{Ext, Meta, Proto};
use crosswind_base::{FlowId, Packet, TcpFlags};

pub const IPV4_HEADER_BYTES: usize = 20;
pub const UDP_HEADER_BYTES: usize = 8;
const TCP_FIXED_BYTES: usize = 20;
/// The data offset counts to fifteen words, five of which are the fixed header.
const TCP_OPTIONS_LIMIT_BYTES: usize = 40;

/// Which options a TCP header carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpOptions {
    pub mss: Option<u16>,
    pub wscale: Option<u8>,
    pub sack_permitted: bool,
    pub timestamps: bool,
    /// Fields of the AccECN option, where there is one.
    pub accecn_fields: Option<u8>,
    /// As many as the packet has; see [`TcpOptions::sack_blocks_that_fit`].
    pub sack_blocks: usize,
}

impl TcpOptions {
    /// The options of a simulated packet. MSS, window scale and SACK-permitted belong to SYNs only.
    pub fn of(p: &Packet, ext: Option<&Ext>) -> TcpOptions {
        let syn = ext.filter(|_| p.flags.has(TcpFlags::SYN));
        TcpOptions {
            mss: syn.map(|e| e.mss).filter(|mss| *mss > 0),
            wscale: syn.and_then(|e| e.wscale),
            sack_permitted: syn.is_some_and(|e| e.sack_permitted),
            timestamps: p.ts_val != 0 || p.ts_ecr != 0,
            accecn_fields: ext.and_then(|e| e.accecn).map(|a| a.fields),
            sack_blocks: ext.map_or(0, |e| e.sack.len()),
        }
    }

    /// Bytes of everything but SACK blocks, padded to words. SACK-permitted takes the place of the two bytes of
    /// padding that a timestamp needs.
    fn fixed_len(&self) -> usize {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let stamps = match (self.timestamps, self.sack_permitted) {
            (true, _) => 12,
            (false, true) => 4,
            (false, false) => 0,
        };
        let wscale = if self.wscale.is_some() { 4 } else { 0 };
        let counters = self.accecn_fields.map_or(0, |fields| (2 + 3 * usize::from(fields)).next_multiple_of(4));
        mss + stamps + wscale + counters
    }

    /// The newest blocks that 40 bytes of options have room for: four, or three beside timestamps (RFC 2018
    /// section 3).
    pub fn sack_blocks_that_fit(&self) -> usize {
        let room = TCP_OPTIONS_LIMIT_BYTES - self.fixed_len();
        self.sack_blocks.min(room.saturating_sub(4) / 8)
    }
}

/// Length of a TCP header with these options, padded to words: 20 to 60 bytes. A transport that counts real headers
/// sets `Packet::len` to 20 (IPv4) + this + the payload.
pub fn tcp_header_len(options: &TcpOptions) -> usize {
    let sack = match options.sack_blocks_that_fit() {
        0 => 0,
        n => 4 + 8 * n,
    };
    TCP_FIXED_BYTES + options.fixed_len() + sack
}

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the flow's sender.
    Forward,
    /// From its receiver.
    Reverse,
}

impl Way {
    pub fn of(p: &Packet) -> Way {
        if p.meta.is_reverse() { Way::Reverse } else { Way::Forward }
    }
    pub fn opposite(self) -> Way {
        match self {
            Way::Forward => Way::Reverse,
            Way::Reverse => Way::Forward,
        }
    }
}

/// Address and port of one end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endpoint {
    pub address: [u8; 4],
    pub port: u16,
}

/// The end of `flow` that sends packets going `way`. Ends of different flows differ below 2^30 flows.
pub fn endpoint(flow: FlowId, way: Way) -> Endpoint {
    let [high, low] = (flow.0 as u16).to_be_bytes();
    match way {
        // Flows that share an address differ in the upper half of their number, and so in their port.
        Way::Forward => {
            let port = 49152 + (flow.0.wrapping_add(flow.0 >> 16) & 0x3fff) as u16;
            Endpoint { address: [10, high, low, 1], port }
        }
        Way::Reverse => Endpoint { address: [10, high, low, 2], port: 9 },
    }
}

/// The initial sequence number of a direction: arbitrary, the same in every run.
pub fn initial_sequence(flow: FlowId, way: Way) -> u32 {
    mix(u64::from(flow.0) << 1 | u64::from(way == Way::Reverse)) as u32
}

/// The finaliser of SplitMix64: a bijection that leaves no trace of small numbers.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Equal wherever the packet is seen; two packets of a flow share it by chance only (1 in 65536).
fn identification(p: &Packet) -> u16 {
    let traits = u64::from(p.payload) << 16 | u64::from(p.flags.0) << 8 | u64::from(p.meta.is_reverse());
    [p.sent_at.0, p.seq, p.ack, traits].iter().fold(u64::from(p.flow.0), |h, x| mix(h ^ x)) as u16
}

/// What [`Framer::frame`] wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framed {
    pub header_bytes: usize,
    /// Zeros that follow the headers.
    pub payload_bytes: usize,
    /// The length in the IP header is not the packet's `len`.
    pub is_relabelled: bool,
}

/// Turns packets into headers; remembers the window scales that SYNs announced.
#[derive(Clone, Debug, Default)]
pub struct Framer {
    /// By flow: what the sender and the receiver announced.
    scales: Vec<[Option<u8>; 2]>,
}

/// Header, and the first bytes of the packet that it is about (rfc792), which are not known here.
const ICMP_TOO_BIG_BYTES: usize = 8 + 28;

/// "Fragmentation needed and DF set", with the size that fits (rfc1191 section 4).
fn icmp_too_big(p: &Packet, out: &mut Vec<u8>) {
    let start = out.len();
    let [hi, lo] = (p.wnd as u16).to_be_bytes();
    out.extend([3, 4, 0, 0, 0, 0, hi, lo]);
    let way = Way::of(p).opposite();
    let meta = Meta(if way == Way::Reverse { Meta::REVERSE } else { 0 });
    let quoted = Packet { flow: p.flow, sent_at: p.sent_at, seq: p.seq, meta, ..Packet::default() };
    ipv4_header(&quoted, p.ack as u16, &[], out);
    out.extend(endpoint(p.flow, way).port.to_be_bytes());
    out.extend(endpoint(p.flow, way.opposite()).port.to_be_bytes());
    out.extend(initial_sequence(p.flow, way).wrapping_add(p.seq as u32).to_be_bytes());
    let sum = !fold(sum(&out[start..]));
    out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
}

impl Framer {
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Appends the IP and transport headers of `p` to `out`. Call it in the order of time: a scale counts from the
    /// SYN on.
    pub fn frame(&mut self, p: &Packet, ext: Option<&Ext>, out: &mut Vec<u8>) -> Framed {
        let options = TcpOptions::of(p, ext);
        let transport_bytes = match p.proto {
            Proto::Tcp => tcp_header_len(&options),
            Proto::Icmp => ICMP_TOO_BIG_BYTES,
            Proto::Udp(_) => UDP_HEADER_BYTES + datagram::fields_len(p),
        };
        let life = ext.and_then(|e| e.life).map(|l| option::encode(&l, option::TimeOfDay::OF_CAPTURES));
        let ip_options = life.as_ref().map_or(&[][..], |o| o);
        let header_bytes = IPV4_HEADER_BYTES + ip_options.len() + transport_bytes;
        let payload_bytes = usize::from(p.payload).min(usize::from(u16::MAX) - header_bytes);
        let total = (header_bytes + payload_bytes) as u16;
        ipv4_header(p, total, ip_options, out);
        match p.proto {
            Proto::Tcp => {
                let window = self.window(p, &options);
                tcp_header(p, ext, TcpFields { options, window, payload_bytes }, out);
            }
            Proto::Icmp => icmp_too_big(p, out),
            Proto::Udp(_) => udp_header(p, payload_bytes, out),
        }
        Framed { header_bytes, payload_bytes, is_relabelled: total != p.len }
    }

    /// The window field, and the memory that it needs.
    fn window(&mut self, p: &Packet, options: &TcpOptions) -> u16 {
        let i = p.flow.0 as usize;
        let own = Way::of(p) as usize;
        if p.flags.has(TcpFlags::SYN) {
            if self.scales.len() <= i {
                self.scales.resize(i + 1, [None; 2]);
            }
            self.scales[i][own] = options.wscale;
            return p.wnd.min(u32::from(u16::MAX)) as u16;
        }
        let shift = match self.scales.get(i) {
            Some([Some(forward), Some(reverse)]) => [*forward, *reverse][own].min(14),
            _ => 0,
        };
        (p.wnd >> shift).min(u32::from(u16::MAX)) as u16
    }
}

fn ipv4_header(p: &Packet, total: u16, options: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let way = Way::of(p);
    out.extend([0x45 + (options.len() / 4) as u8, p.ds.0]);
    out.extend(total.to_be_bytes());
    out.extend(identification(p).to_be_bytes());
    out.extend([0x40, 0x00, 64, p.proto.number(), 0, 0]);
    out.extend(endpoint(p.flow, way).address);
    out.extend(endpoint(p.flow, way.opposite()).address);
    out.extend(options);
    let checksum = !fold(sum(&out[start..]));
    out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// What the TCP header needs beside the packet.
struct TcpFields {
    options: TcpOptions,
    window: u16,
    payload_bytes: usize,
}

fn tcp_header(p: &Packet, ext: Option<&Ext>, f: TcpFields, out: &mut Vec<u8>) {
    let start = out.len();
    let way = Way::of(p);
    let peer = initial_sequence(p.flow, way.opposite());
    let header_bytes = tcp_header_len(&f.options);
    out.extend(endpoint(p.flow, way).port.to_be_bytes());
    out.extend(endpoint(p.flow, way.opposite()).port.to_be_bytes());
    out.extend(initial_sequence(p.flow, way).wrapping_add(p.seq as u32).to_be_bytes());
    let ack = if p.flags.has(TcpFlags::ACK) { peer.wrapping_add(p.ack as u32) } else { 0 };
    out.extend(ack.to_be_bytes());
    let ae = u8::from(p.flags.has(TcpFlags::AE));
    out.extend([(header_bytes as u8 / 4) << 4 | ae, p.flags.0 & !TcpFlags::AE.0]);
    out.extend(f.window.to_be_bytes());
    out.extend([0, 0, 0, 0]);
    tcp_options(p, &f.options, out);
    if let Some(counters) = ext.and_then(|e| e.accecn) {
        counters.write(out);
    }
    let blocks = ext.map_or(&[][..], |e| e.sack.as_slice());
    let fit = f.options.sack_blocks_that_fit();
    if fit > 0 {
        out.extend([1, 1, 5, 2 + 8 * fit as u8]);
        for (left, right) in &blocks[..fit] {
            out.extend(peer.wrapping_add(*left as u32).to_be_bytes());
            out.extend(peer.wrapping_add(*right as u32).to_be_bytes());
        }
    }
    debug_assert_eq!(out.len() - start, header_bytes, "the options are as long as announced");
    let checksum = transport_checksum(p, &out[start..], f.payload_bytes);
    out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// All options but SACK blocks, in words.
fn tcp_options(p: &Packet, options: &TcpOptions, out: &mut Vec<u8>) {
    if let Some(mss) = options.mss {
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
    }
    match (options.timestamps, options.sack_permitted) {
        (_, true) => out.extend([4, 2]),
        (true, false) => out.extend([1, 1]),
        (false, false) => {}
    }
    if options.timestamps {
        out.extend([8, 10]);
        out.extend(p.ts_val.to_be_bytes());
        out.extend(p.ts_ecr.to_be_bytes());
    } else if options.sack_permitted {
        out.extend([1, 1]);
    }
    if let Some(shift) = options.wscale {
        out.extend([1, 3, 3, shift]);
    }
}

fn udp_header(p: &Packet, payload_bytes: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let way = Way::of(p);
    out.extend(endpoint(p.flow, way).port.to_be_bytes());
    out.extend(endpoint(p.flow, way.opposite()).port.to_be_bytes());
    out.extend(((UDP_HEADER_BYTES + datagram::fields_len(p) + payload_bytes) as u16).to_be_bytes());
    out.extend([0, 0]);
    datagram::fields(p, out);
    // Zero would mean "no checksum" (RFC 768), so its other form is sent.
    let checksum = match transport_checksum(p, &out[start..], payload_bytes) {
        0 => u16::MAX,
        c => c,
    };
    out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
}

/// Over the pseudo-header, `header` and a payload of zeros, which adds only its length.
fn transport_checksum(p: &Packet, header: &[u8], payload_bytes: usize) -> u16 {
    let way = Way::of(p);
    let ends = sum(&endpoint(p.flow, way).address) + sum(&endpoint(p.flow, way.opposite()).address);
    let length = (header.len() + payload_bytes) as u32;
    !fold(ends + u32::from(p.proto.number()) + length + sum(header))
}

/// Sum of the big-endian 16-bit words; headers have an even length and are far too short to overflow it.
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum()
}

/// The one's-complement sum in 16 bits.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests;
