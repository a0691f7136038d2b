//! Disciplines inside disciplines, in front of a link: who is served when, and what is refused.

use crosswind_base::{Dur, Ecn, Streams, Time};
use crosswind_net::queue::QueueDisc;
use crosswind_net::registry::{self, BoxStage, BuildCx, Kind};
use crosswind_testkit::bench::{self, Bench, DiscBench, Entry};
use serde_json::{Value, json};

fn egress(queue: &Value, link: &Value) -> Bench<BoxStage> {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    Bench::new(bench::egress([queue, link], "link.a", &cx).unwrap_or_else(|e| panic!("{queue}: {e}")))
}

/// 1000 bytes take 1 ms; no delay.
fn fast() -> Value {
    json!({"type": "wire", "rate": "8 Mbit/s", "delay": "0 s"})
}

fn ms(t: f64) -> Time {
    Time::from_secs_f64(t / 1000.0)
}

fn times(b: &Bench<BoxStage>) -> Vec<f64> {
    b.deliveries.iter().map(|d| d.at.as_secs_f64() * 1000.0).collect()
}

#[test]
fn a_bucket_lets_its_burst_go_at_once_and_then_one_packet_per_packet_time() {
    let mut b = egress(&json!({"type": "tbf", "rate": "800 kbit/s", "burst": "3000 B"}), &fast());
    for _ in 0..6 {
        b.offer(ms(0.0), 1000, Ecn::NotEct);
    }
    b.drain();
    // Three at the rate of the link; then 10 ms of credit for each, the first of them from time 0 on.
    assert_eq!(times(&b), [1.0, 2.0, 3.0, 11.0, 21.0, 31.0]);
}

#[test]
fn the_peak_rate_spaces_the_packets_of_a_burst() {
    let queue =
        json!({"type": "tbf", "rate": "80 kbit/s", "burst": "3000 B", "peak_rate": "1.6 Mbit/s", "mtu": "1000 B"});
    let mut b = egress(&queue, &fast());
    for _ in 0..4 {
        b.offer(ms(0.0), 1000, Ecn::NotEct);
    }
    b.drain();
    assert_eq!(times(&b), [1.0, 6.0, 11.0, 101.0]);
}

#[test]
fn a_class_takes_turns_of_a_tenth_of_a_second_of_its_rate() {
    let quantum = |class: Value| {
        let htb = registry::normalise(Kind::Queue, &json!({"type": "htb", "class": {"all": class}}), "q");
        htb.expect("complete")["class"]["all"]["quantum"].clone()
    };
    for (rate, expected) in [("10 Mbit/s", "125 kB"), ("1 Gbit/s", "200 kB"), ("40 kbit/s", "1 kB")] {
        assert_eq!(quantum(json!({"rate": rate})), quantum(json!({"rate": rate, "quantum": expected})), "{rate}");
    }
}

/// Audio of 30.4 kbit/s in a bucket of 32 kbit/s and 576 bytes, behind a line that three packets of TCP keep busy for
/// 216 ms in every 440: when the packets of the audio are delivered, in ms after they were offered.
fn audio_behind_a_busy_line(metered: &str) -> Vec<f64> {
    let shaper = json!({"type": "tbf", "rate": "32 kbit/s", "burst": "576 B", "metered": metered});
    let queue = json!({
        "type": "prio", "default": "tcp", "filter": [{"class": "audio", "size_max": "100 B"}],
        "class": {"tcp": {"prio": 0, "queue": {}}, "audio": {"prio": 1, "queue": shaper}},
    });
    let mut b = egress(&queue, &json!({"type": "wire", "rate": "64 kbit/s", "delay": "0 s"}));
    for i in 0..3000 {
        if i % 22 == 0 {
            (0..3).for_each(|_| b.offer(Time(i * 20_000_000), 576, Ecn::NotEct));
        }
        b.offer(Time(i * 20_000_000), 76, Ecn::NotEct);
    }
    b.drain();
    assert!(b.log.entries.is_empty());
    let audio = b.deliveries.iter().filter(|d| b.offered[d.seq as usize].len == 76);
    audio.enumerate().map(|(i, d)| d.at.as_secs_f64() * 1000.0 - 20.0 * i as f64).collect()
}

