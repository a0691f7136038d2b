//! Planning ahead changes nothing that can be seen: neither when packets arrive, nor what is dropped, nor any total, at
//! whatever time one looks.

use crosswind_base::{
    Arrivals, BitRate, Cx, Departures, Dur, Ecn, LooksAhead, Packet, PacketId, Pool, Rng, Stage, Streams, Time,
    Upstream,
};
use crosswind_net::registry::{BoxStage, BuildCx};
use crosswind_testkit::bench::{self, Delivery, Log, Report, packet};
use serde_json::{Value, json};

/// Two lines in a row, and nothing else.
struct Row {
    stages: [BoxStage; 2],
    pool: Pool,
    out: Vec<PacketId>,
    log: Log,
    now: Time,
    arrived: Vec<Delivery>,
}

impl Row {
    fn new(links: [(Value, Value); 2]) -> Row {
        let streams = Streams::new(11);
        let stages = links.map(|(queue, link)| {
            bench::egress([&queue, &link], "link.x", &BuildCx::new(&streams, "link/x")).expect("valid parameters")
        });
        let (pool, log) = (Pool::new(), Log::default());
        Row { stages, pool, out: Vec::new(), log, now: Time::ZERO, arrived: Vec::new() }
    }

    /// Calls a stage, and whatever stage its packets reach next.
    fn call(&mut self, stage: usize, f: &mut dyn FnMut(&mut BoxStage, &mut Cx<'_>)) {
        self.log.now = self.now;
        let mut cx = Cx::new(self.now, stage as u32, &mut self.pool, &mut self.out, &mut self.log, None);
        f(&mut self.stages[stage], &mut cx);
        if let Some(p) = cx.ahead.take() {
            assert_eq!((stage, p.from), (0, 0));
            cx.now = p.at;
            cx.stage = 1;
            self.stages[1].accept(p.id, &mut cx);
            assert!(cx.ahead.take().is_none());
        }
        for id in std::mem::take(&mut self.out) {
            if stage == 0 {
                self.call(1, &mut |s, cx| s.accept(id, cx));
            } else {
                let p = self.pool.get(id);
                self.arrived.push(Delivery { at: self.now, seq: p.seq, ecn: p.ecn() });
                self.pool.remove(id);
            }
        }
    }

    fn run_until(&mut self, until: Time) {
        loop {
            let due = [0, 1].map(|s| self.stages[s].next_wake().unwrap_or(Time::NEVER));
            // At one instant nothing arrives before all that are due have been woken.
            let first = usize::from(due[1] <= due[0]);
            if due[first] > until {
                break;
            }
            self.now = due[first];
            self.call(first, &mut |s, cx| s.wake(cx));
        }
        self.now = self.now.max(until);
    }

    fn offer(&mut self, at: Time, p: Packet) {
        self.run_until(at);
        let id = self.pool.insert(p);
        self.call(0, &mut |s, cx| s.accept(id, cx));
    }

    fn look(&mut self) -> Vec<(&'static str, f64)> {
        let mut seen = Vec::new();
        for s in 0..2 {
            self.call(s, &mut |stage, cx| stage.catch_up(cx));
            let mut r = Report::default();
            self.stages[s].report(self.now, &mut r);
            seen.extend(r.values);
            seen.extend(r.histograms.iter().flat_map(|h| [(h.0, h.1 as f64), (h.0, if h.1 == 0 { 0.0 } else { h.2 })]));
            self.stages[s].sample(self.now, &mut |name, v| seen.push((name, v)));
        }
        seen
    }
}

fn length(rng: &mut Rng) -> u16 {
    [40, 100, 576, 1500][rng.below(4) as usize]
}

/// What the second line is told, and by what line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Nothing.
    Unaware,
    /// Each packet of a wire.
    OneUpstream,
    /// Nothing, by a line on which some are late and others overtake them.
    UnawareOfLate,
    /// Each packet of a line on which packets take longer by a draw, in order, but closer to each other than its rate lets them.
    Batches,
    /// Each packet of a line on which some are late.
    BatchesLate,
}

