//! Queues that speak of flows: names in their filters, and a trial build of every queue before anything runs.

use super::body::{Body, EgressSpec};
use super::plan::Plan;
use super::types::{Scenario, Topology};
use crosswind_base::{ConfigError, Streams, Time};
use crosswind_net::queue::{QueueDisc, Removal};
use crosswind_net::registry::{self, BuildCx};

/// Builds every queue once, so that what only building can find wrong is found before a run.
pub(super) fn try_all(s: &Scenario, plan: &Plan) -> Result<(), ConfigError> {
    let streams = Streams::new(0);
    let cx = BuildCx::new(&streams, "trial").with_flows(plan);
    let try_body = |path: &str, body: &Body| -> Result<(), ConfigError> {
        let below = &format!("{path}.reverse");
        let tried = |spec: &EgressSpec, path: &str| {
            let mut queue = registry::try_queue(&spec.queue, &spec.link, path, &cx)?;
            if s.sharing.queues_persist() && queue.past(Time::ZERO).is_none() {
                return Err(begins_anew(spec, path));
            }
            Ok(queue.removal())
        };
        let forward = tried(&body.forward, path)?;
        let reverse = if body.reverse == body.forward { forward } else { tried(&body.reverse, below)? };
        can_be_emptied(&body.forward, reverse, below)?;
        can_be_emptied(&body.reverse, forward, path)
    };
    let links = s.link.iter().map(|(name, link)| (format!("link.{name}"), &link.body));
    let templates = s.topology.iter().flat_map(|t| {
        let (bodies, pairs) = match t {
            Topology::Dumbbell(d) => {
                ([("access", d.access.as_ref()), ("bottleneck", Some(&d.bottleneck))], Some(&d.pair))
            }
            Topology::Chain(c) => ([("access", c.access.as_ref()), ("hop", Some(&c.hop))], None),
            Topology::AccessTree(a) => ([("trunk", a.trunk.as_ref()), ("last_hop", Some(&a.last_hop))], None),
        };
        let pairs = pairs.into_iter().flatten().map(|(k, own)| (format!("topology.pair.{k}"), &own.0));
        bodies.into_iter().filter_map(|(key, body)| Some((format!("topology.{key}"), body?))).chain(pairs)
    });
    links.chain(templates).try_for_each(|(path, body)| try_body(&path, body))
}

/// Fast Reset throws packets out of the queue of the other direction, which lies at `path`.
fn can_be_emptied(resets: &EgressSpec, other: Removal, path: &str) -> Result<(), ConfigError> {
    if !resets.resets() || other == Removal::Possible {
        return Ok(());
    }
    let found = "a queue that gives out its packets in its own order only";
    Err(ConfigError::new(format!("{path}.queue"), found, "a queue such as droptail or RED")
        .hint("`fast_reset` of the other direction throws packets out of it"))
}

/// A repetition cannot go on with this queue where the one before has left it.
fn begins_anew(spec: &EgressSpec, path: &str) -> ConfigError {
    let kind = spec.queue.get("type").and_then(|t| t.as_str()).unwrap_or("a queue");
    let expected = "droptail, red-linux without `adaptive`, red-floyd-jacobson, or a scheduler with such classes";
    ConfigError::new(format!("{path}.queue"), format!("`{kind}`, which cannot hand on what it knows"), expected)
        .hint("`sharing.queues` lets each repetition go on with the queues of the one before")
}

#[cfg(test)]
mod tests {
    use super::super::{Registries, compile, parse, tests::gprs};
    use super::*;
    use crosswind_net::sched::classify::FlowNames;
    use serde_json::{Value, json};
    use std::ops::Range;

    fn with_filter(flow: Value) -> Result<Plan, ConfigError> {
        let mut v = gprs();
        v["link"]["last-hop"]["queue"] = json!({
            "type": "prio", "default": "rest", "filter": [{"class": "first", "flow": flow}],
            "class": {"first": {"prio": 0}, "rest": {"prio": 1}},
        });
        v["link"]["last-hop"]["reverse"]["queue"] = json!({"type": "droptail", "limit": "7 packets"});
        compile(&parse(&v.to_string(), &Registries)?)
    }

    #[test]
    fn filters_name_groups_and_members() {
        let plan = with_filter(json!(["bulk-2", "third"])).expect("both exist");
        assert_eq!(plan.ids("bulk"), Some(vec![Range { start: 0, end: 2 }]));
        assert_eq!(plan.ids("bulk-2"), Some(vec![Range { start: 1, end: 2 }]));
        assert_eq!(plan.ids("bulk-3"), None);
    }

    #[test]
    fn fast_reset_is_refused_where_the_queue_of_the_other_direction_cannot_give_up_packets() {
        let with = |forward: &str, reverse: &str, resets: [&str; 2]| {
            let key = |on: &str| if on == "on" { json!({}) } else { json!("none") };
            let mut v = gprs();
            let link = &mut v["link"]["last-hop"];
            (link["queue"], link["fast_reset"]) = (json!({ "type": forward }), key(resets[0]));
            link["reverse"] = json!({ "queue": { "type": reverse }, "fast_reset": key(resets[1]) });
            compile(&parse(&v.to_string(), &Registries)?)
        };
        let e = with("droptail", "tbf", ["on", "none"]).expect_err("the queue that a reset empties");
        assert_eq!(e.path, "link.last-hop.reverse.queue");
        let e = with("tbf", "droptail", ["none", "on"]).expect_err("the queue that a reset empties");
        assert_eq!(e.path, "link.last-hop.queue");
        assert!(with("tbf", "droptail", ["on", "none"]).is_ok(), "nothing is taken out of the queue on this side");
        assert!(with("droptail", "tbf", ["none", "on"]).is_ok());
        for name in ["droptail", "fq-codel"] {
            assert!(with(name, name, ["on", "on"]).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_filter_for_an_unknown_flow_is_refused_before_anything_runs() {
        let e = with_filter(json!("thrid")).expect_err("no such flow");
        assert_eq!(e.path, "link.last-hop.queue.filter[0].flow");
        assert!(e.expected.contains("bulk") && e.hint.contains("third"), "{e}");
    }
}
