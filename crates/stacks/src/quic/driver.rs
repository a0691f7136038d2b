//! One end of a QUIC connection: an endpoint, its connection, and what a driver does with both.

use super::params::{Crypto, QuicParams};
use super::proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, RELEASE, ServerConfig, StreamEvent, StreamId as Id, Transmit, TransportConfig, VarInt,
};
use super::seeded::{self, Counting, Date, Key};
use super::session;
use super::tls::Draws;
use super::watch::{Seen, Watching};
use super::{qlog, seam};
use bytes::{Bytes, BytesMut};
use crosswind_base::{Ecn, Rng, Time};
use crosswind_transport::stack::{Cut, Pattern, Probe, Reading, Role, Stack, State, StreamId, Streams};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reads are made in pieces of this many bytes at most.
const READ_BYTES: usize = 1 << 16;

pub struct Quic {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    client: Option<ClientConfig>,
    /// Where it is one.
    server: Option<Arc<ServerConfig>>,
    params: QuicParams,
    /// Virtual time zero; only differences from it matter.
    epoch: Instant,
    now: Instant,
    date: Date,
    /// What a session of TLS draws from.
    draws: Option<Draws>,
    /// When it wants to be woken.
    due: Option<Instant>,
    segments: usize,
    /// What the endpoint itself answers.
    responses: Vec<(Vec<u8>, Ecn)>,
    buf: Vec<u8>,
    seen: Arc<Seen>,
    streams: BTreeMap<StreamId, Stream>,
    state: State,
    content: Bytes,
    known: Pattern,
}

/// What is known of a stream.
#[derive(Default)]
struct Stream {
    written: u64,
    read: u64,
    has_ended: bool,
    is_acknowledged: bool,
}

impl Quic {
    /// One end; everything that it draws comes from `rng`.
    pub fn new(params: &QuicParams, role: Role, mut rng: Rng) -> Quic {
        #[expect(
            clippy::disallowed_methods,
            reason = "an origin, the only way to have one: nothing else is read from it"
        )]
        let epoch = Instant::now();
        let seen = Arc::new(Seen::default());
        let transport = Arc::new(transport(params, &seen, epoch));
        let mut config = EndpointConfig::new(Arc::new(Key(rng.bits())));
        let first_id = rng.bits();
        let most = params.initial_mtu.0.max(1472) as u16;
        config.rng_seed(Some(seeded::seed(&mut rng)));
        seam::generate_ids(&mut config, move || Box::new(Counting::from(first_id)));
        config.max_udp_payload_size(most).unwrap_or_else(|e| panic!("checked with the scenario: {e}"));
        let date = Date::default();
        let server = (role == Role::Server).then(|| {
            let mut server = ServerConfig::new(session::server(params, &date), Arc::new(Key(rng.bits())));
            server.transport_config(transport.clone()).time_source(Arc::new(date.clone()));
            Arc::new(server)
        });
        let first_target = rng.bits();
        let client = (role == Role::Client).then(|| {
            let mut client = ClientConfig::new(session::client(params, &date));
            let target = Arc::new(move || Counting::id(first_target));
            client.transport_config(transport).initial_dst_cid_provider(target);
            client
        });
        Quic {
            endpoint: seam::endpoint(config, server.clone()),
            connection: None,
            client,
            server,
            params: params.clone(),
            epoch,
            now: epoch,
            date,
            draws: (params.crypto == Crypto::Tls).then(|| Draws::new(rng)),
            due: None,
            segments: params.segments as usize,
            responses: Vec::new(),
            buf: Vec::new(),
            seen,
            streams: BTreeMap::new(),
            state: State::Opening,
            content: Bytes::from(Pattern::bytes()),
            known: Pattern::default(),
        }
    }

    fn advance(&mut self, now: Time) {
        self.now = self.epoch + Duration::from_nanos(now.0);
        self.date.set(now.0);
        if let Some(draws) = &self.draws {
            draws.begin();
        }
    }

    /// Lets endpoint and connection tell each other, until neither has anything to say.
    fn settle(&mut self) {
        let Some((handle, c)) = &mut self.connection else { return };
        loop {
            let mut is_quiet = true;
            while let Some(event) = c.poll_endpoint_events() {
                is_quiet = false;
                if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                    c.handle_event(answer);
                }
            }
            while let Some(event) = c.poll() {
                is_quiet = false;
                match event {
                    Event::Connected => self.state = State::Established,
                    Event::ConnectionLost { reason } => self.state = ended(&self.state, &reason),
                    Event::Stream(StreamEvent::Finished { id }) => {
                        self.streams.entry(number(id)).or_default().is_acknowledged = true;
                    }
                    _ => {}
                }
            }
            if is_quiet {
                self.due = c.poll_timeout();
                return;
            }
        }
    }

    fn respond(&mut self, answer: &Transmit) {
        self.responses.push((self.buf[..answer.size].to_vec(), ecn_of(answer.ecn)));
    }

    fn fail(&mut self, why: &str) {
        self.state = State::Failed(why.to_string());
    }
}

