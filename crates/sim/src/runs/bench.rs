//! The speed benchmark: one dumbbell, many flows, nothing recorded.
//!
//! Three hops each way, a round trip of 60 ms, a queue of one bandwidth-delay product (drop-tail or RED), segments of
//! 1000 bytes, SACK. The flows share up to 100 pairs of hosts and start within the first second.
//! `validation/ns2/bench.tcl` and `validation/ns3/bench.cc` build the same in ns-2 and ns-3. More routers in the row,
//! another round trip, short or idle flows are there to see what the cost of a packet depends on.

use crate::flows::{Endpoint, Parameters};
use crate::scenario::{Plan, Registries, Repetition, compile, parse};
use crate::world::{LookAhead, Manner, World};
use crosswind_base::{BitRate, ConfigError, Dur, Histogram, Metrics, Packet, Size, Stage, Time, units};
use crosswind_transport::tcp::share::Cache;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// When receivers acknowledge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// Every segment at once: what ns-2's sinks do unless told otherwise.
    #[default]
    EverySegment,
    /// Every second segment, or after 200 ms: delayed ACKs.
    EverySecond,
}

/// The queue at the bottleneck.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchQueue {
    #[default]
    Droptail,
    /// RED of ns-2, over packets: thresholds at 1/8 and 3/8 of the limit, `max_p` 0.1, gentle.
    Red,
    /// The same with a `max_p` that adapts itself, from 0.02 on.
    AdaptiveRed,
    /// CoDel as published.
    Codel,
    /// COBALT of Linux.
    Cobalt,
    /// FQ-CoDel of Linux.
    FqCodel,
    /// PIE as published.
    Pie,
    /// PI2 as published.
    Pi2,
    /// DualPI2 of Linux.
    Dualpi2,
    /// FQ-PIE of Linux.
    FqPie,
    /// Fair queue of Linux, nobody paced.
    Fq,
    /// Deficit round robin with one class of drop-tail.
    Drr,
    /// CAKE of Linux, unlimited, with its defaults.
    Cake,
    /// SFQ of Linux.
    Sfq,
    /// BLUE as published.
    Blue,
    /// Stochastic fair BLUE of Linux.
    Sfb,
    /// HTB of 2.4 at 95 % of the rate, with two classes; the flows are in one and borrow what the other leaves.
    Htb,
    /// Drop-tail in front of a link that a trace drives, with the same rate.
    Trace,
}

/// Who sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchSender {
    /// Reno with SACK, as the RFCs recommend.
    #[default]
    Reno,
    /// The same, paced as Linux paces with the queue `fq`.
    RenoPaced,
    #[serde(rename = "linux-6")]
    Linux6,
    #[serde(rename = "linux-6-cubic")]
    Linux6Cubic,
    #[serde(rename = "linux-6-bbr")]
    Linux6Bbr,
    Bbr3,
    Prague,
    /// As many of CUBIC, of BBRv3 and of Prague.
    Mixed,
}

impl BenchSender {
    /// The presets of its groups of flows.
    fn presets(self) -> &'static [&'static str] {
        match self {
            BenchSender::Reno | BenchSender::RenoPaced => &["rfc"],
            BenchSender::Linux6 => &["linux-6"],
            BenchSender::Linux6Cubic => &["linux-6-cubic"],
            BenchSender::Linux6Bbr => &["linux-6-bbr"],
            BenchSender::Bbr3 => &["bbr3"],
            BenchSender::Prague => &["prague"],
            BenchSender::Mixed => &["linux-6-cubic", "bbr3", "prague"],
        }
    }
}

/// What the flows do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Endless transfers.
    #[default]
    Endless,
    /// Transfers of one size that start at uniform times over nine tenths of the run: Poisson arrivals, given their number.
    Transfers(Size),
    /// One segment each, then silence on an open connection.
    Idle,
}

/// One benchmark.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BenchSpec {
    /// Of each group of the sender.
    pub flows: u32,
    pub rate: BitRate,
    /// Simulated time.
    pub duration: Dur,
    pub queue: BenchQueue,
    pub sender: BenchSender,
    pub acks: Acks,
    pub traffic: Traffic,
    /// Links between routers, all of one rate; the first is the bottleneck.
    pub routers_apart: u32,
    /// Round trip without queueing.
    pub rtt: Dur,
    /// How far lines may decide things before their time.
    pub look_ahead: LookAhead,
}

impl Default for BenchSpec {
    fn default() -> BenchSpec {
        BenchSpec {
            flows: 10,
            rate: BitRate(100_000_000),
            duration: Dur::from_secs(80),
            queue: BenchQueue::Droptail,
            sender: BenchSender::Reno,
            acks: Acks::EverySegment,
            traffic: Traffic::Endless,
            routers_apart: 1,
            rtt: Dur::from_millis(60),
            look_ahead: LookAhead::Allowed,
        }
    }
}

