//! A little world for stacks alone: one rate, one FIFO, half a round trip on each side.
#![allow(dead_code, reason = "each test uses its part")]

use crosswind_base::{Ecn, Streams as Seeds, Time};
use crosswind_transport::stack::{Cut, Role, Stack, State, StreamId};
use std::collections::{BTreeMap, VecDeque};

const HEADERS_BYTES: u64 = 28;

/// A bottleneck in the direction of the data; the way back has delay only.
#[derive(Clone, Copy)]
pub struct Path {
    pub rate_bps: u64,
    pub queue_packets: usize,
    pub one_way_ns: u64,
    /// Packets that meet this many are marked instead.
    pub mark_from_packets: Option<usize>,
    /// Every n-th datagram of the data is lost.
    pub lose_every: Option<u64>,
    /// All data is lost between these times (ns).
    pub dead: (u64, u64),
}

impl Path {
    pub fn new(mbit: u64, queue_packets: usize, rtt_ms: u64) -> Path {
        let rate_bps = mbit * 1_000_000;
        Path {
            rate_bps,
            queue_packets,
            one_way_ns: rtt_ms * 500_000,
            mark_from_packets: None,
            lose_every: None,
            dead: (0, 0),
        }
    }
}

enum What {
    Arrives { end: usize, data: Vec<u8>, ecn: Ecn },
    LineFree,
    Timer { end: usize },
}

/// The bytes that a client sends on one stream, and how far they have come.
pub struct Transfer {
    pub size: u64,
    stream: Option<StreamId>,
    written: u64,
    is_finished: bool,
    pub read: u64,
    pub has_ended: bool,
    accepted: Option<StreamId>,
}

impl Transfer {
    fn new(size: u64) -> Transfer {
        let (stream, accepted) = (None, None);
        Transfer { size, stream, written: 0, is_finished: false, read: 0, has_ended: false, accepted }
    }
}

pub struct Little {
    pub now: Time,
    pub ends: Vec<Box<dyn Stack>>,
    pub transfers: Vec<Transfer>,
    path: Path,
    agenda: BTreeMap<(u64, u64), What>,
    number: u64,
    queue: VecDeque<(usize, Vec<u8>, Ecn)>,
    is_busy: bool,
    armed: Vec<u64>,
    pub sent_packets: u64,
    /// Of the data.
    pub largest_bytes: usize,
    pub drops_packets: u64,
    pub marks_packets: u64,
    /// Over time, length, ECN and every byte of every datagram.
    pub hash: u64,
    pub cuts: Vec<Cut>,
}

impl Little {
    /// `pairs`: client and server of each flow.
    pub fn new(path: Path, pairs: Vec<[Box<dyn Stack>; 2]>, size: u64) -> Little {
        let transfers = pairs.iter().map(|_| Transfer::new(size)).collect();
        let ends: Vec<_> = pairs.into_iter().flatten().collect();
        let mut w = Little {
            now: Time::ZERO,
            armed: vec![u64::MAX; ends.len()],
            ends,
            transfers,
            path,
            agenda: BTreeMap::new(),
            number: 0,
            queue: VecDeque::new(),
            is_busy: false,
            sent_packets: 0,
            largest_bytes: 0,
            drops_packets: 0,
            marks_packets: 0,
            hash: 0xcbf2_9ce4_8422_2325,
            cuts: Vec::new(),
        };
        for flow in 0..w.transfers.len() {
            w.ends[2 * flow].open(Time::ZERO);
            w.drive(2 * flow);
        }
        w
    }

    fn at(&mut self, at: u64, what: What) {
        self.number += 1;
        self.agenda.insert((at, self.number), what);
    }

    pub fn run(&mut self, until: Time) {
        while let Some(next) = self.agenda.first_entry().filter(|e| e.key().0 <= until.0) {
            let ((at, _), what) = next.remove_entry();
            self.now = Time(at);
            match what {
                What::Arrives { end, data, ecn } => {
                    self.ends[end].on_datagram(self.now, data, ecn);
                    self.drive(end);
                }
                What::LineFree => self.serve(),
                What::Timer { end } if self.armed[end] == at => {
                    self.armed[end] = u64::MAX;
                    self.ends[end].on_timer(self.now);
                    self.drive(end);
                }
                What::Timer { .. } => {}
            }
        }
        self.now = until;
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }

    /// The application, then what may leave, until nothing more comes of either.
    fn drive(&mut self, end: usize) {
        for _ in 0..1000 {
            let did = self.apply(end);
            let mut sent = Vec::new();
            self.ends[end].transmit(self.now, &mut |bytes, ecn| sent.push((bytes.to_vec(), ecn)));
            if !did && sent.is_empty() {
                break;
            }
            for (data, ecn) in sent {
                self.send(end, data, ecn);
            }
        }
        let cuts = &mut self.cuts;
        self.ends[end].cuts(&mut |c| cuts.push(c));
        if let Some(at) = self.ends[end].next_timer().map(|t| t.0.max(self.now.0))
            && at < self.armed[end]
        {
            self.armed[end] = at;
            self.at(at, What::Timer { end });
        } else if let Some(at) = self.ends[end].next_timer() {
            self.armed[end] = at.0.max(self.now.0);
            self.at(at.0.max(self.now.0), What::Timer { end });
        }
    }

    fn send(&mut self, end: usize, data: Vec<u8>, mut ecn: Ecn) {
        self.mix(self.now.0);
        self.mix(end as u64 | (ecn as u64) << 32 | (data.len() as u64) << 40);
        let words = data.chunks_exact(8);
        let rest = words.remainder();
        words.for_each(|w| self.mix(w.iter().fold(0, |n, b| n << 8 | u64::from(*b))));
        rest.iter().for_each(|b| self.mix(u64::from(*b)));
        if end % 2 == 1 {
            let at = self.now.0 + 2 * self.path.one_way_ns;
            return self.at(at, What::Arrives { end: end - 1, data, ecn });
        }
        self.sent_packets += 1;
        self.largest_bytes = self.largest_bytes.max(data.len());
        if self.queue.len() >= self.path.queue_packets
            || self.path.lose_every.is_some_and(|n| self.sent_packets.is_multiple_of(n))
            || (self.path.dead.0..self.path.dead.1).contains(&self.now.0)
        {
            self.drops_packets += 1;
            return;
        }
        if self.path.mark_from_packets.is_some_and(|n| self.queue.len() >= n) && ecn.is_capable() {
            ecn = Ecn::Ce;
            self.marks_packets += 1;
        }
        self.queue.push_back((end + 1, data, ecn));
        if !self.is_busy {
            self.serve();
        }
    }

    fn serve(&mut self) {
        let Some((end, data, ecn)) = self.queue.pop_front() else {
            self.is_busy = false;
            return;
        };
        self.is_busy = true;
        let free = self.now.0 + (data.len() as u64 + HEADERS_BYTES) * 8 * 1_000_000_000 / self.path.rate_bps;
        self.at(free, What::LineFree);
        self.at(free, What::Arrives { end, data, ecn });
    }

    /// Whether the application had anything to do.
    fn apply(&mut self, end: usize) -> bool {
        let (t, stack) = (&mut self.transfers[end / 2], &mut self.ends[end]);
        let is_established = stack.state() == State::Established;
        let streams = stack.streams();
        if end % 2 == 1 {
            t.accepted = t.accepted.or_else(|| streams.accept());
            let Some(stream) = t.accepted.filter(|_| !t.has_ended) else { return false };
            let got = streams.read(stream);
            t.read += got.bytes;
            t.has_ended = got.is_end;
            if t.has_ended {
                streams.finish(stream);
            }
            return got.bytes > 0 || got.is_end;
        }
        if !is_established {
            return false;
        }
        let before = t.written;
        t.stream = t.stream.or_else(|| streams.open());
        let Some(stream) = t.stream else { return false };
        t.written += streams.write(stream, t.size - t.written);
        if t.written == t.size && !t.is_finished {
            t.is_finished = true;
            streams.finish(stream);
        }
        if t.is_finished && streams.is_acknowledged(stream) {
            stack.close(self.now);
            return false;
        }
        t.written > before
    }

    pub fn goodput_mbit(&self) -> f64 {
        self.transfers.iter().map(|t| t.read).sum::<u64>() as f64 * 8e3 / self.now.0 as f64
    }

    pub fn failures(&self) -> Vec<String> {
        let states = self.ends.iter().map(|e| e.state());
        states.filter_map(|s| if let State::Failed(why) = s { Some(why) } else { None }).collect()
    }
}

/// Both ends of so many flows; all that they draw follows from `seed`.
pub fn pairs(
    n: usize,
    seed: u64,
    make: impl Fn(Role, crosswind_base::Rng) -> Box<dyn Stack>,
) -> Vec<[Box<dyn Stack>; 2]> {
    let seeds = Seeds::new(seed);
    (0..n)
        .map(|i| {
            [
                make(Role::Client, seeds.named(&format!("flow/{i}/client"))),
                make(Role::Server, seeds.named(&format!("flow/{i}/server"))),
            ]
        })
        .collect()
}
