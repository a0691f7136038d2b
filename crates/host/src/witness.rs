//! What is seen of one flow between a kernel and our own host: packets at the sender's device, and looks at its socket.
//!
//! Rows are those of the event table of a simulation, so that the same questions can be put to both. The window is read right
//! after each acknowledgement was handed to the kernel, which has worked it off by then.

use crate::tcp_info::{Look, Standing, look};
use crosswind_base::probe::{End, Event};
use crosswind_base::{Dur, EventKind, FlowId, Time, Vantage};
use crosswind_emu::delivery::Port;
use crosswind_emu::journal::{Decision, What};
use etherparse::{Ipv4Slice, TcpSlice};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;

/// A packet that leaves after so long a silence was caused by a timer: the socket is looked at then, too.
const SILENCE: Dur = Dur::from_millis(1);
const BODY: FlowId = FlowId(0);

/// A segment of the flow.
struct Segment {
    is_to_receiver: bool,
    number: u32,
    acknowledges: Option<u32>,
    payload_bytes: u32,
    flags: u8,
    ecn: u8,
    is_syn: bool,
}

/// The witness of one flow.
pub struct Witness {
    sender: Port,
    /// At which the receiver listens.
    port: u16,
    socket: Option<Arc<TcpStream>>,
    events: Vec<Event>,
    /// Of each arrival at the network, in order: sequence number and payload, if it was data or a SYN of the flow.
    arrivals: Vec<Option<(u64, u32)>>,
    iss: Option<u32>,
    sent_to: u64,
    acked_to: u64,
    last: Look,
    /// The window before the last reduction, in segments.
    reduced_from: u32,
    looked_at: Time,
    /// The first error of looking.
    pub trouble: Option<String>,
}

