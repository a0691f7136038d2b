//! The suite that every row of the registry passes: what an element promises whatever it does inside.

use crate::bench::{Bench, Delivery, Entry};
use crosswind_base::{Colour, Dur, Ecn, Limit, Streams, Time, units};
use crosswind_net::diffserv::{Meter, Metered};
use crosswind_net::link::delayer::KEYS;
use crosswind_net::registry::{self, BoxStage, BuildCx, EgressMaker, Kind, Row};
use serde_json::{Map, Value, json};

/// One way to set an element up.
#[derive(Clone, Debug)]
pub struct Setup {
    pub queue: Value,
    pub link: Value,
    pub loss: Value,
    pub delayers: Value,
}

impl Setup {
    pub fn build(&self, seed: u64) -> BoxStage {
        self.build_with(&BuildCx::new(&Streams::new(seed), "link/test/forward"))
    }

    /// The same for a run that changes its parameters.
    pub fn build_changing(&self, seed: u64) -> BoxStage {
        self.build_with(&BuildCx::new(&Streams::new(seed), "link/test/forward").that_changes())
    }

    fn build_with(&self, cx: &BuildCx<'_>) -> BoxStage {
        let parts =
            registry::Parts { queue: &self.queue, link: &self.link, loss: Some(&self.loss), delayers: &self.delayers };
        EgressMaker::new(&parts, "link.test")
            .and_then(|m| m.make(cx))
            .unwrap_or_else(|e| panic!("{self:?} does not build: {e}"))
    }
}

/// The element of a row with its defaults, and in variants that make rare things happen soon.
pub fn setups(row: &Row) -> Vec<Setup> {
    let base = Setup {
        queue: json!({"type": "droptail", "limit": "9000 B"}),
        link: json!({"type": "wire", "rate": "2 Mbit/s", "delay": "7 ms"}),
        loss: json!({"type": "none"}),
        delayers: Value::Null,
    };
    let own = |extra: Value| {
        let mut map = Map::new();
        map.insert("type".into(), row.name.into());
        let schema =
            serde_json::to_value(row.schema().expect("every element has parameters")).expect("a schema is JSON");
        for (key, v) in extra.as_object().into_iter().flatten() {
            // A variant sets only what the element has.
            if schema["properties"].get(key).is_some() {
                map.insert(key.clone(), v.clone());
            }
        }
        Value::Object(map)
    };
    let variants = [
        json!({}),
        json!({"limit": "8 packets", "w_q": 0.25, "ecn": "mark", "packets": [1, 2, 40], "probability": 0.2}),
        json!({"limit": "6000 B", "admission": "fits", "w_q": 0.25, "ecn": "mark", "at": "entry", "counts": "all",
               "probability": 1.0, "packets": [5], "send_buffer": "1500 B", "mtu": "1500 B", "in_transit": 1}),
        json!({"limit": "6000 B", "admission": "overshoot", "w_q": 0.25, "ecn": "drop", "rate": "100 kbit/s",
               "delay": "0 ms"}),
        json!({"preset": "arq-low", "mtu": "1500 B", "channel": {"good": {"length": "300 ms"}, "offset": "0 s"}}),
        json!({"error": 0.2, "order": "as-arrived", "fragment": "333 B", "overhead": "4 B", "rate": "1 Mbit/s",
               "outages": {"every": "1 s", "length": "100 ms"}, "arq": {"retransmissions": 1, "delay": "20 ms"},
               "random_delay": {"probability": 0.3, "length": {"exponential": "20 ms"}}, "mtu": "1500 B",
               "allocation": {"delay": "30 ms", "idle_timeout": "50 ms"}}),
        json!({"first": "100 ms", "every": {"uniform": ["50 ms", "300 ms"]}, "length": "80 ms", "holds": "queue",
               "loss": 0.3, "discard": 2,
               "phase": [{"length": "200 ms", "probability": 0.4}], "after": "repeat"}),
    ];
    let with = |v: Value| match row.kind {
        Kind::Queue => Setup { queue: own(v), ..base.clone() },
        Kind::Link => Setup { link: own(v), ..base.clone() },
        Kind::Loss => Setup { loss: own(v), ..base.clone() },
        Kind::Meter => base.clone(),
        Kind::Delayer => {
            let key = KEYS.iter().find(|(_, name)| *name == row.name).expect("every row has its key").0;
            let mut table = own(v);
            let keys = table.as_object_mut().expect("a table");
            keys.remove("type");
            // Times here, a place in a loss model.
            keys.retain(|k, v| k != "at" || v.is_array());
            Setup { delayers: json!({key: table}), ..base.clone() }
        }
    };
    let classful = classful(row.name).into_iter().map(|queue| Setup { queue, ..base.clone() });
    variants.map(with).into_iter().chain(classful).collect()
}

