//! What noq-proto logs of itself, with virtual times.

use super::proto::{ConnectionId, QlogConfig, QlogFactory, Side, TransportConfig};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub const IS_KEPT: bool = true;

/// For the one connection that an end has.
struct Once {
    out: Mutex<Option<Box<dyn Write + Send + Sync>>>,
    title: String,
    epoch: Instant,
}

impl QlogFactory for Once {
    fn for_connection(&self, _: Side, _: SocketAddr, _: ConnectionId, _: Instant) -> Option<QlogConfig> {
        let mut config = QlogConfig::new(self.out.lock().ok()?.take()?);
        config.title(Some(self.title.clone())).start_time(self.epoch);
        Some(config)
    }
}

/// The next connection of this configuration logs there; times are since `epoch`.
pub fn log(transport: &mut TransportConfig, out: Box<dyn Write + Send + Sync>, title: String, epoch: Instant) {
    transport.qlog_factory(Arc::new(Once { out: Mutex::new(Some(out)), title, epoch }));
}
