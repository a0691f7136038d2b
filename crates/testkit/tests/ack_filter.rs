//! CAKE's filter for acknowledgements: random ones of two connections against plain sets.

use crosswind_base::packet::Ext;
use crosswind_base::{Cx, DropReason, FlowId, Packet, Pool, Rng, SackList, Streams, TcpFlags, Time};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::cake::{Cake, CakeParams};
use crosswind_net::registry::BuildCx;
use crosswind_testkit::bench::{Entry, Log};
use crosswind_testkit::oracle::ack_filter::{Ack, goes};
use serde_json::json;

/// A filter, and what the other side takes it for.
fn rig(filter: &str, seed: u64) -> Cake {
    let written = json!({ "ack_filter": filter, "isolation": "flowblind", "tins": "besteffort" });
    let p: CakeParams = crosswind_net::params::read(&written, "queue").expect("it is valid");
    Cake::build(p, &BuildCx::new(&Streams::new(seed), "q")).expect("it can be built")
}

/// The next acknowledgement of a connection that has got so far; now and then an odd one.
fn next(rng: &mut Rng, far: &mut u64, seq: u64, flow: u32) -> Ack {
    *far += 100 * rng.below(3);
    let ack = *far - if rng.chance(0.1) { 100 * rng.below(4).min(*far / 100) } else { 0 };
    let (mut blocks, mut from) = (Vec::new(), ack + 50);
    for _ in 0..rng.below(4).saturating_sub(1) {
        let to = from + 10 * (1 + rng.below(4));
        blocks.push((from, to));
        from = to + 10 * rng.below(3) + 10;
    }
    if rng.chance(0.05) && ack >= 100 {
        blocks.insert(0, (ack - 90, ack - 80));
    }
    let ecn = if rng.chance(0.15) { 1 } else { 0 };
    let stamp = (seq / 3) as u32 + u32::from(rng.chance(0.05)) * 3;
    Ack { seq, flow, is_pure: rng.chance(0.9), ack, stamp, ecn, blocks }
}

fn packet(a: &Ack) -> (Packet, Ext) {
    let mut sack = SackList::EMPTY;
    a.blocks.iter().for_each(|(from, to)| assert!(sack.push(*from, *to)));
    let (flags, payload) = (TcpFlags::ACK.with_ace(a.ecn), if a.is_pure { 0 } else { 10 });
    let p = Packet {
        flow: FlowId(a.flow),
        seq: a.seq,
        ack: a.ack,
        ts_val: a.stamp,
        flags,
        payload,
        len: 52 + payload,
        ..Packet::default()
    };
    (p, Ext { sack, ..Ext::default() })
}

/// How many went.
fn compare(filter: &str, is_aggressive: bool, seed: u64) -> usize {
    let mut rng = Streams::new(seed).named("acks");
    let (mut queue, mut pool, mut log) = (rig(filter, seed), Pool::new(), Log::default());
    let (mut plain, mut far, mut gone): (Vec<Ack>, [u64; 2], usize) = (Vec::new(), [0; 2], 0);
    for seq in 0..6_000 {
        let (now, mut out) = (Time(seq * 1000), Vec::new());
        log.now = now;
        if rng.chance(0.55) {
            let flow = rng.below(4) as u32 / 3;
            let a = next(&mut rng, &mut far[flow as usize], seq, flow);
            let (p, ext) = packet(&a);
            let id = pool.insert(p);
            pool.attach(id, ext);
            let before = log.entries.len();
            queue.enqueue(id, &mut Cx::new(now, 0, &mut pool, &mut out, &mut log, None));
            plain.push(a);
            let want = goes(&plain, is_aggressive).map(|i| plain.remove(i).seq);
            let mine = log.entries[before..].first().map(|e| match e {
                Entry::Dropped { seq, why: DropReason::AckFilter, .. } => *seq,
                other => panic!("{other:?}"),
            });
            assert_eq!(mine, want, "{filter}, seed {seed}, step {seq}");
            gone += usize::from(want.is_some());
        } else {
            let head = queue.dequeue(&mut Cx::new(now, 0, &mut pool, &mut out, &mut log, None));
            let mine = head.map(|h| pool.get(h.id).seq);
            let want = (!plain.is_empty()).then(|| plain.remove(0).seq);
            assert_eq!(mine, want, "{filter}, seed {seed}, step {seq}");
            head.iter().for_each(|h| pool.remove(h.id));
        }
        assert_eq!(queue.backlog().packets as usize, plain.len());
    }
    gone
}

#[test]
fn random_acknowledgements_meet_plain_sets() {
    for seed in 0..3 {
        let gone = [("on", false), ("aggressive", true)].map(|(filter, more)| compare(filter, more, seed));
        assert!(gone[0] > 200 && gone[1] > gone[0], "{gone:?}");
    }
}

#[test]
fn the_oracle_notices_a_filter_that_is_too_eager() {
    assert!(std::panic::catch_unwind(|| compare("aggressive", false, 1)).is_err());
    assert!(std::panic::catch_unwind(|| compare("off", false, 1)).is_err());
}
