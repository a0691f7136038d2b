//! Segments of Crosswind's TCP as the bytes of IPv4 and TCP, and back (rfc791, rfc9293, rfc7323, rfc2018, rfc9768).
//!
//! Inside, sequence numbers are 64-bit offsets and windows are bytes. A [`Line`] knows what a peer with real bytes makes of that: both
//! initial sequence numbers, and the scales that both have announced. Headers are written and read by etherparse, which knows all options
//! that are used here but that of AccECN.

use crosswind_base::packet::{AccEcnOption, Ext, Proto};
use crosswind_base::{Ecn, Packet, SackList, TcpFlags};
use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpNumber, Ipv4Header, Ipv4Slice, TcpHeader, TcpHeaderSlice, TcpOptionElement as Opt, TcpOptionsIterator, TcpSlice,
};

/// Hops that a packet may make.
const TTL: u8 = 64;
/// Bytes that options have room for.
const OPTIONS_MAX: u16 = 40;
/// Larger scales are taken for this one (rfc7323 section 2.3).
const SHIFT_MAX: u8 = 14;

/// Address and port of one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub address: [u8; 4],
    pub port: u16,
}

/// Why bytes are no segment of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Not IPv4 with TCP, or shorter than it says.
    Malformed,
    /// A checksum is wrong.
    Damaged,
    /// A fragment.
    Fragment,
    /// Between other places, or of a connection that was there before.
    Stranger,
}

/// A segment, and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    pub packet: Packet,
    pub ext: Option<Ext>,
    pub payload: &'a [u8],
}

/// What one end of a connection knows of the wire.
#[derive(Clone, Debug)]
pub struct Line {
    local: Place,
    /// Whoever sends a SYN first, where nobody is named.
    remote: Option<Place>,
    /// Initial sequence numbers: our own, the peer's.
    iss: u32,
    irs: Option<u32>,
    /// Scales that were announced in SYNs.
    own_shift: Option<u8>,
    peer_shift: Option<u8>,
    /// The end of all that was ever sent: what the peer acknowledges is near it.
    sent_to: u64,
    /// The last acknowledgement that was sent: what the peer sends is near it.
    acked_to: u64,
    identification: u16,
}

