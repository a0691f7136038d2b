//! What a connection does when a router says that its packets are too large (rfc1191; the page of the link's key `path_mtu`).

use super::{Connection, State};
use crate::tcp::io::Io;
use crosswind_base::units::Size;
use std::sync::Arc;

impl Connection {
    /// An ICMP message: the packet whose first byte was `seq` is longer than the `mtu` of a link on the way. Messages about what is
    /// not under way are not believed (rfc5927 section 4.1).
    pub fn on_too_big(&mut self, seq: u64, mtu: u64, io: &mut impl Io) {
        let fits = mtu.saturating_sub(self.header_bytes()).max(1);
        let is_ours = self.tx.get().is_some_and(|tx| tx.una <= seq && seq < tx.nxt);
        if self.state != State::Established || !is_ours || fits >= self.params.connection.mss.0 {
            return;
        }
        self.params = Arc::new((*self.params).clone().with(|p| p.connection.mss = Size(fits)));
        let (tx, mut line) = self.split(io);
        tx.0.cut_smaller(tx.1, &mut line);
    }
}