#[test]
fn a_bucket_metered_at_arrival_loses_nothing_while_the_line_is_busy_and_one_metered_at_departure_does() {
    let worst = |metered: &str| audio_behind_a_busy_line(metered).into_iter().fold(0.0, f64::max);
    // 216 ms, and what has come in meanwhile is sent at the line's rate: nobody waits longer.
    let arrival = worst("arrival");
    assert!((216.0..240.0).contains(&arrival), "{arrival}");
    // Each time 72 ms of credit are lost, so a sixth of what the audio needs in 440 ms: it falls behind for good.
    assert!(worst("departure") > 4000.0, "{}", worst("departure"));
}

#[test]
fn a_bucket_metered_at_arrival_shapes_what_exceeds_its_rate_as_one_metered_at_departure_does() {
    let sent = |metered: &str| {
        let mut b = egress(
            &json!({"type": "tbf", "rate": "80 kbit/s", "burst": "3000 B", "metered": metered,
                "peak_rate": "1.6 Mbit/s", "mtu": "1000 B", "queue": {"limit": "10 packets"}}),
            &fast(),
        );
        for i in 0..200 {
            b.offer(ms(i as f64 * 70.0), 300 + (i * 7 % 11) as u16 * 60, Ecn::NotEct);
        }
        b.drain();
        b.deliveries.iter().map(|d| (d.seq, d.at)).collect::<Vec<_>>()
    };
    let arrival = sent("arrival");
    assert!(arrival.len() > 150);
    // In front of a line that is always free, the two are one.
    assert_eq!(arrival, sent("departure"));
}

#[test]
fn a_packet_longer_than_the_bucket_is_dropped_on_arrival() {
    let mut b = egress(&json!({"type": "tbf", "burst": "576 B", "overhead": "14 B"}), &fast());
    b.offer(ms(0.0), 563, Ecn::NotEct);
    b.offer(ms(0.0), 562, Ecn::NotEct);
    b.drain();
    assert_eq!(b.log.entries.len(), 1);
    assert_eq!(b.deliveries.iter().map(|d| d.seq).collect::<Vec<_>>(), [1]);
}

#[test]
fn audio_goes_first_up_to_its_rate_and_the_rest_takes_every_other_moment() {
    // jarvinen-2006 section 2.4: 576 bytes take 72 ms at 64 kbit/s, 76 bytes 9.5 ms.
    let queue = json!({
        "type": "prio", "default": "tcp", "filter": [{"class": "audio", "size_max": "100 B"}],
        "class": {
            "audio": {"prio": 0, "queue": {"type": "tbf", "rate": "32 kbit/s", "burst": "576 B"}},
            "tcp": {"prio": 1, "queue": {"limit": "11520 B"}},
        },
    });
    let mut b = egress(&queue, &json!({"type": "wire", "rate": "64 kbit/s", "delay": "0 s"}));
    let seconds = 40;
    for i in 0..seconds * 50 {
        let now = Time(i * 20_000_000);
        b.offer(now, 76, Ecn::NotEct);
        if b.sample()[0].1 < 9000.0 {
            b.offer(now, 576, Ecn::NotEct);
        }
    }
    let is_audio = |seq: u64| b.offered[seq as usize].len == 76;
    let sent = |audio: bool| {
        let of = b.deliveries.iter().filter(|d| is_audio(d.seq) == audio);
        of.map(|d| b.offered[d.seq as usize].len as u64).sum::<u64>() as f64 * 8.0 / seconds as f64
    };
    assert!(b.log.entries.is_empty(), "nothing is dropped");
    assert!((sent(true) - 30_400.0).abs() < 100.0, "{}", sent(true));
    assert!((sent(false) + sent(true) - 64_000.0).abs() < 300.0, "{}", sent(false));
    // It waits for one packet of the others at most, and its own bucket.
    let waits = b.deliveries.iter().filter(|d| is_audio(d.seq)).map(|d| {
        let arrived = b.offered[..=d.seq as usize].iter().filter(|p| p.len == 76).count() as u64 - 1;
        (d.at - Time(arrived * 20_000_000)).as_secs_f64()
    });
    let worst = waits.fold(0.0, f64::max);
    assert!((0.072..0.2).contains(&worst), "{worst}");
}

