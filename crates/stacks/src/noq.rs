//! # noq-proto, QUIC
//!
//! QUIC in Rust (RFC 9000, 9002) with several paths, and with CUBIC, NewReno and BBR version 3.
//!
//! The driver is that of all QUIC stacks; what noq calls differently stands in `noq/seam.rs`. One path is used.

/// How the crate hands a connection id over.
macro_rules! cid {
    () => {
        ConnectionId
    };
}

mod controller;
#[path = "quic/driver.rs"]
mod driver;
#[path = "quic/law.rs"]
pub mod law;
#[path = "quic/null.rs"]
mod null;
#[path = "quic/params.rs"]
mod params;
mod proto;
#[cfg(feature = "qlog")]
mod qlog;
#[cfg(not(feature = "qlog"))]
#[path = "quic/no_qlog.rs"]
mod qlog;
mod seam;
#[path = "quic/seeded.rs"]
mod seeded;
#[path = "quic/session.rs"]
mod session;
#[cfg(not(feature = "tls"))]
#[path = "quic/no_tls.rs"]
mod tls;
#[cfg(feature = "tls")]
#[path = "quic/tls.rs"]
mod tls;
#[path = "quic/watch.rs"]
mod watch;

pub use driver::Quic as Noq;
pub use params::QuicParams as NoqParams;
pub use proto::RELEASE;
pub use seam::Congestion;

use crosswind_base::{ConfigError, config};
use crosswind_transport::stack::{Maker, Stack};
use serde_json::Value;
use std::sync::Arc;

pub(crate) const ROW: crate::Row = crate::registry::Row {
    kind: "stack",
    name: "noq",
    source: include_str!("noq.rs"),
    schema: Some(|| schemars::schema_for!(NoqParams)),
    build: crate::registry::Release { name: RELEASE, read, logs: qlog::IS_KEPT },
};

fn read(value: &Value, path: &str) -> Result<(Value, Maker), ConfigError> {
    let params: NoqParams = config::read(value, path)?;
    params.check(path)?;
    let full = serde_json::to_value(&params).expect("parameters are plain data with text keys");
    Ok((full, Arc::new(move |role, rng| Box::new(Noq::new(&params, role, rng)) as Box<dyn Stack>)))
}
