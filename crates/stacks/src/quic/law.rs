//! A window law of Crosswind in the place of a QUIC stack's own controller: what the stack tells, in the words of the law.
//!
//! The law is the one that Crosswind's TCP runs, with the same numbers. What QUIC has otherwise (RFC 9002, section 7) is here: an
//! ACK frame is one acknowledgement of as many bytes as it newly covers; what left before a reduction neither grows the window nor
//! reduces it again; a reduction is taken at once and from the window; persistent congestion leaves two datagrams. A loss is the stack's to
//! find, and so is when a packet leaves.
//!
//! This file stands on `crosswind-transport` alone: `crosswind port LAW --to quinn` gives it away as it is.

use crosswind_transport::tcp::law::{AckSample, Change, Controller, ControllerParams, Law, LawName, Needs};
use crosswind_transport::tcp::params::{AvoidanceCounting, SlowStart};
use crosswind_transport::tcp::{Ack, TcpParams, Trigger, preset};
use std::time::{Duration, Instant};

/// The first window in bytes for datagrams of a size: ten of them, and 14 720 bytes or two datagrams at most (RFC 9002, section 7.2).
pub fn initial_window(datagram_bytes: u64) -> u64 {
    (10 * datagram_bytes).min(14_720.max(2 * datagram_bytes))
}

/// Why a law cannot run in a QUIC stack; nothing if it can.
pub fn why_not(of: &ControllerParams) -> Option<&'static str> {
    let needs = Needs::of(of);
    if of.law == LawName::Own {
        return Some("a law of the engine: one that a program brings is known to its TCP only");
    }
    if needs.delivery || needs.pacing || needs.recovery {
        return Some(
            "a law that acknowledgements and losses alone make: the stack measures no delivery rate and paces by itself",
        );
    }
    if needs.apart {
        return Some("a law that needs no count of marks: the stack tells only that there was one");
    }
    if of.slow_start != SlowStart::Standard || of.early != ControllerParams::of(of.law).early {
        return Some("the law alone: the end of slow start and early responses are parts of Crosswind's TCP");
    }
    None
}

/// One connection's law. All times are of one clock.
#[derive(Clone, Debug)]
pub struct Ported {
    law: Law,
    initial_bytes: u64,
    datagram_bytes: u64,
    epoch: Instant,
    /// When the window was reduced last: what left until then belongs to that reduction.
    reduced_at: Option<Instant>,
    /// Bytes that are no longer in the network, as if they were numbered in order.
    gone_bytes: u64,
    frame: Frame,
}

/// What one ACK frame covers.
#[derive(Clone, Debug, Default)]
struct Frame {
    bytes: u64,
    packets: u32,
    /// Of these bytes, those that may grow the window.
    credit_bytes: u64,
    newest: Option<Instant>,
}

impl Ported {
    /// The law in its first state. `initial_bytes`: the first window, that of RFC 9002 if none is given.
    pub fn new(of: &ControllerParams, initial_bytes: Option<u64>, datagram_bytes: u16, now: Instant) -> Ported {
        let datagram_bytes = u64::from(datagram_bytes);
        let rfc = preset::PRESETS.iter().find(|p| p.name == "rfc").expect("the RFCs have a preset");
        let params: TcpParams = (rfc.make)().with(|p| {
            p.controller = of.clone();
            p.connection.mss = crosswind_base::units::Size(datagram_bytes);
            // In slow start a window grows by what is acknowledged, and in avoidance by its share of a window (section 7.3).
            p.window.avoidance_counting = AvoidanceCounting::Segments;
        });
        let initial_bytes = initial_bytes.unwrap_or_else(|| initial_window(datagram_bytes));
        let mut law = Law::new(&params);
        law.change(Change::StartFrom(initial_bytes as f64));
        Ported {
            law,
            initial_bytes,
            datagram_bytes,
            epoch: now,
            reduced_at: None,
            gone_bytes: 0,
            frame: Frame::default(),
        }
    }

    /// A packet is acknowledged that left at `sent`.
    pub fn acked(&mut self, sent: Instant, bytes: u64, app_limited: bool) {
        let belongs_to_reduction = self.reduced_at.is_some_and(|at| sent <= at);
        self.frame.bytes += bytes;
        self.frame.packets += 1;
        self.frame.credit_bytes += if app_limited || belongs_to_reduction { 0 } else { bytes };
        self.frame.newest = self.frame.newest.max(Some(sent));
    }

