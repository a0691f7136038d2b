//! # Ping
//!
//! **Source**: gurtov-2004 sections 3.1 and 3.3.2 (delay of a ping, each way by itself).
//!
//! **Idea**: a datagram of `payload` bytes every `interval`; the other end answers each with one of the same length. Events of
//! the flow tell when each was sent and received, at both ends, so both ways can be told apart.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `payload` | B | 32 B | gurtov-2004 section 3.2 |
//! | `interval` | time | 1 s | `ping` |
//! | `packets` | packets | endless | - |
//!
//! **Deviations**: 1. UDP in place of ICMP: 28 bytes of headers in both cases.
//!
//! **Checked by**: `crates/sim/tests/datagrams.rs`.

use crate::scenario::{Cbr, Draw, Ping};

/// The asking end as a stream of datagrams.
pub fn asking(p: &Ping) -> Cbr {
    Cbr {
        payload: p.payload,
        interval: Some(p.interval),
        rate: None,
        packets: p.packets,
        bursts: 1,
        idle: Draw::default(),
    }
}
