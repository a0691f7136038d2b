//! Segments as bytes and back: what one end writes the other reads, a second reader agrees, and damage is refused.
#![cfg(feature = "smoltcp")]

use crosswind_base::packet::{AccEcnOption, Ext};
use crosswind_base::{Ecn, Packet, Rng, SackList, Streams, TcpFlags};
use crosswind_stacks::tcp::{Line, Place, Refused};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{Ipv4Packet, Ipv4Repr, TcpPacket, TcpRepr};

const A: Place = Place { address: [192, 0, 2, 1], port: 49_152 };
const B: Place = Place { address: [192, 0, 2, 2], port: 9 };

fn syn(flags: TcpFlags, wscale: Option<u8>) -> (Packet, Ext) {
    let p = Packet { flags, wnd: 60_000, ts_val: 7, ack: u64::from(flags.has(TcpFlags::ACK)), ..Packet::default() };
    (p, Ext { mss: 1460, wscale, sack_permitted: true, ..Ext::default() })
}

/// Two lines that have shaken hands, with numbers that will wrap.
fn lines(scales: [Option<u8>; 2]) -> [Line; 2] {
    let mut a = Line::new(A, Some(B), u32::MAX - 4095);
    let mut b = Line::new(B, None, 5);
    let (p, e) = syn(TcpFlags::SYN, scales[0]);
    b.decode(&a.encode(&p, Some(&e), |_| {})).expect("a SYN");
    let (p, e) = syn(TcpFlags::SYN.with(TcpFlags::ACK), scales[1]);
    a.decode(&b.encode(&p, Some(&e), |_| {})).expect("a SYN-ACK");
    [a, b]
}

/// Any segment that an end may send at this point of its stream.
fn any(rng: &mut Rng, seq: u64, ack: u64) -> (Packet, Option<Ext>) {
    let flags = [TcpFlags::ACK, TcpFlags::PSH, TcpFlags::FIN, TcpFlags::ECE, TcpFlags::CWR, TcpFlags::AE];
    let chosen = flags.into_iter().filter(|_| rng.chance(0.3)).fold(TcpFlags::ACK, TcpFlags::with);
    let stamps = rng.chance(0.7);
    let mut p = Packet {
        seq,
        ack,
        flags: chosen,
        wnd: (rng.below(1 << 22) as u32) & !0x7f,
        payload: rng.below(1449) as u16,
        ts_val: if stamps { 1 + rng.below(1 << 31) as u32 } else { 0 },
        ts_ecr: if stamps { rng.below(1 << 31) as u32 } else { 0 },
        ..Packet::default()
    };
    p.set_ecn(Ecn::from_bits(rng.below(4) as u8));
    let accecn = rng.chance(0.4).then(|| counters(rng));
    let mut sack = SackList::EMPTY;
    let room = 40 - if stamps { 12 } else { 0 } - accecn.map_or(0, |a| u64::from(a.padded_bytes())) - 4;
    for _ in 0..rng.below(room / 8 + 1) {
        let left = ack + rng.below(1 << 20);
        sack.push(left, left + 1 + rng.below(3000));
    }
    (p, (!sack.is_empty() || accecn.is_some()).then(|| Ext { sack, accecn, ..Ext::default() }))
}

/// An option of AccECN; what it has no field for is zero.
fn counters(rng: &mut Rng) -> AccEcnOption {
    let mut any = || rng.below(1 << 24).to_be_bytes();
    let all: Vec<u8> = (0..3).flat_map(|_| any().into_iter().skip(5)).collect();
    let (kind, fields) = (172 + 2 * rng.below(2) as u8, rng.below(4) as usize);
    AccEcnOption::read(kind, &all[..3 * fields]).expect("an option")
}