/// The 64-bit number closest to `near` that ends in these 32 bits; none is below zero.
fn unfold(near: u64, low: u32) -> u64 {
    near.saturating_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

impl Line {
    pub fn new(local: Place, remote: Option<Place>, iss: u32) -> Line {
        Line {
            local,
            remote,
            iss,
            irs: None,
            own_shift: None,
            peer_shift: None,
            sent_to: 0,
            acked_to: 0,
            identification: 0,
        }
    }

    /// The scale of windows in one direction, once both ends have announced one (rfc7323 section 2.2).
    fn shift(&self, of: Option<u8>) -> u8 {
        if self.own_shift.is_some() && self.peer_shift.is_some() { of.unwrap_or(0).min(SHIFT_MAX) } else { 0 }
    }

    /// Writes one segment. `fill` writes its payload. Nothing is written before it is known where the peer is.
    pub fn encode(&mut self, p: &Packet, ext: Option<&Ext>, fill: impl FnOnce(&mut [u8])) -> Vec<u8> {
        let Some(remote) = self.remote else { return Vec::new() };
        let is_syn = p.flags.has(TcpFlags::SYN);
        if is_syn {
            self.own_shift = ext.and_then(|e| e.wscale);
        }
        let mut tcp = TcpHeader::new(self.local.port, remote.port, self.iss.wrapping_add(p.seq as u32), 0);
        flags_out(p.flags, &mut tcp);
        if p.flags.has(TcpFlags::ACK) {
            tcp.acknowledgment_number = self.irs.unwrap_or(0).wrapping_add(p.ack as u32);
            self.acked_to = self.acked_to.max(p.ack);
        }
        let shift = if is_syn { 0 } else { self.shift(self.own_shift) };
        tcp.window_size = (p.wnd >> shift).min(u32::from(u16::MAX)) as u16;
        self.write_options(p, ext, &mut tcp);
        let takes = u64::from(p.payload) + u64::from(is_syn) + u64::from(p.flags.has(TcpFlags::FIN));
        self.sent_to = self.sent_to.max(p.seq + takes);

        let headers = Ipv4Header::MIN_LEN + tcp.header_len();
        let mut out = vec![0; headers + usize::from(p.payload)];
        fill(&mut out[headers..]);
        let sum = tcp.calc_checksum_ipv4_raw(self.local.address, remote.address, &out[headers..]);
        tcp.checksum = sum.unwrap_or_else(|e| panic!("the length of a packet has 16 bits: {e}"));
        let ip = self.ip_header(p, remote, (out.len() - Ipv4Header::MIN_LEN) as u16);
        out[..Ipv4Header::MIN_LEN].copy_from_slice(&ip.to_bytes());
        out[Ipv4Header::MIN_LEN..headers].copy_from_slice(&tcp.to_bytes());
        out
    }

    fn ip_header(&mut self, p: &Packet, remote: Place, payload: u16) -> Ipv4Header {
        let mut ip = Ipv4Header::new(payload, TTL, IpNumber::TCP, self.local.address, remote.address)
            .unwrap_or_else(|e| panic!("the length of a packet has 16 bits: {e}"));
        ip.dscp = p.dscp().bits().try_into().unwrap_or_default();
        ip.ecn = (p.ecn() as u8).try_into().unwrap_or_default();
        self.identification = self.identification.wrapping_add(1);
        ip.identification = self.identification;
        ip.header_checksum = ip.calc_header_checksum();
        ip
    }

    fn write_options(&self, p: &Packet, ext: Option<&Ext>, tcp: &mut TcpHeader) {
        let too_long = |e| panic!("a segment has at most 40 bytes of options: {e:?}");
        tcp.set_options(&self.options(p, ext)).unwrap_or_else(too_long);
        if let Some(counters) = ext.and_then(|e| e.accecn) {
            let mut all = tcp.options.as_slice().to_vec();
            counters.write(&mut all);
            tcp.set_options_raw(&all).unwrap_or_else(too_long);
        }
    }

    /// In the order and with the padding that is usual; SACK blocks as far as there is room.
    fn options(&self, p: &Packet, ext: Option<&Ext>) -> Vec<Opt> {
        let mut out = Vec::with_capacity(8);
        let syn = ext.filter(|_| p.flags.has(TcpFlags::SYN));
        let has_stamps = p.ts_val != 0 || p.ts_ecr != 0;
        out.extend(syn.filter(|e| e.mss > 0).map(|e| Opt::MaximumSegmentSize(e.mss)));
        let permits = syn.is_some_and(|e| e.sack_permitted);
        match (has_stamps, permits) {
            (true, false) => out.extend([Opt::Noop, Opt::Noop]),
            (_, true) => out.push(Opt::SelectiveAcknowledgementPermitted),
            (false, false) => {}
        }
        if has_stamps {
            out.push(Opt::Timestamp(p.ts_val, p.ts_ecr));
        } else if permits {
            out.extend([Opt::Noop, Opt::Noop]);
        }
        if let Some(shift) = syn.and_then(|e| e.wscale) {
            out.extend([Opt::Noop, Opt::WindowScale(shift)]);
        }
        let stamps = if has_stamps { 12 } else { 0 };
        let counters = ext.and_then(|e| e.accecn).map_or(0, AccEcnOption::padded_bytes);
        let most = usize::from((OPTIONS_MAX - stamps - counters - 4) / 8);
        let irs = self.irs.unwrap_or(0);
        let folded = |&(left, right): &(u64, u64)| (irs.wrapping_add(left as u32), irs.wrapping_add(right as u32));
        let mut blocks = ext.map_or(&[][..], |e| e.sack.as_slice()).iter().take(most).map(folded);
        if let Some(first) = blocks.next() {
            let others = [blocks.next(), blocks.next(), blocks.next()];
            out.extend([Opt::Noop, Opt::Noop, Opt::SelectiveAcknowledgement(first, others)]);
        }
        out
    }

    /// Reads one segment; both checksums must be right. Bytes behind the length that the packet claims are not looked at.
    pub fn decode<'a>(&mut self, bytes: &'a [u8]) -> Result<Segment<'a>, Refused> {
        let ip = Ipv4Slice::from_slice(bytes).map_err(|_| Refused::Malformed)?;
        let header = ip.header();
        // Over the bytes themselves: no bit is without meaning to the sum.
        if Sum16BitWords::new().add_slice(header.slice()).ones_complement() != 0 {
            return Err(Refused::Damaged);
        }
        if ip.is_payload_fragmented() {
            return Err(Refused::Fragment);
        }
        if ip.payload_ip_number() != IpNumber::TCP {
            return Err(Refused::Malformed);
        }
        let tcp = TcpSlice::from_slice(ip.payload().payload).map_err(|_| Refused::Malformed)?;
        let sum = tcp.calc_checksum_ipv4(header.source(), header.destination());
        // Zero has two forms in this arithmetic (RFC 1071), and Linux writes the other one where its offload gives zero.
        if sum != Ok(tcp.checksum()) && (sum, tcp.checksum()) != (Ok(0), 0xffff) {
            return Err(Refused::Damaged);
        }
        let from = Place { address: header.source(), port: tcp.source_port() };
        let to = Place { address: header.destination(), port: tcp.destination_port() };
        self.meet(from, to, &tcp)?;
        let mut p = Packet { len: header.total_len(), proto: Proto::Tcp, ..Packet::default() };
        p.set_ecn(Ecn::from_bits(header.ecn().value()));
        Ok(self.segment(p, &tcp))
    }

    /// Whether the segment belongs here; the first SYN tells where the peer is and where it begins to count.
    fn meet(&mut self, from: Place, to: Place, tcp: &TcpSlice<'_>) -> Result<(), Refused> {
        if to != self.local || self.remote.is_some_and(|r| r != from) {
            return Err(Refused::Stranger);
        }
        if !tcp.syn() {
            return if self.remote.is_some() { Ok(()) } else { Err(Refused::Stranger) };
        }
        match self.irs {
            Some(known) if known != tcp.sequence_number() => return Err(Refused::Stranger),
            Some(_) => {}
            None => {
                self.remote = Some(from);
                self.irs = Some(tcp.sequence_number());
            }
        }
        Ok(())
    }

    fn segment<'a>(&mut self, mut p: Packet, tcp: &TcpSlice<'a>) -> Segment<'a> {
        let payload = tcp.payload();
        p.payload = payload.len() as u16;
        p.flags = flags_in(tcp);
        // A reset that answers our SYN comes before the peer has begun to count.
        p.seq = self.irs.map_or(0, |irs| unfold(self.acked_to, tcp.sequence_number().wrapping_sub(irs)));
        p.ack = if tcp.ack() { self.own_offset(tcp.acknowledgment_number()) } else { 0 };
        let ext = self.options_in(tcp, &mut p);
        let shift = if tcp.syn() { 0 } else { self.shift(self.peer_shift) };
        p.wnd = u32::from(tcp.window_size()) << shift;
        Segment { packet: p, ext, payload }
    }

    /// What a number of ours that the peer names means.
    fn own_offset(&self, number: u32) -> u64 {
        unfold(self.sent_to, number.wrapping_sub(self.iss))
    }

    fn options_in(&mut self, tcp: &TcpSlice<'_>, p: &mut Packet) -> Option<Ext> {
        let (known, counters) = without_strangers(tcp.options());
        let mut ext = Ext { accecn: counters, ..Ext::default() };
        let mut is_any = counters.is_some();
        // What cannot be read, and what follows it, is as good as absent.
        for option in TcpOptionsIterator::from_slice(&known).map_while(Result::ok) {
            is_any = true;
            match option {
                Opt::MaximumSegmentSize(mss) => ext.mss = mss,
                Opt::WindowScale(shift) => ext.wscale = Some(shift.min(SHIFT_MAX)),
                Opt::SelectiveAcknowledgementPermitted => ext.sack_permitted = true,
                Opt::Timestamp(val, ecr) => (p.ts_val, p.ts_ecr) = (val, ecr),
                Opt::SelectiveAcknowledgement(first, others) => {
                    ext.sack = self.blocks(std::iter::once(first).chain(others.into_iter().flatten()));
                }
                Opt::Noop => {}
            }
        }
        if tcp.syn() {
            self.peer_shift = ext.wscale;
        }
        is_any.then_some(ext)
    }

    fn blocks(&self, named: impl Iterator<Item = (u32, u32)>) -> SackList {
        let mut list = SackList::EMPTY;
        for (left, right) in named {
            let (left, right) = (self.own_offset(left), self.own_offset(right));
            // No block is empty or goes beyond what was sent (rfc2018 section 4).
            if left < right && right <= self.sent_to {
                list.push(left, right);
            }
        }
        list
    }
}

