//! Lifetime packet discard against a list that is searched from one end to the other, on random traces.

use crosswind_base::packet::{Expired, Ext, Life, Lifetime};
use crosswind_base::{BitRate, Cx, DropReason, Dur, Packet, PacketId, Pool, Rng, Streams, Time};
use crosswind_net::queue::{BoxQueue, QueueDisc};
use crosswind_net::registry::{self, BuildCx};
use crosswind_testkit::bench::{Entry, Log};
use serde_json::json;

const RATE: BitRate = BitRate(80_000);
const DELAY: Dur = Dur::from_millis(50);
const LIMIT: usize = 10;
const HEADERS: u16 = 40;

/// One packet of the reference: number, length, when it came, and what it says.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    seq: u64,
    len: u16,
    since: Time,
    life: Option<Life>,
}

impl Waiting {
    /// The condition of the source: what remains is less than what the link needs to deliver the packet.
    fn is_over(&self, now: Time) -> bool {
        let Some(life) = self.life else { return false };
        let needed = i128::from((RATE.tx_time(u64::from(self.len)) + DELAY).0);
        let remaining = match life.lifetime {
            Lifetime::Left(d) => i128::from(d.0) - i128::from((now - self.since).0),
            Lifetime::Until(at) => i128::from(at.0) - i128::from(now.0),
        };
        remaining < needed
    }
    fn goes(&self, now: Time) -> bool {
        self.is_over(now) && self.life.is_some_and(|l| l.expired == Expired::Discard)
    }
}

#[derive(Default)]
struct Reference {
    list: Vec<Waiting>,
    dropped: Vec<(u64, DropReason)>,
}

impl Reference {
    fn look(&mut self, now: Time) {
        let dropped = &mut self.dropped;
        self.list.retain(|w| {
            let goes = w.goes(now);
            if goes {
                dropped.push((w.seq, DropReason::Expired));
            }
            !goes
        });
    }
    fn enqueue(&mut self, w: Waiting, looks: bool) {
        if looks {
            self.look(w.since);
        }
        if looks && w.goes(w.since) {
            self.dropped.push((w.seq, DropReason::Expired));
        } else if self.list.len() >= LIMIT {
            self.dropped.push((w.seq, DropReason::QueueFull));
        } else {
            self.list.push(w);
        }
    }
    /// Number, length and what is left of its lifetime.
    fn dequeue(&mut self, now: Time) -> Option<(u64, u16, Option<Lifetime>)> {
        loop {
            let w = if self.list.is_empty() { return None } else { self.list.remove(0) };
            if w.goes(now) {
                self.dropped.push((w.seq, DropReason::Expired));
                continue;
            }
            let cut = w.is_over(now) && w.life.is_some_and(|l| l.expired == Expired::Headers);
            let left = w.life.map(|l| match l.lifetime {
                Lifetime::Left(d) => Lifetime::Left(d.saturating_sub(now - w.since)),
                until => until,
            });
            return Some((w.seq, if cut { HEADERS } else { w.len }, left));
        }
    }
}

struct Bench {
    queue: BoxQueue,
    pool: Pool,
    log: Log,
}

