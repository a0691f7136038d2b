//! Any application over any transport that fits: the same transfer over TCP and UDT, pages and messages over both, and a
//! transport that only this test knows.

use crate::common::*;
use crosswind_base::packet::{Ext, Proto};
use crosswind_base::{ConfigError, Packet, Time};
use crosswind_sim::flows::Parameters;
use crosswind_sim::flows::{App, Own};
use crosswind_sim::flows::{Arrivals, EndIo, FlowEnd, Heard, Milestone, Setup};
use crosswind_sim::flows::{Brought, Ends, Transport};
use crosswind_sim::scenario::{
    BroughtPlan, Catalogue, GroupPlan, Kind, OfFlow, Registries, Repetition, Row, compile, parse,
};
use crosswind_sim::world::{Manner, Outcome, World};
use crosswind_transport::tcp::Io;
use crosswind_transport::tcp::share::Cache;
use serde_json::{Value, json};
use std::sync::Arc;

/// 10 Mbit/s and 10 ms each way.
fn over(transport: Value, workload: Value) -> Value {
    json!({
        "name": "transports", "duration": "60 s",
        "link": { "last-hop": { "from": "server", "to": "mobile", "rate": "10 Mbit/s", "delay": "10 ms" } },
        "flow": { "one": { "from": "server", "to": "mobile", "transport": transport, "workload": workload } }
    })
}

fn cell(tables: &crosswind_record::Tables, column: &str) -> f64 {
    number(table(tables, "flow"), column, 0)
}

fn words<'a>(tables: &'a crosswind_record::Tables, column: &str) -> &'a str {
    text(table(tables, "flow"), column, 0)
}

#[test]
fn a_transfer_arrives_over_every_reliable_transport() {
    let bulk = json!({ "type": "bulk", "size": "1 MB" });
    for transport in ["tcp", "udt"] {
        let tables = run(&over(json!(transport), bulk.clone()));
        assert_eq!((words(&tables, "protocol"), words(&tables, "outcome")), (transport, "complete"));
        assert_eq!(cell(&tables, "size_bytes"), 1e6);
        // 1 MB takes 0.8 s on the wire, headers apart.
        assert!((0.8e9..3e9).contains(&cell(&tables, "elapsed_ns")), "{transport}: {}", cell(&tables, "elapsed_ns"));
    }
}

#[test]
fn a_program_that_writes_single_bytes_is_as_quick_as_one_that_writes_all_at_once() {
    // Without an end it has written a terabyte before the first packet leaves.
    let of = |write: Value| {
        let mut s = over(json!("udt"), json!({ "type": "bulk", "write": write }));
        s["duration"] = json!("2 s");
        run(&s)
    };
    let [one, whole] = [json!("1 B"), Value::Null].map(of);
    for column in ["received_bytes", "sent_packets", "goodput_bps"] {
        assert_eq!(cell(&one, column), cell(&whole, column), "{column}");
    }
    assert!(cell(&one, "received_bytes") > 1e5);
}

#[test]
fn the_one_key_says_what_the_old_keys_say() {
    let bulk = json!({ "type": "bulk", "size": "1 MB" });
    for (name, keys) in [("tcp", json!({ "mss": "500 B" })), ("udt", json!({ "packet_size": "1000 B" }))] {
        let mut table = keys.clone();
        table["type"] = json!(name);
        let new = run(&over(table, bulk.clone()));
        let mut old = over(Value::Null, bulk.clone());
        old["flow"]["one"].as_object_mut().expect("a table").remove("transport");
        old["flow"]["one"][name] = keys;
        let old = run(&old);
        assert_eq!(cell(&new, "elapsed_ns"), cell(&old, "elapsed_ns"), "{name}");
        assert_eq!(cell(&new, "sent_packets"), cell(&old, "sent_packets"), "{name}");
    }
}

#[test]
fn a_page_is_loaded_over_udt_object_by_object() {
    let page = json!({ "type": "page", "objects": 3, "parallel": 2, "write": null });
    let tables = run(&over(json!("udt"), page));
    let objects = table(&tables, "object");
    let sizes: Vec<f64> = (0..objects.rows()).map(|i| number(objects, "size_bytes", i)).collect();
    assert_eq!(sizes, [11_792.0, 8576.0, 8576.0, 8576.0]);
    assert!((0..4).all(|i| text(objects, "outcome", i) == "complete"));
    // Without a handshake: the request goes one way, the answer the other, in slow start.
    assert!((20e6..300e6).contains(&number(objects, "response_ns", 0)));
}

#[test]
fn web_transfers_over_udt_lose_nothing_on_a_line_that_does() {
    let mut s = over(json!("udt"), json!({ "type": "web", "size": "30 kB", "every": "200 ms", "transfers": 20 }));
    s["link"]["last-hop"]["loss"] = json!({ "type": "uniform", "probability": 0.05 });
    let tables = run(&s);
    assert_eq!((cell(&tables, "size_bytes"), words(&tables, "outcome")), (600e3, "complete"));
    assert!(cell(&tables, "lost_packets") > 5.0);
}

