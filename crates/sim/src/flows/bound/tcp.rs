//! TCP as a transport of the world: the connection of `crosswind_transport::tcp`, and what is measured of its packets.

use crate::flows::arrivals::Arrivals;
use crate::flows::endpoint::{Endpoint, FlowEnd};
use crate::flows::ends::Ends;
use crate::flows::own::Own;
use crate::flows::port::{EndIo, Milestone, Setup};
use crate::flows::stream::{Stream, Wrote};
use crate::flows::transport::{Broken, Transport};
use crate::flows::workload::App;
use crate::scenario::{GroupPlan, OfFlow};
use crosswind_base::packet::Ext;
use crosswind_base::{Packet, TcpFlags, Time, Vantage};
use crosswind_transport::tcp::conn::State;
use crosswind_transport::tcp::law::{Controller, Needs};
use crosswind_transport::tcp::params::Writing;
use crosswind_transport::tcp::{CloseRule, Connection, TcpParams};
use std::sync::Arc;

/// Makes the ends of connections with these parameters.
pub struct TcpEnds(pub Arc<TcpParams>);

impl Ends for TcpEnds {
    fn end(&self, app: App, s: &Setup, _: &GroupPlan, own: &Own<'_>) -> FlowEnd {
        let rule = if s.seen == Vantage::Sender { CloseRule::ByApplication } else { CloseRule::WithPeer };
        let mut end = Endpoint::new(Connection::new(self.0.clone(), s.peer, rule), app, s);
        equip(&mut end.conn, &end.app, s.seen, &self.0, own);
        FlowEnd::Tcp(end)
    }
}

/// Gives an end that has not begun its reader, its habit of acknowledging and its dice.
fn equip(conn: &mut Connection, app: &App, seen: Vantage, tcp: &TcpParams, own: &Own<'_>) {
    let flow = own.flow;
    if let App::Reader(r) = app {
        r.begin(conn);
    }
    if seen == Vantage::Sender && tcp.controller.early.is_on() {
        let rng = own.streams.named(&format!("flow/{flow}/tcp/early"));
        conn.sender().predict(tcp, rng);
    }
    if seen == Vantage::Sender && Needs::of(&tcp.controller).dice {
        let rng = own.streams.named(&format!("flow/{flow}/tcp/law"));
        conn.sender().law.take_dice(rng);
    }
    if tcp.receiver.ack_habit.is_on() {
        let side = if seen == Vantage::Sender { "sender" } else { "receiver" };
        conn.rx.accustom(tcp, own.streams.named(&format!("flow/{flow}/tcp/acks/{side}")));
    }
}

impl Transport for Connection {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn open(&mut self, _app: &mut App, io: &mut EndIo<'_, '_>) {
        Connection::open(self, io);
    }

