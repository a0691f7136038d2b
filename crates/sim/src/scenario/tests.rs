use super::routes::{Pair, Router};
use super::*;
use crosswind_base::{BitRate, ConfigError, Dur, Time};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Two hosts and a router; the last hop is slow one way.
pub(super) fn gprs() -> Value {
    json!({
        "name": "w1", "duration": "400 s",
        "link": {
            "lan": {"from": "server", "to": "router", "rate": "100 Mbit/s", "delay": "0 s"},
            "last-hop": {
                "from": "router", "to": "mobile", "type": "seawind", "rate": "64 kbit/s", "delay": "300 ms",
                "queue": {"type": "droptail", "limit": "11520 B"},
                "loss": {"type": "list", "packets": [14, 28]},
                "reverse": {"rate": "32 kbit/s", "queue": {"limit": "7 packets"}, "loss": "none"},
            },
        },
        "flow": {
            "bulk": {
                "from": "server", "to": "mobile", "count": 2, "start": "1 s",
                "workload": {"type": "bulk", "size": "343040 B", "write": "4288 B"},
                "tcp": {"preset": "baseline-linux-2.4", "ecn": "on"},
            },
            "third": {
                "from": "server", "to": "mobile", "start": {"stratified": ["0 s", "36 s"]},
                "workload": {"type": "bulk", "size": "21440 B"},
            },
        },
        "record": {"sample": "100 ms", "events": ["third", "bulk-2"]},
    })
}

pub(super) fn dumbbell(pairs: u32, flows: u32) -> Value {
    json!({
        "name": "d", "duration": "10 s",
        "topology": {"template": "dumbbell", "pairs": pairs, "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms"}},
        "flow": {"f": {"from": "left", "to": "right", "count": flows, "start": {"every": "1 ms"},
                       "workload": {"type": "bulk"}}},
    })
}

pub(super) fn read(v: &Value) -> Result<Scenario, ConfigError> {
    parse(&v.to_string(), &Registries)
}

pub(super) fn plan(v: &Value) -> Result<Plan, ConfigError> {
    compile(&read(v)?)
}

/// The error of the scenario `base` after `path` was set to `value`.
fn refused(base: Value, path: &str, value: Value) -> ConfigError {
    let mut v = base;
    set(&mut v, path, value).expect("the path is right");
    plan(&v).map(|_| ()).expect_err(&format!("{path} must be refused"))
}

fn names(p: &Plan, route: u32) -> Vec<String> {
    let egress = |e: &u32| &p.egresses[*e as usize];
    p.routes[route as usize].iter().map(|e| format!("{}/{}", egress(e).name, egress(e).direction.word())).collect()
}

