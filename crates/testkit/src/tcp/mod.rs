//! Worlds for TCP tests: two connections on a pipe that can be told what to do to each packet ([`pair`]), and one
//! connection that is played a script of segments ([`tape`]).

pub mod pair;
pub mod tape;

use crosswind_base::packet::Ext;
use crosswind_base::{End, Event, EventKind, FlowId, Packet, Time, Vantage};
use crosswind_transport::tcp::Io;
use crosswind_transport::tcp::share::Cache;

/// The surroundings of one connection: collects what it sends and what it tells.
pub struct Surroundings<'a> {
    pub now: Time,
    pub sent: &'a mut Vec<(Packet, Option<Ext>)>,
    pub notes: &'a mut Vec<Event>,
    pub cache: Option<&'a mut Cache>,
    /// Whether somebody listens to notes.
    pub is_watched: bool,
}

impl Io for Surroundings<'_> {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, p: Packet, ext: Option<Ext>) {
        self.sent.push((p, ext));
    }
    fn note(&mut self, kind: EventKind, seq: u64, len: u32, aux: u32) {
        self.notes.push(Event {
            at: self.now,
            end: End { flow: FlowId(0), seen: Vantage::Sender },
            kind,
            seq,
            len,
            aux,
        });
    }
    fn is_watched(&self) -> bool {
        self.is_watched
    }
    fn shared(&mut self) -> Option<&mut Cache> {
        self.cache.as_deref_mut()
    }
}