/// What one benchmark measured.
#[derive(Clone, Debug, Serialize)]
pub struct BenchRow {
    pub flows: u32,
    pub rate_bps: u64,
    pub queue: String,
    pub acks: Acks,
    pub simulated_s: f64,
    /// Links that a data packet crosses.
    pub hops: u32,
    /// Most segments of one flow that the path and the queue hold.
    pub window_packets: u64,
    /// Data packets that left the bottleneck, retransmissions included.
    pub packets: u64,
    pub drops_packets: u64,
    pub events: u64,
    /// Processor time of building the world and of running it.
    pub build_cpu_s: f64,
    pub cpu_s: f64,
    pub packets_per_cpu_s: f64,
    pub events_per_s: f64,
    /// Resident memory that the run added. Memory that an earlier run of the process has left behind is not seen: measure
    /// in a fresh process.
    pub added_bytes: f64,
    /// The same per flow: both ends and their share of packets, queues and histograms.
    pub bytes_per_flow: f64,
}

const PACKET_BYTES: u64 = 1040;
const PAIRS_MAX: u32 = 100;

impl BenchSpec {
    /// One bandwidth-delay product in packets.
    fn limit_packets(&self) -> u64 {
        let bits = u128::from(self.rate.0) * u128::from(self.rtt.0) / 1_000_000_000;
        ((bits / 8) as u64 / PACKET_BYTES).max(2)
    }

    fn queue(&self) -> Value {
        let limit = self.limit_packets();
        let packets = |n: u64| format!("{} packets", n.max(1));
        match self.queue {
            BenchQueue::Droptail => json!({ "limit": packets(limit) }),
            BenchQueue::Red => self.red(0.1, false),
            BenchQueue::AdaptiveRed => self.red(0.02, true),
            BenchQueue::Codel => json!({ "type": "codel", "limit": packets(limit) }),
            BenchQueue::Cobalt => json!({ "type": "cobalt", "limit": packets(limit) }),
            BenchQueue::FqCodel => json!({ "type": "fq-codel", "limit": packets(limit) }),
            BenchQueue::FqPie => json!({ "type": "fq-pie", "limit": packets(limit) }),
            BenchQueue::Fq => json!({ "type": "fq", "limit": packets(limit), "flow_limit": limit }),
            BenchQueue::Drr => {
                json!({ "type": "drr", "class": { "all": { "queue": { "limit": packets(limit) } } } })
            }
            BenchQueue::Pie => json!({ "type": "pie", "limit": packets(limit) }),
            BenchQueue::Pi2 => json!({ "type": "pi2", "limit": packets(limit) }),
            BenchQueue::Dualpi2 => json!({ "type": "dualpi2", "profile": "linux", "limit": packets(limit) }),
            BenchQueue::Sfq => json!({ "type": "sfq", "limit": packets(limit) }),
            BenchQueue::Blue => json!({ "type": "blue", "limit": packets(limit) }),
            BenchQueue::Sfb => json!({ "type": "sfb", "limit": packets(limit) }),
            BenchQueue::Cake => json!({ "type": "cake", "memory_limit": format!("{} B", limit * 1500) }),
            BenchQueue::Htb => self.htb(),
            BenchQueue::Trace => json!({ "limit": packets(limit) }),
        }
    }

    /// The weight averages over one round trip's worth of packets at any rate.
    fn red(&self, max_p: f64, adaptive: bool) -> Value {
        let limit = self.limit_packets();
        let packets = |n: u64| format!("{} packets", n.max(1));
        json!({
            "type": "red-ns2", "limit": packets(limit), "measure": "packets", "drop_by": "packets",
            "mean_packet": format!("{PACKET_BYTES} B"), "min_th": packets(limit / 8), "max_th": packets(3 * limit / 8),
            "max_p": max_p, "adaptive": adaptive, "gentle": true, "w_q": 1.0 / limit as f64
        })
    }

    fn htb(&self) -> Value {
        let rate = |percent: u64| format!("{} bit/s", self.rate.0 / 100 * percent);
        let queue = json!({ "type": "droptail", "limit": format!("{} packets", self.limit_packets()) });
        let class = json!({ "rate": rate(45), "ceil": rate(95), "parent": "link", "queue": queue });
        json!({
            "type": "htb", "default": "one", "filter": [{ "class": "two", "proto": "udp" }],
            "class": { "link": { "rate": rate(95), "ceil": rate(95) }, "one": class, "two": class }
        })
    }