#[test]
fn a_plan_holds_both_directions_of_each_link_and_the_routes_of_each_flow() {
    let p = plan(&gprs()).unwrap();
    assert_eq!(p.egresses.len(), 4);
    assert_eq!(p.flows.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["bulk-1", "bulk-2", "third"]);
    assert_eq!(names(&p, p.flows[2].route_forward), ["lan/forward", "last-hop/forward"]);
    assert_eq!(names(&p, p.flows[2].route_reverse), ["last-hop/reverse", "lan/reverse"]);
    assert_eq!(p.routes.len(), 2, "flows between the same nodes share their routes");
    assert_eq!(p.flows.iter().map(|f| f.events).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!((p.groups[0].first, p.groups[0].count, p.groups[1].first), (0, 2, 2));
}

#[test]
fn a_route_is_a_chain_of_egresses_from_sender_to_receiver() {
    for v in [gprs(), dumbbell(5, 12), chain(4), tree(3)] {
        let p = plan(&v).unwrap();
        for f in &p.flows {
            for (route, from, to) in [(f.route_forward, f.from, f.to), (f.route_reverse, f.to, f.from)] {
                let mut at = from;
                for e in &p.routes[route as usize] {
                    assert_eq!(p.egresses[*e as usize].from, at, "{}", f.name);
                    at = p.egresses[*e as usize].to;
                }
                assert_eq!(at, to, "{}", f.name);
            }
        }
    }
}

#[test]
fn the_reverse_direction_inherits_what_it_does_not_override() {
    let p = plan(&gprs()).unwrap();
    let (forward, reverse) = (&p.egresses[2].spec, &p.egresses[3].spec);
    assert_eq!((forward.rate, reverse.rate), (Some(BitRate(64_000)), Some(BitRate(32_000))));
    assert_eq!((forward.delay, reverse.delay), (Dur::from_millis(300), Dur::from_millis(300)));
    assert_eq!((&forward.link["type"], &reverse.link["type"]), (&json!("seawind"), &json!("seawind")));
    assert_eq!((&forward.queue["limit"], &reverse.queue["limit"]), (&json!("11520 B"), &json!("7 packets")));
    assert!(forward.loss.is_some() && reverse.loss.is_none());
    assert_eq!(p.egresses[0].spec, p.egresses[1].spec, "without `reverse` both directions are equal");
}

#[test]
fn a_reverse_link_of_another_type_inherits_the_keys_it_knows() {
    let mut v = gprs();
    set(&mut v, "link.last-hop.send_buffer", json!("12000 B")).unwrap();
    set(&mut v, "link.last-hop.reverse.type", json!("wire")).unwrap();
    let p = plan(&v).unwrap();
    let reverse = &p.egresses[3].spec;
    assert_eq!((reverse.link["type"].clone(), reverse.delay), (json!("wire"), Dur::from_millis(300)));
    assert!(reverse.link.get("send_buffer").is_none());
}

#[test]
fn normalising_fills_in_defaults_and_doing_it_twice_changes_nothing() {
    for v in [gprs(), dumbbell(3, 4), chain(2), tree(2)] {
        let once = normalise(&read(&v).unwrap());
        let twice = normalise(&read(&once).unwrap());
        assert_eq!(once.to_string(), twice.to_string());
        assert_eq!(once["seed"], 1);
        assert!(once["flow"].as_object().unwrap().values().all(|f| f["tcp"]["mss"].is_string()), "{once}");
    }
}

#[test]
fn the_order_of_keys_in_the_file_changes_nothing() {
    fn reversed(v: &Value) -> Value {
        match v {
            Value::Object(m) => Value::Object(m.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect()),
            other => other.clone(),
        }
    }
    for v in [gprs(), dumbbell(3, 4)] {
        let back_to_front = reversed(&v);
        assert_ne!(v.to_string(), back_to_front.to_string());
        assert_eq!(format!("{:?}", plan(&v).unwrap().routes), format!("{:?}", plan(&back_to_front).unwrap().routes));
        assert_eq!(read(&v).unwrap(), read(&back_to_front).unwrap());
    }
}

// ---------------------------------------------------------------------------------------------------------- templates

fn chain(hops: u32) -> Value {
    json!({
        "name": "c", "duration": "10 s",
        "topology": {"template": "chain", "hops": hops, "hop": {"rate": "10 Mbit/s", "delay": "5 ms"}},
        "flow": {
            "through": {"from": "source", "to": "sink", "workload": {"type": "bulk"}},
            "cross": {"from": "cross-in", "to": "cross-out", "count": 2 * hops, "workload": {"type": "bulk"}},
        },
    })
}

fn tree(clients: u32) -> Value {
    json!({
        "name": "t", "duration": "10 s",
        "topology": {"template": "access-tree", "clients": clients,
                     "last_hop": {"rate": "1 Mbit/s", "delay": "30 ms", "reverse": {"rate": "128 kbit/s"}}},
        "flow": {"web": {"from": "server", "to": "client", "count": 2 * clients, "workload": {"type": "bulk"}}},
    })
}

#[test]
fn members_of_a_group_spread_over_the_pairs_of_a_dumbbell() {
    let p = plan(&dumbbell(3, 7)).unwrap();
    assert_eq!(names(&p, p.flows[0].route_forward), ["left-1/forward", "bottleneck/forward", "right-1/forward"]);
    assert_eq!(names(&p, p.flows[5].route_reverse), ["right-3/reverse", "bottleneck/reverse", "left-3/reverse"]);
    assert_eq!(p.flows[0].route_forward, p.flows[3].route_forward);
    assert_eq!(p.flows[0].route_forward, p.flows[6].route_forward);
    assert_eq!((p.nodes.len(), p.egresses.len(), p.routes.len()), (8, 14, 6));
}

#[test]
fn cross_traffic_of_a_chain_shares_one_hop_with_the_long_flow() {
    let p = plan(&chain(3)).unwrap();
    let through = p.flows.iter().find(|f| f.name == "through").unwrap();
    let hops = ["hop-1/forward", "hop-2/forward", "hop-3/forward"];
    assert_eq!(names(&p, through.route_forward)[1..4], hops);
    for k in 0..6 {
        let f = p.flows.iter().find(|f| f.name == format!("cross-{}", k + 1)).unwrap();
        assert_eq!(names(&p, f.route_forward)[1], hops[k % 3]);
        assert_eq!(p.routes[f.route_forward as usize].len(), 3);
    }
}

#[test]
fn clients_of_an_access_tree_have_a_last_hop_each() {
    let p = plan(&tree(2)).unwrap();
    assert_eq!(names(&p, p.flows[1].route_forward), ["trunk/forward", "client-2/forward"]);
    let up = p.egresses.iter().find(|e| e.name == "client-2" && e.direction == Direction::Reverse).unwrap();
    assert_eq!((up.spec.rate, up.spec.delay), (Some(BitRate(128_000)), Dur::from_millis(30)));
}

#[test]
fn ten_thousand_pairs_take_two_searches_for_their_routes() {
    let d = dumbbell(10_000, 9_000);
    let p = plan(&d).unwrap();
    assert_eq!((p.flows.len(), p.routes.len(), p.egresses.len()), (9_000, 18_000, 40_002));
    let graph = topology::Graph::build(&read(&d).unwrap()).unwrap();
    let (left, right) = (graph.resolve("left", "").unwrap(), graph.resolve("right", "").unwrap());
    let pairs = (0..9_000).map(|k| (left.of_member(k), right.of_member(k)));
    let pairs: BTreeSet<Pair> = pairs.flat_map(|(a, b)| [Pair { from: a, to: b }, Pair { from: b, to: a }]).collect();
    let mut router = Router::new(&graph);
    assert_eq!(router.effort(&pairs).0, 2);
    assert!(router.routes(&pairs).values().all(|r| r.as_ref().is_some_and(|r| r.len() == 3)));
    assert_eq!(router.searches, 2);
}

#[test]
fn former_keys_of_tcp_stay_valid_and_are_not_offered() {
    let tcp = &json_schema(&Registries)["$defs"]["tcp"];
    for (former, present) in crosswind_transport::tcp::preset::FORMER_KEYS {
        assert!(tcp["properties"].get(*former).is_none(), "{former}");
        assert_eq!(tcp["patternProperties"][format!("^{former}$")], tcp["properties"][*present]);
        assert!(tcp["properties"][*present].is_object(), "{present}");
    }
}

#[test]
fn a_single_link_may_be_the_name_of_an_access_system() {
    let flow = json!({"f": {"from": "server", "to": "mobile", "workload": {"type": "bulk"}}});
    let short = json!({"name": "s", "duration": "10 s", "link": "gprs", "flow": flow});
    let long = json!({"name": "s", "duration": "10 s", "flow": flow,
                      "link": {"last-hop": {"from": "server", "to": "mobile", "profile": "gprs"}}});
    let cat = Registries;
    assert_eq!(normalise(&parse_value(&short, &cat).unwrap()), normalise(&parse_value(&long, &cat).unwrap()));
    schema_check::accepts(&json_schema(&cat), &short).unwrap();
    let mut changed = short.clone();
    set(&mut changed, "link.last-hop.delay", json!("1 s")).unwrap();
    assert_eq!(plan(&changed).unwrap().egresses[0].spec.delay, Dur::from_secs(1));
    let e = parse_value(&json!({"name": "s", "duration": "10 s", "link": "grps"}), &cat).unwrap_err();
    assert_eq!((e.path.as_str(), e.found.as_str()), ("link", "`grps`"));
}

// ------------------------------------------------------------------------------------------------------------- routes

fn mesh(links: &[(&str, &str, &str, &str)], to: &str) -> Value {
    let link = |l: &(&str, &str, &str, &str)| {
        (l.0.to_string(), json!({"from": l.1, "to": l.2, "rate": "1 Mbit/s", "delay": l.3}))
    };
    let links: serde_json::Map<String, Value> = links.iter().map(link).collect();
    json!({"name": "m", "duration": "1 s", "link": links,
           "flow": {"f": {"from": "a", "to": to, "workload": {"type": "bulk"}}}})
}

#[test]
fn fewest_hops_win_then_least_delay_then_the_alphabet() {
    let direct = mesh(&[("x", "a", "b", "1 ms"), ("y", "b", "c", "1 ms"), ("z", "a", "c", "50 ms")], "c");
    let p = plan(&direct).unwrap();
    assert_eq!(names(&p, 0), ["z/forward"]);
    let square = |upper| {
        mesh(&[("1", "a", "u", upper), ("2", "u", "d", "1 ms"), ("3", "a", "l", "1 ms"), ("4", "l", "d", "2 ms")], "d")
    };
    let forward = |v: &Value| {
        let p = plan(v).unwrap();
        names(&p, p.flows[0].route_forward)
    };
    assert_eq!(forward(&square("1 ms")), ["1/forward", "2/forward"]);
    assert_eq!(forward(&square("3 ms")), ["3/forward", "4/forward"]);
    assert_eq!(forward(&square("2 ms")), ["3/forward", "4/forward"], "node l comes before node u");
    let parallel = mesh(&[("p", "a", "b", "2 ms"), ("q", "a", "b", "1 ms"), ("r", "b", "a", "1 ms")], "b");
    assert_eq!(forward(&parallel), ["q/forward"]);
}

#[test]
fn routes_agree_with_an_exhaustive_search_on_random_networks() {
    let mut rng = crosswind_base::Streams::new(11).named("networks");
    for _ in 0..60 {
        let nodes = 3 + rng.below(5);
        let mut text: Vec<[String; 4]> = Vec::new();
        for k in 0..2 + rng.below(10) {
            let (a, b) = (rng.below(nodes), rng.below(nodes));
            if a != b {
                let end = |n: u64| char::from(b'a' + n as u8).to_string();
                text.push([format!("l{k}"), end(a), end(b), format!("{} ms", 1 + rng.below(3))]);
            }
        }
        let links: Vec<_> = text.iter().map(|[n, a, b, d]| (n.as_str(), a.as_str(), b.as_str(), d.as_str())).collect();
        if links.is_empty() {
            continue;
        }
        let expected = cheapest(&links);
        match (plan(&mesh(&links, "b")), expected) {
            (Ok(p), Some((hops, delay))) => {
                let route = &p.routes[p.flows[0].route_forward as usize];
                let sum: u64 = route.iter().map(|e| p.egresses[*e as usize].spec.delay.0 / 1_000_000).sum();
                assert_eq!((route.len(), sum), (hops, delay), "{links:?}");
            }
            (Err(e), None) => assert!(e.path.starts_with("flow.f."), "{e}"),
            (got, want) => panic!("{links:?}: {:?} instead of {want:?}", got.map(|p| p.routes)),
        }
    }
}

/// Fewest hops from a to b, and the least delay in milliseconds among those, by trying every walk.
fn cheapest(links: &[(&str, &str, &str, &str)]) -> Option<(usize, u64)> {
    let mut at: BTreeSet<(u64, &str)> = BTreeSet::from([(0, "a")]);
    for hops in 1..=links.len() {
        let mut after = BTreeSet::new();
        for (sum, node) in &at {
            for (_, from, to, delay) in links {
                let ms: u64 = delay.trim_end_matches(" ms").parse().unwrap();
                for (x, y) in [(from, to), (to, from)] {
                    if x == node {
                        after.insert((sum + ms, *y));
                    }
                }
            }
        }
        if let Some((sum, _)) = after.iter().find(|(_, n)| *n == "b") {
            return Some((hops, *sum));
        }
        at = after;
    }
    None
}

// ------------------------------------------------------------------------------------------------------------- starts

fn starts(rule: StartRule, seed: u64, of: u32) -> Vec<Time> {
    (0..of).map(|index| rule.resolve(Repetition { seed, index, of }, 0, "third")).collect()
}

#[test]
fn stratified_starts_use_every_stratum_once_in_an_order_that_depends_on_the_seed() {
    let rule = StartRule::Stratified(Dur::from_secs(4), Dur::from_secs(40));
    let of = 120;
    let stratum = |t: &Time| (t.0 - 4_000_000_000) * u64::from(of) / 36_000_000_000;
    let order: Vec<u64> = starts(rule, 1, of).iter().map(stratum).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..120).collect::<Vec<u64>>());
    assert_ne!(order, sorted, "shuffled");
    assert_ne!(order, starts(rule, 2, of).iter().map(stratum).collect::<Vec<u64>>());
    assert_eq!(starts(rule, 1, of), starts(rule, 1, of));
}

