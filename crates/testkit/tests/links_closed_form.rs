//! The Seawind link against closed forms: losses, delays, occupancy and throughput that can be written down.

use crosswind_base::{BitRate, DropReason, Ecn, Streams, Time};
use crosswind_net::registry::{BoxStage, BuildCx};
use crosswind_testkit::bench::{self, Bench};
use serde_json::{Value, json};

/// A Seawind link behind a queue that never overflows.
fn link(seed: u64, keys: Value) -> Bench<BoxStage> {
    link_behind(json!({"limit": "100000000 packets"}), seed, keys)
}

fn link_behind(queue: Value, seed: u64, mut keys: Value) -> Bench<BoxStage> {
    keys["type"] = "seawind".into();
    let streams = Streams::new(seed);
    let cx = BuildCx::new(&streams, "link/test/forward");
    Bench::new(bench::egress([&queue, &keys], "link.test", &cx).unwrap_or_else(|e| panic!("{e}")))
}

/// Time on the line and propagation of one full packet, in seconds.
const TX: f64 = 0.072;
const DELAY: f64 = 0.3;

/// Shares of packets that were delayed by 0, 1, 2, ... retransmissions, and at last the share that was lost.
struct Fates {
    delayed: Vec<f64>,
    lost: f64,
}

/// Sends packets so far apart that none meets another.
fn lonely_packets(seed: u64, keys: Value, n: usize) -> Fates {
    let mut b = link(seed, keys);
    let mut rng = Streams::new(seed).named("times");
    let mut sent = Vec::with_capacity(n);
    let mut now = Time::ZERO;
    for _ in 0..n {
        now = Time::from_secs_f64(now.as_secs_f64() + 4.0 + rng.exponential(10.0));
        sent.push(now);
        b.offer(now, 576, Ecn::NotEct);
    }
    b.drain();
    let mut delayed = vec![0.0; 6];
    for d in &b.deliveries {
        let extra = (d.at - sent[d.seq as usize]).as_secs_f64() - TX - DELAY;
        let k = (extra / 0.7).round();
        assert!((extra - 0.7 * k).abs() < 1e-6, "a delay of {extra} s is no multiple of 700 ms");
        delayed[k as usize] += 1.0 / n as f64;
    }
    Fates { delayed, lost: b.drops_of(DropReason::LinkError) as f64 / n as f64 }
}

/// Four standard deviations of a share of `n`.
fn slack(share: f64, n: usize) -> f64 {
    4.0 * (share * (1.0 - share) / n as f64).sqrt() + 1e-9
}

#[test]
fn with_a_constant_error_probability_residual_loss_and_delay_are_geometric() {
    let (p, n): (f64, usize) = (0.4, 60_000);
    for limit in [0, 1, 3] {
        let f = lonely_packets(limit, json!({"error": p, "arq": {"retransmissions": limit}}), n);
        let residual = p.powi(limit as i32 + 1);
        assert!((f.lost - residual).abs() < slack(residual, n), "{} {residual}", f.lost);
        for (k, share) in f.delayed.iter().enumerate() {
            let want = if k as u64 <= limit { p.powi(k as i32) * (1.0 - p) } else { 0.0 };
            assert!((share - want).abs() < slack(want, n), "{k} retransmissions: {share} {want}");
        }
    }
}

/// Integral from `from` of the survival function of an exponential length of mean `m`, truncated to [a, b].
fn rest(from: f64, [m, a, b]: [f64; 3]) -> f64 {
    let (at_a, at_b) = ((-a / m).exp(), (-b / m).exp());
    let inside = |x: f64| (m * ((-x / m).exp() - at_b) - at_b * (b - x)) / (at_a - at_b);
    if from >= b { 0.0 } else { (a - from).max(0.0) + inside(from.max(a)) }
}

const GOOD: [f64; 3] = [10.0, 5.0, 15.0];
const BAD: [f64; 3] = [2.5, 1.4, 4.0];

/// Probability that the channel is bad at a random time and stays so for `s` seconds.
fn bad_for(s: f64) -> f64 {
    rest(s, BAD) / (rest(0.0, GOOD) + rest(0.0, BAD))
}