/// Disciplines inside disciplines: short packets against long ones, shaped and not, marked and not.
fn classful(name: &str) -> Vec<Value> {
    let filter = json!([{"class": "short", "size_max": "600 B"}]);
    let red = json!({"type": "red-linux", "w_q": 0.25, "rate": "500 kbit/s"});
    let shaper = json!({"type": "tbf", "rate": "300 kbit/s", "burst": "700 B", "queue": {"limit": "9 packets"}});
    match name {
        "tbf" => {
            let filter =
                json!({"type": name, "rate": "1 Mbit/s", "burst": "3000 B", "peak_rate": "1.5 Mbit/s", "queue": red});
            let mut arrival = filter.clone();
            arrival["metered"] = "arrival".into();
            vec![filter, arrival]
        }
        "prio" => vec![json!({"type": name, "filter": filter, "default": "long",
            "class": {"short": {"prio": 1, "queue": shaper}, "long": {"prio": 2, "queue": red}}})],
        "htb" => {
            let class = json!({
                "top": {"rate": "1 Mbit/s"},
                "short": {"parent": "top", "rate": "200 kbit/s", "ceil": "1 Mbit/s", "prio": 1, "queue": red},
                "long": {"parent": "top", "rate": "800 kbit/s", "ceil": "900 kbit/s", "queue": {"limit": "7 packets"}},
            });
            let mut inner = class.clone();
            inner["short"]["queue"] = shaper;
            vec![
                json!({"type": name, "filter": filter, "default": "long", "class": class}),
                json!({"type": name, "filter": filter, "default": "long", "class": inner, "hysteresis": "on"}),
            ]
        }
        _ => modern(name),
    }
}