#[test]
fn a_start_depends_on_seed_repetition_and_flow_name_only() {
    let mut v = gprs();
    let start = |v: &Value| {
        let p = plan(v).unwrap();
        let third = p.flows.iter().position(|f| f.name == "third").unwrap();
        p.starts(Repetition { seed: 5, index: 3, of: 120 })[third]
    };
    let before = start(&v);
    v["flow"]["another"] = v["flow"]["third"].clone();
    v["link"]["last-hop"]["queue"] = json!({"limit": "80 packets"});
    assert_eq!(start(&v), before);
}

#[test]
fn uniform_starts_cover_their_range() {
    let all = starts(StartRule::Uniform(Dur::from_secs(1), Dur::from_secs(3)), 1, 2000);
    assert!(all.iter().all(|t| (1.0..=3.0).contains(&t.as_secs_f64())));
    let mean = all.iter().map(|t| t.as_secs_f64()).sum::<f64>() / 2000.0;
    // Standard error of the mean: 2 / sqrt(12 * 2000) = 0.013.
    assert!((mean - 2.0).abs() < 0.05, "{mean}");
}

#[test]
fn every_member_starts_one_interval_after_the_previous() {
    let p = plan(&dumbbell(2, 4)).unwrap();
    let rep = Repetition { seed: 1, index: 0, of: 1 };
    let at: Vec<u64> = p.starts(rep).iter().map(|t| t.0 / 1_000_000).collect();
    assert_eq!(at, [0, 1, 2, 3]);
}

