use super::*;
use crate::frame::parse;
use crosswind_base::{Rng, Streams};

const ROUTER: Router = Router { v4: [198, 18, 128, 1], v6: [0xfd; 16] };

/// The sum of RFC 1071, word by word and with the carry added at once: zero over what carries a right checksum.
fn left_over(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u16;
    for part in parts {
        for i in (0..part.len()).step_by(2) {
            let low = if i + 1 < part.len() { part[i + 1] } else { 0 };
            let (s, carry) = sum.overflowing_add(u16::from(part[i]) << 8 | u16::from(low));
            sum = s + u16::from(carry);
        }
    }
    !sum
}

fn v4(protocol: u8, flags: u16, options: &[u8], data: &[u8]) -> Vec<u8> {
    let header = 20 + options.len();
    let mut f = vec![0; 20];
    f[0] = 0x40 | (header / 4) as u8;
    f[2..4].copy_from_slice(&((header + data.len()) as u16).to_be_bytes());
    f[4..6].copy_from_slice(&[0x12, 0x34]);
    f[6..8].copy_from_slice(&flags.to_be_bytes());
    f[8..10].copy_from_slice(&[64, protocol]);
    f[12..20].copy_from_slice(&[198, 18, 0, 1, 198, 18, 0, 2]);
    f.extend(options);
    let sum = left_over(&[&f]);
    f[10..12].copy_from_slice(&sum.to_be_bytes());
    f.extend(data);
    f
}

