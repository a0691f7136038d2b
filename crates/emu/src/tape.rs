//! Arrivals, recorded as they came and played again in virtual time. The network then decides the same, bit by bit.
//!
//! A tape begins with `CWTAPE1`, the length of the spec and the spec as JSON. Records follow: a kind, a time in
//! nanoseconds, and what the kind needs. Of a frame the headers are kept and its length; payload is played as zeros.

use crate::change::Change;
use crate::delivery::{Delivery, Port, Sink};
use crate::frame;
use crate::host_port::{HostPort, Order};
use crate::spec::Spec;
use crosswind_base::{Clock, Sync, Time};
use std::io::{self, Read, Write};

const MAGIC: &[u8; 8] = b"CWTAPE1\n";
/// Bytes of a frame that are kept at least, if it has so many.
const KEPT_BYTES: usize = 64;
/// Longer texts than this are no spec and no change.
const TEXT_MAX_BYTES: u32 = 64 << 20;

/// What a run was found to have decided, at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    pub at: Time,
    pub fingerprint: u64,
    pub decisions: u64,
}

/// One entry of a tape.
#[derive(Clone, PartialEq, Debug)]
pub enum Record {
    Arrival { at: Time, port: Port, frame: Vec<u8> },
    Change { at: Time, change: Change },
    End(End),
}

/// Writes a tape.
pub struct TapeWriter<W: Write> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> TapeWriter<W> {
    pub fn new(mut out: W, spec: &Spec) -> io::Result<TapeWriter<W>> {
        let text = serde_json::to_vec(spec)?;
        out.write_all(MAGIC)?;
        out.write_all(&(text.len() as u32).to_le_bytes())?;
        out.write_all(&text)?;
        Ok(TapeWriter { out, error: None })
    }

    fn put(&mut self, bytes: &[&[u8]]) {
        for b in bytes {
            if self.error.is_none()
                && let Err(e) = self.out.write_all(b)
            {
                self.error = Some(e);
            }
        }
    }

    pub fn arrival(&mut self, at: Time, port: Port, bytes: &[u8]) {
        let headers = frame::parse(bytes).map_or(0, |h| usize::from(h.len) - usize::from(h.payload));
        let kept = headers.max(KEPT_BYTES).min(bytes.len());
        let lengths = [(bytes.len() as u32).to_le_bytes(), (kept as u32).to_le_bytes()];
        self.put(&[&[0], &at.0.to_le_bytes(), &port.to_le_bytes(), &lengths[0], &lengths[1], &bytes[..kept]]);
    }

    pub fn change(&mut self, at: Time, change: &Change) {
        let text = serde_json::to_vec(change).expect("a change is plain data with text keys");
        self.put(&[&[1], &at.0.to_le_bytes(), &(text.len() as u32).to_le_bytes(), &text]);
    }

    /// Ends the tape; errors of all writes end up here.
    pub fn finish(mut self, end: End) -> io::Result<W> {
        let words = [end.at.0.to_le_bytes(), end.fingerprint.to_le_bytes(), end.decisions.to_le_bytes()];
        self.put(&[&[2], &words[0], &words[1], &words[2]]);
        match self.error {
            Some(e) => Err(e),
            None => self.out.flush().map(|()| self.out),
        }
    }
}

/// Reads a tape, record by record.
pub struct TapeReader<R: Read> {
    input: R,
    pub spec: Spec,
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a tape of this program: {what}"))
}

