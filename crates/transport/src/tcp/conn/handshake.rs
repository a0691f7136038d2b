//! How a connection comes to be: SYN, SYN-ACK, ACK, what is agreed in them, and what follows when one is lost.
//!
//! Both ends may open at once (rfc9293 section 3.5, figure 8): each answers the other's SYN with a SYN-ACK.

use super::super::policies::{LateSyn, SynAckTimer, SynOptions, ThirdSegment};
use super::wire::IP_TCP_HEADER;
use super::{Connection, State};
use crate::tcp::facts::stamp;
use crate::tcp::io::Io;
use crosswind_base::packet::{AccEcnOption, Ext, Meta};
use crosswind_base::units::Size;
use crosswind_base::{EventKind, Packet, TcpFlags, Time};
use std::sync::Arc;

/// The segment size towards a peer that names none (rfc9293 section 3.7.1, MUST-15).
const MSS_UNNAMED: u64 = 536;

impl Connection {
    pub(super) fn on_syn(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        let now = io.now();
        let answer = p.flags.has(TcpFlags::ACK);
        match (self.state, answer) {
            (State::Closed, false) => {
                self.opened_at = now.into();
                self.answer_syn(p, ext, io);
                if self.policies.syn_ack_timer == SynAckTimer::Runs {
                    self.own_timer = now + self.tx.rto(&self.params);
                }
            }
            (State::SynReceived, false) => {
                // The SYN came again: our answer was lost, or is late.
                self.rx.cause = p.sent_at;
                self.answered_again = true;
                self.hear_syn_again(p);
                self.send_syn(io);
            }
            (State::SynSent, true) if p.ack == 1 => self.establish_active(p, ext, io),
            (State::SynSent, true) => self.on_stray(p, io),
            (State::SynSent, false) => {
                // Both ends open at the same time.
                self.answer_syn(p, ext, io);
                self.answered_again = true;
            }
            (State::SynReceived, true) if p.ack == 1 => {
                self.establish_passive(p, ext, io);
                self.push(io);
            }
            (State::SynReceived, true) => self.on_stray(p, io),
            (State::Established | State::Done, _) => {
                self.on_peer_retransmission(io);
                match self.policies.late_syn {
                    LateSyn::Ignored => {}
                    // The third segment of the handshake was lost.
                    _ if answer && p.seq == 0 => {
                        self.hear_syn_ack_again(p);
                        self.send_ack(io);
                    }
                    _ => self.challenge(io),
                }
            }
            (State::Closed | State::Aborted, _) => {}
        }
    }

    /// The first SYN of the peer is answered by a SYN-ACK.
    fn answer_syn(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        self.agree(p, ext);
        self.state = State::SynReceived;
        self.rx.answer_syn();
        self.rx.cause = p.sent_at;
        self.send_syn(io);
    }

    /// What both ends do when the connection exists.
    fn establish(&mut self, p: &Packet, io: &mut impl Io) {
        let now = io.now();
        self.state = State::Established;
        self.established_at = now.into();
        self.own_timer = Time::NEVER;
        self.watch_peer(now);
        self.recall(io);
        self.tx.open_window(1 + p.wnd as u64);
    }

    fn establish_active(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        let now = io.now();
        self.agree(p, ext);
        self.rx.next = 1;
        self.rx.begin();
        self.rx.cause = p.sent_at;
        self.establish(p, io);
        if self.syn_retransmissions == 0 {
            self.sample_handshake(now);
        } else {
            if p.cause < self.syn_sent_at {
                self.syn_spurious += 1;
            }
            self.restart_after_syn_loss(self.syn_retransmissions);
            self.sample_echo(p, now);
        }
        self.recall_path(io);
        self.conclude_ecn();
        if self.policies.third_segment == ThirdSegment::Ack {
            self.send_ack(io);
        }
        self.push(io);
    }

    pub(super) fn establish_passive(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        let now = io.now();
        self.establish(p, io);
        if self.syn_retransmissions > 0 {
            self.restart_after_syn_loss(0);
        } else if !self.answered_again {
            self.sample_handshake(now);
        }
        self.recall_path(io);
        self.hear_third(p, ext);
    }

    fn sample_handshake(&mut self, now: Time) {
        let rtt = now.since(self.syn_sent_at);
        self.tx.sample_handshake(rtt, now, &self.params, self.agreed.terms(self.rx.feedback.agreed));
    }

    /// `backoff`: how often the timer of our own SYN has been doubled.
    fn restart_after_syn_loss(&mut self, backoff: u32) {
        let params = self.params.clone();
        self.sender().restart_after_syn_loss(&params, backoff);
    }

