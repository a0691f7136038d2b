//! What leaves: the headers that both halves of a connection share.

use super::super::params::{Handshake, TcpParams};
use super::super::sender::{Line, Outgoing};
use super::super::{Io, share, stamp};
use super::Agreed;
use super::receiver::Receiver;
use crosswind_base::packet::{Ext, Meta};
use crosswind_base::probe::header_bits;
use crosswind_base::{Dur, Ecn, EventKind, Packet, TcpFlags, Time};

pub(super) const IP_TCP_HEADER: u16 = 40;

/// Length of the timestamps option of a data segment, padded; ns-2 counts the option alone.
pub(super) fn timestamps_bytes(p: &TcpParams) -> u64 {
    if p.handshake == Handshake::Ns2 { 10 } else { 12 }
}

#[inline(always)]
pub(super) fn header(flags: TcpFlags, now: Time, rx: &Receiver, agreed: &Agreed, p: &TcpParams) -> Packet {
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

pub(super) fn send_ack(rx: &mut Receiver, agreed: &Agreed, p: &TcpParams, seq: u64, io: &mut impl Io) {
    let mut flags = TcpFlags::ACK;
    if rx.echoes() {
        flags = flags.with(TcpFlags::ECE);
    }
    let mut out = Packet { seq, ..header(flags, io.now(), rx, agreed, p) };
    let sack = if agreed.sack { rx.sack_blocks(p.sack_blocks) } else { None };
    if rx.repeats_ack() {
        io.send(out, None);
    }
    rx.offer(out.wnd);
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
pub(super) struct ConnLine<'a, I: Io> {
    pub io: &'a mut I,
    pub rx: &'a mut Receiver,
    pub agreed: Agreed,
    pub params: &'a TcpParams,
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
    fn shared(&mut self) -> Option<&mut share::Cache> {
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
        self.rx.offer(p.wnd);
        self.rx.acked();
        self.io.note(kind, s.seq, s.payload, header_bits(&p));
        self.io.send(p, None);
    }
}