// ---------------------------------------------------------------------------------------------------------- bad input

#[test]
fn faults_are_refused_with_their_path() {
    for (path, value, expected_path) in [
        ("duration", json!("0 s"), "duration"),
        ("duration", json!("2e6 s"), "duration"),
        ("duration", json!("400"), "duration"),
        ("duration", json!("400 bananas"), "duration"),
        ("name", json!("../evil"), "name"),
        ("seed", json!(-1), "seed"),
        ("link.last-hop.rate", json!("-64 kbit/s"), "link.last-hop.rate"),
        ("link.last-hop.rate", json!("64 ms"), "link.last-hop.rate"),
        ("link.last-hop.rate", json!("1e18 bit/s"), "link.last-hop.rate"),
        ("link.last-hop.type", json!("seewind"), "link.last-hop.type"),
        ("link.last-hop.type", json!(3), "link.last-hop.type"),
        ("link.last-hop.from", json!(3), "link.last-hop.from"),
        ("link.last-hop.to", json!("router"), "link.last-hop.to"),
        ("link.last-hop.queue.limit", json!("0 packets"), "link.last-hop.queue.limit"),
        ("link.last-hop.queue.limt", json!("5 packets"), "link.last-hop.queue.limt"),
        ("link.last-hop.queue", json!(["x"]), "link.last-hop.queue"),
        ("link.last-hop.loss.type", json!("liist"), "link.last-hop.loss.type"),
        ("link.last-hop.reverse", json!("x"), "link.last-hop.reverse"),
        ("link.last-hop.reverse.rate", json!("1 parsec"), "link.last-hop.reverse.rate"),
        ("link.last-hop.reverse.reverse", json!({}), "link.last-hop.reverse.reverse"),
        ("link.last-hop.reverse.from", json!("x"), "link.last-hop.reverse.from"),
        ("flow.bulk.count", json!(0), "flow.bulk.count"),
        ("flow.bulk.count", json!(1_000_000_000), "flow.bulk.count"),
        ("flow.bulk.count", json!(1_000_000), "flow.third.count"),
        ("flow.bulk.count", json!(1.5), "flow.bulk.count"),
        ("flow.bulk.to", json!("mobil"), "flow.bulk.to"),
        ("flow.bulk.to", json!("server"), "flow.bulk.to"),
        ("flow.bulk.start", json!("400 s"), "flow.bulk.start"),
        ("flow.bulk.start", json!({"uniform": ["9 s", "1 s"]}), "flow.bulk.start"),
        ("flow.bulk.start", json!({"uniform": ["9 s"]}), "flow.bulk.start.uniform"),
        ("flow.bulk.start", json!({"unifrom": ["9 s"]}), "flow.bulk.start.unifrom"),
        ("flow.bulk.start", json!({}), "flow.bulk.start"),
        ("flow.bulk.start", json!({"every": "500 s"}), "flow.bulk.start"),
        ("flow.bulk.workload.type", json!("bluk"), "flow.bulk.workload.type"),
        ("flow.bulk.workload.size", json!("0 B"), "flow.bulk.workload.size"),
        ("flow.bulk.workload.sise", json!("1 B"), "flow.bulk.workload.sise"),
        ("flow.bulk.workload", json!(null), "flow.bulk.workload"),
        ("flow.bulk.tcp.preset", json!("baseline"), "flow.bulk.tcp.preset"),
        ("flow.bulk.tcp.msss", json!("1 B"), "flow.bulk.tcp.msss"),
        ("flow.bulk.colour", json!("red"), "flow.bulk.colour"),
        ("record.events", json!(["thrid"]), "record.events[0]"),
        ("record.events", json!(["third", "bulk-3"]), "record.events[1]"),
        ("record.events", json!(["bulk-02"]), "record.events[0]"),
        ("record.events", json!("everything"), "record.events"),
        ("record.sample", json!("0 s"), "record.sample"),
        ("record.sample", json!("1 ns"), "record.sample"),
        ("sharing.lifetime", json!("0 s"), "sharing.lifetime"),
        ("sharing.forget_probability", json!(1.5), "sharing.forget_probability"),
        ("sharing.gap", json!("2e6 s"), "sharing.gap"),
        ("sharing.persist", json!("forever"), "sharing.persist"),
        ("record.samples", json!("1 s"), "record.samples"),
        ("topology", json!({"template": "dumbell"}), "topology.template"),
        ("topology", json!({"template": "dumbbell"}), "topology.bottleneck"),
        ("topology", json!({"pairs": 3}), "topology.template"),
    ] {
        let e = refused(gprs(), path, value.clone());
        assert_eq!(e.path, expected_path, "{path} = {value}: {e}");
        assert!(!e.found.is_empty() && !e.expected.is_empty(), "{path} = {value}: {e}");
    }
}

