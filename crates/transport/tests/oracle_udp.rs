//! What a receiver of datagrams counts as it goes, against the definitions over the whole list of packets.

use crosswind_base::{Dur, Packet, Rng, Streams, Time};
use crosswind_transport::udp::{Receiver, Sender};

/// A datagram and its one-way delay, if it arrives.
struct Sent {
    packet: Packet,
    delay: Option<Dur>,
}

/// Bursts of random length; some packets are lost, singly and in runs, and a few overtake each other.
fn traffic(rng: &mut Rng) -> Vec<Sent> {
    let (mut tx, mut out, mut now, mut losing) = (Sender::default(), Vec::new(), Time::ZERO, 0);
    for burst in 1..=1 + rng.below(3) {
        for _ in 0..1 + rng.below(200) {
            now += Dur::from_millis(20);
            if losing == 0 && rng.chance(0.05) {
                losing = 1 + rng.below(12);
            }
            let delay = (losing == 0).then(|| Dur(rng.below(600_000_000)));
            losing = u64::saturating_sub(losing, 1);
            out.push(Sent { packet: tx.datagram(48, burst, now), delay });
        }
        now += Dur::from_secs(5);
    }
    out
}

/// RFC 3393 with consecutive packets of a burst: the delay of the second less that of the first.
fn variations(sent: &[Sent]) -> Vec<i64> {
    let pairs = sent.windows(2).filter(|p| p[0].packet.ack == p[1].packet.ack);
    let mut all: Vec<i64> = pairs.filter_map(|p| Some(p[1].delay?.0 as i64 - p[0].delay?.0 as i64)).collect();
    all.sort_unstable();
    all
}

/// Lengths of the runs of packets that did not arrive.
fn runs(sent: &[Sent]) -> Vec<u64> {
    let lost: String = sent.iter().map(|s| if s.delay.is_some() { ' ' } else { 'x' }).collect();
    lost.split_whitespace().map(|run| run.len() as u64).collect()
}

#[test]
fn delays_variations_and_runs_are_those_of_the_whole_list() {
    for seed in 0..300 {
        let mut rng = Streams::new(seed).named("traffic");
        let sent = traffic(&mut rng);
        let mut arrivals: Vec<(Time, &Sent)> =
            sent.iter().filter_map(|s| Some((s.packet.sent_at + s.delay?, s))).collect();
        arrivals.sort_by_key(|a| (a.0, a.1.packet.seq));
        let mut rx = Receiver::default();
        for (at, s) in &arrivals {
            assert!(rx.on_datagram(&s.packet, *at));
            assert!(!rx.on_datagram(&s.packet, *at), "a copy counts once");
        }
        let what = format!("seed {seed}, {} packets", sent.len());
        assert_eq!((rx.packets, rx.bytes), (arrivals.len() as u64, 76 * arrivals.len() as u64), "{what}");
        let wanted = variations(&sent);
        assert_eq!(rx.variation_ns.count(), wanted.len() as u64, "{what}");
        assert_eq!(rx.variation_ns.range(), wanted.first().copied().zip(wanted.last().copied()), "{what}");
        if !wanted.is_empty() {
            let median = wanted[(wanted.len() - 1) / 2] as f64;
            let off = rx.variation_ns.quantile(((wanted.len() - 1) / 2) as f64 / (wanted.len() as f64 - 1.0).max(1.0))
                - median;
            assert!(off.abs() <= 100_000.0, "{what}: {off} ns off the median");
        }
        let over = wanted.iter().filter(|v| v.unsigned_abs() > 20_000_000).count();
        assert_eq!(rx.variations_over_mark, over as u64, "{what}");
        for (mark, n) in [150, 250, 400, 500].into_iter().zip(rx.delays_over_marks) {
            let late = arrivals.iter().filter(|(_, s)| s.delay > Some(Dur::from_millis(mark))).count();
            assert_eq!(n, late as u64, "{what}: {mark} ms");
        }
        let (counted, wanted) = (rx.loss_runs(sent.len() as u64), runs(&sent));
        assert_eq!(counted.count(), wanted.len() as u64, "{what}");
        assert_eq!(counted.max(), wanted.iter().copied().max().unwrap_or(0), "{what}");
        let mut early = 0;
        let mut highest = None;
        for (_, s) in &arrivals {
            early += u64::from(highest.is_some_and(|h| s.packet.seq < h));
            highest = highest.max(Some(s.packet.seq));
        }
        assert_eq!(rx.out_of_order_packets, early, "{what}");
    }
}
