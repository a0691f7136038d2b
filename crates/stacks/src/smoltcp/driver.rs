//! One end of a connection of smoltcp: an interface with a single socket, and what a driver does with both.

use super::params::{Congestion, SmoltcpParams};
use crate::tcp::Place;
use crate::tcp::wire::{Glance, glance, payload_bytes};
use crosswind_base::{Ecn, Time};
use crosswind_transport::stack::{Pattern, Probe, Reading, Role, Stack, State, StreamId, Streams};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State as Phase};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};
use std::collections::VecDeque;

/// TCP has one stream.
const STREAM: StreamId = 0;
/// Both ends are neighbours.
const PREFIX_BITS: u8 = 24;

/// A device of two lists.
struct Lists {
    arrived: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
    mtu: usize,
}

struct Arrived(Vec<u8>);
struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut bytes = vec![0; len];
        let done = f(&mut bytes);
        self.0.push_back(bytes);
        done
    }
}

impl Device for Lists {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let bytes = self.arrived.pop_front()?;
        Some((Arrived(bytes), Leaving(&mut self.leaving)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut c = DeviceCapabilities::default();
        c.medium = Medium::Ip;
        c.max_transmission_unit = self.mtu;
        c
    }
}

/// What its packets say of it: it tells nothing itself.
#[derive(Default)]
struct Watched {
    sent_packets: u64,
    retransmitted_packets: u64,
    /// Offsets from the number of its SYN.
    first: Option<u32>,
    sent_to: u64,
    acked_to: u64,
}

impl Watched {
    fn sends(&mut self, g: &Glance) {
        self.sent_packets += 1;
        if g.has_syn {
            self.first = Some(g.seq);
        }
        let Some(first) = self.first else { return };
        let from = self.near(g.seq.wrapping_sub(first), self.sent_to);
        self.retransmitted_packets += u64::from(g.payload > 0 && from < self.sent_to);
        self.sent_to = self.sent_to.max(from + u64::from(g.payload) + u64::from(g.has_syn));
    }

    fn hears(&mut self, g: &Glance) {
        if let (Some(first), Some(ack)) = (self.first, g.ack) {
            let ack = self.near(ack.wrapping_sub(first), self.acked_to);
            self.acked_to = self.acked_to.max(ack.min(self.sent_to));
        }
    }

    fn near(&self, low: u32, near: u64) -> u64 {
        near.saturating_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
    }
}

/// One end.
pub struct Smoltcp {
    interface: Interface,
    device: Lists,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    role: Role,
    places: [Place; 2],
    /// When it wants to be woken.
    due: Option<Time>,
    is_given: bool,
    is_finished: bool,
    written: u64,
    read: u64,
    has_ended: bool,
    state: State,
    before: Phase,
    was_reset: bool,
    watched: Watched,
    content: Vec<u8>,
    known: Pattern,
}

fn instant(now: Time) -> Instant {
    Instant::from_micros((now.0 / 1000) as i64)
}

fn duration(ns: u64) -> Duration {
    Duration::from_micros(ns / 1000)
}

fn address(place: Place) -> IpAddress {
    IpAddress::Ipv4(Ipv4Address::from(place.address))
}

impl Smoltcp {
    /// One end. `places`: its own and the peer's. All that it draws follows from `seed`.
    pub fn new(params: &SmoltcpParams, role: Role, places: [Place; 2], seed: u64) -> Smoltcp {
        let mut device = Lists { arrived: VecDeque::new(), leaving: VecDeque::new(), mtu: params.mtu.0 as usize };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|all| {
            // There is room for the first.
            let _ = all.push(IpCidr::new(address(places[0]), PREFIX_BITS));
        });
        let buffer = |bytes: u64| SocketBuffer::new(vec![0; bytes as usize]);
        let mut socket = Socket::new(buffer(params.receive_buffer.0), buffer(params.send_buffer.0));
        socket.set_congestion_control(match params.congestion {
            Congestion::Cubic => CongestionControl::Cubic,
            Congestion::Reno => CongestionControl::Reno,
            Congestion::None => CongestionControl::None,
        });
        socket.set_ack_delay((params.ack_delay.0 > 0).then(|| duration(params.ack_delay.0)));
        socket.set_timeout(Some(duration(params.idle_timeout.0)));
        if role == Role::Server {
            socket.listen(places[0].port).unwrap_or_else(|e| panic!("the port is not zero: {e:?}"));
        }
        let mut sockets = SocketSet::new(Vec::with_capacity(1));
        let handle = sockets.add(socket);
        Smoltcp {
            interface,
            device,
            sockets,
            handle,
            role,
            places,
            due: None,
            is_given: false,
            is_finished: false,
            written: 0,
            read: 0,
            has_ended: false,
            state: State::Opening,
            before: if role == Role::Server { Phase::Listen } else { Phase::Closed },
            was_reset: false,
            watched: Watched::default(),
            content: Pattern::bytes(),
            known: Pattern::default(),
        }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn phase(&self) -> Phase {
        self.sockets.get::<Socket>(self.handle).state()
    }

    /// Lets it work until it has nothing more to send at this instant.
    fn poll(&mut self, now: Time) {
        let at = instant(now);
        loop {
            let before = self.device.leaving.len();
            self.interface.poll(at, &mut self.device, &mut self.sockets);
            self.look();
            if self.device.leaving.len() == before {
                break;
            }
        }
        // It counts in microseconds: what it wants at this one, it has had; the next is the soonest.
        let next = self.interface.poll_at(at, &self.sockets).map(|t| t.max(at + Duration::from_micros(1)));
        self.due = next.map(|t| Time(t.total_micros() as u64 * 1000));
    }

