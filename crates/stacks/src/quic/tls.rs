//! The stack's own session of TLS 1.3, as it stands around rustls.

use super::proto::crypto;
use super::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use super::seeded::Date;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use std::sync::Arc;
use std::time::Duration;

pub use crate::tls::Draws;

impl TimeProvider for Date {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_nanos(self.ns())))
    }
}

pub fn client(date: &Date) -> Arc<dyn crypto::ClientConfig> {
    let config = crate::tls::client(Arc::new(date.clone())).expect("ciphers of TLS 1.3");
    Arc::new(QuicClientConfig::try_from(config).expect("a cipher for the first packets"))
}

/// `handshake_bytes`: about so many has all that the server says before its data.
pub fn server(date: &Date, handshake_bytes: usize) -> Arc<dyn crypto::ServerConfig> {
    let config = crate::tls::server(Arc::new(date.clone()), handshake_bytes);
    let config = config.expect("ciphers of TLS 1.3, and a certificate with its key");
    Arc::new(QuicServerConfig::try_from(config).expect("a cipher for the first packets"))
}
