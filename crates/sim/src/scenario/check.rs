//! What a scenario must satisfy beyond the types of its keys. Limits are checked before anything is built.

use super::limits::{
    DURATION_LIMIT, FLOWS_LIMIT, HOPS_LIMIT, LATE_LIMITS_MAX, LINKS_LIMIT, QLOGS_LIMIT, SAMPLES_LIMIT,
};
use super::names::{name, unknown};
use super::sharing::Sharing;
use super::start::StartRule;
use super::transport::Chosen;
use super::types::{Events, Flow, Part, Record, Scenario, Topology};
use super::{files, work, workloads};
use crosswind_base::units::show_dur;
use crosswind_base::{ConfigError, Dur};
use std::collections::BTreeSet;

/// Everything that can be said without the graph; `compile` checks the rest.
pub fn scenario(s: &Scenario) -> Result<(), ConfigError> {
    name(&s.name, "name")?;
    if s.title.chars().any(|c| c.is_control()) {
        return Err(ConfigError::new("title", "a control character", "one line of text"));
    }
    if s.duration == Dur::ZERO || s.duration > DURATION_LIMIT {
        let expected = format!("more than zero and at most {}", seconds(DURATION_LIMIT));
        return Err(ConfigError::new("duration", show_dur(s.duration), expected));
    }
    if s.topology.is_none() && s.link.is_empty() {
        return Err(ConfigError::new("link", "no links", "at least one link, or a topology"));
    }
    if s.flow.is_empty() {
        return Err(ConfigError::new("flow", "no flows", "at least one flow"));
    }
    if let Some(t) = &s.topology {
        template(t)?;
    }
    for (name, link) in &s.link {
        if link.from == link.to {
            let found = format!("`{}`, which is also `from`", link.to);
            return Err(ConfigError::new(format!("link.{name}.to"), found, "another node"));
        }
    }
    links_fit(s)?;
    let mut flows = 0u64;
    for (name, f) in &s.flow {
        flow(f, s.duration).map_err(|e| e.under(&format!("flow.{name}")))?;
        flows += u64::from(f.count) * u64::from(f.workload.connections());
        if flows > FLOWS_LIMIT {
            let expected = format!("at most {FLOWS_LIMIT} flows in a scenario");
            return Err(ConfigError::new(format!("flow.{name}.count"), format!("{flows} flows so far"), expected));
        }
    }
    member_names(s)?;
    flow_names(&s.until, "until", s)?;
    sharing(&s.sharing)?;
    s.emulate.check()?;
    record(&s.record, s)
}

fn sharing(s: &Sharing) -> Result<(), ConfigError> {
    if let Some(lifetime) = s.lifetime.filter(|l| *l == Dur::ZERO || *l > DURATION_LIMIT) {
        let expected =
            format!("more than zero and at most {}; leave the key out for no flush", seconds(DURATION_LIMIT));
        return Err(ConfigError::new("sharing.lifetime", show_dur(lifetime), expected));
    }
    if !(0.0..=1.0).contains(&s.forget_probability) {
        let found = s.forget_probability.to_string();
        return Err(ConfigError::new("sharing.forget_probability", found, "a probability from 0 to 1"));
    }
    if s.gap > DURATION_LIMIT {
        return Err(ConfigError::new("sharing.gap", show_dur(s.gap), format!("at most {}", seconds(DURATION_LIMIT))));
    }
    Ok(())
}

fn seconds(d: Dur) -> String {
    format!("{} s", d.as_secs_f64())
}

fn at_least_one(n: u32, path: &str) -> Result<(), ConfigError> {
    if n == 0 { Err(ConfigError::new(path, "0", "at least 1")) } else { Ok(()) }
}

fn template(t: &Topology) -> Result<(), ConfigError> {
    match t {
        Topology::Dumbbell(d) => {
            at_least_one(d.pairs, "topology.pairs")?;
            match d.pair.keys().find(|k| !(1..=d.pairs).contains(*k)) {
                Some(k) => {
                    let expected = format!("a number from 1 to {} (`pairs`)", d.pairs);
                    Err(ConfigError::new(format!("topology.pair.{k}"), format!("pair {k}"), expected))
                }
                None => Ok(()),
            }
        }
        Topology::Chain(c) if c.hops > HOPS_LIMIT => {
            Err(ConfigError::new("topology.hops", c.hops.to_string(), format!("from 1 to {HOPS_LIMIT}")))
        }
        Topology::Chain(c) => {
            at_least_one(c.hops, "topology.hops")?;
            at_least_one(c.pairs, "topology.pairs")
        }
        Topology::AccessTree(a) => at_least_one(a.clients, "topology.clients"),
    }
}