    /// How far the connection has come.
    fn look(&mut self) {
        let phase = self.phase();
        if phase == self.before {
            return;
        }
        let was = std::mem::replace(&mut self.before, phase);
        match phase {
            Phase::Listen | Phase::SynSent | Phase::SynReceived => {}
            Phase::Established | Phase::FinWait1 | Phase::FinWait2 | Phase::CloseWait | Phase::Closing => {
                self.state = State::Established;
            }
            Phase::LastAck => {}
            Phase::TimeWait => self.state = State::Closed,
            Phase::Closed if matches!(was, Phase::LastAck | Phase::TimeWait) && !self.was_reset => {
                self.state = State::Closed;
            }
            Phase::Closed if self.was_reset => self.fail("reset by the peer"),
            Phase::Closed => self.fail("timed out"),
        }
    }

    fn fail(&mut self, why: &str) {
        self.state = State::Failed(why.into());
    }
}

impl Stack for Smoltcp {
    fn open(&mut self, now: Time) {
        if self.role == Role::Client {
            let [local, remote] = self.places;
            let socket = self.sockets.get_mut::<Socket>(self.handle);
            let target = (address(remote), remote.port);
            if let Err(e) = socket.connect(self.interface.context(), target, local.port) {
                self.fail(&format!("{e:?}"));
            }
        }
        self.poll(now);
    }

    fn on_datagram(&mut self, now: Time, data: Vec<u8>, _: Ecn) {
        if let Some(g) = glance(&data) {
            self.watched.hears(&g);
            self.was_reset |= g.has_rst;
        }
        self.device.arrived.push_back(data);
        self.poll(now);
    }

    fn on_timer(&mut self, now: Time) {
        self.poll(now);
    }

    fn next_timer(&self) -> Option<Time> {
        self.due
    }

    fn transmit(&mut self, now: Time, out: &mut dyn FnMut(&[u8], Ecn)) {
        self.poll(now);
        while let Some(bytes) = self.device.leaving.pop_front() {
            if let Some(g) = glance(&bytes) {
                self.watched.sends(&g);
            }
            out(&bytes, Ecn::NotEct);
        }
    }

    fn streams(&mut self) -> &mut dyn Streams {
        self
    }

    /// What was finished ends by itself; anything else is reset.
    fn close(&mut self, now: Time) {
        if !self.is_finished {
            self.socket().abort();
            (self.before, self.state) = (Phase::Closed, State::Closed);
        }
        self.poll(now);
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn probe(&self) -> Probe {
        let w = &self.watched;
        Probe {
            in_flight_bytes: Some(w.sent_to.saturating_sub(w.acked_to)),
            sent_packets: Some(w.sent_packets),
            retransmitted_packets: Some(w.retransmitted_packets),
            ..Probe::default()
        }
    }

    /// Its packets are whole.
    fn headers_bytes(&self) -> u16 {
        0
    }

    fn payload_of(&self) -> fn(&[u8]) -> usize {
        payload_bytes
    }
}

impl Streams for Smoltcp {
    fn open(&mut self) -> Option<StreamId> {
        let is_open = matches!(self.phase(), Phase::Established | Phase::CloseWait);
        (is_open && !std::mem::replace(&mut self.is_given, true)).then_some(STREAM)
    }

    fn accept(&mut self) -> Option<StreamId> {
        Streams::open(self)
    }

    fn write(&mut self, _: StreamId, bytes: u64) -> u64 {
        let mut taken = 0;
        while taken < bytes {
            let from = Pattern::place(self.written);
            let piece = (bytes - taken).min(Pattern::stretch() as u64) as usize;
            let content = &self.content[from..from + piece];
            // A socket that cannot send any more takes nothing.
            let wrote = self.sockets.get_mut::<Socket>(self.handle).send_slice(content).unwrap_or(0);
            taken += wrote as u64;
            self.written += wrote as u64;
            if wrote == 0 {
                break;
            }
        }
        taken
    }

    fn finish(&mut self, _: StreamId) {
        self.is_finished = true;
        self.socket().close();
    }

    fn read(&mut self, _: StreamId) -> Reading {
        let (before, mut is_right) = (self.read, true);
        loop {
            let (known, from) = (&self.known, self.read);
            let socket = self.sockets.get_mut::<Socket>(self.handle);
            let Ok(got) = socket.recv(|data| (data.len(), (data.len(), known.matches(from, data)))) else { break };
            is_right &= got.1;
            self.read += got.0 as u64;
            if got.0 == 0 {
                break;
            }
        }
        if !is_right {
            self.fail("bytes arrived that were not sent");
        }
        let peer_has_closed = [Phase::CloseWait, Phase::LastAck, Phase::Closing, Phase::TimeWait];
        self.has_ended |= peer_has_closed.contains(&self.phase());
        Reading { bytes: self.read - before, is_end: self.has_ended }
    }

    fn is_acknowledged(&self, _: StreamId) -> bool {
        let is_over = self.state == State::Closed;
        self.is_finished && (is_over || matches!(self.phase(), Phase::FinWait2 | Phase::TimeWait))
    }
}
