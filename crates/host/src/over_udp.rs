//! A stack of somebody else over a UDP socket of this machine: one end of a flow as a program, in real time.
//!
//! It is the [`Stack`] that simulations drive, with the same parameters. It is told the time of the machine's clock, its datagrams
//! leave one by one with their ECN field (`quinn-udp`, which releases of quinn themselves send with), and an application writes or
//! reads so many bytes on one stream. The network that it meets is whatever the namespace of the thread leads to.

use crate::stream_end::StreamEnd;
use crosswind_base::{Dur, Ecn, Histogram, Streams as Seeds, Time};
use crosswind_emu::live::monotonic_ns;
use crosswind_stacks::ROWS;
use crosswind_transport::stack::{CutBecause, Role, Stack, State};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU64;

/// The longest that the kernel hands over at once, joined datagrams included.
const RECEIVED_MAX_BYTES: usize = 1 << 16;
/// How often application and stack may answer each other at one instant.
const ROUNDS_MAX: u32 = 10_000;
/// So long an end that is over goes on, as its last datagram may have to leave again.
const GRACE: Dur = Dur::from_millis(200);

/// One end, as it is asked for. Times are those of the machine's monotonic clock, or since `start_ns` of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The `transport` table of a flow, with its `type`.
    pub transport: Value,
    /// Where the server listens.
    pub server: SocketAddr,
    /// This end opens the connection and sends; otherwise it is the server.
    pub is_client: bool,
    /// What the client sends; without it, as much as it can.
    pub size_bytes: Option<u64>,
    pub start_ns: u64,
    /// When the client opens the connection, and when either end breaks off, since `start_ns`.
    pub open_ns: u64,
    pub stop_ns: u64,
    /// From one look at the stack to the next.
    pub sample_ns: u64,
    pub seed: u64,
}

fn wrong(e: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, e.to_string())
}

/// The stack of a `transport` table. Errors: there is none of the name, its keys are wrong, or it sends whole IP packets.
fn stack(r: &Request, role: Role) -> io::Result<Box<dyn Stack>> {
    let mut keys = r.transport.as_object().cloned().unwrap_or_default();
    let name = keys.shift_remove("type").and_then(|t| t.as_str().map(String::from)).unwrap_or_default();
    let row = ROWS.iter().find(|row| row.name == name).ok_or_else(|| wrong(format!("no stack `{name}` here")))?;
    let (_, make) = (row.build.read)(&Value::Object(keys), "transport").map_err(wrong)?;
    let made = make(role, Seeds::new(r.seed).named(if r.is_client { "client" } else { "server" }));
    if made.headers_bytes() == 0 {
        return Err(wrong(format!("`{name}` sends whole IP packets, not datagrams")));
    }
    Ok(made)
}

fn ecn_of(field: Option<EcnCodepoint>) -> Ecn {
    field.map_or(Ecn::NotEct, |e| Ecn::from_bits(e as u8))
}

/// Socket, stack and application of one end.
struct Running<'a> {
    request: &'a Request,
    socket: UdpSocket,
    state: UdpSocketState,
    /// Where its datagrams go; a server learns it from the first that comes.
    peer: Option<SocketAddr>,
    stack: Box<dyn Stack>,
    end: StreamEnd,
    leaving: VecDeque<(Vec<u8>, Ecn)>,
    buffer: Vec<u8>,
    opened_at: Option<Time>,
    next_sample: Time,
    /// The socket takes no more for now.
    is_full: bool,
    late_ns: Histogram,
    sent_packets: u64,
    received_packets: u64,
    cuts: Vec<Value>,
    /// Time, window, threshold (-1: none), in flight, smoothed round trip.
    samples: Vec<[i64; 5]>,
    /// Time and bytes read.
    points: Vec<[u64; 2]>,
}

