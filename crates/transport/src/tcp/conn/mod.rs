//! A connection: handshake and teardown around a sender and a receiver, and the headers that both share.
//!
//! **Source**: rfc9293 (state machine, without simultaneous open and TIME-WAIT); rfc7323 (window scale, timestamps);
//! rfc3168 section 6.1.1 (ECN negotiation).
//!
//! Sequence numbers are 64-bit offsets: the SYN is 0, data starts at 1, the FIN follows the data.
//!
//! **Deviations**: 1. TIME-WAIT is not modelled: a closed connection keeps answering and costs nothing. 2. Persist
//! probes are not modelled: applications read at once, so a window closes only while a hole is being repaired, and the
//! retransmission timer covers that.

pub mod habit;
mod islands;
pub mod live;
pub mod quick;
pub mod recall;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sending;
pub mod window;

use super::law::{Law, Window, WindowLaw};
use super::params::{Handshake, TcpParams};
use super::sender::{Line, Outgoing, Sender};
use super::{CloseRule, Io, stamp};
use crosswind_base::packet::{Ext, Meta};
use crosswind_base::probe::header_bits;
use crosswind_base::{Dur, Ecn, EventKind, Moment, Packet, TcpFlags, Time};
use receiver::{AckNow, Receiver};
use sending::{Sending, Terms};
use std::sync::Arc;

/// Which end sends the SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opener {
    Active,
    Passive,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Closed,
    SynSent,
    SynReceived,
    Established,
    /// Both directions are finished.
    Done,
    /// Reset, or given up after too many timeouts.
    Aborted,
}

/// What was agreed in the handshake.
#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    sack: bool,
    timestamps: bool,
    scaled: bool,
}

impl Agreed {
    fn terms(self, ecn: bool) -> Terms {
        Terms { sack: self.sack, ecn, timestamps: self.timestamps }
    }
}

pub struct Connection {
    params: Arc<TcpParams>,
    pub state: State,
    pub tx: Sending,
    pub rx: Receiver,
    agreed: Agreed,
    /// When to send the SYN or SYN-ACK again.
    syn_timer: Time,
    syn_sent_at: Time,
    pub syn_resends: u32,
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
    /// The SYN-ACK was sent again because the SYN came again: which one is being answered is unknown (Karn).
    answered_again: bool,
}

const IP_TCP_HEADER: u16 = 40;

impl Connection {
    pub fn new(params: Arc<TcpParams>, peer: u32, close_with_peer: CloseRule) -> Connection {
        let rx = Receiver::new(&params);
        let ssthresh_initial = params.initial_ssthresh.0;
        Connection {
            params,
            state: State::Closed,
            tx: Sending::default(),
            rx,
            agreed: Agreed::default(),
            syn_timer: Time::NEVER,
            syn_sent_at: Time::ZERO,
            syn_resends: 0,
            syn_spurious: 0,
            close_with_peer,
            peer,
            opened_at: Moment::NONE,
            established_at: Moment::NONE,
            closed_at: Moment::NONE,
            ssthresh_initial,
            answered_again: false,
        }
    }

    pub fn params(&self) -> &TcpParams {
        &self.params
    }
    /// IP and TCP headers of a data segment.
    pub fn header_bytes(&self) -> u64 {
        u64::from(IP_TCP_HEADER) + if self.agreed.timestamps { timestamps_bytes(&self.params) } else { 0 }
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
        self.syn_timer = now + self.tx.rto(&self.params);
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
        self.tx.get().map_or(self.params.send_buffer.0, |tx| tx.send_space(&self.params))
    }

    /// Sends what may be sent.
    pub fn push(&mut self, io: &mut impl Io) {
        if self.state == State::Established && self.tx.get().is_some() {
            let (tx, mut line) = self.split(io);
            tx.0.transmit(tx.1, &mut line);
            self.settle(io);
        }
    }

    /// Drops the connection at once and tells the peer.
    pub fn abort(&mut self, io: &mut impl Io) {
        if !self.is_over() {
            self.reset(self.tx.nxt(), io);
            self.end(State::Aborted, io);
        }
    }

    fn reset(&mut self, seq: u64, io: &mut impl Io) {
        let mut p = self.header(TcpFlags::RST.with(TcpFlags::ACK), io.now());
        p.seq = seq;
        io.send(p, None);
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        let (timer, alarm) = self.sender_wakes();
        if self.is_over() && timer == Time::NEVER {
            return None;
        }
        let first = timer.min(self.rx.delack_at).min(self.syn_timer).min(alarm);
        (first != Time::NEVER).then_some(first)
    }

