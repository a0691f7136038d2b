//! Window laws of Crosswind in the place of a stack's own: the window is the law's, and so is every reduction.
#![cfg(all(feature = "quinn", feature = "noq"))]

mod common;

use common::{Little, Path, pairs};
use crosswind_base::{Dur, Time, units::Size};
use crosswind_stacks::ROWS;
use crosswind_stacks::quinn::law::{LawFactory, Ported, initial_window, read};
use crosswind_transport::stack::CutBecause;
use crosswind_transport::tcp::law::{AckSample, Change, Controller, Law};
use crosswind_transport::tcp::params::AvoidanceCounting;
use crosswind_transport::tcp::{Ack, Trigger, preset};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ENDLESS: u64 = 1 << 50;
const DATAGRAM: u64 = 1452;
/// Every law that can be ported, and what a loss leaves of a window of a hundred where the law says so without a history.
const LAWS: [(&str, Option<f64>); 12] = [
    ("reno", Some(0.5)),
    ("aimd", Some(0.5)),
    ("cubic", Some(0.7)),
    ("scalable", Some(0.875)),
    ("ltcp", None),
    ("hstcp", None),
    ("bic", None),
    ("htcp", None),
    ("fast", None),
    ("vegas", None),
    ("westwood", None),
    ("ledbat++", None),
];

/// The same law in Crosswind's TCP, to be told of ACKs directly.
fn law_alone(name: &str) -> Law {
    let params = preset::read(&json!({ "preset": "rfc", "law": name }), "tcp").expect("a law").with(|p| {
        p.connection.mss = Size(DATAGRAM);
        p.window.avoidance_counting = AvoidanceCounting::Segments;
    });
    let mut law = Law::new(&params);
    law.change(Change::StartFrom(initial_window(DATAGRAM) as f64));
    law
}

#[test]
fn stepped_ack_by_ack_the_window_is_that_of_the_law_to_the_byte() {
    for (name, _) in LAWS {
        #[expect(clippy::disallowed_methods, reason = "an origin: nothing else is read from it")]
        let epoch = Instant::now();
        let factory = LawFactory::of_json(&format!("\"{name}\"")).expect("it can be ported");
        let (mut ported, mut law) = (Ported::new(&factory.law, None, DATAGRAM as u16, epoch), law_alone(name));
        let (mut now, mut gone, mut largest, mut reductions) = (Duration::from_secs(1), 0, 0u64, 0);
        for i in 1..60_000u64 {
            // The queue grows with the window, above a hundred datagrams; two packets a frame.
            let trip = Duration::from_micros(60_000 * ported.window().div_ceil(DATAGRAM).max(100) / 100);
            now += trip * 2 / (ported.window() / DATAGRAM).max(2) as u32;
            let (at, in_flight) = (epoch + now, ported.window().saturating_sub(2 * DATAGRAM));
            for sent in [trip + Duration::from_millis(1), trip] {
                ported.acked(at.checked_sub(sent).expect("later than the start"), DATAGRAM, false);
            }
            ported.frame_ends(at, in_flight, false);
            gone += 2 * DATAGRAM;
            let mut ack = Ack::default();
            (ack.now, ack.ack) = (Time(now.as_nanos() as u64), gone);
            (ack.bytes, ack.delivered, ack.segments, ack.newly_delivered) = (2 * DATAGRAM, 2 * DATAGRAM, 2, 2);
            ack.rtt = Some(Dur(trip.as_nanos() as u64));
            (ack.in_flight_before, ack.window_limited) = (in_flight + 2 * DATAGRAM, true);
            ack.slow_start = law.window().in_slow_start();
            law.on_ack(&AckSample::of(&ack));
            if law.cwnd() > 200.0 * DATAGRAM as f64 || i % 9973 == 0 {
                // One reduction a flight: what else is lost of it says nothing new. Then the round trip passes.
                for lost in [2, 1] {
                    let sent = at.checked_sub(Duration::from_millis(lost)).expect("later than the start");
                    ported.congested(at, sent, false, false, DATAGRAM);
                    gone += DATAGRAM;
                }
                law.reduce(Trigger::Loss, law.cwnd());
                reductions += 1;
                now += trip + Duration::from_millis(2);
            }
            let apart = ported.window().abs_diff(law.cwnd() as u64);
            largest = largest.max(apart);
        }
        assert!(reductions > 5, "{name}: {reductions}");
        assert!(largest <= 1, "{name}: {largest} bytes apart");
    }
}

