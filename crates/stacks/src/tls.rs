//! TLS 1.3 by rustls, as it ships with ring's ciphers, in virtual time: what it draws comes from the stream of the end whose turn it
//! is, the date from the run.
//!
//! Rustls takes sources of randomness for the length of the program only, so an end says that it is its turn before it calls its
//! stack ([`Draws::begin`]). X25519 is that of another library, since ring makes its keys itself. Signatures by Ed25519 draw
//! nothing (RFC 8032 section 5.1.6). Anyone may know the key: it protects nothing.

use crosswind_base::Rng;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup, ring,
    verify_tls13_signature,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, NamedGroup, PeerMisbehaved, ServerConfig,
    SignatureScheme, version,
};
use std::cell::Cell;
use std::sync::{Arc, Mutex};
use x25519_dalek::{PublicKey, StaticSecret};

/// Signed by itself, for `peer.example`, with the key below (RFC 8410): `openssl req -x509 -key KEY -set_serial 1 -days 36500
/// -subj /CN=peer.example -addext subjectAltName=DNS:peer.example -outform DER`.
const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.der");
/// What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410 section 7).
const KEY_HEADER: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// The server's messages around its certificates: extensions with the transport's parameters, signature, the last message.
const AROUND_BYTES: usize = 240;
/// Length and extensions of one more certificate (RFC 8446 section 4.4.2).
const ENTRY_BYTES: usize = 5;

thread_local! {
    /// Whose turn it is.
    static TURN: Cell<Option<Draws>> = const { Cell::new(None) };
}

/// The stream that one end draws from.
#[derive(Clone)]
pub struct Draws(Arc<Mutex<Rng>>);

impl Draws {
    pub fn new(rng: Rng) -> Draws {
        Draws(Arc::new(Mutex::new(rng)))
    }

    /// What is drawn on this thread is drawn from here, until another end begins.
    pub fn begin(&self) {
        TURN.set(Some(self.clone()));
    }

    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        let mut rng = self.0.lock().map_err(|_| GetRandomFailed)?;
        for piece in buf.chunks_mut(8) {
            piece.copy_from_slice(&rng.bits().to_le_bytes()[..piece.len()]);
        }
        Ok(())
    }
}

fn draw(buf: &mut [u8]) -> Result<(), GetRandomFailed> {
    let turn = TURN.take().ok_or(GetRandomFailed)?;
    let drawn = turn.fill(buf);
    TURN.set(Some(turn));
    drawn
}

#[derive(Debug)]
struct Seeded;

impl SecureRandom for Seeded {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        draw(buf)
    }
}

/// The key exchange of RFC 7748, with keys that are drawn like everything else.
#[derive(Debug)]
struct X25519;

struct Exchange {
    own: StaticSecret,
    public: PublicKey,
}

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut secret = [0; 32];
        draw(&mut secret)?;
        let own = StaticSecret::from(secret);
        Ok(Box::new(Exchange { public: PublicKey::from(&own), own }))
    }
    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = <[u8; 32]>::try_from(peer).map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let shared = self.own.diffie_hellman(&PublicKey::from(peer));
        if !shared.was_contributory() {
            return Err(PeerMisbehaved::InvalidKeyShare.into());
        }
        Ok(SharedSecret::from(&shared.as_bytes()[..]))
    }
    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// Believes the one certificate that there is, and checks that its key has signed the handshake.
#[derive(Debug)]
struct Pinned(Arc<CryptoProvider>);

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _more: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if shown.as_ref() == CERTIFICATE {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3 only (RFC 9001 section 4.2)".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, shown, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Ring's, but for what draws.
fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    provider.secure_random = &Seeded;
    for group in &mut provider.kx_groups {
        if group.name() == NamedGroup::X25519 {
            *group = &X25519;
        }
    }
    Arc::new(provider)
}

/// A client that knows the server's certificate.
pub fn client(date: Arc<dyn TimeProvider>) -> Result<ClientConfig, Error> {
    let provider = provider();
    let builder = ClientConfig::builder_with_details(provider.clone(), date);
    let builder = builder.with_protocol_versions(&[&version::TLS13])?.dangerous();
    Ok(builder.with_custom_certificate_verifier(Arc::new(Pinned(provider))).with_no_client_auth())
}

/// A server whose messages have about `handshake_bytes` in all, as far as a second certificate, of zeros, makes them so.
pub fn server(date: Arc<dyn TimeProvider>, handshake_bytes: usize) -> Result<ServerConfig, Error> {
    let mut certificates = vec![CertificateDer::from_slice(CERTIFICATE)];
    if let Some(left) = handshake_bytes.checked_sub(AROUND_BYTES + CERTIFICATE.len() + ENTRY_BYTES).filter(|n| *n > 0) {
        certificates.push(CertificateDer::from(vec![0; left]));
    }
    let mut key = KEY_HEADER.to_vec();
    key.extend(0..32);
    let builder = ServerConfig::builder_with_details(provider(), date).with_protocol_versions(&[&version::TLS13])?;
    builder.with_no_client_auth().with_single_cert(certificates, PrivatePkcs8KeyDer::from(key).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    fn drawn(seed: u64) -> [u8; 20] {
        let mut out = [0; 20];
        Draws::new(Streams::new(seed).named("end")).begin();
        draw(&mut out).expect("it is somebody's turn");
        out
    }

    #[test]
    fn a_turn_draws_from_its_own_stream_and_nobodys_turn_draws_nothing() {
        TURN.set(None);
        assert!(draw(&mut [0; 4]).is_err(), "nothing comes from the operating system");
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn a_client_believes_the_one_certificate_and_no_other() {
        let verify = |shown: &'static [u8]| {
            let name = ServerName::try_from("peer.example").expect("a name");
            let now = UnixTime::since_unix_epoch(std::time::Duration::ZERO);
            Pinned(provider()).verify_server_cert(&CertificateDer::from_slice(shown), &[], &name, &[], now)
        };
        assert!(verify(CERTIFICATE).is_ok());
        assert!(verify(&CERTIFICATE[1..]).is_err());
    }

    #[test]
    fn the_key_exchange_is_that_of_rings_x25519() {
        Draws::new(Streams::new(1).named("end")).begin();
        let own = X25519.start().expect("a key");
        let theirs = ring::kx_group::X25519.start().expect("a key");
        let (own_public, their_public) = (own.pub_key().to_vec(), theirs.pub_key().to_vec());
        let secrets = (own.complete(&their_public), theirs.complete(&own_public));
        assert_eq!(secrets.0.expect("ours").secret_bytes(), secrets.1.expect("theirs").secret_bytes());
        assert!(X25519.start().expect("a key").complete(&[0; 32]).is_err(), "a point of low order");
    }
}
