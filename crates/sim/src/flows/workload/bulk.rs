//! # Bulk transfer
//!
//! **Source**: jarvinen-2006 sections 2.7 and 3.3 (`ttcp` with a fixed write size).
//!
//! **Idea**: opens the connection, writes `size` bytes in pieces of `write` bytes whenever the socket has room for a whole
//! piece, then closes. Without a size it never ends. A timeline may stop it (`sending = "off"`) and let it go on, and give a flow with
//! `close = "never"` a larger `size` later, or its end (`close = "fin"`). The other end reads at once, at `read_rate` or not at all (`reading = "off"`), and may have an
//! `answer`: it sends that after the FIN has come, and closes then (half-close).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `size` | B | endless | - |
//! | `write` | B | all at once | - |
//! | `close` | - | `fin` | rfc9293 |
//! | `sending` | - | `on` | ours: `off` holds back what has not left |
//! | `reading` | - | `on` | ours: `off` fills the buffer of the receiver |
//! | `read_rate`, `read_size` | bit/s, B | at once, 4096 | see the page of slow readers |
//! | `answer` | B | none | rfc9293 section 3.6: the peer may still send |
//!
//! **Deviations**: 1. `sending = "off"` stops what is in the socket, too: nothing leaves but retransmissions.
//!
//! **Checked by**: `crates/sim/tests/worlds.rs`, `crates/sim/tests/readers.rs`.

use crate::flows::port::EndIo;
use crate::flows::stream::{Stream, Wrote};
use crate::scenario::{Activity, Bulk, Close};

/// Endless transfers are topped up to this many unsent bytes; more than any window.
const ENDLESS_AHEAD: u64 = 1 << 40;

pub struct Sender {
    remaining: u64,
    /// Bytes per write.
    piece: u64,
    endless: bool,
    close: Close,
    closed: bool,
    sending: Activity,
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
            sending: p.sending,
        }
    }

    #[inline]
    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        if self.closed || !conn.is_established() || self.sending == Activity::Off {
            return;
        }
        // Mostly the buffer has no room for a piece.
        let least = self.piece.min(self.remaining).min(conn.buffer() / 2);
        if self.remaining == 0 || conn.space() >= least {
            self.write_on(conn, io);
        }
    }

    /// The timeline says what it is from now on; `old`: what it was.
    #[cold]
    pub fn go_on_as(&mut self, old: &Bulk, new: &Bulk, conn: &mut (impl Stream + ?Sized)) {
        let more = |b: &Bulk| b.size.map_or(0, |s| s.0);
        self.remaining += more(new) - more(old);
        self.close = new.close;
        if new.sending == Activity::Off && self.sending == Activity::On {
            let back = conn.take_back();
            self.closed &= conn.is_closing();
            self.remaining = if self.endless { ENDLESS_AHEAD } else { self.remaining + back };
        }
        self.sending = new.sending;
    }

    /// The writes that follow one that sent nothing, as far as they send nothing either: all at once, however small they are.
    fn write_quietly(&mut self, conn: &mut (impl Stream + ?Sized)) {
        // The last write is made by itself: the end of the transfer comes with it.
        let pieces = conn.quiet_space().min(self.remaining.saturating_sub(1)) / self.piece;
        conn.keep(pieces * self.piece);
        self.remaining -= pieces * self.piece;
    }

    #[inline(never)]
    fn write_on(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        while self.remaining > 0 {
            let space = conn.space();
            let piece = self.piece.min(self.remaining);
            // A write larger than the socket's buffer is accepted in parts, to its end.
            let buffer = conn.buffer();
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
                return conn.finish(fits, io);
            }
            if conn.write(fits, io) == Wrote::Kept {
                self.write_quietly(conn);
            }
        }
        if self.endless {
            self.remaining = ENDLESS_AHEAD;
        } else if self.close == Close::Fin && !self.closed {
            self.closed = true;
            conn.close(io);
        }
    }
}