    /// Name and limit.
    fn queue_text(&self) -> String {
        let name = serde_json::to_value(self.queue).unwrap_or_default();
        format!("{} {} packets", name.as_str().unwrap_or_default(), self.limit_packets())
    }

    fn tcp(&self, preset: &str) -> Value {
        let window_segments = 4 * self.limit_packets() + 100;
        let buffer = (window_segments * 2000).max(64 << 20);
        let mut tcp = json!({
            "preset": preset, "mss": "1000 B",
            "delayed_ack": if self.acks == Acks::EverySecond { "200 ms" } else { "0 s" },
            "receive_buffer": format!("{buffer} B"),
            "window_limit_segments": window_segments
        });
        if self.sender == BenchSender::RenoPaced {
            tcp["pacing"] = "linux".into();
        }
        tcp
    }

    fn flow(&self, preset: &str) -> Value {
        let every = || json!({ "every": format!("{} ns", 1_000_000_000 / u64::from(self.flows.max(1))) });
        let (start, workload) = match self.traffic {
            Traffic::Endless => (every(), json!({ "type": "bulk" })),
            Traffic::Transfers(size) => {
                let until = units::show_dur(Dur(self.duration.0 / 10 * 9));
                (json!({ "uniform": ["0 s", until] }), json!({ "type": "bulk", "size": format!("{} B", size.0) }))
            }
            Traffic::Idle => (every(), json!({ "type": "bulk", "size": "1000 B", "close": "never" })),
        };
        let [from, to] = if self.routers_apart > 1 { ["source", "sink"] } else { ["left", "right"] };
        json!({ "from": from, "to": to, "count": self.flows, "start": start, "workload": workload, "tcp": self.tcp(preset) })
    }

    fn groups(&self) -> Map<String, Value> {
        let presets = self.sender.presets();
        let name = |preset: &str| if presets.len() == 1 { "bulk".to_owned() } else { preset.to_owned() };
        presets.iter().map(|p| (name(p), self.flow(p))).collect()
    }

    /// The scenario of a benchmark, as it would stand in a file.
    pub fn scenario(&self) -> Value {
        let rate = |times: u64| format!("{} bit/s", self.rate.0.saturating_mul(times));
        let apart = self.routers_apart.max(1);
        let delay = |part: u64| units::show_dur(Dur(self.rtt.0 / part));
        let mut between = json!({
            "rate": rate(1), "delay": units::show_dur(Dur(self.rtt.0 * 2 / 5 / u64::from(apart))), "queue": self.queue(),
            "reverse": { "queue": { "type": "droptail", "limit": format!("{} packets", 10 * self.limit_packets()) } }
        });
        if self.queue == BenchQueue::Trace {
            // An opportunity every millisecond, with as many bytes as the rate brings in it.
            between.as_object_mut().expect("a table").shift_remove("rate");
            between["type"] = json!("trace");
            between["opportunities_ms"] = json!([1]);
            between["opportunity"] = json!(format!("{} B", self.rate.0 / 8000));
            between["reverse"] = json!({ "queue": { "limit": format!("{} packets", 10 * self.limit_packets()) } });
        }
        let mut topology = json!({
            "pairs": self.flows.clamp(1, PAIRS_MAX),
            "access": { "rate": rate(10), "delay": delay(20), "queue": { "limit": "1000000 packets" } }
        });
        if apart > 1 {
            topology["template"] = json!("chain");
            topology["hops"] = json!(apart);
            topology["hop"] = between;
        } else {
            topology["template"] = json!("dumbbell");
            topology["bottleneck"] = between;
        }
        json!({
            "name": "bench", "duration": units::show_dur(self.duration), "topology": topology,
            "flow": self.groups()
        })
    }
}

/// Runs one benchmark on the calling thread.
pub fn run(spec: &BenchSpec) -> Result<BenchRow, ConfigError> {
    let plan = compile(&parse(&spec.scenario().to_string(), &Registries)?)?;
    let parameters = Parameters::of(&plan)?;
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let manner = Manner { look_ahead: spec.look_ahead, ..Manner::default() };
    let resident_before = resident_bytes();
    let start = cpu_time();
    let mut world = World::build(&plan, &parameters, rep, manner, caches)?;
    let built = cpu_time();
    world.run_until(Time::ZERO + plan.duration, None);
    world.catch_up();
    let cpu_s = (cpu_time() - built).max(1e-9);
    let (packets, drops_packets) = at_bottleneck(&world, &plan);
    let added_bytes = added_bytes(resident_before, &world);
    Ok(BenchRow {
        flows: spec.flows,
        rate_bps: spec.rate.0,
        queue: spec.queue_text(),
        acks: spec.acks,
        simulated_s: spec.duration.as_secs_f64(),
        hops: spec.routers_apart.max(1) + 2,
        window_packets: 2 * spec.limit_packets() / u64::from(spec.flows.max(1)),
        packets,
        drops_packets,
        events: world.engine.tick.events,
        build_cpu_s: built - start,
        cpu_s,
        packets_per_cpu_s: packets as f64 / cpu_s,
        events_per_s: world.engine.tick.events as f64 / cpu_s,
        added_bytes,
        bytes_per_flow: added_bytes / f64::from(spec.flows.max(1)),
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
            specs.push(BenchSpec { flows, rate, duration: Dur::from_secs(seconds), acks, ..BenchSpec::default() });
        }
    }
    specs
}