    /// When the sender wants to act: its retransmission timer, and what else.
    #[inline]
    fn sender_wakes(&self) -> (Time, Time) {
        self.tx.get().map_or((Time::NEVER, Time::NEVER), |tx| (tx.timer, tx.alarm()))
    }

    pub fn on_wake(&mut self, io: &mut impl Io) {
        let now = io.now();
        if self.syn_timer <= now {
            self.on_syn_timeout(io);
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

    pub fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        if p.flags.has(TcpFlags::RST) {
            self.end(State::Aborted, io);
            return;
        }
        if p.flags.has(TcpFlags::SYN) {
            self.on_syn(p, ext, io);
            return;
        }
        match self.state {
            State::SynReceived if p.ack >= 1 => self.establish_passive(p, io),
            // RFC 9293 section 3.10.7.1: data for a connection that is no more is answered with a reset.
            State::Aborted if p.payload > 0 => return self.reset(p.ack, io),
            State::Closed | State::SynSent | State::SynReceived | State::Aborted => return,
            State::Established | State::Done => {}
        }
        let had_payload = p.payload > 0 || p.flags.has(TcpFlags::FIN);
        if had_payload && p.meta.is_rexmit() {
            self.on_peer_resend(io);
        }
        let sent_before = self.tx.stats().segments;
        let answer = if had_payload { self.on_data(p, io) } else { AckNow::No };
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

    fn on_peer_resend(&mut self, io: &mut impl Io) {
        if self.tx.get().is_some() {
            let (tx, mut line) = self.split(io);
            tx.0.on_peer_resend(tx.1, &mut line);
        }
    }

    fn on_data(&mut self, p: &Packet, io: &mut impl Io) -> AckNow {
        if self.rx.learns() {
            self.rx.know(&self.tx.rtt(&self.params), &self.params);
        }
        let answer = self.rx.on_segment(p, &self.params, io.now());
        io.note(EventKind::Receive, p.seq, p.payload as u32, header_bits(p));
        if self.rx.fin_reached() && self.close_with_peer == CloseRule::WithPeer && self.state == State::Established {
            self.close(io);
        }
        answer
    }

    /// Ends the connection once both directions are complete.
    fn settle(&mut self, io: &mut impl Io) {
        let is_closed = |tx: &Sender| tx.is_closing() && tx.all_acked();
        if self.state == State::Established && self.rx.fin_reached() && self.tx.get().is_some_and(is_closed) {
            self.end(State::Done, io);
        }
    }

    fn end(&mut self, state: State, io: &mut impl Io) {
        if self.is_over() {
            return;
        }
        self.state = state;
        self.syn_timer = Time::NEVER;
        if let Some(tx) = self.tx.get_mut() {
            tx.timer = Time::NEVER;
        }
        let now = io.now();
        self.closed_at = now.into();
        io.note(EventKind::Close, self.tx.nxt(), 0, 0);
        if state == State::Done {
            self.remember(now, io);
        }
    }

    fn on_syn(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        let now = io.now();
        let answer = p.flags.has(TcpFlags::ACK);
        match (self.state, answer) {
            (State::Closed, false) => {
                self.agree(p, ext);
                self.state = State::SynReceived;
                self.opened_at = now.into();
                self.rx.answer_syn();
                self.rx.cause = p.sent_at;
                self.send_syn(io);
                if self.params.handshake != Handshake::Ns2 {
                    self.syn_timer = now + self.tx.rto(&self.params);
                }
            }
            (State::SynReceived, false) => {
                // The SYN came again: our answer was lost, or is late.
                self.rx.cause = p.sent_at;
                self.answered_again = true;
                self.send_syn(io);
            }
            (State::SynSent, true) => self.establish_active(p, ext, io),
            (State::Established | State::Done, _) => {
                self.on_peer_resend(io);
                if self.params.handshake != Handshake::Ns2 {
                    self.send_ack(io);
                }
            }
            _ => {}
        }
    }

    fn establish_active(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut impl Io) {
        let now = io.now();
        self.agree(p, ext);
        self.rx.next = 1;
        self.rx.cause = p.sent_at;
        self.state = State::Established;
        self.established_at = now.into();
        self.syn_timer = Time::NEVER;
        self.recall(io);
        self.tx.open_window(1 + p.wnd as u64);
        if self.syn_resends == 0 {
            self.sample_handshake(now);
        } else {
            if p.cause < self.syn_sent_at {
                self.syn_spurious += 1;
            }
            self.restart_after_syn_loss(self.syn_resends);
            self.sample_echo(p, now);
        }
        self.recall_path(io);
        if self.params.handshake != Handshake::Ns2 {
            self.send_ack(io);
        }
        self.push(io);
    }

    fn establish_passive(&mut self, p: &Packet, io: &mut impl Io) {
        let now = io.now();
        self.state = State::Established;
        self.established_at = now.into();
        self.syn_timer = Time::NEVER;
        self.recall(io);
        self.tx.open_window(1 + p.wnd as u64);
        if self.syn_resends > 0 {
            self.restart_after_syn_loss(0);
        } else if !self.answered_again {
            self.sample_handshake(now);
        }
        self.recall_path(io);
    }

    fn sample_handshake(&mut self, now: Time) {
        let rtt = now.since(self.syn_sent_at);
        self.tx.sample_handshake(rtt, now, &self.params, self.agreed.terms(self.rx.ecn));
    }

    /// `backoff`: how often the timer of our own SYN has been doubled.
    fn restart_after_syn_loss(&mut self, backoff: u32) {
        let params = self.params.clone();
        self.sender().restart_after_syn_loss(&params, backoff);
    }

    /// The sending half, made now unless it has been.
    pub fn sender(&mut self) -> &mut Sender {
        self.tx.begin(&self.params, || self.agreed.terms(self.rx.ecn))
    }

    fn agree(&mut self, p: &Packet, ext: Option<&Ext>) {
        let e = ext.copied().unwrap_or_default();
        let ns2 = self.params.handshake == Handshake::Ns2;
        self.agreed.sack = self.params.sack.on() && (e.sack_permitted || ns2);
        self.agreed.timestamps = self.params.timestamps.on() && p.ts_val != 0;
        self.agreed.scaled = ns2 || (self.params.window_scaling.on() && e.wscale.is_some());
        let wants_ecn = p.flags.has(TcpFlags::ECE);
        self.rx.ecn = self.params.ecn.on() && wants_ecn;
        if let Some(tx) = self.tx.get_mut() {
            tx.use_sack(&self.params, self.agreed.sack);
            tx.ecn.active = self.rx.ecn;
        }
        self.rx.ts_recent = p.ts_val;
    }

    fn on_syn_timeout(&mut self, io: &mut impl Io) {
        self.syn_resends += 1;
        if self.syn_resends > self.params.retries_max {
            self.end(State::Aborted, io);
            return;
        }
        self.on_syn_lost();
        io.note(EventKind::Timeout, 0, 0, 0);
        self.send_syn(io);
        self.syn_timer = io.now() + self.tx.rto(&self.params);
    }

    /// Sends the SYN, or the SYN-ACK when one was received.
    fn send_syn(&mut self, io: &mut impl Io) {
        let now = io.now();
        let answering = self.state == State::SynReceived;
        let mut flags = TcpFlags::SYN;
        let p = &self.params;
        if answering {
            flags = flags.with(TcpFlags::ACK);
            if self.rx.ecn {
                flags = flags.with(TcpFlags::ECE);
            }
        } else if p.ecn.on() {
            flags = flags.with(TcpFlags::ECE).with(TcpFlags::CWR);
        }
        let mut out = self.header(flags, now);
        out.seq = 0;
        out.wnd = self.rx.window(p).min(65535) as u32;
        if p.timestamps.on() && (!answering || self.agreed.timestamps) {
            out.ts_val = stamp(now, self.params.timestamp_tick);
        }
        if self.syn_resends > 0 || self.answered_again {
            out.meta = Meta(out.meta.0 | Meta::REXMIT);
        }
        let ns2 = p.handshake == Handshake::Ns2;
        let ext = Ext {
            mss: p.mss.0 as u16,
            wscale: (p.window_scaling.on() && (!answering || self.agreed.scaled)).then_some(self.scale_shift()),
            sack_permitted: p.sack.on() && (!answering || self.agreed.sack),
            ..Ext::default()
        };
        let options = 4 + if ext.wscale.is_some() { 4 } else { 0 } + syn_sack_ts(ext.sack_permitted, out.ts_val != 0);
        out.len = if ns2 { IP_TCP_HEADER } else { IP_TCP_HEADER + options };
        self.syn_sent_at = now;
        io.send(out, if ns2 { None } else { Some(ext) });
    }

    /// RFC 7323: the smallest shift with which 16 bits cover the receive buffer.
    fn scale_shift(&self) -> u8 {
        (0..14).find(|s| self.params.receive_buffer.0 >> s <= 65535).unwrap_or(14)
    }

    fn header(&self, flags: TcpFlags, now: Time) -> Packet {
        header(flags, now, &self.rx, &self.agreed, &self.params)
    }

    fn send_ack(&mut self, io: &mut impl Io) {
        send_ack(&mut self.rx, &self.agreed, &self.params, self.tx.nxt(), io);
    }

    #[allow(clippy::type_complexity)]
    fn split<'a, I: Io>(&'a mut self, io: &'a mut I) -> ((&'a mut Sender, &'a TcpParams), ConnLine<'a, I>) {
        let (ecn, agreed) = (self.rx.ecn, &self.agreed);
        let terms = || agreed.terms(ecn);
        let line = ConnLine { io, rx: &mut self.rx, agreed: self.agreed, params: &self.params };
        ((self.tx.begin(&self.params, terms), &self.params), line)
    }
}

/// Length of the timestamps option of a data segment, padded; ns-2 counts the option alone.
fn timestamps_bytes(p: &TcpParams) -> u64 {
    if p.handshake == Handshake::Ns2 { 10 } else { 12 }
}

/// Length of SACK-permitted and timestamps on a SYN; the usual packing puts both in 12 bytes.
fn syn_sack_ts(sack: bool, ts: bool) -> u16 {
    match (sack, ts) {
        (false, false) => 0,
        (true, false) => 4,
        (_, true) => 12,
    }
}

#[inline(always)]
fn header(flags: TcpFlags, now: Time, rx: &Receiver, agreed: &Agreed, p: &TcpParams) -> Packet {
    let stamped = agreed.timestamps;
    Packet {
        sent_at: now,
        cause: rx.cause,
        ack: rx.next,
        wnd: rx.window(p).min(if agreed.scaled { 1 << 30 } else { 65535 }) as u32,
        ts_val: if stamped { stamp(now, p.timestamp_tick) } else { 0 },
        ts_ecr: if stamped { rx.ts_recent } else { 0 },
        // ns-2's sinks count nothing for the option.
        len: IP_TCP_HEADER + if stamped && p.handshake != Handshake::Ns2 { 12 } else { 0 },
        flags,
        ..Packet::default()
    }
}

fn send_ack(rx: &mut Receiver, agreed: &Agreed, p: &TcpParams, seq: u64, io: &mut impl Io) {
    let mut flags = TcpFlags::ACK;
    if rx.echoes() {
        flags = flags.with(TcpFlags::ECE);
    }
    let mut out = Packet { seq, ..header(flags, io.now(), rx, agreed, p) };
    let sack = if agreed.sack { rx.sack_blocks(p.sack_blocks) } else { None };
    if rx.repeats_ack() {
        io.send(out, None);
    }
    rx.acked();
    let ext = sack.map(|sack| {
        // ns-2 counts the blocks alone, not the option around them.
        let option_header = if p.handshake == Handshake::Ns2 { 0 } else { 4 };
        out.len += option_header + 8 * sack.len() as u16;
        Ext { sack, ..Ext::default() }
    });
    io.send(out, ext);
}

/// Puts the sender's segments on the wire with the receiver's acknowledgement in them.
struct ConnLine<'a, I: Io> {
    io: &'a mut I,
    rx: &'a mut Receiver,
    agreed: Agreed,
    params: &'a TcpParams,
}

