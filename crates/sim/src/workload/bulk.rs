//! # Bulk transfer
//!
//! **Source**: jarvinen-2006 sections 2.7 and 3.3 (`ttcp` with a fixed write size).
//!
//! **Idea**: opens the connection, writes `size` bytes in pieces of `write` bytes whenever the socket has room for a whole
//! piece, then closes. Without a size it never ends.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `size` | B | endless | - |
//! | `write` | B | all at once | - |
//! | `close` | - | `fin` | rfc9293 |
//!
//! **Deviations**: none.
//!
//! **Checked by**: `crates/sim/tests/worlds.rs`.

use crate::scenario::{Bulk, Close};
use crosswind_transport::tcp::conn::State;
use crosswind_transport::tcp::{Connection, Io};

/// Endless transfers are topped up to this many unsent bytes; more than any window.
const ENDLESS_AHEAD: u64 = 1 << 40;

pub struct Sender {
    remaining: u64,
    /// Bytes per write.
    piece: u64,
    endless: bool,
    close: Close,
    closed: bool,
}

impl Sender {
    pub fn new(p: &Bulk) -> Sender {
        let remaining = p.size.map_or(ENDLESS_AHEAD, |s| s.0);
        Sender {
            remaining,
            piece: p.write.map_or(remaining, |w| w.0).max(1),
            endless: p.size.is_none(),
            close: p.close,
            closed: false,
        }
    }

    #[inline]
    pub fn run(&mut self, conn: &mut Connection, io: &mut impl Io) {
        if self.closed || conn.state != State::Established {
            return;
        }
        // Mostly the buffer has no room for a piece.
        let least = self.piece.min(self.remaining).min(conn.params().send_buffer.0 / 2);
        if self.remaining == 0 || conn.send_space() >= least {
            self.write_on(conn, io);
        }
    }

    #[inline(never)]
    fn write_on(&mut self, conn: &mut Connection, io: &mut impl Io) {
        while self.remaining > 0 {
            let space = conn.send_space();
            let piece = self.piece.min(self.remaining);
            // A write larger than the socket's buffer is accepted in parts, to its end.
            let buffer = conn.params().send_buffer.0;
            let fits = match self.piece > buffer {
                true if space >= piece.min(buffer / 2) => space.min(piece),
                false if space >= piece => piece,
                _ => 0,
            };
            if fits == 0 {
                return;
            }
            self.remaining -= fits;
            if self.remaining == 0 && !self.endless && self.close == Close::Fin {
                self.closed = true;
                conn.sender().write(fits);
                conn.close(io);
                return;
            }
            conn.write(fits, io);
        }
        if self.endless {
            self.remaining = ENDLESS_AHEAD;
        } else if self.close == Close::Fin && !self.closed {
            self.closed = true;
            conn.close(io);
        }
    }
}
