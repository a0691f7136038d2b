//! Lateness changes nothing, and a tape tells the whole story: arrivals recorded on a rough machine and played again
//! in virtual time give the same decisions, bit by bit.

use crosswind_base::{Clock, Dur, Rng, Streams, Sync, Time};
use crosswind_emu::change::Change;
use crosswind_emu::delivery::{Delivery, Port, Sink};
use crosswind_emu::driver::{Driver, Unwatched};
use crosswind_emu::host_port::{HostPort, Order};
use crosswind_emu::journal::{Decision, Keep, What};
use crosswind_emu::network::Network;
use crosswind_emu::spec::{EgressSpec, FlowPorts, Host, Route, Spec};
use crosswind_emu::tape::{End, Player, TapeReader, TapeWriter};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};

fn egress(from: &str, to: &str, queue: Value, loss: Option<Value>) -> EgressSpec {
    EgressSpec {
        link: "path".into(),
        direction: if from == "a" { "forward" } else { "reverse" }.into(),
        from: from.into(),
        to: to.into(),
        rate_bps: 2_000_000,
        body: json!({"type": "wire", "rate": "2 Mbit/s", "delay": "7 ms"}),
        queue,
        loss,
        delayers: Value::Null,
        mtu_bytes: None,
    }
}

/// Two hosts; a marking law one way, random losses the other.
fn spec() -> Spec {
    let red = json!({"type": "red-linux", "limit": "60000 B", "min_th": "5000 B", "max_th": "15000 B", "ecn": "mark"});
    let loss = json!({"type": "uniform", "probability": 0.05});
    Spec {
        name: "pair".into(),
        seed: 3,
        rep: 0,
        hosts: ["a", "b"].map(|n| Host { name: n.into() }).to_vec(),
        egresses: vec![egress("a", "b", red, None), egress("b", "a", json!("droptail"), Some(loss))],
        routes: vec![Route::of_all(0, 1, vec![0]), Route::of_all(1, 0, vec![1])],
        flow_ports: FlowPorts::default(),
        receivers: Vec::new(),
        flow_names: Default::default(),
        boundaries: Vec::new(),
        subjects: Vec::new(),
        gateway: None,
        start: Default::default(),
    }
}

fn frame(from: u8, len: u16, ds: u8) -> Vec<u8> {
    let mut f = vec![0; usize::from(len)];
    f[0] = 0x45;
    f[1] = ds;
    f[2..4].copy_from_slice(&len.to_be_bytes());
    f[9] = 17;
    f[12..16].copy_from_slice(&[198, 18, 0, from]);
    f[16..20].copy_from_slice(&[198, 18, 0, 3 - from]);
    let sum: u32 = f[..20].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    f[10..12].copy_from_slice(&checksum.to_be_bytes());
    f
}

/// Bursts in both directions; some packets can be marked, and some are nonsense.
fn arrivals(rng: &mut Rng, n: usize) -> Vec<(Time, Port, Vec<u8>)> {
    let mut at = Time::ZERO;
    let mut out = Vec::new();
    for _ in 0..n {
        if rng.chance(0.2) {
            at += Dur(rng.below(8_000_000));
        }
        at += Dur(rng.below(400_000));
        let port = u32::from(rng.chance(0.3));
        let mut f = frame(port as u8 + 1, 60 + rng.below(1441) as u16, rng.below(64) as u8 * 4 + rng.below(3) as u8);
        if rng.chance(0.02) {
            f[0] = rng.bits() as u8;
        }
        out.push((at, port, f));
    }
    out
}

/// A machine that oversleeps, looks late and takes in several packets at once.
struct Rough {
    now: Time,
    rng: Rng,
    slack: Dur,
    coming: std::collections::VecDeque<(Time, Port, Vec<u8>)>,
    stop: Time,
    /// Made as soon as the first of these times has passed.
    changes: Vec<(Time, Change)>,
    deliveries: Vec<(Time, Vec<u8>)>,
}

impl Clock for Rough {
    fn sync(&mut self, deadline: Time) -> Sync {
        self.now += Dur(self.rng.below(self.slack.0.max(1)));
        if self.coming.front().is_some_and(|(at, ..)| *at <= self.now) {
            return Sync::Interrupted(self.now);
        }
        let next = self.coming.front().map_or(self.stop, |(at, ..)| *at);
        if deadline > self.now.max(next) {
            self.now = self.now.max(next);
            return Sync::Interrupted(self.now);
        }
        self.now = self.now.max(deadline) + Dur(self.rng.below(self.slack.0.max(1)));
        if self.now == deadline { Sync::OnTime } else { Sync::Late(self.now.since(deadline)) }
    }
}

