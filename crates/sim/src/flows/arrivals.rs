//! What is measured of packets where they arrive.

use super::retransmissions::DroppedRetransmissions;
use super::waits::Waits;
use crate::scenario::{LifetimeFrom, LifetimeParams};
use crosswind_base::packet::Ext;
use crosswind_base::{Dur, Histogram, LinearHistogram, Packet, Time, Vantage};
use crosswind_transport::udp::Receiver;

/// What the world may read of what arrived at an endpoint.
#[derive(Default)]
pub struct Arrivals {
    pub packets: u64,
    pub bytes: u64,
    /// Retransmissions although an earlier copy had arrived, or was still going to.
    pub unnecessary_retransmissions: u64,
    /// Retransmissions that arrived.
    pub retransmissions: u64,
    /// Retransmissions that were dropped before their data had arrived: an earlier copy may still be on its way.
    pub dropped_retransmissions: DroppedRetransmissions,
    /// One-way delay of packets with payload.
    pub delay_ns: Histogram,
    /// How long the packet that has just come was in queues on its way.
    pub in_queues: Dur,
    /// The same of packets with payload that have waited at all.
    waits_ns: Histogram,
    pub jitter: Jitter,
    /// Bytes with headers, without retransmissions of what was first sent before `count_from`.
    pub counted_bytes: u64,
    pub count_from: u64,
    /// Of a flow whose data has a lifetime.
    pub freshness: Option<Box<Freshness>>,
    /// Of datagrams.
    pub heard: Option<Box<Heard>>,
}

/// Differences of the delays of packets that arrive one after the other, in size; RFC 3550 (section 6.4.1) smooths them.
#[derive(Default, Debug)]
pub struct Jitter {
    /// Of the packet that arrived last.
    delay: Option<Dur>,
    sum_ns: u64,
    differences: u64,
}

impl Jitter {
    #[inline]
    fn note(&mut self, delay: Dur) {
        if let Some(before) = self.delay.replace(delay) {
            self.sum_ns += delay.0.abs_diff(before.0);
            self.differences += 1;
        }
    }

    /// Their mean; NaN before the second packet.
    pub fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.differences as f64
    }
}

/// Which packets came in time.
#[derive(Clone, Debug)]
pub struct Freshness {
    lifetime: Dur,
    from: LifetimeFrom,
    pub valid_packets: u64,
    pub stale_packets: u64,
    pub stale_bytes: u64,
    /// Without the payload that links took away.
    pub cut_packets: u64,
}

impl Freshness {
    pub fn of(l: &LifetimeParams) -> Option<Box<Freshness>> {
        let new = |lifetime| Freshness {
            lifetime,
            from: l.from,
            valid_packets: 0,
            stale_packets: 0,
            stale_bytes: 0,
            cut_packets: 0,
        };
        l.data.map(|d| Box::new(new(d)))
    }

    /// Another lifetime from now on; what has been counted stays.
    pub(super) fn after(self: Box<Self>, known: Option<Box<Freshness>>) -> Box<Freshness> {
        let Some(mut known) = known else { return self };
        (known.lifetime, known.from) = (self.lifetime, self.from);
        known
    }

    /// A packet with payload arrives for the first time, or what was left of it.
    pub fn count(&mut self, p: &Packet, now: Time) {
        let began = if self.from == LifetimeFrom::Object { p.cause } else { p.sent_at };
        if p.payload == 0 {
            self.cut_packets += 1;
        } else if now.since(began) <= self.lifetime {
            self.valid_packets += 1;
        } else {
            self.stale_packets += 1;
            self.stale_bytes += u64::from(p.payload);
        }
    }
}

/// What is measured of datagrams where they arrive.
#[derive(Default)]
pub struct Heard {
    /// At the end that receives the data.
    pub data: Option<Box<Receiver>>,
    /// How long packets have waited in queues that say so; only for flows with limits.
    pub waits: Option<Box<Waits>>,
    /// From each question to its answer, at the end that asks.
    pub rtt_ns: Histogram,
}

impl Heard {
    /// At one end of a flow: data are measured where they are received.
    pub fn at(seen: Vantage, waits: Option<Box<Waits>>) -> Heard {
        let data = (seen == Vantage::Receiver).then(Box::default);
        Heard { data, waits, rtt_ns: Histogram::default() }
    }
}

impl Arrivals {
    /// The packet that has just come took so long.
    #[inline]
    pub fn record_delay(&mut self, delay: Dur) {
        self.delay_ns.record(delay.0);
        self.jitter.note(delay);
        if self.in_queues > Dur::ZERO {
            self.waits_ns.record(self.in_queues.0);
        }
    }

    /// How long packets with payload were in the queues of links, all queues of the way together.
    pub fn queue_delay_ns(&self) -> Histogram {
        let mut all = self.waits_ns.clone();
        all.record_many(0, self.delay_ns.count() - self.waits_ns.count());
        all
    }

    /// A packet with data arrives at the end that measures them; `false` at the other.
    pub fn hear(&mut self, p: &Packet, now: Time) -> bool {
        let Some(rx) = self.heard.as_mut().and_then(|h| h.data.as_mut()) else { return false };
        if rx.on_datagram(p, now) {
            if let Some(f) = &mut self.freshness {
                f.count(p, now);
            }
            self.record_delay(now.since(p.sent_at));
            self.counted_bytes += u64::from(p.len);
        }
        true
    }

    /// Notes how long a packet that arrives has waited.
    pub fn note_wait(&mut self, ext: Option<&Ext>) {
        if let (Some(waits), Some(e)) = (self.heard.as_mut().and_then(|h| h.waits.as_mut()), ext) {
            waits.note(e.wait.so_far);
        }
    }

    /// An answer has come so long after its question.
    pub fn record_answer(&mut self, rtt: Dur) {
        self.heard.get_or_insert_default().rtt_ns.record(rtt.0);
    }

    /// What is measured of datagrams at this end.
    pub fn data(&self) -> Option<&Receiver> {
        self.heard.as_ref()?.data.as_deref()
    }

    /// Sums of waits, where they are recorded.
    pub fn waited(&self) -> Option<&LinearHistogram> {
        self.heard.as_ref()?.waits.as_ref()?.sums_ns()
    }

    /// How many packets exceeded each limit of waiting.
    pub fn late(&self) -> &[u64] {
        self.heard.as_ref().and_then(|h| h.waits.as_ref()).map_or(&[], |w| w.late())
    }
}
