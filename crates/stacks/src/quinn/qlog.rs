//! What quinn-proto logs of itself, with virtual times.

use super::proto::{QlogConfig, TransportConfig};
use std::io::Write;
use std::time::Instant;

pub const IS_KEPT: bool = true;

/// The next connection of this configuration logs there; times are since `epoch`.
pub fn log(transport: &mut TransportConfig, out: Box<dyn Write + Send + Sync>, title: String, epoch: Instant) {
    let mut config = QlogConfig::default();
    config.writer(out).title(Some(title)).start_time(epoch);
    transport.qlog_stream(config.into_stream());
}
