//! Spikes and channels that are allocated on demand against a transliteration of the element they come from, on random traffic.

use crosswind_base::{Dur, Ecn, Rng, Streams, Time};
use crosswind_net::registry::{BuildCx, EgressMaker, Parts};
use crosswind_testkit::bench::Bench;
use serde_json::{Value, json};

/// Bytes per microsecond of the link.
const RATE: &str = "8 Mbit/s";
const DELAY: Dur = Dur::from_millis(5);
const LIMIT: usize = 8;

fn uniform(rng: &mut Rng, low_ms: u64, high_ms: u64) -> Dur {
    Dur(rng.between(low_ms as f64 * 1e6, high_ms as f64 * 1e6).round() as u64)
}

/// The Delayer between a drop-tail queue and a link, moment by moment, as in `queue/delayer.cc` of ns-2.
///
/// Times of delivery of each packet, or nothing for the ones that did not fit into the queue.
fn reference(arrivals: &[(Time, u16)], spikes: &[(Time, Time)], mut channel: Option<Rng>) -> Vec<Option<Time>> {
    let mut delivered = vec![None; arrivals.len()];
    let mut queue: Vec<usize> = Vec::new();
    let (mut next_arrival, mut now) = (0, Time::ZERO);
    let mut held: Option<usize> = None;
    let mut last_sent: Option<Time> = None;
    let mut allocated_at = Time::ZERO;
    let mut link_free_at = Time::ZERO;
    let mut next_spike = 0;
    loop {
        // What can happen at this moment happens, in the order: queue -> element -> link.
        if held.is_none() && link_free_at <= now && !queue.is_empty() {
            held = Some(queue.remove(0));
            allocated_at = now;
            if let Some(rng) = &mut channel {
                let hold = uniform(rng, 10, 400);
                if last_sent.is_none_or(|l| now.since(l) > hold) {
                    allocated_at = now + uniform(rng, 500, 600);
                }
            }
        }
        while spikes.get(next_spike).is_some_and(|(_, end)| *end <= now) {
            next_spike += 1;
        }
        let is_blocked = spikes[next_spike..].iter().any(|(start, end)| *start <= now && now < *end);
        if let Some(i) = held
            && !is_blocked
            && allocated_at <= now
        {
            held = None;
            last_sent = Some(now);
            link_free_at = now + Dur::from_micros(u64::from(arrivals[i].1));
            delivered[i] = Some(link_free_at + DELAY);
        }
        // The next moment at which something can change.
        let mut moments = vec![];
        moments.extend(arrivals.get(next_arrival).map(|(at, _)| *at));
        moments.extend([allocated_at, link_free_at].into_iter().filter(|at| *at > now));
        moments.extend(spikes.iter().map(|(_, end)| *end).filter(|end| *end > now && held.is_some()).min());
        let Some(at) = moments.into_iter().min() else { break };
        now = at;
        if arrivals.get(next_arrival).is_some_and(|(at, _)| *at == now) {
            // One packet may be in the element or on the link; the queue holds the others.
            if queue.len() < LIMIT {
                queue.push(next_arrival);
            }
            next_arrival += 1;
        }
    }
    delivered
}

fn traffic(seed: u64, mean_gap_ms: f64) -> Vec<(Time, u16)> {
    let mut rng = Streams::new(seed).named("traffic");
    let mut at = Time::ZERO;
    let mut one = || {
        at += Dur::from_secs_f64(rng.exponential(mean_gap_ms / 1e3)) + Dur(1);
        (at, 40 + rng.below(1460) as u16)
    };
    (0..3000).map(|_| one()).collect()
}

fn measured(arrivals: &[(Time, u16)], delayers: Value) -> Vec<Option<Time>> {
    let streams = Streams::new(5);
    let (queue, link) = (json!({"limit": format!("{LIMIT} packets")}), json!({"rate": RATE, "delay": "5 ms"}));
    let parts = Parts { queue: &queue, link: &link, loss: None, delayers: &delayers };
    let cx = BuildCx::new(&streams, "link/test/forward");
    let mut bench =
        Bench::new(EgressMaker::new(&parts, "link.test").and_then(|m| m.make(&cx)).unwrap_or_else(|e| panic!("{e}")));
    arrivals.iter().for_each(|(at, len)| bench.offer(*at, *len, Ecn::NotEct));
    bench.drain();
    let mut out = vec![None; arrivals.len()];
    bench.deliveries.iter().for_each(|d| out[d.seq as usize] = Some(d.at));
    out
}

