//! A controller around a controller: it forwards every call, and notes what became of the window at the call itself, where
//! growth and reduction do not blur.

use super::proto::Packets;
use super::proto::congestion::{Controller, ControllerFactory};
use crosswind_base::Time;
use crosswind_transport::stack::{Cut, CutBecause};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What was seen; the driver reads it.
#[derive(Default)]
pub struct Seen {
    in_flight: AtomicU64,
    pub packets: Packets,
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

pub struct Watch {
    pub inner: Box<dyn Controller>,
    pub seen: Arc<Seen>,
    epoch: Instant,
}

impl Watch {
    pub fn sent(&self, bytes: u64) {
        self.seen.in_flight.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn acknowledged(&self, in_flight: u64) {
        self.seen.in_flight.store(in_flight, Ordering::Relaxed);
    }

    /// Passes a congestion event on, and notes what it did to the window.
    pub fn congested(
        &mut self,
        now: Instant,
        lost_bytes: u64,
        why: CutBecause,
        tell: impl FnOnce(&mut dyn Controller),
    ) {
        let before_bytes = self.inner.window();
        tell(&mut *self.inner);
        let in_flight = self.seen.in_flight();
        self.seen.in_flight.store(in_flight.saturating_sub(lost_bytes), Ordering::Relaxed);
        let after_bytes = self.inner.window();
        if after_bytes < before_bytes {
            let at = Time(now.duration_since(self.epoch).as_nanos() as u64);
            if let Ok(mut cuts) = self.seen.cuts.lock() {
                cuts.push(Cut { at, before_bytes, after_bytes, why });
            }
        }
    }

    pub fn copy(&self) -> Box<Watch> {
        Box::new(Watch { inner: self.inner.clone_box(), seen: self.seen.clone(), epoch: self.epoch })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("window", &self.inner.window()).finish_non_exhaustive()
    }
}