fn v6(protocol: u8, data: &[u8]) -> Vec<u8> {
    let mut f = vec![0x60, 0, 0, 0];
    f.extend((data.len() as u16).to_be_bytes());
    f.extend([protocol, 64]);
    f.extend([0xfd, 0x63, 0x77, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    f.extend([0xfd, 0x63, 0x77, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    f.extend(data);
    f
}

fn data(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect()
}

fn fate(frame: &[u8], mtu: u16) -> Fate {
    decide(frame, &parse(frame).unwrap(), mtu, ROUTER)
}

#[test]
fn the_sender_of_an_unbreakable_packet_is_told_the_mtu_of_the_link() {
    let f = v4(6, DONT_FRAGMENT, &[], &data(1480));
    let Fate::Told(m) = fate(&f, 576) else { panic!("{:?}", fate(&f, 576)) };
    assert_eq!(m.len(), 576, "as much as fits into 576 bytes is quoted");
    assert_eq!((m[9], m[20], m[21]), (1, 3, 4), "ICMP, unreachable, fragmentation needed");
    assert_eq!(&m[26..28], &576u16.to_be_bytes(), "RFC 1191: the MTU in the lower half of the second word");
    assert_eq!((&m[12..16], &m[16..20]), (&ROUTER.v4[..], &[198, 18, 0, 1][..]));
    assert_eq!((left_over(&[&m[..20]]), left_over(&[&m[20..]])), (0, 0));
    assert_eq!(&m[28..], &f[..548]);
    assert_eq!(parse(&m).unwrap().len, 576);
}

#[test]
fn a_short_packet_is_quoted_whole() {
    let f = v4(17, DONT_FRAGMENT, &[], &data(81));
    let Fate::Told(m) = fate(&f, 100) else { panic!("{:?}", fate(&f, 100)) };
    assert_eq!((&m[28..], left_over(&[&m[20..]])), (&f[..], 0));
}

#[test]
fn the_sender_of_an_ipv6_packet_is_told_with_a_right_checksum_over_the_pseudo_header() {
    let f = v6(6, &data(1460));
    let Fate::Told(m) = fate(&f, 1400) else { panic!("{:?}", fate(&f, 1400)) };
    assert_eq!(m.len(), 1280, "as much as fits into the smallest MTU is quoted");
    assert_eq!((m[6], m[40], m[41]), (58, 2, 0), "ICMPv6, packet too big");
    assert_eq!(&m[44..48], &1400u32.to_be_bytes());
    assert_eq!((&m[8..24], &m[24..40]), (&ROUTER.v6[..], &f[8..24]));
    let length = (m.len() as u32 - 40).to_be_bytes();
    assert_eq!(left_over(&[&m[8..40], &length, &[0, 0, 0, 58], &m[40..]]), 0);
    assert_eq!(&m[48..], &f[..1232]);
}

#[test]
fn a_link_carries_1280_bytes_of_ipv6_whatever_its_mtu() {
    assert_eq!(fate(&v6(6, &data(1240)), 576), Fate::Passes);
    let Fate::Told(m) = fate(&v6(6, &data(1241)), 576) else { panic!("it is one byte longer") };
    assert_eq!(&m[44..48], &1280u32.to_be_bytes());
}

#[test]
fn nobody_is_told_of_errors_and_of_later_fragments() {
    for kind in ERRORS {
        let mut of_error = data(900);
        of_error[0] = kind;
        assert_eq!(fate(&v4(1, DONT_FRAGMENT, &[], &of_error), 576), Fate::Silent);
    }
    assert!(matches!(fate(&v4(1, DONT_FRAGMENT, &[], &[8; 900]), 576), Fate::Told(_)), "an echo is no error");
    assert_eq!(fate(&v4(17, DONT_FRAGMENT | 7, &[], &data(900)), 576), Fate::Silent);
    assert_eq!(fate(&v6(58, &[1; 1400]), 1280), Fate::Silent);
    assert!(matches!(fate(&v6(58, &[128; 1400]), 1280), Fate::Told(_)));
}

/// Puts pieces together as RFC 815 says, by offset.
fn reassembled(pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    for p in pieces {
        let header = usize::from(p[0] & 15) * 4;
        let at = usize::from(word(p, 6) & OFFSET) * 8;
        out.resize(out.len().max(at + p.len() - header), 0);
        out[at..at + p.len() - header].copy_from_slice(&p[header..]);
    }
    out
}

#[test]
fn pieces_fit_and_make_up_the_packet_again() {
    let mut rng: Rng = Streams::new(5).named("pieces");
    for _ in 0..300 {
        let (bytes, mtu) = (100 + rng.below(3000) as usize, 68 + rng.below(1500) as u16);
        let d = data(bytes);
        let f = v4(17, 0, &[], &d);
        if f.len() <= usize::from(mtu) {
            continue;
        }
        let Fate::Fragments(pieces) = fate(&f, mtu) else { panic!("{bytes} {mtu}") };
        assert_eq!(reassembled(&pieces), d);
        for (i, p) in pieces.iter().enumerate() {
            let is_last = i + 1 == pieces.len();
            assert!(p.len() <= usize::from(mtu) && parse(p).unwrap().len as usize == p.len());
            assert_eq!(left_over(&[&p[..20]]), 0);
            assert_eq!(&p[4..6], &f[4..6], "one identification");
            assert_eq!(word(p, 6) & MORE_FRAGMENTS != 0, !is_last);
            assert!(is_last || p.len() + 8 > usize::from(mtu), "none is shorter than it has to be");
        }
    }
}

#[test]
fn a_piece_that_is_cut_again_keeps_its_place() {
    let d = data(2000);
    let f = v4(17, 0, &[], &d);
    let again: Vec<_> = fragments(&f, 1500).unwrap().iter().flat_map(|p| fragments(p, 300).unwrap()).collect();
    assert_eq!(reassembled(&again), d);
    let last = again.iter().filter(|p| word(p, 6) & MORE_FRAGMENTS == 0).count();
    assert_eq!(last, 1);
}

#[test]
fn only_options_that_are_to_be_copied_are_in_later_pieces() {
    // Record route (7) is in the first piece only; a loose source route (131) in all of them.
    let options = [7, 7, 4, 0, 0, 0, 0, 131, 7, 4, 1, 2, 3, 4, 1, 0];
    let f = v4(17, 0, &options, &data(700));
    let pieces = fragments(&f, 576).unwrap();
    assert_eq!(&pieces[0][20..36], &options);
    assert_eq!((pieces[1][0], &pieces[1][20..28]), (0x47, &[131, 7, 4, 1, 2, 3, 4, 0][..]));
    assert_eq!(reassembled(&pieces), data(700));
    for p in &pieces {
        assert_eq!(left_over(&[&p[..usize::from(p[0] & 15) * 4]]), 0);
    }
}

#[test]
fn options_that_claim_what_cannot_be_do_no_harm() {
    for options in [[131, 0, 0, 0], [131, 200, 0, 0], [7, 1, 131, 2], [131, 3, 9, 131]] {
        let pieces = fragments(&v4(17, 0, &options, &data(200)), 100).unwrap();
        assert_eq!(reassembled(&pieces), data(200));
    }
}