impl<'a> Running<'a> {
    fn new(request: &'a Request) -> io::Result<Running<'a>> {
        let role = if request.is_client { Role::Client } else { Role::Server };
        let own = if request.is_client { SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)) } else { request.server };
        #[expect(clippy::disallowed_methods, reason = "a socket of this machine is what this is about")]
        let socket = UdpSocket::bind(own)?;
        socket.set_nonblocking(true)?;
        Ok(Running {
            request,
            state: UdpSocketState::new(UdpSockRef::from(&socket))?,
            socket,
            peer: request.is_client.then_some(request.server),
            stack: stack(request, role)?,
            end: StreamEnd::new(role, request.size_bytes),
            leaving: VecDeque::new(),
            buffer: vec![0; RECEIVED_MAX_BYTES],
            opened_at: None,
            next_sample: Time::ZERO,
            is_full: false,
            late_ns: Histogram::new(),
            sent_packets: 0,
            received_packets: 0,
            cuts: Vec::new(),
            samples: Vec::new(),
            points: Vec::new(),
        })
    }

    fn now(&self) -> Time {
        Time(monotonic_ns().saturating_sub(self.request.start_ns))
    }

    /// Takes whatever has come.
    fn receive(&mut self) -> io::Result<()> {
        loop {
            let mut meta = [RecvMeta::default()];
            let into = &mut [IoSliceMut::new(&mut self.buffer)];
            match self.state.recv(UdpSockRef::from(&self.socket), into, &mut meta) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The other end is not there yet, or not any more: an ICMP message said so.
                Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(e) => return Err(e),
            }
            let [m] = meta;
            self.peer = self.peer.or(Some(m.addr));
            let now = self.now();
            for datagram in self.buffer[..m.len].chunks(m.stride.max(1)) {
                self.received_packets += 1;
                self.stack.on_datagram(now, datagram.to_vec(), ecn_of(m.ecn));
            }
        }
    }

    /// Application, stack and socket have their turns until none has anything to do.
    fn drive(&mut self) -> io::Result<()> {
        let now = self.now();
        for _ in 0..ROUNDS_MAX {
            let did = self.end.run(&mut *self.stack, now);
            let before = self.leaving.len();
            let leaving = &mut self.leaving;
            self.stack.transmit(now, &mut |bytes, ecn| leaving.push_back((bytes.to_vec(), ecn)));
            if !did && self.leaving.len() == before {
                break;
            }
        }
        self.stack.cuts(&mut |c| {
            let why = match c.why {
                CutBecause::Loss => "loss",
                CutBecause::EcnCe => "mark",
                CutBecause::PersistentCongestion => "persistent congestion",
            };
            self.cuts.push(json!([c.at.0, c.before_bytes, c.after_bytes, why]));
        });
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        self.is_full = false;
        let Some(destination) = self.peer else { return Ok(()) };
        while let Some((contents, ecn)) = self.leaving.front() {
            let ecn = EcnCodepoint::from_bits(*ecn as u8);
            let transmit = Transmit { destination, ecn, contents, segment_size: None, src_ip: None };
            match self.state.try_send(UdpSockRef::from(&self.socket), &transmit) {
                Ok(()) => self.sent_packets += 1,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.is_full = true;
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(e) => return Err(e),
            }
            self.leaving.pop_front();
        }
        Ok(())
    }

    fn look(&mut self, now: Time) {
        if now < self.next_sample {
            return;
        }
        self.next_sample = now + Dur(self.request.sample_ns.max(1_000_000));
        let p = self.stack.probe();
        let number = |v: Option<u64>| v.and_then(|v| i64::try_from(v).ok()).unwrap_or(-1);
        if self.request.is_client && p.cwnd_bytes.is_some() {
            let known = [p.cwnd_bytes, p.ssthresh_bytes, p.in_flight_bytes, p.srtt_ns].map(number);
            self.samples.push([now.0 as i64, known[0], known[1], known[2], known[3]]);
        }
        if self.end.read > 0 {
            self.points.push([now.0, self.end.read]);
        }
    }

    /// Sleeps until something comes, or the time of whatever is next.
    fn wait(&self, until: Time) {
        let left = until.since(self.now());
        let wait = Timespec { tv_sec: (left.0 / 1_000_000_000) as i64, tv_nsec: (left.0 % 1_000_000_000) as i64 };
        let flags = if self.is_full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        // A signal ends it early, and nothing is lost by that.
        let _ = poll(&mut [PollFd::new(&self.socket, flags)], Some(&wait));
    }

    fn run(&mut self) -> io::Result<()> {
        let stop = Time(self.request.stop_ns);
        let opens = if self.request.is_client { Time(self.request.open_ns) } else { Time::NEVER };
        loop {
            let now = self.now();
            let is_over = self.end.closed_at.is_some_and(|at| now >= at + GRACE);
            if now >= stop || is_over || matches!(self.stack.state(), State::Failed(_)) {
                return Ok(());
            }
            if self.opened_at.is_none() && now >= opens {
                self.opened_at = Some(now);
                self.stack.open(now);
            }
            self.receive()?;
            let now = self.now();
            if let Some(due) = self.stack.next_timer().filter(|due| *due <= now) {
                self.late_ns.record(now.since(due).0);
                self.stack.on_timer(now);
            }
            self.drive()?;
            self.look(now);
            let opens = if self.opened_at.is_some() { Time::NEVER } else { opens };
            let over = self.end.closed_at.map_or(Time::NEVER, |at| at + GRACE);
            let timer = self.stack.next_timer().unwrap_or(Time::NEVER);
            self.wait([timer, opens, over, self.next_sample, stop].into_iter().min().unwrap_or(stop));
        }
    }

    fn told(self) -> Value {
        let p = self.stack.probe();
        let time = |t: Option<Time>| t.map_or(-1, |t| t.0 as i64);
        let failure = if let State::Failed(why) = self.stack.state() { Some(why) } else { None };
        json!({
            "open_ns": time(self.opened_at), "close_ns": time(self.end.closed_at), "last_ns": time(self.end.read_at),
            "received_bytes": self.end.read, "written_bytes": self.end.written, "has_all": self.end.has_all,
            "sent_packets": self.sent_packets, "received_packets": self.received_packets,
            "samples": self.samples, "points": self.points, "cuts": self.cuts, "failure": failure,
            "late_p99_ns": self.late_ns.quantile(0.99),
            "stack": {
                "stack_cwnd_bytes": p.cwnd_bytes, "stack_ssthresh_bytes": p.ssthresh_bytes, "stack_srtt_ns": p.srtt_ns,
                "stack_min_rtt_ns": p.min_rtt_ns, "stack_sent_packets": p.sent_packets,
                "stack_lost_packets": p.lost_packets, "stack_lost_bytes": p.lost_bytes,
                "stack_congestion_events": p.congestion_events,
            },
        })
    }
}

/// Runs one end until its time is up, or both ends are done; `listening` is told as soon as datagrams would be heard. Returns what was
/// seen, as JSON. Errors: a table that is wrong, a socket that cannot be had.
pub fn run(r: &Request, listening: impl FnOnce()) -> io::Result<Value> {
    let mut running = Running::new(r)?;
    // Without it the kernel puts sleeps together, 50 microseconds late.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    listening();
    running.run()?;
    Ok(running.told())
}
