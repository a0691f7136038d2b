//! The parameters of the rate-based transports, and the ends that are made of them.

use super::rate::Rate;
use crate::flows::arrivals::Heard;
use crate::flows::endpoint::FlowEnd;
use crate::flows::ends::Ends;
use crate::flows::own::Own;
use crate::flows::port::Setup;
use crate::flows::workload::App;
use crate::scenario::{GroupPlan, WorkloadParams};
use crosswind_base::Vantage;
use crosswind_base::units::Size;
use crosswind_transport::rate::{Sender, Supply};
use crosswind_transport::tfrc::{self, TfrcParams};
use crosswind_transport::udt::{self, UdtParams};
use std::sync::Arc;

/// Parameters of a rate-based transport.
pub enum PacedParams {
    Tfrc(Arc<TfrcParams>),
    Udt(Arc<UdtParams>),
}

impl PacedParams {
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
        FlowEnd::other(self.rate(&group.workload, s.seen, own), app, s, Heard::at(s.seen, None))
    }
}

fn boxed(tx: impl Sender + 'static) -> Box<dyn Sender> {
    Box::new(tx)
}
