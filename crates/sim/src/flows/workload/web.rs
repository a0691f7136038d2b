//! # Web-like transfers
//!
//! **Source**: bhandarkar-2006 sections II.D.1.c and IV.C; ns-2.35 (`tcl/ex/large-scale-web-traffic.tcl`).
//!
//! **Idea**: one connection that stays open; transfers of a drawn `size` follow each other, `every` so often, counted from
//! the start of one to the start of the next. A transfer that comes while the last is not through waits behind it. Many
//! such connections make the load of many people who click. `tcp.idle_restart` says whether the window is kept.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `size` | B | Pareto, mean 12 kB, shape 1.2 | ns-2's web example (12 packets) |
//! | `every` | time | exponential, mean 15 s | the same: time between pages of one object |
//! | `transfers` | - | endless | - |
//!
//! **Deviations**: 1. The sources of chapters IV and V open a connection for each object (here it is kept: no handshake, and
//! a threshold from the transfer before). 2. One object a page.
//!
//! **Checked by**: `crates/sim/tests/web.rs`.

use crate::flows::port::EndIo;
use crate::flows::stream::Stream;
use crate::scenario::{self, Draw};
use crosswind_base::{Dur, Rng, Size, Time};
use crosswind_transport::tcp::Io;

/// The sender of transfers on one connection.
pub struct Web {
    size: Draw<Size>,
    every: Draw,
    /// Transfers still to begin; `None`: without end.
    left: Option<u64>,
    next_at: Option<Time>,
    rng: Rng,
}

impl Web {
    pub fn new(p: &scenario::Web, rng: Rng) -> Web {
        Web { size: p.size, every: p.every, left: p.transfers, next_at: None, rng }
    }

    /// When the next transfer begins.
    pub fn next_at(&self) -> Option<Time> {
        self.next_at
    }

    /// Begins what is due. The first transfer begins with the connection.
    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        let now = io.now();
        if conn.has_ended() {
            self.next_at = None;
            return;
        }
        if !conn.is_established() || self.left == Some(0) {
            return;
        }
        let mut due = *self.next_at.get_or_insert(now);
        let mut bytes = 0;
        while due <= now && self.left != Some(0) {
            bytes += self.size.draw(&mut self.rng).0.max(1);
            // A draw may round to nothing; time goes on.
            due += self.every.draw(&mut self.rng).max(Dur(1));
            self.left = self.left.map(|n| n - 1);
        }
        self.next_at = (self.left != Some(0)).then_some(due);
        if bytes > 0 {
            conn.write(bytes, io);
        }
        if self.left == Some(0) {
            conn.close(io);
        }
    }
}