/// Queues that go by delay, at a pace that makes them act in a short test.
fn modern(name: &str) -> Vec<Value> {
    match name {
        "codel" => vec![json!({"type": name, "profile": "linux", "ecn": "mark", "target": "2 ms", "interval": "20 ms",
            "ce_threshold": "10 ms"})],
        "cobalt" => {
            let brisk =
                json!({"type": name, "ecn": "mark", "target": "2 ms", "interval": "20 ms", "limit": "6 packets"});
            let mut ns3 = brisk.clone();
            (ns3["profile"], ns3["blue_threshold"], ns3["ecn"]) = ("ns3".into(), "10 ms".into(), "drop".into());
            vec![brisk, ns3]
        }
        "cake" => {
            let brisk = json!({"type": name, "rate": "1 Mbit/s", "rtt": "20 ms", "framing": "docsis", "memory_limit": "9000 B"});
            let mut cells = brisk.clone();
            (cells["tins"], cells["isolation"], cells["cells"]) = ("diffserv8".into(), "hosts".into(), "atm".into());
            cells["charge"] = "all".into();
            vec![brisk, cells, json!({"type": name, "rtt": "20 ms", "tins": "besteffort", "isolation": "flowblind"})]
        }
        "pie" => {
            let brisk = json!({"type": name, "target": "2 ms", "t_update": "2 ms", "max_burst": "0 ms", "mean_packet": "200 B"});
            let mut kernel = brisk.clone();
            (kernel["profile"], kernel["estimator"], kernel["ecn"]) = ("linux".into(), "rate".into(), "mark".into());
            vec![brisk, kernel]
        }
        "pi2" => {
            let brisk = json!({"type": name, "target": "2 ms", "rtt_max": "20 ms"});
            let mut late = brisk.clone();
            (late["decides"], late["scalable"], late["ecn"]) = ("departure".into(), "as-classic".into(), "drop".into());
            vec![brisk, late]
        }
        "dualpi2" => {
            let short = json!([{"class": "l4s", "size_max": "200 B"}, {"class": "llll", "size_max": "300 B"}]);
            let brisk =
                json!({"type": name, "target": "2 ms", "rtt_max": "20 ms", "filter": short, "scheduler": "ts-fifo"});
            let mut kernel = json!({"type": name, "profile": "linux", "target": "2 ms", "classify": "any-ect"});
            (kernel["decides"], kernel["step_spares"], kernel["filter"]) = ("arrival".into(), 2.into(), short);
            (kernel["limit"], kernel["overload"]) = ("12 packets".into(), "overflow".into());
            vec![brisk, kernel]
        }
        "fq-codel" => {
            let short = json!([{"class": "short", "size_max": "600 B", "ecn": ["ect0", "ce"]}]);
            let brisk = json!({"type": name, "flows": 4, "filter": short, "limit": "12 packets", "target": "2 ms",
                "interval": "20 ms", "ce_threshold": "10 ms"});
            let mut rfc = brisk.clone();
            (rfc["profile"], rfc["isolation"], rfc["memory_limit"]) =
                ("rfc8290".into(), "exact".into(), "9000 B".into());
            vec![brisk, rfc]
        }
        "fq-pie" => {
            let short = json!([{"class": "short", "size_max": "600 B", "ecn": ["ect0", "ce"]}]);
            let brisk = json!({"type": name, "flows": 4, "filter": short, "limit": "12 packets", "target": "2 ms",
                "t_update": "2 ms", "max_burst": "0 ms", "mean_packet": "200 B", "ecn": "mark"});
            let mut rfc = brisk.clone();
            (rfc["profile"], rfc["isolation"], rfc["limit"]) = ("rfc8033".into(), "exact".into(), "9000 B".into());
            vec![brisk, rfc]
        }
        _ => fair(name),
    }
}

/// Laws and flow queues of their own making.
fn fair(name: &str) -> Vec<Value> {
    match name {
        "blue" => {
            vec![
                json!({"type": name, "limit": "8 packets", "increment": 0.2, "freeze_time": "10 ms", "level": "6 packets"}),
            ]
        }
        "fq" => {
            let class = json!({"short": {"band": 0, "rate": "300 kbit/s"}, "long": {"band": 1, "rate": "900 kbit/s"}});
            let paced = json!({"type": name, "limit": "12 packets", "flow_limit": 8, "class": class, "default": "long",
                "filter": [{"class": "short", "size_max": "600 B"}], "ce_threshold": "10 ms"});
            vec![paced, json!({"type": name, "max_rate": "1.2 Mbit/s", "quantum": "1500 B", "refill_delay": "5 ms"})]
        }
        "drr" => {
            let short = json!([{"class": "short", "size_max": "600 B"}]);
            let shaper =
                json!({"type": "tbf", "rate": "300 kbit/s", "burst": "700 B", "queue": {"limit": "9 packets"}});
            let codel = json!({"type": "codel", "target": "2 ms", "interval": "20 ms", "limit": "9 packets"});
            vec![json!({"type": name, "filter": short, "default": "long", "class": {
                "short": {"quantum": "300 B", "queue": shaper}, "long": {"queue": codel}}})]
        }
        "sfb" => vec![json!({"type": name, "limit": "12 packets", "max": 9, "bin_size": 4, "increment": 4000,
            "decrement": 500, "rehash": "500 ms", "warmup": "200 ms", "penalty_rate": 100, "penalty_burst": 3})],
        "sfq" => vec![
            json!({"type": name, "limit": "12 packets", "flows": 4, "divisor": 8, "depth": 6, "perturb": "300 ms"}),
            json!({"type": name, "limit": "20 packets", "depth": 6, "head_drop": "on", "quantum": "600 B"}),
        ],
        _ => Vec::new(),
    }
}

