//! quinn-proto: what differs from the other QUIC stacks that the same driver runs.

pub(crate) use quinn_proto as proto;

#[path = "quic/driver.rs"]
mod driver;
#[path = "quic/null.rs"]
mod null;
#[path = "quic/params.rs"]
mod params;
#[path = "quic/seeded.rs"]
mod seeded;
#[path = "quic/watch.rs"]
mod watch;

pub use driver::Quic as Quinn;
pub use params::{Congestion, QuicParams as QuinnParams};

use crosswind_base::{ConfigError, config};
use crosswind_transport::stack::{Maker, Stack};
use serde_json::Value;
use std::sync::Arc;

pub(crate) const ROW: crate::Row = crate::Row {
    kind: "stack",
    name: "quinn",
    source: include_str!("quinn.rs"),
    schema: Some(|| schemars::schema_for!(QuinnParams)),
    build: crate::Release { name: RELEASE, read },
};

fn read(value: &Value, path: &str) -> Result<(Value, Maker), ConfigError> {
    let params: QuinnParams = config::read(value, path)?;
    params.check(path)?;
    let full = serde_json::to_value(&params).expect("parameters are plain data with text keys");
    Ok((full, Arc::new(move |role, rng| Box::new(Quinn::new(&params, role, rng)) as Box<dyn Stack>)))
}

/// The release that is built in.
pub const RELEASE: &str = "quinn-proto 0.11.19";