/// Options with no-operations in the place of those that etherparse does not know, and that of AccECN, which it does not either.
fn without_strangers(options: &[u8]) -> (Vec<u8>, Option<AccEcnOption>) {
    /// MSS, scale, SACK permitted, SACK, timestamps.
    const KNOWN: [u8; 5] = [2, 3, 4, 5, 8];
    let (mut known, mut counters, mut at) = (options.to_vec(), None, 0);
    while let Some([kind, length]) = options.get(at..at + 2).and_then(|two| <[u8; 2]>::try_from(two).ok()) {
        let end = at + usize::from(length);
        match kind {
            0 => break,
            1 => at += 1,
            _ if length < 2 || end > options.len() => break,
            _ => {
                if !KNOWN.contains(&kind) {
                    counters = counters.or_else(|| AccEcnOption::read(kind, &options[at + 2..end]));
                    known[at..end].fill(1);
                }
                at = end;
            }
        }
    }
    (known, counters)
}

fn flags_out(flags: TcpFlags, tcp: &mut TcpHeader) {
    tcp.fin = flags.has(TcpFlags::FIN);
    tcp.syn = flags.has(TcpFlags::SYN);
    tcp.rst = flags.has(TcpFlags::RST);
    tcp.psh = flags.has(TcpFlags::PSH);
    tcp.ack = flags.has(TcpFlags::ACK);
    tcp.ece = flags.has(TcpFlags::ECE);
    tcp.cwr = flags.has(TcpFlags::CWR);
    tcp.ns = flags.has(TcpFlags::AE);
}

