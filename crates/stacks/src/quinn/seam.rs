//! Where quinn-proto differs from its siblings: calls, signatures of its traits, and its controllers.

use super::null::{NullCrypto, NullKey, TAG_BYTES, initial_keys};
use super::proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use super::proto::crypto::{
    AeadKey, ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{
    ConnectError, Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, Packets, RttEstimator, SendStream, Side, Transmit,
};
use super::seeded::Key;
use super::watch::{Seen, Watch};
use bytes::{Bytes, BytesMut};
use crosswind_transport::stack::{CutBecause, Probe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

congestion!(Bbr, "bbr", BbrConfig);

pub(super) fn generate_ids(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(make);
}

pub(super) fn endpoint(config: EndpointConfig, server: Option<Arc<super::proto::ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, false, None)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, peer, None, ecn, data, answer)
}

pub(super) fn poll_transmit(c: &mut Connection, now: Instant, segments: usize, out: &mut Vec<u8>) -> Option<Transmit> {
    c.poll_transmit(now, segments, out)
}

/// How many bytes of a chunk it took.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> usize {
    stream.write_chunks(&mut [chunk]).map_or(0, |wrote| wrote.bytes)
}

pub(super) fn probe(c: &Connection, Seen { packets: Packets, .. }: &Seen) -> Probe {
    let (path, controller) = (c.stats().path, c.congestion_state().metrics());
    Probe {
        cwnd_bytes: Some(path.cwnd),
        ssthresh_bytes: controller.ssthresh.filter(|s| *s < u64::MAX),
        pacing_rate_bps: controller.pacing_rate,
        srtt_ns: Some(path.rtt.as_nanos() as u64),
        min_rtt_ns: Some(path.min_rtt.as_nanos() as u64),
        in_flight_bytes: None,
        sent_packets: Some(path.sent_packets),
        lost_packets: Some(path.lost_packets),
        lost_bytes: Some(path.lost_bytes),
        congestion_events: Some(path.congestion_events),
        retransmitted_packets: None,
        timeouts: None,
    }
}

impl ClientConfig for NullCrypto {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(self.session(Side::Client, params))
    }
}

impl ServerConfig for NullCrypto {
    fn initial_keys(&self, _version: u32, dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(initial_keys(dst_cid, Side::Server))
    }
    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        self.session(Side::Server, params)
    }
}

impl PacketKey for NullKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], _header_len: usize) {
        self.seal(packet, buf);
    }
    fn decrypt(&self, packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
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
    fn aead_from_hkdf(&self, random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(self.derived(random))
    }
}

impl AeadKey for Key {
    fn seal(&self, data: &mut Vec<u8>, more: &[u8]) -> Result<(), CryptoError> {
        self.sealed(data, more);
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], more: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        self.opened(data, more)
    }
}

impl Controller for Watch {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.sent(bytes);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.acknowledged(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        let why = match (is_persistent, lost_bytes) {
            (true, _) => CutBecause::PersistentCongestion,
            (false, 0) => CutBecause::EcnCe,
            (false, _) => CutBecause::Loss,
        };
        self.congested(now, lost_bytes, why, |inner| inner.on_congestion_event(now, sent, is_persistent, lost_bytes));
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
