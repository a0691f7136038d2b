//! A controller around a controller: it forwards every call, and notes what became of the window at the call itself, where
//! growth and reduction do not blur.

use super::proto::RttEstimator;
use super::proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use crosswind_base::Time;
use crosswind_transport::stack::{Cut, CutBecause};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What was seen; the driver reads it.
#[derive(Default)]
pub struct Seen {
    in_flight: AtomicU64,
    cuts: Mutex<Vec<Cut>>,
}

impl Seen {
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub fn take_cuts(&self) -> Vec<Cut> {
        // A controller that panicked has ended the run already.
        self.cuts.lock().map_or_else(|_| Vec::new(), |mut cuts| std::mem::take(&mut *cuts))
    }
}

/// Makes watched controllers.
pub struct Watching {
    pub inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub seen: Arc<Seen>,
    /// The start of virtual time.
    pub epoch: Instant,
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Watch { inner, seen: self.seen.clone(), epoch: self.epoch })
    }
}

struct Watch {
    inner: Box<dyn Controller>,
    seen: Arc<Seen>,
    epoch: Instant,
}

impl Controller for Watch {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.seen.in_flight.fetch_add(bytes, Ordering::Relaxed);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.seen.in_flight.store(in_flight, Ordering::Relaxed);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let before_bytes = self.inner.window();
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        let in_flight = self.seen.in_flight();
        self.seen.in_flight.store(in_flight.saturating_sub(lost_bytes), Ordering::Relaxed);
        let after_bytes = self.inner.window();
        if after_bytes < before_bytes {
            let why = match (is_persistent_congestion, lost_bytes) {
                (true, _) => CutBecause::PersistentCongestion,
                (false, 0) => CutBecause::EcnCe,
                (false, _) => CutBecause::Loss,
            };
            let at = Time(now.duration_since(self.epoch).as_nanos() as u64);
            if let Ok(mut cuts) = self.seen.cuts.lock() {
                cuts.push(Cut { at, before_bytes, after_bytes, why });
            }
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Watch { inner: self.inner.clone_box(), seen: self.seen.clone(), epoch: self.epoch })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