impl Bench {
    fn call<T>(&mut self, now: Time, f: impl FnOnce(&mut BoxQueue, &mut Cx<'_>) -> T) -> T {
        let mut out = Vec::new();
        let mut cx = Cx::new(now, 0, &mut self.pool, &mut out, &mut self.log, None);
        f(&mut self.queue, &mut cx)
    }
    fn arrive(&mut self, w: &Waiting) {
        let payload = w.len - HEADERS;
        let id = self.pool.insert(Packet { seq: w.seq, len: w.len, payload, ..Packet::default() });
        if w.life.is_some() {
            self.pool.attach(id, Ext { life: w.life, ..Ext::default() });
        }
        self.call(w.since, |q, cx| q.enqueue(id, cx));
    }
    fn depart(&mut self, now: Time) -> Option<(u64, u16, Option<Lifetime>)> {
        let id: PacketId = self.call(now, |q, cx| q.dequeue(cx))?.id;
        let p = *self.pool.get(id);
        let life = self.pool.ext(&p).and_then(|e| e.life);
        assert_eq!(life.is_some_and(|l| l.is_cut), p.payload == 0, "who has no payload says so");
        self.pool.remove(id);
        Some((p.seq, p.len, life.map(|l| l.lifetime)))
    }
    fn dropped(&self) -> Vec<(u64, DropReason)> {
        let one = |e: &Entry| match e {
            Entry::Dropped { seq, why, .. } => (*seq, *why),
            Entry::Marked { .. } => unreachable!("nothing is marked"),
        };
        self.log.entries.iter().map(one).collect()
    }
}

fn drawn(rng: &mut Rng, seq: u64, now: Time) -> Waiting {
    let left = Dur::from_secs_f64(rng.exponential(0.8));
    let lifetime = if rng.chance(0.5) { Lifetime::Left(left) } else { Lifetime::Until(now + left) };
    let expired = [Expired::Forward, Expired::Discard, Expired::Discard, Expired::Headers][rng.below(4) as usize];
    let life = Life { lifetime, expired, is_cut: false };
    Waiting { seq, len: 100 + rng.below(1400) as u16, since: now, life: rng.chance(0.9).then_some(life) }
}

#[test]
fn a_packet_goes_when_the_link_can_no_longer_deliver_it_in_time() {
    for (name, looks_on_arrival, keeps_time) in
        [("always", true, true), ("arrival", true, false), ("departure", false, false)]
    {
        let streams = Streams::new(3);
        let mut rng = streams.named("trace");
        let spec = json!({"type": "lpd", "looks": name, "queue": {"limit": format!("{LIMIT} packets")},
            "rate": "80 kbit/s", "delay": "50 ms"});
        let cx = BuildCx::new(&streams, "link/test/forward");
        let queue = registry::build_queue(&spec, "queue", &cx).unwrap_or_else(|e| panic!("{e}"));
        let (mut bench, mut reference) =
            (Bench { queue, pool: Pool::new(), log: Log::default() }, Reference::default());
        let mut now = Time::ZERO;
        let mut cut = 0;
        for seq in 0..30_000 {
            let then = now + Dur::from_secs_f64(rng.exponential(0.05));
            while let Some(at) = bench.queue.next_wake().filter(|at| *at <= then) {
                assert!(keeps_time, "{name} asks to be woken");
                bench.call(at, |q, cx| q.wake(cx));
                reference.look(at);
                assert_eq!(bench.queue.backlog().packets as usize, reference.list.len(), "{name}, woken at {at:?}");
                assert!(bench.queue.next_wake().is_none_or(|next| next > at));
            }
            now = then;
            if keeps_time {
                assert!(!reference.list.iter().any(|w| w.goes(now)), "{name}: none is overdue");
            }
            if rng.chance(0.6) {
                let w = drawn(&mut rng, seq, now);
                bench.arrive(&w);
                reference.enqueue(w, looks_on_arrival);
            } else {
                let (found, wanted) = (bench.depart(now), reference.dequeue(now));
                assert_eq!(found, wanted, "{name}, at {now:?}");
                cut += usize::from(found.is_some_and(|(_, len, _)| len == HEADERS));
            }
            assert_eq!(bench.queue.backlog().packets as usize, reference.list.len(), "{name}, at {now:?}");
            assert_eq!(bench.log.entries.len(), reference.dropped.len(), "{name}, at {now:?}");
        }
        assert_eq!(bench.dropped(), reference.dropped, "{name}");
        let expired = reference.dropped.iter().filter(|d| d.1 == DropReason::Expired).count();
        assert!(
            expired > 1000 && cut > 100 && expired < reference.dropped.len(),
            "{name}: {expired} expired, {cut} cut"
        );
    }
}

#[test]
fn who_may_still_leave_in_time_stays_when_another_goes() {
    let streams = Streams::new(1);
    let spec = json!({"type": "lpd", "looks": "arrival", "rate": "80 kbit/s", "delay": "50 ms"});
    let queue = registry::build_queue(&spec, "q", &BuildCx::new(&streams, "link/a/forward")).expect("a queue");
    let mut b = Bench { queue, pool: Pool::new(), log: Log::default() };
    let at = |ms: u64| Time::ZERO + Dur::from_millis(ms);
    // 100 B need 10 ms on the line and 50 ms behind it.
    for (seq, ends) in [(0, at(160)), (1, at(260)), (2, at(261))] {
        let life = Life { lifetime: Lifetime::Until(ends), expired: Expired::Discard, is_cut: false };
        b.arrive(&Waiting { seq, len: 100, since: Time::ZERO, life: Some(life) });
    }
    b.arrive(&Waiting { seq: 3, len: 100, since: at(200), life: None });
    assert_eq!(b.dropped(), [(0, DropReason::Expired)]);
    assert_eq!([0, 1, 2].map(|_| b.depart(at(200)).map(|p| p.0)), [Some(1), Some(2), Some(3)]);
}
