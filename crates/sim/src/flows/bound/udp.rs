//! UDP as a transport of the world: what the application has to send leaves at once, one datagram at a time, and nothing comes
//! again.

use crate::flows::arrivals::{Arrivals, Heard};
use crate::flows::endpoint::FlowEnd;
use crate::flows::ends::Ends;
use crate::flows::own::Own;
use crate::flows::port::{EndIo, Milestone, Setup};
use crate::flows::transport::Transport;
use crate::flows::waits::Waits;
use crate::flows::workload::App;
use crate::flows::workload::cbr::{Left, Source};
use crate::scenario::{GroupPlan, OfFlow};
use crosswind_base::packet::{Ext, Meta};
use crosswind_base::probe::header_bits;
use crosswind_base::{EventKind, Packet, Time};
use crosswind_transport::tcp::Io;
use crosswind_transport::udp;

/// Makes the ends of flows of datagrams.
pub struct UdpEnds;

impl Ends for UdpEnds {
    fn end(&self, app: App, s: &Setup, group: &GroupPlan, own: &Own<'_>) -> FlowEnd {
        let waits = Waits::new(&group.queue_delay_limits, own.recorded);
        let udp = Udp { notes_waits: waits.is_some(), ..Udp::default() };
        FlowEnd::other(udp, app, s, Heard::at(s.seen, waits))
    }
}

/// One end.
#[derive(Default)]
pub struct Udp {
    tx: udp::Sender,
    /// What it sends carries an option in which queues add up its waits.
    notes_waits: bool,
    opened_at: Option<Time>,
    closed_at: Option<Time>,
}

impl Udp {
    fn send(&mut self, source: &mut Source, io: &mut EndIo<'_, '_>) {
        io.object_began(source.burst_began);
        let (m, left) = source.next(io.now());
        let p = self.tx.datagram(m.payload_bytes, m.burst, io.now());
        note(io, EventKind::Send, &p);
        io.send(p, self.notes_waits.then(Ext::default));
        if left == Left::Nothing {
            self.closed_at = Some(io.now());
            note(io, EventKind::Close, &p);
        }
    }
}

fn note(io: &mut EndIo<'_, '_>, kind: EventKind, p: &Packet) {
    io.note(kind, p.seq, p.payload.into(), header_bits(p));
}

/// Sends the answer to a datagram.
fn answer(p: &Packet, io: &mut EndIo<'_, '_>) {
    let len = p.payload + udp::HEADERS_BYTES;
    let reply = Packet { sent_at: io.now(), cause: p.sent_at, len, meta: Meta::default(), ext: 0, ..*p };
    note(io, EventKind::Send, &reply);
    io.send(reply, None);
}

impl Transport for Udp {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn open(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) {
        self.opened_at = Some(io.now());
        if let App::Source(source) = app {
            source.begin(io.now());
        }
        io.note(EventKind::Open, 0, 0, 0);
    }

    fn on_packet(&mut self, p: &Packet, _: Option<&Ext>, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        note(io, EventKind::Receive, p);
        if let App::Echo = app {
            answer(p, io);
        }
        None
    }

    fn on_wake(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        if let App::Source(source) = app {
            self.send(source, io);
        }
        None
    }

    fn next_wake(&self) -> Option<Time> {
        None
    }

    fn is_over(&self) -> bool {
        self.closed_at.is_some()
    }

    fn opened_at(&self) -> Option<Time> {
        self.opened_at
    }

    fn closed_at(&self) -> Option<Time> {
        self.closed_at
    }

    fn count(&mut self, p: &Packet, ext: Option<&Ext>, now: Time, a: &mut Arrivals) {
        a.packets += 1;
        a.bytes += u64::from(p.len);
        a.note_wait(ext);
        if !a.hear(p, now) {
            a.record_delay(now.since(p.sent_at));
            a.record_answer(now.since(p.cause));
        }
    }

    fn retune(&mut self, new: &OfFlow, _: &Own<'_>, app: &mut App, _: &mut EndIo<'_, '_>) {
        if let (App::Source(source), Some(w)) = (app, &new.workload) {
            source.go_on_as(&w.now);
        }
    }
}
