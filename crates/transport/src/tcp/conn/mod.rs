//! A connection: handshake and teardown around a sender and a receiver, and the headers that both share.
//!
//! **Source**: rfc9293 (state machine); rfc7323 (window scale, timestamps); [`super::ecn`] (marks).
//!
//! Sequence numbers are 64-bit offsets: the SYN is 0, data starts at 1, the FIN follows the data. What may enter a connection is
//! decided in `accept.rs`, how it begins in `handshake.rs`, how it ends in `ending.rs`.
//!
//! **Deviations**: 1. A connection exists once: after TIME-WAIT its ports are not used again.

pub mod accept;
pub mod ending;
pub mod habit;
mod handshake;
mod handshake_ecn;
pub mod keepalive;
pub mod ledger;
#[cfg(test)]
mod ledger_oracle;
pub mod live;
mod path_mtu;
pub mod quick;
pub mod reading;
pub mod recall;
mod received_ranges;
pub mod receiver;
pub mod rtt;
pub mod sack_compression;
pub mod scoreboard;
pub mod sending;
mod silence;
mod state;
pub mod window;
mod wire;

use super::facts::CloseRule;
use super::io::Io;
use super::law::{Controller, Law, Window};
use super::params::TcpParams;
use super::policies::Policies;
use super::sender::Sender;
use crosswind_base::packet::Ext;
use crosswind_base::probe::header_bits;
use crosswind_base::{EventKind, Moment, Packet, TcpFlags, Time};
use keepalive::Keepalive;
use receiver::Receiver;
use sack_compression::SackCompression;
use sending::Sending;
use state::{AckNow, Agreed, Challenges, Shaking, Verdict};
pub use state::{Opener, State};
use std::sync::Arc;
use wire::{ConnLine, IP_TCP_HEADER, header, send_ack};

pub struct Connection {
    params: Arc<TcpParams>,
    /// The segment size before the peer named its own.
    own_mss: u64,
    pub state: State,
    pub tx: Sending,
    pub rx: Receiver,
    agreed: Agreed,
    policies: Policies,
    /// When the connection itself wants to act: send the SYN or SYN-ACK again, or see whether the peer is alive.
    own_timer: Time,
    /// Which SYNs and SYN-ACKs have been seen and sent, as far as AccECN asks.
    shaking: Shaking,
    syn_sent_at: Time,
    pub syn_retransmissions: u32,
    /// Of those, sent although the first SYN had arrived (an oracle's view).
    pub syn_spurious: u32,
    /// Close as soon as the peer has closed.
    close_with_peer: CloseRule,
    /// The peer, as the host's cache of control blocks knows it.
    peer: u32,
    pub opened_at: Moment,
    pub established_at: Moment,
    pub closed_at: Moment,
    pub ssthresh_initial: u64,
    /// The SYN-ACK was retransmitted because the SYN came again: which one is being answered is unknown (Karn).
    answered_again: bool,
    /// The peer's FIN came before ours had left.
    closed_second: bool,
    /// Both directions are closed, not one (RFC 1122 section 4.2.2.13).
    shut: bool,
    /// Until when TIME-WAIT lasts.
    quiet_until: Time,
    keepalive: Option<Box<Keepalive>>,
    challenges: Challenges,
}

impl Connection {
    pub fn new(params: Arc<TcpParams>, peer: u32, close_with_peer: CloseRule) -> Connection {
        let (rx, policies) = (Receiver::new(&params), Policies::of(&params));
        let ssthresh_initial = params.window.initial_ssthresh.0;
        Connection {
            own_mss: params.connection.mss.0,
            params,
            state: State::Closed,
            tx: Sending::default(),
            rx,
            agreed: Agreed::new(policies.option_bytes),
            policies,
            own_timer: Time::NEVER,
            shaking: Shaking::default(),
            syn_sent_at: Time::ZERO,
            syn_retransmissions: 0,
            syn_spurious: 0,
            close_with_peer,
            peer,
            opened_at: Moment::NONE,
            established_at: Moment::NONE,
            closed_at: Moment::NONE,
            ssthresh_initial,
            answered_again: false,
            closed_second: false,
            shut: false,
            quiet_until: Time::ZERO,
            keepalive: None,
            challenges: Challenges::default(),
        }
    }

