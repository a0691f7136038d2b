//! What routers tell hosts: that a packet was larger than a link takes (rfc1191).

use crate::ledger::TooBig;
use crate::world::World;
use crosswind_base::packet::{Meta, Proto};
use crosswind_base::{Packet, Vantage};

/// IP and ICMP headers, and what is quoted of the packet (rfc792).
const ICMP_BYTES: u16 = 56;

impl World<'_> {
    /// The router tells a sender what its link takes: the message begins behind the link's other direction.
    pub(crate) fn send_back(&mut self, t: TooBig) {
        let sent_by_sender = t.seen == Vantage::Sender;
        let end = 2 * t.flow.0 as usize;
        let (sender, route) = match sent_by_sender {
            true => (end, self.ends[end + 1].port().route()),
            false => (end + 1, self.ends[end].port().route()),
        };
        let way = &self.hops[route as usize..];
        // Where the way back does not cross this link, the message takes no time.
        let last = way.iter().position(|s| *s as usize == self.stages.len() + sender).unwrap_or(0);
        let behind = way[..last].iter().position(|s| *s == t.stage ^ 1).map_or(last, |i| i + 1);
        let id = self.pool.insert(Packet {
            sent_at: self.now,
            cause: self.now,
            seq: t.seq,
            flow: t.flow,
            wnd: t.mtu,
            hop: route + behind as u32,
            len: ICMP_BYTES,
            proto: Proto::Icmp,
            meta: Meta(if sent_by_sender { Meta::REVERSE } else { 0 }),
            ..Packet::default()
        });
        self.out.push(id);
    }
}