impl<R: Read> TapeReader<R> {
    pub fn new(mut input: R) -> io::Result<TapeReader<R>> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic)?;
        if &magic != MAGIC {
            return Err(damaged("it begins otherwise"));
        }
        let text = read_text(&mut input)?;
        let spec = serde_json::from_slice(&text).map_err(|e| damaged(&e.to_string()))?;
        Ok(TapeReader { input, spec })
    }

    /// The next record; `None` behind the last one of a tape that was cut off.
    pub fn next_record(&mut self) -> io::Result<Option<Record>> {
        let mut kind = [0];
        if self.input.read(&mut kind)? == 0 {
            return Ok(None);
        }
        let at = Time(read_u64(&mut self.input)?);
        match kind[0] {
            0 => {
                let port = read_u32(&mut self.input)?;
                let [len, kept] = [read_u32(&mut self.input)?, read_u32(&mut self.input)?];
                if kept > len || len > 1 << 20 {
                    return Err(damaged("a frame is longer than any frame"));
                }
                let mut frame = vec![0; len as usize];
                self.input.read_exact(&mut frame[..kept as usize])?;
                Ok(Some(Record::Arrival { at, port, frame }))
            }
            1 => {
                let text = read_text(&mut self.input)?;
                let change = serde_json::from_slice(&text).map_err(|e| damaged(&e.to_string()))?;
                Ok(Some(Record::Change { at, change }))
            }
            2 => {
                let [fingerprint, decisions] = [read_u64(&mut self.input)?, read_u64(&mut self.input)?];
                Ok(Some(Record::End(End { at, fingerprint, decisions })))
            }
            _ => Err(damaged("a record of an unknown kind")),
        }
    }
}

fn read_u32(r: &mut impl Read) -> io::Result<u32> {
    let mut b = [0; 4];
    r.read_exact(&mut b)?;
    Ok(u32::from_le_bytes(b))
}

fn read_u64(r: &mut impl Read) -> io::Result<u64> {
    let mut b = [0; 8];
    r.read_exact(&mut b)?;
    Ok(u64::from_le_bytes(b))
}

fn read_text(r: &mut impl Read) -> io::Result<Vec<u8>> {
    let len = read_u32(r)?;
    if len > TEXT_MAX_BYTES {
        return Err(damaged("a text is longer than any text"));
    }
    let mut text = vec![0; len as usize];
    r.read_exact(&mut text)?;
    Ok(text)
}

/// A tape in the place of a machine: deadlines are met at once, arrivals come when they came.
pub struct Player<R: Read> {
    tape: TapeReader<R>,
    next: Option<Record>,
    /// What the tape says at its end.
    pub end: Option<End>,
    /// Why the tape could not be read on.
    pub error: Option<io::Error>,
    last: Time,
    pub delivered_packets: u64,
}

impl<R: Read> Player<R> {
    pub fn new(tape: TapeReader<R>) -> Player<R> {
        let mut p = Player { tape, next: None, end: None, error: None, last: Time::ZERO, delivered_packets: 0 };
        p.load();
        p
    }

    fn load(&mut self) {
        let next = self.tape.next_record().unwrap_or_else(|e| {
            self.error = Some(e);
            None
        });
        self.next = match next {
            Some(Record::End(end)) => {
                self.last = end.at;
                self.end = Some(end);
                None
            }
            Some(Record::Arrival { at, .. } | Record::Change { at, .. }) if at < self.last => {
                self.error = Some(damaged("its times run backwards"));
                None
            }
            other => other,
        };
    }

    fn next_at(&self) -> Option<Time> {
        match &self.next {
            Some(Record::Arrival { at, .. } | Record::Change { at, .. }) => Some(*at),
            _ => None,
        }
    }
}

impl<R: Read> Clock for Player<R> {
    fn sync(&mut self, deadline: Time) -> Sync {
        match self.next_at() {
            Some(at) if at < deadline => Sync::Interrupted(at),
            None if self.last < deadline => Sync::Interrupted(self.last),
            _ => Sync::OnTime,
        }
    }
}

impl<R: Read> Sink for Player<R> {
    fn deliver(&mut self, _d: Delivery<'_>) {
        self.delivered_packets += 1;
    }
}

impl<R: Read> HostPort for Player<R> {
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)> {
        if !matches!(self.next, Some(Record::Arrival { .. })) {
            return None;
        }
        let Some(Record::Arrival { at, port, frame: bytes }) = self.next.take() else { return None };
        *frame = bytes;
        self.last = at;
        self.load();
        Some((at, port))
    }

    fn order(&mut self) -> Option<Order> {
        match self.next.take() {
            Some(Record::Change { at, change }) => {
                self.last = at;
                self.load();
                Some(Order::Change(at, change))
            }
            None => Some(Order::Stop(self.last)),
            other => {
                self.next = other;
                None
            }
        }
    }
}