impl<I: Io> Io for ConnLine<'_, I> {
    fn now(&self) -> Time {
        self.io.now()
    }
    #[inline(always)]
    fn send(&mut self, p: Packet, ext: Option<Ext>) {
        self.io.send(p, ext);
    }
    #[inline]
    fn note(&mut self, kind: EventKind, seq: u64, len: u32, aux: u32) {
        self.io.note(kind, seq, len, aux);
    }
    #[inline]
    fn is_watched(&self) -> bool {
        self.io.is_watched()
    }
    #[inline]
    fn is_mortal(&self) -> bool {
        self.io.is_mortal()
    }
    fn waits(&mut self, timeout: Dur) {
        self.io.waits(timeout);
    }
    fn shared(&mut self) -> Option<&mut super::share::Cache> {
        self.io.shared()
    }
}

impl<I: Io> Line for ConnLine<'_, I> {
    #[inline(always)]
    fn emit(&mut self, s: Outgoing) {
        let mut flags = if s.fin || s.cwr || s.push { s.flags() } else { TcpFlags::ACK };
        if self.rx.echoes() {
            flags = flags.with(TcpFlags::ECE);
        }
        let mut p = header(flags, self.io.now(), self.rx, &self.agreed, self.params);
        p.seq = s.seq;
        p.payload = s.payload as u16;
        p.len += s.payload as u16;
        if self.agreed.timestamps && self.params.handshake == Handshake::Ns2 {
            p.len += timestamps_bytes(self.params) as u16;
        }
        p.set_ecn(if s.ect { Ecn::Ect0 } else { Ecn::NotEct });
        let kind = if s.resend { EventKind::Resend } else { EventKind::Send };
        if s.resend {
            p.meta = Meta(Meta::REXMIT);
        }
        self.rx.acked();
        self.io.note(kind, s.seq, s.payload, header_bits(&p));
        self.io.send(p, None);
    }
}
