//! # How a connection ends
//!
//! **Source**: rfc9293 sections 3.6 (closing), 3.10.5 (abort), 3.10.7.4 (TIME-WAIT); rfc1122 section 4.2.2.13 (closing with data unread).
//!
//! **Idea**: each direction ends by itself (half-close). A connection is over when both have ended; the end that closed first
//! then answers a FIN that comes again, for twice the lifetime of a segment (TIME-WAIT), and the other one knows nothing
//! any more. No timer runs for that.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `time_wait` | time | 240 s | rfc9293 section 3.4.2: twice 2 minutes; Linux: 60 s |
//!
//! **Deviations**: none.
//!
//! **Checked by**: tapes `close_*`, `time_wait_*`, `shutdown_*`.

use super::super::sender::Sender;
use super::state::AckNow;
use super::wire::header;
use super::{Connection, State};
use crate::tcp::facts::CloseRule;
use crate::tcp::io::Io;
use crosswind_base::{EventKind, Packet, TcpFlags, Time};

impl Connection {
    /// Drops the connection at once and tells the peer.
    pub fn abort(&mut self, io: &mut impl Io) {
        if !self.is_over() {
            self.reset(self.tx.nxt(), io);
            self.end(State::Aborted, io);
        }
    }

    pub(super) fn reset(&mut self, seq: u64, io: &mut impl Io) {
        let flags = TcpFlags::RST.with(TcpFlags::ACK);
        let p = Packet { seq, ..header(flags, io.now(), &self.rx, &self.agreed, &self.params) };
        io.send(p, None);
    }

    /// The application will neither write nor read any more. What has not been read, or comes later, is answered with a reset.
    pub fn shut(&mut self, io: &mut impl Io) {
        if self.rx.unread() > 0 {
            return self.abort(io);
        }
        self.shut = true;
        self.rx.stop();
        self.close(io);
    }

    /// Nobody will read what comes now; the FIN alone is welcome.
    pub(super) fn on_data_after_close(&mut self, p: &Packet, io: &mut impl Io) -> AckNow {
        if p.payload == 0 && p.seq == self.rx.next {
            self.take_data(p, io);
            return AckNow::Yes;
        }
        self.abort(io);
        AckNow::No
    }

    /// What has not left is not to be sent for now; returns how many bytes these are.
    pub fn take_back(&mut self) -> u64 {
        self.tx.get_mut().map_or(0, Sender::take_back)
    }

    /// This end closes when its application says so, not with its peer.
    pub fn close_by_itself(&mut self) {
        self.close_with_peer = CloseRule::ByApplication;
    }

    /// The application takes up to `bytes` of what has arrived in order, and says how many it got.
    pub fn read(&mut self, bytes: u64, io: &mut impl Io) -> u64 {
        let taken = self.rx.read(bytes);
        if taken > 0 && !self.is_over() && self.state == State::Established {
            if self.rx.tells_of_room(&self.params) {
                self.send_ack(io);
            }
            self.close_if_read(io);
        }
        taken
    }

    /// The peer has closed, or had.
    pub(super) fn on_fin(&mut self, io: &mut impl Io) {
        if !self.rx.fin_reached() || self.state != State::Established {
            self.quiet_until = match self.state {
                State::Done => io.now() + self.params.connection.time_wait.0,
                _ => self.quiet_until,
            };
            return;
        }
        self.closed_second |= !self.fin_has_left();
        self.rx.stop();
        self.close_if_read(io);
    }

    fn close_if_read(&mut self, io: &mut impl Io) {
        if self.close_with_peer == CloseRule::WithPeer && self.rx.fin_reached() && self.rx.unread() == 0 {
            self.close(io);
        }
    }

    fn fin_has_left(&self) -> bool {
        self.tx.get().is_some_and(|tx| tx.is_closing() && tx.sent_everything())
    }
    fn fin_is_acked(&self) -> bool {
        self.tx.get().is_some_and(|tx| tx.is_closing() && tx.all_acked())
    }

    /// Ends the connection once both directions are complete.
    pub(super) fn settle(&mut self, io: &mut impl Io) {
        if self.state == State::Established && self.rx.fin_reached() && self.fin_is_acked() {
            self.end(State::Done, io);
        }
    }

    pub(super) fn end(&mut self, state: State, io: &mut impl Io) {
        if self.is_over() {
            return;
        }
        self.state = state;
        self.own_timer = Time::NEVER;
        if let Some(tx) = self.tx.get_mut() {
            tx.timer = Time::NEVER;
        }
        let now = io.now();
        self.closed_at = now.into();
        self.quiet_until = now + self.params.connection.time_wait.0;
        io.note(EventKind::Close, self.tx.nxt(), 0, 0);
        if state == State::Done {
            self.remember(now, io);
        }
    }

    /// In TIME-WAIT.
    pub(super) fn lingers(&self, now: Time) -> bool {
        self.state == State::Done && !self.closed_second && now < self.quiet_until
    }

    /// The state by its name in rfc9293 section 3.3.2.
    pub fn rfc_state(&self, now: Time) -> &'static str {
        match self.state {
            State::Closed => "listen",
            State::SynSent => "syn-sent",
            State::SynReceived => "syn-received",
            State::Done if self.lingers(now) => "time-wait",
            State::Done | State::Aborted => "closed",
            State::Established => match (self.fin_has_left(), self.rx.fin_reached()) {
                (false, false) => "established",
                (false, true) => "close-wait",
                (true, false) if self.fin_is_acked() => "fin-wait-2",
                (true, false) => "fin-wait-1",
                (true, true) if self.closed_second => "last-ack",
                (true, true) => "closing",
            },
        }
    }
}
