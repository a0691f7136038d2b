//! The clock of the machine and the devices of the hosts: the host_port of a live run.
//!
//! Waiting is hybrid: sleep until a little before the deadline ([`Margin`]), then spin, looking at the devices all the
//! time, but never without any rest ([`Rest`]). How late each packet left and how long sleeps overran is measured in here and told to nobody inside the network.

use crate::change::Change;
use crate::delivery::{Delivery, Port, Sink};
use crate::host_port::{HostPort, Order};
use crate::tun::Tun;
use crate::wait::{Margin, Rest};
use crosswind_base::{Clock, Dur, Histogram, Sync, Time};
use crosswind_record::option::TimeOfDay;
use rustix::event::{EventfdFlags, PollFd, PollFlags, epoll, eventfd};
use rustix::fs::Timespec;
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

/// Longer frames than this do not come out of a TUN device.
const FRAME_MAX_BYTES: usize = 65_535;
const BELL: u64 = u64::MAX;
const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Nanoseconds of the clock that all processes of a machine share and that never jumps.
pub fn monotonic_ns() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Milliseconds since midnight UT at a moment of that clock.
pub fn time_of_day(at_ns: u64) -> TimeOfDay {
    let t = clock_gettime(ClockId::Realtime);
    let now_ns = t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64;
    TimeOfDay(now_ns.saturating_sub(monotonic_ns()).saturating_add(at_ns) / 1_000_000 % 86_400_000)
}

/// What the machine did to the run.
#[derive(Clone, Default)]
pub struct Punctuality {
    /// By how much later than its logical time each packet was handed to its device.
    pub lateness_ns: Histogram,
    /// By how much later than asked each sleep ended.
    pub oversleep_ns: Histogram,
    /// Packets that a device did not take.
    pub unwritten_packets: u64,
    pub read_errors: u64,
}

/// How others reach a running driver.
#[derive(Clone)]
pub struct Remote {
    bell: Arc<OwnedFd>,
    waiting: Arc<Mutex<VecDeque<Call>>>,
}

enum Call {
    Change(Change),
    Stop,
}

impl Remote {
    fn call(&self, c: Call) {
        self.waiting.lock().expect("nobody panics while holding the list of calls").push_back(c);
        // Fails only when the counter is full, and then the driver has been told already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
    /// Changes a link from now on.
    pub fn change(&self, change: Change) {
        self.call(Call::Change(change));
    }
    /// Ends the run.
    pub fn stop(&self) {
        self.call(Call::Stop);
    }
}

/// Devices and clock.
pub struct Live {
    start_ns: u64,
    stop_at: Time,
    margin: Margin,
    rest: Rest,
    epoll: OwnedFd,
    tuns: Vec<Tun>,
    /// Devices that may have something to read.
    ready: VecDeque<usize>,
    has_been_late: bool,
    remote: Remote,
    frame_bytes: usize,
    pub punctuality: Punctuality,
}

/// What a live host_port needs beside its devices.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Monotonic time that is logical zero.
    pub start_ns: u64,
    pub stop_at: Time,
    /// How long before a deadline spinning begins; without it the margin follows the machine.
    pub spin: Option<Dur>,
    /// The largest MTU of the devices.
    pub mtu_bytes: usize,
}

