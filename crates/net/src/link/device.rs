//! What a device in front of a line takes out of the queue ahead of time: so many packets, and of these so many bytes.
//!
//! **Source**: Linux `lib/dynamic_queue_limits.c` (of 2012 on; the comparison with all that was queued before as mended later); ns3-device
//! (`DynamicQueueLimits`, and when its devices report).
//!
//! **Idea**: a ring of packets says little about time, so the kernel bounds the bytes that are handed to the card and not done
//! yet (byte queue limits). The bound follows from what happened between two reports of the card:
//!
//! - The card ran dry although the queue had been held back: the bound grows by what was both handed over and done since the report
//!   before, and by what was above the bound then.
//! - The card was busy all the time: what lay there beyond twice that which was done is slack. The least slack of a time `hold` is
//!   taken off the bound when that time is over.
//!
//! Linux learns that a packet is done when it has left; ns-3's devices say so when it begins on the line.

use crosswind_base::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Which bytes a device may hold, besides what its ring allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeviceLimits {
    /// The ring alone counts.
    #[default]
    #[serde(rename = "none")]
    None,
    /// Byte queue limits: a packet counts until it has left.
    #[serde(rename = "linux")]
    Linux,
    /// Those of ns-3: a packet counts until it begins on the line.
    #[serde(rename = "ns-3")]
    Ns3,
}

/// A device that works through its packets in order, each at a time that is known when it is taken.
pub(super) struct Device {
    packets: usize,
    done: DeviceLimits,
    limits: ByteLimits,
    /// When the packets begin on the line that were taken last, as many as the ring holds.
    begins: VecDeque<Time>,
    /// When packets are done that have not been reported, and their bytes.
    undone: VecDeque<(Time, u64)>,
}

impl Device {
    pub fn new(packets: u32, done: DeviceLimits, hold: Dur) -> Device {
        let room = packets as usize;
        Device {
            packets: room,
            done,
            limits: ByteLimits::new(hold),
            begins: VecDeque::with_capacity(room),
            undone: VecDeque::with_capacity(if done == DeviceLimits::None { 0 } else { room + 2 }),
        }
    }

    /// Takes a packet that is on the line between two times; says from when on it takes another.
    pub fn take(&mut self, bytes: u64, begins: Time, ends: Time, now: Time) -> Time {
        let in_ring = self.room_in_ring(begins).max(now);
        let done_at = match self.done {
            DeviceLimits::None => return in_ring,
            DeviceLimits::Linux => ends,
            DeviceLimits::Ns3 => begins,
        };
        while self.undone.front().is_some_and(|(at, _)| *at <= now) {
            self.report();
        }
        self.limits.queued(bytes);
        self.undone.push_back((done_at, bytes));
        let mut in_limit = now;
        while !self.limits.has_room() {
            in_limit = self.report().max(now);
        }
        in_ring.max(in_limit)
    }

    fn room_in_ring(&mut self, begins: Time) -> Time {
        if self.begins.len() == self.packets {
            self.begins.pop_front();
        }
        self.begins.push_back(begins);
        if self.begins.len() < self.packets { Time::ZERO } else { self.begins[0] }
    }

    /// The next packet is done; returns when.
    fn report(&mut self) -> Time {
        let (at, bytes) = self.undone.pop_front().expect("whoever is above a limit has something left to do");
        self.limits.completed(bytes, at);
        at
    }
}

/// How many bytes may be handed over and not done. All counts but `limit` and the slack grow from the start of the run.
struct ByteLimits {
    hold: Dur,
    limit: u64,
    queued: u64,
    completed: u64,
    last: u64,
    before: Before,
    least_slack: u64,
    slack_since: Time,
}

/// What the last report left: all bytes queued until then, how many were above the limit, the size of the last packet.
#[derive(Clone, Copy, Default)]
struct Before {
    queued: u64,
    over: u64,
    last: u64,
}

impl ByteLimits {
    fn new(hold: Dur) -> ByteLimits {
        let before = Before::default();
        let (limit, queued, completed, last) = (0, 0, 0, 0);
        ByteLimits { hold, limit, queued, completed, last, before, least_slack: u64::MAX, slack_since: Time::ZERO }
    }

    fn has_room(&self) -> bool {
        self.queued <= self.limit + self.completed
    }

    fn queued(&mut self, bytes: u64) {
        self.last = bytes;
        self.queued += bytes;
    }

    fn completed(&mut self, bytes: u64, now: Time) {
        let before = self.before;
        let done = self.completed + bytes;
        let over = (self.queued - self.completed).saturating_sub(self.limit);
        let is_dry = self.queued == done;
        let was_dry = before.queued == self.completed;
        let is_all_of_before_done = done >= before.queued;
        let mut limit = self.limit;
        if (over > 0 && is_dry) || (before.over > 0 && is_all_of_before_done) {
            limit += done.saturating_sub(before.queued) + before.over;
            (self.slack_since, self.least_slack) = (now, u64::MAX);
        } else if !is_dry && !was_dry && !is_all_of_before_done {
            let in_last = if before.over > 0 { before.last.saturating_sub(before.over) } else { 0 };
            let slack = (limit + before.over).saturating_sub(2 * bytes).max(in_last);
            self.least_slack = self.least_slack.min(slack);
            if now > self.slack_since + self.hold {
                limit = limit.saturating_sub(self.least_slack);
                (self.slack_since, self.least_slack) = (now, u64::MAX);
            }
        }
        let over = if limit == self.limit { over } else { 0 };
        self.before = Before { queued: self.queued, over, last: self.last };
        (self.completed, self.limit) = (done, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Dur = Dur::from_millis(1);

    /// Hands packets of 1500 bytes, each a millisecond on the line, to a device as soon as it takes them; how many milliseconds ahead
    /// of its beginning each was taken.
    fn ahead(done: DeviceLimits, hold: Dur, n: u64) -> Vec<u64> {
        let mut device = Device::new(3, done, hold);
        let mut now = Time::ZERO;
        (0..n)
            .map(|i| {
                let begins = Time::ZERO + MS.saturating_mul(i);
                let taken = now;
                now = device.take(1500, begins, begins + MS, now);
                begins.since(taken).0 / MS.0
            })
            .collect()
    }

    #[test]
    fn limits_grow_until_the_ring_is_what_holds_back_and_shrink_after_the_hold() {
        let second = Dur::from_secs(1);
        assert_eq!(ahead(DeviceLimits::None, second, 6), [0, 1, 2, 3, 3, 3]);
        // ns-3: the first packet is done as it begins, and was above the limit of zero.
        assert_eq!(ahead(DeviceLimits::Ns3, second, 6)[..4], [0, 1, 2, 2]);
        assert_eq!(ahead(DeviceLimits::Linux, second, 6)[..3], [0, 0, 1]);
        for done in [DeviceLimits::Ns3, DeviceLimits::Linux] {
            let long = ahead(done, second, 900);
            let short = ahead(done, MS.saturating_mul(4), 900);
            let mean = |v: &[u64]| v[100..].iter().sum::<u64>() as f64 / (v.len() - 100) as f64;
            assert!(mean(&short) < mean(&long), "{done:?}: {} {}", mean(&short), mean(&long));
        }
    }
}
