//! Changes during a run: new values for parameters of links and flows, at a time or by a schedule. The same in a
//! simulation and in an emulation, and tried out before anything runs.

use super::body::{Direction, EgressSpec, expanded};
use super::catalogue::shown;
use super::change::{AbortedBy, Change, OfFlow, Target};
use super::limits::DURATION_LIMIT;
use super::names;
use super::plan::{GroupPlan, Plan};
use super::retuned::Present;
use super::timed::{CHANGES_LIMIT, Timed};
use super::types::Scenario;
use crosswind_base::units::show_dur;
use crosswind_base::{ConfigError, Cx, Ledger, Packet, Pool, Setting, Stage, Streams, Time};
use crosswind_net::registry::{BoxStage, BuildCx};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Keys = Map<String, Value>;

/// `abort = "receiver"`, alone.
fn aborted_by(c: &Change, group: &GroupPlan) -> Result<AbortedBy, ConfigError> {
    let at = format!("{}.abort", c.path());
    let found = c.set["abort"].to_string();
    match c.set["abort"].as_str() {
        _ if group.is_datagrams() => Err(ConfigError::new(at, found, "nothing: datagrams have no connection")),
        _ if c.set.len() > 1 => Err(ConfigError::new(at, "other keys beside it", "`abort` alone")),
        Some("receiver") => Ok(AbortedBy::Receiver),
        Some("sender") => Ok(AbortedBy::Sender),
        _ => Err(ConfigError::new(at, found, "\"receiver\" or \"sender\"")),
    }
}

/// All changes in the order of time, each tried out on what it changes.
pub(super) fn plan(s: &Scenario, plan: &Plan) -> Result<Vec<Change>, ConfigError> {
    let mut changes = Vec::new();
    for (i, t) in s.timeline.iter().enumerate() {
        let path = format!("timeline[{i}]");
        let targets = targets(t, plan, &path)?;
        for at in t.at.times(s.duration, &format!("{path}.at"))? {
            if at > DURATION_LIMIT {
                let expected = format!("at most {}", show_dur(DURATION_LIMIT));
                return Err(ConfigError::new(format!("{path}.at"), show_dur(at), expected));
            }
            let one = |(target, set): &(Target, Keys)| Change {
                at: Time::ZERO + at,
                target: *target,
                set: set.clone(),
                setting: None,
                abort: None,
                of_flow: OfFlow::default(),
                entry: i as u32,
            };
            changes.extend(targets.iter().map(one));
            if changes.len() as u64 > CHANGES_LIMIT {
                let found = format!("more than {CHANGES_LIMIT} changes of one link or flow at one time");
                return Err(ConfigError::new(path, found, format!("at most {CHANGES_LIMIT} in a run")));
            }
        }
    }
    // Stable: of two changes at one time the one written first comes first.
    changes.sort_by_key(|c| c.at);
    try_all(&mut changes, s, plan)?;
    Ok(changes)
}

fn targets(t: &Timed, plan: &Plan, path: &str) -> Result<Vec<(Target, Keys)>, ConfigError> {
    match (&t.link, &t.flow) {
        (Some(link), None) => links(t, link, plan, path),
        (None, Some(flow)) if t.direction.is_none() => {
            use crosswind_net::sched::classify::FlowNames;
            let ids = plan.ids(flow).ok_or_else(|| {
                let names: Vec<&str> = plan.groups.iter().map(|g| g.name.as_str()).collect();
                names::unknown(flow, &format!("{path}.flow"), "the name of a flow or group of flows", &names)
            })?;
            Ok(ids.into_iter().flatten().map(|f| (Target::Flow(f), t.set.clone())).collect())
        }
        (None, Some(_)) => Err(ConfigError::new(format!("{path}.direction"), "a direction of a flow", "nothing")),
        (Some(_), Some(_)) => Err(ConfigError::new(path, "a link and a flow", "one of the two")),
        (None, None) => Err(ConfigError::new(path, "neither `link` nor `flow`", "what is to change")),
    }
}

