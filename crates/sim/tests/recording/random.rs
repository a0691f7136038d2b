//! Random networks: hosts behind a row of routers, every element of the registries now and then, and few enough packets
//! that a run takes milliseconds.

use crosswind_base::Rng;
use crosswind_transport::{tcp, tfrc, udt};
use serde_json::{Map, Value, json};

/// A scenario that the seed decides; some are refused, since not every element goes with every other.
pub fn scenario(rng: &mut Rng) -> Value {
    let routers = 1 + rng.below(3) as usize;
    let hosts = 2 + rng.below(4) as usize;
    let mut s =
        json!({ "name": "random", "duration": format!("{} ms", 1500 + rng.below(6000)), "link": {}, "flow": {} });
    for r in 1..routers {
        s["link"][format!("core-{r}")] = link(rng, &format!("r{}", r - 1), &format!("r{r}"));
    }
    // The first and the last router have a host each; where the others hang is drawn.
    for h in 0..hosts {
        let at = if h < 2 { h * (routers - 1) } else { rng.below(routers as u64) as usize };
        let name = format!("access-{h}");
        let ends =
            if rng.chance(0.5) { [format!("h{h}"), format!("r{at}")] } else { [format!("r{at}"), format!("h{h}")] };
        s["link"][name] = if rng.chance(0.5) { link(rng, &ends[0], &ends[1]) } else { wire(rng, &ends[0], &ends[1]) };
    }
    for f in 0..1 + rng.below(4) {
        let from = rng.below(hosts as u64);
        let to = (from + 1 + rng.below(hosts as u64 - 1)) % hosts as u64;
        s["flow"][format!("f{f}")] = flow(rng, from, to);
    }
    if rng.chance(0.4) {
        domain(rng, &mut s, routers);
    }
    if rng.chance(0.25) {
        timeline(rng, &mut s);
    }
    if rng.chance(0.2) {
        s["until"] = json!(["f0"]);
    }
    s
}

fn one_of<T: Clone>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize].clone()
}

fn ms(rng: &mut Rng, low: u64, high: u64) -> String {
    format!("{} ms", low + rng.below(high - low))
}

/// A span: fixed, or drawn again and again.
fn spread(rng: &mut Rng, low: u64, high: u64) -> Value {
    let middle = low + rng.below(high - low);
    match rng.below(3) {
        0 => json!(format!("{middle} ms")),
        1 => json!({ "uniform": [format!("{low} ms"), format!("{high} ms")] }),
        _ => json!({ "exponential": format!("{middle} ms"), "min": format!("{low} ms") }),
    }
}

fn add(to: &mut Value, from: Value) {
    let (Value::Object(to), Value::Object(from)) = (to, from) else { unreachable!("both are tables") };
    to.extend(from);
}

fn wire(rng: &mut Rng, from: &str, to: &str) -> Value {
    let rate = one_of(rng, &["1 Gbit/s", "100 Mbit/s", "30 Mbit/s"]);
    json!({ "from": from, "to": to, "rate": rate, "delay": one_of(rng, &["0 ms", "1 ms", "2 ms", "1 ms", "9 ms"]) })
}

fn link(rng: &mut Rng, from: &str, to: &str) -> Value {
    let mut l = line(rng);
    // A trace has no rate, which some queues need to know.
    let queue_of_link = if l["type"] == "trace" { json!({ "limit": "20 packets" }) } else { queue(rng, 0) };
    add(&mut l, json!({ "from": from, "to": to, "queue": queue_of_link }));
    if rng.chance(0.2) {
        l["loss"] = loss(rng);
    }
    if rng.chance(0.15) {
        l["spikes"] = spikes(rng, &l["queue"].clone());
    }
    if rng.chance(0.06) {
        l["on_demand"] = json!({ "delay": spread(rng, 20, 200), "hold": spread(rng, 50, 900) });
    }
    if rng.chance(0.06) {
        l["fast_reset"] = json!({});
    }
    if rng.chance(0.1) {
        l["slow_path"] = json!({ "delay": spread(rng, 1, 9), "refused": one_of(rng, &[0.0, 0.1, 1.0]) });
    }
    if l.get("spikes").is_none() && l.get("fast_reset").is_none() && l["type"] != "trace" && rng.chance(0.3) {
        l["reverse"] = json!({ "queue": queue(rng, 1) });
        if rng.chance(0.3) {
            l["reverse"]["loss"] = json!("none");
        }
    }
    l
}

