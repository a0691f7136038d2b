//! A stack around a stack: it forwards every call, and keeps what was sent and which reductions there were.

use crosswind_base::{Ecn, Time};
use crosswind_transport::stack::{Cut, Probe, Role, Stack, State, Streams};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One datagram, when it was handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    pub at: Time,
    /// Number of the connection among those of its stack, in the order in which they were made.
    pub connection: u32,
    pub role: Role,
    pub bytes: u32,
    pub ecn: Ecn,
    /// Of every byte. Equal bytes have equal hashes.
    pub hash: u64,
}

/// What both ends of all connections over one stack did.
#[derive(Default)]
pub struct Log {
    pub made: [u32; 2],
    pub sent: Vec<Sent>,
    pub cuts: Vec<(u32, Cut)>,
}

pub type Shared = Arc<Mutex<Log>>;

/// A stack that panicked has ended the run already; what was kept until then is right.
pub fn open(log: &Shared) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct Watched {
    inner: Box<dyn Stack>,
    log: Shared,
    connection: u32,
    role: Role,
}

impl Watched {
    pub fn new(inner: Box<dyn Stack>, role: Role, log: &Shared) -> Watched {
        let made = &mut open(log).made[(role == Role::Server) as usize];
        let connection = *made;
        *made += 1;
        Watched { inner, log: log.clone(), connection, role }
    }
}

impl Stack for Watched {
    fn open(&mut self, now: Time) {
        self.inner.open(now);
    }
    fn on_datagram(&mut self, now: Time, data: Vec<u8>, ecn: Ecn) {
        self.inner.on_datagram(now, data, ecn);
    }
    fn on_timer(&mut self, now: Time) {
        self.inner.on_timer(now);
    }
    fn next_timer(&self) -> Option<Time> {
        self.inner.next_timer()
    }

    fn transmit(&mut self, now: Time, out: &mut dyn FnMut(&[u8], Ecn)) {
        let (log, connection, role) = (&self.log, self.connection, self.role);
        self.inner.transmit(now, &mut |data, ecn| {
            let mut hasher = DefaultHasher::new();
            hasher.write(data);
            let (bytes, hash) = (data.len() as u32, hasher.finish());
            open(log).sent.push(Sent { at: now, connection, role, bytes, ecn, hash });
            out(data, ecn);
        });
    }

    fn streams(&mut self) -> &mut dyn Streams {
        self.inner.streams()
    }
    fn close(&mut self, now: Time) {
        self.inner.close(now);
    }
    fn state(&self) -> State {
        self.inner.state()
    }
    fn probe(&self) -> Probe {
        self.inner.probe()
    }
    fn headers_bytes(&self) -> u16 {
        self.inner.headers_bytes()
    }

    fn cuts(&mut self, out: &mut dyn FnMut(Cut)) {
        let (log, connection) = (&self.log, self.connection);
        self.inner.cuts(&mut |cut| {
            open(log).cuts.push((connection, cut));
            out(cut);
        });
    }
}
