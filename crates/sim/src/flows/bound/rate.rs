//! The transports that send at a rate bound to the world. An end has a sending half, a receiving half, or both: a
//! transfer one way needs one at each end, a request and its answer both.

use crate::flows::arrivals::{Arrivals, Heard};
use crate::flows::endpoint::FlowEnd;
use crate::flows::ends::Ends;
use crate::flows::own::Own;
use crate::flows::port::{EndIo, Milestone, Setup};
use crate::flows::stream::{Stream, Wrote};
use crate::flows::transport::Transport;
use crate::flows::workload::App;
use crate::scenario::{GroupPlan, OfFlow, WorkloadParams};
use crosswind_base::packet::{Datagram, Ext};
use crosswind_base::probe::header_bits;
use crosswind_base::{EventKind, Metrics, Packet, Time, Vantage};
use crosswind_transport::rate::protocol::{Form, Parameters};
use crosswind_transport::rate::supply::BUFFER_BYTES;
use crosswind_transport::rate::{Receiver, Sender};
use crosswind_transport::tcp::Io;
use std::sync::Arc;

/// Makes the ends of flows over such a transport.
pub struct RateEnds(pub Arc<dyn Parameters>);

impl Ends for RateEnds {
    /// Where data goes one way, one end has the sending half and the other the receiving one.
    fn end(&self, app: App, s: &Setup, group: &GroupPlan, own: &Own<'_>) -> FlowEnd {
        let both_ways = matches!(group.workload, WorkloadParams::Page(_));
        let half = |of: Vantage| both_ways || s.seen == of;
        let form = if group.workload.payload().is_some() { Form::Messages } else { Form::Written };
        let way = if s.seen == Vantage::Sender { "" } else { "/reverse" };
        let name = self.0.name();
        let rng = || own.streams.named(&format!("flow/{}/{name}{way}", own.flow));
        let tx = half(Vantage::Sender).then(|| self.0.sender(form, rng()));
        let rx = half(Vantage::Receiver).then(|| self.0.receiver());
        FlowEnd::other(Rate::new(name, s.seen, tx, rx), app, s, Heard::at(s.seen, None))
    }
}

/// One end.
pub struct Rate {
    name: &'static str,
    seen: Vantage,
    tx: Option<Box<dyn Sender>>,
    rx: Option<Box<dyn Receiver>>,
    opened_at: Option<Time>,
    closed_at: Option<Time>,
}

/// A sender without data may have got some.
#[derive(Clone, Copy, PartialEq, Eq)]
enum News {
    Data,
    None,
}

impl Rate {
    /// `seen`: whether this end sends the data of the flow or receives them; results show that half.
    pub fn new(name: &'static str, seen: Vantage, tx: Option<Box<dyn Sender>>, rx: Option<Box<dyn Receiver>>) -> Rate {
        Rate { name, seen, tx, rx, opened_at: None, closed_at: None }
    }

    /// The application hands over what it has by now.
    fn serve(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> (News, Option<Milestone>) {
        let had_data = self.has_data();
        let told = match app {
            App::Source(source) => {
                if let Some(tx) = &mut self.tx {
                    source.feed(tx.supply(), io.now());
                }
                None
            }
            _ => app.run(self, io),
        };
        (if !had_data && self.has_data() { News::Data } else { News::None }, told)
    }

    fn has_data(&mut self) -> bool {
        self.tx.as_mut().is_some_and(|tx| tx.supply().has_more())
    }

    /// The sending half begins, now or when this end has something to say for the first time.
    fn begin(&mut self, io: &mut EndIo<'_, '_>) {
        self.opened_at = Some(io.now());
        if let Some(tx) = &mut self.tx {
            tx.open(io);
        }
    }

    fn settle(&mut self, now: Time) {
        if self.closed_at.is_none() && self.tx.as_ref().is_some_and(|tx| tx.is_over()) {
            self.closed_at = Some(now);
        }
    }
}

/// Whether a packet is for the half that receives data.
fn is_for_receiver(p: &Packet) -> bool {
    let kind = Datagram::of(p);
    kind.is_data() || kind == Datagram::UdtAck2
}

impl Transport for Rate {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) {
        io.note(EventKind::Open, 0, 0, 0);
        if let App::Source(source) = app {
            source.begin(io.now());
        }
        self.opened_at = Some(io.now());
        self.serve(app, io);
        self.begin(io);
    }

    fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        io.note(EventKind::Receive, p.seq, p.payload.into(), header_bits(p));
        match (&mut self.tx, &mut self.rx) {
            (tx, Some(rx)) if tx.is_none() || is_for_receiver(p) => rx.on_packet(p, io),
            (Some(tx), _) => tx.on_packet(p, ext, io),
            (None, _) => {}
        }
        let mut told = None;
        if !matches!(app, App::Source(_)) {
            let (news, what) = self.serve(app, io);
            told = what;
            match (news, self.opened_at) {
                (News::None, _) => {}
                (News::Data, None) => self.begin(io),
                (News::Data, Some(_)) => {
                    if let Some(tx) = &mut self.tx {
                        tx.on_wake(io);
                    }
                }
            }
        }
        self.settle(io.now());
        told
    }

    fn on_wake(&mut self, app: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        let (_, told) = self.serve(app, io);
        if let Some(rx) = &mut self.rx {
            rx.on_wake(io);
        }
        if let Some(tx) = &mut self.tx {
            tx.on_wake(io);
        }
        self.settle(io.now());
        told
    }

    fn next_wake(&self) -> Option<Time> {
        let tx = self.tx.as_ref().and_then(|tx| tx.next_wake());
        let rx = self.rx.as_ref().and_then(|rx| rx.next_wake());
        [tx, rx].into_iter().flatten().min()
    }

    fn is_over(&self) -> bool {
        self.closed_at.is_some()
    }

    fn opened_at(&self) -> Option<Time> {
        self.opened_at
    }

    fn closed_at(&self) -> Option<Time> {
        self.closed_at
    }

    fn count(&mut self, p: &Packet, _: Option<&Ext>, now: Time, a: &mut Arrivals) {
        a.packets += 1;
        a.bytes += u64::from(p.len);
        if Datagram::of(p).is_data() {
            a.hear(p, now);
        }
    }

    fn delivered(&self) -> Option<u64> {
        self.rx.as_ref()?.delivered()
    }

    fn retune(&mut self, new: &OfFlow, _: &Own<'_>, app: &mut App, io: &mut EndIo<'_, '_>) {
        if let Some(params) = &new.paced {
            if let Some(tx) = &mut self.tx {
                tx.retune(params);
            }
            if let Some(rx) = &mut self.rx {
                rx.retune(params);
            }
        }
        match (app, &new.workload) {
            (App::Source(source), Some(w)) => source.go_on_as(&w.now),
            (app, Some(w)) => app.go_on_as(w, self, io),
            (_, None) => {}
        }
    }

    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        match (self.seen, &self.tx, &self.rx) {
            (Vantage::Sender, Some(tx), _) => tx.sample(out),
            (Vantage::Receiver, _, Some(rx)) => rx.sample(out),
            _ => {}
        }
    }

    fn report(&self, out: &mut dyn Metrics) {
        match (self.seen, &self.tx, &self.rx) {
            (Vantage::Sender, Some(tx), _) => tx.report(out),
            (Vantage::Receiver, _, Some(rx)) => rx.report(out),
            _ => {}
        }
    }
}

/// There is no handshake: what is written may leave at once. The socket takes more than anybody writes.
impl Stream for Rate {
    fn is_established(&self) -> bool {
        self.closed_at.is_none()
    }

    fn has_ended(&self) -> bool {
        self.closed_at.is_some()
    }

    fn buffer(&self) -> u64 {
        BUFFER_BYTES
    }

    fn space(&self) -> u64 {
        self.tx.as_ref().map_or(0, |tx| tx.room_bytes())
    }

    /// The sending half is told when the application has done all it can.
    fn write(&mut self, bytes: u64, _: &mut EndIo<'_, '_>) -> Wrote {
        self.keep(bytes);
        Wrote::Kept
    }

    /// No write sends anything.
    fn quiet_space(&self) -> u64 {
        self.space()
    }

    fn keep(&mut self, bytes: u64) {
        if let Some(tx) = &mut self.tx {
            tx.supply().write(bytes);
        }
    }

    fn close(&mut self, _: &mut EndIo<'_, '_>) {
        if let Some(tx) = &mut self.tx {
            tx.supply().end();
        }
    }

    fn delivered(&self) -> u64 {
        Transport::delivered(self).unwrap_or(0)
    }
}
