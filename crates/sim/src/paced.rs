//! The two ends of a flow over a rate-based transport: the transport, and the application that feeds it.

use crate::endpoint::{EndIo, Milestone};
use crate::scenario::{GroupPlan, OfFlow, PacedPlan, WorkloadParams};
use crate::workload::cbr::{Left, Source};
use crosswind_base::packet::{Ext, Life};
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Packet, Streams, Time};
use crosswind_transport::rate::{self, Supply};
use crosswind_transport::tcp::Io;
use crosswind_transport::tfrc::{self, TfrcParams};
use crosswind_transport::udp;
use crosswind_transport::udt::{self, UdtParams};
use std::sync::Arc;

/// Parameters of a rate-based transport, read once for all repetitions.
pub enum PacedParams {
    Tfrc(Arc<TfrcParams>),
    Udt(Arc<UdtParams>),
}

impl PacedParams {
    pub fn of(g: &GroupPlan) -> Result<Option<PacedParams>, ConfigError> {
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
        Ok(match &g.paced {
            None => None,
            Some(PacedPlan::Tfrc(value)) => {
                let path = format!("flow.{}.tfrc", g.name);
                let mut params = tfrc::preset::read(value, &path)?;
                if let Some(payload) = payload {
                    params.packet_size = Size(payload + u64::from(tfrc::DATA_HEADERS_BYTES));
                    params.check(&path)?;
                }
                fits(params.packet_size, &path)?;
                Some(PacedParams::Tfrc(Arc::new(params)))
            }
            Some(PacedPlan::Udt(value)) => {
                let path = format!("flow.{}.udt", g.name);
                let mut params = udt::params::read(value, &path)?;
                if let Some(payload) = payload {
                    params.packet_size = Size(payload + u64::from(udt::DATA_HEADERS_BYTES));
                    params.check(&path)?;
                }
                fits(params.packet_size, &path)?;
                Some(PacedParams::Udt(Arc::new(params)))
            }
        })
    }

    /// Both ends of one flow.
    pub fn ends(&self, w: &WorkloadParams, flow: &str, streams: &Streams) -> (Paced, Listener) {
        let source = Source::of(w, streams.named(&format!("flow/{flow}/source")));
        let supply = |packet: Size, headers: u16, limit: u32| {
            let payload = packet.0 as u16 - headers;
            match w {
                WorkloadParams::Bulk(b) => Supply::greedy(payload, b.size.map(|s| s.0)),
                _ => Supply::stream(payload, limit),
            }
        };
        match self {
            PacedParams::Tfrc(p) => {
                let supply = supply(p.packet_size, tfrc::DATA_HEADERS_BYTES, p.send_queue_packets);
                let transport = Box::new(tfrc::Sender::new(p.clone(), supply));
                (Paced::new(transport, source, "tfrc"), Listener::new(Box::new(tfrc::Receiver::new(p.clone()))))
            }
            PacedParams::Udt(p) => {
                let supply = supply(p.packet_size, udt::DATA_HEADERS_BYTES, p.send_queue_packets);
                let rng = streams.named(&format!("flow/{flow}/udt"));
                let transport = Box::new(udt::Sender::new(p.clone(), supply, rng));
                (Paced::new(transport, source, "udt"), Listener::new(Box::new(udt::Receiver::new(p.clone()))))
            }
        }
    }
}

/// The sending end.
pub struct Paced {
    pub transport: Box<dyn rate::Sender>,
    /// The application, where it makes datagrams in its own time.
    source: Option<Source>,
    pub protocol: &'static str,
    pub opened_at: Option<Time>,
    pub closed_at: Option<Time>,
}

impl Paced {
    fn new(transport: Box<dyn rate::Sender>, source: Option<Source>, protocol: &'static str) -> Paced {
        Paced { transport, source, protocol, opened_at: None, closed_at: None }
    }

    pub fn next_wake(&self) -> Option<Time> {
        let source = self.source.as_ref().and_then(|s| s.next_at);
        [source, self.transport.next_wake()].into_iter().flatten().min()
    }

    /// New parameters from the timeline.
    pub fn retune(&mut self, new: &OfFlow) {
        if let Some(params) = &new.paced {
            self.transport.retune(params);
        }
        if let (Some(source), Some(w)) = (&mut self.source, &new.workload) {
            source.go_on_as(&w.now);
        }
    }

    pub fn open(&mut self, io: &mut EndIo<'_, '_>) -> Milestone {
        self.opened_at = Some(io.now());
        if let Some(source) = &mut self.source {
            source.begin(io.now());
            self.feed(io.now());
        }
        self.transport.open(io);
        Milestone::Opened
    }

    /// Hands over what the application has made by now.
    fn feed(&mut self, now: Time) {
        let Some(source) = &mut self.source else { return };
        while source.next_at.is_some_and(|at| at <= now) {
            let (p, left) = source.send(now);
            self.transport.supply().offer(p.ack);
            if left == Left::Nothing {
                self.transport.supply().end();
            }
        }
    }

    pub fn wake(&mut self, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        self.feed(io.now());
        self.transport.on_wake(io);
        self.over(io.now())
    }

    pub fn take(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        self.transport.on_packet(p, ext, io);
        self.over(io.now())
    }

    fn over(&mut self, now: Time) -> Option<Milestone> {
        if self.closed_at.is_some() || !self.transport.is_over() {
            return None;
        }
        self.closed_at = Some(now);
        Some(Milestone::Closed)
    }
}

/// The receiving end: the transport, and what is measured of the data.
pub struct Listener {
    pub transport: Box<dyn rate::Receiver>,
    pub heard: udp::Receiver,
}

impl Listener {
    fn new(transport: Box<dyn rate::Receiver>) -> Listener {
        Listener { transport, heard: udp::Receiver::default() }
    }
}