#[test]
fn messages_over_tcp_arrive_all_although_the_line_loses_some() {
    let on_off =
        json!({ "type": "on-off", "payload": "500 B", "interval": "20 ms", "on": "1 s", "off": "1 s", "bursts": 10 });
    for transport in ["tcp", "udp"] {
        let mut s = over(json!(transport), on_off.clone());
        s["link"]["last-hop"]["loss"] = json!({ "type": "uniform", "probability": 0.05 });
        let tables = run(&s);
        // Ten times a second of 50 messages.
        let (all, size) = (10.0 * 50.0 * 500.0, cell(&tables, "size_bytes"));
        assert_eq!(size == all, transport == "tcp", "{transport}: {size}");
        assert!(size > 0.85 * all && cell(&tables, "lost_packets") > 5.0);
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let page = json!({ "type": "page" });
    let refused = |transport: Value, workload: Value| refusal(&over(transport, workload));
    assert_eq!(refused(json!("upd"), page.clone()).path, "flow.one.transport.type");
    assert!(refused(json!("upd"), page.clone()).to_string().contains("udp"));
    assert_eq!(refused(json!("udp"), page.clone()).path, "flow.one.transport");
    assert_eq!(refused(json!("tfrc"), page.clone()).path, "flow.one.workload.type");
    assert_eq!(refused(json!({ "type": "udt", "packetsize": 3 }), page).path, "flow.one.udt.packetsize");
    assert_eq!(refused(json!("tcp"), json!({ "type": "ping" })).path, "flow.one.transport");
}

/// Sends all it is given in one packet and is done.
#[derive(Default)]
struct Shot {
    times: [Option<Time>; 2],
    delivered: u64,
}

impl Transport for Shot {
    fn name(&self) -> &'static str {
        "shot"
    }
    fn open(&mut self, _: &mut App, io: &mut EndIo<'_, '_>) {
        self.times[0] = Some(io.now());
        io.send(Packet { sent_at: io.now(), len: 1028, payload: 1000, proto: Proto::UDP, ..Packet::default() }, None);
    }
    fn on_packet(&mut self, p: &Packet, _: Option<&Ext>, _: &mut App, _: &mut EndIo<'_, '_>) -> Option<Milestone> {
        self.delivered += u64::from(p.payload);
        None
    }
    fn on_wake(&mut self, _: &mut App, io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        self.times[1] = Some(io.now());
        None
    }
    fn next_wake(&self) -> Option<Time> {
        self.times[0].filter(|_| self.times[1].is_none())
    }
    fn is_over(&self) -> bool {
        self.times[1].is_some()
    }
    fn opened_at(&self) -> Option<Time> {
        self.times[0]
    }
    fn closed_at(&self) -> Option<Time> {
        self.times[1]
    }
    fn count(&mut self, p: &Packet, _: Option<&Ext>, _: Time, a: &mut Arrivals) {
        a.packets += 1;
        a.bytes += u64::from(p.len);
    }
    fn delivered(&self) -> Option<u64> {
        Some(self.delivered)
    }
    fn retune(&mut self, _: &OfFlow, _: &Own<'_>, _: &mut App, _: &mut EndIo<'_, '_>) {}
}

impl Ends for Shot {
    fn end(&self, app: App, s: &Setup, _: &GroupPlan, _: &Own<'_>) -> FlowEnd {
        FlowEnd::other(Shot::default(), app, s, Heard::default())
    }
}

/// What is built in, and `shot`.
struct WithShot;

impl Catalogue for WithShot {
    fn rows(&self, kind: Kind) -> Vec<Row> {
        Registries.rows(kind)
    }
    fn brought(&self) -> Vec<&str> {
        vec!["shot"]
    }
    fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
        Registries.normalise(kind, value, path)
    }
}

#[test]
fn a_program_brings_a_transport_by_name() {
    let s = over(json!({ "type": "shot", "calibre": 3 }), json!({ "type": "bulk", "size": "1000 B" }));
    assert!(parse(&s.to_string(), &Registries).is_err(), "nobody else knows it");
    let scenario = parse(&s.to_string(), &WithShot).expect("a scenario");
    let plan = compile(&scenario).expect("a plan");
    assert!(Parameters::of(&plan).is_err(), "the run must bring it");
    let reads = |p: &BroughtPlan| -> Result<Arc<dyn Ends>, ConfigError> {
        let keys: Value = p.read()?;
        assert_eq!(keys, json!({ "calibre": 3 }));
        Ok(Arc::new(Shot::default()))
    };
    let brought = Brought::from([("shot".to_string(), Arc::new(reads) as _)]);
    let params = Parameters::with(&plan, &Default::default(), &brought).expect("parameters");
    let caches = vec![Cache::new(None); plan.nodes.len()];
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let mut world = World::build(&plan, &params, rep, Manner::default(), caches).expect("a world");
    assert_eq!(world.run_until(Time::from_secs_f64(60.0), None), Some(Outcome::AllFlowsClosed));
    // 1028 bytes at 10 Mbit/s, and 10 ms.
    assert_eq!((world.ends[1].delivered(), world.engine.now), (1000, Time(822_400 + 10_000_000)));
}