/// The template's links and the named ones together, counted without building them.
fn links_fit(s: &Scenario) -> Result<(), ConfigError> {
    let (key, made) = match &s.topology {
        None => ("link", 0),
        Some(Topology::Dumbbell(d)) => ("topology.pairs", 1 + 2 * u64::from(d.pairs)),
        Some(Topology::Chain(c)) => ("topology.pairs", 3 * u64::from(c.hops) + 2 * u64::from(c.pairs)),
        Some(Topology::AccessTree(a)) => ("topology.clients", 1 + u64::from(a.clients)),
    };
    let links = made + s.link.len() as u64;
    if links <= LINKS_LIMIT {
        return Ok(());
    }
    Err(ConfigError::new(key, format!("{links} links in all"), format!("at most {LINKS_LIMIT} links in a scenario")))
}

fn flow(f: &Flow, duration: Dur) -> Result<(), ConfigError> {
    if f.count == 0 || u64::from(f.count) > FLOWS_LIMIT {
        return Err(ConfigError::new("count", f.count.to_string(), format!("from 1 to {FLOWS_LIMIT}")));
    }
    if f.from == f.to {
        return Err(ConfigError::new("to", format!("`{}`, which is also `from`", f.to), "another node"));
    }
    if let Some(rule) = f.start {
        start(rule, f.count, duration)?;
    }
    let over = Chosen::of(f);
    if !f.queue_delay_limits.is_empty() && !over.is_udp() {
        let found = if over.is_tcp() { "a flow over TCP" } else { "a flow over a transport of its own" };
        return Err(ConfigError::new("queue_delay_limits", found, "a workload over UDP"));
    }
    if f.queue_delay_limits.len() > LATE_LIMITS_MAX {
        let found = format!("{} limits", f.queue_delay_limits.len());
        return Err(ConfigError::new("queue_delay_limits", found, format!("at most {LATE_LIMITS_MAX}")));
    }
    if over.is_stack() && f.host_queue.is_some() {
        return Err(ConfigError::new("host_queue", "`host_queue` of a flow over a real stack", "nothing"));
    }
    if let Some(q) = &f.host_queue {
        if over.is_tcp() {
            return Err(ConfigError::new(
                "host_queue",
                "a flow over TCP",
                "a workload over UDP, or a transport that sends at a rate",
            )
            .hint("`tcp.host_queue` tells the sender when the queue of its host is full"));
        }
        q.check()?;
    }
    if let Some(l) = &f.lifetime {
        l.check(over.over())?;
        workloads::leaves_room(&f.workload)?;
    }
    workloads::check(&f.workload)?;
    work::check(&f.workload, f.count, duration).map_err(|e| e.under("workload"))
}

fn start(rule: StartRule, count: u32, duration: Dur) -> Result<(), ConfigError> {
    if let StartRule::Uniform(from, to) | StartRule::Stratified(from, to) = rule
        && from > to
    {
        let found = format!("from {} to {}", show_dur(from), show_dur(to));
        return Err(ConfigError::new("start", found, "the earlier time first"));
    }
    let latest = rule.latest(count);
    if latest < duration {
        return Ok(());
    }
    let expected = format!("a start before the end of the run ({})", show_dur(duration));
    let hint = if matches!(rule, StartRule::Every(_)) { "that is the start of the last member" } else { "" };
    Err(ConfigError::new("start", show_dur(latest), expected).hint(hint))
}

/// `bulk-1` may be a group of its own or the first member of `bulk`, not both.
fn member_names(s: &Scenario) -> Result<(), ConfigError> {
    for name in s.flow.keys() {
        let Some((group, index)) = name.rsplit_once('-') else { continue };
        let Some(f) = s.flow.get(group).filter(|f| f.count > 1) else { continue };
        let canonical = !index.starts_with('0') && index.bytes().all(|b| b.is_ascii_digit());
        if canonical && index.parse::<u32>().is_ok_and(|i| (1..=f.count).contains(&i)) {
            let found = format!("`{name}`, which is also member {index} of flow.{group}");
            return Err(ConfigError::new(format!("flow.{name}"), found, "a name of its own"));
        }
    }
    Ok(())
}