/// Offers the same random traffic to a row with look-ahead and one without, looking at both at random times.
fn compare(seed: u64, queue: Value, how: How) {
    let wire = |rate: u64| json!({ "type": "wire", "rate": format!("{rate} bit/s"), "delay": "7 ms" });
    let reordering = |own: Value| {
        let mut line = json!({ "type": "reordering", "rate": "8 Mbit/s", "delay": "7 ms", "counts": "all" });
        own.as_object().unwrap().iter().for_each(|(key, v)| line[key] = v.clone());
        line
    };
    let first = match how {
        How::Unaware | How::OneUpstream => wire(8_000_000),
        How::Batches => reordering(json!({ "jitter": "3 ms" })),
        How::UnawareOfLate | How::BatchesLate => {
            reordering(json!({ "share": 0.15, "late_mean": "9 ms", "late_deviation": "4 ms" }))
        }
    };
    let links = || [(queue.clone(), first.clone()), (json!({ "type": "droptail" }), wire(10_000_000))];
    let mut plain = Row::new(links());
    let mut ahead = Row::new(links());
    let is_even = ahead.stages[0].steady().expect("it can plan").is_even();
    assert_eq!(is_even, [How::Unaware, How::OneUpstream].contains(&how));
    let upstream = Upstream { rate: BitRate(8_000_000), longest: 1500 };
    let second = ahead.stages[1].steady().expect("it can plan");
    assert!(second.always_admits_from(upstream) && second.takes_time());
    let arrivals = match how {
        How::Unaware | How::UnawareOfLate => Arrivals::AtTheirTime,
        How::OneUpstream => Arrivals::FromOneUpstream,
        How::Batches | How::BatchesLate => Arrivals::FromSeveral,
    };
    let is_early = arrivals != Arrivals::AtTheirTime;
    let departures = if is_early { Departures::Early } else { Departures::AtTheirTime };
    let [first, second] = ahead.stages;
    let first = first.looking_ahead(LooksAhead { arrivals: Arrivals::AtTheirTime, departures });
    let second = second.looking_ahead(LooksAhead { arrivals, departures: Departures::AtTheirTime });
    ahead.stages = [first, second];
    let mut rng = Streams::new(seed).named("traffic");
    let mut at = Time::ZERO;
    for seq in 0..3000 {
        // Bursts and pauses.
        at += Dur(if rng.chance(0.7) { rng.below(400_000) } else { rng.below(2_500_000) });
        let p = packet(seq, length(&mut rng), if rng.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct });
        plain.offer(at, p);
        ahead.offer(at, p);
        if rng.chance(0.05) {
            at += Dur(rng.below(20_000_000));
            plain.run_until(at);
            ahead.run_until(at);
            assert_eq!(plain.look(), ahead.look(), "after packet {seq}, at {at:?}");
        }
    }
    for row in [&mut plain, &mut ahead] {
        row.run_until(at + Dur::from_secs(60));
        assert_eq!(row.pool.in_use(), 0);
    }
    assert_eq!(plain.look(), ahead.look());
    assert_eq!(plain.arrived, ahead.arrived);
    assert!(plain.arrived.len() > 1000 && plain.arrived.len() < 3000, "{} arrived", plain.arrived.len());
    let (mut a, mut b) = (plain.log.entries, ahead.log.entries);
    let key = |e: &crosswind_testkit::bench::Entry| format!("{e:?}");
    a.sort_by_key(key);
    b.sort_by_key(key);
    assert_eq!(a, b);
}

fn queues() -> [Value; 4] {
    [
        json!({ "type": "droptail", "limit": "12 packets" }),
        json!({ "type": "droptail", "limit": "6000 B", "admission": "overshoot" }),
        json!({ "type": "red-ns2", "limit": "20 packets", "min_th": "3 packets", "max_th": "9 packets" }),
        json!({ "type": "red-floyd-jacobson", "limit": "20 packets", "min_th": "3 packets", "max_th": "9 packets" }),
    ]
}

#[test]
fn a_planned_link_is_the_link_it_was() {
    for (i, queue) in queues().into_iter().enumerate() {
        compare(100 + i as u64, queue, How::Unaware);
    }
}

#[test]
fn packets_forwarded_before_their_time_arrive_as_if_they_had_not_been() {
    for (i, queue) in queues().into_iter().enumerate() {
        compare(200 + i as u64, queue, How::OneUpstream);
    }
}

#[test]
fn a_queue_that_could_fill_gets_nothing_early() {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/x");
    let wire = json!({ "type": "wire", "rate": "10 Mbit/s", "delay": "1 ms" });
    let stage = bench::egress([&json!({ "limit": "5 packets" }), &wire], "link.x", &cx).expect("valid parameters");
    let admits = |stage: &BoxStage, bps: u64| {
        let upstream = Upstream { rate: BitRate(bps), longest: 1500 };
        stage.steady().expect("it can plan").always_admits_from(upstream)
    };
    assert!(!admits(&stage, 5_000_000));
    let slow = bench::egress([&Value::Null, &wire], "link.x", &cx).expect("valid parameters");
    assert!(!admits(&slow, 20_000_000) && admits(&slow, 5_000_000));
    let red = json!({ "type": "red-ns2", "min_th": "3 packets", "max_th": "9 packets" });
    let red = bench::egress([&red, &wire], "link.x", &cx).expect("valid parameters");
    assert!(!admits(&red, 5_000_000));
}

#[test]
fn packets_of_a_link_that_reorders_arrive_as_if_they_had_not_been_forwarded_early() {
    for (i, queue) in queues().into_iter().enumerate() {
        compare(300 + i as u64, queue.clone(), How::Batches);
        compare(400 + i as u64, queue.clone(), How::UnawareOfLate);
        compare(500 + i as u64, queue, How::BatchesLate);
    }
}