#[test]
fn slips_in_names_get_the_nearest_right_name() {
    for (path, value, name) in [
        ("link.last-hop.type", json!("seewind"), "seawind"),
        ("flow.bulk.to", json!("mobil"), "mobile"),
        ("flow.bulk.workload.sise", json!("1 B"), "size"),
        ("flow.bulk.start", json!({"unifrom": []}), "uniform"),
        ("flow.bulk.cuont", json!(3), "count"),
        ("record.events", json!(["thrid"]), "third"),
        ("topology", json!({"template": "dumbell"}), "dumbbell"),
    ] {
        let e = refused(gprs(), path, value);
        assert!(e.hint.contains(&format!("`{name}`")), "{e}");
    }
}

#[test]
fn a_scenario_without_links_or_flows_is_refused() {
    let mut v = gprs();
    v["link"] = json!({});
    assert_eq!(plan(&v).unwrap_err().path, "link");
    let mut v = gprs();
    v["flow"] = json!({});
    assert_eq!(plan(&v).unwrap_err().path, "flow");
}

#[test]
fn an_unreachable_receiver_is_refused() {
    let mut v = gprs();
    v["link"]["island"] = json!({"from": "friday", "to": "robinson", "rate": "1 bit/s", "delay": "1 s"});
    set(&mut v, "flow.third.to", json!("friday")).unwrap();
    let e = plan(&v).unwrap_err();
    assert_eq!(e.path, "flow.third.to");
    assert!(e.found.contains("friday") && e.found.contains("server"), "{e}");
}

