//! What a pure acknowledgement of a real host says, for queues in which it may give way to a newer one (RFC 9293, 2018, 7323).

use crate::frame::{Addresses, Header};
use crosswind_base::packet::{AckHeader, Proto};
use crosswind_base::{SackList, TcpFlags};

const IPV6_FIXED_BYTES: usize = 40;
const TCP_FIXED_BYTES: usize = 20;
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MD5: u8 = 19;

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |n, b| n << 8 | u32::from(*b))
}

/// Numbers and blocks of a segment without data. The frame has been parsed before.
pub fn read(frame: &[u8], h: &Header) -> Option<(AckHeader, SackList)> {
    let is_pure = h.protocol == Proto::Tcp.number() && h.ports.is_some() && h.payload == 0;
    if !is_pure || !h.tcp_flags.has(TcpFlags::ACK) {
        return None;
    }
    let start = match h.addresses {
        Addresses::V4(_) => usize::from(frame[0] & 15) * 4,
        Addresses::V6(_) => IPV6_FIXED_BYTES,
    };
    let tcp = frame.get(start..usize::from(h.len))?;
    let size = usize::from(tcp.get(12)? >> 4) * 4;
    let mut ack = AckHeader { ack: u64::from(word(tcp.get(8..12)?)), ..AckHeader::default() };
    let mut sack = SackList::EMPTY;
    // Reserved bits are set, among them AE; or headers of IPv6 stand before this one.
    ack.has_others = tcp[12] & 15 != 0 || size != tcp.len() || !options(&tcp[TCP_FIXED_BYTES..], &mut ack, &mut sack);
    Some((ack, sack))
}

/// Whether all options are known; timestamps and blocks are taken down.
fn options(mut left: &[u8], ack: &mut AckHeader, sack: &mut SackList) -> bool {
    while let Some(kind) = left.first() {
        match *kind {
            END_OF_OPTIONS => return true,
            NO_OPERATION => left = &left[1..],
            kind => {
                let size = left.get(1).map_or(0, |n| usize::from(*n));
                if size < 2 || size > left.len() {
                    return false;
                }
                let (body, rest) = (&left[2..size], &left[size..]);
                match kind {
                    TIMESTAMPS if size == 10 => (ack.ts_val, ack.ts_ecr) = (word(&body[..4]), word(&body[4..])),
                    SACK if body.len() % 8 == 0 => body.chunks_exact(8).for_each(|b| {
                        sack.push(u64::from(word(&b[..4])), u64::from(word(&b[4..])));
                    }),
                    MD5 => {}
                    _ => return false,
                }
                left = rest;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;

    /// IPv4 and TCP with these options and this flag byte, no data.
    fn segment(flags: u8, options: &[u8], data: &[u8]) -> Vec<u8> {
        let len = 40 + options.len() + data.len();
        let mut f = vec![0x45, 0, 0, len as u8, 0, 1, 0x40, 0, 64, 6, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2];
        let offset = ((20 + options.len()) / 4 * 16) as u8;
        f.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0xff, 0xee, 0, 2, offset, flags, 1, 0, 0, 0, 0, 0]);
        f.extend(options);
        f.extend(data);
        f
    }

    fn read_of(f: &[u8]) -> Option<(AckHeader, SackList)> {
        read(f, &frame::parse(f).expect("right lengths"))
    }

    #[test]
    fn numbers_timestamps_and_blocks_are_read() {
        let mut all = vec![1, 1, 8, 10, 0, 0, 1, 2, 0, 0, 3, 4, 1, 1, 5, 18];
        all.extend([0, 0, 0, 100, 0, 0, 0, 200, 0, 0, 1, 44, 0, 0, 1, 144]);
        let (ack, sack) = read_of(&segment(0x10, &all, b"")).expect("a pure acknowledgement");
        assert_eq!(ack, AckHeader { ack: 0xffee_0002, ts_val: 0x102, ts_ecr: 0x304, has_others: false });
        assert_eq!(sack.as_slice(), [(100, 200), (300, 400)]);
    }

    #[test]
    fn what_is_not_known_is_said_and_no_option_is_trusted() {
        assert_eq!(read_of(&segment(0x10, &[], b"x")), None);
        assert_eq!(read_of(&segment(0x02, &[], b"")), None);
        // AccECN, a length of zero, one beyond the header, a block cut short, an option of another length.
        for options in
            [&[172, 5, 0, 0, 0, 1, 1, 1][..], &[8, 0, 1, 1], &[5, 40, 0, 0], &[5, 6, 0, 0, 0, 0, 1, 1], &[8, 4, 0, 0]]
        {
            let (ack, _) = read_of(&segment(0x10, options, b"")).expect("a pure acknowledgement");
            assert!(ack.has_others, "{options:?}");
        }
        let mut reserved = segment(0x10, &[], b"");
        reserved[32] |= 1;
        assert!(read_of(&reserved).is_some_and(|(ack, _)| ack.has_others));
    }
}