fn line(rng: &mut Rng) -> Value {
    let rate = one_of(rng, &["300 kbit/s", "1 Mbit/s", "2 Mbit/s", "5 Mbit/s", "10 Mbit/s", "3333333 bit/s"]);
    let delay = one_of(rng, &["0 ms", "1 ms", "5 ms", "10 ms", "30 ms", "80 ms"]);
    let mut l = json!({ "type": "wire", "rate": rate, "delay": delay });
    let own = match rng.below(12) {
        0..6 => json!({}),
        6 | 7 => detour(rng),
        8 => json!({ "type": "repair", "error": one_of(rng, &[0.0, 0.05, 0.4]), "attempts_max": rng.below(4),
                     "counts": one_of(rng, &["all", "data"]) }),
        9 => json!({ "type": "atm" }),
        10 => {
            let at: Vec<u64> = (0..3 + rng.below(5))
                .scan(0, |t, _| {
                    *t += rng.below(9);
                    Some(*t)
                })
                .collect();
            let last = at.last().copied().unwrap_or(0) + 1;
            l.as_object_mut().expect("a table").remove("rate");
            json!({ "type": "trace", "opportunities_ms": at.into_iter().chain([last]).collect::<Vec<_>>() })
        }
        _ => seawind(rng, &mut l),
    };
    add(&mut l, own);
    l
}

fn detour(rng: &mut Rng) -> Value {
    let mut d = json!({ "type": "detour", "counts": one_of(rng, &["all", "data"]) });
    let own = match rng.below(5) {
        0 => json!({ "share": 0.1, "late_mean": ms(rng, 1, 40), "late_deviation": "3 ms" }),
        1 => json!({ "jitter": one_of(rng, &["100 ns", "8 us", "3 ms"]) }),
        2 => json!({ "paths": "two", "difference": ms(rng, 1, 20) }),
        3 => json!({ "tick": "10 ms" }),
        _ => json!({ "packets": [3, 9, 20], "late_mean": ms(rng, 1, 60) }),
    };
    add(&mut d, own);
    d
}

fn seawind(rng: &mut Rng, l: &mut Value) -> Value {
    let mut own = json!({ "type": "seawind", "preset": one_of(rng, &["error-free", "arq-high", "arq-medium", "arq-low"]),
                          "mtu": "1500 B", "rate": one_of(rng, &["64 kbit/s", "300 kbit/s", "1 Mbit/s"]) });
    l["delay"] = json!(ms(rng, 1, 300));
    match rng.below(6) {
        0 => own["random_delay"] = json!({ "probability": 0.3, "length": spread(rng, 1, 50) }),
        1 => own["outages"] = json!({ "every": spread(rng, 300, 2000), "length": spread(rng, 10, 200) }),
        2 => own["rate_changes"] = json!({ "every": spread(rng, 300, 2000), "rates": ["64 kbit/s", "300 kbit/s"] }),
        3 => own["fragment"] = json!("200 B"),
        4 => own["allocation"] = json!({ "delay": ms(rng, 10, 200), "idle_timeout": ms(rng, 10, 600) }),
        _ => {}
    }
    own
}

