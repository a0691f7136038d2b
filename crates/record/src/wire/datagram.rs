//! What transports over UDP write into the beginning of its payload, big-endian, as captures show it.
//!
//! | TFRC data (RFC 5348 section 3.2.1) | bytes | TFRC feedback (section 3.2.2) | bytes |
//! |---|---|---|---|
//! | sequence number | 4 | time stamp of the last data packet, us | 4 |
//! | time stamp, us | 4 | time since it arrived, us | 4 |
//! | round-trip time of the sender, us | 4 | receive rate, B/s | 4 |
//! | urgent (1 bit), round (15 bits), t_RTO in ms (16 bits) | 4 | loss event rate, in 2^-32 | 4 |
//!
//! UDT: data begin with their number (4 bytes); control packets with 1 bit, 15 bits of type (2 ACK, 3 NAK, 6 ACK2; 1 for SABUL's
//! SYN) and 16 bits of the number of the ACK. An ACK goes on with the first packet that has not come, the round-trip time in
//! us, a zero word, and packets per second that arrive and that the path could carry. The list of a NAK is shown as zeros.

use crosswind_base::Packet;
use crosswind_base::packet::Datagram;

/// Bytes of these fields.
pub fn fields_len(p: &Packet) -> usize {
    match Datagram::of(p) {
        Datagram::Plain => 0,
        Datagram::TfrcData | Datagram::TfrcFeedback => 16,
        Datagram::UdtData | Datagram::UdtAck2 => 4,
        Datagram::UdtNak | Datagram::UdtAck | Datagram::SabulSyn => {
            usize::from(p.len).saturating_sub(28 + usize::from(p.payload))
        }
    }
}

/// A control packet of UDT: its type in the upper half of a word whose first bit is set, then its fields.
fn udt_control(p: &Packet, kind: Datagram, out: &mut Vec<u8>) {
    let start = out.len();
    let mut put = |word: u32| out.extend(word.to_be_bytes());
    match kind {
        Datagram::UdtAck => {
            put(0x8002_0000 | (p.seq as u32 & 0xffff));
            [p.ack as u32, p.ts_val, 0, p.wnd, p.ts_ecr].into_iter().for_each(put);
        }
        Datagram::UdtNak => put(0x8003_0000),
        Datagram::UdtAck2 => put(0x8006_0000 | (p.seq as u32 & 0xffff)),
        _ => put(0x8001_0000),
    }
    // The list of losses stands in the side table; a capture shows its length.
    out.resize(start + fields_len(p), 0);
}

/// Appends them.
pub fn fields(p: &Packet, out: &mut Vec<u8>) {
    let words = match Datagram::of(p) {
        Datagram::Plain => return,
        Datagram::TfrcData => [p.seq as u32, p.ts_val, p.ts_ecr, p.wnd],
        Datagram::TfrcFeedback => [p.ts_ecr, p.ts_val, p.wnd, p.ack as u32],
        Datagram::UdtData => [p.seq as u32, 0, 0, 0],
        kind => return udt_control(p, kind, out),
    };
    let n = fields_len(p) / 4;
    words[..n].iter().for_each(|w| out.extend(w.to_be_bytes()));
}
