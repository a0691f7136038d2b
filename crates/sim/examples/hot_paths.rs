//! Repeats one hot path as often as it is told, for counting instructions: `hot_paths hop|ack|agenda|dumbbell|sampled|QUEUE|SENDER N`. Prints
//! how often the path was taken, which may differ a little from N. And for profiles: `hot_paths scenario FILE.json`.
#![expect(clippy::disallowed_macros, clippy::print_stdout, reason = "a program prints")]

use crosswind_base::packet::Ext;
use crosswind_base::{
    BitRate, Cx, DropReason, Dur, EventKind, Ledger, Packet, PacketId, Pool, Rng, Stage, Streams, Time,
};
use crosswind_engine::agenda::Agenda;
use crosswind_net::registry::{BuildCx, EgressMaker, Parts};
use crosswind_sim::flows::Parameters;
use crosswind_sim::results::Sampler;
use crosswind_sim::runs::bench::BenchSpec;
use crosswind_sim::scenario::{Registries, Repetition, compile, parse};
use crosswind_sim::world::{Manner, World};
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{CloseRule, Connection, Io, preset};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

struct Silent;

impl Ledger for Silent {
    fn dropped(&mut self, _: u32, _: &Packet, _: DropReason) {}
    fn marked(&mut self, _: u32, _: &Packet) {}
}

/// What a stage works with, without the rest of the world.
#[derive(Default)]
struct Bench {
    pool: Pool,
    out: Vec<PacketId>,
}

impl Bench {
    /// One call of a stage; what it forwards ends here.
    fn call(&mut self, now: Time, f: impl FnOnce(&mut Cx<'_>)) {
        let ledger = &mut Silent;
        let Bench { pool, out } = self;
        f(&mut Cx::new(now, 0, pool, out, ledger, None));
        while let Some(id) = out.pop() {
            Cx::new(now, 0, pool, out, ledger, None).drop(id, DropReason::NoEndpoint);
        }
    }
}

/// Packets of 1000 bytes at a link of 1 Gbit/s, in pairs: every second one waits.
fn hop(times: u64) -> u64 {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    let link = json!({ "type": "wire", "rate": "1 Gbit/s", "delay": "1 ms" });
    let (queue, delayers) = (json!({ "type": "droptail" }), Value::Null);
    let parts = Parts { queue: &queue, link: &link, loss: None, delayers: &delayers };
    let mut stage = EgressMaker::new(&parts, "link.a").and_then(|m| m.make(&cx)).expect("it builds");
    let mut bench = Bench::default();
    for i in 0..times {
        let now = Time(i / 2 * 17_000);
        while let Some(at) = stage.next_wake().filter(|t| *t <= now) {
            bench.call(at, |cx| stage.wake(cx));
        }
        let id = bench.pool.insert(packet(i));
        bench.call(now, |cx| stage.accept(id, cx));
    }
    times
}

fn packet(seq: u64) -> Packet {
    Packet { seq, len: 1000, ..Packet::default() }
}

/// What one end sends waits here for the other.
struct Wire {
    now: Time,
    sent: VecDeque<(Packet, Option<Ext>)>,
}

impl Io for Wire {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, p: Packet, ext: Option<Ext>) {
        self.sent.push_back((p, ext));
    }
    fn note(&mut self, _: EventKind, _: u64, _: u32, _: u32) {}
    fn is_watched(&self) -> bool {
        false
    }
    fn shared(&mut self) -> Option<&mut Cache> {
        None
    }
}

/// An endless transfer with a window of 100 segments, each of them acknowledged.
fn ack(times: u64) -> u64 {
    let settings = json!({ "preset": "rfc", "mss": "1000 B", "delayed_ack": "0 s", "window_limit_segments": 100 });
    let params = Arc::new(preset::read(&settings, "tcp").expect("a preset"));
    let mut ends = [CloseRule::ByApplication, CloseRule::WithPeer].map(|r| Connection::new(params.clone(), 0, r));
    let mut wires = [(); 2].map(|()| Wire { now: Time::ZERO, sent: VecDeque::new() });
    ends[0].open(&mut wires[0]);
    ends[0].write(1 << 40, &mut wires[0]);
    let mut segments = 0;
    while segments < times {
        for from in [0, 1] {
            let to = 1 - from;
            // Half a window at a time, so that there is always something under way.
            for _ in 0..wires[from].sent.len().div_ceil(2) {
                let Some((p, ext)) = wires[from].sent.pop_front() else { break };
                segments += u64::from(from == 0 && p.payload > 0);
                wires[to].now = wires[from].now.max(wires[to].now) + Dur(10_000);
                ends[to].on_packet(&p, ext.as_ref(), &mut wires[to]);
                if ends[0].send_space() > 1 << 20 {
                    ends[0].write(1 << 20, &mut wires[0]);
                }
            }
        }
    }
    segments
}

