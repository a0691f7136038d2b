//! The loop that joins a network with a clock and with what arrives.
//!
//! An arrival is stamped once, where it comes in. What is due at or before its stamp is served first, each event at its
//! own logical time. A packet leaves when the clock has reached its logical time; by how much later that was is
//! measured by the host_port and never told to the network.

use crate::change::Change;
use crate::host_port::{HostPort, Order};
use crate::network::Network;
use crate::tape::{End, TapeWriter};
use crosswind_base::{Dur, Sync, Time};
use std::collections::VecDeque;
use std::io::Write;

/// Watches a run from the driver's thread, at a fixed interval of logical time.
pub trait Watcher {
    fn look(&mut self, at: Time, network: &Network);
    /// A change was made, or refused with this reason.
    fn changed(&mut self, at: Time, change: &Change, refused: Option<String>);
}

/// Nobody watches.
pub struct Unwatched;

impl Watcher for Unwatched {
    fn look(&mut self, _at: Time, _network: &Network) {}
    fn changed(&mut self, _at: Time, _change: &Change, _refused: Option<String>) {}
}

/// After so many frames the driver listens to orders again.
const BATCH_FRAMES: usize = 256;

/// A network being driven.
pub struct Driver<'w> {
    pub network: Network,
    watcher: &'w mut dyn Watcher,
    interval: Dur,
    next_look: Time,
    timeline: VecDeque<(Time, Change)>,
    tape: Option<TapeWriter<Box<dyn Write + Send>>>,
}

impl<'w> Driver<'w> {
    /// `timeline` is in order of time. A zero interval means that nobody looks.
    pub fn new(network: Network, watcher: &'w mut dyn Watcher, interval: Dur) -> Driver<'w> {
        let next_look = if interval == Dur::ZERO { Time::NEVER } else { Time::ZERO + interval };
        Driver { network, watcher, interval, next_look, timeline: VecDeque::new(), tape: None }
    }
    pub fn with_timeline(mut self, mut timeline: Vec<(Time, Change)>) -> Driver<'w> {
        timeline.sort_by_key(|(at, _)| *at);
        self.timeline = timeline.into();
        self
    }
    /// Records arrivals and changes. A tape that is played carries its changes itself.
    pub fn with_tape(mut self, tape: TapeWriter<Box<dyn Write + Send>>) -> Driver<'w> {
        self.tape = Some(tape);
        self
    }

    /// Runs until the host_port orders to stop; returns what was decided by then, and the error of the tape if there was one.
    pub fn run<S: HostPort>(&mut self, host_port: &mut S) -> (End, std::io::Result<()>) {
        let mut frame = Vec::new();
        loop {
            let due = self.next_due();
            match self.network.drive(due, host_port) {
                Sync::OnTime => self.advance(due, host_port),
                Sync::Late(by) => self.advance(due + by, host_port),
                Sync::Interrupted(_) => {
                    if let Some(stop) = self.take_in(&mut frame, host_port) {
                        return self.finish(stop, host_port);
                    }
                }
            }
            if self.network.stuck().is_some() {
                return self.finish(self.network.now(), host_port);
            }
        }
    }

    /// When a look or a change is due next.
    fn next_due(&self) -> Time {
        self.next_look.min(self.timeline.front().map_or(Time::NEVER, |(at, _)| *at))
    }

    /// Everything that waits at the host_port; the time at which to stop, if that was ordered.
    fn take_in<S: HostPort>(&mut self, frame: &mut Vec<u8>, host_port: &mut S) -> Option<Time> {
        for _ in 0..BATCH_FRAMES {
            let Some((at, port)) = host_port.receive(frame) else { break };
            self.advance(at, host_port);
            if let Some(tape) = &mut self.tape {
                tape.arrival(at, port, frame);
            }
            self.network.arrive(at, port, frame, host_port);
        }
        match host_port.order() {
            None => None,
            Some(Order::Change(at, change)) => {
                self.advance(at, host_port);
                self.change(at, change);
                None
            }
            Some(Order::Stop(at)) => {
                self.advance(at, host_port);
                Some(at)
            }
        }
    }

    /// Serves the network up to `until`, with the driver's own events between; at one time the network comes first.
    fn advance<S: HostPort>(&mut self, until: Time, host_port: &mut S) {
        loop {
            let change = self.timeline.front().map_or(Time::NEVER, |(at, _)| *at);
            let at = self.next_look.min(change);
            if at > until || at == Time::NEVER {
                return self.network.serve(until, host_port);
            }
            self.network.serve(at, host_port);
            if change <= self.next_look {
                let (at, change) = self.timeline.pop_front().expect("its time was read just now");
                self.change(at, change);
            } else {
                self.network.catch_up(at, host_port);
                self.watcher.look(at, &self.network);
                self.next_look = at + self.interval;
            }
        }
    }

    fn change(&mut self, at: Time, change: Change) {
        let refused = self.network.change(at, &change).err().map(|e| e.to_string());
        // A refused change too: it may have been made in one direction, and is refused again when it is played.
        if let Some(tape) = &mut self.tape {
            tape.change(at, &change);
        }
        self.watcher.changed(at, &change, refused);
    }

    fn finish<S: HostPort>(&mut self, at: Time, host_port: &mut S) -> (End, std::io::Result<()>) {
        self.network.catch_up(at, host_port);
        let journal = &self.network.journal;
        let end = End { at, fingerprint: journal.fingerprint(), decisions: journal.count() };
        let written = self.tape.take().map_or(Ok(()), |t| t.finish(end).map(|_| ()));
        (end, written)
    }
}