/// Packets sent and dropped by the forward direction of the bottleneck.
fn at_bottleneck(world: &World<'_>, plan: &Plan) -> (u64, u64) {
    let found = plan.egresses.iter().position(|e| e.name == "bottleneck" || e.name == "hop-1");
    let i = found.expect("every benchmark has a bottleneck, its forward direction first");
    let mut sent = Sent(0);
    world.engine.stages[i].report(world.engine.now, &mut sent);
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
    let packets = world.engine.pool.peak() * std::mem::size_of::<Packet>();
    resident_bytes().saturating_sub(before).max((ends + packets) as u64) as f64
}

/// Resident memory of this process; zero where the system does not tell.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine that it runs on")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    let kib = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_flows() -> BenchSpec {
        BenchSpec { duration: Dur::from_secs(10), ..BenchSpec::default() }
    }

    #[test]
    fn the_dumbbell_is_the_published_one_and_its_bottleneck_is_full() {
        let row = run(&ten_flows()).unwrap();
        assert_eq!(row.queue, "droptail 721 packets");
        // 100 Mbit/s carry 12019 packets of 1040 bytes a second; the first second fills the path.
        assert!((110_000..=120_200).contains(&row.packets), "{}", row.packets);
        assert!(row.events > row.packets && row.cpu_s > 0.0 && row.bytes_per_flow > 500.0);
        assert_eq!((row.hops, row.window_packets), (3, 144));
    }

    #[test]
    fn red_drops_before_the_queue_is_full_and_keeps_the_bottleneck_busy() {
        let row = run(&BenchSpec { queue: BenchQueue::Red, ..ten_flows() }).unwrap();
        assert!((90_000..=120_200).contains(&row.packets) && row.drops_packets > 50, "{row:?}");
    }

    #[test]
    fn a_red_that_adapts_drops_more_rarely_than_one_with_a_larger_probability() {
        let drops = |queue| run(&BenchSpec { queue, ..ten_flows() }).unwrap().drops_packets;
        let (adaptive, fixed) = (drops(BenchQueue::AdaptiveRed), drops(BenchQueue::Red));
        assert!(0 < adaptive && adaptive != fixed, "{adaptive} and {fixed}");
    }

    #[test]
    fn more_routers_carry_the_same_traffic_and_lines_that_feed_one_another_need_no_events() {
        let of = |routers_apart| run(&BenchSpec { routers_apart, ..ten_flows() }).unwrap();
        let (near, far) = (of(1), of(8));
        assert!((100_000..=120_200).contains(&far.packets) && far.hops == 10, "{far:?}");
        assert!(far.events < 2 * near.events, "{} and {}", far.events, near.events);
    }

    #[test]
    fn transfers_complete_and_idle_flows_send_one_segment_each() {
        let spec = BenchSpec { flows: 200, traffic: Traffic::Transfers(Size(20_000)), ..ten_flows() };
        let row = run(&spec).unwrap();
        // SYN, ACK, 20 segments and FIN each; the run ends before the last of them has passed.
        assert!((200 * 23 - 5..=200 * 23).contains(&row.packets) && row.drops_packets == 0, "{row:?}");
        let idle = run(&BenchSpec { traffic: Traffic::Idle, ..spec }).unwrap();
        assert_eq!(idle.packets, 200 * 3);
    }

    #[test]
    fn a_benchmark_is_told_in_json() {
        let spec: BenchSpec = serde_json::from_str(
            r#"{"flows": 3, "rate": "1 Gbit/s", "queue": "red", "traffic": {"transfers": "5 kB"}}"#,
        )
        .unwrap();
        assert_eq!((spec.flows, spec.rate, spec.traffic), (3, BitRate(1_000_000_000), Traffic::Transfers(Size(5000))));
        assert!(serde_json::from_str::<BenchSpec>(r#"{"flow": 3}"#).is_err());
    }
}
