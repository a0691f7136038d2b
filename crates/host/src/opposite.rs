//! The port of the emulator at which host 0 is the kernel, behind a TUN device, and host 1 our own stack.
//!
//! The stack is told the time of the machine's clock; its timers are deadlines like those of the network. Frames are captured where
//! the own host meets the network.

use crate::end::End;
use crate::witness::Witness;
use crosswind_base::{Clock, Dur, Histogram, Sync, Time, Vantage};
use crosswind_emu::delivery::{Delivery, Port, Sink};
use crosswind_emu::host_port::{HostPort, Order};
use crosswind_emu::live::Live;
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
    /// Ends of our own, by the port at which they are; one that is alone gets everything.
    pub ends: Vec<(u16, End)>,
    /// Sees every packet at the hosts.
    pub witness: Option<Witness>,
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
    pub fn new(live: Live, ends: Vec<(u16, End)>, capture: Option<Capture>) -> Opposite {
        Opposite {
            live,
            ends,
            witness: None,
            capture,
            late_ns: Histogram::new(),
            sent_packets: 0,
            leaving: VecDeque::new(),
            told: Time::ZERO,
        }
    }

    /// The stacks open their connections, those that do.
    pub fn open(&mut self) {
        let now = self.tell();
        for (_, end) in &mut self.ends {
            end.open(now, &mut self.leaving);
        }
    }

    /// The end that a packet is for.
    fn end_of(&self, frame: &[u8]) -> Option<usize> {
        if self.ends.len() == 1 {
            return Some(0);
        }
        // The length of the IPv4 header in words; the port of the destination is in the next one behind it.
        let at = usize::from(frame.first()? & 15) * 4 + 2;
        let port = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        self.ends.iter().position(|(p, _)| *p == port)
    }

    /// When a stack wants to be woken next.
    fn next_timer(&self) -> Time {
        self.ends.iter().map(|(_, e)| e.next_timer()).min().unwrap_or(Time::NEVER)
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

    /// When the run ends: a while after the last connection.
    fn end(&self) -> Option<Time> {
        let closed = self.ends.iter().map(|(_, e)| e.transfer.closed_at).collect::<Option<Vec<_>>>()?;
        Some(closed.into_iter().max()? + GRACE)
    }
}

impl Clock for Opposite {
    fn sync(&mut self, deadline: Time) -> Sync {
        if !self.leaving.is_empty() {
            return Sync::Interrupted(self.live.now());
        }
        let own = self.next_timer().min(self.end().unwrap_or(Time::NEVER));
        if own >= deadline {
            return self.live.sync(deadline);
        }
        match self.live.sync(own) {
            Sync::Interrupted(at) => Sync::Interrupted(at),
            Sync::OnTime | Sync::Late(_) => {
                let now = self.tell();
                for (_, end) in self.ends.iter_mut().filter(|(_, e)| e.next_timer() <= now) {
                    self.late_ns.record(now.since(own).0);
                    end.on_timer(now, &mut self.leaving);
                }
                Sync::Interrupted(now)
            }
        }
    }
}

impl Sink for Opposite {
    fn deliver(&mut self, d: Delivery<'_>) {
        let (port, frame) = (d.port, d.frame);
        if port != OWN {
            let meant = d.at;
            self.live.deliver(d);
            // What it made of the packet can be seen now.
            let now = self.tell();
            self.witness.iter_mut().for_each(|w| w.reached(now, port, frame, now.since(meant)));
            return;
        }
        let now = self.tell();
        self.keep(now, frame);
        self.witness.iter_mut().for_each(|w| w.reached(now, port, frame, Dur::ZERO));
        if let Some(at) = self.end_of(frame) {
            self.ends[at].1.on_frame(now, frame, &mut self.leaving);
        }
    }
}

impl HostPort for Opposite {
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)> {
        if let Some(bytes) = self.leaving.pop_front() {
            let now = self.live.now();
            self.keep(now, &bytes);
            self.sent_packets += 1;
            *frame = bytes;
            self.witness.iter_mut().for_each(|w| w.came(now, frame));
            return Some((now, OWN));
        }
        let came = self.live.receive(frame);
        if let Some((at, _)) = came {
            self.witness.iter_mut().for_each(|w| w.came(at, frame));
        }
        came
    }

    fn order(&mut self) -> Option<Order> {
        let now = self.live.now();
        let is_over = self.end().is_some_and(|at| at <= now) || self.ends.iter().any(|(_, e)| e.has_failed());
        if is_over { Some(Order::Stop(now)) } else { self.live.order() }
    }
}