    #[inline(always)]
    fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        Connection::on_packet(self, p, ext, io);
        app.run(self, io)
    }

    #[inline(always)]
    fn on_wake(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        Connection::on_wake(self, io);
        app.run(self, io)
    }

    #[inline(always)]
    fn next_wake(&self) -> Option<Time> {
        Connection::next_wake(self)
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        Connection::is_over(self)
    }

    fn opened_at(&self) -> Option<Time> {
        self.opened_at.get()
    }

    fn closed_at(&self) -> Option<Time> {
        self.closed_at.get()
    }

    #[inline(always)]
    fn count(&mut self, p: &Packet, ext: Option<&Ext>, now: Time, a: &mut Arrivals) {
        a.packets += 1;
        a.bytes += p.len as u64;
        let is_bare = p.payload == 0 && !p.meta.is_rexmit();
        if is_bare && a.freshness.is_none() {
            a.counted_bytes += p.len as u64;
            return;
        }
        if p.payload > 0 {
            a.record_delay(now.since(p.sent_at));
        }
        let known = p.payload > 0 && self.rx.has(p.seq, p.seq + p.payload as u64);
        a.unnecessary_retransmissions += u64::from(known);
        a.retransmissions += u64::from(p.meta.is_rexmit() && !p.flags.has(TcpFlags::SYN));
        if !a.dropped_retransmissions.is_empty() {
            a.unnecessary_retransmissions += a.dropped_retransmissions.settle(p);
        }
        if let Some(f) = &mut a.freshness {
            // Bare headers tell no more which data they had: each counts.
            let is_cut = ext.and_then(|e| e.life).is_some_and(|l| l.is_cut);
            if is_cut || (p.payload > 0 && !known) {
                f.count(p, now);
            }
        }
        if !known && (!p.meta.is_rexmit() || p.seq >= a.count_from) {
            a.counted_bytes += p.len as u64;
        }
    }

    fn delivered(&self) -> Option<u64> {
        Some(self.rx.delivered())
    }

    fn retune(&mut self, new: &OfFlow, own: &Own<'_>, app: &mut App, io: &mut EndIo<'_, '_>) {
        if let Some(params) = &new.tcp {
            let has_begun = self.has_begun();
            Connection::retune(self, params);
            if !has_begun {
                equip(self, app, io.seen(), params, own);
            }
            self.push(io);
        }
        if let Some(w) = &new.workload {
            app.go_on_as(w, self, io);
        }
    }

    #[cold]
    fn on_too_big(&mut self, seq: u64, mtu: u64, io: &mut EndIo<'_, '_>) {
        Connection::on_too_big(self, seq, mtu, io);
    }

    /// The peer is told by a reset.
    fn abort(&mut self, io: &mut EndIo<'_, '_>) -> Broken {
        if Connection::is_over(self) || self.state == State::Closed {
            return Broken::Nothing;
        }
        Connection::abort(self, io);
        Broken::Something
    }

    #[inline(always)]
    fn leaves_packets_behind(&self) -> bool {
        false
    }
}

impl Stream for Connection {
    #[inline(always)]
    fn is_established(&self) -> bool {
        self.state == State::Established
    }

    #[inline(always)]
    fn has_ended(&self) -> bool {
        Connection::is_over(self)
    }

    #[inline(always)]
    fn buffer(&self) -> u64 {
        self.params().host.send_buffer.0
    }

    #[inline(always)]
    fn space(&self) -> u64 {
        self.send_space()
    }

    #[inline]
    fn write(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) -> Wrote {
        let before = self.tx.stats().segments;
        Connection::write(self, bytes, io);
        if self.tx.stats().segments == before { Wrote::Kept } else { Wrote::Sent }
    }

    /// The last write sent nothing. Neither will those that follow it at this moment, until they fill a segment; and none will
    /// if there is a whole one to be sent already.
    fn quiet_space(&self) -> u64 {
        // Where the kernel's memory for what is written is modelled, every write counts.
        if self.params().host.writing == Writing::AsMemoryAllows {
            return 0;
        }
        let (mss, unsent) = (self.params().connection.mss.0, self.unsent());
        let most = if unsent >= mss { u64::MAX } else { mss - 1 - unsent };
        most.min(self.send_space())
    }

    fn keep(&mut self, bytes: u64) {
        self.sender().write(bytes);
    }

    fn finish(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) {
        self.sender().write(bytes);
        Connection::close(self, io);
    }

    fn close(&mut self, io: &mut EndIo<'_, '_>) {
        Connection::close(self, io);
    }

    #[inline(always)]
    fn delivered(&self) -> u64 {
        self.rx.delivered()
    }

    fn has_all(&self) -> bool {
        self.rx.fin_reached()
    }

    fn take_back(&mut self) -> u64 {
        Connection::take_back(self)
    }

    fn is_closing(&self) -> bool {
        self.tx.get().is_some_and(|tx| tx.is_closing())
    }

    fn wait_for_reads(&mut self) {
        self.rx.wait_for_reads();
    }

    fn read_at_once(&mut self) {
        self.rx.read_at_once();
    }

    fn unread(&self) -> u64 {
        self.rx.unread()
    }

    fn read(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) -> u64 {
        Connection::read(self, bytes, io)
    }

    fn close_by_itself(&mut self) {
        Connection::close_by_itself(self);
    }
}