impl Live {
    pub fn new(tuns: Vec<Tun>, s: Settings) -> io::Result<Live> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (i, t) in tuns.iter().enumerate() {
            epoll::add(&poll, t, epoll::EventData::new_u64(i as u64), epoll::EventFlags::IN)?;
        }
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&poll, &bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN)?;
        Ok(Live {
            start_ns: s.start_ns,
            stop_at: s.stop_at,
            margin: Margin::new(s.spin),
            rest: Rest::default(),
            epoll: poll,
            ready: VecDeque::with_capacity(tuns.len()),
            tuns,
            has_been_late: false,
            remote: Remote { bell: Arc::new(bell), waiting: Arc::default() },
            frame_bytes: (s.mtu_bytes + 64).min(FRAME_MAX_BYTES),
            punctuality: Punctuality::default(),
        })
    }

    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Bytes that a buffer must hold to take any packet of a device.
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Logical time.
    #[inline]
    pub fn now(&self) -> Time {
        Time(monotonic_ns().saturating_sub(self.start_ns))
    }

    /// Looks at all devices, waiting for at most so long; true when something has come.
    #[inline]
    fn poll(&mut self, wait: Option<Dur>) -> bool {
        if wait != Some(Dur::ZERO) {
            // `epoll_wait` counts in milliseconds, `ppoll` in nanoseconds.
            let mut all = [PollFd::new(&self.epoll, PollFlags::IN)];
            if rustix::event::poll(&mut all, wait.map(timespec).as_ref()).unwrap_or(0) == 0 {
                return false;
            }
        }
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); 32];
        let Ok((found, _)) = epoll::wait(&self.epoll, &mut events, Some(&NO_TIME)) else { return false };
        let mut any = false;
        for e in found {
            any = true;
            let from = e.data.u64();
            if from == BELL {
                let mut count = [0; 8];
                let _ = rustix::io::read(&self.remote.bell, &mut count);
            } else {
                self.ready.push_back(from as usize);
            }
        }
        any
    }

    #[inline]
    fn nap(&mut self, length: Dur) -> bool {
        let began = self.now();
        let come = self.poll(Some(length));
        if !come {
            let over = self.now().since(began).saturating_sub(length);
            self.punctuality.oversleep_ns.record(over.0);
            self.margin.overran(over);
        }
        come
    }

    /// Sees to it that the thread is not always on its processor, even while packets keep it busy.
    #[inline]
    fn rest(&mut self) {
        if !self.rest.wants_look(self.now()) {
            return;
        }
        self.rest.look(self.now(), on_processor());
        let mut longer = 1;
        while let Some(nap) = self.rest.overdue() {
            let _ = rustix::thread::nanosleep(&timespec(nap.saturating_mul(longer)));
            self.rest.look(self.now(), on_processor());
            longer *= 2;
        }
    }
}

/// How long this thread has been on a processor.
fn on_processor() -> Dur {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Dur(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}

fn timespec(d: Dur) -> Timespec {
    Timespec { tv_sec: (d.0 / 1_000_000_000).min(1 << 30) as i64, tv_nsec: (d.0 % 1_000_000_000) as i64 }
}

impl Clock for Live {
    fn sync(&mut self, deadline: Time) -> Sync {
        let deadline = deadline.min(self.stop_at);
        self.rest();
        if !self.ready.is_empty() {
            return Sync::Interrupted(self.now());
        }
        // However late the network is, the devices get a look between two deadlines.
        if std::mem::take(&mut self.has_been_late) && self.poll(Some(Dur::ZERO)) {
            return Sync::Interrupted(self.now());
        }
        loop {
            let now = self.now();
            if now >= self.stop_at {
                return Sync::Interrupted(now);
            }
            if now >= deadline {
                self.has_been_late = true;
                return if now == deadline { Sync::OnTime } else { Sync::Late(now.since(deadline)) };
            }
            let left = deadline.since(now);
            let come = if deadline == Time::NEVER {
                self.poll(None)
            } else if let Some(length) = self.margin.nap(left, self.rest.owes()) {
                self.nap(length)
            } else {
                self.poll(Some(Dur::ZERO))
            };
            if come {
                return Sync::Interrupted(self.now());
            }
            self.rest();
        }
    }
}

impl Sink for Live {
    #[inline]
    fn deliver(&mut self, d: Delivery<'_>) {
        self.punctuality.lateness_ns.record(self.now().since(d.at).0);
        if self.tuns[d.port as usize].write(d.frame).is_err() {
            self.punctuality.unwritten_packets += 1;
        }
    }
}

impl HostPort for Live {
    #[inline]
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)> {
        while let Some(port) = self.ready.pop_front() {
            match self.tuns[port].read(frame, self.frame_bytes) {
                Ok(true) => {
                    self.ready.push_back(port);
                    return Some((self.now(), port as Port));
                }
                Ok(false) => {}
                Err(_) => self.punctuality.read_errors += 1,
            }
        }
        None
    }

    fn order(&mut self) -> Option<Order> {
        let now = self.now();
        if now >= self.stop_at {
            return Some(Order::Stop(now));
        }
        let call = self.remote.waiting.lock().expect("nobody panics while holding the list of calls").pop_front();
        Some(match call? {
            Call::Change(c) => Order::Change(now, c),
            Call::Stop => Order::Stop(now),
        })
    }
}
