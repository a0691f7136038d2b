//! Which cryptographic session the ends of a flow have: that which encrypts nothing, or the stack's own.

use super::null::NullCrypto;
use super::params::{Crypto, QuicParams};
use super::proto::crypto;
use super::seeded::Date;
use super::tls;
use std::sync::Arc;

/// A session's start at the client.
pub fn client(params: &QuicParams, date: &Date) -> Arc<dyn crypto::ClientConfig> {
    match params.crypto {
        Crypto::Null => Arc::new(NullCrypto(params.sizes())),
        Crypto::Tls => tls::client(date),
    }
}

/// A session's start at the server.
pub fn server(params: &QuicParams, date: &Date) -> Arc<dyn crypto::ServerConfig> {
    match params.crypto {
        Crypto::Null => Arc::new(NullCrypto(params.sizes())),
        Crypto::Tls => tls::server(date, params.sizes().certificate),
    }
}
