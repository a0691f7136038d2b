//! The application of a stack over UDP: the client sends so many bytes on one stream, or all it can, the server reads them.

use crosswind_base::Time;
use crosswind_transport::stack::{Role, Stack, State, StreamId};

/// What a client without a size has to send.
const ENDLESS_BYTES: u64 = 1 << 50;

/// How far it has come.
#[derive(Clone, Debug)]
pub struct StreamEnd {
    role: Role,
    size: u64,
    stream: Option<StreamId>,
    pub written: u64,
    pub read: u64,
    /// When something was read last.
    pub read_at: Option<Time>,
    /// The other end has said that there is no more.
    pub has_all: bool,
    is_finished: bool,
    pub closed_at: Option<Time>,
}

impl StreamEnd {
    /// `size` in bytes: what the client sends.
    pub fn new(role: Role, size: Option<u64>) -> StreamEnd {
        StreamEnd {
            role,
            size: if role == Role::Client { size.unwrap_or(ENDLESS_BYTES) } else { 0 },
            stream: None,
            written: 0,
            read: 0,
            read_at: None,
            has_all: false,
            is_finished: false,
            closed_at: None,
        }
    }

    /// Does what can be done now. Returns whether that was anything.
    pub fn run(&mut self, stack: &mut dyn Stack, now: Time) -> bool {
        let state = stack.state();
        if matches!(state, State::Closed | State::Failed(_)) {
            self.closed_at = self.closed_at.or(Some(now));
            return false;
        }
        let streams = stack.streams();
        if self.stream.is_none() {
            self.stream = match self.role {
                Role::Client if state == State::Established => streams.open(),
                Role::Client => None,
                Role::Server => streams.accept(),
            };
        }
        let Some(stream) = self.stream else { return false };
        let got = streams.read(stream);
        self.read += got.bytes;
        self.read_at = if got.bytes > 0 { Some(now) } else { self.read_at };
        let is_news = got.is_end && !self.has_all;
        self.has_all |= got.is_end;
        let wrote = if self.written < self.size { streams.write(stream, self.size - self.written) } else { 0 };
        self.written += wrote;
        // A server has nothing to say, and says so when it has heard all.
        let has_no_more = self.written == self.size && (self.role == Role::Client || self.has_all);
        if has_no_more && !self.is_finished {
            self.is_finished = true;
            streams.finish(stream);
            return true;
        }
        // Whoever opened the connection closes it.
        if self.role == Role::Client && self.is_finished && self.has_all && streams.is_acknowledged(stream) {
            stack.close(now);
            return true;
        }
        got.bytes + wrote > 0 || is_news
    }
}
