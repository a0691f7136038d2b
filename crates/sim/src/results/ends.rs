//! The two ends of a flow as the tables want them.

use crate::flows::workload::page::Fetch;
use crate::flows::{App, Endpoint, FlowEnd, Transport};
use crate::world::World;
use crosswind_base::{Dur, Time};
use crosswind_transport::tcp::conn::State;

/// A flow's two ends: the sender of its data, and the receiver.
pub(super) enum Ends<'a> {
    Tcp(&'a Endpoint, &'a Endpoint),
    Other(&'a Other, &'a Other),
}

pub(super) type Other = Endpoint<dyn Transport>;

impl<'a> Ends<'a> {
    pub(super) fn of(w: &'a World<'_>, flow: usize) -> Ends<'a> {
        match (&w.ends[2 * flow], &w.ends[2 * flow + 1]) {
            (FlowEnd::Tcp(tx), FlowEnd::Tcp(rx)) => Ends::Tcp(tx, rx),
            (FlowEnd::Other(tx), FlowEnd::Other(rx)) => Ends::Other(tx, rx),
            _ => unreachable!("both ends of a flow run over one transport"),
        }
    }

    pub(super) fn transports(&self) -> [&'a dyn Transport; 2] {
        match self {
            Ends::Tcp(tx, rx) => [&tx.conn, &rx.conn],
            Ends::Other(tx, rx) => [&tx.conn, &rx.conn],
        }
    }

    /// When its first packet was sent: a browser opens its connections itself.
    pub(super) fn open(&self) -> Option<Time> {
        self.transports().into_iter().filter_map(|t| t.opened_at()).min()
    }
    pub(super) fn close(&self) -> Option<Time> {
        self.transports()[0].closed_at()
    }
    /// When it closed as it should: both ends have said that nothing comes any more, and know that the other knows.
    pub(super) fn closed(&self) -> Option<Time> {
        match self {
            Ends::Tcp(tx, _) => tx.conn.closed_at.get().filter(|_| tx.conn.state == State::Done),
            Ends::Other(..) => self.close(),
        }
    }
    /// The same with the headers that it took, each byte once.
    pub(super) fn wire_size(&self) -> u64 {
        match self {
            Ends::Tcp(tx, rx) => {
                let size = rx.conn.rx.delivered();
                size + size.div_ceil(tx.conn.params().connection.mss.0) * tx.conn.header_bytes()
            }
            Ends::Other(_, rx) => rx.arrivals.data().map_or(rx.arrivals.bytes, |d| d.bytes),
        }
    }
}

pub(super) fn rate_bps(bytes: u64, over: Option<Dur>) -> f64 {
    match over {
        Some(d) if d.0 > 0 => bytes as f64 * 8.0 / d.as_secs_f64(),
        _ => f64::NAN,
    }
}

pub(super) fn fetch<'a>(w: &'a World<'_>, flow: usize) -> Option<&'a Fetch> {
    match w.ends[2 * flow + 1].app() {
        App::Fetch(f) => Some(f),
        _ => None,
    }
}