    pub fn params(&self) -> &TcpParams {
        &self.params
    }
    /// IP and TCP headers of a data segment.
    pub fn header_bytes(&self) -> u64 {
        u64::from(IP_TCP_HEADER) + if self.agreed.timestamps { self.agreed.option_bytes.stamped_data.into() } else { 0 }
    }
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Done | State::Aborted)
    }

    /// Sends the SYN.
    pub fn open(&mut self, io: &mut impl Io) {
        debug_assert_eq!(self.state, State::Closed);
        let now = io.now();
        self.state = State::SynSent;
        self.opened_at = now.into();
        io.note(EventKind::Open, 0, 0, 0);
        self.send_syn(io);
        self.own_timer = now + self.tx.rto(&self.params);
    }

    /// The application writes; returns nothing because the caller keeps to `tx.send_space`.
    pub fn write(&mut self, bytes: u64, io: &mut impl Io) {
        self.sender().write(bytes);
        self.push(io);
    }

    /// The application will write no more.
    pub fn close(&mut self, io: &mut impl Io) {
        self.sender().close();
        self.push(io);
    }

    /// Window and threshold: at the start, those that the law begins with.
    pub fn window(&self) -> Window {
        self.tx.get().map_or_else(|| Law::new(&self.params).window().clone(), |tx| tx.law.window().clone())
    }

    /// Room in the socket's send buffer.
    pub fn send_space(&self) -> u64 {
        self.tx.get().map_or(self.params.host.send_buffer.0, |tx| tx.send_space(&self.params))
    }

    /// Bytes that have been written and never sent.
    pub fn unsent(&self) -> u64 {
        self.tx.get().map_or(0, |tx| (tx.written() + 1).saturating_sub(tx.nxt))
    }

    /// Sends what may be sent.
    pub fn push(&mut self, io: &mut impl Io) {
        if self.state == State::Established && self.tx.get().is_some() {
            let (tx, mut line) = self.split(io);
            tx.0.transmit(tx.1, &mut line);
            self.settle(io);
        }
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        let (timer, alarm) = self.sender_wakes();
        if self.is_over() && timer == Time::NEVER {
            return None;
        }
        let first = timer.min(self.rx.delack_at).min(self.own_timer).min(alarm);
        (first != Time::NEVER).then_some(first)
    }

    /// When the sender wants to act: its retransmission timer, and what else.
    #[inline]
    fn sender_wakes(&self) -> (Time, Time) {
        self.tx.get().map_or((Time::NEVER, Time::NEVER), |tx| (tx.timer, tx.alarm()))
    }

    pub fn on_wake(&mut self, io: &mut impl Io) {
        let now = io.now();
        if self.own_timer <= now {
            match self.state {
                State::Established => self.on_silence(io),
                _ => self.on_syn_timeout(io),
            }
        }
        if self.rx.delack_at <= now {
            self.rx.waited();
            self.send_ack(io);
        }
        if self.sender_wakes().1 <= now {
            let (tx, mut line) = self.split(io);
            tx.0.on_alarm(tx.1, &mut line);
        }
        if self.sender_wakes().0 <= now {
            let (tx, mut line) = self.split(io);
            tx.0.on_timeout(tx.1, &mut line);
            if self.tx.get().is_some_and(|tx| tx.gave_up) {
                self.end(State::Aborted, io);
            }
        }
    }

    #[inline(always)]
    pub fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        if p.flags.has(TcpFlags::RST.with(TcpFlags::SYN)) {
            return self.on_control(p, ext, io);
        }
        match self.state {
            State::Established => {}
            State::SynReceived if p.ack == 1 => self.establish_passive(p, ext, io),
            State::Done if self.lingers(io.now()) => {}
            _ => return self.on_stray(p, io),
        }
        let had_payload = p.payload > 0 || p.flags.has(TcpFlags::FIN);
        match self.admit(p, had_payload) {
            Verdict::Take => {}
            other => return self.refuse(other, p, io),
        }
        if self.keepalive.is_some() {
            self.heard(io.now());
        }
        if had_payload && p.meta.is_rexmit() {
            self.on_peer_retransmission(io);
        }
        let sent_before = self.tx.stats().segments;
        let counted = if self.rx.feedback.counts_packets() { self.on_counted(p, ext) } else { AckNow::No };
        let answer = if had_payload { self.on_data(p, io) } else { AckNow::No };
        let answer = if counted == AckNow::Yes { counted } else { answer };
        if p.flags.has(TcpFlags::ACK) && p.ack >= 1 {
            self.on_ack(p, ext, io);
        }
        // A segment sent meanwhile has carried the acknowledgement.
        if answer == AckNow::Yes && self.tx.stats().segments == sent_before {
            self.send_ack(io);
        }
        self.settle(io);
    }

    #[inline]
    fn on_ack(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        if self.tx.get().is_none() {
            // Nothing has been sent that could be acknowledged.
            if p.ack == 1 {
                io.note(EventKind::Ack, p.ack, 0, header_bits(p));
                self.tx.open_window(p.ack + p.wnd as u64);
            }
            return;
        }
        let blocks = ext.map_or(&[][..], |e| e.sack.as_slice());
        let (tx, mut line) = self.split(io);
        tx.0.on_ack(p, blocks, tx.1, &mut line);
    }

    fn on_peer_retransmission(&mut self, io: &mut impl Io) {
        if self.tx.get().is_some() {
            let (tx, mut line) = self.split(io);
            tx.0.on_peer_retransmission(tx.1, &mut line);
        }
    }

    fn on_data(&mut self, p: &Packet, io: &mut impl Io) -> AckNow {
        if self.rx.learns() {
            self.rx.know(&self.tx.rtt(&self.params), &self.params);
        }
        if p.seq + u64::from(p.payload) + u64::from(p.flags.has(TcpFlags::FIN)) > self.rx.edge {
            return self.on_data_beyond(p, io);
        }
        self.take_data(p, io)
    }

    /// What lies in the window.
    #[inline]
    fn take_data(&mut self, p: &Packet, io: &mut impl Io) -> AckNow {
        if self.rx.feedback.settles_first(p) && self.rx.has_unacked() {
            self.send_ack(io);
        }
        let mut answer = self.rx.on_segment(p, &self.params, io.now());
        if answer == AckNow::Held {
            answer = self.hold_sack(io.now());
        }
        io.note(EventKind::Receive, p.seq, p.payload as u32, header_bits(p));
        if self.rx.fin_at.is_some() {
            self.on_fin(io);
        }
        answer
    }

    /// An ACK that could be held leaves at once where nothing but its number can be told.
    #[cold]
    fn hold_sack(&mut self, now: Time) -> AckNow {
        if !self.agreed.sack {
            return AckNow::Yes;
        }
        let trip = self.tx.rtt(&self.params).srtt;
        self.rx.hold(SackCompression::due(now, self.params.receiver.sack_compression, trip));
        AckNow::Held
    }

    /// The sending half, made now unless it has been.
    pub fn sender(&mut self) -> &mut Sender {
        self.tx.begin(&self.params, || self.agreed.terms(self.rx.feedback.agreed))
    }

    /// The usual header, with what is acknowledged and offered now.
    fn header(&self, flags: TcpFlags, now: Time) -> Packet {
        header(flags, now, &self.rx, &self.agreed, &self.params)
    }

    fn send_ack(&mut self, io: &mut impl Io) {
        send_ack(&mut self.rx, &self.agreed, &self.params, self.tx.nxt(), io);
    }

    #[allow(clippy::type_complexity)]
    fn split<'a, I: Io>(&'a mut self, io: &'a mut I) -> ((&'a mut Sender, &'a TcpParams), ConnLine<'a, I>) {
        let (ecn, agreed) = (self.rx.feedback.agreed, &self.agreed);
        let terms = || agreed.terms(ecn);
        let line = ConnLine { io, rx: &mut self.rx, agreed: self.agreed, params: &self.params };
        ((self.tx.begin(&self.params, terms), &self.params), line)
    }
}
