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
