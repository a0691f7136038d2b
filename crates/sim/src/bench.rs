//! The speed benchmark: one dumbbell, many flows, nothing recorded.
//!
//! Three hops each way, a round trip of 60 ms, a drop-tail queue of one bandwidth-delay product, segments of 1000 bytes,
//! SACK. The flows share up to 100 pairs of hosts and start within the first second. `validation/ns2/bench.tcl` builds
//! the same in ns-2.

use crate::endpoint::Endpoint;
use crate::scenario::{Plan, Registries, Repetition, compile, parse};
use crate::world::{Parameters, Ties, World};
use crosswind_base::{BitRate, ConfigError, Dur, Histogram, Metrics, Packet, Stage, Time, units};
use crosswind_transport::tcp::share::Cache;
use serde::Serialize;
use serde_json::{Value, json};

/// When receivers acknowledge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// Every segment at once: what ns-2's sinks do unless told otherwise.
    EverySegment,
    /// Every second segment, or after 200 ms: delayed ACKs.
    EverySecond,
}

/// One benchmark.
#[derive(Clone, Copy, Debug)]
pub struct BenchSpec {
    pub flows: u32,
    pub rate: BitRate,
    /// Simulated time.
    pub duration: Dur,
    pub acks: Acks,
}

/// What one benchmark measured.
#[derive(Clone, Debug, Serialize)]
pub struct BenchRow {
    pub flows: u32,
    pub rate_bps: u64,
    pub queue: String,
    pub acks: Acks,
    pub simulated_s: f64,
    /// Data packets that left the bottleneck, retransmissions included.
    pub packets: u64,
    pub drops_packets: u64,
    pub events: u64,
    /// Processor time of building the world and of running it.
    pub build_cpu_s: f64,
    pub cpu_s: f64,
    pub packets_per_cpu_s: f64,
    pub events_per_s: f64,
    /// Resident memory that the run added, per flow: both ends and their share of packets, queues and histograms. Memory
    /// that an earlier run of the process has left behind is not seen; measure in a fresh process.
    pub bytes_per_flow: f64,
}

const RTT_MS: u64 = 60;
const PACKET_BYTES: u64 = 1040;
const PAIRS_MAX: u32 = 100;

/// One bandwidth-delay product in packets.
fn queue_limit(rate: BitRate) -> u64 {
    (rate.0 * RTT_MS / 8000 / PACKET_BYTES).max(2)
}

/// The scenario of a benchmark, as it would stand in a file.
pub fn scenario(spec: &BenchSpec) -> Value {
    let limit = queue_limit(spec.rate);
    let rate = |times: u64| format!("{} bit/s", spec.rate.0 * times);
    let pairs = spec.flows.clamp(1, PAIRS_MAX);
    json!({
        "name": "bench",
        "duration": units::show_dur(spec.duration),
        "topology": {
            "template": "dumbbell",
            "pairs": pairs,
            "access": { "rate": rate(10), "delay": "3 ms", "queue": { "limit": "1000000 packets" } },
            "bottleneck": {
                "rate": rate(1), "delay": "24 ms", "queue": { "limit": format!("{limit} packets") },
                "reverse": { "queue": { "limit": format!("{} packets", 10 * limit) } }
            }
        },
        "flow": {
            "bulk": {
                "from": "left", "to": "right", "count": spec.flows,
                "start": { "every": format!("{} ns", 1_000_000_000 / u64::from(spec.flows.max(1))) },
                "workload": { "type": "bulk" },
                "tcp": {
                    "preset": "rfc", "mss": "1000 B",
                    "delayed_ack": if spec.acks == Acks::EverySecond { "200 ms" } else { "0 s" },
                    "window_limit_segments": 4 * limit + 100
                }
            }
        }
    })
}

/// Runs one benchmark on the calling thread.
pub fn run(spec: &BenchSpec) -> Result<BenchRow, ConfigError> {
    let plan = compile(&parse(&scenario(spec).to_string(), &Registries)?)?;
    let parameters = Parameters::of(&plan)?;
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let resident_before = resident_bytes();
    let start = cpu_time();
    let mut world = World::build(&plan, &parameters, rep, Ties::Ordered, caches)?;
    let built = cpu_time();
    world.run_until(Time::ZERO + plan.duration, None);
    world.catch_up();
    let cpu_s = (cpu_time() - built).max(1e-9);
    let (packets, drops_packets) = at_bottleneck(&world, &plan);
    Ok(BenchRow {
        flows: spec.flows,
        rate_bps: spec.rate.0,
        queue: format!("droptail {} packets", queue_limit(spec.rate)),
        acks: spec.acks,
        simulated_s: spec.duration.as_secs_f64(),
        packets,
        drops_packets,
        events: world.events,
        build_cpu_s: built - start,
        cpu_s,
        packets_per_cpu_s: packets as f64 / cpu_s,
        events_per_s: world.events as f64 / cpu_s,
        bytes_per_flow: added_bytes(resident_before, &world) / f64::from(spec.flows.max(1)),
    })
}

/// Runs a list of benchmarks, each long enough to be measured and short enough to wait for.
pub fn run_all(specs: &[BenchSpec]) -> Result<Vec<BenchRow>, ConfigError> {
    specs.iter().map(run).collect()
}

/// The usual list: 100 Mbit/s and 1 Gbit/s at 1, 10, 100 and 1000 flows.
pub fn usual(acks: Acks) -> Vec<BenchSpec> {
    let mut specs = Vec::new();
    for (mbit, seconds) in [(100, 100), (1000, 20)] {
        for flows in [1, 10, 100, 1000] {
            let rate = BitRate(mbit * 1_000_000);
            specs.push(BenchSpec { flows, rate, duration: Dur::from_secs(seconds), acks });
        }
    }
    specs
}

/// Packets sent and dropped by the forward direction of the bottleneck.
fn at_bottleneck(world: &World<'_>, plan: &Plan) -> (u64, u64) {
    let found = plan.egresses.iter().position(|e| e.name == "bottleneck");
    let i = found.expect("the dumbbell has a bottleneck, its forward direction first");
    let mut sent = Sent(0);
    world.stages[i].report(world.now, &mut sent);
    (sent.0, world.losses.stages[i].by_reason.iter().sum())
}

struct Sent(u64);

impl Metrics for Sent {
    fn value(&mut self, name: &'static str, v: f64) {
        if name == "sent_packets" {
            self.0 = v as u64;
        }
    }
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
}

/// Processor time of this thread, in seconds.
fn cpu_time() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Growth of the resident memory, and at least what the ends and the packets take by themselves.
fn added_bytes(before: u64, world: &World<'_>) -> f64 {
    let ends = world.ends.len() * std::mem::size_of::<Endpoint>();
    let packets = world.pool.peak() * std::mem::size_of::<Packet>();
    resident_bytes().saturating_sub(before).max((ends + packets) as u64) as f64
}

/// Resident memory of this process; zero where the system does not tell.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine that it runs on")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kib = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dumbbell_is_the_published_one_and_its_bottleneck_is_full() {
        let spec =
            BenchSpec { flows: 10, rate: BitRate(100_000_000), duration: Dur::from_secs(10), acks: Acks::EverySegment };
        let row = run(&spec).unwrap();
        assert_eq!(row.queue, "droptail 721 packets");
        // 100 Mbit/s carry 12019 packets of 1040 bytes a second; the first second fills the path.
        assert!((110_000..=120_200).contains(&row.packets), "{}", row.packets);
        assert!(row.events > row.packets && row.cpu_s > 0.0 && row.bytes_per_flow > 500.0);
    }
}
