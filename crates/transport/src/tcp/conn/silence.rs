//! Signs of life: what a connection does with its [`Keepalive`] (the page of keep-alives is in its file).

use super::Connection;
use super::keepalive::Keepalive;
use super::state::State;
use crate::tcp::io::Io;
use crosswind_base::{Packet, TcpFlags, Time};

impl Connection {
    /// The connection exists now.
    pub(super) fn watch_peer(&mut self, now: Time) {
        if self.params.connection.keepalive.is_on() {
            self.keepalive = Some(Box::new(Keepalive { heard_at: now, unanswered: 0 }));
            self.own_timer = now + self.params.connection.keepalive.idle;
        }
    }

    #[cold]
    pub(super) fn heard(&mut self, now: Time) {
        if let Some(k) = &mut self.keepalive {
            **k = Keepalive { heard_at: now, unanswered: 0 };
        }
    }

    /// It is time to see whether the peer is alive.
    pub(super) fn on_silence(&mut self, io: &mut impl Io) {
        let (now, params) = (io.now(), self.params.connection.keepalive);
        self.own_timer = Time::NEVER;
        let Some(k) = &mut self.keepalive else { return };
        let quiet_until = k.heard_at + params.idle;
        // What is under way has a timer of its own.
        let is_busy = self.tx.get().is_some_and(|tx| tx.outstanding() > 0 || tx.timer != Time::NEVER);
        if k.unanswered == 0 && (now < quiet_until || is_busy) {
            self.own_timer = if now < quiet_until { quiet_until } else { now + params.idle };
            return;
        }
        if k.unanswered >= params.probes {
            self.abort(io);
            return;
        }
        k.unanswered += 1;
        self.own_timer = now + params.interval;
        let seq = self.tx.nxt() - 1;
        io.send(Packet { seq, ..self.header(TcpFlags::ACK, now) }, None);
        debug_assert_eq!(self.state, State::Established);
    }
}
