//! What leaves: the headers that both halves of a connection share.

use super::super::params::TcpParams;
use super::super::policies::OptionBytes;
use super::super::sender::{Line, Outgoing};
use super::super::share;
use super::receiver::Receiver;
use super::state::Agreed;
use crate::tcp::facts::stamp;
use crate::tcp::io::Io;
use crosswind_base::packet::{AccEcnOption, Ext, Meta};
use crosswind_base::probe::header_bits;
use crosswind_base::{Dur, EventKind, Packet, SackList, TcpFlags, Time};

pub(super) const IP_TCP_HEADER: u16 = 40;
/// A whole AccECN option, padded.
pub(super) const OPTION_MAX: u64 = 12;

#[inline(always)]
pub(super) fn header(flags: TcpFlags, now: Time, rx: &Receiver, agreed: &Agreed, p: &TcpParams) -> Packet {
    let stamped = agreed.timestamps;
    Packet {
        sent_at: now,
        cause: rx.cause,
        ack: rx.next,
        wnd: rx.window(p).min(if agreed.scaled { 1 << 30 } else { 65535 }) as u32,
        ts_val: if stamped { stamp(now, p.connection.timestamp_tick) } else { 0 },
        ts_ecr: if stamped { rx.ts_recent } else { 0 },
        len: IP_TCP_HEADER + if stamped { agreed.option_bytes.stamped_ack } else { 0 },
        flags,
        ..Packet::default()
    }
}

pub(super) fn send_ack(rx: &mut Receiver, agreed: &Agreed, p: &TcpParams, seq: u64, io: &mut impl Io) {
    let (now, flags) = (io.now(), rx.feedback.mark_ack(TcpFlags::ACK));
    let mut out = Packet { seq, ..header(flags, now, rx, agreed, p) };
    out.set_ecn(agreed.codepoints.control);
    let has_option = rx.feedback.has_option(now);
    let twice = has_option && rx.reports_duplicate();
    let mut sack = if agreed.sack {
        rx.sack_blocks(p.receiver.sack_blocks.min(if agreed.timestamps { 3 } else { 4 }))
    } else {
        None
    };
    let option = if has_option { accecn_option(rx, agreed, &mut sack, twice, now) } else { None };
    if rx.repeats_ack() {
        io.send(out, None);
    }
    rx.offer(out.wnd);
    rx.acked();
    if let Some(sack) = &sack {
        out.len += agreed.option_bytes.around_blocks + 8 * sack.len() as u16;
    }
    out.len += option.map_or(0, AccEcnOption::padded_bytes);
    let is_any = sack.is_some() || option.is_some();
    let ext = is_any.then(|| Ext { sack: sack.unwrap_or_default(), accecn: option, ..Ext::default() });
    io.send(out, ext);
}

/// The option of AccECN beside what else a segment carries; SACK blocks beyond two give way to it.
#[inline(never)]
fn accecn_option(
    rx: &mut Receiver,
    agreed: &Agreed,
    sack: &mut Option<SackList>,
    reports_duplicate: bool,
    now: Time,
) -> Option<AccEcnOption> {
    let stamps = if agreed.timestamps { 12 } else { 0 };
    let blocks = sack.get_or_insert_default();
    let option = rx.feedback.option(now, stamps, blocks, reports_duplicate);
    if blocks.is_empty() {
        *sack = None;
    }
    option
}

/// Puts the sender's segments on the wire with the receiver's acknowledgement in them.
pub(super) struct ConnLine<'a, I: Io> {
    pub io: &'a mut I,
    pub rx: &'a mut Receiver,
    pub agreed: Agreed,
    pub params: &'a TcpParams,
}

impl<I: Io> Io for ConnLine<'_, I> {
    #[inline]
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
        let now = self.io.now();
        let flags = if s.fin || s.cwr || s.push { s.flags() } else { TcpFlags::ACK };
        let mut p = header(self.rx.feedback.mark(flags), now, self.rx, &self.agreed, self.params);
        p.seq = s.seq;
        p.payload = s.payload as u16;
        p.len += s.payload as u16;
        if self.agreed.timestamps {
            let OptionBytes { stamped_data, stamped_ack, .. } = self.agreed.option_bytes;
            p.len += stamped_data - stamped_ack;
        }
        p.set_ecn(match &self.agreed.codepoints {
            c if s.payload == 0 || s.probe => c.control,
            c if s.retransmit => c.again,
            c => c.data,
        });
        let kind = if s.retransmit { EventKind::Retransmit } else { EventKind::Send };
        if s.retransmit {
            p.meta = Meta(Meta::REXMIT);
        }
        self.rx.offer(p.wnd);
        self.rx.acked();
        self.io.note(kind, s.seq, s.payload, header_bits(&p));
        let ext = if self.rx.feedback.has_option(now) { self.option_of(&mut p, now) } else { None };
        self.io.send(p, ext);
    }
}

impl<I: Io> ConnLine<'_, I> {
    /// The option of a data segment, which does not become larger than a full one by it.
    #[inline(never)]
    fn option_of(&mut self, p: &mut Packet, now: Time) -> Option<Ext> {
        if u64::from(p.payload) + OPTION_MAX > self.params.connection.mss.0 + self.agreed.option_room {
            return None;
        }
        let option = accecn_option(self.rx, &self.agreed, &mut None, false, now)?;
        p.len += option.padded_bytes();
        Some(Ext { accecn: Some(option), ..Ext::default() })
    }
}