#[test]
fn what_one_end_writes_the_other_reads_over_many_turns_of_the_numbers() {
    let mut rng = Streams::new(3).named("segments");
    let [mut a, mut b] = lines([Some(7), Some(7)]);
    let mut sent_to: u64 = 1 << 21;
    // The other end has sent up to here, so that blocks of it may be reported.
    b.encode(&Packet { seq: 1 << 40, flags: TcpFlags::ACK, ..Packet::default() }, None, |_| {});
    let mut ahead = 1 << 40;
    for turn in 0..100_000 {
        // Numbers run through 32 bits several times; each segment is near the one before.
        sent_to += rng.below(1 << 18);
        let acked = sent_to - rng.below(sent_to.min(1 << 20));
        ahead += rng.below(1 << 18);
        b.encode(
            &Packet { seq: ahead + (2 << 20), ack: acked, flags: TcpFlags::ACK, ..Packet::default() },
            None,
            |_| {},
        );
        let (p, ext) = any(&mut rng, sent_to, ahead);
        let mark = turn as u8;
        let bytes = a.encode(&p, ext.as_ref(), |payload| payload.fill(mark));
        let got = b.decode(&bytes).expect("it was written by a line");
        let q = got.packet;
        assert_eq!((q.seq, q.ack, q.flags, q.wnd), (p.seq, p.ack, p.flags, p.wnd), "{turn}");
        assert_eq!((q.ts_val, q.ts_ecr, q.payload, q.ecn()), (p.ts_val, p.ts_ecr, p.payload, p.ecn()), "{turn}");
        let blocks = |e: Option<Ext>| e.map_or(SackList::EMPTY, |e| e.sack);
        assert_eq!(blocks(got.ext), blocks(ext), "{turn}");
        assert_eq!(got.ext.and_then(|e| e.accecn), ext.and_then(|e| e.accecn), "{turn}");
        assert!(got.payload.iter().all(|x| *x == mark) && got.payload.len() == usize::from(p.payload));
        assert_eq!(usize::from(q.len), bytes.len());
    }
}

#[test]
fn the_counters_stand_where_the_rfc_draws_them_and_what_follows_a_strange_option_is_read() {
    let [mut a, mut b] = lines([Some(7), Some(7)]);
    let p = Packet { flags: TcpFlags::ACK, ts_val: 3, ts_ecr: 4, wnd: 1280, seq: 1, ack: 1, ..Packet::default() };
    let accecn = AccEcnOption::read(174, &[0, 0, 1, 0, 2, 0, 3, 0, 0]);
    let counted = accecn.expect("three fields");
    assert_eq!((counted.e1b, counted.ceb, counted.e0b), (1, 512, 3 << 16));
    let bytes = a.encode(&p, Some(&Ext { accecn, ..Ext::default() }), |_| {});
    // Behind twelve bytes of timestamps: one no-operation, kind, length, fields.
    assert_eq!(bytes[52..64], [1, 174, 11, 0, 0, 1, 0, 2, 0, 3, 0, 0]);
    assert_eq!(b.decode(&bytes).expect("a segment").ext.and_then(|e| e.accecn), accecn);
    for (kind, body) in [(173, &[0; 3][..]), (172, &[0; 4]), (174, &[0; 12])] {
        assert_eq!(AccEcnOption::read(kind, body), None, "{kind}, {} bytes", body.len());
    }
    // An option of no known kind before the timestamps: those are read all the same, as is one cut short behind them left.
    let mut moved = bytes[..40].to_vec();
    moved.extend([254, 4, 9, 9, 1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4, 1, 1, 172, 30, 0, 0, 0, 0]);
    moved.truncate(64);
    let sealed = sealed(moved);
    let got = b.decode(&sealed).expect("a segment");
    assert_eq!((got.packet.ts_val, got.packet.ts_ecr, got.ext.and_then(|e| e.accecn)), (3, 4, None));
}

/// The packet with right checksums.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let ip = Ipv4Packet::new_checked(&bytes[..]).expect("IPv4");
    let (src, dst) = (ip.src_addr().into(), ip.dst_addr().into());
    TcpPacket::new_checked(&mut bytes[20..]).expect("TCP").fill_checksum(&src, &dst);
    bytes
}