#[test]
fn what_left_before_a_reduction_neither_grows_nor_reduces_and_persistent_congestion_leaves_two_datagrams() {
    #[expect(clippy::disallowed_methods, reason = "an origin: nothing else is read from it")]
    let epoch = Instant::now();
    let at = |ms| epoch + Duration::from_millis(ms);
    let mut p = Ported::new(&read(&json!("reno"), "law").unwrap(), None, DATAGRAM as u16, epoch);
    assert_eq!((p.window(), p.initial_window(), p.threshold()), (14_520, 14_520, None), "RFC 9002, section 7.2");
    p.congested(at(100), at(40), false, false, DATAGRAM);
    assert_eq!((p.window(), p.threshold()), (7260, Some(7260)));
    p.congested(at(110), at(99), false, true, 0);
    p.acked(at(100), DATAGRAM, false);
    p.frame_ends(at(160), 5000, false);
    assert_eq!(p.window(), 7260);
    p.acked(at(101), DATAGRAM, true);
    p.frame_ends(at(161), 5000, true);
    assert_eq!(p.window(), 7260, "the application held back");
    for i in 1..=5 {
        p.acked(at(101 + i), DATAGRAM, false);
        p.frame_ends(at(161 + i), 5000, false);
    }
    assert_eq!(p.window(), 7260 + DATAGRAM, "one datagram for a window of five");
    p.congested(at(900), at(400), true, false, 5000);
    assert_eq!(p.window(), 2 * DATAGRAM, "section 7.6.2");
    p.resized(1200);
    assert_eq!(p.window(), 2 * DATAGRAM);
}

fn ran(stack: &str, params: &Value, seconds: u64) -> Little {
    let row = ROWS.iter().find(|r| r.name == stack).expect("a stack that is built in");
    let (_, make) = (row.build.read)(params, "flow.a.transport").expect("parameters make sense");
    let mut w = Little::new(Path::new(20, 100, 60), pairs(1, 7, |role, rng| make(role, rng)), ENDLESS);
    w.run(Time::from_secs_f64(seconds as f64));
    assert_eq!(w.failures(), Vec::<String>::new(), "{stack}");
    w
}

#[test]
fn every_law_runs_in_both_stacks_and_cuts_as_it_says() {
    for (stack, (name, factor)) in ["quinn", "noq"].into_iter().flat_map(|s| LAWS.map(|l| (s, l))) {
        let w = ran(stack, &json!({ "law": name }), if factor.is_some() { 30 } else { 10 });
        assert!(w.goodput_mbit() > 12.0, "{stack}, {name}: {} Mbit/s", w.goodput_mbit());
        let Some(factor) = factor else { continue };
        let losses: Vec<_> = w.cuts.iter().filter(|c| c.why == CutBecause::Loss).collect();
        assert!(losses.len() >= 2, "{stack}, {name}: {} reductions", losses.len());
        for c in losses {
            // Where a law counts segments, its windows are whole ones.
            let apart = c.after_bytes as f64 - factor * c.before_bytes as f64;
            assert!(apart.abs() <= DATAGRAM as f64, "{stack}, {name} at {:?}: {apart} bytes", c.at);
        }
    }
}

#[test]
fn runs_with_a_law_repeat_to_the_byte_and_its_parameters_reach_it() {
    let hash = |law: Value| ran("quinn", &json!({ "law": law }), 10).hash;
    assert_eq!(hash(json!("htcp")), hash(json!({ "law": "htcp" })));
    assert_ne!(hash(json!("htcp")), hash(json!({ "law": "htcp", "htcp": { "adaptive_backoff": "off" } })));
}

#[test]
fn what_cannot_run_there_is_refused_with_a_reason() {
    let row = ROWS.iter().find(|r| r.name == "quinn").expect("a stack that is built in");
    let refused = |params: Value| {
        let e = (row.build.read)(&params, "flow.a.transport").err().expect("refused");
        (e.path.clone(), e.to_string())
    };
    for (law, why) in [
        (json!("bbr"), "delivery rate"),
        (json!("copa"), "delivery rate"),
        (json!("dctcp"), "marks"),
        (json!("own"), "of the engine"),
        (json!({ "law": "reno", "slow_start": "hystart" }), "slow start"),
        (json!("cubik"), "cubic"),
    ] {
        let (path, text) = refused(json!({ "law": law }));
        assert_eq!(path, "flow.a.transport.law", "{text}");
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(refused(json!({ "law": { "law": "htcp", "htcp": { "beta": 1 } } })).0, "flow.a.transport.law.htcp.beta");
    assert_eq!(refused(json!({ "law": "reno", "congestion": "newreno" })).0, "flow.a.transport.congestion");
}