    /// The ACK frame ends; `in_flight_bytes` are in the network after it.
    pub fn frame_ends(&mut self, now: Instant, in_flight_bytes: u64, app_limited: bool) {
        let frame = std::mem::take(&mut self.frame);
        if frame.bytes == 0 {
            return;
        }
        self.gone_bytes += frame.bytes;
        let mut ack = Ack::default();
        ack.now = crosswind_base::Time(now.saturating_duration_since(self.epoch).as_nanos() as u64);
        ack.ack = self.gone_bytes;
        (ack.bytes, ack.delivered) = (frame.bytes, frame.bytes);
        (ack.segments, ack.newly_delivered) = (frame.packets, frame.packets);
        ack.rtt = frame.newest.map(|sent| nanos(now.saturating_duration_since(sent)));
        ack.in_flight_before = in_flight_bytes + frame.bytes;
        ack.window_limited = !app_limited;
        ack.slow_start = self.law.window().in_slow_start();
        let sample = AckSample {
            may_grow: frame.credit_bytes > 0,
            credit: frame.credit_bytes,
            in_flight: in_flight_bytes,
            nxt: self.gone_bytes + in_flight_bytes,
            ..AckSample::of(&ack)
        };
        self.law.on_ack(&sample);
    }

    /// Packets are lost, the last of which left at `sent`, or one that left then was marked. Once in a flight.
    pub fn congested(&mut self, now: Instant, sent: Instant, is_persistent: bool, is_mark: bool, lost_bytes: u64) {
        self.gone_bytes += lost_bytes;
        if self.reduced_at.is_some_and(|at| sent <= at) {
            return;
        }
        let window = self.law.cwnd();
        if is_persistent {
            self.law.reduce(Trigger::Timeout, window);
            self.law.change(Change::StartFrom(2.0 * self.datagram_bytes as f64));
            self.reduced_at = None;
        } else {
            self.law.reduce(if is_mark { Trigger::Echo } else { Trigger::Loss }, window);
            self.reduced_at = Some(now);
        }
    }

    /// Datagrams have another size from now on; the window keeps its bytes.
    pub fn resized(&mut self, datagram_bytes: u16) {
        self.datagram_bytes = datagram_bytes.into();
        self.law.change(Change::SmallerSegments(f64::from(datagram_bytes)));
    }

    /// The window in bytes, two datagrams at least (section 7.2).
    pub fn window(&self) -> u64 {
        (self.law.cwnd() as u64).max(2 * self.datagram_bytes)
    }

    /// The slow-start threshold in bytes, if a reduction has set one.
    pub fn threshold(&self) -> Option<u64> {
        let bytes = self.law.ssthresh();
        (bytes < f64::from(1 << 30)).then_some(bytes as u64)
    }

    pub fn initial_window(&self) -> u64 {
        self.initial_bytes
    }
}

fn nanos(d: Duration) -> crosswind_base::Dur {
    crosswind_base::Dur(d.as_nanos() as u64)
}

/// What makes the law of each connection.
#[derive(Clone, Debug)]
pub struct LawFactory {
    pub law: ControllerParams,
    /// The first window in bytes; that of RFC 9002 if none is given.
    pub initial_window: Option<u64>,
}

impl LawFactory {
    /// From the table of a law as a scenario has it, in JSON: `{ "law": "htcp", "htcp": { "beta_max": 0.7 } }`, or its name in quotes.
    pub fn of_json(table: &str) -> Result<LawFactory, String> {
        let table = serde_json::from_str(table).map_err(|e| e.to_string())?;
        Ok(LawFactory { law: read(&table, "law").map_err(|e| e.to_string())?, initial_window: None })
    }
}

/// A law by its name, or a table with its parameters. `path`: where it stands.
pub fn read(value: &serde_json::Value, path: &str) -> Result<ControllerParams, crosswind_base::ConfigError> {
    use crosswind_base::{ConfigError, config};
    let table = match value {
        serde_json::Value::String(_) => serde_json::json!({ "law": value }),
        table => table.clone(),
    };
    // A name is wrong where it stands, not at a key that nobody wrote.
    let law = config::read::<ControllerParams>(&table, path).map_err(|mut e| {
        if value.is_string() {
            e.path = path.to_string();
        }
        e
    })?;
    match why_not(&law) {
        Some(expected) => Err(ConfigError::new(path, format!("{:?}", law.law).to_lowercase(), expected)),
        None => Ok(law),
    }
}
