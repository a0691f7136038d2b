//! # Web page over HTTP/1.0
//!
//! **Source**: jarvinen-2006 sections 2.7 and 3.3, open points 7-14 and 7-17; rfc1945 section 1.3 (one connection for
//! each object).
//!
//! **Idea**: the browser (`to`) opens a connection to the server (`from`), sends a request, reads the answer; the server
//! closes. When the first data of the body arrives, inline objects are fetched as well, at most `parallel` connections at
//! a time; whenever an object is complete, the next one is asked for. Complete means: its last byte has arrived in order.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `body` | B | 11792 | jarvinen-2006 section 3.3 (22 segments of 536 B) |
//! | `objects` | - | 8 | the same |
//! | `object` | B | 8576 | the same (16 segments) |
//! | `request`, `object_request` | B | 351, 350 | the same |
//! | `parallel` | - | 4 | the same |
//! | `write` | B | 4288 | the same |
//!
//! **Deviations**: 1. The server answers at once. 2. A connection that fails counts as one that is complete when it
//! comes to starting the next (a browser would show a broken picture), but it has no completion time.
//!
//! **Checked by**: `crates/sim/tests/pages.rs`.

use super::bulk;
use crate::flows::port::{EndIo, Milestone};
use crate::flows::stream::Stream;
use crate::scenario::{Bulk, Close, Page};
use crosswind_base::{Size, Time};
use crosswind_transport::tcp::Io;
use std::ops::Range;

/// The browser's side of one connection.
pub struct Fetch {
    request: u64,
    size: u64,
    asked: Option<Time>,
    pub first_at: Option<Time>,
    pub done_at: Option<Time>,
}

impl Fetch {
    pub fn new(p: &Page, connection: u32) -> Fetch {
        let (request, size) = if connection == 0 { (p.request, p.body) } else { (p.object_request, p.object) };
        Fetch { request: request.0, size: size.0, asked: None, first_at: None, done_at: None }
    }

    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        let now = io.now();
        if self.asked.is_none() && conn.is_established() {
            self.asked = Some(now);
            conn.write(self.request, io);
        }
        let delivered = conn.delivered();
        let mut told = None;
        if delivered > 0 && self.first_at.is_none() {
            self.first_at = Some(now);
            told = Some(Milestone::FirstData);
        }
        if delivered >= self.size && self.done_at.is_none() {
            self.done_at = Some(now);
            told = Some(Milestone::Complete);
        }
        told
    }
}

/// The server's side of one connection: it waits for the request, writes the answer and closes.
pub struct Answer {
    request: u64,
    sender: bulk::Sender,
}

impl Answer {
    pub fn new(p: &Page, connection: u32) -> Answer {
        let (request, size) = if connection == 0 { (p.request, p.body) } else { (p.object_request, p.object) };
        let answer = Bulk { size: Some(Size(size.0)), write: p.write, close: Close::Fin, ..Bulk::default() };
        Answer { request: request.0, sender: bulk::Sender::new(&answer) }
    }

    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        if conn.delivered() >= self.request {
            self.sender.run(conn, io);
        }
    }
}

/// One page being loaded: it is told what its connections do, and says which are to be opened.
#[derive(Clone, Debug)]
pub struct Session {
    /// The flow of the body; those of the objects follow it.
    pub first_flow: u32,
    connections: u32,
    parallel: u32,
    /// Connections that have been told to open, the body's included.
    opened: u32,
    finished: Vec<Progress>,
    running: u32,
    body_seen: Option<Time>,
    is_cancelled: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    Waiting,
    Over,
}

impl Session {
    pub fn new(p: &Page, first_flow: u32) -> Session {
        let connections = p.objects + 1;
        let finished = vec![Progress::Waiting; connections as usize];
        Session {
            first_flow,
            connections,
            parallel: p.parallel,
            opened: 1,
            finished,
            running: 1,
            body_seen: None,
            is_cancelled: false,
        }
    }

    /// What happened on a connection (0 is the body's). Returns the connections that are to be opened now.
    pub fn told(&mut self, connection: u32, what: Milestone, now: Time) -> Range<u32> {
        let over = matches!(what, Milestone::Complete | Milestone::Closed);
        let slot = &mut self.finished[connection as usize];
        if over && *slot == Progress::Waiting {
            *slot = Progress::Over;
            self.running -= 1;
        }
        if connection == 0 && (over || what == Milestone::FirstData) {
            self.body_seen.get_or_insert(now);
        }
        let from = self.opened;
        if self.body_seen.is_some() && !self.is_cancelled {
            let free = self.parallel.saturating_sub(self.running);
            self.opened = from.saturating_add(free).min(self.connections);
            self.running += self.opened - from;
        }
        from..self.opened
    }

    /// The user goes elsewhere: no connection is opened any more. Returns those that would have been.
    pub fn cancel(&mut self) -> Range<u32> {
        self.is_cancelled = true;
        self.opened..self.connections
    }

    pub fn flows(&self) -> Range<usize> {
        self.first_flow as usize..(self.first_flow + self.connections) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(7);

    fn session(objects: u32, parallel: u32) -> Session {
        Session::new(&Page { objects, parallel, ..Page::default() }, 3)
    }

    #[test]
    fn three_objects_start_with_the_body_and_one_more_with_each_completion() {
        let mut s = session(8, 4);
        assert_eq!(s.told(0, Milestone::Opened, NOW), 1..1);
        assert_eq!(s.told(0, Milestone::FirstData, NOW), 1..4);
        assert_eq!(s.told(2, Milestone::Complete, NOW), 4..5);
        assert_eq!(s.told(2, Milestone::Closed, NOW), 5..5, "a completed connection frees its place once");
        assert_eq!(s.told(0, Milestone::Complete, NOW), 5..6);
        for (connection, started) in [(1, 6..7), (3, 7..8), (4, 8..9), (5, 9..9), (6, 9..9)] {
            assert_eq!(s.told(connection, Milestone::Complete, NOW), started);
        }
        assert_eq!(s.flows(), 3..12);
    }

    #[test]
    fn a_body_that_fails_or_is_short_still_brings_its_objects() {
        assert_eq!(session(8, 4).told(0, Milestone::Closed, NOW), 1..5);
        assert_eq!(session(2, 4).told(0, Milestone::Complete, NOW), 1..3);
        assert_eq!(session(0, 1).told(0, Milestone::Complete, NOW), 1..1);
        // One at a time: nothing starts beside the body.
        let mut one = session(2, 1);
        assert_eq!(one.told(0, Milestone::FirstData, NOW), 1..1);
        assert_eq!(one.told(0, Milestone::Complete, NOW), 1..2);
        assert_eq!(one.told(1, Milestone::Complete, NOW), 2..3);
    }
}