fn later(rng: &mut Rng) -> Dur {
    Dur(1 + rng.below(1_000_000))
}

fn agenda(times: u64) -> u64 {
    let mut rng = Streams::new(1).named("agenda");
    let mut agenda = Agenda::new(1000, 0);
    (0..1000).for_each(|s| agenda.at_latest(s, Time::ZERO + later(&mut rng)));
    for _ in 0..times {
        let (at, _) = agenda.first().expect("every stage has an entry");
        agenda.replace_first(at + later(&mut rng));
    }
    times
}

/// Counts the packets that the senders sent. Without a clock: callgrind's machine has none that the benchmark could ask.
fn dumbbell(times: u64, spec: BenchSpec, sample: Option<Dur>) -> u64 {
    let duration = spec.rate.tx_time(1040).saturating_mul(times);
    run(&BenchSpec { duration, ..spec }.scenario().to_string(), sample)
}

/// A dumbbell with the queue or the sender of this name; `SENDER+QUEUE`: with both.
fn variant(name: &str, spec: BenchSpec) -> BenchSpec {
    let (sender, queue) = name.split_once('+').unwrap_or((name, name));
    let (sender, queue) = (serde_json::from_value(json!(sender)), serde_json::from_value(json!(queue)));
    assert!(sender.is_ok() || queue.is_ok(), "unknown path: hop, ack, agenda, dumbbell, sampled, a queue or a sender");
    BenchSpec { sender: sender.unwrap_or(spec.sender), queue: queue.unwrap_or(spec.queue), ..spec }
}

/// One run of a scenario, as JSON.
fn run(scenario: &str, sample: Option<Dur>) -> u64 {
    let scenario = parse(scenario, &Registries).expect("a scenario");
    let plan = compile(&scenario).expect("a plan");
    let parameters = Parameters::of(&plan).expect("parameters");
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let mut world = World::build(&plan, &parameters, rep, Manner::default(), caches).expect("a world");
    let end = Time::ZERO + plan.duration;
    if let Some(step) = sample {
        let mut sampler = Sampler::new(&mut world);
        while world.engine.now < end {
            world.run_until(end.min(world.engine.now + step), None);
            sampler.sample(&mut world);
        }
        assert!(sampler.into_table().rows() > 0, "something was sampled");
    }
    world.run_until(end, None);
    world.catch_up();
    world.ends.iter().step_by(2).map(|e| e.port().sent_packets).sum()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, times, more @ ..] = &words[..] else {
        panic!(
            "usage: hot_paths hop|ack|agenda|dumbbell|sampled|QUEUE|SENDER N [FLOWS [BIT_PER_S]], or scenario FILE.json"
        )
    };
    if path == "scenario" {
        #[expect(clippy::disallowed_methods, reason = "the program reads what it is told to run")]
        let text = std::fs::read_to_string(times).expect("a file");
        println!("{}", run(&text, None));
        return;
    }
    let times: u64 = times.parse().expect("N is a number");
    let flows = more.first().map_or(10, |f| f.parse().expect("FLOWS is a number"));
    let rate = BitRate(more.get(1).map_or(100_000_000, |r| r.parse().expect("BIT_PER_S is a number")));
    let spec = BenchSpec { flows, rate, ..BenchSpec::default() };
    let taken = match path.as_str() {
        "hop" => hop(times),
        "ack" => ack(times),
        "agenda" => agenda(times),
        "dumbbell" => dumbbell(times, spec, None),
        "sampled" => dumbbell(times, spec, Some(Dur(100_000_000))),
        other => dumbbell(times, variant(other, spec), None),
    };
    println!("{taken}");
}
