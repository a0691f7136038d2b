//! The seam between applications and transports: what one end of a flow can do, whatever protocol it speaks.
//!
//! A [`Transport`] is one end of one protocol. It is told the time, gets packets, and answers through [`EndIo`]. Whatever happens
//! at its end, it is handed its application, and lets that use it: as a [`Stream`](super::stream::Stream) of bytes, where it is reliable, or as
//! a queue of messages. The bindings stand in `bound/`, one file each.

use super::arrivals::Arrivals;
use super::own::Own;
use super::port::{EndIo, Milestone};
use super::workload::App;
use crate::scenario::OfFlow;
use crosswind_base::packet::Ext;
use crosswind_base::{Metrics, Packet, PacketId, Pool, Time};
use crosswind_transport::stack::{Role, Stack};

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
    /// The stack of other people inside, if that is what it is, and which end of its connection.
    fn stack(&mut self) -> Option<(Role, &mut dyn Stack)> {
        None
    }
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

/// What an application had open when it broke its connection off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    Something,
    Nothing,
}
