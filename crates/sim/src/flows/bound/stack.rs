//! Stacks of other people bound to the world: real bytes travel beside the packets, and the application has one stream for
//! both directions, which the end that opens the connection opens too.

use crate::flows::arrivals::Arrivals;
use crate::flows::endpoint::{Endpoint, FlowEnd};
use crate::flows::ends::Ends;
use crate::flows::own::Own;
use crate::flows::port::{EndIo, Milestone, Setup};
use crate::flows::stream::{Stream, Wrote};
use crate::flows::transport::{Broken, Transport};
use crate::flows::workload::App;
use crate::scenario::{GroupPlan, OfFlow, StackPlan, WorkloadParams};
use crosswind_base::packet::{Ext, Proto};
use crosswind_base::probe::header_bits;
use crosswind_base::{EventKind, Metrics, Packet, PacketId, Pool, Time, Vantage};
use crosswind_transport::stack::{Cut, CutBecause, Role, Stack, State, StreamId};
use crosswind_transport::tcp::Io;

/// The application may write more than the stack takes at once; the rest waits here.
const BUFFER_BYTES: u64 = 1 << 50;
/// How often stack and application may answer each other at one instant: more is a circle, which time ends.
const ROUNDS_MAX: u32 = 10_000;

impl Ends for StackPlan {
    fn end(&self, app: App, s: &Setup, group: &GroupPlan, own: &Own<'_>) -> FlowEnd {
        // A browser opens its connections itself.
        let opener =
            if matches!(group.workload, WorkloadParams::Page(_)) { Vantage::Receiver } else { Vantage::Sender };
        let role = if s.seen == opener { Role::Client } else { Role::Server };
        let rng = own.streams.named(&format!("flow/{}/stack/{}", own.flow, Vantage::NAMES[s.seen as usize]));
        let foreign = Foreign::new(self.name, s.seen, role, (self.maker)(role, rng));
        FlowEnd::Other(Box::new(Endpoint::new(foreign, app, s)))
    }
}

/// One end.
pub struct Foreign {
    name: &'static str,
    seen: Vantage,
    role: Role,
    stack: Box<dyn Stack>,
    /// Bytes of the packet that has just come.
    inbox: Vec<u8>,
    stream: Option<StreamId>,
    is_established: bool,
    /// What the application has written and the stack has not taken.
    waiting_bytes: u64,
    is_closing: bool,
    is_finished: bool,
    delivered: u64,
    has_all: bool,
    sent: u64,
    opened_at: Option<Time>,
    closed_at: Option<Time>,
    failure: Option<String>,
    /// There is more to be done at once, when the world has heard of a milestone.
    again_at: Option<Time>,
    /// When it was last called: a timer that was due before is due now.
    called_at: Time,
    cwnd: u64,
}

impl Foreign {
    pub fn new(name: &'static str, seen: Vantage, role: Role, stack: Box<dyn Stack>) -> Foreign {
        Foreign {
            name,
            seen,
            role,
            stack,
            inbox: Vec::new(),
            stream: None,
            is_established: false,
            waiting_bytes: 0,
            is_closing: false,
            is_finished: false,
            delivered: 0,
            has_all: false,
            sent: 0,
            opened_at: None,
            closed_at: None,
            failure: None,
            again_at: None,
            called_at: Time::ZERO,
            cwnd: 0,
        }
    }

    /// Lets stack, application and network have their turns, until none has anything to do or the world must be told.
    fn serve(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        let now = io.now();
        (self.again_at, self.called_at) = (None, now);
        for _ in 0..ROUNDS_MAX {
            self.look(now);
            let before = (self.delivered, self.waiting_bytes, self.is_closing);
            self.pull();
            let told = if self.is_over() { None } else { app.run(self, io) };
            self.push();
            let sent = self.transmit(io);
            if told.is_some() {
                self.again_at = Some(now);
                self.note(io);
                return told;
            }
            if sent == 0 && before == (self.delivered, self.waiting_bytes, self.is_closing) {
                break;
            }
        }
        self.look(now);
        self.note(io);
        None
    }

