//! What one packet costs at one egress: its arrival, its service and its delivery.
//! `cargo run --release -p crosswind-testkit --example hop_cost`

use crosswind_base::{Cx, Dur, Ecn, Ledger, Packet, PacketId, Pool, Stage, Streams, Time};
use crosswind_net::registry::{self, BuildCx};
use crosswind_testkit::bench::{self, packet};
use serde_json::json;
use std::io::Write as _;

struct Silent;

impl Ledger for Silent {
    fn dropped(&mut self, _: u32, _: &Packet, _: crosswind_base::DropReason) {}
    fn marked(&mut self, _: u32, _: &Packet) {}
}

/// Nanoseconds of processor time that this thread has used; other work on the machine does not count (Linux).
#[allow(clippy::disallowed_methods, reason = "a measurement of the machine, not of a model")]
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of a thread");
    text.split(' ').next().and_then(|t| t.parse().ok()).expect("the first number is the time on the processor")
}

/// Takes packets and gives them back at once: what the driver itself costs.
struct Nothing;

impl Stage for Nothing {
    fn accept(&mut self, p: PacketId, cx: &mut Cx<'_>) {
        cx.forward(p);
    }
    fn wake(&mut self, _: &mut Cx<'_>) {}
    fn next_wake(&self) -> Option<Time> {
        None
    }
}

const PACKETS: u32 = 2_000_000;

fn call<S: Stage + ?Sized>(
    stage: &mut S,
    now: Time,
    world: &mut (Pool, Vec<PacketId>, Silent),
    f: impl FnOnce(&mut S, &mut Cx<'_>),
) {
    let (pool, out, ledger) = world;
    let mut cx = Cx::new(now, 0, pool, out, ledger, None);
    f(stage, &mut cx);
    for id in world.1.drain(..) {
        world.0.remove(id);
    }
}

/// Nanoseconds per packet when packets arrive every `gap`.
fn measure(mut stage: Box<dyn Stage + Send>, gap: Dur) -> f64 {
    let mut world = (Pool::new(), Vec::new(), Silent);
    let mut now = Time::ZERO;
    let start = cpu_ns();
    for i in 0..PACKETS {
        now += gap;
        while let Some(at) = stage.next_wake().filter(|t| *t <= now) {
            call(&mut *stage, at, &mut world, |s, cx| s.wake(cx));
        }
        let id = world.0.insert(packet(i as u64, 1000, Ecn::Ect0));
        call(&mut *stage, now, &mut world, |s, cx| s.accept(id, cx));
    }
    (cpu_ns() - start) as f64 / PACKETS as f64
}

fn build(queue: &str, link: &str) -> Box<dyn Stage + Send> {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    let link = json!({"type": link, "rate": "1 Gbit/s", "delay": "1 ms"});
    bench::egress([&json!({"type": queue}), &link], "link.a", &cx).expect("it builds")
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    let driver = measure(Box::new(Nothing), Dur::from_nanos(8_000));
    writeln!(out, "the driver alone: {driver:5.1} ns/packet; it is subtracted below")?;
    // 1000 bytes take 8 us at 1 Gbit/s: an idle link, and one that always has a queue.
    let only = std::env::args().nth(1);
    for queue in registry::names(registry::Kind::Queue) {
        if only.as_deref().is_some_and(|q| q != queue) {
            continue;
        }
        for link in registry::names(registry::Kind::Link) {
            let cost = |ns: &u64| format!("{:5.1}", measure(build(queue, link), Dur::from_nanos(*ns)) - driver);
            let row: Vec<String> = [8_100, 7_900].iter().map(cost).collect();
            writeln!(out, "{queue:20} {link:10} {} ns/packet (idle, overloaded)", row.join(" "))?;
        }
    }
    Ok(())
}
