//! Crosswind's own TCP as a stack among others: one end whose segments are real bytes.

use super::wire::{Line, Refused, payload_bytes};
use crosswind_base::packet::Ext;
use crosswind_base::{Ecn, EventKind, Packet, Time};
use crosswind_transport::stack::{Cut, CutBecause, Pattern, Probe, Reading, Role, Stack, State, StreamId, Streams};
use crosswind_transport::tcp::conn::State as Phase;
use crosswind_transport::tcp::law::Controller;
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{CloseRule, Connection, Io, TcpParams};
use std::collections::VecDeque;
use std::sync::Arc;

/// TCP has one stream.
const STREAM: StreamId = 0;

/// One end.
pub struct OwnTcp {
    conn: Connection,
    role: Role,
    wire: Wire,
    now: Time,
    /// Whether the application has been given the stream.
    is_given: bool,
    is_finishing: bool,
    read: u64,
    failure: Option<String>,
    cuts: Vec<Cut>,
    known: Pattern,
    counts: Counts,
}

/// What the wire did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets with a wrong checksum.
    pub damaged_packets: u64,
    /// Packets that were no segments of this connection.
    pub strange_packets: u64,
}

/// Where segments become bytes.
struct Wire {
    line: Line,
    content: Vec<u8>,
    waiting: VecDeque<(Vec<u8>, Ecn)>,
}

/// The surroundings of the connection at one moment.
struct Outlet<'a> {
    now: Time,
    wire: &'a mut Wire,
}

impl Io for Outlet<'_> {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, p: Packet, ext: Option<Ext>) {
        let Wire { line, content, waiting } = &mut *self.wire;
        // The first byte of the stream has the number 1.
        let from = Pattern::place(p.seq.saturating_sub(1));
        let bytes = line.encode(&p, ext.as_ref(), |payload| {
            payload.copy_from_slice(&content[from..from + payload.len()]);
        });
        if !bytes.is_empty() {
            waiting.push_back((bytes, p.ecn()));
        }
    }
    fn note(&mut self, _: EventKind, _: u64, _: u32, _: u32) {}
    fn is_watched(&self) -> bool {
        false
    }
    fn shared(&mut self) -> Option<&mut Cache> {
        None
    }
}

/// What the sender counted before a call.
#[derive(Clone, Copy)]
struct Before {
    cwnd_bytes: u64,
    losses: u32,
    marks: u32,
}