    pub(super) fn agree(&mut self, p: &Packet, ext: Option<&Ext>) {
        let e = ext.copied().unwrap_or_default();
        let is_assumed = self.policies.syn_options == SynOptions::Assumed;
        self.agreed.sack = self.params.connection.sack.on() && (e.sack_permitted || is_assumed);
        self.agreed.timestamps = self.params.connection.timestamps.on() && p.ts_val != 0;
        self.agreed.scaled = is_assumed || (self.params.connection.window_scaling.on() && e.wscale.is_some());
        self.agree_on_ecn(p, ext);
        if !is_assumed {
            self.heed_mss(e.mss);
        }
        if let Some(tx) = self.tx.get_mut() {
            tx.use_sack(&self.params, self.agreed.sack);
        }
        self.rx.ts_recent = p.ts_val;
    }

    /// No segment is larger than the peer asks for, options included (rfc9293 section 3.7.1).
    fn heed_mss(&mut self, named: u16) {
        let named = if named == 0 { MSS_UNNAMED } else { u64::from(named) };
        let stamps = if self.agreed.timestamps { u64::from(self.agreed.option_bytes.stamped_data) } else { 0 };
        let options = stamps + self.agreed.option_room;
        let most = named.saturating_sub(options).max(1);
        if most < self.params.connection.mss.0 {
            let params = (*self.params).clone().with(|p| p.connection.mss = Size(most));
            if let Some(tx) = self.tx.get_mut() {
                tx.use_mss(most);
            }
            self.params = Arc::new(params);
        }
    }

    /// The size that our SYN names: a full segment, with the option that every segment may bear (rfc9293 section 3.7.1).
    fn mss_named(&self) -> u64 {
        let p = &self.params;
        let options = if p.connection.timestamps.on() { u64::from(self.agreed.option_bytes.stamped_data) } else { 0 };
        p.connection.mss_option.map_or(self.own_mss + options, |m| m.0)
    }

    pub(super) fn on_syn_timeout(&mut self, io: &mut impl Io) {
        self.syn_retransmissions += 1;
        if self.syn_retransmissions > self.params.timers.retries_max {
            self.end(State::Aborted, io);
            return;
        }
        self.on_syn_lost();
        io.note(EventKind::Timeout, 0, 0, 0);
        self.send_syn(io);
        self.own_timer = io.now() + self.tx.rto(&self.params);
    }

    /// Sends the SYN, or the SYN-ACK when one was received.
    pub(super) fn send_syn(&mut self, io: &mut impl Io) {
        let now = io.now();
        let answering = self.state == State::SynReceived;
        let (flags, ecn, accecn) = self.ask_for_ecn();
        let p = &self.params;
        let mut out = self.header(flags, now);
        out.set_ecn(ecn);
        out.seq = 0;
        out.wnd = self.rx.window(p).min(65535) as u32;
        if p.connection.timestamps.on() && (!answering || self.agreed.timestamps) {
            out.ts_val = stamp(now, self.params.connection.timestamp_tick);
        }
        if self.syn_retransmissions > 0 || self.answered_again {
            out.meta = Meta(out.meta.0 | Meta::REXMIT);
        }
        let is_bare = self.policies.syn_options == SynOptions::Assumed;
        let ext = Ext {
            mss: self.mss_named() as u16,
            wscale: (p.connection.window_scaling.on() && (!answering || self.agreed.scaled))
                .then_some(self.scale_shift()),
            sack_permitted: p.connection.sack.on() && (!answering || self.agreed.sack),
            accecn,
            ..Ext::default()
        };
        let options = accecn.map_or(0, AccEcnOption::padded_bytes)
            + 4
            + if ext.wscale.is_some() { 4 } else { 0 }
            + syn_sack_ts(ext.sack_permitted, out.ts_val != 0);
        out.len = if is_bare { IP_TCP_HEADER } else { IP_TCP_HEADER + options };
        self.syn_sent_at = now;
        self.rx.offer(out.wnd);
        io.send(out, if is_bare { None } else { Some(ext) });
    }

    /// RFC 7323: the smallest shift with which 16 bits cover the receive buffer.
    fn scale_shift(&self) -> u8 {
        (0..14).find(|s| self.params.receiver.receive_buffer.0 >> s <= 65535).unwrap_or(14)
    }
}

/// Length of SACK-permitted and timestamps on a SYN; the usual packing puts both in 12 bytes.
fn syn_sack_ts(sack: bool, ts: bool) -> u16 {
    match (sack, ts) {
        (false, false) => 0,
        (true, false) => 4,
        (_, true) => 12,
    }
}
