//! The parameters of the rate-based transports, and the ends that are made of them.

use super::rate::Rate;
use crate::endpoint::{FlowEnd, Heard, Setup};
use crate::scenario::{GroupPlan, TransportPlan, WorkloadParams};
use crate::transport::Ends;
use crate::workload::{App, Own};
use crosswind_base::packet::Life;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Vantage};
use crosswind_transport::rate::{Sender, Supply};
use crosswind_transport::tfrc::{self, TfrcParams};
use crosswind_transport::udt::{self, UdtParams};
use std::sync::Arc;

/// Parameters of a rate-based transport, read once for all repetitions.
pub enum PacedParams {
    Tfrc(Arc<TfrcParams>),
    Udt(Arc<UdtParams>),
}

impl PacedParams {
    pub fn of(g: &GroupPlan) -> Result<PacedParams, ConfigError> {
        let payload = g.workload.payload().map(|p| p.0);
        let option = if g.lifetime.is_some() { u64::from(Life::OPTION_BYTES) } else { 0 };
        let fits = |size: Size, path: &str| {
            let limit = u64::from(u16::MAX) - option;
            let found = || format!("{} B", size.0);
            let expected = || format!("at most {limit} B with a lifetime, which is an option of the packet");
            if size.0 <= limit {
                Ok(())
            } else {
                Err(ConfigError::new(format!("{path}.packet_size"), found(), expected()))
            }
        };
        match &g.transport {
            TransportPlan::Tfrc(value) => {
                let path = format!("flow.{}.tfrc", g.name);
                let mut params = tfrc::preset::read(value, &path)?;
                if let Some(payload) = payload {
                    params.packet_size = Size(payload + u64::from(tfrc::DATA_HEADERS_BYTES));
                    params.check(&path)?;
                }
                fits(params.packet_size, &path)?;
                Ok(PacedParams::Tfrc(Arc::new(params)))
            }
            TransportPlan::Udt(value) => {
                let path = format!("flow.{}.udt", g.name);
                let mut params = udt::params::read(value, &path)?;
                if let Some(payload) = payload {
                    params.packet_size = Size(payload + u64::from(udt::DATA_HEADERS_BYTES));
                    params.check(&path)?;
                }
                fits(params.packet_size, &path)?;
                Ok(PacedParams::Udt(Arc::new(params)))
            }
            other => unreachable!("{} sends at no rate of its own", other.name()),
        }
    }

    /// One end of a flow. Where data goes one way, one end has the sending half and the other the receiving one.
    fn rate(&self, w: &WorkloadParams, seen: Vantage, own: &Own<'_>) -> Rate {
        let both_ways = matches!(w, WorkloadParams::Page(_));
        let half = |of: Vantage| both_ways || seen == of;
        let supply = |packet: Size, headers: u16, limit: u32| {
            let payload = packet.0 as u16 - headers;
            match w.payload() {
                None => Supply::written(payload),
                Some(_) => Supply::stream(payload, limit),
            }
        };
        match self {
            PacedParams::Tfrc(p) => {
                let supply = supply(p.packet_size, tfrc::DATA_HEADERS_BYTES, p.send_queue_packets);
                let tx = half(Vantage::Sender).then(|| boxed(tfrc::Sender::new(p.clone(), supply)));
                Rate::new(
                    "tfrc",
                    seen,
                    tx,
                    half(Vantage::Receiver).then(|| Box::new(tfrc::Receiver::new(p.clone())) as _),
                )
            }
            PacedParams::Udt(p) => {
                let supply = supply(p.packet_size, udt::DATA_HEADERS_BYTES, p.send_queue_packets);
                let way = if seen == Vantage::Sender { "udt" } else { "udt/reverse" };
                let rng = || own.streams.named(&format!("flow/{}/{way}", own.flow));
                let tx = half(Vantage::Sender).then(|| boxed(udt::Sender::new(p.clone(), supply, rng())));
                Rate::new(
                    "udt",
                    seen,
                    tx,
                    half(Vantage::Receiver).then(|| Box::new(udt::Receiver::new(p.clone())) as _),
                )
            }
        }
    }
}

impl Ends for PacedParams {
    fn end(&self, app: App, s: &Setup, group: &GroupPlan, own: &Own<'_>) -> FlowEnd {
        FlowEnd::other(self.rate(&group.workload, s.seen, own), app, s, Heard::at(s, None))
    }
}

fn boxed(tx: impl Sender + 'static) -> Box<dyn Sender> {
    Box::new(tx)
}