fn loss(rng: &mut Rng) -> Value {
    let (counts, at) = (one_of(rng, &["all", "data"]), one_of(rng, &["entry", "exit"]));
    match rng.below(3) {
        0 => {
            json!({ "type": "uniform", "probability": one_of(rng, &[0.0, 0.01, 0.1, 1.0]), "counts": counts, "at": at })
        }
        1 => json!({ "type": "list", "packets": [1, 3, 4, 5, 17], "counts": counts, "at": at }),
        _ => json!({ "type": "phases", "after": one_of(rng, &["stay", "repeat"]), "counts": counts, "at": at, "phase":
                     [{ "length": spread(rng, 100, 900), "probability": 0.0 }, { "length": spread(rng, 50, 300), "probability": 0.5 }] }),
    }
}

fn thresholds(min: u32, max: u32) -> Value {
    json!({ "min_th": format!("{min} packets"), "max_th": format!("{max} packets"), "max_p": 0.1 })
}

fn spikes(rng: &mut Rng, queue: &Value) -> Value {
    let length = 20 + rng.below(400);
    let every = length + 100 + rng.below(1500);
    let mut s = json!({ "first": ms(rng, 0, 1500), "every": format!("{every} ms"), "length": format!("{length} ms"),
                        "holds": one_of(rng, &["line", "queue", "queue"]) });
    if rng.chance(0.3) {
        s["loss"] = json!(0.3);
    }
    let is_plain = queue["type"].as_str().is_none_or(|t| t == "droptail" || t.starts_with("red"));
    if is_plain && rng.chance(0.3) {
        s["discard"] = json!(2);
    }
    s
}

fn queue(rng: &mut Rng, depth: u32) -> Value {
    let limit = one_of(rng, &["5 packets", "20 packets", "50 packets", "8000 B", "200 packets"]);
    let kinds = if depth < 2 { 17 } else { 12 };
    let mut q = match rng.below(kinds) {
        0 => return json!({}),
        1 | 2 => json!({ "type": "droptail", "admission": one_of(rng, &["fits", "overshoot", "linux-2.4"]) }),
        3 => {
            json!({ "type": "bounded", "limit_delay": ms(rng, 5, 200), "overflow": one_of(rng, &["drop-arrival", "drop-oldest", "drop-random"]) })
        }
        4 => json!({ "type": "red-floyd-jacobson", "ecn": one_of(rng, &["mark", "drop"]) }),
        5 => json!({ "type": "red-linux", "limit": "30000 B", "min_th": "3000 B", "max_th": "9000 B" }),
        6 => json!({ "type": "red-ns2", "adaptive": rng.chance(0.5), "gentle": rng.chance(0.5) }),
        7 => json!({ "type": "rio", "green": thresholds(5, 15), "yellow": thresholds(2, 8) }),
        8 => json!({ "type": "wred", "green": thresholds(5, 15), "yellow": thresholds(2, 8) }),
        9 => json!({ "type": "early-discard" }),
        10 => json!({ "type": "rem" }),
        11 => json!({ "type": "pi", "target": 10 }),
        12 | 13 => {
            return json!({ "type": "tbf", "rate": one_of(rng, &["200 kbit/s", "1 Mbit/s"]), "burst": "3000 B",
                            "metered": one_of(rng, &["departure", "arrival"]), "queue": queue(rng, depth + 1) });
        }
        14 => {
            return json!({ "type": "lpd", "looks": one_of(rng, &["always", "arrival", "departure"]),
                            "queue": one_of(rng, &[json!({ "limit": "20 packets" }), json!({ "type": "red-floyd-jacobson" })]) });
        }
        15 => {
            return json!({ "type": "prio", "default": "b", "filter": [{ "class": "a", "proto": "udp" }],
                            "class": { "a": { "prio": 0, "queue": queue(rng, depth + 1) }, "b": { "prio": 1, "queue": queue(rng, depth + 1) } } });
        }
        _ => return htb(rng, depth),
    };
    if q.get("limit").is_none() {
        q["limit"] = json!(limit);
    }
    q
}

