use super::*;
use crosswind_base::{Ecn, SackList, Time, Waiting};

fn frame(framer: &mut Framer, p: &Packet, ext: Option<&Ext>) -> (Vec<u8>, Framed) {
    let mut out = Vec::new();
    let f = framer.frame(p, ext, &mut out);
    assert_eq!(out.len(), f.header_bytes);
    (out, f)
}

fn u16_at(b: &[u8], i: usize) -> u16 {
    u16::from_be_bytes([b[i], b[i + 1]])
}
fn u32_at(b: &[u8], i: usize) -> u32 {
    u32::from_be_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]])
}

/// An independent checksum: end-around carry after every word, payload spelled out.
fn ones_complement(bytes: &[u8]) -> u16 {
    let mut s = 0u32;
    for w in bytes.chunks(2) {
        s += u32::from(w[0]) << 8 | w.get(1).map_or(0, |b| u32::from(*b));
        s = (s & 0xffff) + (s >> 16);
    }
    s as u16
}

fn with_pseudo_header(b: &[u8], f: &Framed) -> Vec<u8> {
    let transport = [&b[20..], &vec![0; f.payload_bytes]].concat();
    let mut all = [&b[12..20], &[0, b[9]]].concat();
    all.extend((transport.len() as u16).to_be_bytes());
    all.extend(transport);
    all
}

const SYN_EXT: Ext = Ext {
    sack: SackList::EMPTY,
    wait: Waiting::NONE,
    life: None,
    mss: 1460,
    wscale: Some(7),
    sack_permitted: true,
    accecn: None,
    ack: None,
    bytes: 0,
};

fn syn(meta: u8) -> Packet {
    let flags = if meta == 0 { TcpFlags::SYN } else { TcpFlags::SYN.with(TcpFlags::ACK) };
    packet!(Packet::default(); flags: flags, wnd: 65535, len: 60, ts_val: 9, ack: meta.min(1).into(), meta: Meta(meta))
}

#[test]
fn an_ip_header_carries_the_packet() {
    let p = packet!(Packet::default(); flow: FlowId(0x0102), ds: Ecn::Ce.into(), payload: 1000, len: 1040);
    let (b, f) = frame(&mut Framer::new(), &p, None);
    assert_eq!((b[0], b[1], b[8], b[9]), (0x45, 3, 64, 6));
    assert_eq!((u16_at(&b, 2), u16_at(&b, 6)), (1040, 0x4000), "length and DF");
    assert_eq!(b[12..20], [10, 1, 2, 1, 10, 1, 2, 2]);
    assert_eq!(ones_complement(&b[..20]), 0xffff);
    assert_eq!(f, Framed { header_bytes: 40, payload_bytes: 1000, is_relabelled: false });
}

#[test]
fn checksums_cover_the_pseudo_header_and_all_of_the_payload() {
    let mut sack = SackList::EMPTY;
    assert!(sack.push(3001, 4001));
    let ext = Ext { sack, ..Ext::default() };
    for payload in [0, 1, 536, 1447] {
        for proto in [Proto::Tcp, Proto::UDP] {
            let p = packet!(Packet::default(); proto: proto, payload: payload, ts_val: 77, flow: FlowId(70_000));
            let (b, f) = frame(&mut Framer::new(), &p, Some(&ext));
            assert_eq!(ones_complement(&with_pseudo_header(&b, &f)), 0xffff, "{proto:?} {payload}");
        }
    }
}

#[test]
fn a_syn_carries_its_options_and_an_unscaled_window() {
    let (b, f) = frame(&mut Framer::new(), &syn(0), Some(&SYN_EXT));
    assert_eq!(f, Framed { header_bytes: 60, payload_bytes: 0, is_relabelled: false });
    assert_eq!(b[32] >> 4, 10, "ten words");
    assert_eq!(b[40..44], [2, 4, 0x05, 0xb4]);
    assert_eq!(b[44..56], [4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0]);
    assert_eq!(b[56..60], [1, 3, 3, 7]);
    assert_eq!((u16_at(&b, 34), u32_at(&b, 28)), (65535, 0), "window; no acknowledgement without its flag");
    assert_eq!(u32_at(&b, 24), initial_sequence(FlowId(0), Way::Forward));
}