#[test]
fn on_the_thesis_links_residual_loss_and_delay_follow_from_the_lengths_of_the_bad_state() {
    let n = 100_000;
    // A good state outlasts all attempts of a packet, so they fail only while one and the same bad state lasts.
    for (preset, limit, printed) in [("arq-low", 1, 0.055), ("arq-medium", 2, 0.020), ("arq-high", 4, 0.0012)] {
        let f = lonely_packets(limit as u64, json!({"preset": preset}), n);
        let bad = |k: i32| bad_for(0.7 * k as f64);
        let residual = 0.6f64.powi(limit + 1) * bad(limit);
        assert!((residual - printed).abs() < 0.04 * printed, "{preset}: {residual}");
        // Packets of one bad state share its length: allow for that with twice the binomial error.
        assert!((f.lost - residual).abs() < 2.0 * slack(residual, n), "{preset}: {} {residual}", f.lost);
        for k in 0..=limit {
            let before = if k == 0 { 1.0 } else { 0.6f64.powi(k) * bad(k - 1) };
            let want = before - 0.6f64.powi(k + 1) * bad(k);
            let share = f.delayed[k as usize];
            assert!((share - want).abs() < 2.0 * slack(want, n), "{preset}, {k} retransmissions: {share} {want}");
        }
        let late = 1.0 - f.delayed[0];
        assert!((late - 0.128).abs() < 0.004, "{preset}: {late} of the packets fail at first");
    }
}

#[test]
fn with_a_frozen_state_more_packets_are_lost() {
    let n = 60_000;
    for (preset, limit, printed) in [("arq-low", 1, 0.077), ("arq-medium", 2, 0.046), ("arq-high", 4, 0.016)] {
        let f = lonely_packets(7, json!({"preset": preset, "arq": {"state_at": "first"}}), n);
        let residual = 0.6f64.powi(limit + 1) * bad_for(0.0);
        assert!((residual - printed).abs() < 0.05 * printed, "{preset}: {residual}");
        assert!((f.lost - residual).abs() < 2.0 * slack(residual, n), "{preset}: {} {residual}", f.lost);
    }
}