impl OwnTcp {
    pub fn new(params: Arc<TcpParams>, role: Role, line: Line) -> OwnTcp {
        OwnTcp {
            conn: Connection::new(params, 0, CloseRule::ByApplication),
            role,
            wire: Wire { line, content: Pattern::bytes(), waiting: VecDeque::new() },
            now: Time::ZERO,
            is_given: false,
            is_finishing: false,
            read: 0,
            failure: None,
            cuts: Vec::new(),
            known: Pattern::default(),
            counts: Counts::default(),
        }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The connection itself.
    pub fn connection(&self) -> &Connection {
        &self.conn
    }

    fn before(&self) -> Before {
        let (cwnd_bytes, stats) = (self.cwnd(), self.conn.tx.stats());
        Before { cwnd_bytes, losses: stats.fast_recoveries + stats.timeouts, marks: stats.ecn_reductions }
    }

    fn cwnd(&self) -> u64 {
        self.conn.tx.get().map_or(0, |tx| tx.law.window().cwnd() as u64)
    }

    /// Does something at a time, and sees what the controller did about it.
    fn at(&mut self, now: Time, act: impl FnOnce(&mut Connection, &mut Outlet<'_>)) {
        self.now = now;
        let before = self.before();
        act(&mut self.conn, &mut Outlet { now, wire: &mut self.wire });
        let after = self.before();
        let why = match () {
            () if after.losses > before.losses => CutBecause::Loss,
            () if after.marks > before.marks => CutBecause::EcnCe,
            () => return,
        };
        // The window falls over a round trip; the threshold is where to.
        let target = self.conn.tx.get().map_or(0, |tx| tx.law.window().ssthresh() as u64);
        self.cuts.push(Cut { at: now, before_bytes: before.cwnd_bytes, after_bytes: target, why });
    }

    fn has_finished(&self) -> bool {
        self.conn.state == Phase::Done || matches!(self.conn.rfc_state(self.now), "fin-wait-2" | "time-wait")
    }
}

impl Stack for OwnTcp {
    fn open(&mut self, now: Time) {
        if self.role == Role::Client {
            self.at(now, |conn, io| conn.open(io));
        }
    }

    fn on_datagram(&mut self, now: Time, data: Vec<u8>, ecn: Ecn) {
        let mut segment = match self.wire.line.decode(&data) {
            Ok(segment) => segment,
            Err(Refused::Damaged) => return self.counts.damaged_packets += 1,
            Err(_) => return self.counts.strange_packets += 1,
        };
        // A queue may have marked the packet that the bytes came in.
        segment.packet.set_ecn(ecn);
        let offset = segment.packet.seq.saturating_sub(1);
        if !segment.payload.is_empty() && !self.known.matches(offset, segment.payload) {
            self.failure = Some("bytes arrived that were not sent".into());
        }
        self.at(now, |conn, io| conn.on_packet(&segment.packet, segment.ext.as_ref(), io));
    }

    fn on_timer(&mut self, now: Time) {
        self.at(now, |conn, io| conn.on_wake(io));
    }

    fn next_timer(&self) -> Option<Time> {
        self.conn.next_wake()
    }

    fn transmit(&mut self, now: Time, out: &mut dyn FnMut(&[u8], Ecn)) {
        if std::mem::take(&mut self.is_finishing) {
            self.at(now, |conn, io| conn.close(io));
        }
        self.at(now, |conn, io| conn.push(io));
        self.wire.waiting.drain(..).for_each(|(bytes, ecn)| out(&bytes, ecn));
    }

    fn streams(&mut self) -> &mut dyn Streams {
        self
    }

    /// What was finished ends by itself; anything else is reset.
    fn close(&mut self, now: Time) {
        let is_finished = self.is_finishing || self.conn.tx.get().is_some_and(|tx| tx.is_closing());
        if !is_finished {
            self.at(now, |conn, io| conn.abort(io));
        }
    }

    fn state(&self) -> State {
        match (&self.failure, self.conn.state) {
            (Some(why), _) => State::Failed(why.clone()),
            (None, Phase::Aborted) => State::Failed("reset, or given up".into()),
            (None, Phase::Done) => State::Closed,
            (None, Phase::Established) => State::Established,
            (None, Phase::Closed | Phase::SynSent | Phase::SynReceived) => State::Opening,
        }
    }

    fn probe(&self) -> Probe {
        let stats = self.conn.tx.stats();
        let of = |f: fn(&crosswind_transport::tcp::sender::Sender) -> u64| self.conn.tx.get().map(f);
        Probe {
            cwnd_bytes: of(|tx| tx.law.window().cwnd() as u64),
            ssthresh_bytes: of(|tx| tx.law.window().ssthresh() as u64),
            srtt_ns: self.conn.tx.rtt(self.conn.params()).srtt.map(|d| d.0),
            sent_packets: Some(stats.segments),
            retransmitted_packets: Some(stats.retransmitted_segments),
            congestion_events: Some(u64::from(stats.fast_recoveries + stats.timeouts + stats.ecn_reductions)),
            timeouts: Some(u64::from(stats.timeouts)),
            ..Probe::default()
        }
    }

    /// Its packets are whole.
    fn headers_bytes(&self) -> u16 {
        0
    }

    fn payload_of(&self) -> fn(&[u8]) -> usize {
        payload_bytes
    }

    fn cuts(&mut self, out: &mut dyn FnMut(Cut)) {
        self.cuts.drain(..).for_each(out);
    }
}

impl Streams for OwnTcp {
    fn open(&mut self) -> Option<StreamId> {
        (self.conn.state == Phase::Established && !std::mem::replace(&mut self.is_given, true)).then_some(STREAM)
    }

    fn accept(&mut self) -> Option<StreamId> {
        Streams::open(self)
    }

    fn write(&mut self, _: StreamId, bytes: u64) -> u64 {
        let taken = bytes.min(self.conn.send_space());
        if taken > 0 {
            self.conn.sender().write(taken);
        }
        taken
    }

    fn finish(&mut self, _: StreamId) {
        self.is_finishing = true;
    }

    fn read(&mut self, _: StreamId) -> Reading {
        let bytes = self.conn.rx.delivered() - self.read;
        self.read += bytes;
        Reading { bytes, is_end: self.conn.rx.fin_reached() }
    }

    fn is_acknowledged(&self, _: StreamId) -> bool {
        self.has_finished()
    }
}