fn htb(rng: &mut Rng, depth: u32) -> Value {
    let rate = one_of(rng, &["100 kbit/s", "500 kbit/s", "1 Mbit/s"]);
    let mut q = json!({
        "type": "htb", "default": "b", "filter": [{ "class": "a", "proto": "udp" }],
        "oversubscription": "allow", "hysteresis": one_of(rng, &["on", "off"]), "tick": one_of(rng, &["0 ms", "10 ms"]),
        "class": {
            "root": { "rate": "1 Mbit/s", "ceil": "1 Mbit/s" },
            "a": { "parent": "root", "rate": rate, "ceil": "1 Mbit/s", "quantum": "1500 B", "queue": queue(rng, depth + 1) },
            "b": { "parent": "root", "rate": rate, "ceil": "1 Mbit/s", "quantum": "1500 B", "queue": queue(rng, depth + 1) }
        }
    });
    if rng.chance(0.4) {
        let one = queue(rng, depth + 1);
        q = json!({ "type": "htb", "class": { "all": { "rate": rate, "ceil": rate, "queue": one } } });
    }
    q
}

fn workload(rng: &mut Rng) -> Value {
    let size = format!("{} kB", 1 + rng.below(300));
    let payload = format!("{} B", 40 + rng.below(1400));
    match rng.below(14) {
        0..3 => json!({ "type": "bulk" }),
        12 => json!({ "type": "bulk", "size": size, "answer": "9000 B" }),
        13 => {
            json!({ "type": "bulk", "size": size, "read_rate": one_of(rng, &["50 kbit/s", "1 Mbit/s"]), "read_size": "2000 B" })
        }
        3 => json!({ "type": "bulk", "size": size }),
        4 => json!({ "type": "bulk", "size": size, "write": "4000 B" }),
        5 => json!({ "type": "bulk", "size": size, "close": "never" }),
        6 => json!({ "type": "page", "objects": rng.below(6) }),
        7 => json!({ "type": "web", "every": { "exponential": "700 ms" } }),
        8 => json!({ "type": "ping", "interval": ms(rng, 20, 300), "packets": 1 + rng.below(40) }),
        9 => {
            let mut w = json!({ "type": "cbr", "payload": payload, "interval": ms(rng, 2, 30) });
            if rng.chance(0.6) {
                w["packets"] = json!(1 + rng.below(300));
            }
            w
        }
        _ => {
            let mut w = json!({ "type": "on-off", "payload": payload, "interval": ms(rng, 2, 20),
                                "on": { "exponential": "300 ms" }, "off": { "exponential": "300 ms" } });
            if rng.chance(0.6) {
                w["bursts"] = json!(1 + rng.below(5));
            }
            w
        }
    }
}

fn flow(rng: &mut Rng, from: u64, to: u64) -> Value {
    let workload = workload(rng);
    let is_tcp = ["bulk", "page", "web"].contains(&workload["type"].as_str().unwrap_or_default());
    let others = ["write", "close", "answer", "read_rate"];
    let is_bulk = workload["type"] == "bulk" && others.iter().all(|key| workload.get(key).is_none());
    let mut f = json!({ "from": format!("h{from}"), "to": format!("h{to}"), "workload": workload });
    match rng.below(8) {
        0 if is_bulk => f["tfrc"] = json!({ "preset": one_of(rng, &tfrc::preset::names()) }),
        1 if is_bulk => f["udt"] = json!({ "preset": one_of(rng, &udt::params::names()) }),
        2 if is_tcp => {
            f["tcp"] = json!({ "preset": "rfc", "rto_initial": ms(rng, 20, 900), "retries_max": rng.below(4) })
        }
        3 if is_tcp => {
            f["tcp"] = json!({ "preset": "rfc", "ecn": "on",
            "keepalive": { "idle": ms(rng, 50, 900), "interval": ms(rng, 20, 200), "probes": 2 } })
        }
        _ if is_tcp => f["tcp"] = json!({ "preset": one_of(rng, &tcp::preset::names()) }),
        _ => {}
    }
    if rng.chance(0.5) {
        f["start"] =
            one_of(rng, &[json!({ "uniform": ["0 s", "1 s"] }), json!("300 ms"), json!({ "every": "100 ms" })]);
    }
    if rng.chance(0.3) {
        f["count"] = json!(1 + rng.below(4));
    }
    if rng.chance(0.2) {
        f["dscp"] = json!(one_of(rng, &["EF", "AF11", "AF12", "AF13"]));
    }
    if rng.chance(0.15) {
        f["lifetime"] = json!(ms(rng, 20, 900));
    }
    f
}

