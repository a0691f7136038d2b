//! A device before the line, against one that lives through every event: its ring, its card, and the kernel's counters of 32 bits.

use crosswind_base::{BitRate, Dur, Packet, Streams, Time};
use crosswind_net::link::Link;
use crosswind_net::link::wire::{DeviceLimits, Wire, WireParams};
use std::collections::VecDeque;

/// The counters of `struct dql`, with the arithmetic of unsigned numbers that wrap.
struct Dql {
    hold: u64,
    limit: u32,
    num_queued: u32,
    num_completed: u32,
    adj_limit: u32,
    last_obj_cnt: u32,
    prev_num_queued: u32,
    prev_last_obj_cnt: u32,
    prev_ovlimit: u32,
    lowest_slack: u32,
    slack_start: u64,
}

fn posdiff(a: u32, b: u32) -> u32 {
    if (a.wrapping_sub(b) as i32) > 0 { a.wrapping_sub(b) } else { 0 }
}

impl Dql {
    fn new(hold: u64, start: u32) -> Dql {
        Dql {
            hold,
            limit: 0,
            num_queued: start,
            num_completed: start,
            adj_limit: start,
            last_obj_cnt: 0,
            prev_num_queued: start,
            prev_last_obj_cnt: 0,
            prev_ovlimit: 0,
            lowest_slack: u32::MAX,
            slack_start: 0,
        }
    }

    fn avail(&self) -> i32 {
        self.adj_limit.wrapping_sub(self.num_queued) as i32
    }

    fn queued(&mut self, count: u32) {
        self.last_obj_cnt = count;
        self.num_queued = self.num_queued.wrapping_add(count);
    }

    fn completed(&mut self, count: u32, now: u64) {
        let completed = self.num_completed.wrapping_add(count);
        let mut ovlimit = posdiff(self.num_queued.wrapping_sub(self.num_completed), self.limit);
        let inprogress = self.num_queued.wrapping_sub(completed);
        let prev_inprogress = self.prev_num_queued.wrapping_sub(self.num_completed);
        let all_prev_completed = completed.wrapping_sub(self.prev_num_queued) as i32 >= 0;
        let mut limit = self.limit;
        if (ovlimit != 0 && inprogress == 0) || (self.prev_ovlimit != 0 && all_prev_completed) {
            limit += posdiff(completed, self.prev_num_queued) + self.prev_ovlimit;
            self.slack_start = now;
            self.lowest_slack = u32::MAX;
        } else if inprogress != 0 && prev_inprogress != 0 && !all_prev_completed {
            let twice = 2 * completed.wrapping_sub(self.num_completed);
            let of_last = if self.prev_ovlimit != 0 { posdiff(self.prev_last_obj_cnt, self.prev_ovlimit) } else { 0 };
            self.lowest_slack = self.lowest_slack.min(posdiff(limit + self.prev_ovlimit, twice).max(of_last));
            if now > self.slack_start + self.hold {
                limit = posdiff(limit, self.lowest_slack);
                self.slack_start = now;
                self.lowest_slack = u32::MAX;
            }
        }
        if limit != self.limit {
            self.limit = limit;
            ovlimit = 0;
        }
        self.adj_limit = limit.wrapping_add(completed);
        self.prev_ovlimit = ovlimit;
        self.prev_last_obj_cnt = self.last_obj_cnt;
        self.num_completed = completed;
        self.prev_num_queued = self.num_queued;
    }
}

/// A queue discipline, a ring, and a card that sends a byte in a microsecond.
struct Host {
    packets: usize,
    done: DeviceLimits,
    dql: Dql,
    waiting: VecDeque<u32>,
    ring: VecDeque<u32>,
    on_line: Option<(u64, u32)>,
    is_full: bool,
    is_held: bool,
    handed_over: Vec<u64>,
}

impl Host {
    fn serve(&mut self, now: u64) {
        while !self.is_full && !self.is_held {
            let Some(len) = self.waiting.pop_front() else { return };
            self.handed_over.push(now);
            self.ring.push_back(len);
            self.dql.queued(len);
            self.is_held = self.done != DeviceLimits::None && self.dql.avail() < 0;
            self.is_full = self.ring.len() == self.packets;
            if self.on_line.is_none() {
                self.begin(now);
            }
        }
    }

    fn begin(&mut self, now: u64) {
        let Some(len) = self.ring.pop_front() else { return };
        self.on_line = Some((now + u64::from(len) * 1000, len));
        self.is_full = false;
        if self.done == DeviceLimits::Ns3 {
            self.report(len, now);
        }
    }

    fn report(&mut self, len: u32, now: u64) {
        self.dql.completed(len, now);
        if self.dql.avail() >= 0 {
            self.is_held = false;
        }
    }

    fn end(&mut self) {
        let (now, len) = self.on_line.take().expect("a packet on the line");
        if self.done == DeviceLimits::Linux {
            self.report(len, now);
        }
        self.begin(now);
        self.serve(now);
    }
}

/// When each packet, which arrives at a time and has so many bytes, is handed over to the device.
fn lived(mut host: Host, arrivals: &[(u64, u32)]) -> Vec<u64> {
    for &(at, len) in arrivals {
        while host.on_line.is_some_and(|(end, _)| end <= at) {
            host.end();
        }
        host.waiting.push_back(len);
        host.serve(at);
    }
    while host.on_line.is_some() {
        host.end();
    }
    host.handed_over
}

#[test]
fn packets_are_handed_over_when_ring_and_counters_allow_it() {
    let mut rng = Streams::new(3).named("device");
    let mut slower = 0;
    for (packets, hold_ms, done) in [1, 2, 3, 7, 40]
        .into_iter()
        .flat_map(|p| [1u64, 20, 1000].map(|h| (p, h)))
        .flat_map(|(p, h)| [DeviceLimits::None, DeviceLimits::Linux, DeviceLimits::Ns3].map(|d| (p, h, d)))
    {
        let mut at = 0;
        let arrivals: Vec<(u64, u32)> = (0..4000)
            .map(|_| {
                at += if rng.chance(0.1) { 1 + rng.below(9_000_000) } else { rng.below(700_000) };
                (at, 40 + rng.below(1461) as u32)
            })
            .collect();
        let mut wire = Wire::new(WireParams {
            rate: BitRate(8_000_000),
            delay: Dur::ZERO,
            device_packets: packets,
            device_limits: done,
            device_hold: Dur::from_millis(hold_ms),
        });
        let mut free_at = 0;
        let taken: Vec<u64> = arrivals
            .iter()
            .map(|&(at, len)| {
                let now = at.max(free_at);
                free_at = wire.transmit(&Packet { len: len as u16, ..Packet::default() }, Time(now)).free_at.0;
                now
            })
            .collect();
        let host = Host {
            packets: packets as usize,
            done,
            // Close to where the kernel's numbers wrap.
            dql: Dql::new(hold_ms * 1_000_000, u32::MAX - 2_000_000),
            waiting: VecDeque::new(),
            ring: VecDeque::new(),
            on_line: None,
            is_full: false,
            is_held: false,
            handed_over: Vec::new(),
        };
        let wanted = lived(host, &arrivals);
        let first = taken.iter().zip(&wanted).position(|(a, b)| a != b);
        assert_eq!((taken.len(), first), (wanted.len(), None), "{packets} packets, {hold_ms} ms, {done:?}");
        slower += taken.iter().zip(&arrivals).filter(|(t, (at, _))| *t > at).count();
    }
    assert!(slower > 50_000, "the device held back {slower} times");
}
