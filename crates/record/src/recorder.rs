//! The one observer of a run: an event log, an event file, a capture, any of them or none.

use crate::{EventFile, EventLog, PcapngWriter};
use crosswind_base::{Event, FlowId, Observer, Packet, Pool, Time, Vantage};
use std::io::Write;

/// The parts of a run that are recorded, each from a time on until before another; none stands for all of it.
#[derive(Clone, Debug, Default)]
pub struct Parts(pub Vec<(Time, Time)>);

impl Parts {
    #[inline]
    fn contain(&self, at: Time) -> bool {
        self.0.is_empty() || self.0.iter().any(|(from, until)| (*from..*until).contains(&at))
    }
}

/// Joins the observers there are. A run without files is a `Recorder<std::io::Sink>`.
pub struct Recorder<W: Write> {
    /// Events kept in memory, for the tables.
    pub events: Option<EventLog>,
    /// Events streamed to a file.
    pub event_file: Option<EventFile<W>>,
    pub capture: Option<PcapngWriter<W>>,
    /// When they observe.
    pub parts: Parts,
}

impl<W: Write> Recorder<W> {
    /// Nobody watches: give the driver no observer at all, which costs less than this one.
    pub fn is_idle(&self) -> bool {
        self.events.is_none() && self.event_file.is_none() && self.capture.is_none()
    }
}

impl<W: Write> Observer for Recorder<W> {
    #[inline]
    fn wants(&self, flow: FlowId) -> bool {
        self.events.as_ref().is_some_and(|e| e.wants(flow)) || self.event_file.as_ref().is_some_and(|f| f.wants(flow))
    }
    fn event(&mut self, e: Event) {
        if !self.parts.contain(e.at) {
            return;
        }
        if let Some(log) = &mut self.events {
            log.event(e);
        }
        if let Some(file) = &mut self.event_file {
            file.event(e);
        }
    }
    fn packet(&mut self, at: Time, seen: Vantage, p: &Packet, pool: &Pool) {
        let Some(capture) = &mut self.capture else { return };
        if self.parts.contain(at) {
            capture.packet(at, seen, p, pool);
        } else {
            capture.overhears(p, pool);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventLimit, Flows, PcapngOptions};
    use crosswind_base::packet::{Ext, Meta};
    use crosswind_base::{End, EventKind, TcpFlags};

    #[test]
    fn chosen_flows_are_exactly_those_named() {
        let flows = Flows::only([FlowId(5), FlowId(2)]);
        let chosen: Vec<u32> = (0..8).filter(|i| flows.contains(FlowId(*i))).collect();
        assert_eq!(chosen, [2, 5]);
        assert!(Flows::All.contains(FlowId(9)) && !Flows::None.contains(FlowId(0)));
    }

    #[test]
    fn a_recorder_feeds_all_of_its_parts() {
        let capture = PcapngWriter::new(Vec::new(), PcapngOptions::default()).unwrap();
        let events = EventLog::new(Flows::only([FlowId(1)]), EventLimit::default());
        let file = EventFile::new(Vec::new(), Flows::All).unwrap();
        let parts = Parts(vec![(Time(2), Time(4)), (Time(5), Time(6))]);
        let mut r = Recorder { events: Some(events), event_file: Some(file), capture: Some(capture), parts };
        assert!(!r.is_idle() && r.wants(FlowId(1)));
        for at in [Time(1), Time(4), Time(5), Time(6)] {
            let end = End { flow: FlowId(1), seen: Vantage::Sender };
            r.event(Event { at, end, kind: EventKind::Ack, seq: 1, len: 0, aux: 0 });
            r.packet(at, Vantage::Sender, &packet!(Packet::default(); len: 40), &Pool::new());
        }
        assert_eq!((r.events.unwrap().kept_events(), r.event_file.unwrap().finish().unwrap().1), (1, 1));
        assert_eq!(r.capture.unwrap().finish().unwrap().1.written_packets, 1);
    }

    #[test]
    fn a_capture_of_a_part_knows_the_window_scales_from_before_it() {
        let capture = PcapngWriter::new(Vec::new(), PcapngOptions::default()).unwrap();
        let parts = Parts(vec![(Time(2), Time(4))]);
        let mut r = Recorder { events: None, event_file: None, capture: Some(capture), parts };
        let mut pool = Pool::new();
        for (seen, meta) in [(Vantage::Sender, 0), (Vantage::Receiver, Meta::REVERSE)] {
            let id = pool.insert(packet!(Packet::default(); flags: TcpFlags::SYN, meta: Meta(meta)));
            pool.attach(id, Ext { wscale: Some(3), ..Ext::default() });
            r.packet(Time(0), seen, pool.get(id), &pool);
        }
        r.packet(Time(3), Vantage::Sender, &packet!(Packet::default(); wnd: 800, len: 40), &pool);
        let (bytes, summary) = r.capture.unwrap().finish().unwrap();
        assert_eq!(summary.written_packets, 1);
        // The last block ends with the packet, its 40 bytes of headers, and its length again.
        let header = &bytes[bytes.len() - 4 - 40..];
        assert_eq!(header[34..36], [0, 100]);
    }
}
