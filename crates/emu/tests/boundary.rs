//! Contracts of DiffServ domains, kept where frames of real hosts enter: the same meters as in a simulation, and code points in
//! the frames themselves.

use crosswind_base::{Dur, Time};
use crosswind_emu::delivery::{Delivery, Port, Sink};
use crosswind_emu::frame;
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{Crossing, EgressSpec, FlowPorts, Host, Route, Spec, Subject, v4_of};
use crosswind_net::diffserv::boundary::{Passed, Rule};
use crosswind_net::diffserv::conditioner::{Action, Intervals};
use crosswind_net::diffserv::terms::{BoundarySpec, TermsSpec};
use serde_json::{Value, json};

const PORT: u16 = 20_000;
/// Expedited forwarding (rfc3246).
const EF: u8 = 46;

fn conditioner(red: &str, shape: Option<Value>) -> TermsSpec {
    let action = |v: Value| serde_json::from_value::<Action>(v).expect("an action");
    let other = if red == "drop" { json!("drop") } else { json!({"mark": 0}) };
    TermsSpec {
        contract: "voice".into(),
        component: "domain/core/contract/voice".into(),
        meter: Some(json!({"type": "token-bucket", "cir": "1 Mbit/s", "cbs": "5000 B"})),
        actions: [action(json!({"mark": EF})), action(other.clone()), action(other)],
        longest_wait: None,
        wait_budget: None,
        shape,
        intervals: Intervals::Recorded,
    }
}

/// `a` and `b` with a link each to a router; flow 0 goes from `a` to `b`, and everything else of that way is subject 1.
fn spec(terms: TermsSpec, subject: u32) -> Spec {
    let egress = |link: &str, direction: &str, from: &str, to: &str| EgressSpec {
        link: link.into(),
        direction: direction.into(),
        from: from.into(),
        to: to.into(),
        rate_bps: 100_000_000,
        body: json!({"type": "wire", "rate": "100 Mbit/s", "delay": "1 ms"}),
        queue: json!({"type": "droptail", "limit": "100 packets"}),
        loss: None,
        delayers: Value::Null,
        mtu_bytes: None,
    };
    let crossing = |s| if s == subject { vec![Crossing { behind: 0, boundary: 0, subject }] } else { Vec::new() };
    let rules = vec![Rule { flow: subject, dscps: u64::MAX, conditioner: 0 }];
    Spec {
        name: "contract".into(),
        seed: 1,
        rep: 0,
        hosts: ["a", "b"].map(|n| Host { name: n.into() }).into(),
        egresses: vec![
            egress("up", "forward", "a", "r"),
            egress("up", "reverse", "r", "a"),
            egress("down", "forward", "r", "b"),
            egress("down", "reverse", "b", "r"),
        ],
        routes: vec![
            Route { crossings: crossing(1), ..Route::of_all(0, 1, vec![0, 2]) },
            Route::of_all(1, 0, vec![3, 1]),
            Route { flow: Some(0), crossings: crossing(0), ..Route::of_all(0, 1, vec![0, 2]) },
            Route { flow: Some(0), ..Route::of_all(1, 0, vec![3, 1]) },
        ],
        boundaries: vec![BoundarySpec { domain: "core".into(), conditioners: vec![terms], rules, flows: 2 }],
        subjects: ["voice", "a to b"].map(|n| Subject { name: n.into(), group: String::new() }).into(),
        flow_ports: FlowPorts { first: PORT, flows: 1 },
        receivers: Vec::new(),
        flow_names: Default::default(),
        gateway: None,
        start: Default::default(),
    }
}

/// A datagram of 1000 bytes.
fn datagram(from: usize, to: usize, ports: [u16; 2]) -> Vec<u8> {
    let mut f = vec![0; 1000];
    f[0] = 0x45;
    f[2..4].copy_from_slice(&1000u16.to_be_bytes());
    f[8] = 64;
    f[9] = 17;
    f[12..16].copy_from_slice(&v4_of(from));
    f[16..20].copy_from_slice(&v4_of(to));
    let sum = frame::checksum(&f[..20]);
    f[10..12].copy_from_slice(&sum.to_be_bytes());
    f[20..22].copy_from_slice(&ports[0].to_be_bytes());
    f[22..24].copy_from_slice(&ports[1].to_be_bytes());
    f[24..26].copy_from_slice(&980u16.to_be_bytes());
    f
}

#[derive(Default)]
struct Got(Vec<(Time, Port, u8)>);

impl Sink for Got {
    fn deliver(&mut self, d: Delivery<'_>) {
        assert_eq!(frame::checksum(&d.frame[..20]), 0, "a changed header has a right checksum");
        self.0.push((d.at, d.port, d.frame[1] >> 2));
    }
}