fn flags_in(tcp: &TcpSlice<'_>) -> TcpFlags {
    [
        (tcp.fin(), TcpFlags::FIN),
        (tcp.syn(), TcpFlags::SYN),
        (tcp.rst(), TcpFlags::RST),
        (tcp.psh(), TcpFlags::PSH),
        (tcp.ack(), TcpFlags::ACK),
        (tcp.ece(), TcpFlags::ECE),
        (tcp.cwr(), TcpFlags::CWR),
        (tcp.ns(), TcpFlags::AE),
    ]
    .into_iter()
    .filter(|(is_set, _)| *is_set)
    .fold(TcpFlags::default(), |all, (_, flag)| all.with(flag))
}

/// What the header of a packet says in its own numbers; for those who only count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Glance {
    pub seq: u32,
    /// Where it acknowledges anything.
    pub ack: Option<u32>,
    pub payload: u32,
    pub has_syn: bool,
    pub has_rst: bool,
}

/// Looks at a packet without judging it.
pub fn glance(bytes: &[u8]) -> Option<Glance> {
    let ip = Ipv4Slice::from_slice(bytes).ok()?;
    let segment = ip.payload().payload;
    let tcp = TcpHeaderSlice::from_slice(segment).ok()?;
    let ack = tcp.ack().then(|| tcp.acknowledgment_number());
    let payload = (segment.len() - tcp.slice().len()) as u32;
    Some(Glance { seq: tcp.sequence_number(), ack, payload, has_syn: tcp.syn(), has_rst: tcp.rst() })
}

/// Bytes of a packet behind all of its headers.
pub fn payload_bytes(packet: &[u8]) -> usize {
    glance(packet).map_or(packet.len(), |g| g.payload as usize)
}