/// The keys for each direction of a link. As in a link, `reverse` inherits.
fn links(t: &Timed, link: &str, plan: &Plan, path: &str) -> Result<Vec<(Target, Keys)>, ConfigError> {
    let mut set = expanded(&t.set, &format!("{path}.set"))?;
    // A type cannot change; the one of a profile says which keys it has.
    if t.set.contains_key("profile") {
        set.shift_remove("type");
    }
    let mut reverse = set.clone();
    if let Some(own) = set.shift_remove("reverse") {
        let at = format!("{path}.set.reverse");
        let own = own.as_object().ok_or_else(|| ConfigError::new(at, own.to_string(), "a table of keys"))?;
        reverse.shift_remove("reverse");
        reverse.extend(own.clone());
    }
    let ways = [(Direction::Forward, set), (Direction::Reverse, reverse)];
    let egresses = plan.link(link).ok_or_else(|| {
        let names: Vec<&str> = plan.egresses.iter().step_by(2).map(|e| e.name.as_str()).collect();
        names::unknown(link, &format!("{path}.link"), "the name of a link", &names)
    })?;
    let mut out = Vec::new();
    for (i, (direction, set)) in egresses.into_iter().zip(ways) {
        if t.direction.is_none_or(|d| d == direction) {
            of_present_types(&t.set, &plan.egresses[i as usize].spec, &format!("{path}.set"))?;
            out.push((Target::Egress(i), set));
        }
    }
    Ok(out)
}

/// What is written of types, in a table of changes and in its `reverse`, is what there is already.
fn of_present_types(set: &Keys, present: &EgressSpec, path: &str) -> Result<(), ConfigError> {
    let none = Value::Null;
    let parts = [("", &present.link), ("queue", &present.queue), ("loss", present.loss.as_ref().unwrap_or(&none))];
    for (part, has) in parts {
        let at = if part.is_empty() { path.to_string() } else { format!("{path}.{part}") };
        let table = if part.is_empty() { Some(set) } else { set.get(part).and_then(Value::as_object) };
        let wanted = table.and_then(|t| t.get("type"));
        if let (Some(wanted), Some(has)) = (wanted, has.get("type"))
            && wanted != has
        {
            let expected = format!("`{}`, what it is: types cannot change", has.as_str().unwrap_or_default());
            return Err(ConfigError::new(format!("{at}.type"), shown(wanted), expected));
        }
    }
    match set.get("reverse").and_then(Value::as_object) {
        Some(own) => of_present_types(own, present, &format!("{path}.reverse")),
        None => Ok(()),
    }
}

/// Builds the egress of a plan.
fn build(plan: &Plan, egress: usize, streams: &Streams) -> Result<BoxStage, ConfigError> {
    let e = &plan.egresses[egress];
    let component = format!("link/{}/{}", e.name, e.direction.word());
    let cx = BuildCx::new(streams, &component).with_flows(plan).that_changes();
    plan.makers[egress].make(&cx)
}

struct Nobody;

impl Ledger for Nobody {
    fn dropped(&mut self, _: u32, _: &Packet, _: crosswind_base::DropReason) {}
    fn marked(&mut self, _: u32, _: &Packet) {}
}

/// Makes every change once, in order, on stages of its own.
fn try_all(changes: &mut [Change], s: &Scenario, plan: &Plan) -> Result<(), ConfigError> {
    let streams = Streams::new(0);
    let mut stages: BTreeMap<u32, BoxStage> = BTreeMap::new();
    let mut flows: BTreeMap<u32, Present> = BTreeMap::new();
    // By link: what it was changed by last. A schedule that gives its change again is read once, unless another comes between.
    let mut last: BTreeMap<u32, (u32, Setting)> = BTreeMap::new();
    for c in changes {
        let i = match c.target {
            Target::Egress(i) => i,
            Target::Flow(f) if c.set.contains_key("abort") => {
                c.abort = Some(aborted_by(c, plan.group(&plan.flows[f as usize]))?);
                continue;
            }
            Target::Flow(f) => {
                let group = plan.group(&plan.flows[f as usize]);
                let present = flows.entry(f).or_insert_with(|| Present::of(group, &s.flow[&group.name]));
                c.of_flow = present.change(c.at, &c.set, plan.duration).map_err(|e| e.under(&c.path()))?;
                continue;
            }
        };
        if let Some((_, setting)) = last.get(&i).filter(|(entry, _)| *entry == c.entry) {
            c.setting = Some(setting.clone());
            continue;
        }
        let stage = match stages.entry(i) {
            std::collections::btree_map::Entry::Occupied(e) => e.into_mut(),
            std::collections::btree_map::Entry::Vacant(v) => v.insert(build(plan, i as usize, &streams)?),
        };
        let (mut pool, mut out, mut nobody) = (Pool::new(), Vec::new(), Nobody);
        let mut cx = Cx::new(c.at, i, &mut pool, &mut out, &mut nobody, None);
        let setting = stage.read_change(&c.set).map_err(|e| e.under(&c.path()))?;
        stage.change(&setting, &mut cx).map_err(|e| e.under(&c.path()))?;
        last.insert(i, (c.entry, setting.clone()));
        c.setting = Some(setting);
    }
    Ok(())
}
