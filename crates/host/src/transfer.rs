//! The application of the own host: it sends or receives so many bytes on one stream, and closes.

use crosswind_base::Time;
use crosswind_transport::stack::{Stack, State, StreamId};

/// What the own host does with its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    Sends,
    Receives,
}

/// How far it has come.
#[derive(Clone, Debug)]
pub struct Transfer {
    does: Does,
    size: u64,
    stream: Option<StreamId>,
    written: u64,
    pub read: u64,
    is_finished: bool,
    pub closed_at: Option<Time>,
}

impl Transfer {
    /// `size` is in bytes; whoever receives takes what comes.
    pub fn new(does: Does, size: u64) -> Transfer {
        Transfer { does, size, stream: None, written: 0, read: 0, is_finished: false, closed_at: None }
    }

    /// Does what can be done now. Returns whether that was anything.
    pub fn run(&mut self, stack: &mut dyn Stack, now: Time) -> bool {
        let state = stack.state();
        if matches!(state, State::Closed | State::Failed(_)) {
            self.closed_at = self.closed_at.or(Some(now));
        }
        let streams = stack.streams();
        if self.stream.is_none() && state == State::Established {
            self.stream = streams.open();
        }
        let Some(stream) = self.stream else { return false };
        let got = streams.read(stream);
        self.read += got.bytes;
        let wrote = match self.does {
            Does::Sends if self.written < self.size => streams.write(stream, self.size - self.written),
            _ => 0,
        };
        self.written += wrote;
        let has_no_more = match self.does {
            Does::Sends => self.written == self.size,
            Does::Receives => got.is_end,
        };
        if has_no_more && !self.is_finished {
            self.is_finished = true;
            streams.finish(stream);
            return true;
        }
        got.bytes + wrote > 0
    }
}
