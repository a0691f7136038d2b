//! What a queue does at the ends of its ranges, one packet or byte to each side.

use crosswind_base::{DropReason, Ecn, Streams, Time};
use crosswind_net::queue::{BoxQueue, QueueDisc};
use crosswind_net::registry::{self, BuildCx};
use crosswind_testkit::bench::{DiscBench, Outcome, Report};
use serde_json::{Value, json};

fn bench(queue: &Value) -> DiscBench<BoxQueue> {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    DiscBench::new(registry::build_queue(queue, "q", &cx).unwrap_or_else(|e| panic!("{queue}: {e}")))
}

const FULL: Outcome = Outcome::Dropped(DropReason::QueueFull);

#[test]
fn the_header_of_the_link_counts_for_those_who_wait_and_for_who_comes() {
    for kind in ["droptail", "red-linux", "red-floyd-jacobson"] {
        let mut queue = json!({ "type": kind, "overhead": "14 B", "admission": "fits" });
        if kind != "droptail" {
            queue["min_th"] = "50000 B".into();
            queue["max_th"] = "90000 B".into();
            queue["rate"] = "1 Mbit/s".into();
        }
        for (limit, expected) in [("3042 B", [Outcome::Admitted, FULL]), ("3041 B", [FULL, FULL])] {
            queue["limit"] = limit.into();
            let mut b = bench(&queue);
            for _ in 0..2 {
                assert_eq!(b.arrive(Time::ZERO, 1000, Ecn::NotEct), Outcome::Admitted, "{kind}");
            }
            let last = [0, 1].map(|_| b.arrive(Time::ZERO, 1000, Ecn::NotEct));
            assert_eq!(last, expected, "{kind} of {limit}");
            assert_eq!(b.disc.backlog().bytes % 1000, 0, "{kind}: what waits has no header of the link");
        }
    }
}

#[test]
fn what_queues_inside_a_discipline_report_is_passed_on() {
    let rio = json!({ "type": "rio", "limit": "20 packets", "rate": "1 Mbit/s" });
    let class = json!({ "rate": "1 Mbit/s", "ceil": "1 Mbit/s", "queue": rio });
    for queue in [
        json!({ "type": "tbf", "rate": "1 Mbit/s", "burst": "3000 B", "queue": rio }),
        json!({ "type": "prio", "default": "all", "class": { "all": { "prio": 0, "queue": rio } } }),
        json!({ "type": "htb", "default": "all", "class": { "all": class } }),
        json!({ "type": "lpd", "rate": "1 Mbit/s", "delay": "1 ms", "looks": "departure", "queue": rio }),
    ] {
        let mut b = bench(&queue);
        for _ in 0..3 {
            assert_eq!(b.arrive(Time::ZERO, 1000, Ecn::NotEct), Outcome::Admitted);
        }
        let mut told = Report::default();
        b.disc.report(&mut told);
        let arrived: f64 = told.values.iter().filter(|v| v.0.contains("arrived")).map(|v| v.1).sum();
        assert_eq!(arrived, 3.0, "{queue}: {:?}", told.values);
    }
}

#[test]
fn a_class_of_a_discipline_may_change() {
    let class = json!({ "all": { "prio": 0, "queue": { "limit": "3 packets" } } });
    let mut b = bench(&json!({ "type": "prio", "default": "all", "class": class }));
    b.change(Time::ZERO, &json!({ "class": { "all": { "queue": { "limit": "1 packet" } } } }));
    let outcomes = [0, 1].map(|_| b.arrive(Time::ZERO, 1000, Ecn::NotEct));
    assert_eq!(outcomes, [Outcome::Admitted, FULL]);
}

#[test]
fn a_pi_controller_holds_its_limit_and_marks_who_may_be_marked() {
    let pi = |ecn: &str, a: f64| {
        let keys =
            json!({ "type": "pi", "limit": "2 packets", "target": 0, "a": a, "b": 0, "frequency": 1000, "ecn": ecn });
        let mut b = bench(&keys);
        assert_eq!(b.arrive(Time::ZERO, 1000, Ecn::NotEct), Outcome::Admitted, "an empty queue");
        b
    };
    let mut b = pi("mark", 0.0);
    assert_eq!([0, 1].map(|_| b.arrive(Time::ZERO, 1000, Ecn::NotEct)), [Outcome::Admitted, FULL]);
    // A step with a packet in the queue, and the probability is 1.
    let dropped = Outcome::Dropped(DropReason::EarlyDrop);
    for (ecn, packet, outcome) in
        [("mark", Ecn::Ect0, Outcome::Marked), ("mark", Ecn::NotEct, dropped), ("drop", Ecn::Ect0, dropped)]
    {
        assert_eq!(pi(ecn, 1.0).arrive(Time(1_000_000), 1000, packet), outcome, "{ecn}, {packet:?}");
    }
}

#[test]
fn a_class_counts_what_it_has_sent_and_how_long_that_waited() {
    let class = json!({ "all": { "prio": 0, "queue": {} } });
    let mut b = bench(&json!({ "type": "prio", "default": "all", "class": class }));
    assert_eq!([1000, 500].map(|len| b.arrive(Time::ZERO, len, Ecn::NotEct)), [Outcome::Admitted; 2]);
    assert_eq!(b.depart(Time(3_000_000)), Some(0));
    let mut told = Report::default();
    b.disc.report(&mut told);
    let [(_, totals, holds)] = &told.classes[..] else { panic!("one class") };
    assert_eq!([totals.arrived_bytes, totals.sent_bytes, holds.bytes], [1500, 1000, 500]);
    assert_eq!((totals.sent_packets, totals.queue_delay_ns.mean()), (1, 3e6));
}

#[test]
fn a_filter_of_another_rate_wants_to_be_asked_at_once_if_a_packet_waits() {
    let ms = |t: u64| Time(t * 1_000_000);
    let mut b = bench(&json!({ "type": "tbf", "rate": "8 kbit/s", "burst": "1000 B" }));
    (0..2).for_each(|_| assert_eq!(b.arrive(ms(0), 1000, Ecn::NotEct), Outcome::Admitted));
    assert_eq!((b.depart(ms(0)), b.disc.next_wake()), (Some(0), None));
    b.change(ms(0), &json!({ "burst": "1000 B" }));
    assert_eq!(b.disc.next_wake(), None, "nobody has asked in vain");
    assert_eq!((b.depart(ms(0)), b.disc.next_wake()), (None, Some(ms(1000))));
    b.change(ms(100), &json!({ "rate": "80 kbit/s" }));
    assert_eq!(b.disc.next_wake(), Some(ms(100)));
    // A tenth of the packet is paid for at the old rate; the rest takes 90 ms at the new one.
    assert_eq!((b.depart(ms(100)), b.disc.next_wake()), (None, Some(ms(190))));
    assert_eq!(b.depart(ms(190)), Some(1));
}

#[test]
fn a_packet_that_finds_the_queue_of_a_filter_full_costs_no_credit() {
    let queue = json!({ "limit": "1 packet" });
    let filter = json!({ "type": "tbf", "rate": "8 kbit/s", "burst": "1000 B", "metered": "arrival", "queue": queue });
    let mut b = bench(&filter);
    assert_eq!([0, 1].map(|_| b.arrive(Time::ZERO, 1000, Ecn::NotEct)), [Outcome::Admitted, FULL]);
    assert_eq!(b.depart(Time::ZERO), Some(0));
    // A second later the bucket is full again.
    let later = Time(1_000_000_000);
    assert_eq!(b.arrive(later, 1000, Ecn::NotEct), Outcome::Admitted);
    assert_eq!(b.depart(later), Some(2));
}
