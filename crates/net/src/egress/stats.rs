//! The totals of an egress, and what it reports of them.

use super::flight::InFlight;
use crate::queue::Backlog;
use crosswind_base::{Dur, Histogram, Metrics, Time};

/// Totals of an egress.
#[derive(Default)]
pub(crate) struct Stats {
    /// Lost before they reached the queue.
    pub lost_at_entry_packets: u64,
    /// Of the arrived ones, those that found an empty queue and a free link: their delay and the backlog they saw are zero.
    pub passed_packets: u64,
    pub sent_bytes: u64,
    pub delivered_packets: u64,
    /// Retransmissions below IP.
    pub retransmitted_packets: u64,
    pub queue_bytes_max: u64,
    /// Integral of the queue over time, in byte nanoseconds, up to `integral_at`.
    pub queue_integral: u128,
    pub integral_at: Time,
    /// Backlog since `integral_at`.
    pub queue_bytes: u64,
    /// Transmission time of all packets that the link has taken.
    pub busy_ns: u64,
    /// Of those that have left the queue.
    pub queue_delay_ns: Histogram,
    /// By those that have reached the queue, whether it took them or not.
    pub queue_bytes_seen: Histogram,
}

/// What has been counted before its time.
#[derive(Clone, Copy, Default)]
pub(crate) struct NotYet {
    pub packets: u64,
    pub bytes: u64,
    pub busy_ns: u64,
}

impl NotYet {
    /// What a packet has added to the counters that lies after `now`.
    pub fn takes_back(&mut self, p: &InFlight, now: Time) {
        if p.ends <= now {
            return;
        }
        self.busy_ns += (p.ends - p.starts.max(now)).0;
        if p.starts > now {
            let (packets, bytes) = p.early();
            self.packets += packets;
            self.bytes += bytes;
        }
    }
}

impl Stats {
    /// Takes note of a backlog that may have changed, now.
    #[inline]
    pub fn queue_is(&mut self, backlog: Backlog, now: Time) {
        if backlog.bytes != self.queue_bytes {
            self.queue_integral += self.queue_bytes as u128 * (now - self.integral_at).0 as u128;
            self.integral_at = now;
            self.queue_bytes = backlog.bytes;
        }
    }
    #[inline]
    pub fn transmission(&mut self, from: Time, until: Time) {
        self.busy_ns += (until - from).0;
    }
    #[inline]
    pub fn sent(&mut self, len: u32) {
        self.sent_bytes += len as u64;
    }
    /// A packet leaves the queue after so long.
    #[inline]
    pub fn left_queue(&mut self, after: Dur, len: u32) {
        self.queue_delay_ns.record(after.0);
        self.sent(len);
    }
    /// A packet has reached the far end.
    #[inline]
    pub fn delivered(&mut self, len: u16) {
        self.queue_was(len);
        self.delivered_packets += 1;
    }
    /// At some time the queue held at least this one packet.
    #[inline]
    pub fn queue_was(&mut self, len: u16) {
        self.queue_bytes_max = self.queue_bytes_max.max(u64::from(len));
    }
    /// A packet of `len` bytes that finds an empty queue and a free link.
    #[inline]
    pub fn passed(&mut self, len: u32) {
        self.passed_packets += 1;
        self.queue_bytes_max = self.queue_bytes_max.max(len as u64);
    }
    fn queue_mean_bytes(&self, now: Time) -> f64 {
        let integral = self.queue_integral + self.queue_bytes as u128 * now.since(self.integral_at).0 as u128;
        if now == Time::ZERO { 0.0 } else { integral as f64 / now.0 as f64 }
    }

    /// `repeated`: what the link has sent besides the transmissions that it told of. `longest`: a packet that nobody counted.
    pub fn report(&self, now: Time, not_yet: NotYet, repeated: Dur, longest: u64, out: &mut dyn Metrics) {
        let busy_ns = self.busy_ns - not_yet.busy_ns + repeated.0;
        let passed = self.passed_packets - not_yet.packets;
        let arrived = passed + self.queue_bytes_seen.count() + self.lost_at_entry_packets;
        out.value("arrived_packets", arrived as f64);
        out.value("sent_packets", (passed + self.queue_delay_ns.count()) as f64);
        out.value("sent_bytes", (self.sent_bytes - not_yet.bytes) as f64);
        out.value("delivered_packets", self.delivered_packets as f64);
        out.value("link_retransmitted_packets", self.retransmitted_packets as f64);
        out.value("busy_ns", busy_ns as f64);
        out.value("utilisation_ratio", if now == Time::ZERO { 0.0 } else { busy_ns as f64 / now.0 as f64 });
        out.value("queue_mean_bytes", self.queue_mean_bytes(now));
        out.value("queue_max_bytes", self.queue_bytes_max.max(longest) as f64);
        if !out.wants_histograms() {
            return;
        }
        let with_passed = |h: &Histogram| {
            let mut all = h.clone();
            all.record_many(0, passed);
            all
        };
        out.histogram("queue_delay_ns", &with_passed(&self.queue_delay_ns));
        out.histogram("queue_bytes", &with_passed(&self.queue_bytes_seen));
    }
}
