//! The events of chosen flows, kept in columns until they become the table `event`.
//!
//! The log is bounded: it keeps the first [`EventLimit`] events and counts the rest.

use crate::flows::Flows;
use crate::{Column, Table};
use crosswind_base::{Event, EventKind, FlowId, Observer, Packet, Pool, Time, Vantage};

/// What an event takes in the columns of a log.
pub const EVENT_BYTES: usize = 8 + 4 + 1 + 1 + 8 + 4 + 4;

/// The most events that a log keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventLimit(pub usize);

impl Default for EventLimit {
    /// Four million events, about 116 MB: a 1 Gbit/s flow for half a minute.
    fn default() -> EventLimit {
        EventLimit(4_000_000)
    }
}

/// An observer that writes down what happens to the flows it was told to follow.
#[derive(Clone, Debug)]
pub struct EventLog {
    flows: Flows,
    limit: EventLimit,
    time_ns: Vec<u64>,
    flow: Vec<u32>,
    end: Vec<u8>,
    kind: Vec<u8>,
    seq: Vec<u64>,
    len: Vec<u32>,
    aux: Vec<u32>,
    dropped_events: u64,
}

impl EventLog {
    pub fn new(flows: Flows, limit: EventLimit) -> EventLog {
        EventLog {
            flows,
            limit,
            time_ns: Vec::new(),
            flow: Vec::new(),
            end: Vec::new(),
            kind: Vec::new(),
            seq: Vec::new(),
            len: Vec::new(),
            aux: Vec::new(),
            dropped_events: 0,
        }
    }
    pub fn kept_events(&self) -> usize {
        self.time_ns.len()
    }
    /// How many events came when the log was full.
    pub fn dropped_events(&self) -> u64 {
        self.dropped_events
    }
    /// The table `event`, without the columns of the run key.
    pub fn into_table(self) -> Table {
        let kinds = Column::from_codes(self.kind.into_iter().map(u32::from).collect(), &EventKind::NAMES);
        let ends = Column::from_codes(self.end.into_iter().map(u32::from).collect(), &Vantage::NAMES);
        let columns = [
            ("time_ns", Column::U64(self.time_ns)),
            ("flow", Column::U32(self.flow)),
            ("end", ends),
            ("kind", kinds),
            ("seq", Column::U64(self.seq)),
            ("len", Column::U32(self.len)),
            ("aux", Column::U32(self.aux)),
        ];
        Table::from_columns("event", columns.map(|(n, c)| (n.to_string(), c)).into())
    }
}

impl Observer for EventLog {
    #[inline]
    fn wants(&self, flow: FlowId) -> bool {
        self.flows.contains(flow)
    }
    fn event(&mut self, e: Event) {
        if self.time_ns.len() >= self.limit.0 {
            self.dropped_events += 1;
            return;
        }
        self.time_ns.push(e.at.0);
        self.flow.push(e.end.flow.0);
        self.end.push(e.end.seen as u8);
        self.kind.push(e.kind as u8);
        self.seq.push(e.seq);
        self.len.push(e.len);
        self.aux.push(e.aux);
    }
    fn packet(&mut self, _at: Time, _seen: Vantage, _p: &Packet, _pool: &Pool) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::End;

    fn event(at: u64, kind: EventKind) -> Event {
        Event {
            at: Time(at),
            end: End { flow: FlowId(3), seen: Vantage::Receiver },
            kind,
            seq: at * 10,
            len: 536,
            aux: 7,
        }
    }

    #[test]
    fn events_become_the_event_table_in_order() {
        let mut log = EventLog::new(Flows::All, EventLimit::default());
        log.event(event(1, EventKind::Send));
        log.event(event(2, EventKind::Rtt));
        assert_eq!(log.dropped_events(), 0);
        let t = log.into_table();
        assert_eq!((t.name(), t.rows()), ("event", 2));
        assert_eq!(t.get("time_ns"), Some(&Column::U64(vec![1, 2])));
        assert_eq!(t.get("seq"), Some(&Column::U64(vec![10, 20])));
        assert_eq!(t.get("aux"), Some(&Column::U32(vec![7, 7])));
        let Some(Column::Text(kinds)) = t.get("kind") else { panic!() };
        assert_eq!(kinds.iter().collect::<Vec<_>>(), ["send", "rtt"]);
    }

    #[test]
    fn a_full_log_counts_what_it_misses() {
        let mut log = EventLog::new(Flows::All, EventLimit(2));
        (1..=5).for_each(|at| log.event(event(at * 1_000_000_000, EventKind::Ack)));
        assert_eq!((log.kept_events(), log.dropped_events()), (2, 3));
        assert_eq!(log.into_table().rows(), 2);
    }
}
