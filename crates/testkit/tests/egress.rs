//! The egress itself: its arithmetic of time, what it does with links that reorder and with queues that hold back.

use crosswind_base::{BitRate, Cx, DropReason, Dur, Ecn, Limit, Packet, PacketId, Time};
use crosswind_net::Egress;
use crosswind_net::link::wire::{Wire, WireParams};
use crosswind_net::link::{Fate, Link, TxPlan};
use crosswind_net::queue::droptail::{DropTail, DropTailParams};
use crosswind_net::queue::store::Fifo;
use crosswind_net::queue::{Backlog, Head, QueueDisc};
use crosswind_testkit::bench::Bench;

fn droptail(limit: Limit) -> DropTail {
    DropTail::new(DropTailParams { limit, ..DropTailParams::default() })
}

/// 1000 bytes take 8 ms, and 20 ms more to arrive.
fn wire() -> Wire {
    Wire::new(WireParams { rate: BitRate(1_000_000), delay: Dur::from_millis(20), ..WireParams::default() })
}

fn ms(t: u64) -> Time {
    Time(t * 1_000_000)
}

#[test]
fn three_packets_at_once_leave_eight_milliseconds_apart_and_the_totals_are_exact() {
    let mut b = Bench::new(Egress::new(droptail(Limit::Packets(10)), wire()));
    for _ in 0..3 {
        b.offer(ms(0), 1000, Ecn::NotEct);
    }
    b.drain();
    assert_eq!(b.deliveries.iter().map(|d| d.at).collect::<Vec<_>>(), [ms(28), ms(36), ms(44)]);
    b.run_until(ms(100));
    let r = b.report();
    // 2000 B waited for 8 ms and 1000 B for 8 ms more: 24 B s over 100 ms.
    assert_eq!(r.get("queue_mean_bytes"), 240.0);
    assert_eq!(r.get("queue_max_bytes"), 2000.0);
    assert_eq!(r.get("busy_ns"), 24e6);
    assert_eq!(r.get("utilisation_ratio"), 0.24);
    assert_eq!((r.get("sent_packets"), r.get("sent_bytes")), (3.0, 3000.0));
    // Sojourns 0, 8 and 16 ms; arrivals saw 0, 0 and 1000 B.
    assert_eq!(r.histograms, [("queue_delay_ns", 3, 8e6), ("queue_bytes", 3, 1000.0 / 3.0)]);
}

#[test]
fn a_transmission_counts_as_busy_only_as_far_as_it_has_come() {
    let mut b = Bench::new(Egress::new(droptail(Limit::Packets(10)), wire()));
    b.offer(ms(10), 1000, Ecn::NotEct);
    b.run_until(ms(12));
    assert_eq!(b.report().get("busy_ns"), 2e6);
    b.offer(ms(50), 1000, Ecn::NotEct);
    b.run_until(ms(53));
    assert_eq!(b.report().get("busy_ns"), 11e6);
}

#[test]
fn one_wake_serves_everything_that_is_due() {
    let mut b = Bench::new(Egress::new(droptail(Limit::Packets(10)), wire()));
    for _ in 0..5 {
        b.offer(ms(0), 1000, Ecn::NotEct);
    }
    // By 28 ms four have been sent, 8 ms apart; the first of them arrives then.
    b.run_until(ms(28));
    assert_eq!(b.deliveries.iter().map(|d| (d.at, d.seq)).collect::<Vec<_>>(), [(ms(28), 0)]);
    assert_eq!(b.stage.in_flight_packets(), 3);
    assert_eq!(b.stage.backlog().packets, 1);
}

/// Every second packet overtakes; every fifth is lost.
struct Unruly(u64);

impl Link for Unruly {
    fn transmit(&mut self, _p: &Packet, now: Time) -> TxPlan {
        self.0 += 1;
        let end = now + Dur::from_millis(1);
        let delay = if self.0 % 2 == 1 { 50 } else { 5 };
        let at = end + Dur::from_millis(delay);
        let fate = if self.0 % 5 == 0 { Fate::Lost(at) } else { Fate::Deliver(at) };
        TxPlan { free_at: end, fate, attempts: 1, tx_start: now, tx_end: end }
    }
}

#[test]
fn a_link_that_reorders_and_loses_is_served_in_order_of_time() {
    let mut b = Bench::new(Egress::new(droptail(Limit::Packets(100)), Unruly(0)));
    for _ in 0..20 {
        b.offer(ms(0), 100, Ecn::NotEct);
    }
    b.drain();
    let times: Vec<Time> = b.deliveries.iter().map(|d| d.at).collect();
    assert!(times.is_sorted());
    assert_eq!(b.deliveries.len(), 16);
    assert_eq!(b.drops_of(DropReason::LinkError), 4);
    // Packets 2, 4, 6, ... (ordinals 1, 3, 5, ...) arrive first.
    assert_eq!(b.deliveries[..3].iter().map(|d| d.seq).collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(b.pool.in_use(), 0);
}

/// Lets one packet go every 100 ms, whatever the link could take.
struct Gate {
    store: Fifo,
    opens_at: Time,
}

impl QueueDisc for Gate {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let len = cx.packet(id).len as u32;
        self.store.push(id, len, cx.now);
    }
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        if cx.now < self.opens_at {
            return None;
        }
        let head = self.store.pop()?;
        self.opens_at = cx.now + Dur::from_millis(100);
        Some(head)
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
    fn next_wake(&self) -> Option<Time> {
        if self.store.is_empty() { None } else { Some(self.opens_at) }
    }
}

#[test]
fn a_queue_that_holds_packets_back_is_woken_when_it_asks() {
    let mut b = Bench::new(Egress::new(Gate { store: Fifo::new(), opens_at: Time::ZERO }, wire()));
    for _ in 0..3 {
        b.offer(ms(0), 1000, Ecn::NotEct);
    }
    b.drain();
    assert_eq!(b.deliveries.iter().map(|d| d.at).collect::<Vec<_>>(), [ms(28), ms(128), ms(228)]);
}