/// The configuration of a connection, whose controller is watched.
fn transport(params: &QuicParams, seen: &Arc<Seen>, epoch: Instant) -> TransportConfig {
    params.transport(Arc::new(Watching { inner: params.controller(), seen: seen.clone(), epoch }))
}

/// What the end of a connection means.
fn ended(before: &State, reason: &ConnectionError) -> State {
    match reason {
        _ if *before == State::Closed => State::Closed,
        ConnectionError::ApplicationClosed(c) if c.error_code == VarInt::from_u32(0) => State::Closed,
        ConnectionError::LocallyClosed => State::Closed,
        reason => State::Failed(reason.to_string()),
    }
}

fn number(id: Id) -> StreamId {
    VarInt::from(id).into_inner()
}

fn id(stream: StreamId) -> Id {
    VarInt::from_u64(stream).unwrap_or(VarInt::MAX).into()
}

fn ecn_of(e: Option<EcnCodepoint>) -> Ecn {
    e.map_or(Ecn::NotEct, |e| Ecn::from_bits(e as u8))
}

/// Both ends believe that the other is here.
fn peer() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433)
}

impl Stack for Quic {
    fn open(&mut self, now: Time) {
        self.advance(now);
        let Some(client) = self.client.take() else { return };
        match self.endpoint.connect(self.now, client, peer(), "peer.example") {
            Ok(made) => self.connection = Some(made),
            Err(e) => self.fail(&e.to_string()),
        }
        self.settle();
    }

    fn on_datagram(&mut self, now: Time, data: Vec<u8>, ecn: Ecn) {
        self.advance(now);
        let data = BytesMut::from(Bytes::from(data));
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        self.buf.clear();
        match seam::handle(&mut self.endpoint, self.now, peer(), ecn, data, &mut self.buf) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((known, c)) = &mut self.connection
                    && *known == handle
                {
                    c.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.buf.clear();
                match self.endpoint.accept(incoming, self.now, &mut self.buf, None) {
                    Ok(made) => self.connection = Some(made),
                    Err(e) => {
                        if let Some(answer) = &e.response {
                            self.respond(answer);
                        }
                        self.fail(&e.cause.to_string());
                    }
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(answer)) => self.respond(&answer),
            None => {}
        }
        self.settle();
    }

    fn on_timer(&mut self, now: Time) {
        self.advance(now);
        if let Some((_, c)) = &mut self.connection {
            c.handle_timeout(self.now);
        }
        self.settle();
    }

    fn next_timer(&self) -> Option<Time> {
        Some(Time(self.due?.saturating_duration_since(self.epoch).as_nanos() as u64))
    }

    fn transmit(&mut self, now: Time, out: &mut dyn FnMut(&[u8], Ecn)) {
        self.advance(now);
        self.responses.drain(..).for_each(|(bytes, ecn)| out(&bytes, ecn));
        while let Some((_, c)) = &mut self.connection {
            self.buf.clear();
            let Some(t) = seam::poll_transmit(c, self.now, self.segments, &mut self.buf) else { break };
            let segment = t.segment_size.unwrap_or(t.size).max(1);
            self.buf[..t.size].chunks(segment).for_each(|datagram| out(datagram, ecn_of(t.ecn)));
        }
        self.settle();
    }

