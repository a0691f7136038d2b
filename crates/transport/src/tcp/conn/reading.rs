//! # Applications that read slowly
//!
//! **Source**: rfc9293 sections 3.8.6.2.2 (silly-window avoidance of the receiver) and 3.8.6 (the right edge never moves back);
//! linux-2.4 `cleanup_rbuf` and 4.4BSD `soreceive`, `tcp_output` (when reading alone makes the receiver speak).
//!
//! **Idea**: what has arrived in order and is not read yet takes room in the buffer, and the window is what is left. Its right
//! edge moves only by a segment or half the buffer at a time, so that nobody sends crumbs. When reading has made room for two
//! segments or half the buffer, an ACK says so; Linux 2.4 says so when the window has at least doubled.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `read_rate` | bit/s | at once | key of the workload `bulk` |
//! | `read_size` | B | 4096 | ours: a page of memory; key of the workload `bulk` |
//!
//! **Deviations**: 1. An ACK that waits for a second segment does not leave because its data has been read.
//!
//! **Checked by**: tapes `zero_window_*`, `slow_reader_*`; `crates/sim/tests/readers.rs`.

use super::super::params::TcpParams;
use super::receiver::{AT_ONCE, Receiver};

impl Receiver {
    /// From now on the application says when it reads ([`Receiver::read`]).
    pub fn wait_for_reads(&mut self) {
        if self.read_to == AT_ONCE {
            self.read_to = self.next.max(1);
        }
    }

    /// From now on the application reads whatever comes.
    pub fn read_at_once(&mut self) {
        self.read_to = AT_ONCE;
    }

    /// Bytes that have arrived in order and that nobody has read.
    #[inline]
    pub fn unread(&self) -> u64 {
        match self.read_to {
            AT_ONCE => 0,
            read_to => (1 + self.delivered()).saturating_sub(read_to),
        }
    }

    /// Bytes that take room: out of order, or unread.
    pub fn waiting(&self) -> u64 {
        self.buffered() + self.unread()
    }

    /// The application takes up to `most` bytes, and gets this many.
    pub fn read(&mut self, most: u64) -> u64 {
        let taken = self.unread().min(most);
        if taken > 0 {
            self.read_to += taken;
        }
        taken
    }

    /// The window grows no more.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.edge = self.next;
    }

    /// What is left of the buffer, as far as it is worth telling.
    #[cold]
    pub(super) fn window_beside_unread(&self, p: &TcpParams) -> u64 {
        let free = p.receiver.receive_buffer.0.saturating_sub(self.unread());
        let offered = self.edge.saturating_sub(self.next);
        let least = (p.receiver.receive_buffer.0 / 2).min(p.connection.mss.0);
        if free >= offered + least { free } else { offered }
    }

    /// Whether the application has made so much room that the peer should hear of it.
    pub(super) fn tells_of_room(&self, p: &TcpParams) -> bool {
        let offered = self.edge.saturating_sub(self.next);
        if self.stopped {
            return false;
        }
        match &self.growing {
            Some(g) => g.tells_of_room(offered, self.waiting()),
            None => {
                let more = self.window_beside_unread(p).saturating_sub(offered);
                more > 0 && more >= (p.receiver.receive_buffer.0 / 2).min(2 * p.connection.mss.0)
            }
        }
    }
}
