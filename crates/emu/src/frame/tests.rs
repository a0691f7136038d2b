use super::*;
use crosswind_base::{Rng, Streams};

/// The checksum of an IPv4 header computed from scratch; zero over a header that carries a right one.
fn full_checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn with_checksum(mut f: Vec<u8>) -> Vec<u8> {
    let header = usize::from(f[0] & 15) * 4;
    f[10..12].fill(0);
    let c = full_checksum(&f[..header]);
    f[10..12].copy_from_slice(&c.to_be_bytes());
    f
}

/// IPv4, TCP with 12 bytes of options, 5 bytes of data.
fn tcp_v4() -> Vec<u8> {
    let mut f = vec![0x45, 0x02, 0, 57, 0, 1, 0x40, 0, 64, 6, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2];
    f.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x80, 0x12, 1, 0, 0, 0, 0, 0]);
    f.extend([1; 12]);
    f.extend(b"hello");
    with_checksum(f)
}

/// IPv6 with a hop-by-hop header, UDP, 3 bytes of data.
fn udp_v6() -> Vec<u8> {
    let mut f = vec![0x6b, 0x91, 2, 3, 0, 19, 0, 64];
    f.extend([0xfd; 16]);
    f.extend([0xfe; 16]);
    f.extend([17, 0, 1, 4, 0, 0, 0, 0]);
    f.extend([0, 53, 4, 0, 0, 11, 0, 0]);
    f.extend(b"abc");
    f
}

#[test]
fn a_tcp_packet_over_ipv4_is_read() {
    let h = parse(&tcp_v4()).unwrap();
    assert_eq!(h.addresses, Addresses::V4([[198, 18, 0, 1], [198, 18, 0, 2]]));
    assert_eq!((h.len, h.ds, h.protocol, h.payload), (57, 2, 6, 5));
    assert_eq!((h.ports, h.tcp_flags), (Some([40000, 80]), TcpFlags(0x12)));
}

#[test]
fn a_udp_packet_over_ipv6_is_read_behind_its_extension_header() {
    let h = parse(&udp_v6()).unwrap();
    assert_eq!((h.len, h.ds, h.protocol, h.payload), (59, 0xb9, 17, 3));
    assert_eq!(h.ports, Some([53, 1024]));
}

#[test]
fn later_fragments_have_no_ports() {
    let mut f = tcp_v4();
    f[7] = 9;
    assert_eq!(parse(&with_checksum(f)).unwrap().ports, None);
    let mut f = udp_v6();
    f[6] = 44;
    f[42..44].copy_from_slice(&[0, 8]);
    assert_eq!(parse(&f).unwrap().ports, None);
    f[42..44].copy_from_slice(&[0, 1]);
    assert_eq!(parse(&f).unwrap().ports, Some([53, 1024]), "the first fragment has them");
}

#[test]
fn what_is_cut_short_or_nonsense_is_refused() {
    let f = tcp_v4();
    assert_eq!(parse(&[]), Err(Refused::Short));
    assert_eq!(parse(&f[..19]), Err(Refused::Short));
    assert_eq!(parse(&f[..56]), Err(Refused::Short), "the length claims more");
    assert_eq!(parse(&[0x55; 60]), Err(Refused::Malformed));
    let mut short_header = f.clone();
    short_header[0] = 0x44;
    assert_eq!(parse(&short_header), Err(Refused::Malformed));
    let mut short_tcp = f.clone();
    short_tcp[32] = 0x40;
    assert_eq!(parse(&short_tcp).unwrap().ports, None);
}

#[test]
fn padding_behind_a_packet_does_not_count() {
    let mut f = tcp_v4();
    f.extend([0; 9]);
    assert_eq!(parse(&f).unwrap().len, 57);
}

#[test]
fn every_ds_byte_keeps_the_ipv4_checksum_right() {
    for ds in 0..=255 {
        let mut f = tcp_v4();
        set_ds(&mut f, ds);
        assert_eq!(full_checksum(&f[..20]), 0, "{ds}");
        assert_eq!(parse(&f).unwrap().ds, ds);
    }
}

#[test]
fn ipv6_keeps_its_version_and_flow_label() {
    for ds in 0..=255 {
        let mut f = udp_v6();
        set_ds(&mut f, ds);
        assert_eq!((f[0] >> 4, f[1] & 15, &f[2..4]), (6, 1, &[2, 3][..]));
        assert_eq!(parse(&f).unwrap().ds, ds);
    }
}

fn random_bytes(rng: &mut Rng, n: u64) -> Vec<u8> {
    (0..n).map(|_| rng.bits() as u8).collect()
}

#[test]
fn any_bytes_are_read_or_refused() {
    let mut rng = Streams::new(1).named("frames");
    let mut read = 0;
    for _ in 0..20_000 {
        let n = rng.below(200);
        let mut f = random_bytes(&mut rng, n);
        if let Some(b) = f.first_mut() {
            *b = [0x40 | *b & 15, 0x60 | *b & 15, *b][rng.below(3) as usize];
        }
        // Lengths that could be true, so that more than the first test is reached.
        if rng.chance(0.7) && f.len() > 5 {
            let at = if f[0] >> 4 == 4 { 2 } else { 4 };
            f[at] = 0;
        }
        if let Ok(h) = parse(&f) {
            read += 1;
            assert!(usize::from(h.len) <= f.len() && h.payload < h.len, "{f:?}");
            let before = f.clone();
            set_ds(&mut f, h.ds);
            assert!(before[0] >> 4 != 6 || before == f);
        }
    }
    assert!(read > 1000, "{read} frames got past the length checks");
}

#[test]
fn damaged_packets_are_read_or_refused() {
    let mut rng = Streams::new(2).named("frames");
    for _ in 0..20_000 {
        let mut f = if rng.chance(0.5) { udp_v6() } else { tcp_v4() };
        for _ in 0..rng.below(6) {
            let at = rng.below(f.len() as u64) as usize;
            f[at] = rng.bits() as u8;
        }
        f.truncate(f.len() - rng.below(f.len() as u64 + 1) as usize * usize::from(rng.chance(0.3)));
        if let Ok(h) = parse(&f) {
            assert!(usize::from(h.len) <= f.len());
            set_ds(&mut f, !h.ds);
            assert_eq!(parse(&f).unwrap(), Header { ds: !h.ds, ..h });
        }
    }
}

#[test]
fn the_incremental_checksum_is_the_full_one() {
    let mut rng = Streams::new(3).named("frames");
    for _ in 0..20_000 {
        let mut f = random_bytes(&mut rng, 20);
        f[0] = 0x45;
        let mut f = with_checksum(f);
        set_ds(&mut f, rng.bits() as u8);
        assert_eq!(full_checksum(&f), 0, "{f:?}");
    }
}