/// Everything at once, for one row.
pub fn check(row: &Row) {
    check_page(row);
    check_parameters(row);
    if row.kind == Kind::Meter {
        return check_meter(row);
    }
    for (i, setup) in setups(row).iter().enumerate() {
        for seed in 0..3 {
            check_traffic(setup, seed + 10 * i as u64);
        }
    }
}

/// Random traffic through a meter: nothing is worse than announced, all that is announced occurs, twice the same.
pub fn check_meter(row: &Row) {
    let colours = |seed: u64| -> Vec<Colour> {
        let streams = Streams::new(seed);
        let cx = BuildCx::new(&streams, "contract/test");
        let mut meter = registry::build_meter(&row.name.into(), "meter", &cx).expect("defaults are valid");
        let mut rng = streams.named("traffic");
        let mut now = Time::ZERO;
        let mut all = Vec::new();
        for i in 0..6_000 {
            // Around 0.5, 1.5 and 3 Mbit/s.
            now += Dur::from_secs_f64(rng.exponential(8e-3 / [0.5, 1.5, 3.0][i / 2_000]));
            let colour = meter.colour(&Metered { len: 1000, was: Colour::Green, now });
            assert!(colour <= meter.worst(), "{}: {colour:?}", row.name);
            all.push(colour);
        }
        assert!(all.contains(&meter.worst()) && all.contains(&Colour::Green), "{}", row.name);
        let early = all[..2_000].iter().filter(|c| **c == Colour::Green).count();
        assert!(early > 1_500, "{}: {early} of 2000 packets at half the contract are green", row.name);
        all
    };
    assert_eq!(colours(1), colours(1), "{}: twice the same", row.name);
}

/// The reference page has all its parts, and its table names exactly the parameters of the schema.
pub fn check_page(row: &Row) {
    let doc = row.doc();
    let first = doc.lines().next().unwrap_or_default();
    assert_eq!(first, format!("# {}", row.title()), "{}: the page starts with its title", row.name);
    for part in [
        "**Source**: ",
        "**Idea**: ",
        "| parameter | unit | default | origin of the default |",
        "**Deviations**: ",
        "**Checked by**: ",
    ] {
        assert!(doc.contains(part), "{}: the page has no {part}", row.name);
    }
    let mut in_page: Vec<&str> =
        doc.lines().filter_map(|l| l.strip_prefix("| `")?.split_once('`')).map(|p| p.0).collect();
    let schema = serde_json::to_value(row.schema().expect("every element has parameters")).expect("a schema is JSON");
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut in_schema: Vec<&str> = properties.keys().map(String::as_str).collect();
    in_page.sort_unstable();
    in_schema.sort_unstable();
    assert_eq!(in_page, in_schema, "{}: parameters on the page and in the schema", row.name);
    for (key, p) in &properties {
        assert!(p.get("description").is_some(), "{}.{key} has no doc comment", row.name);
    }
}

/// Defaults are valid, filling them in twice changes nothing, and a wrong key is refused with its path.
pub fn check_parameters(row: &Row) {
    let bare = json!({"type": row.name});
    let full = registry::normalise(row.kind, &bare, "x").expect("defaults are valid");
    assert_eq!(full["type"], row.name);
    let again = registry::normalise(row.kind, &full, "x").expect("what was written can be read");
    assert_eq!(full, again, "{}: normalising twice", row.name);
    let short = Value::String(row.name.to_string());
    assert_eq!(registry::normalise(row.kind, &short, "x").expect("a name alone is enough"), full);
    let wrong = json!({"type": row.name, "no_such_key": 1});
    let e = registry::normalise(row.kind, &wrong, "x").expect_err("unknown keys are refused");
    assert_eq!(e.path, "x.no_such_key", "{}", row.name);
}

/// What a run gave, for comparing runs.
#[derive(PartialEq, Debug)]
struct Outcome {
    deliveries: Vec<Delivery>,
    entries: Vec<Entry>,
}

/// Random traffic: conservation, limits, ECN, the wake contract, order of time, names of values, determinism.
pub fn check_traffic(setup: &Setup, seed: u64) {
    let first = run(setup, seed);
    let second = run(setup, seed);
    assert_eq!(first, second, "{setup:?}: two runs with seed {seed}");
}