fn spikes_of(streams: &Streams) -> Vec<(Time, Time)> {
    let mut rng = streams.named("link/test/spikes");
    let mut start = Time::ZERO + uniform(&mut rng, 0, 500);
    let mut all = Vec::new();
    while start < Time::from_secs_f64(1000.0) {
        all.push((start, start + uniform(&mut rng, 30, 900)));
        start += uniform(&mut rng, 400, 2000);
    }
    all
}

#[test]
fn spikes_and_channels_do_what_the_element_of_ns_2_does() {
    let streams = Streams::new(5);
    let spikes = json!({"first": {"uniform": ["0 ms", "500 ms"]}, "every": {"uniform": ["400 ms", "2 s"]},
        "length": {"uniform": ["30 ms", "900 ms"]}});
    let channel = json!({"delay": {"uniform": ["500 ms", "600 ms"]}, "hold": {"uniform": ["10 ms", "400 ms"]}});
    let drawn = || Some(streams.named("link/test/forward/on-demand"));
    for (seed, gap_ms) in [(1, 0.8), (2, 30.0), (3, 200.0)] {
        let arrivals = traffic(seed, gap_ms);
        let blocked = spikes_of(&streams);
        for (delayers, blocked, channel) in [
            (json!({"spikes": spikes}), &blocked[..], None),
            (json!({"channel_allocation": channel}), &[][..], drawn()),
            (json!({"spikes": spikes, "channel_allocation": channel}), &blocked[..], drawn()),
        ] {
            let found = measured(&arrivals, delayers.clone());
            let wanted = reference(&arrivals, blocked, channel);
            let differs = (0..found.len()).find(|i| found[*i] != wanted[*i]);
            assert_eq!(differs.map(|i| (i, arrivals[i], found[i], wanted[i])), None, "{delayers}, traffic {seed}");
        }
    }
}

#[test]
fn a_packet_can_wait_for_the_end_of_a_spike_in_the_queue() {
    // From 1 s to 2 s nothing leaves. On the line one packet more has a place than in the queue.
    let arrivals: Vec<(Time, u16)> = (0..20).map(|i| (Time::from_secs_f64(1.01 + 0.01 * f64::from(i)), 1000)).collect();
    for (holds, places) in [("line", LIMIT + 1), ("queue", LIMIT)] {
        let spikes = json!({"spikes": {"first": "1 s", "length": "1 s", "holds": holds}});
        let out = measured(&arrivals, spikes);
        let first = Time::from_secs_f64(2.0) + Dur::from_millis(6);
        let wanted: Vec<Option<Time>> =
            (0..20).map(|i| (i < places).then(|| first + Dur::from_millis(i as u64))).collect();
        assert_eq!(out, wanted, "{holds}");
    }
}

#[test]
fn a_break_of_the_link_empties_the_buffer_and_loses_what_comes() {
    // Eight packets wait behind the one that is on the line when the break begins; five of them are thrown away.
    let mut arrivals: Vec<(Time, u16)> =
        (0..9).map(|i| (Time::from_secs_f64(0.9995 + 1e-6 * f64::from(i)), 1000)).collect();
    arrivals.extend((0..1000).map(|i| (Time::from_secs_f64(1.1 + 0.001 * f64::from(i)), 1000)));
    arrivals.push((Time::from_secs_f64(9.0), 1000));
    let breaks = json!({"spikes": {"first": "1 s", "length": "3 s", "discard": 5, "loss": 1.0}});
    let out = measured(&arrivals, breaks);
    let arrived: Vec<usize> = (0..out.len()).filter(|i| out[*i].is_some()).collect();
    assert_eq!(arrived, [0, 6, 7, 8, arrivals.len() - 1]);
    assert_eq!(out[6], Some(Time::from_secs_f64(4.0) + Dur::from_millis(6)));
}

#[test]
fn both_directions_are_blocked_together() {
    let streams = Streams::new(8);
    let spikes = json!({"spikes": {"first": "0 s", "every": {"uniform": ["1 s", "2 s"]}, "length": "500 ms"}});
    let (queue, link) = (json!({}), json!({"rate": RATE, "delay": "5 ms"}));
    let parts = Parts { queue: &queue, link: &link, loss: None, delayers: &spikes };
    let arrivals = traffic(4, 20.0);
    let deliveries = ["forward", "reverse"].map(|way| {
        let component = format!("link/test/{way}");
        let cx = BuildCx::new(&streams, &component);
        let mut bench = Bench::new(
            EgressMaker::new(&parts, "link.test").and_then(|m| m.make(&cx)).unwrap_or_else(|e| panic!("{e}")),
        );
        arrivals.iter().for_each(|(at, len)| bench.offer(*at, *len, Ecn::NotEct));
        bench.drain();
        bench.deliveries
    });
    assert_eq!(deliveries[0], deliveries[1]);
}
