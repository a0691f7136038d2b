//! The port of the emulator at which host 0 is the kernel, behind a TUN device, and host 1 our own stack.
//!
//! The stack is told the time of the machine's clock; its timers are deadlines like those of the network. Frames are captured where
//! the own host meets the network.

use crate::end::End;
use crosswind_base::{Clock, Dur, Histogram, Sync, Time, Vantage};
use crosswind_emu::host_port::{HostPort, Order};
use crosswind_emu::live::Live;
use crosswind_emu::network::{Delivery, Port, Sink};
use crosswind_record::pcapng::PcapngWriter;
use std::collections::VecDeque;
use std::io::Write;

/// Host of the kernel.
pub const KERNEL: Port = 0;
/// Our own.
pub const OWN: Port = 1;
/// When the connection is over, what is still under way gets this long: the last acknowledgement is.
pub const GRACE: Dur = Dur::from_millis(500);

/// Where frames are captured, and the first error of writing them.
pub type Capture = PcapngWriter<Box<dyn Write + Send>>;

pub struct Opposite {
    pub live: Live,
    pub own: End,
    pub capture: Option<Capture>,
    /// By how much later than asked the stack was woken.
    pub late_ns: Histogram,
    pub sent_packets: u64,
    leaving: VecDeque<Vec<u8>>,
    /// The latest time that the stack was told.
    told: Time,
}

impl Opposite {
    /// `live` has the kernel's device, and no other.
    pub fn new(live: Live, own: End, capture: Option<Capture>) -> Opposite {
        Opposite {
            live,
            own,
            capture,
            late_ns: Histogram::new(),
            sent_packets: 0,
            leaving: VecDeque::new(),
            told: Time::ZERO,
        }
    }

    /// The stack opens its connection, if it is the one that does.
    pub fn open(&mut self) {
        let now = self.tell();
        self.own.open(now, &mut self.leaving);
    }

    fn tell(&mut self) -> Time {
        self.told = self.live.now().max(self.told);
        self.told
    }

    fn keep(&mut self, at: Time, frame: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.frame(at, Vantage::Sender, frame);
        }
    }

    /// When the run ends: a while after the connection.
    fn end(&self) -> Option<Time> {
        Some(self.own.transfer.closed_at? + GRACE)
    }
}

impl Clock for Opposite {
    fn sync(&mut self, deadline: Time) -> Sync {
        if !self.leaving.is_empty() {
            return Sync::Interrupted(self.live.now());
        }
        let own = self.own.next_timer().min(self.end().unwrap_or(Time::NEVER));
        if own >= deadline {
            return self.live.sync(deadline);
        }
        match self.live.sync(own) {
            Sync::Interrupted(at) => Sync::Interrupted(at),
            Sync::OnTime | Sync::Late(_) => {
                let now = self.tell();
                if self.own.next_timer() <= now {
                    self.late_ns.record(now.since(own).0);
                    self.own.on_timer(now, &mut self.leaving);
                }
                Sync::Interrupted(now)
            }
        }
    }
}

impl Sink for Opposite {
    fn deliver(&mut self, d: Delivery<'_>) {
        if d.port != OWN {
            return self.live.deliver(d);
        }
        let now = self.tell();
        self.keep(now, d.frame);
        self.own.on_frame(now, d.frame, &mut self.leaving);
    }
}

impl HostPort for Opposite {
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)> {
        if let Some(bytes) = self.leaving.pop_front() {
            let now = self.live.now();
            self.keep(now, &bytes);
            self.sent_packets += 1;
            *frame = bytes;
            return Some((now, OWN));
        }
        self.live.receive(frame)
    }

    fn order(&mut self) -> Option<Order> {
        let now = self.live.now();
        let is_over = self.end().is_some_and(|at| at <= now) || self.own.has_failed();
        if is_over { Some(Order::Stop(now)) } else { self.live.order() }
    }
}