/// 2 Mbit/s for a second: 250 datagrams.
fn sent(n: &mut Network, from: usize, ports: [u16; 2]) -> Got {
    let mut got = Got::default();
    for i in 0..250 {
        let at = Time(i * 4_000_000);
        n.arrive(at, from as Port, &mut datagram(from, 1 - from, ports), &mut got);
    }
    n.serve(Time::from_secs_f64(20.0), &mut got);
    assert_eq!(n.packets_inside(), 0);
    got
}

fn built(s: &Spec) -> Network {
    // As a tape carries it.
    let text = serde_json::to_string(s).expect("plain data");
    let read: Spec = serde_json::from_str(&text).expect("what was written is read");
    assert_eq!(read, *s);
    Network::build(&read, Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"))
}

fn passed(n: &Network) -> Vec<(Passed, u64)> {
    n.passed(0).collect()
}

/// 5000 bytes of burst and 125 000 bytes of committed rate a second, for the 249 times 4 ms up to the last.
const CONFORMING: u64 = (5_000 + 124_500) / 1_000;

#[test]
fn data_beyond_the_contract_is_marked_down_in_the_frames_of_hosts() {
    let mut n = built(&spec(conditioner("BE", None), 0));
    let got = sent(&mut n, 0, [4000, PORT]);
    let marked = got.0.iter().filter(|(_, port, dscp)| (*port, *dscp) == (1, EF)).count() as u64;
    assert_eq!((got.0.len(), marked), (250, CONFORMING));
    assert_eq!(got.0[..5].iter().filter(|g| g.2 == EF).count(), 5, "the burst passes at once");
    let (p, _) = passed(&n)[0];
    assert_eq!((p.arrived[3], p.left[3], p.policed_packets), (250, 250, 0), "EF and best effort have no colour");
}

#[test]
fn a_policer_drops_what_exceeds_the_contract_and_nothing_that_comes_back() {
    let mut n = built(&spec(conditioner("drop", None), 0));
    assert_eq!(sent(&mut n, 0, [4000, PORT]).0.len() as u64, CONFORMING);
    assert_eq!(passed(&n)[0].0.policed_packets, 250 - CONFORMING);
    let mut n = built(&spec(conditioner("drop", None), 0));
    let back = sent(&mut n, 1, [PORT, 4000]);
    assert!(back.0.len() == 250 && back.0.iter().all(|g| g.2 == 0), "a contract covers what the sender sends");
}

#[test]
fn what_belongs_to_no_declared_flow_has_the_contract_of_its_way() {
    let mut n = built(&spec(conditioner("drop", None), 1));
    assert_eq!(sent(&mut n, 0, [4000, PORT]).0.len(), 250, "the declared flow has none");
    let mut n = built(&spec(conditioner("drop", None), 1));
    assert_eq!(sent(&mut n, 0, [4000, 80]).0.len() as u64, CONFORMING);
    assert_eq!(passed(&n)[0].0.flow, 1);
}

#[test]
fn what_does_not_exist_is_named_and_no_panic() {
    let refused = |s: &Spec| Network::build(s, Keep::Fingerprint).err().expect("it is refused").to_string();
    let mut s = spec(conditioner("drop", None), 0);
    s.routes[0].crossings = vec![Crossing { behind: 0, boundary: 0, subject: 1 }];
    assert!(refused(&s).starts_with("routes: found"), "{}", refused(&s));
    let mut s = spec(conditioner("drop", None), 0);
    s.boundaries[0].rules[0].conditioner = 7;
    assert!(refused(&s).starts_with("domain.core.rules: found"), "{}", refused(&s));
}

#[test]
fn a_shaper_holds_back_in_real_time_and_drops_what_it_cannot_hold() {
    let shaper = json!({"type": "tbf", "rate": "1 Mbit/s", "burst": "1500 B", "queue": {"type": "droptail", "limit": "40 packets"}});
    let mut terms = conditioner("BE", Some(shaper));
    terms.meter = None;
    let mut n = built(&spec(terms, 0));
    let got = sent(&mut n, 0, [4000, PORT]);
    let (_, shaped) = passed(&n)[0];
    assert_eq!(got.0.len() as u64 + shaped, 250);
    assert!((80..=90).contains(&shaped), "half of a second's excess of 125 packets less 40 that wait: {shaped}");
    let gaps: Vec<Dur> = got.0[5..].windows(2).map(|w| w[1].0.since(w[0].0)).collect();
    assert!(gaps.iter().all(|g| *g == Dur::from_millis(8)), "1000 bytes at 1 Mbit/s: {gaps:?}");
    let (_, h) = n.green_intervals(0).next().expect("one contract");
    assert_eq!(h.count(), 0, "nothing came in an assured class");
}
