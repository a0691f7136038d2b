//! How far the window was used (Linux 3.16 and later: `tcp_cwnd_validate`, `tcp_is_cwnd_limited`).

use super::Sender;
use super::state::{Usage, real};
use crate::tcp::choices::GrowWhen;
use crate::tcp::law::Controller;
use crate::tcp::params::TcpParams;

impl Sender {
    /// An attempt to send is over; `has_sent` when something left.
    #[inline]
    pub(super) fn note_usage(&mut self, has_sent: bool, p: &TcpParams) {
        if p.window.grow_when != GrowWhen::FullInRound {
            return;
        }
        let is_full = real(self.in_flight(p) + p.connection.mss.0) > self.cwnd(p);
        if !has_sent && !is_full {
            return;
        }
        let out = self.board.len() as u64;
        let u = &mut self.usage;
        if self.una >= u.until || is_full || (!u.is_full && out > u.most_out) {
            *u = Usage { is_full, most_out: out, until: self.nxt };
        }
    }

    /// Whether the window limits the sender.
    #[inline]
    pub(super) fn is_limited_in_round(&self, p: &TcpParams) -> bool {
        let w = self.law.window();
        self.usage.is_full || (w.in_slow_start() && w.cwnd() < real(2 * self.usage.most_out * p.connection.mss.0))
    }
}