#[test]
fn two_backlogged_classes_of_equal_quanta_share_a_slow_link_evenly_whatever_their_packets_are() {
    // jarvinen-2006 claim 19: rates above the link's, so that its back-pressure decides.
    let class = |parent: &str| {
        json!({"parent": parent, "rate": "64 kbit/s", "ceil": "128 kbit/s", "quantum": "1152 B",
        "burst": "12000 B", "cburst": "12000 B", "queue": {"limit": "20 packets"}})
    };
    let queue = json!({"type": "htb", "default": "bulk", "filter": [{"class": "http", "size_max": "300 B"}],
        "class": {"tcp": {"rate": "128 kbit/s"}, "http": class("tcp"), "bulk": class("tcp")}});
    let mut b = egress(&queue, &json!({"type": "wire", "rate": "64 kbit/s", "delay": "0 s"}));
    for i in 0..2000u64 {
        b.offer(Time(i * 10_000_000), if i % 3 == 0 { 576 } else { 300 }, Ecn::NotEct);
    }
    let bytes =
        |len: u16| b.deliveries.iter().filter(|d| b.offered[d.seq as usize].len == len).count() as f64 * len as f64;
    let share = bytes(576) / (bytes(576) + bytes(300));
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn being_looked_at_in_between_changes_nothing() {
    // A lazy egress works off what was due when it is next called; one that is called all the time must do the same.
    let shaper = |rate: &str| json!({"type": "tbf", "rate": rate, "burst": "1600 B", "queue": {"limit": "12 packets"}});
    let queue = json!({
        "type": "prio", "default": "rest", "filter": [{"class": "short", "size_max": "400 B"}],
        "class": {
            "short": {"prio": 0, "queue": shaper("200 kbit/s")},
            "rest": {"prio": 1, "queue": {"type": "htb", "default": "b", "filter": [{"class": "a", "size_max": "900 B"}],
                "class": {"top": {"rate": "500 kbit/s"}, "a": {"parent": "top", "rate": "100 kbit/s", "ceil": "500 kbit/s"},
                          "b": {"parent": "top", "rate": "300 kbit/s", "ceil": "400 kbit/s", "queue": shaper("350 kbit/s")}}}},
        },
    });
    let link = json!({"type": "wire", "rate": "1 Mbit/s", "delay": "40 ms"});
    let run = |look_every_ns: Option<u64>| {
        let mut b = egress(&queue, &link);
        let mut rng = Streams::new(7).named("traffic");
        let mut looked = 0;
        for i in 0..4000 {
            let load = [0.4, 1.5, 0.9][i / 200 % 3];
            let at = b.now + Dur::from_secs_f64(rng.exponential(0.006 / load));
            let len = [200, 700, 1500][rng.below(3) as usize];
            while let Some(every) = look_every_ns.filter(|every| looked + every < at.0) {
                looked += every;
                b.run_until(Time(looked).max(b.now));
            }
            b.offer(at, len, Ecn::NotEct);
        }
        b.drain();
        (b.deliveries.iter().map(|d| (d.at, d.seq)).collect::<Vec<_>>(), b.log.entries.len())
    };
    let (lazy, eager) = (run(None), run(Some(700_000)));
    assert!(lazy.0.len() > 1500 && lazy.1 > 100, "{} {}", lazy.0.len(), lazy.1);
    assert_eq!(lazy, eager);
}

#[test]
fn red_inside_a_class_marks_and_drops_for_its_class_alone() {
    let red = json!({"type": "red-linux", "w_q": 0.25, "limit": "20000 B"});
    let queue = json!({"type": "prio", "default": "tcp", "filter": [{"class": "small", "size_max": "100 B"}],
        "class": {"small": {"prio": 0}, "tcp": {"prio": 1, "queue": red}}});
    let mut b = egress(&queue, &json!({"type": "wire", "rate": "64 kbit/s", "delay": "0 s"}));
    for i in 0..3000u64 {
        let len = if i % 2 == 0 { 76 } else { 576 };
        b.offer(Time(i * 30_000_000), len, if i % 4 == 1 { Ecn::Ect0 } else { Ecn::NotEct });
    }
    let seqs = |is_mark: bool| {
        b.log.entries.iter().filter_map(move |e| match e {
            Entry::Marked { seq, .. } => is_mark.then_some(*seq),
            Entry::Dropped { seq, .. } => (!is_mark).then_some(*seq),
        })
    };
    assert!(seqs(true).count() > 50 && seqs(false).count() > 50);
    assert!(seqs(true).chain(seqs(false)).all(|s| s % 2 == 1), "only the large ones");
}

/// Path and text of the refusal of a queue.
fn refused(queue: &Value) -> (String, String) {
    let e = registry::normalise(Kind::Queue, queue, "q").expect_err(&format!("{queue} is accepted"));
    (e.path.clone(), e.to_string())
}

fn htb(class: Value, filter: Value) -> Value {
    json!({"type": "htb", "class": class, "filter": filter})
}

#[test]
fn trees_and_filters_that_make_no_sense_are_refused_with_the_reason() {
    let k = |rate: u64| json!({"rate": format!("{rate} kbit/s")});
    let of = |parent: &str, rate: u64| json!({"parent": parent, "rate": format!("{rate} kbit/s")});
    let two = || json!({"top": k(140), "a": of("top", 70), "b": of("top", 70)});
    let to = |class: &str| json!({"class": class, "proto": "udp"});
    let cases = [
        (
            htb(json!({"top": k(140), "a": of("top", 100), "b": of("top", 100)}), json!([to("a"), to("b")])),
            "q.class.top.rate",
            "200 kbit/s together",
        ),
        (
            htb(json!({"top": k(140), "a": {"parent": "top", "rate": "70 kbit/s", "ceil": "150 kbit/s"}}), json!([])),
            "q.class.a.ceil",
            "ceil of class.top",
        ),
        (
            htb(json!({"a": {"rate": "70 kbit/s", "ceil": "60 kbit/s"}}), json!([])),
            "q.class.a.ceil",
            "at least the rate",
        ),
        (htb(two(), json!([to("a")])), "q.default", "one of a, b"),
        (htb(two(), json!([to("a"), {"class": "a"}])), "q.class.b", "no filter reaches"),
        (htb(two(), json!([to("a"), to("c")])), "q.filter[1].class", "a class of this queue"),
        (htb(two(), json!([to("top"), to("b")])), "q.filter[0].class", "classes below it"),
        (htb(two(), json!([{"class": "a"}, to("b")])), "q.filter[1]", "takes every packet"),
        (htb(json!({"a": of("b", 1), "b": of("a", 1)}), json!([])), "q.class.a.parent", "below"),
        (htb(json!({"a": of("x", 1)}), json!([])), "q.class.a.parent", "a class of this queue"),
        (htb(json!({"a": {"ceil": "1 Mbit/s"}}), json!([])), "q.class.a.rate", "rate"),
        (htb(json!({"a": {"rate": "1 Mbit/s", "prio": 8}}), json!([])), "q.class.a.prio", "from 0 to 7"),
        (
            htb(json!({"a": {"rate": "1 Mbit/s", "queue": {"type": "red-linux", "min_th": "9 kB"}}}), json!([])),
            "q.class.a.queue.min_th",
            "max_th",
        ),
        (
            htb(json!({"t": {"rate": "1 Mbit/s", "queue": "droptail"}, "a": of("t", 1)}), json!([])),
            "q.class.t.queue",
            "classes below",
        ),
        (htb(json!({"a": k(1)}), json!([{"class": "a", "dscp": "AF44"}])), "q.filter[0].dscp", "0 to 63"),
        (
            htb(json!({"a": k(1)}), json!([{"class": "a", "size_min": "9 B", "size_max": "8 B"}])),
            "q.filter[0].size_min",
            "at most size_max",
        ),
        (json!({"type": "htb", "kbit": 1023}), "q.kbit", "1024"),
        (json!({"type": "prio", "class": {"a": {"prio": 1}, "b": {"prio": 1}}}), "q.class.b.prio", "rank of its own"),
        (json!({"type": "prio", "class": {}}), "q.class", "at least one"),
        (json!({"type": "tbf", "burst": "0 B"}), "q.burst", "1 B"),
        (json!({"type": "tbf", "peak_rate": "1 kbit/s"}), "q.peak_rate", "more than the rate"),
        (json!({"type": "tbf", "queue": {"type": "tbf", "queue": {"limt": 1}}}), "q.queue.queue.limt", "limit"),
    ];
    for (queue, path, word) in cases {
        let (at, text) = refused(&queue);
        assert_eq!(at, path, "{queue}: {text}");
        assert!(text.contains(word), "{queue}: {text}");
    }
    let mut allowed = htb(json!({"top": k(140), "a": of("top", 100), "b": of("top", 100)}), json!([to("a"), to("b")]));
    allowed["default"] = "b".into();
    allowed["oversubscription"] = "allow".into();
    registry::normalise(Kind::Queue, &allowed, "q").expect("as Linux lets it");
    let one_size = htb(json!({"a": k(1)}), json!([{"class": "a", "size_min": "8 B", "size_max": "8 B"}]));
    registry::normalise(Kind::Queue, &one_size, "q").expect("packets of one size");
}

#[test]
fn the_rates_of_early_tc_are_larger_by_a_fortieth() {
    // riva-2003: 140 kbit of 1024 bits are 17 920 bytes a second.
    let queue = json!({"type": "htb", "kbit": 1024, "class": {"a": {"rate": "140 kbit/s", "burst": "1500 B", "cburst": "1500 B"}}});
    let mut b = egress(&queue, &json!({"type": "wire", "rate": "10 Mbit/s", "delay": "0 s"}));
    for _ in 0..201 {
        b.offer(ms(0.0), 1500, Ecn::NotEct);
    }
    b.drain();
    let last = b.deliveries[200].at.as_secs_f64();
    // A class may send while its credit is not negative: two packets at once, each further one when 1500 B are paid.
    assert!((last - (199.0 * 1500.0 / 17_920.0 + 0.0012)).abs() < 1e-6, "{last}");
}

/// A class of 140 kbit/s as early tc makes it, told to serve full frames without end: the most that it has sent beyond
/// what its rate gives until then, and the times at which it sends, in ns.
fn beyond_the_rate(more: Value) -> (f64, Vec<u64>) {
    let mut queue = json!({"type": "htb", "kbit": 1024, "overhead": "14 B", "cell": "8 B",
        "class": {"a": {"rate": "140 kbit/s"}}});
    for (key, value) in more.as_object().expect("a table") {
        match key.as_str() {
            "burst" => {
                queue["class"]["a"]["burst"] = value.clone();
                queue["class"]["a"]["cburst"] = value.clone();
            }
            _ => queue[key] = value.clone(),
        }
    }
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    let mut b = DiscBench::new(registry::build_queue(&queue, "q", &cx).expect("valid"));
    let start = ms(3.0);
    for _ in 0..400 {
        b.arrive(start, 1500, Ecn::NotEct);
    }
    let (mut now, mut sent, mut most, mut times) = (start, 0.0, 0.0f64, Vec::new());
    while b.disc.backlog().packets > 0 {
        if b.depart(now).is_some() {
            sent += 1512.0;
            most = most.max(sent - (now - start).as_secs_f64() * 17_920.0);
            times.push(now.0);
        } else {
            now = b.disc.next_wake().expect("packets wait");
        }
    }
    (most, times)
}

#[test]
fn a_class_in_debt_sends_two_buckets_and_a_frame_beyond_its_rate_and_no_more() {
    // 17 920 B/s for 10 ms and 1600 B. Without debt the frame that uses it up may go beyond; with it, and a bucket of debt
    // that the first frame leaves room in, two.
    let bucket = 1779.0;
    let cases = [
        (json!({}), bucket + 1512.0),
        (json!({"hysteresis": "on"}), bucket + 2.0 * 1512.0),
        (json!({"burst": "2500 B"}), 2500.0 + 1512.0),
        (json!({"burst": "3000 B"}), 3000.0 + 1512.0),
    ];
    for (keys, most) in cases {
        let (got, _) = beyond_the_rate(keys.clone());
        assert!((got - most).abs() < 1.0, "{keys}: {got}, not {most}");
        let clock = json!({"tick": "10 ms"});
        let ticking = Value::from_iter(
            keys.as_object().expect("a table").clone().into_iter().chain([("tick".to_string(), clock["tick"].clone())]),
        );
        let (got, _) = beyond_the_rate(ticking);
        assert!(got <= most + 1.0 && got > most - 180.0, "{keys}, looked at every 10 ms: {got}, not {most}");
    }
    // The frame that is being sent left out: two buckets at most.
    let (with_debt, _) = beyond_the_rate(json!({"hysteresis": "on"}));
    assert!(with_debt - 1512.0 <= 2.0 * bucket, "{with_debt}");
}

#[test]
fn with_a_clock_of_ten_milliseconds_a_waiting_class_sends_at_its_ticks() {
    let on_grid = |times: &[u64]| times.iter().filter(|t| *t % 10_000_000 == 0).count();
    let (_, exact) = beyond_the_rate(json!({}));
    let (_, ticking) = beyond_the_rate(json!({"tick": "10 ms"}));
    // The first two leave from the full bucket, whenever they come.
    assert_eq!(on_grid(&ticking), 398);
    assert!(on_grid(&exact) < 20, "{}", on_grid(&exact));
    // Nothing is lost by waiting for the clock: the mean spacing is that of the frames, 84.4 ms.
    let spacing = (ticking[399] - ticking[2]) as f64 / 397.0 / 1e6;
    assert!((spacing - 84.375).abs() < 0.03, "{spacing} ms");
}

#[test]
fn one_packet_more_of_the_stream_takes_what_its_frame_takes_in_cells() {
    // [Riva 2003] tables 8-8 and 8-10, two classes, start at 0: 37.77 s - 24.57 s for 1637 packets more.
    let last = |stream: usize, frame: Value| {
        let class = json!({"a": {"rate": "140 kbit/s", "queue": {"limit": "5000 packets"}}});
        let mut queue = json!({"type": "htb", "kbit": 1024, "class": class});
        for (key, value) in frame.as_object().expect("a table") {
            queue[key] = value.clone();
        }
        let mut b = egress(&queue, &json!({"type": "wire", "rate": "10 Mbit/s", "delay": "0 s"}));
        for i in 0..270 + stream {
            b.offer(ms(0.0), if i < 270 { 1500 } else { 132 }, Ecn::NotEct);
        }
        b.drain();
        b.deliveries.last().expect("all arrive").at.as_secs_f64()
    };
    let more = |frame: Value| last(1888, frame.clone()) - last(251, frame);
    let frames = more(json!({"overhead": "14 B", "cell": "8 B"}));
    assert!((frames - 1637.0 * 144.0 / 17_920.0).abs() < 0.02, "{frames}");
    assert!((frames - (37.77 - 24.57)).abs() < 0.1, "{frames}");
    let ip = more(json!({}));
    assert!((37.77 - 24.57) - ip > 1.0, "IP lengths are too short by a second: {ip}");
}

#[test]
fn two_classes_of_half_a_link_with_the_link_as_ceiling_fill_its_send_buffer_after_an_idle_time() {
    // [Järvinen 2006] section 4.6: equal shares, and tokens that match the send buffer.
    let class = |burst: &str| {
        json!({"rate": "32 kbit/s", "ceil": "64 kbit/s", "burst": burst, "cburst": burst, "parent": "link",
            "quantum": "576 B"})
    };
    let run = |burst: &str, web: usize, bulk: usize| {
        let queue = json!({
            "type": "htb", "default": "bulk", "filter": [{"class": "web", "size_max": "575 B"}],
            "class": {
                "link": {"rate": "64 kbit/s", "burst": burst, "cburst": burst},
                "web": class(burst), "bulk": class(burst),
            },
        });
        let mut b = egress(&queue, &json!({"type": "seawind", "delay": "0 ms"}));
        for i in 0..web.max(bulk) {
            if i < bulk {
                b.offer(ms(0.0), 576, Ecn::NotEct);
            }
            if i < web {
                b.offer(ms(0.0), 575, Ecn::NotEct);
            }
        }
        b
    };
    let held = |b: &Bench<BoxStage>| b.sample().iter().find(|s| s.0 == "send_buffer_bytes").expect("sampled").1;
    // Alone and after an idle time: twenty segments fill the 12 000 B at once, and not with tc's own bucket.
    let b = run("12000 B", 0, 60);
    assert_eq!(held(&b), 20.0 * 576.0);
    assert!(held(&run("1640 B", 0, 60)) < 4.0 * 576.0);
    // Alone it has the whole link: 60 segments in 72 ms each.
    let mut b = run("12000 B", 0, 60);
    b.drain();
    assert_eq!(*times(&b).last().expect("all arrive"), 60.0 * 72.0);
    // Both backlogged: half of the link each.
    let mut b = run("12000 B", 200, 200);
    b.run_until(ms(20_000.0));
    let bulk = b.deliveries.iter().filter(|d| b.offered[d.seq as usize].len == 576).count();
    let share = bulk as f64 / b.deliveries.len() as f64;
    assert!((share - 0.5).abs() < 0.03, "{share}");
}
