//! The seam between applications and transports: what one end of a flow can do, whatever protocol it speaks.
//!
//! A [`Transport`] is one end of one protocol. It is told the time, gets packets, and answers through [`EndIo`]. Whatever happens
//! at its end, it is handed its application, and lets that use it: as a [`Stream`] of bytes, where it is reliable, or as
//! a queue of messages. The bindings stand in `bound/`, one file each.

use crate::endpoint::{Arrivals, EndIo, FlowEnd, Milestone, Setup};
use crate::scenario::{GroupPlan, OfFlow};
use crate::workload::{App, Own};
use crosswind_base::packet::Ext;
use crosswind_base::{ConfigError, Metrics, Packet, PacketId, Pool, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One end of a flow, as its transport sees it.
pub trait Transport {
    /// What results call it.
    fn name(&self) -> &'static str;
    /// This end begins: its application gets ready, and the protocol sends what comes first.
    fn open(&mut self, app: &mut App, io: &mut EndIo<'_, '_>);
    /// A packet has come; afterwards the application does what it can.
    fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone>;
    /// The time of `next_wake` has come, or that of the application.
    fn on_wake(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone>;
    /// When the protocol wants to act by itself.
    fn next_wake(&self) -> Option<Time>;
    /// Nothing more will be sent at this end, and nothing is open.
    fn is_over(&self) -> bool;
    /// When this end sent its first packet, if it began by itself.
    fn opened_at(&self) -> Option<Time>;
    /// When this end was over.
    fn closed_at(&self) -> Option<Time>;
    /// Writes down what an arrival says, before the protocol gets it.
    fn count(&mut self, p: &Packet, ext: Option<&Ext>, now: Time, a: &mut Arrivals);
    /// Bytes of a stream that have arrived in order. `None` where there is no order.
    fn delivered(&self) -> Option<u64> {
        None
    }
    /// New parameters from the timeline; `own` has the random streams of the flow.
    fn retune(&mut self, new: &OfFlow, own: &Own<'_>, app: &mut App, io: &mut EndIo<'_, '_>);
    /// A router says that the packet with this number was too large for `mtu` bytes.
    fn on_too_big(&mut self, _seq: u64, _mtu: u64, _io: &mut EndIo<'_, '_>) {}
    /// The application breaks it off. Returns whether there was something to break off.
    fn abort(&mut self, _io: &mut EndIo<'_, '_>) -> Broken {
        Broken::Nothing
    }
    /// Takes the real bytes out of a packet that has come, where it understands any.
    #[inline(always)]
    fn take_bytes(&mut self, _pool: &mut Pool, _id: PacketId) {}
    /// Why this end has given up, if it has.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// The flow may end while packets of it are still under way; a run waits for those.
    fn leaves_packets_behind(&self) -> bool {
        true
    }
    /// Momentary values for the time series.
    fn sample(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
    /// Totals at the end of a run.
    fn report(&self, _out: &mut dyn Metrics) {}
}

/// What makes the ends of the flows of one group; its parameters have been read and checked.
pub trait Ends: Send + Sync {
    /// One end, with its application; `s.seen` says which.
    fn end(&self, app: App, s: &Setup, group: &GroupPlan, own: &Own<'_>) -> FlowEnd;
}

/// Reads the parameters of a transport (those that stand beside `type`), found at a path of the scenario.
pub type Reads = Arc<dyn Fn(&Value, &str) -> Result<Arc<dyn Ends>, ConfigError> + Send + Sync>;

/// Transports that a program brings, by the name that `transport.type` has in scenarios.
pub type Brought = BTreeMap<String, Reads>;

/// What an application had open when it broke its connection off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    Something,
    Nothing,
}

/// What a write did at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrote {
    /// Some of it has left.
    Sent,
    /// It waits in the socket.
    Kept,
}

/// Bytes in order, both ways: what applications write to and read from.
pub trait Stream {
    /// Both ends may write.
    fn is_established(&self) -> bool;
    /// Both directions are finished, or the connection was given up.
    fn has_ended(&self) -> bool;
    /// Bytes that the socket takes in all.
    fn buffer(&self) -> u64;
    /// Bytes that can be written now.
    fn space(&self) -> u64;
    /// Writes bytes, no more than there is space for.
    fn write(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) -> Wrote;
    /// Bytes of which it is certain that writing them sends nothing now: such writes may be made together.
    fn quiet_space(&self) -> u64 {
        0
    }
    /// Writes so many bytes of the quiet space.
    fn keep(&mut self, _bytes: u64) {}
    /// Writes the last bytes and closes this direction.
    fn finish(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) {
        self.write(bytes, io);
        self.close(io);
    }
    /// No more will be written.
    fn close(&mut self, io: &mut EndIo<'_, '_>);
    /// Bytes that have arrived in order.
    fn delivered(&self) -> u64;
    /// The peer has closed its direction, and all of it has arrived.
    fn has_all(&self) -> bool {
        false
    }
    /// Takes back what has been written and not sent: so many bytes.
    fn take_back(&mut self) -> u64 {
        0
    }
    /// This direction has been closed, whether or not the peer knows.
    fn is_closing(&self) -> bool {
        false
    }
    /// From now on the application says when it reads.
    fn wait_for_reads(&mut self) {}
    /// From now on whatever comes counts as read.
    fn read_at_once(&mut self) {}
    /// Bytes that have arrived in order and that nobody has read.
    fn unread(&self) -> u64 {
        0
    }
    /// The application reads up to so many bytes; returns how many.
    fn read(&mut self, _bytes: u64, _io: &mut EndIo<'_, '_>) -> u64 {
        0
    }
    /// This end closes when its application says so, not when the peer does.
    fn close_by_itself(&mut self) {}
}
