//! # UDP
//!
//! **Source**: rfc768; rfc3393 section 2 (delay variation of consecutive packets); rfc3357 section 2 (loss runs);
//! jarvinen-2006 section 4.
//!
//! **Idea**: the sender numbers its datagrams from 0 and forgets them; the receiver notes which came, in what order and
//! after which delay. Nothing is retransmitted and nothing is answered. A datagram's number stands in `Packet::seq`, the
//! burst that it belongs to in `Packet::ack`: both are for measurements, like a sequence number in the payload.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | (none) | | | what is sent, and when, is the workload's business |
//!
//! **Deviations**: 1. Never ECN-capable. 2. A delay variation across an idle period between two bursts is not counted.
//!
//! **Checked by**: `tests/oracle_udp.rs` (definitions written out over the whole list of packets), and
//! `crates/sim/tests/datagrams.rs`.

pub mod receiver;

pub use receiver::Receiver;

use crosswind_base::packet::Proto;
use crosswind_base::{Packet, Time};

/// IP and UDP headers.
pub const HEADERS_BYTES: u16 = 28;

/// The sending half: it counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender {
    pub packets: u64,
}

impl Sender {
    /// The next datagram of a burst.
    pub fn datagram(&mut self, payload: u16, burst: u64, now: Time) -> Packet {
        let seq = self.packets;
        self.packets += 1;
        Packet {
            sent_at: now,
            seq,
            ack: burst,
            len: payload + HEADERS_BYTES,
            payload,
            proto: Proto::UDP,
            ..Packet::default()
        }
    }
}
