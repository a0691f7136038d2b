//! # Closed and small windows
//!
//! **Source**: rfc9293 sections 3.8.6.1 (zero-window probes), 3.8.6.2.1 (silly-window avoidance of the sender), 3.10.7.4 (which
//! segment tells of the window); linux-2.4 `tcp_write_wakeup`, `tcp_xmit_probe_skb`, `tcp_probe_timer` (its probes).
//!
//! **Idea**: nothing is under way, there is something to send, and the peer's window has no room for it: after one
//! retransmission timeout the window is probed, and again after twice as long each time, up to `rto_max`. What fits is
//! sent if it is at least half the largest window that the peer has offered; less waits for the probe's timer. The connection
//! lives as long as its probes are answered.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `window_probe` | - | `byte` | rfc9293 section 3.8.6.1; `linux`: an ACK just below the next byte |
//!
//! **Deviations**: 1. A window that shrinks below what is under way stops new data alone; retransmissions go on.
//!
//! **Checked by**: tapes `zero_window_*`, `small_window_*`, `shrunk_window_*`.

use super::Sender;
use super::state::{Line, Outgoing, real};
use crate::tcp::choices::WindowProbe;
use crate::tcp::params::TcpParams;
use crosswind_base::{Dur, Packet, Time};

impl Sender {
    /// The end of all that may be acknowledged.
    pub fn highest_sent(&self) -> u64 {
        self.nxt + u64::from(self.probing.beyond)
    }

    /// The peer tells of its window, unless something newer has. `before`: what was acknowledged up to now.
    #[inline]
    pub(super) fn hear_window(&mut self, pkt: &Packet, before: u64) {
        let edge = pkt.ack + u64::from(pkt.wnd);
        if pkt.ack > before || (pkt.ack == before && pkt.seq > self.window_seq) {
            self.window_edge = edge;
            self.window_seq = pkt.seq;
        } else {
            self.window_edge = self.window_edge.max(edge);
        }
        self.window_max = self.window_max.max(pkt.wnd.into());
    }

    /// Less than a segment fits: it is sent if it is much for this peer, else a timer runs until something is heard.
    #[cold]
    pub(super) fn send_part(&mut self, room: f64, p: &TcpParams, line: &mut impl Line) -> bool {
        let is_idle = self.outstanding() == 0;
        let fits = self.window_edge.saturating_sub(self.nxt).min(self.data_end - self.nxt);
        let is_much = fits > 0 && 2 * fits >= self.window_max && (is_idle || !p.host.nagle.on());
        // Of the last segment, the FIN alone may be too much.
        let is_rest = fits > 0 && fits == self.data_end - self.nxt;
        if (is_much || is_rest) && room >= real(fits) {
            self.emit_new(fits, false, p, line);
            return true;
        }
        if is_idle && self.timer == Time::NEVER {
            self.timer = line.now() + self.probe_wait(p);
        }
        false
    }

    fn probe_wait(&self, p: &TcpParams) -> Dur {
        let doubled = self.rtt.rto(p).0.saturating_mul(1 << self.probing.sent.min(30));
        Dur(doubled.min(p.timers.rto_max.0))
    }

    /// The timer has run out while nothing was under way: if the peer's window is in the way, it is probed.
    pub(super) fn probe_window(&mut self, p: &TcpParams, line: &mut impl Line) {
        let len = self.data_end.saturating_sub(self.nxt);
        let fin = self.closing && len <= p.connection.mss.0;
        let wants = len.min(p.connection.mss.0) + u64::from(fin);
        if self.outstanding() > 0 || self.sent_everything() || self.nxt + wants <= self.window_edge {
            return;
        }
        if self.probing.unanswered >= p.timers.retries_max {
            self.gave_up = true;
            return;
        }
        let fits = self.window_edge.saturating_sub(self.nxt).min(len);
        if fits > 0 {
            return self.emit_new(fits, false, p, line);
        }
        self.probing.sent += 1;
        self.probing.unanswered += 1;
        self.stats.window_probes += 1;
        let plain =
            Outgoing { seq: self.nxt, payload: 0, fin: false, retransmit: false, cwr: false, probe: true, push: false };
        line.emit(match p.timers.window_probe {
            WindowProbe::Byte if len == 0 => Outgoing { fin: true, ..plain },
            WindowProbe::Byte => Outgoing { payload: 1, ..plain },
            WindowProbe::AckBelow => Outgoing { seq: self.una - 1, ..plain },
        });
        self.probing.beyond |= p.timers.window_probe == WindowProbe::Byte;
        self.timer = line.now() + self.probe_wait(p);
    }

    /// Something acknowledges the byte of a probe: from now on it has been sent.
    #[cold]
    pub(super) fn register_probe(&mut self, ack: u64, now: Time) {
        if self.probing.beyond && ack == self.nxt + 1 {
            self.board.push(self.nxt, 1, now);
            // Which of the probes has arrived is unknown.
            self.board.retransmit(self.nxt, now);
            self.nxt += 1;
            self.probing.beyond = false;
        }
    }

    /// The peer lives, whatever its window.
    #[inline]
    pub(super) fn hear_probed(&mut self) {
        self.probing.unanswered = 0;
        if self.window_edge <= self.una {
            self.timeouts_in_a_row = 0;
        }
    }
}