/// Bytes per second that arrive while the queue is never empty.
fn saturated(seed: u64, keys: Value, packets: usize) -> f64 {
    let mut b = link(seed, keys);
    for _ in 0..packets {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    b.drain();
    let last = b.deliveries.last().expect("something arrives").at.as_secs_f64();
    (b.deliveries.len() * 576) as f64 / (last - DELAY)
}

#[test]
fn a_link_that_is_never_idle_carries_its_rate_or_its_window_per_round_trip() {
    let near = |got: f64, want: f64, by: f64| assert!((got / want - 1.0).abs() < by, "{got} {want}");
    near(saturated(1, json!({}), 2_000), 8_000.0, 1e-6);
    near(saturated(1, json!({"send_buffer": "1 packets", "in_transit": 1}), 2_000), 8_000.0, 1e-6);
    // 20 packets fit; their confirmations take 0.6 s, so the line never waits.
    near(saturated(1, json!({"hold": "acknowledged"}), 2_000), 8_000.0, 1e-3);
    // One packet: stop and wait. Two packets: twice as much.
    let cycle = TX + 2.0 * DELAY;
    near(saturated(1, json!({"hold": "acknowledged", "send_buffer": "1 packets"}), 2_000), 576.0 / cycle, 1e-3);
    near(saturated(1, json!({"hold": "acknowledged", "send_buffer": "2 packets"}), 2_000), 1152.0 / cycle, 1e-3);
    near(saturated(1, json!({"hold": "acknowledged", "send_buffer": "1151 B"}), 2_000), 576.0 / cycle, 1e-3);
    let late = json!({"hold": "acknowledged", "send_buffer": "1 packets", "ack_delay": "0 ms"});
    near(saturated(1, late, 2_000), 576.0 / (TX + DELAY), 1e-3);
}

#[test]
fn stop_and_wait_with_errors_has_the_efficiency_of_the_textbook() {
    let (p, limit): (f64, i32) = (0.3, 3);
    let keys = json!({"hold": "acknowledged", "send_buffer": "1 packets", "error": p,
                      "arq": {"retransmissions": limit}});
    let retransmitted: f64 = (1..=limit).map(|k| p.powi(k)).sum();
    let want = 576.0 * (1.0 - p.powi(limit + 1)) / (TX + 2.0 * DELAY + 0.7 * retransmitted);
    let got = saturated(5, keys, 40_000);
    assert!((got / want - 1.0).abs() < 0.01, "{got} {want}");
}

#[test]
fn a_fragmented_packet_pays_overhead_per_frame_and_is_lost_with_any_frame() {
    // 576 B are five frames of 100 B and one of 76 B; with 8 B each that is 624 B, 78 ms.
    let frames = json!({"fragment": "100 B", "overhead": "8 B"});
    let mut b = link(1, frames.clone());
    b.offer(Time::ZERO, 576, Ecn::NotEct);
    b.drain();
    assert_eq!(b.deliveries[0].at, Time(378_000_000));
    let (p, n): (f64, usize) = (0.1, 30_000);
    let mut lossy = frames;
    lossy["error"] = p.into();
    lossy["arq"] = json!({"retransmissions": 1, "delay": "10 ms"});
    let mut b = link(2, lossy);
    for i in 0..n as u64 {
        b.offer(Time(i * 1_000_000_000), 576, Ecn::NotEct);
    }
    b.drain();
    let want = 1.0 - (1.0 - p * p).powi(6);
    let got = b.drops_of(DropReason::LinkError) as f64 / n as f64;
    assert!((got - want).abs() < slack(want, n), "{got} {want}");
    let retransmitted = b.report().get("link_retransmitted_packets") / n as f64;
    assert!((retransmitted - 0.6).abs() < 0.02, "{retransmitted} retransmissions per packet of six frames");
}

#[test]
fn error_probabilities_per_byte_and_per_bit_grow_with_the_length() {
    let n = 20_000;
    for (unit, error, len) in [("byte", 1e-3, 576), ("bit", 1e-4, 576), ("bit", 1e-4, 76)] {
        let mut b = link(3, json!({"error": error, "error_unit": unit}));
        for i in 0..n as u64 {
            b.offer(Time(i * 1_000_000_000), len, Ecn::NotEct);
        }
        b.drain();
        let units = if unit == "bit" { 8 * len } else { len };
        let want = 1.0 - (1.0f64 - error).powi(units as i32);
        let got = b.drops_of(DropReason::LinkError) as f64 / n as f64;
        assert!((got - want).abs() < slack(want, n), "{unit}, {len} B: {got} {want}");
    }
}

#[test]
fn with_other_users_the_rate_follows_the_formula_of_erlang() {
    // Offered load 2 erlang on 4 channels; ours uses 2 of them when they are free.
    let keys = json!({"background": {"channels": 4, "own": 2, "arrivals": {"exponential": "1 s"},
                                     "holding": {"exponential": "2 s"}}});
    let weight: Vec<f64> = (0..=4).map(|k| 2f64.powi(k) / (1..=k).product::<i32>().max(1) as f64).collect();
    let total: f64 = weight.iter().sum();
    let free_share: f64 = (0..=4).map(|busy| weight[busy] / total * (4 - busy).min(2) as f64 / 2.0).sum();
    let got = saturated(1, keys, 400_000);
    assert!((got / (8_000.0 * free_share) - 1.0).abs() < 0.02, "{got} {}", 8_000.0 * free_share);
}

/// Arrival times, in ms, of full packets handed over at the given times.
fn arrivals_ms(keys: Value, at_ms: &[u64]) -> Vec<f64> {
    let mut b = link(1, keys);
    for t in at_ms {
        b.offer(Time(t * 1_000_000), 576, Ecn::NotEct);
    }
    b.drain();
    b.deliveries.iter().map(|d| d.at.0 as f64 / 1e6).collect()
}

#[test]
fn a_packet_on_the_line_feels_a_change_of_the_rate_and_an_outage() {
    // 64 kbit/s until 100 ms, then 32, then 128, 100 ms each: 36 ms of the second packet at the first rate are left.
    let changes = json!({"rate_changes": {"every": "100 ms", "rates": ["32 kbit/s", "128 kbit/s"]}});
    let second = 100.0 + (2.0 * 72.0 - 100.0) * 2.0;
    // The third: 12 ms are left at 32 kbit/s, worth 6 at 64; then 66 at 128 kbit/s take 33.
    assert_eq!(arrivals_ms(changes, &[0, 0, 0]), [372.0, 300.0 + second, 300.0 + 200.0 + 33.0]);
    // The line stands still from 100 ms to 350 ms: what was on it goes on.
    let outages = json!({"outages": {"every": "100 ms", "length": "250 ms"}});
    assert_eq!(arrivals_ms(outages, &[0, 0]), [372.0, 300.0 + 350.0 + 44.0]);
    // A state with a rate of its own: half the rate in the bad state, which comes after one second.
    let slow = json!({"channel": {"good": {"length": "1 s"}, "bad": {"length": "1 s", "error": 0, "rate": "32 kbit/s"},
                                  "offset": "0 s"}});
    assert_eq!(arrivals_ms(slow, &[0, 964, 2_500]), [372.0, 964.0 + 36.0 + 72.0 + 300.0, 2_872.0]);
}

#[test]
fn a_channel_is_allocated_before_the_first_packet_and_after_each_idle_time() {
    let keys = json!({"allocation": {"delay": "200 ms", "idle_timeout": "1 s"}});
    // The second follows at once, the third within a second of it, the fourth after more.
    let got = arrivals_ms(keys, &[0, 0, 1_300, 2_500]);
    assert_eq!(got, [572.0, 644.0, 1_672.0, 3_072.0]);
}

#[test]
fn randomly_delayed_packets_are_as_many_as_asked_and_hold_back_their_followers() {
    let n = 20_000u64;
    let mut b = link(4, json!({"random_delay": {"probability": 0.1, "length": {"uniform": ["1 s", "2 s"]}}}));
    for i in 0..n {
        b.offer(Time(i * 5_000_000_000), 576, Ecn::NotEct);
        b.offer(Time(i * 5_000_000_000 + 100_000_000), 576, Ecn::NotEct);
    }
    b.drain();
    let delay = |i: usize, at_s: f64| b.deliveries[i].at.as_secs_f64() - at_s - TX - DELAY;
    let (mut late, mut sum) = (0, 0.0);
    for i in 0..n as usize {
        assert_eq!((b.deliveries[2 * i].seq, b.deliveries[2 * i + 1].seq), (2 * i as u64, 2 * i as u64 + 1));
        let first = delay(2 * i, 5.0 * i as f64);
        let second = delay(2 * i + 1, 5.0 * i as f64 + 0.1);
        assert!(second >= first - 0.1 - 1e-6, "the second overtakes");
        if first > 1e-6 {
            late += 1;
            sum += first;
        }
    }
    let share = late as f64 / n as f64;
    assert!((share - 0.1).abs() < slack(0.1, n as usize), "{share}");
    assert!((sum / late as f64 - 1.5).abs() < 0.04, "{}", sum / late as f64);
}

#[test]
fn reordering_is_possible_when_asked_for() {
    let delayed = json!({"random_delay": {"probability": 0.2, "length": "500 ms"}, "order": "as-arrived"});
    let mut b = link(6, delayed);
    for _ in 0..1_000 {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    b.drain();
    let overtaken = b.deliveries.windows(2).filter(|w| w[1].seq < w[0].seq).count();
    assert!(overtaken > 100, "{overtaken}");
    assert_eq!(b.deliveries.len(), 1_000);
}

/// Bad for five seconds, when nothing gets through, then good for as long.
fn eclipse() -> Value {
    json!({"channel": {"good": {"length": "5 s"}, "bad": {"length": "5 s", "error": 1}, "first": "bad",
                       "offset": "0 s"},
           "arq": {"retransmissions": 10}, "hold": "acknowledged"})
}

fn value(b: &Bench<BoxStage>, name: &str) -> f64 {
    b.sample().iter().find(|s| s.0 == name).unwrap_or_else(|| panic!("{name} is not sampled")).1
}

#[test]
fn while_a_frame_is_repaired_the_link_stalls_and_the_routers_queue_keeps_everything() {
    let mut b = link(1, eclipse());
    for _ in 0..60 {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    // The first frame's transmission ends at 72 ms, its first attempt in the good state is at 5672 ms; it is released
    // 300 ms later, and confirmed after 300 ms more.
    for ms in [0, 100, 3_000, 6_271] {
        b.run_until(Time(ms * 1_000_000));
        assert_eq!(value(&b, "queue_packets"), 37.0, "at {ms} ms");
        assert_eq!(value(&b, "in_transit_packets"), 3.0, "at {ms} ms");
        assert_eq!(value(&b, "send_buffer_bytes"), 11_520.0, "at {ms} ms");
        assert_eq!(b.report().get("sent_packets"), 23.0, "handed over, three of them still in transit");
    }
    assert_eq!(b.deliveries.len(), 20, "all attempts after five seconds succeed, the last of them at 5692 ms");
    b.run_until(Time(6_272_000_000));
    assert_eq!(value(&b, "queue_packets"), 27.0, "the first and the nine that waited for it are confirmed together");
    b.drain();
    assert_eq!(b.deliveries.len(), 60);
    let seqs: Vec<u64> = b.deliveries.iter().map(|d| d.seq).collect();
    assert!(seqs.is_sorted());
}

#[test]
fn a_scheduler_in_front_of_a_stalled_link_decides_when_the_link_takes_packets_again() {
    let prio = json!({"type": "prio", "default": "bulk", "filter": [{"class": "audio", "size_max": "100 B"}],
                      "class": {"audio": {"prio": 0}, "bulk": {"prio": 1}}});
    let mut b = link_behind(prio, 1, eclipse());
    for _ in 0..60 {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    // In the middle of the stall: behind 37 packets of the other class, before them when it ends.
    b.offer(Time(3_000_000_000), 76, Ecn::NotEct);
    b.drain();
    let place = b.deliveries.iter().position(|d| d.seq == 60).expect("it arrives");
    assert_eq!(place, 23, "only what the link had taken before the stall is ahead of it");
}

#[test]
fn classes_of_a_token_bucket_hierarchy_share_what_the_link_takes() {
    let class = json!({"parent": "all", "rate": "32 kbit/s", "ceil": "64 kbit/s", "quantum": "1500 B"});
    let htb = json!({"type": "htb", "default": "large", "filter": [{"class": "small", "size_max": "400 B"}],
                     "class": {"all": {"rate": "64 kbit/s", "burst": "12000 B", "cburst": "12000 B"},
                               "small": class.clone(), "large": class}});
    let mut b = link_behind(htb, 2, json!({"preset": "arq-high"}));
    for _ in 0..400 {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
        b.offer(Time::ZERO, 288, Ecn::NotEct);
        b.offer(Time::ZERO, 288, Ecn::NotEct);
    }
    b.run_until(Time(40_000_000_000));
    let bytes = |small: bool| -> f64 {
        let of = |seq: u64| b.offered[seq as usize].len as f64;
        b.deliveries.iter().filter(|d| (d.seq % 3 != 0) == small).map(|d| of(d.seq)).sum()
    };
    let (small, large) = (bytes(true), bytes(false));
    assert!((small / (small + large) - 0.5).abs() < 0.03, "{small} {large}");
    assert!(small + large < 0.95 * 8_000.0 * 40.0, "the stalls of the link reach the scheduler");
}

#[test]
fn held_packets_are_released_without_a_gap() {
    // The first packet is repaired after 5.6 s. All that were sent in the good state wait for it.
    let mut keys = eclipse();
    keys["channel"]["bad"]["length"] = "100 ms".into();
    let mut b = link(1, keys);
    for _ in 0..5 {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    b.drain();
    let at: Vec<u64> = b.deliveries.iter().map(|d| d.at.0 / 1_000_000).collect();
    // 72 ms: bad; 772 ms: good. The others are sent at 144, 216, 288 and 360 ms, all good, and wait.
    assert_eq!(at, [1_072; 5]);
}

#[test]
fn a_small_receive_buffer_stops_the_line_until_the_hole_is_filled() {
    let mut keys = eclipse();
    keys["channel"]["bad"]["length"] = "100 ms".into();
    keys["ack_order"] = "each".into();
    keys["receive_buffer"] = "1200 B".into();
    let mut b = link(1, keys);
    for _ in 0..5 {
        b.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    b.drain();
    let at: Vec<u64> = b.deliveries.iter().map(|d| d.at.0 / 1_000_000).collect();
    // Two may wait behind the first; the line then pauses until they are released at 1072 ms.
    assert_eq!(at, [1_072, 1_072, 1_072, 1_444, 1_516]);
}

#[test]
fn all_configurations_and_both_directions_meet_the_same_channel() {
    let history = |place: &str, keys: Value| -> Vec<bool> {
        let streams = Streams::new(9);
        let mut link = keys;
        link["type"] = "seawind".into();
        let queue = json!("droptail");
        let egress = bench::egress([&queue, &link], "link.test", &BuildCx::new(&streams, place));
        let mut b = Bench::new(egress.unwrap_or_else(|e| panic!("{e}")));
        let mut rng = Streams::new(place.len() as u64).named("load");
        (0..2_000)
            .map(|i| {
                b.run_until(Time(i * 250_000_000));
                if rng.chance(0.7) {
                    b.offer(Time(i * 250_000_000), 40 + rng.below(500) as u16, Ecn::NotEct);
                }
                value(&b, "channel_bad_ratio") == 1.0
            })
            .collect()
    };
    let one = history("link/a/forward", json!({"preset": "arq-high"}));
    assert!(one.contains(&true) && one.contains(&false));
    assert_eq!(one, history("link/a/forward", json!({"preset": "arq-low", "send_buffer": "1 packets"})));
    assert_eq!(one, history("link/a/reverse", json!({"preset": "arq-high", "rate": "384 kbit/s"})));
    assert_ne!(one, history("link/b/forward", json!({"preset": "arq-high"})));
    let own = json!({"preset": "arq-high", "channel": {"history": "direction"}});
    assert_ne!(history("link/a/forward", own.clone()), history("link/a/reverse", own));
    let fixed = json!({"preset": "arq-high", "channel": {"seed": 4}});
    assert_eq!(history("link/a/forward", fixed.clone()), history("link/b/forward", fixed));
}

#[test]
fn a_steady_line_and_one_that_may_change_agree_where_nothing_changes() {
    let mut rates = Streams::new(2).named("rates");
    for _ in 0..20 {
        let rate = BitRate(1_000 + rates.below(10_000_000));
        let times = |extra: Value| {
            let mut keys = extra;
            keys["rate"] = format!("{} bit/s", rate.0).into();
            let mut b = link(1, keys);
            let mut rng = Streams::new(3).named("load");
            let mut now = 0;
            for _ in 0..500 {
                now += rng.below(2 * rate.tx_time(500).0);
                b.offer(Time(now), 1 + rng.below(575) as u16, Ecn::NotEct);
            }
            b.drain();
            b.deliveries.iter().map(|d| d.at).collect::<Vec<_>>()
        };
        let never = json!({"outages": {"every": "24 h", "length": "1 s"}});
        assert_eq!(times(json!({})), times(never));
    }
}

#[test]
fn a_tick_is_refused_where_the_line_changes_and_where_it_is_longer_than_a_second() {
    for keys in [
        json!({"tx_tick": "2 s"}),
        json!({"tx_tick": "1 ms", "outages": {"every": "1 s", "length": "1 s"}}),
        json!({"tx_tick": "1 ms", "rate_changes": {"every": "1 s", "rates": ["1 Mbit/s"]}}),
        json!({"tx_tick": "1 ms", "channel": {"bad": {"rate": "32 kbit/s"}}}),
    ] {
        let mut keys = keys;
        keys["type"] = "seawind".into();
        let streams = Streams::new(1);
        let built = bench::egress([&json!({}), &keys], "link.test", &BuildCx::new(&streams, "link/test/forward"));
        let e = built.err().unwrap_or_else(|| panic!("{keys} was taken"));
        assert!(e.to_string().contains("tx_tick"), "{e}");
    }
}