#[test]
fn windows_are_scaled_by_the_shift_of_their_sender_once_both_announced_one() {
    let data = packet!(Packet::default(); wnd: 64_000, flags: TcpFlags::ACK);
    let back = packet!(data; meta: Meta(Meta::REVERSE));
    let window = |framer: &mut Framer, p: &Packet| u16_at(&frame(framer, p, None).0, 34);

    let mut both = Framer::new();
    frame(&mut both, &syn(0), Some(&SYN_EXT));
    frame(&mut both, &syn(Meta::REVERSE), Some(&Ext { wscale: Some(2), ..SYN_EXT }));
    assert_eq!((window(&mut both, &data), window(&mut both, &back)), (64_000 >> 7, 64_000 >> 2));

    let mut one = Framer::new();
    frame(&mut one, &syn(0), Some(&SYN_EXT));
    frame(&mut one, &syn(Meta::REVERSE), Some(&Ext { wscale: None, ..SYN_EXT }));
    assert_eq!((window(&mut one, &data), window(&mut one, &back)), (64_000, 64_000));
}

#[test]
fn numbers_wrap_at_two_to_the_32nd() {
    let offset = (1u64 << 32) * 3 + 17;
    let p = packet!(Packet::default(); seq: offset, ack: offset + 5, flags: TcpFlags::ACK, flow: FlowId(4));
    let (b, _) = frame(&mut Framer::new(), &p, None);
    assert_eq!(u32_at(&b, 24), initial_sequence(FlowId(4), Way::Forward).wrapping_add(17));
    assert_eq!(u32_at(&b, 28), initial_sequence(FlowId(4), Way::Reverse).wrapping_add(22));
}

#[test]
fn sack_blocks_are_numbers_of_the_peer_newest_first() {
    let mut sack = SackList::EMPTY;
    assert!(sack.push(5001, 6001) && sack.push(1001, 3001));
    let p = packet!(Packet::default(); flags: TcpFlags::ACK, meta: Meta(Meta::REVERSE), len: 60);
    let (b, f) = frame(&mut Framer::new(), &p, Some(&Ext { sack, ..Ext::default() }));
    assert_eq!((f.header_bytes, f.is_relabelled), (60, false));
    assert_eq!(b[40..44], [1, 1, 5, 18]);
    let base = initial_sequence(FlowId(0), Way::Forward);
    let edges: Vec<u32> = (0..4).map(|i| u32_at(&b, 44 + 4 * i).wrapping_sub(base)).collect();
    assert_eq!(edges, [5001, 6001, 1001, 3001]);
}

#[test]
fn a_header_is_as_long_as_its_options_and_never_longer_than_sixty_bytes() {
    for bits in 0..16u32 {
        for sack_blocks in 0..=4 {
            let o = TcpOptions {
                mss: (bits & 1 != 0).then_some(536),
                wscale: (bits & 2 != 0).then_some(3),
                sack_permitted: bits & 4 != 0,
                timestamps: bits & 8 != 0,
                accecn_fields: [None, Some(1), Some(3)][sack_blocks % 3],
                sack_blocks,
            };
            let len = tcp_header_len(&o);
            assert!(len <= 60 && len.is_multiple_of(4), "{o:?} {len}");
        }
    }
    let blocks = |timestamps| TcpOptions { timestamps, sack_blocks: 4, ..TcpOptions::default() };
    assert_eq!((tcp_header_len(&blocks(false)), blocks(false).sack_blocks_that_fit()), (56, 4));
    assert_eq!((tcp_header_len(&blocks(true)), blocks(true).sack_blocks_that_fit()), (60, 3));
    assert_eq!(tcp_header_len(&TcpOptions::default()), 20);
}

#[test]
fn a_profile_that_counts_forty_header_bytes_is_shown_with_its_real_length() {
    let p = packet!(Packet::default(); len: 576, payload: 536, ts_val: 1);
    let (b, f) = frame(&mut Framer::new(), &p, None);
    assert_eq!((u16_at(&b, 2), f.is_relabelled), (588, true));
}

