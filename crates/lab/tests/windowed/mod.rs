//! The smallest stack that transfers something: a window of so many packets, an acknowledgement for each, one timer. What it sends
//! is 17 bytes of header, a kind and two numbers, and data.

use crosswind_lab::{Ecn, Probe, Reading, Role, Stack, State, StreamId, Streams, Time, pattern};
use std::collections::{BTreeMap, BTreeSet};

const DATA: u8 = 0;
const ACK: u8 = 1;
const CHUNK_BYTES: u64 = 1200;
const TIMEOUT_NS: u64 = 300_000_000;

pub struct Windowed {
    state: State,
    window: usize,
    /// What is on its way: chunk -> when it left.
    flying: BTreeMap<u64, Time>,
    /// Chunks that came.
    arrived: BTreeSet<u64>,
    acks: Vec<u64>,
    written: u64,
    next: u64,
    /// Chunks below it have all been acknowledged.
    acknowledged: u64,
    done: BTreeSet<u64>,
    read: u64,
    /// All that it writes, once that is known, and all that it reads.
    own_end: Option<u64>,
    peer_end: Option<u64>,
    accepted: bool,
    /// A mark of its own in each packet: a stack that draws from outside puts something else there.
    pub salt: Box<dyn FnMut() -> u8 + Send>,
}

impl Windowed {
    pub fn new(role: Role, window: usize, salt: impl FnMut() -> u8 + Send + 'static) -> Windowed {
        Windowed {
            state: if role == Role::Client { State::Opening } else { State::Established },
            window,
            flying: BTreeMap::new(),
            arrived: BTreeSet::new(),
            acks: Vec::new(),
            written: 0,
            next: 0,
            acknowledged: 0,
            done: BTreeSet::new(),
            read: 0,
            own_end: None,
            peer_end: None,
            accepted: false,
            salt: Box::new(salt),
        }
    }

    fn chunks(&self) -> u64 {
        match self.own_end {
            // An end of nothing is said in an empty chunk.
            Some(end) => end.div_ceil(CHUNK_BYTES).max(1),
            None => self.written / CHUNK_BYTES,
        }
    }

    fn packet(&mut self, kind: u8, chunk: u64) -> Vec<u8> {
        let mut out = vec![kind | (self.salt)() << 1];
        out.extend(chunk.to_be_bytes());
        out.extend(self.own_end.unwrap_or(u64::MAX).to_be_bytes());
        if kind == DATA {
            let from = chunk * CHUNK_BYTES;
            out.extend((from..(from + CHUNK_BYTES).min(self.written).max(from)).map(pattern));
        }
        out
    }
}

impl Stack for Windowed {
    fn open(&mut self, _: Time) {
        self.state = State::Established;
    }

    fn on_datagram(&mut self, _: Time, data: Vec<u8>, _: Ecn) {
        let number = |at: usize| u64::from_be_bytes(data[at..at + 8].try_into().unwrap());
        let chunk = number(1);
        if data[0] & 1 == ACK {
            self.flying.remove(&chunk);
            self.done.insert(chunk);
            while self.done.remove(&self.acknowledged) {
                self.acknowledged += 1;
            }
        } else {
            self.peer_end = Some(number(9)).filter(|end| *end < u64::MAX);
            self.arrived.insert(chunk);
            self.acks.push(chunk);
        }
    }

    fn on_timer(&mut self, _: Time) {}

    fn next_timer(&self) -> Option<Time> {
        self.flying.values().min().map(|at| Time(at.0 + TIMEOUT_NS))
    }

    fn transmit(&mut self, now: Time, out: &mut dyn FnMut(&[u8], Ecn)) {
        for chunk in std::mem::take(&mut self.acks) {
            let packet = self.packet(ACK, chunk);
            out(&packet, Ecn::NotEct);
        }
        let late = |(_, at): &(&u64, &Time)| at.0 + TIMEOUT_NS <= now.0;
        let mut due: Vec<u64> = self.flying.iter().filter(late).map(|(chunk, _)| *chunk).collect();
        while self.flying.len() < self.window && self.next < self.chunks() {
            due.push(self.next);
            self.flying.insert(self.next, now);
            self.next += 1;
        }
        for chunk in due {
            self.flying.insert(chunk, now);
            let packet = self.packet(DATA, chunk);
            out(&packet, Ecn::NotEct);
        }
    }

    fn streams(&mut self) -> &mut dyn Streams {
        self
    }
    fn close(&mut self, _: Time) {
        self.state = State::Closed;
    }
    fn state(&self) -> State {
        self.state.clone()
    }
    fn probe(&self) -> Probe {
        Probe { cwnd_bytes: Some(self.window as u64 * CHUNK_BYTES), ..Probe::default() }
    }
}

impl Streams for Windowed {
    fn open(&mut self) -> Option<StreamId> {
        Some(0)
    }
    fn accept(&mut self) -> Option<StreamId> {
        let is_new = !std::mem::replace(&mut self.accepted, !self.arrived.is_empty());
        (is_new && self.accepted).then_some(0)
    }
    fn write(&mut self, _: StreamId, bytes: u64) -> u64 {
        let room = (self.acknowledged + 4 * self.window as u64) * CHUNK_BYTES;
        let taken = bytes.min(room.saturating_sub(self.written));
        self.written += taken;
        taken
    }
    fn finish(&mut self, _: StreamId) {
        self.own_end = Some(self.written);
    }
    fn read(&mut self, _: StreamId) -> Reading {
        let before = self.read;
        while self.arrived.contains(&(self.read / CHUNK_BYTES)) && Some(self.read) != self.peer_end {
            let next = (self.read / CHUNK_BYTES + 1) * CHUNK_BYTES;
            self.read = next.min(self.peer_end.unwrap_or(next));
        }
        Reading { bytes: self.read - before, is_end: Some(self.read) == self.peer_end }
    }
    fn is_acknowledged(&self, _: StreamId) -> bool {
        self.own_end.is_some() && self.acknowledged >= self.chunks()
    }
}