/// Some of the routers are a domain with one contract or two.
fn domain(rng: &mut Rng, s: &mut Value, routers: usize) {
    let (first, last) = (rng.below(routers as u64), rng.below(routers as u64));
    let nodes: Vec<String> = (first.min(last)..=first.max(last)).map(|r| format!("r{r}")).collect();
    s["domain"] = json!({ "d": { "nodes": nodes } });
    let mut contracts = Map::new();
    let flows = s["flow"].as_object().map_or(0, Map::len) as u64;
    for c in 0..1 + rng.below(flows.min(2)) {
        let mut terms = json!({ "domain": "d", "flow": format!("f{c}") });
        if rng.chance(0.5) {
            let kinds = ["token-bucket", "tsw2cm", "tsw3cm", "srtcm", "trtcm", "trtcm-4115"];
            terms["meter"] = json!({ "type": one_of(rng, &kinds), "cir": one_of(rng, &["100 kbit/s", "1 Mbit/s"]) });
            terms["class"] = json!(one_of(rng, &["AF1", "EF"]));
        }
        match rng.below(4) {
            0 => terms["class"] = json!("AF1"),
            1 => terms["class"] = json!("EF"),
            2 => add(&mut terms, json!({ "mtq": ms(rng, 1, 20), "qtl": ms(rng, 20, 90) })),
            _ => {}
        }
        if rng.chance(0.2) {
            terms["shape"] = json!({ "type": "tbf", "rate": "500 kbit/s", "burst": "3000 B" });
        }
        if rng.chance(0.2) {
            terms["intervals"] = json!("on");
        }
        if rng.chance(0.3) {
            terms["per"] = json!("flow");
        }
        contracts.insert(format!("c{c}"), terms);
    }
    s["contract"] = contracts.into();
}

fn timeline(rng: &mut Rng, s: &mut Value) {
    let all = s["link"].as_object().expect("a table");
    let is_plain = |l: &Value| l["type"] == "wire" && [&Value::Null, &json!("droptail")].contains(&&l["queue"]["type"]);
    let is_bulk = s["flow"]["f0"]["workload"]["type"] == "bulk";
    let links: Vec<String> = all.iter().filter(|(_, l)| is_plain(l)).map(|(name, _)| name.clone()).collect();
    if links.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    for _ in 0..1 + rng.below(3) {
        let at = ms(rng, 100, 1400);
        let on_and_off = json!({ "first": at, "every": ms(rng, 300, 900) });
        changes.push(match rng.below(if is_bulk { 6 } else { 4 }) {
            4 => json!({ "at": on_and_off, "flow": "f0", "set": { "sending": one_of(rng, &["on", "off"]) } }),
            5 => json!({ "at": on_and_off, "flow": "f0", "set": { "reading": one_of(rng, &["on", "off"]) } }),
            0 => json!({ "at": at, "flow": "f0", "set": { "abort": one_of(rng, &["sender", "receiver"]) } }),
            1 => json!({ "at": at, "link": one_of(rng, &links), "set": { "queue": { "limit": "4 packets" } } }),
            2 => json!({ "at": at, "link": one_of(rng, &links), "set": { "delay": ms(rng, 1, 50) } }),
            _ => json!({ "at": at, "link": one_of(rng, &links), "set": { "rate": one_of(rng, &["500 kbit/s", "4 Mbit/s"]) } }),
        });
    }
    s["timeline"] = changes.into();
}
