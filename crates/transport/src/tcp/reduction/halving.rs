//! # Rate halving of Linux 2.4
//!
//! **Source**: linux-2.4 `net/ipv4/tcp_input.c` (`tcp_cwnd_down`, `tcp_complete_cwr`).
//!
//! **Idea**: when a recovery begins, the window stays. Every second ACK of the recovery takes one segment off it while it exceeds
//! half the threshold, and after every ACK it is at most what is in flight and one segment. At the end it is at most the threshold:
//! after many losses less, so that slow start follows.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `reduction` | - | `at-once` | `linux-2.4` in the preset `linux-2.4.17` |
//!
//! **Deviations**: 1. An ECN echo reduces at once, in the kernel it halves the rate too. 2. The kernel goes on counting ACKs in the
//! counter of congestion avoidance.
//!
//! **Checked by**: `reduction/halving_oracle.rs` (the kernel's integers, on random recoveries); the experiments of [Riva 2003].

/// One recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Halving {
    acks: u32,
}

/// The window and what bounds it, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub cwnd: f64,
    pub ssthresh: f64,
    /// In the network.
    pub pipe: f64,
}

impl Halving {
    /// The window after one more ACK, that which began the recovery included.
    pub fn on_ack(&mut self, b: Bounds) -> f64 {
        self.acks += 1;
        let falls = self.acks % 2 == 0 && b.cwnd > (b.ssthresh / 2.0).floor();
        let cwnd = if falls { b.cwnd - 1.0 } else { b.cwnd };
        cwnd.min(b.pipe + 1.0)
    }
}
