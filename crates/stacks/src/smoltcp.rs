//! # smoltcp, TCP
//!
//! TCP in Rust for machines without an operating system, with CUBIC, Reno and no congestion control at all.
//!
//! It runs against itself or against Crosswind's own TCP; both are whole IPv4 packets on the wire. It has no ECN and no SACK of its
//! own sending, keeps at most four holes at its receiver, and its timestamps stay off: the function that they come from is not told the time.

mod driver;
mod params;

pub use driver::Smoltcp;
pub use params::{Congestion, RunsAt, SmoltcpParams};

use crate::tcp::{Line, OwnTcp, Place};
use crosswind_base::{ConfigError, Rng, config};
use crosswind_transport::stack::{Maker, Role, Stack};
use crosswind_transport::tcp::TcpParams;
use serde_json::Value;
use std::sync::Arc;

pub(crate) const ROW: crate::Row = crate::registry::Row {
    kind: "stack",
    name: "smoltcp",
    source: include_str!("smoltcp.rs"),
    schema: Some(|| schemars::schema_for!(SmoltcpParams)),
    build: crate::registry::Release { name: RELEASE, read, logs: false },
};

/// The release that is built in.
pub const RELEASE: &str = "smoltcp 0.12.0";

/// Where the ends are: addresses for documentation.
const CLIENT: Place = Place { address: [192, 0, 2, 1], port: 49_152 };
const SERVER: Place = Place { address: [192, 0, 2, 2], port: 9 };

fn read(value: &Value, path: &str) -> Result<(Value, Maker), ConfigError> {
    let params: SmoltcpParams = config::read(value, path)?;
    let tcp = Arc::new(params.check(path)?);
    let full = serde_json::to_value(&params).expect("parameters are plain data with text keys");
    Ok((full, Arc::new(move |role, rng| end(&params, &tcp, role, rng))))
}

/// One end: smoltcp, or Crosswind's TCP where that is opposite.
fn end(params: &SmoltcpParams, tcp: &Arc<TcpParams>, role: Role, mut rng: Rng) -> Box<dyn Stack> {
    let (local, remote) = if role == Role::Client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    if params.runs_at.has(role) {
        return Box::new(Smoltcp::new(params, role, [local, remote], rng.bits()));
    }
    let line = Line::new(local, Some(remote), rng.bits() as u32);
    Box::new(OwnTcp::new(tcp.clone(), role, line))
}