fn record(r: &Record, s: &Scenario) -> Result<(), ConfigError> {
    if let Some(interval) = r.sample {
        let points = s.duration.0.checked_div(interval.0);
        if points.is_none_or(|p| p > SAMPLES_LIMIT) {
            let expected = format!("an interval that gives at most {SAMPLES_LIMIT} samples in {}", seconds(s.duration));
            return Err(ConfigError::new("record.sample", show_dur(interval), expected));
        }
    }
    qlog(r, s)?;
    for (key, path) in [("record.pcap", &r.pcap), ("record.event_file", &r.event_file), ("record.qlog", &r.qlog)] {
        if let Some(path) = path {
            files::check_path(path).map_err(|why| {
                let expected = "the name of a file, or its path below the folder of the results";
                ConfigError::new(key, format!("`{path}`, {why}"), expected)
            })?;
        }
    }
    if r.event_file.is_some() && r.events == Events::default() {
        return Err(ConfigError::new("record.event_file", "no `record.events`", "the flows whose events are wanted"));
    }
    for (i, Part(from, until)) in r.between.iter().enumerate() {
        if from >= until || *from >= s.duration {
            let found = format!("[{}, {}]", show_dur(*from), show_dur(*until));
            let expected = format!("a time before {}, the end, and a later one", seconds(s.duration));
            return Err(ConfigError::new(format!("record.between[{i}]"), found, expected));
        }
    }
    for (wanted, key) in [(&r.events, "record.events"), (&r.hist, "record.hist")] {
        if let Events::Of(names) = wanted {
            flow_names(names, key, s)?;
        }
    }
    Ok(())
}

/// Two files are open for each flow that logs.
fn qlog(r: &Record, s: &Scenario) -> Result<(), ConfigError> {
    let Some(folder) = &r.qlog else { return Ok(()) };
    let logging = s.flow.values().filter(|f| Chosen::of(f).logs());
    let (found, expected) = match logging.map(|f| u64::from(f.count) * u64::from(f.workload.connections())).sum::<u64>()
    {
        0 => (format!("`{folder}`"), "a flow over a stack that keeps such a log: `quinn` or `noq`".into()),
        n if n > QLOGS_LIMIT => {
            (format!("{n} flows over stacks"), format!("at most {QLOGS_LIMIT}, with two files each"))
        }
        _ => return Ok(()),
    };
    Err(ConfigError::new("record.qlog", found, expected))
}

fn flow_names(names: &[String], key: &str, s: &Scenario) -> Result<(), ConfigError> {
    let mut seen = BTreeSet::new();
    for (i, name) in names.iter().enumerate() {
        let path = format!("{key}[{i}]");
        if !seen.insert(name) {
            return Err(ConfigError::new(path, format!("`{name}` a second time"), "each flow once"));
        }
        if !is_flow(name, s) {
            return Err(unknown_flow(name, &path, s));
        }
    }
    Ok(())
}

/// Whether `name` is a group of flows or a member of one.
fn is_flow(name: &str, s: &Scenario) -> bool {
    if let Some((member, _)) = name.split_once('/') {
        let group = if s.flow.contains_key(member) { member } else { member.rsplit_once('-').map_or(member, |m| m.0) };
        let Some(f) = s.flow.get(group) else { return false };
        let among = |k| f.workload.connection_name(member, k) == name;
        return is_flow(member, s) && (0..f.workload.connections()).any(among);
    }
    let member = || {
        let (group, index) = name.rsplit_once('-')?;
        let count = s.flow.get(group)?.count;
        let index: u32 = index.parse().ok()?;
        (count > 1 && (1..=count).contains(&index) && name == format!("{group}-{index}")).then_some(())
    };
    s.flow.contains_key(name) || member().is_some()
}

fn unknown_flow(name: &str, path: &str, s: &Scenario) -> ConfigError {
    let groups: Vec<&str> = s.flow.keys().map(String::as_str).collect();
    unknown(name, path, "the name of a flow or group of flows", &groups)
}