    /// How far the connection has come.
    fn look(&mut self, now: Time) {
        match self.stack.state() {
            State::Opening => {}
            State::Established => self.is_established = true,
            State::Closed => self.closed_at = self.closed_at.or(Some(now)),
            State::Failed(why) if self.closed_at.is_none() => self.failure = Some(why),
            State::Failed(_) => {}
        }
        let is_acknowledged = self.is_finished && self.stream.is_some_and(|s| self.stack.streams().is_acknowledged(s));
        if is_acknowledged && self.has_all && self.closed_at.is_none() {
            self.closed_at = Some(now);
            // Who opened it closes it; the other end has all it wanted, too.
            if self.role == Role::Client {
                self.stack.close(now);
            }
        }
    }

    /// Reads what has come.
    fn pull(&mut self) {
        let streams = self.stack.streams();
        if self.stream.is_none() && self.is_established {
            self.stream = if self.role == Role::Client { streams.open() } else { streams.accept() };
        }
        if let Some(stream) = self.stream.filter(|_| !self.has_all) {
            let got = streams.read(stream);
            self.delivered += got.bytes;
            self.has_all = got.is_end;
        }
    }

    /// Hands over what the application has written. An end that was only read from says that it has nothing to say.
    fn push(&mut self) {
        let Some(stream) = self.stream else { return };
        let streams = self.stack.streams();
        if self.waiting_bytes > 0 {
            self.waiting_bytes -= streams.write(stream, self.waiting_bytes);
        }
        let has_no_more = self.is_closing || (self.role == Role::Server && self.has_all) || self.answered();
        if has_no_more && self.waiting_bytes == 0 && !self.is_finished {
            self.is_finished = true;
            self.stack.streams().finish(stream);
        }
    }

    /// The client of an answer: the server has finished, so has it.
    fn answered(&self) -> bool {
        self.role == Role::Client && self.has_all
    }

    fn transmit(&mut self, io: &mut EndIo<'_, '_>) -> u64 {
        let (before, headers, now) = (self.sent, self.stack.headers_bytes(), io.now());
        let payload_of = self.stack.payload_of();
        let sent = &mut self.sent;
        self.stack.transmit(now, &mut |content, ecn| {
            let payload = payload_of(content) as u16;
            let mut p = Packet {
                sent_at: now,
                seq: *sent,
                len: content.len() as u16 + headers,
                payload,
                proto: Proto::UDP,
                ..Packet::default()
            };
            p.set_ecn(ecn);
            *sent += 1;
            io.note(EventKind::Send, p.seq, payload.into(), header_bits(&p));
            io.send_bytes(p, content);
        });
        self.sent - before
    }

    /// Tells observers what the stack has done to its window.
    fn note(&mut self, io: &mut EndIo<'_, '_>) {
        self.stack.cuts(&mut |c: Cut| {
            let kind = if c.why == CutBecause::EcnCe { EventKind::EcnReduce } else { EventKind::Recovery };
            io.note(kind, c.after_bytes, 0, u32::try_from(c.before_bytes).unwrap_or(u32::MAX));
        });
        if io.is_watched() {
            let probe = self.stack.probe();
            if let Some(cwnd) = probe.cwnd_bytes.filter(|c| *c != self.cwnd) {
                self.cwnd = cwnd;
                let ssthresh = probe.ssthresh_bytes.map_or(u32::MAX, |s| u32::try_from(s).unwrap_or(u32::MAX));
                io.note(EventKind::Cwnd, cwnd, 0, ssthresh);
            }
        }
    }
}

