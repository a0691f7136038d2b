//! Routers that stay up: a repetition goes on with the queues that the one before has left.

use crate::common::*;
use crosswind_record::Tables;
use crosswind_sim::runs::Request;
use crosswind_sim::world::LookAhead;
use serde_json::{Value, json};

const GAP_S: f64 = 0.1;

/// Streams of 0.4 seconds at twice the rate of the link, at these times.
fn scenario(queue: &Value, starts_s: &[f64]) -> Value {
    let streams = starts_s.iter().enumerate().map(|(i, at)| {
        let workload = json!({"type": "cbr", "payload": "972 B", "interval": "4 ms", "packets": 100});
        (format!("s{i}"), json!({"from": "a", "to": "b", "start": format!("{at} s"), "workload": workload}))
    });
    json!({
        "name": "stays", "duration": "60 s",
        "link": {"path": {"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "1 ms", "queue": queue}},
        "flow": serde_json::Map::from_iter(streams),
        "sharing": {"queues": "across-repetitions", "gap": format!("{GAP_S} s")},
    })
}

/// RED whose picks leave nothing to chance: all of them, from a threshold on.
fn red(kind: &str, more: &Value) -> Value {
    let mut q = json!({"type": kind, "limit": "40000 B", "min_th": "7998 B", "max_th": "7999 B", "w_q": 0.03125, "max_p": 1.0,
                       "avpkt": "1000 B"});
    more.as_object().into_iter().flatten().for_each(|(k, v)| q[k] = v.clone());
    q
}

fn times(reps: u32, look_ahead: LookAhead) -> Request {
    Request { reps: (0..reps).collect(), reps_total: reps, look_ahead, ..request() }
}

fn drops(t: &Tables) -> Vec<[f64; 2]> {
    let link = table(t, "link");
    let forward = (0..link.rows()).filter(|r| text(link, "direction", *r) == "forward");
    forward.map(|r| ["drops_forced_drop_packets", "sent_packets"].map(|c| number(link, c, r))).collect()
}

/// What a second stream finds in the next repetition is what it finds later in one run.
#[test]
fn a_repetition_goes_on_where_the_one_before_has_ended() {
    let linux = |idle: &str| red("red-linux", &json!({"idle_damping": idle}));
    let bytes = json!({"measure": "bytes"});
    let class = |leaf: Value| json!({"type": "htb", "class": {"all": {"rate": "1 Mbit/s", "queue": leaf}}});
    for (queue, remembers) in [
        (linux("none"), true),
        (linux("exact"), true),
        (linux("fixed"), true),
        (red("red-floyd-jacobson", &bytes), true),
        (class(linux("none")), true),
        (json!({"type": "droptail", "limit": "20000 B"}), false),
    ] {
        let fresh = drops(&run(&scenario(&queue, &[0.0])))[0];
        for look_ahead in [LookAhead::Allowed, LookAhead::Never] {
            let chain = run_with(&[scenario(&queue, &[0.0])], &times(3, look_ahead));
            let ends = (0..3).map(|r| number(table(&chain, "run"), "end_ns", r) / 1e9 + GAP_S);
            let begins = |at: &mut f64, length: f64| Some((std::mem::replace(at, *at + length) * 1e9).round() / 1e9);
            let starts: Vec<f64> = ends.scan(0.0, begins).collect();
            let [mut forced, mut sent] = [0.0; 2];
            for (k, of_rep) in drops(&chain).into_iter().enumerate() {
                [forced, sent] = [forced + of_rep[0], sent + of_rep[1]];
                let one = drops(&run(&scenario(&queue, &starts[..=k])))[0];
                assert_eq!([forced, sent], one, "{queue}: {} streams", k + 1);
            }
            assert_eq!(drops(&chain)[0], fresh, "the first repetition finds what is new");
            assert_eq!(drops(&chain)[1..] != [fresh, fresh], remembers, "{queue}");
        }
    }
}

/// What stands in front of a queue lets its past through.
#[test]
fn a_router_with_something_before_its_queue_stays_up_too() {
    let of = |keys: Value| {
        let mut s = scenario(&red("red-linux", &json!({"idle_damping": "exact"})), &[0.0]);
        keys.as_object().into_iter().flatten().for_each(|(k, v)| s["link"]["path"][k] = v.clone());
        drops(&run_with(&[s], &times(3, LookAhead::Allowed)))
    };
    let plain = of(json!({}));
    let delay = json!({"delay": "0 ms"});
    for keys in [json!({"fast_reset": {}}), json!({"path_mtu": {"size": "1500 B"}}), json!({"processing_delay": delay})]
    {
        assert_eq!(of(keys.clone()), plain, "{keys}");
    }
    assert_ne!(plain[0], plain[2]);
}

#[test]
fn a_queue_that_cannot_hand_on_what_it_knows_is_refused() {
    let adaptive = red("red-linux", &json!({"adaptive": true}));
    let inside = json!({"type": "prio", "class": {"all": {"prio": 0, "queue": {"type": "pie"}}}});
    for queue in [json!({"type": "codel"}), json!({"type": "red-ns2"}), adaptive, inside] {
        let e = refusal(&scenario(&queue, &[0.0]));
        assert_eq!(e.path, "link.path.queue", "{e}");
        assert!(e.found.contains(queue["type"].as_str().expect("a name")) && e.hint.contains("sharing.queues"), "{e}");
    }
    let mut reverse = scenario(&json!({"type": "droptail"}), &[0.0]);
    reverse["link"]["path"]["reverse"] = json!({"queue": {"type": "codel"}});
    assert_eq!(refusal(&reverse).path, "link.path.reverse.queue");
}

/// A repetition begins with the parameters that are written; the average that it finds is that of the end of the one before.
#[test]
fn what_the_timeline_has_changed_is_as_it_was_again() {
    let of = |kind: &str, more: &Value| {
        let mut s = scenario(&red(kind, more), &[0.0]);
        let plain = drops(&run_with(&[s.clone()], &times(2, LookAhead::Allowed)));
        // When nothing arrives any more.
        s["timeline"] = json!([{"at": "0.45 s", "link": "path", "set": {"queue": {"w_q": 0.25, "max_p": 1.0}}}]);
        s["until"] = json!(["s0"]);
        assert_eq!(drops(&run_with(&[s], &times(2, LookAhead::Allowed))), plain, "{kind}");
    };
    of("red-linux", &json!({"idle_damping": "none"}));
    of("red-floyd-jacobson", &json!({"measure": "bytes"}));
}

/// What waits when the time is up is gone, and idle time begins.
#[test]
fn a_run_that_is_cut_off_leaves_an_empty_queue() {
    let queue = red("red-linux", &json!({"idle_damping": "exact"}));
    let mut cut = scenario(&queue, &[0.0]);
    cut["duration"] = json!("0.3 s");
    let t = run_with(&[cut], &times(2, LookAhead::Allowed));
    let found = drops(&t);
    assert_ne!(found[1], found[0], "the average lives on");
}

#[test]
fn a_block_of_repetitions_begins_anew() {
    let queue = red("red-linux", &json!({"idle_damping": "exact"}));
    let of = |block| {
        let request = Request { block, workers: 2, ..times(5, LookAhead::Allowed) };
        drops(&run_with(&[scenario(&queue, &[0.0])], &request))
    };
    let (whole, blocks) = (of(0), of(2));
    let anew = [whole[0], whole[1], whole[0], whole[1], whole[0]];
    assert!(blocks == anew && whole != anew, "{blocks:?} {whole:?}");
}