    fn streams(&mut self) -> &mut dyn Streams {
        self
    }

    fn close(&mut self, now: Time) {
        self.advance(now);
        if let Some((_, c)) = &mut self.connection
            && !c.is_closed()
        {
            c.close(self.now, VarInt::from_u32(0), Bytes::new());
            self.state = State::Closed;
        }
        self.settle();
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn probe(&self) -> Probe {
        let Some((_, c)) = &self.connection else { return Probe::default() };
        Probe { in_flight_bytes: Some(self.seen.in_flight()), ..seam::probe(c, &self.seen) }
    }

    fn cuts(&mut self, out: &mut dyn FnMut(Cut)) {
        self.seen.take_cuts().into_iter().for_each(out);
    }

    fn log_to(&mut self, out: Box<dyn Write + Send + Sync>) -> bool {
        let can = qlog::IS_KEPT && self.connection.is_none() && (self.client.is_some() || self.server.is_some());
        if can {
            let mut logging = transport(&self.params, &self.seen, self.epoch);
            let role = if self.client.is_some() { "client" } else { "server" };
            qlog::log(&mut logging, out, format!("{}, {role}", RELEASE), self.epoch);
            let logging = Arc::new(logging);
            if let Some(client) = &mut self.client {
                client.transport_config(logging);
            } else if let Some(server) = &mut self.server {
                Arc::make_mut(server).transport_config(logging);
                self.endpoint.set_server_config(Some(server.clone()));
            }
        }
        can
    }
}

impl Streams for Quic {
    fn open(&mut self) -> Option<StreamId> {
        let opened = number(self.connection.as_mut()?.1.streams().open(Dir::Bi)?);
        self.streams.insert(opened, Stream::default());
        Some(opened)
    }

    fn accept(&mut self) -> Option<StreamId> {
        let accepted = number(self.connection.as_mut()?.1.streams().accept(Dir::Bi)?);
        self.streams.insert(accepted, Stream::default());
        Some(accepted)
    }

    fn write(&mut self, stream: StreamId, bytes: u64) -> u64 {
        let (Some((_, c)), Some(s)) = (&mut self.connection, self.streams.get_mut(&stream)) else { return 0 };
        let mut taken = 0;
        while taken < bytes {
            let from = Pattern::place(s.written);
            let piece = (bytes - taken).min(Pattern::stretch() as u64) as usize;
            let chunk = self.content.slice(from..from + piece);
            let wrote = seam::write(&mut c.send_stream(id(stream)), chunk);
            taken += wrote as u64;
            s.written += wrote as u64;
            if wrote < piece {
                break;
            }
        }
        taken
    }

    fn finish(&mut self, stream: StreamId) {
        if let Some((_, c)) = &mut self.connection {
            // It fails only for a stream that the peer has stopped, and then nothing more will come of it.
            let _ = c.send_stream(id(stream)).finish();
        }
    }

    fn read(&mut self, stream: StreamId) -> Reading {
        let (Some((_, c)), Some(s)) = (&mut self.connection, self.streams.get_mut(&stream)) else {
            return Reading::default();
        };
        let (before, mut is_right) = (s.read, true);
        if !s.has_ended
            && let Ok(mut chunks) = c.recv_stream(id(stream)).read(true)
        {
            loop {
                match chunks.next(READ_BYTES) {
                    Ok(Some(chunk)) => {
                        is_right &= self.known.matches(s.read, &chunk.bytes);
                        s.read += chunk.bytes.len() as u64;
                    }
                    Ok(None) => {
                        s.has_ended = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            // Credit is given with the next transmission in any case.
            let _ = chunks.finalize();
        }
        let found = Reading { bytes: s.read - before, is_end: s.has_ended };
        if !is_right {
            self.fail("bytes arrived that were not sent");
        }
        found
    }

    fn is_acknowledged(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_some_and(|s| s.is_acknowledged)
    }
}