fn run(setup: &Setup, seed: u64) -> Outcome {
    let mut bench = Bench::new(setup.build(seed));
    let mut rng = Streams::new(seed).named("traffic");
    for i in 0..3_000 {
        let load = [0.3, 1.6, 0.9][i / 300 % 3];
        let gap = if rng.chance(0.2) { 0.0 } else { rng.exponential(700.0 * 8.0 / 2e6 / load) };
        let pause = if rng.chance(0.002) { rng.exponential(0.5) } else { 0.0 };
        let at = bench.now + Dur::from_secs_f64(gap + pause);
        let len = if rng.chance(0.6) { 1500 } else { 40 + rng.below(600) as u16 };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize];
        bench.offer(at, len, ecn);
        check_now(&bench, setup);
    }
    bench.drain();
    check_end(&bench, setup);
    Outcome { deliveries: bench.deliveries, entries: bench.log.entries }
}

fn check_now(bench: &Bench<BoxStage>, setup: &Setup) {
    let gone = bench.deliveries.len() + bench.dropped();
    assert_eq!(bench.offered.len(), gone + bench.pool.in_use(), "arrived = delivered + dropped + held");
    let sample = bench.sample();
    for (name, v) in &sample {
        assert!(v.is_finite() && *v >= 0.0, "{name} = {v}");
        assert!(has_unit(name), "{name} does not end in a unit");
    }
    let value = |name: &str| sample.iter().find(|s| s.0 == name).expect("every egress samples its queue").1;
    let text = |key: &str| setup.queue.get(key).and_then(Value::as_str);
    let slack = if text("admission").unwrap_or("overshoot") == "fits" { 0.0 } else { 1499.0 };
    match text("limit").and_then(units::parse_limit) {
        Some(Limit::Bytes(b)) => assert!(value("queue_bytes") <= b as f64 + slack),
        Some(Limit::Packets(p)) => assert!(value("queue_packets") <= p as f64),
        None => {}
    }
}

fn check_end(bench: &Bench<BoxStage>, setup: &Setup) {
    assert_eq!(bench.pool.in_use(), 0, "nothing is held once no wake is wanted");
    let times: Vec<Time> = bench.deliveries.iter().map(|d| d.at).collect();
    assert!(times.is_sorted(), "deliveries go back in time");
    let mut marks = 0;
    for d in &bench.deliveries {
        let was = bench.offered[d.seq as usize].ecn();
        let is_right = match setup.loss["type"] == "ecn-field" {
            true => d.ecn == Ecn::NotEct,
            false => d.ecn == was || (d.ecn == Ecn::Ce && was.is_capable()),
        };
        assert!(is_right, "{was:?} became {:?}", d.ecn);
    }
    for e in &bench.log.entries {
        if let Entry::Marked { seq, .. } = e {
            marks += 1;
            assert!(bench.offered[*seq as usize].ecn().is_capable(), "packet {seq} was marked without being capable");
        }
    }
    let delivered_marks =
        bench.deliveries.iter().filter(|d| d.ecn == Ecn::Ce && bench.offered[d.seq as usize].ecn() != Ecn::Ce).count();
    assert!(delivered_marks <= marks, "{delivered_marks} new marks arrived, {marks} were counted");
    let report = bench.report();
    assert_eq!(report.get("arrived_packets"), bench.offered.len() as f64);
    assert_eq!(report.get("delivered_packets"), bench.deliveries.len() as f64);
    assert!(report.get("sent_packets") >= bench.deliveries.len() as f64);
    assert!(report.get("queue_mean_bytes") <= report.get("queue_max_bytes"));
    assert!((0.0..=1.0).contains(&report.get("utilisation_ratio")));
    for (name, ..) in &report.values {
        assert!(has_unit(name), "{name} does not end in a unit");
    }
}

fn has_unit(name: &str) -> bool {
    ["_bytes", "_packets", "_ns", "_ratio", "_bps"].iter().any(|u| name.ends_with(u))
}