impl Transport for Foreign {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) {
        io.note(EventKind::Open, 0, 0, 0);
        self.opened_at = Some(io.now());
        self.stack.open(io.now());
        // The application is told of nothing before the peer has answered.
        let told = self.serve(app, io);
        debug_assert!(told.is_none(), "nothing has come yet");
    }

    fn take_bytes(&mut self, pool: &mut Pool, id: PacketId) {
        self.inbox = pool.take_bytes(id);
    }

    fn on_packet(&mut self, p: &Packet, _: Option<&Ext>, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        io.note(EventKind::Receive, p.seq, p.payload.into(), header_bits(p));
        self.opened_at = self.opened_at.or(Some(io.now()));
        let data = std::mem::take(&mut self.inbox);
        self.stack.on_datagram(io.now(), data, p.ecn());
        self.serve(app, io)
    }

    fn on_wake(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        if self.stack.next_timer().is_some_and(|at| at <= io.now()) {
            self.stack.on_timer(io.now());
        }
        self.serve(app, io)
    }

    fn next_wake(&self) -> Option<Time> {
        [self.stack.next_timer(), self.again_at].into_iter().flatten().min().map(|at| at.max(self.called_at))
    }

    fn is_over(&self) -> bool {
        self.closed_at.is_some() || self.failure.is_some()
    }

    fn opened_at(&self) -> Option<Time> {
        self.opened_at
    }

    fn closed_at(&self) -> Option<Time> {
        self.closed_at
    }

    fn count(&mut self, p: &Packet, _: Option<&Ext>, now: Time, a: &mut Arrivals) {
        a.packets += 1;
        a.bytes += u64::from(p.len);
        a.counted_bytes += u64::from(p.len);
        a.record_delay(now.since(p.sent_at));
    }

    fn delivered(&self) -> Option<u64> {
        Some(self.delivered)
    }

    /// What a stack was made with stays; messages come at another pace.
    fn retune(&mut self, new: &OfFlow, _: &Own<'_>, app: &mut App, _: &mut EndIo<'_, '_>) {
        if let (App::Source(source), Some(w)) = (app, &new.workload) {
            source.go_on_as(&w.now);
        }
    }

    fn abort(&mut self, io: &mut EndIo<'_, '_>) -> Broken {
        if self.is_over() || self.opened_at.is_none() {
            return Broken::Nothing;
        }
        self.failure = Some("broken off by the timeline".into());
        self.stack.close(io.now());
        self.transmit(io);
        Broken::Something
    }

    fn stack(&mut self) -> Option<(Role, &mut dyn Stack)> {
        Some((self.role, &mut *self.stack))
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn leaves_packets_behind(&self) -> bool {
        false
    }

    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if self.seen == Vantage::Receiver {
            return;
        }
        let p = self.stack.probe();
        for (name, value) in [
            ("cwnd_bytes", p.cwnd_bytes),
            ("ssthresh_bytes", p.ssthresh_bytes),
            ("in_flight_bytes", p.in_flight_bytes),
            ("srtt_ns", p.srtt_ns),
            ("pacing_rate_bps", p.pacing_rate_bps),
            ("stack_lost_packets", p.lost_packets),
        ] {
            if let Some(value) = value {
                out(name, value as f64);
            }
        }
    }

    fn report(&self, out: &mut dyn Metrics) {
        if self.seen == Vantage::Receiver {
            return;
        }
        let p = self.stack.probe();
        for (name, value) in [
            ("stack_cwnd_bytes", p.cwnd_bytes),
            ("stack_ssthresh_bytes", p.ssthresh_bytes),
            ("stack_srtt_ns", p.srtt_ns),
            ("stack_min_rtt_ns", p.min_rtt_ns),
            ("stack_sent_packets", p.sent_packets),
            ("stack_lost_packets", p.lost_packets),
            ("stack_lost_bytes", p.lost_bytes),
            ("stack_retransmitted_packets", p.retransmitted_packets),
            ("stack_timeouts", p.timeouts),
            ("stack_congestion_events", p.congestion_events),
        ] {
            if let Some(value) = value {
                out.value(name, value as f64);
            }
        }
    }
}

impl Stream for Foreign {
    fn is_established(&self) -> bool {
        self.stream.is_some() && !self.is_over()
    }
    fn has_ended(&self) -> bool {
        self.is_over()
    }
    fn buffer(&self) -> u64 {
        BUFFER_BYTES
    }
    fn space(&self) -> u64 {
        BUFFER_BYTES - self.waiting_bytes.min(BUFFER_BYTES)
    }
    fn write(&mut self, bytes: u64, _: &mut EndIo<'_, '_>) -> Wrote {
        self.keep(bytes);
        Wrote::Kept
    }
    /// No write sends anything.
    fn quiet_space(&self) -> u64 {
        self.space()
    }
    fn keep(&mut self, bytes: u64) {
        self.waiting_bytes += bytes;
    }
    fn close(&mut self, _: &mut EndIo<'_, '_>) {
        self.is_closing = true;
    }
    fn delivered(&self) -> u64 {
        self.delivered
    }
    fn has_all(&self) -> bool {
        self.has_all
    }
    fn is_closing(&self) -> bool {
        self.is_closing
    }
}