#[test]
fn names_that_collide_with_the_template_are_refused() {
    let mut v = dumbbell(2, 2);
    v["link"] = json!({"left-2": {"from": "x", "to": "router-left", "rate": "1 Mbit/s", "delay": "1 ms"}});
    assert_eq!(plan(&v).unwrap_err().path, "link.left-2");
    v["link"] = json!({"more": {"from": "left", "to": "router-left", "rate": "1 Mbit/s", "delay": "1 ms"}});
    assert_eq!(plan(&v).unwrap_err().path, "link.more.from");
    v["link"] = json!({"more": {"from": "x", "to": "router-left", "rate": "1 Mbit/s", "delay": "1 ms"}});
    assert!(plan(&v).is_ok(), "own links may extend a template");
}

#[test]
fn a_group_that_has_the_name_of_another_groups_member_is_refused() {
    let mut v = gprs();
    v["flow"]["bulk-2"] = v["flow"]["third"].clone();
    assert_eq!(plan(&v).unwrap_err().path, "flow.bulk-2");
    let mut v = gprs();
    v["flow"]["bulk-3"] = v["flow"]["third"].clone();
    assert!(plan(&v).is_ok());
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_built() {
    for (pairs, flows, path) in
        [(4_000_000_000u32, 1, "topology.pairs"), (1, 4_000_000_000, "flow.f.count"), (0, 1, "topology.pairs")]
    {
        let e = read(&dumbbell(pairs, flows)).unwrap_err();
        assert_eq!(e.path, path, "{e}");
    }
    assert_eq!(read(&chain(251)).unwrap_err().path, "topology.hops");
    let e = read(&dumbbell(4_000_000_000, 1)).unwrap_err();
    assert!(e.expected.contains("1000000"), "the limit is named: {e}");
}

#[test]
fn a_network_that_would_take_too_long_to_route_is_refused() {
    // 8 000 spokes of eight links each: no node has a single link, so each destination needs a search of its own.
    let mut v = mesh(&[("x", "a", "b", "1 ms")], "b");
    for n in 0..64_000 {
        let node = format!("n{}", n / 8);
        v["link"][format!("l{n}")] = json!({"from": "hub", "to": node, "rate": "1 Mbit/s", "delay": "1 ms"});
    }
    for n in 0..8_000 {
        v["flow"][format!("f{n}")] = json!({"from": "hub", "to": format!("n{n}"), "workload": {"type": "bulk"}});
    }
    let e = plan(&v).unwrap_err();
    assert!(e.path == "flow" && e.expected.contains("1000000000"), "{e}");
}

// ---------------------------------------------------------------------------------------------------------------- set

#[test]
fn setting_a_value_makes_missing_tables_but_no_new_links() {
    let mut v = gprs();
    set(&mut v, "link.lan.queue.limit", json!("20 packets")).unwrap();
    assert_eq!(plan(&v).unwrap().egresses[0].spec.queue["limit"], "20 packets");
    set(&mut v, "link.last-hop.loss.packets.1", json!(99)).unwrap();
    assert_eq!(v["link"]["last-hop"]["loss"]["packets"], json!([14, 99]));
    for (path, hint) in [("link.lasthop.rate", "`last-hop`"), ("flow.blk.count", "`bulk`"), ("lnk.lan.rate", "`link`")]
    {
        let e = set(&mut v, path, json!("1 bit/s")).unwrap_err();
        assert!(e.path == path && e.hint.contains(hint), "{e}");
    }
    for path in ["", ".", "link", "link.", "link.lan.rate.x", "link.last-hop.loss.packets.7", "flow.bulk.start.every"] {
        assert!(set(&mut v, path, json!(1)).is_err(), "{path}");
    }
}

#[test]
fn every_key_of_a_scenario_can_be_set() {
    let schema = json_schema(&Registries);
    let known: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(BTreeSet::from_iter(known), BTreeSet::from(super::set::TOP));
}

#[test]
fn setting_a_key_of_a_queue_that_is_only_named_keeps_its_type() {
    let mut v = gprs();
    set(&mut v, "link.lan.queue", json!("droptail")).unwrap();
    set(&mut v, "link.lan.queue.limit", json!("3 packets")).unwrap();
    assert_eq!(v["link"]["lan"]["queue"], json!({"type": "droptail", "limit": "3 packets"}));
}

// ------------------------------------------------------------------------------------------------------------- schema

#[test]
fn the_schema_knows_every_key_of_a_normalised_scenario_and_every_registered_name() {
    let schema = json_schema(&Registries);
    let text = schema.to_string();
    for kind in [Kind::Queue, Kind::Link, Kind::Loss, Kind::Tcp] {
        for row in Registries.rows(kind) {
            assert!(text.contains(&format!("\"{}\"", row.name)), "{} {}", kind.word(), row.name);
        }
    }
    for v in [gprs(), dumbbell(2, 2), chain(2), tree(2)] {
        super::schema_check::accepts(&schema, &v).unwrap();
        super::schema_check::accepts(&schema, &normalise(&read(&v).unwrap())).unwrap();
    }
    for (path, value) in [
        ("link.last-hop.colour", json!("red")),
        ("link.last-hop.type", json!("seewind")),
        ("link.last-hop.queue.limt", json!("red")),
        ("flow.bulk.count", json!("two")),
        ("flow.bulk.count", json!(0)),
        ("flow.bulk.workload.type", json!("bluk")),
        ("flow.bulk.tcp.preset", json!("tahoe")),
        ("flow.bulk.start", json!({"sometimes": 1})),
        ("topology", json!({"template": "ring"})),
        ("record.events", json!(3)),
    ] {
        let mut v = gprs();
        set(&mut v, path, value).unwrap();
        assert!(super::schema_check::accepts(&schema, &v).is_err(), "{path}");
    }
}
