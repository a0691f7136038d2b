//! Where noq-proto differs from its siblings: calls, signatures of its traits, and its controllers.

use super::null::{NullCrypto, NullKey, TAG_BYTES, initial_keys};
use super::proto::congestion::{
    Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use super::proto::crypto::{
    ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{
    ConnectError, Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, FourTuple, PathId, RttEstimator, SendStream, Side, Transmit,
};
use super::seeded::Key;
use super::watch::{Seen, Watch};
use bytes::{Bytes, BytesMut};
use crosswind_transport::stack::{CutBecause, Probe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

congestion!(Bbr3, "bbr3", Bbr3Config);

pub(super) fn generate_ids(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(Arc::new(make));
}

pub(super) fn endpoint(config: EndpointConfig, server: Option<Arc<super::proto::ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, false)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::new(peer, None), ecn, data, answer)
}

pub(super) fn poll_transmit(c: &mut Connection, now: Instant, segments: usize, out: &mut Vec<u8>) -> Option<Transmit> {
    c.poll_transmit(now, NonZeroUsize::new(segments)?, out)
}

/// How many bytes of a chunk it took.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> usize {
    stream.write_chunks(&mut &mut [chunk][..]).unwrap_or(0)
}

pub(super) fn probe(c: &Connection, seen: &Seen) -> Probe {
    let Some(controller) = c.congestion_state(PathId::ZERO).map(Controller::metrics) else { return Probe::default() };
    Probe {
        cwnd_bytes: Some(controller.congestion_window),
        ssthresh_bytes: controller.ssthresh.filter(|s| *s < u64::MAX),
        pacing_rate_bps: controller.pacing_rate,
        srtt_ns: c.rtt(PathId::ZERO).map(|rtt| rtt.as_nanos() as u64),
        min_rtt_ns: None,
        in_flight_bytes: None,
        sent_packets: Some(seen.packets.sent.load(Ordering::Relaxed)),
        lost_packets: Some(seen.packets.lost.load(Ordering::Relaxed)),
        lost_bytes: Some(seen.packets.lost_bytes.load(Ordering::Relaxed)),
        congestion_events: Some(seen.packets.congestion_events.load(Ordering::Relaxed)),
        retransmitted_packets: None,
        timeouts: None,
    }
}

impl ClientConfig for NullCrypto {
    fn start_session(
        &self,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(self.session(Side::Client, params))
    }
}

impl ServerConfig for NullCrypto {
    fn initial_keys(&self, _version: u32, dst_cid: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(initial_keys(dst_cid, Side::Server))
    }
    fn retry_tag(&self, _version: u32, _orig_dst_cid: ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(&self, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        self.session(Side::Server, params)
    }
}

impl PacketKey for NullKey {
    fn encrypt(&self, _path: PathId, packet: u64, buf: &mut [u8], _header_len: usize) {
        self.seal(packet, buf);
    }
    fn decrypt(&self, _path: PathId, packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.open(packet, payload)
    }
    fn tag_len(&self) -> usize {
        TAG_BYTES
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HandshakeTokenKey for Key {
    fn seal(&self, token_nonce: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        self.derived(&token_nonce.to_be_bytes()).sealed(data, &[]);
        Ok(())
    }
    fn open<'a>(&self, token_nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        self.derived(&token_nonce.to_be_bytes()).opened(data, &[]).map(|text| &*text)
    }
}

impl Controller for Watch {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.sent(bytes);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.seen.packets.sent.fetch_add(1, Ordering::Relaxed);
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.acknowledged(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        let why = match (is_persistent, is_ecn) {
            (true, _) => CutBecause::PersistentCongestion,
            (false, true) => CutBecause::EcnCe,
            (false, false) => CutBecause::Loss,
        };
        self.seen.packets.congestion_events.fetch_add(1, Ordering::Relaxed);
        self.congested(now, lost_bytes, why, |inner| {
            inner.on_congestion_event(now, sent, is_persistent, is_ecn, lost_bytes, largest_lost);
        });
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, now: Instant) {
        self.seen.packets.lost.fetch_add(1, Ordering::Relaxed);
        self.seen.packets.lost_bytes.fetch_add(lost_bytes.into(), Ordering::Relaxed);
        self.inner.on_packet_lost(lost_bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        self.copy()
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