#[test]
fn a_udp_datagram_has_its_length() {
    let p = packet!(Packet::default(); proto: Proto::UDP, len: 76, payload: 48);
    let (b, f) = frame(&mut Framer::new(), &p, None);
    assert_eq!((b[9], u16_at(&b, 22), u16_at(&b, 24), f.is_relabelled), (17, 9, 56, false));
}

#[test]
fn a_packet_keeps_its_identification_and_a_retransmission_gets_a_new_one() {
    let p = packet!(Packet::default(); seq: 1, payload: 536, sent_at: Time(5));
    let id = |p: &Packet| u16_at(&frame(&mut Framer::new(), p, None).0, 4);
    assert_eq!(id(&p), id(&packet!(p; hop: 3, ds: Ecn::Ce.into())));
    assert_ne!(id(&p), id(&packet!(p; sent_at: Time(6))));
}

#[test]
fn every_end_of_every_flow_is_a_different_one() {
    let mut seen = std::collections::BTreeSet::new();
    for flow in (0..300).chain(65_500..66_000).chain(200_000..200_100) {
        let (a, b) = (endpoint(FlowId(flow), Way::Forward), endpoint(FlowId(flow), Way::Reverse));
        assert!(seen.insert((a.address, a.port, b.address)), "{flow}");
        assert!(a.port >= 49152);
    }
}

#[test]
fn a_message_of_a_router_names_the_size_that_fits() {
    let meta = Meta(Meta::REVERSE);
    let p = Packet { proto: Proto::Icmp, len: 56, wnd: 576, seq: 1001, ack: 1440, meta, ..Packet::default() };
    let mut out = Vec::new();
    let framed = Framer::new().frame(&p, None, &mut out);
    assert_eq!((framed.header_bytes, framed.payload_bytes, out.len()), (56, 0, 56));
    let message = &out[20..];
    assert_eq!((out[9], message[0], message[1], &message[6..8]), (1, 3, 4, &[2, 64][..]));
    assert_eq!(fold(sum(message)), 0xffff, "the checksum fits");
    // What it quotes: the header of a packet of 1440 bytes from the sender, its ports and its sequence number.
    let quoted = &message[8..];
    let (from, to) = (endpoint(p.flow, Way::Forward), endpoint(p.flow, Way::Reverse));
    assert_eq!((quoted.len(), &quoted[2..4], quoted[9]), (28, &1440u16.to_be_bytes()[..], 6));
    assert_eq!((&quoted[12..16], &quoted[16..20]), (&from.address[..], &to.address[..]));
    assert_eq!(fold(sum(&quoted[..20])), 0xffff);
    assert_eq!((&quoted[20..22], &quoted[22..24]), (&from.port.to_be_bytes()[..], &to.port.to_be_bytes()[..]));
    assert_eq!(quoted[24..28], (initial_sequence(p.flow, Way::Forward).wrapping_add(1001)).to_be_bytes());
}

#[test]
fn the_accurate_flag_and_the_counters_of_accecn_stand_where_they_do_on_a_wire() {
    use crosswind_base::packet::{AccEcnOption, AccEcnOrder};
    let p = packet!(Packet::default(); flags: TcpFlags::ACK.with_ace(5), len: 52);
    let counters = AccEcnOption { order: AccEcnOrder::Ect1First, fields: 3, ceb: 0x01_0203, e0b: 1, e1b: 0xff_0000 };
    let ext = Ext { accecn: Some(counters), ..Ext::default() };
    let (bytes, f) = frame(&mut Framer::new(), &p, Some(&ext));
    assert_eq!((bytes[32], bytes[33]), (0x81, 0x50), "eight words and AE; ECE and ACK");
    assert_eq!(bytes[40..52], [1, 174, 11, 0xff, 0, 0, 1, 2, 3, 0, 0, 1]);
    assert!(!f.is_relabelled);
    let short = AccEcnOption { order: AccEcnOrder::Ect0First, fields: 2, ..counters };
    let (bytes, _) = frame(&mut Framer::new(), &p, Some(&Ext { accecn: Some(short), ..Ext::default() }));
    assert_eq!(bytes[40..48], [172, 8, 0, 0, 1, 1, 2, 3]);
}