/// The 64-bit number closest to `near` that ends in these 32 bits.
fn unfold(near: u64, low: u32) -> u64 {
    near.saturating_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

impl Witness {
    /// `socket`: the sender's, where that is the kernel's.
    pub fn new(sender: Port, port: u16, socket: Option<Arc<TcpStream>>) -> Witness {
        Witness {
            sender,
            port,
            socket,
            events: Vec::new(),
            arrivals: Vec::new(),
            iss: None,
            sent_to: 0,
            acked_to: 0,
            last: Look::default(),
            reduced_from: 0,
            looked_at: Time::ZERO,
            trouble: None,
        }
    }

    fn read(&self, frame: &[u8]) -> Option<Segment> {
        let ip = Ipv4Slice::from_slice(frame).ok()?;
        let tcp = TcpSlice::from_slice(ip.payload().payload).ok()?;
        let is_to_receiver = tcp.destination_port() == self.port;
        (is_to_receiver || tcp.source_port() == self.port).then(|| Segment {
            is_to_receiver,
            number: tcp.sequence_number(),
            acknowledges: tcp.ack().then(|| tcp.acknowledgment_number()),
            payload_bytes: tcp.payload().len() as u32,
            flags: tcp.header_slice()[13],
            ecn: ip.header().ecn().value(),
            is_syn: tcp.syn(),
        })
    }

    fn note(&mut self, at: Time, kind: EventKind, seq: u64, len: u32, aux: u32) {
        self.note_at(at, Vantage::Sender, kind, seq, len, aux);
    }

    fn note_at(&mut self, at: Time, seen: Vantage, kind: EventKind, seq: u64, len: u32, aux: u32) {
        self.events.push(Event { at, end: End { flow: BODY, seen }, kind, seq, len, aux });
    }

    /// A packet came from a host. Has to be told of every one, since they are counted.
    pub fn came(&mut self, at: Time, frame: &[u8]) {
        let seen = self.read(frame).filter(|s| s.is_to_receiver);
        let data = seen.and_then(|s| self.left(at, &s));
        self.arrivals.push(data);
    }

    /// A segment left the sender; its number and payload, if it has any.
    fn left(&mut self, at: Time, s: &Segment) -> Option<(u64, u32)> {
        if s.is_syn {
            let kind = if self.iss.is_none() { EventKind::Open } else { EventKind::Timeout };
            self.iss = Some(s.number);
            self.note(at, kind, 0, 0, 0);
            return Some((0, 0));
        }
        let seq = unfold(self.sent_to, s.number.wrapping_sub(self.iss?));
        if s.payload_bytes == 0 {
            return None;
        }
        let is_new = seq + u64::from(s.payload_bytes) > self.sent_to;
        if !is_new || at.since(self.looked_at) > SILENCE {
            self.look(at);
        }
        self.sent_to = self.sent_to.max(seq + u64::from(s.payload_bytes));
        let kind = if is_new { EventKind::Send } else { EventKind::Retransmit };
        self.note(at, kind, seq, s.payload_bytes, u32::from(s.flags) | u32::from(s.ecn) << 8);
        Some((seq, s.payload_bytes))
    }

    /// A packet has reached a host, so much later than was meant. An acknowledgement keeps that in `len`, in microseconds.
    pub fn reached(&mut self, at: Time, host: Port, frame: &[u8], late: Dur) {
        let (Some(s), Some(iss)) = (self.read(frame), self.iss) else { return };
        let aux = u32::from(s.flags) | u32::from(s.ecn) << 8;
        if host != self.sender {
            if s.payload_bytes > 0 {
                let seq = unfold(self.sent_to, s.number.wrapping_sub(iss));
                self.note_at(at, Vantage::Receiver, EventKind::Receive, seq, s.payload_bytes, aux);
            }
            return;
        }
        if let Some(low) = s.acknowledges {
            let ack = unfold(self.acked_to, low.wrapping_sub(iss));
            self.acked_to = self.acked_to.max(ack);
            self.note(at, EventKind::Ack, ack, (late.0 / 1000).min(u32::MAX.into()) as u32, aux);
        }
        self.look(at);
    }

    /// Looks at the socket, and writes down what is and what has changed.
    fn look(&mut self, at: Time) {
        let Some(socket) = &self.socket else { return };
        self.looked_at = at;
        let now = match look(socket.as_fd()) {
            Ok(now) => now,
            Err(e) => {
                self.trouble.get_or_insert(format!("TCP_INFO: {e}"));
                return;
            }
        };
        if !now.is_established {
            return;
        }
        let before = std::mem::replace(&mut self.last, now);
        let first = self.acked_to;
        use Standing::{Disorder, Loss, Open, Recovery, Reduced};
        // Those of the SYN were seen on the wire.
        let timeouts = if before.is_established { now.timeouts.saturating_sub(before.timeouts) } else { 0 };
        (0..timeouts).for_each(|_| self.note(at, EventKind::Timeout, first.max(1), 0, 0));
        if matches!(before.standing, Open | Disorder) {
            self.reduced_from = before.cwnd;
        }
        match (before.standing, now.standing) {
            (a, b) if a == b => {}
            // The whole window is back: the sender has found out that nothing was lost.
            (Recovery | Loss, Open | Disorder) if now.cwnd >= self.reduced_from => {
                self.note(at, EventKind::Spurious, first, 0, 0);
            }
            (_, Recovery) => self.note(at, EventKind::Recovery, first, 0, 0),
            (_, Reduced) => self.note(at, EventKind::EcnReduce, first, 0, 0),
            (Recovery | Reduced | Loss, Open | Disorder) => self.note(at, EventKind::Recovered, first, 0, 0),
            _ => {}
        }
        // As in a simulation with every acknowledgement, whether it has changed or not.
        let mss = now.mss_bytes;
        self.note(at, EventKind::Cwnd, u64::from(now.cwnd) * u64::from(mss), 0, now.ssthresh.saturating_mul(mss));
        if now.srtt_us != before.srtt_us {
            // Each sample moves the smoothed round trip by an eighth of the way (rfc6298 section 2.3).
            let (new, old) = (i64::from(now.srtt_us), i64::from(before.srtt_us));
            let sample_us = if old == 0 { new } else { 8 * new - 7 * old };
            self.note(at, EventKind::Rtt, sample_us.max(0) as u64 * 1000, 0, 0);
        }
    }

    /// All that was seen, in order of time; with what the network decided of the flow's data.
    pub fn testify(mut self, decisions: &[Decision]) -> Vec<Event> {
        for d in decisions {
            let kind = match d.what {
                What::Dropped => EventKind::Drop,
                What::Lost => EventKind::Lost,
                What::Marked => EventKind::Mark,
                What::Delivered => continue,
            };
            let of = d.packet.checked_sub(1).and_then(|n| self.arrivals.get(n as usize));
            if let Some(Some((seq, len))) = of.copied() {
                self.note(d.at, kind, seq, len, d.place);
            }
        }
        self.events.sort_by_key(|e| e.at);
        self.events
    }

    /// Whether the kernel is the sender.
    pub fn is_kernels(&self) -> bool {
        self.socket.is_some()
    }

    /// The last look.
    pub fn last(&self) -> Look {
        self.last
    }
}
