//! # What may enter a connection
//!
//! **Source**: rfc9293 section 3.10.7 (order of checks, strays); rfc5961 sections 3 to 5 and 7 (challenge ACKs); rfc7323 section
//! 5.3 (PAWS); linux-2.4 `tcp_sequence`, `tcp_disordered_ack`.
//!
//! **Idea**: a segment is taken when its timestamp is not older than the one to be echoed, when it acknowledges nothing that was
//! never sent, and when it lies in the window. One that is refused is answered with an ACK. A reset counts if it stands exactly
//! where the next byte is expected; elsewhere in the window an ACK asks for it once more. Whoever no longer knows the
//! connection is answered with a reset.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `paws` | - | `rfc7323` | rfc7323 section 5; `linux` takes bare ACKs that are late |
//! | `reset_rule` | - | `rfc5961` | rfc5961 section 3.2; `rfc793`: any reset in the window counts, as Linux 2.4 has it |
//!
//! **Deviations**: 1. A timestamp does not grow too old to be compared (after 24 days). 2. Challenge ACKs are counted for each
//! connection, not for the host.
//!
//! **Checked by**: tapes `reset_*`, `paws_*`, `unsent_*`, `stray_*`.

use super::Connection;
use super::state::{AckNow, Challenges, State, Verdict};
use crate::tcp::choices::{Paws, ResetRule};
use crate::tcp::facts::is_older;
use crate::tcp::io::Io;
use crosswind_base::packet::Ext;
use crosswind_base::{Dur, Packet, TcpFlags, Time};

/// Challenge ACKs in a span (rfc5961 section 7).
const CHALLENGES_MAX: u32 = 10;
const CHALLENGES_SPAN: Dur = Dur::from_secs(5);

impl Connection {
    /// Whether a segment without SYN and RST may enter.
    #[inline]
    pub(super) fn admit(&self, p: &Packet, has_data: bool) -> Verdict {
        let is_late = self.agreed.timestamps && p.ts_val != 0 && is_older(p.ts_val, self.rx.ts_recent);
        if is_late && self.paws_drops(has_data) {
            return Verdict::Answer;
        }
        if p.ack > self.tx.nxt() && self.tx.get().is_none_or(|tx| p.ack > tx.highest_sent()) {
            return Verdict::Challenge;
        }
        // What has data and is old is counted, and answered, by the receiver.
        if !has_data && (p.seq < self.rx.acked_to() || p.seq > self.rx.edge) {
            return Verdict::Answer;
        }
        Verdict::Take
    }

    #[cold]
    fn paws_drops(&self, has_data: bool) -> bool {
        match self.params.connection.paws {
            Paws::Off => false,
            Paws::Rfc7323 => true,
            Paws::DataOnly => has_data,
        }
    }

    #[cold]
    pub(super) fn refuse(&mut self, verdict: Verdict, p: &Packet, io: &mut impl Io) {
        self.rx.stats.refused_segments += 1;
        if self.keepalive.is_some() && p.ack <= self.tx.nxt() {
            self.heard(io.now());
        }
        match verdict {
            Verdict::Challenge => self.challenge(io),
            _ => self.send_ack(io),
        }
    }

    /// Asks the peer whether it meant that (rfc5961 sections 3 to 5).
    pub(super) fn challenge(&mut self, io: &mut impl Io) {
        let now = io.now();
        if now.since(self.challenges.since) >= CHALLENGES_SPAN {
            self.challenges = Challenges { since: now, sent: 0 };
        }
        if self.challenges.sent < CHALLENGES_MAX {
            self.challenges.sent += 1;
            self.send_ack(io);
        }
    }

    /// A segment with RST or SYN.
    #[cold]
    pub(super) fn on_control(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        match p.flags.has(TcpFlags::RST) {
            true => self.on_reset(p, io),
            false => self.on_syn(p, ext, io),
        }
    }

    fn on_reset(&mut self, p: &Packet, io: &mut impl Io) {
        match self.state {
            State::Closed | State::Aborted => {}
            State::SynSent if p.flags.has(TcpFlags::ACK) && p.ack == 1 => self.end(State::Aborted, io),
            State::SynSent => {}
            // TIME-WAIT is over.
            State::Done => self.quiet_until = Time::ZERO,
            State::SynReceived | State::Established => {
                let is_exact = p.seq == self.rx.next;
                let is_inside = self.rx.next <= p.seq && p.seq < self.rx.edge;
                if is_exact || (is_inside && self.params.connection.reset_rule == ResetRule::Rfc793) {
                    self.end(State::Aborted, io);
                } else if is_inside {
                    self.challenge(io);
                }
            }
        }
    }

    /// A segment for which there is no connection (any more): rfc9293 section 3.10.7.1.
    #[cold]
    pub(super) fn on_stray(&mut self, p: &Packet, io: &mut impl Io) {
        let has_ack = p.flags.has(TcpFlags::ACK);
        let answers = match self.state {
            State::Aborted | State::Done => true,
            State::SynSent | State::SynReceived => has_ack && p.ack != 1,
            // An end that has not been opened yet listens.
            State::Closed => has_ack,
            State::Established => false,
        };
        if !answers {
            return;
        }
        let length = u64::from(p.payload) + u64::from(p.flags.has(TcpFlags::FIN));
        let mut out = match has_ack {
            true => Packet { seq: p.ack, ..self.header(TcpFlags::RST, io.now()) },
            false => Packet { seq: 0, ..self.header(TcpFlags::RST.with(TcpFlags::ACK), io.now()) },
        };
        (out.ack, out.wnd) = (if has_ack { 0 } else { p.seq + length }, 0);
        io.send(out, None);
    }

    /// Data that goes beyond the window that was offered: what lies within is taken (rfc9293 section 3.10.7.4).
    #[cold]
    pub(super) fn on_data_beyond(&mut self, p: &Packet, io: &mut impl Io) -> AckNow {
        if self.shut {
            return self.on_data_after_close(p, io);
        }
        let edge = self.rx.edge;
        self.rx.stats.refused_segments += 1;
        if p.seq >= edge || p.payload == 0 {
            self.rx.cause = p.sent_at;
            return AckNow::Yes;
        }
        let payload = u64::from(p.payload).min(edge - p.seq) as u16;
        let inside = Packet { payload, flags: TcpFlags(p.flags.0 & !TcpFlags::FIN.0), ..*p };
        self.take_data(&inside, io);
        AckNow::Yes
    }
}
