//! A cryptographic session that encrypts nothing: the messages of a handshake have their sizes and their order, and keys are
//! numbers that packets carry, so that a packet of the wrong level or phase fails as it would with a cipher.

use super::proto::crypto::{CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{ConnectionId, Side, TransportError, violation};
use bytes::BytesMut;
use std::any::Any;

/// Bytes that authentication adds to a packet, as with the ciphers of TLS 1.3.
pub(super) const TAG_BYTES: usize = 16;
/// Type and length of a handshake message, and the length of the parameters in it.
const MESSAGE_HEADER_BYTES: usize = 6;

/// Sizes of the handshake's messages in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The client's first: versions, key share, server name.
    pub hello: usize,
    /// The server's key share.
    pub answer: usize,
    /// The server's certificates, with what goes before and after.
    pub certificate: usize,
    pub finished: usize,
}

/// Both ends start their sessions from it.
pub struct NullCrypto(pub Sizes);

/// Where the handshake is, at either end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The client has its hello to write, the server waits for it.
    Hello,
    /// The client waits for the answer; the server has it to write.
    Answer,
    /// The client waits for the certificate; the server has it to write.
    Certificate,
    /// The client has its last message to write; the server waits for it.
    Finished,
    Done,
}

struct NullSession {
    side: Side,
    sizes: Sizes,
    step: Step,
    own_params: Vec<u8>,
    peer_params: Option<TransportParameters>,
    /// What has come of a message that is not complete.
    partial: Vec<u8>,
    /// The client has the keys of the handshake's level.
    is_at_handshake: bool,
    /// How many updates of the keys have been prepared.
    updates: u64,
    has_told: bool,
}

impl NullSession {
    fn new(side: Side, sizes: Sizes, params: &TransportParameters) -> NullSession {
        let mut own_params = Vec::new();
        params.write(&mut own_params);
        NullSession {
            side,
            sizes,
            step: Step::Hello,
            own_params,
            peer_params: None,
            partial: Vec::new(),
            is_at_handshake: false,
            updates: 0,
            has_told: false,
        }
    }

    /// Writes a message of a size, or of as many bytes as the parameters need.
    fn message(&self, kind: u8, size: usize, params: &[u8], out: &mut Vec<u8>) {
        let size = size.max(MESSAGE_HEADER_BYTES + params.len());
        out.push(kind);
        out.extend_from_slice(&(size as u32).to_be_bytes()[1..]);
        out.extend_from_slice(&(params.len() as u16).to_be_bytes());
        out.extend_from_slice(params);
        out.resize(out.len() + size - MESSAGE_HEADER_BYTES - params.len(), 0);
    }

    /// A whole message: its parameters, if it is the one that is awaited now.
    fn take(&mut self, kind: u8, params: &[u8]) -> Result<(), TransportError> {
        let awaited = match (self.side, self.step) {
            (Side::Server, Step::Hello) => (1, Step::Answer),
            (Side::Client, Step::Answer) => (2, Step::Certificate),
            (Side::Client, Step::Certificate) => (3, Step::Finished),
            (Side::Server, Step::Finished) => (4, Step::Done),
            _ => (0, self.step),
        };
        if kind != awaited.0 {
            return Err(violation("a handshake message out of order"));
        }
        self.step = awaited.1;
        if !params.is_empty() {
            let read = TransportParameters::read(self.side, &mut &params[..]);
            self.peer_params = Some(read.map_err(|_| violation("transport parameters"))?);
        }
        Ok(())
    }
}

impl Session for NullSession {
    fn initial_keys(&self, dst_cid: cid!(), side: Side) -> Keys {
        initial_keys(dst_cid, side)
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.peer_params.is_some().then(|| Box::new(()) as Box<dyn Any>)
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        Some(false)
    }
    fn is_handshaking(&self) -> bool {
        self.step != Step::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.partial.extend_from_slice(buf);
        while self.partial.len() >= MESSAGE_HEADER_BYTES {
            let b = &self.partial;
            let size = u32::from_be_bytes([0, b[1], b[2], b[3]]) as usize;
            let params = u16::from_be_bytes([b[4], b[5]]) as usize;
            if size < MESSAGE_HEADER_BYTES + params {
                return Err(violation("a handshake message with a wrong length"));
            }
            if b.len() < size {
                break;
            }
            let message: Vec<u8> = self.partial.drain(..size).collect();
            self.take(message[0], &message[MESSAGE_HEADER_BYTES..MESSAGE_HEADER_BYTES + params])?;
        }
        let tells = self.peer_params.is_some() && !self.has_told;
        self.has_told |= tells;
        Ok(tells)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer_params)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.step) {
            (Side::Client, Step::Hello) => {
                self.message(1, self.sizes.hello, &self.own_params, buf);
                self.step = Step::Answer;
                None
            }
            (Side::Server, Step::Answer) => {
                self.message(2, self.sizes.answer, &[], buf);
                self.step = Step::Certificate;
                Some(keys(Level::Handshake as u64, self.side))
            }
            (Side::Server, Step::Certificate) => {
                self.message(3, self.sizes.certificate, &self.own_params, buf);
                self.step = Step::Finished;
                Some(keys(Level::Data as u64, self.side))
            }
            // The answer has been read, and perhaps the certificate with it: first comes the level of the handshake.
            (Side::Client, Step::Certificate | Step::Finished) if !self.is_at_handshake => {
                self.is_at_handshake = true;
                Some(keys(Level::Handshake as u64, self.side))
            }
            (Side::Client, Step::Finished) => {
                self.message(4, self.sizes.finished, &[], buf);
                self.step = Step::Done;
                Some(keys(Level::Data as u64, self.side))
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.updates += 1;
        Some(keys(Level::Data as u64 + self.updates, self.side).packet)
    }

    fn is_valid_retry(&self, _: cid!(), _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(&self, out: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        out.fill(0);
        Ok(())
    }
}

impl NullCrypto {
    pub(super) fn session(&self, side: Side, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(NullSession::new(side, self.0, params))
    }
}

/// Numbers of keys: those of the data level go on with each update.
#[derive(Clone, Copy)]
enum Level {
    Handshake = 1,
    Data = 2,
}

/// The first packets' keys follow from the connection id that the client chose.
pub(super) fn initial_keys(cid: cid!(), side: Side) -> Keys {
    let mix = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
    keys(cid.iter().fold(0xcbf2_9ce4_8422_2325, mix) | 1 << 62, side)
}

fn keys(level: u64, side: Side) -> Keys {
    let key = |of: Side| NullKey(level << 1 | u64::from(of == Side::Server));
    let (local, remote) = (key(side), key(!side));
    Keys {
        header: KeyPair { local: Box::new(NullHeader), remote: Box::new(NullHeader) },
        packet: KeyPair { local: Box::new(local), remote: Box::new(remote) },
    }
}

struct NullHeader;

impl HeaderKey for NullHeader {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}
    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        16
    }
}

pub(super) struct NullKey(u64);

impl NullKey {
    fn tag(&self, packet: u64) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag[..8].copy_from_slice(&self.0.to_be_bytes());
        tag[8..].copy_from_slice(&packet.to_be_bytes());
        tag
    }

    pub(super) fn seal(&self, packet: u64, buf: &mut [u8]) {
        let at = buf.len() - TAG_BYTES;
        buf[at..].copy_from_slice(&self.tag(packet));
    }
    pub(super) fn open(&self, packet: u64, payload: &mut BytesMut) -> Result<(), CryptoError> {
        let at = payload.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        if payload[at..] != self.tag(packet) {
            return Err(CryptoError);
        }
        payload.truncate(at);
        Ok(())
    }
}
