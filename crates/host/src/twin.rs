//! The port of the emulator at which both hosts are our own, in virtual time: what a live run is compared with.

use crate::end::End;
use crate::opposite::GRACE;
use crosswind_base::{Clock, Sync, Time};
use crosswind_emu::delivery::{Delivery, Port, Sink};
use crosswind_emu::host_port::{HostPort, Order};
use std::collections::VecDeque;

pub struct Twin {
    /// By the number of their host.
    pub ends: [End; 2],
    now: Time,
    /// It ends then at the latest.
    limit: Time,
    leaving: [VecDeque<Vec<u8>>; 2],
}

impl Twin {
    pub fn new(ends: [End; 2], limit: Time) -> Twin {
        Twin { ends, now: Time::ZERO, limit, leaving: Default::default() }
    }

    /// The end that opens the connection does.
    pub fn open(&mut self, port: Port) {
        let at = port as usize;
        self.ends[at].open(self.now, &mut self.leaving[at]);
    }

    /// When the run ends: a while after both ends.
    fn end(&self) -> Time {
        let closed = self.ends.iter().map(|e| e.transfer.closed_at.map_or(Time::NEVER, |at| at + GRACE)).max();
        closed.unwrap_or(Time::NEVER).min(self.limit)
    }
}

impl Clock for Twin {
    fn sync(&mut self, deadline: Time) -> Sync {
        if self.leaving.iter().any(|l| !l.is_empty()) {
            return Sync::Interrupted(self.now);
        }
        let timers = [self.ends[0].next_timer(), self.ends[1].next_timer()];
        let own = timers[0].min(timers[1]).min(self.end());
        if own >= deadline {
            self.now = self.now.max(deadline);
            return Sync::OnTime;
        }
        self.now = self.now.max(own);
        for (at, timer) in timers.into_iter().enumerate() {
            if timer <= self.now {
                self.ends[at].on_timer(self.now, &mut self.leaving[at]);
            }
        }
        Sync::Interrupted(self.now)
    }
}

impl Sink for Twin {
    fn deliver(&mut self, d: Delivery<'_>) {
        self.now = self.now.max(d.at);
        let at = d.port as usize;
        self.ends[at].on_frame(self.now, d.frame, &mut self.leaving[at]);
    }
}

impl HostPort for Twin {
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)> {
        let port = self.leaving.iter().position(|l| !l.is_empty())?;
        *frame = self.leaving[port].pop_front()?;
        Some((self.now, port as Port))
    }

    fn order(&mut self) -> Option<Order> {
        (self.now >= self.end() || self.ends.iter().any(End::has_failed)).then_some(Order::Stop(self.now))
    }
}