#[test]
fn a_second_reader_sees_the_same() {
    let mut rng = Streams::new(4).named("segments");
    let [mut a, _] = lines([Some(7), Some(7)]);
    for _ in 0..20_000 {
        let (seq, ack) = (1 + rng.below(1 << 30), 1 + rng.below(1 << 30));
        let (p, ext) = any(&mut rng, seq, ack);
        let bytes = a.encode(&p, ext.as_ref(), |_| {});
        let ip = Ipv4Packet::new_checked(&bytes[..]).expect("IPv4");
        assert!(ip.verify_checksum() && ip.total_len() as usize == bytes.len());
        let repr = Ipv4Repr::parse(&ip, &ChecksumCapabilities::default()).expect("a header");
        let tcp = TcpPacket::new_checked(ip.payload()).expect("TCP");
        let (src, dst) = (repr.src_addr.into(), repr.dst_addr.into());
        assert!(tcp.verify_checksum(&src, &dst));
        // It knows one of FIN, PSH, .. at a time.
        if p.flags.has(TcpFlags::FIN) && p.flags.has(TcpFlags::PSH) {
            continue;
        }
        let read = TcpRepr::parse(&tcp, &src, &dst, &ChecksumCapabilities::default()).expect("a segment");
        assert_eq!(read.seq_number.0 as u32, (u32::MAX - 4095).wrapping_add(seq as u32));
        assert_eq!(read.ack_number.map(|n| n.0 as u32), Some(5u32.wrapping_add(ack as u32)));
        assert_eq!(u32::from(read.window_len) << 7, p.wnd.min(65_535 << 7));
        assert_eq!(read.timestamp.map(|t| (t.tsval, t.tsecr)), (p.ts_val != 0).then_some((p.ts_val, p.ts_ecr)));
        let blocks: Vec<_> = read.sack_ranges.iter().flatten().collect();
        assert_eq!(blocks.len(), ext.map_or(0, |e| e.sack.len()).min(3), "it keeps three");
    }
}

#[test]
fn damaged_short_and_strange_packets_are_refused_and_change_nothing() {
    let mut rng = Streams::new(5).named("damage");
    let [mut a, b] = lines([Some(7), None]);
    let mut refused = 0;
    for _ in 0..100_000 {
        let (seq, ack) = (1 + rng.below(1 << 20), 1 + rng.below(1 << 20));
        let (p, ext) = any(&mut rng, seq, ack);
        let mut bytes = a.encode(&Packet { payload: p.payload.min(60), ..p }, ext.as_ref(), |x| x.fill(0x5a));
        let mut b = b.clone();
        match rng.below(3) {
            0 => {
                bytes.truncate(rng.below(bytes.len() as u64) as usize);
                assert_eq!(b.decode(&bytes).err(), Some(Refused::Malformed));
            }
            1 => {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << rng.below(8);
                assert!(b.decode(&bytes).is_err(), "one bit never escapes a sum: {at}");
            }
            _ => {
                // Several bytes may cancel each other out; nothing panics then.
                for _ in 0..rng.below(8) {
                    let at = rng.below(bytes.len() as u64) as usize;
                    bytes[at] = rng.bits() as u8;
                }
                refused += u32::from(b.decode(&bytes).is_err());
            }
        }
    }
    assert!(refused > 20_000, "{refused}");
    let mut third = Line::new(Place { port: 10, ..A }, Some(B), 0);
    let bytes = third.encode(&syn(TcpFlags::SYN, None).0, None, |_| {});
    assert_eq!(b.clone().decode(&bytes).err(), Some(Refused::Stranger));
}

#[test]
fn a_sum_of_zero_may_be_written_in_either_form() {
    let [mut a, mut b] = lines([Some(7), Some(7)]);
    let bytes = (1..200_000)
        .map(|ts_val| {
            a.encode(&Packet { seq: 1, ack: 1, flags: TcpFlags::ACK, ts_val, ..Packet::default() }, None, |_| {})
        })
        .find(|bytes| bytes[36..38] == [0, 0])
        .expect("one sum in 65 536 is zero");
    b.decode(&bytes).expect("as written here");
    let mut as_linux = bytes.clone();
    as_linux[36..38].fill(0xff);
    b.decode(&as_linux).expect("as Linux writes it");
    as_linux[36] = 0xfe;
    assert_eq!(b.decode(&as_linux).err(), Some(Refused::Damaged));
}

#[test]
fn windows_are_scaled_only_when_both_ends_have_said_so() {
    for (scales, wnd) in [([Some(7), Some(3)], 1 << 20), ([Some(7), None], 65_535), ([None, Some(7)], 65_535)] {
        let [mut a, mut b] = lines(scales);
        let p = Packet { seq: 1, ack: 1, wnd: 1 << 20, flags: TcpFlags::ACK, ..Packet::default() };
        assert_eq!(b.decode(&a.encode(&p, None, |_| {})).expect("an ACK").packet.wnd, wnd, "{scales:?}");
    }
}