impl Sink for Rough {
    fn deliver(&mut self, d: Delivery<'_>) {
        assert!(d.at <= self.now, "nothing leaves before its time");
        self.deliveries.push((d.at, d.frame.to_vec()));
    }
}

impl HostPort for Rough {
    fn receive(&mut self, frame: &mut Vec<u8>) -> Option<(Time, Port)> {
        if self.coming.front()?.0 > self.now {
            return None;
        }
        let (_, port, bytes) = self.coming.pop_front()?;
        self.now += Dur(self.rng.below(500));
        *frame = bytes;
        Some((self.now, port))
    }
    fn order(&mut self) -> Option<Order> {
        if self.changes.first().is_some_and(|(at, _)| *at <= self.now) {
            return Some(Order::Change(self.now, self.changes.remove(0).1));
        }
        (self.coming.is_empty() && self.now >= self.stop).then_some(Order::Stop(self.now))
    }
}

/// Slower and longer by a third of the run, back again by two thirds.
fn changes(stop: Time) -> Vec<(Time, Change)> {
    let change = |json: Value| serde_json::from_value(json).unwrap();
    let worse = json!({"link": "path", "direction": "forward", "set": {"rate": "1 Mbit/s", "delay": "30 ms"}});
    let back = json!({"link": "path", "set": {"rate": "2 Mbit/s", "delay": "7 ms"}});
    vec![(Time(stop.0 / 3), change(worse)), (Time(stop.0 / 3 * 2), change(back))]
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, b: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(b);
        Ok(b.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Run {
    tape: Vec<u8>,
    end: End,
    decisions: Vec<Decision>,
    deliveries: Vec<(Time, Vec<u8>)>,
}

fn live(slack: Dur, seed: u64) -> Run {
    live_with(&spec(), slack, seed)
}

fn live_with(spec: &Spec, slack: Dur, seed: u64) -> Run {
    let mut rng = Streams::new(seed).named("arrivals");
    let coming: std::collections::VecDeque<_> = arrivals(&mut rng, 4000).into();
    let stop = coming.back().unwrap().0 + Dur::from_secs(1);
    let mut host_port =
        Rough { now: Time::ZERO, rng, slack, coming, stop, changes: changes(stop), deliveries: Vec::new() };
    let memory = Memory::default();
    let tape = TapeWriter::new(Box::new(memory.clone()) as Box<dyn Write + Send>, spec).unwrap();
    let mut nobody = Unwatched;
    let network = Network::build(spec, Keep::All).unwrap();
    // Somebody looks at the live run and nobody at its tape: looking changes nothing either.
    let mut driver = Driver::new(network, &mut nobody, Dur::from_micros(1700)).with_tape(tape);
    let (end, written) = driver.run(&mut host_port);
    written.unwrap();
    assert_eq!(driver.network.packets_inside(), 0, "a second is enough for everything to leave");
    let decisions = driver.network.journal.decisions().to_vec();
    Run { tape: memory.0.lock().unwrap().clone(), end, decisions, deliveries: host_port.deliveries }
}

fn played(tape: &[u8]) -> (End, Vec<Decision>, Option<End>) {
    let reader = TapeReader::new(tape).unwrap();
    let network = Network::build(&reader.spec, Keep::All).unwrap();
    let mut player = Player::new(reader);
    let mut nobody = Unwatched;
    let mut driver = Driver::new(network, &mut nobody, Dur::ZERO);
    let (end, _) = driver.run(&mut player);
    (end, driver.network.journal.decisions().to_vec(), player.end)
}

#[test]
fn a_tape_of_a_late_machine_gives_the_same_decisions_in_virtual_time() {
    for (seed, slack) in
        [(1, Dur::ZERO), (2, Dur::from_micros(50)), (3, Dur::from_millis(5)), (4, Dur::from_millis(80))]
    {
        let run = live(slack, seed);
        let (end, decisions, on_tape) = played(&run.tape);
        assert_eq!(decisions, run.decisions, "slack {slack:?}");
        assert_eq!((end, on_tape), (run.end, Some(run.end)));
        let of = |w: What| decisions.iter().filter(|d| d.what == w).count();
        assert!(of(What::Delivered) > 2000 && of(What::Lost) > 10, "{} {}", of(What::Delivered), of(What::Lost));
        assert!(of(What::Marked) > 10 && of(What::Dropped) > 10, "{} {}", of(What::Marked), of(What::Dropped));
    }
}

#[test]
fn queues_that_decide_at_departures_decide_the_same_whoever_looks() {
    for queue in [
        json!({"type": "codel", "profile": "linux", "target": "2 ms", "interval": "20 ms", "ecn": "mark"}),
        json!({"type": "fq-codel", "target": "2 ms", "interval": "20 ms"}),
        json!({"type": "dualpi2", "profile": "linux", "target": "2 ms"}),
        json!({"type": "fq", "max_rate": "1 Mbit/s"}),
    ] {
        let mut spec = spec();
        spec.egresses[0].queue = queue.clone();
        spec.egresses[0].queue["limit"] = "40 packets".into();
        let run = live_with(&spec, Dur::from_micros(50), 11);
        let (end, mut decisions, _) = played(&run.tape);
        assert_eq!(end, run.end, "{queue}");
        let mut seen = run.decisions;
        let place = |d: &Decision| (d.at, d.packet, d.what as u8);
        seen.sort_by_key(place);
        decisions.sort_by_key(place);
        assert_eq!(decisions, seen, "{queue}");
        assert!(seen.iter().any(|d| d.what == What::Dropped), "{queue}");
    }
}

#[test]
fn lateness_in_serving_is_never_fed_back() {
    // Stamps are what differs between machines: with the same ones, a machine that is late decides as one that is not.
    let run = live(Dur::from_millis(80), 5);
    let punctual = played(&run.tape).1;
    assert_eq!(punctual, run.decisions);
    assert!(run.deliveries.iter().map(|d| d.0).is_sorted(), "packets leave in the order of their logical times");
}

#[test]
fn marked_packets_leave_with_ce_and_a_right_checksum() {
    let run = live(Dur::from_micros(50), 6);
    let marked = run.decisions.iter().filter(|d| d.what == What::Marked).count();
    let with_ce: Vec<_> = run.deliveries.iter().filter(|(_, f)| f[1] & 3 == 3).collect();
    assert!(marked > 10 && with_ce.len() == marked, "{marked} {}", with_ce.len());
    for (_, f) in with_ce.iter().filter(|(_, f)| f[0] == 0x45) {
        let sum: u32 = f[..20].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    }
}

#[test]
fn a_change_slows_the_link_down_from_its_time_on() {
    let run = live(Dur::from_micros(50), 10);
    let stop = run.end.at.0 - 1_000_000_000;
    let bytes = |from: u64, to: u64| -> usize {
        run.deliveries.iter().filter(|(at, f)| (from..to).contains(&at.0) && f[15] == 1).map(|(_, f)| f.len()).sum()
    };
    let (fast, slow) = (bytes(0, stop / 3), bytes(stop / 3 + 200_000_000, stop / 3 * 2));
    assert!(slow * 10 < fast * 7, "{slow} of {fast} bytes");
}

#[test]
fn a_tape_that_was_cut_off_plays_as_far_as_it_goes() {
    let run = live(Dur::from_micros(50), 7);
    let (_, all, _) = played(&run.tape);
    let (_, some, end) = played(&run.tape[..run.tape.len() / 2]);
    assert_eq!(end, None);
    assert!(some.len() > all.len() / 3 && some.len() < all.len());
    assert_eq!(some[..some.len() - 50], all[..some.len() - 50]);
}

#[test]
fn damaged_tapes_are_refused_without_a_panic() {
    let tape = live(Dur::ZERO, 8).tape;
    let mut rng = Streams::new(9).named("damage");
    assert!(TapeReader::new(&b"something else"[..]).is_err());
    for _ in 0..200 {
        let mut t = tape.clone();
        for _ in 0..3 {
            let at = rng.below(20_000.min(t.len() as u64)) as usize;
            t[at] = rng.bits() as u8;
        }
        let Ok(mut reader) = TapeReader::new(&t[..]) else { continue };
        for _ in 0..500 {
            if !matches!(reader.next_record(), Ok(Some(_))) {
                break;
            }
        }
    }
}
