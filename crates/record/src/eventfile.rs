//! The events of chosen flows, streamed to a file as they happen: any number of them in bounded memory.
//!
//! The file is a NumPy array of records (`numpy.load(path, mmap_mode="r")`): [`FIELDS`] say which. Kinds and ends are
//! words, so that nothing else is needed to read it. The number of records stands in the header, in front of all of
//! them: the driver writes [`header`] once more over the beginning when it is known.

use crate::flows::Flows;
use crosswind_base::{Event, EventKind, FlowId, Observer, Packet, Pool, Time, Vantage};
use std::io::{self, Write};

const KIND_BYTES: usize = 12;
const END_BYTES: usize = 8;
/// Bytes of one event.
pub const RECORD_BYTES: usize = 8 + 8 + 4 + 4 + 4 + KIND_BYTES + END_BYTES;
/// Bytes in front of the events.
pub const HEADER_BYTES: usize = 256;

/// The record, in NumPy's notation.
const FIELDS: &str = "[('time_ns', '<u8'), ('seq', '<u8'), ('flow', '<u4'), ('len', '<u4'), ('aux', '<u4'), \
                      ('kind', '|S12'), ('end', '|S8')]";

/// The beginning of a file with so many events.
pub fn header(events: u64) -> [u8; HEADER_BYTES] {
    let mut out = [b' '; HEADER_BYTES];
    out[..8].copy_from_slice(b"\x93NUMPY\x01\x00");
    out[8..10].copy_from_slice(&((HEADER_BYTES - 10) as u16).to_le_bytes());
    let text = format!("{{'descr': {FIELDS}, 'fortran_order': False, 'shape': ({events},), }}");
    out[10..10 + text.len()].copy_from_slice(text.as_bytes());
    out[HEADER_BYTES - 1] = b'\n';
    out
}

/// An observer that writes down what happens to the flows it was told to follow. It makes one small write per event:
/// give it a buffered writer.
pub struct EventFile<W: Write> {
    out: W,
    flows: Flows,
    events: u64,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
    kinds: [[u8; KIND_BYTES]; EventKind::NAMES.len()],
    ends: [[u8; END_BYTES]; Vantage::NAMES.len()],
}

/// A word in as many bytes, filled up with zeros.
fn padded<const N: usize>(word: &str) -> [u8; N] {
    let mut out = [0; N];
    out[..word.len()].copy_from_slice(word.as_bytes());
    out
}

impl<W: Write> EventFile<W> {
    /// Writes a header that tells of no events.
    pub fn new(mut out: W, flows: Flows) -> io::Result<EventFile<W>> {
        out.write_all(&header(0))?;
        let (kinds, ends) = (EventKind::NAMES.map(padded), Vantage::NAMES.map(padded));
        Ok(EventFile { out, flows, events: 0, error: None, kinds, ends })
    }

    /// Flushes and gives back the writer and the number of events; errors of all writes end up here.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        if let Some(e) = self.error {
            return Err(e);
        }
        self.out.flush()?;
        Ok((self.out, self.events))
    }
}

impl<W: Write> Observer for EventFile<W> {
    #[inline]
    fn wants(&self, flow: FlowId) -> bool {
        self.flows.contains(flow)
    }
    fn event(&mut self, e: Event) {
        if self.error.is_some() {
            return;
        }
        let mut r = [0; RECORD_BYTES];
        r[..8].copy_from_slice(&e.at.0.to_le_bytes());
        r[8..16].copy_from_slice(&e.seq.to_le_bytes());
        r[16..20].copy_from_slice(&e.end.flow.0.to_le_bytes());
        r[20..24].copy_from_slice(&e.len.to_le_bytes());
        r[24..28].copy_from_slice(&e.aux.to_le_bytes());
        r[28..28 + KIND_BYTES].copy_from_slice(&self.kinds[e.kind as usize]);
        r[28 + KIND_BYTES..].copy_from_slice(&self.ends[e.end.seen as usize]);
        match self.out.write_all(&r) {
            Ok(()) => self.events += 1,
            Err(e) => self.error = Some(e),
        }
    }
    fn packet(&mut self, _at: Time, _seen: Vantage, _p: &Packet, _pool: &Pool) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::End;

    fn event(kind: EventKind) -> Event {
        let end = End { flow: FlowId(3), seen: Vantage::Receiver };
        Event { at: Time(0x0102), end, kind, seq: 77, len: 536, aux: 9 }
    }

    #[test]
    fn a_file_is_a_header_of_fixed_length_and_one_record_per_event() {
        let mut f = EventFile::new(Vec::new(), Flows::All).unwrap();
        f.event(event(EventKind::Send));
        f.event(event(EventKind::EcnReduce));
        let (bytes, events) = f.finish().unwrap();
        assert_eq!((events, bytes.len()), (2, HEADER_BYTES + 2 * RECORD_BYTES));
        let first = &bytes[HEADER_BYTES..HEADER_BYTES + RECORD_BYTES];
        assert_eq!((first[0], first[1], first[8], first[16]), (2, 1, 77, 3));
        assert_eq!((&first[28..33], &first[40..48]), (&b"send\0"[..], &b"receiver"[..]));
        assert_eq!(&bytes[HEADER_BYTES + RECORD_BYTES + 28..][..10], b"ecn_reduce");
    }

    #[test]
    fn the_header_has_one_length_for_any_number_of_events() {
        let text = String::from_utf8_lossy(&header(u64::MAX)).to_string();
        assert!(text.contains("'shape': (18446744073709551615,), }") && text.ends_with('\n'), "{text}");
        assert_eq!(HEADER_BYTES % 64, 0, "NumPy wants the data aligned");
    }

    #[test]
    fn every_name_has_room() {
        assert!(EventKind::NAMES.iter().all(|n| n.len() <= KIND_BYTES));
        assert!(Vantage::NAMES.iter().all(|n| n.len() <= END_BYTES));
    }
}
