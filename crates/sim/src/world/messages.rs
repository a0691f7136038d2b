//! What routers tell hosts: that a packet was larger than a link takes (rfc1191).

use super::ledger::TooBig;
use crosswind_base::packet::{Meta, Proto};
use crosswind_base::{Packet, Time, Vantage};

/// IP and ICMP headers, and what is quoted of the packet (rfc792).
const ICMP_BYTES: u16 = 56;

/// What the router tells a sender of its link: the message begins behind the link's other direction. `route`: where the way
/// to the sender begins in the table of `hops`; `sender`: its number as a stage.
pub fn too_big(t: &TooBig, now: Time, hops: &[u32], route: u32, sender: usize) -> Packet {
    let way = &hops[route as usize..];
    // Where the way back does not cross this link, the message takes no time.
    let last = way.iter().position(|s| *s as usize == sender).unwrap_or(0);
    let behind = way[..last].iter().position(|s| *s == t.stage ^ 1).map_or(last, |i| i + 1);
    Packet {
        sent_at: now,
        cause: now,
        seq: t.seq,
        ack: t.len.into(),
        flow: t.flow,
        wnd: t.mtu,
        hop: route + behind as u32,
        len: ICMP_BYTES,
        proto: Proto::Icmp,
        meta: Meta(if t.seen == Vantage::Sender { Meta::REVERSE } else { 0 }),
        ..Packet::default()
    }
}
