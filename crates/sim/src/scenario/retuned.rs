//! What the timeline can change of a flow: its transport's parameters, its treatment, the lifetime of its packets, and the
//! pace of a source of datagrams. Each change is worked out, and refused where it makes no sense, before anything runs.

use super::change::{Changed, OfFlow};
use super::lifetime::LifetimeParams;
use super::plan::GroupPlan;
use super::start::StartRule;
use super::transport::{Chosen, TransportPlan, has_room};
use super::types::Flow;
use super::workloads::{self, WorkloadParams};
use crosswind_base::units::show_dur;
use crosswind_base::{ConfigError, Dur, Setting, Time, config};
use crosswind_net::params::merge;
use crosswind_transport::rate::protocol::RateRow;
use crosswind_transport::rate::table as rate;
use crosswind_transport::tcp;
use crosswind_transport::tcp::TcpParams;
use serde_json::{Map, Value};
use std::sync::Arc;

type Keys = Map<String, Value>;

/// A flow as the changes so far have made it.
pub(super) struct Present<'p> {
    group: &'p GroupPlan,
    workload: WorkloadParams,
    has_lifetime: bool,
    tcp: Keys,
    paced: Keys,
}

fn keys(v: &Value) -> Keys {
    v.as_object().cloned().unwrap_or_default()
}

fn table<'a>(v: &'a Value, key: &str) -> Result<&'a Keys, ConfigError> {
    v.as_object().ok_or_else(|| ConfigError::new(key, v.to_string(), "a table of the keys that change"))
}

impl<'p> Present<'p> {
    pub fn of(group: &'p GroupPlan, written: &Flow) -> Present<'p> {
        let (tcp, paced) = match Chosen::of(written) {
            Chosen::Tcp(v) => (keys(v), Keys::new()),
            Chosen::Rate(_, v) => (Keys::new(), keys(v)),
            _ => (Keys::new(), Keys::new()),
        };
        let (workload, has_lifetime) = (group.workload.clone(), group.lifetime.is_some());
        Present { group, workload, has_lifetime, tcp, paced }
    }

    /// What a table of the timeline makes of it in a run of that length. Paths are relative to the table.
    pub fn change(&mut self, at: Time, set: &Keys, duration: Dur) -> Result<OfFlow, ConfigError> {
        let (mut out, mut rest) = (OfFlow::default(), set.clone());
        if let Some(new) = rest.shift_remove("tcp") {
            out.tcp = Some(self.tcp(at, table(&new, "tcp")?)?);
        }
        for row in rate::ROWS {
            if let Some(new) = rest.shift_remove(row.name) {
                out.paced = Some(self.paced(row, table(&new, row.name)?)?);
            }
        }
        if let Some(new) = rest.shift_remove("dscp") {
            out.dscp = Some(config::read(&new, "dscp")?);
        }
        if let Some(new) = rest.shift_remove("lifetime") {
            let lifetime: LifetimeParams = config::read(&new, "lifetime")?;
            lifetime.check(self.group.transport.over())?;
            if let TransportPlan::Rate(p) = &self.group.transport {
                has_room(p.packet_size(), true, "lifetime")?;
            }
            workloads::leaves_room(&self.workload).map_err(|e| ConfigError { path: "lifetime".into(), ..e })?;
            self.has_lifetime = true;
            out.lifetime = Some(lifetime);
        }
        if !rest.is_empty() {
            let before = self.workload.clone();
            out.workload = Some(Changed { before, now: self.workload(&rest, duration)? });
        }
        Ok(out)
    }

    fn workload(&mut self, set: &Keys, duration: Dur) -> Result<WorkloadParams, ConfigError> {
        let transport = &self.group.transport;
        let is_taken_as_it_is = transport.has_rate() || transport.is_foreign();
        if is_taken_as_it_is && matches!(self.workload, WorkloadParams::Bulk(_)) {
            return Err(ConfigError::cannot_change(set));
        }
        self.workload = self.workload.changed(set)?;
        if self.has_lifetime {
            let at_the_key = |e| ConfigError { path: "payload".into(), ..e };
            workloads::leaves_room(&self.workload).map_err(at_the_key)?;
        }
        super::work::check(&self.workload, 1, duration)?;
        if self.group.transport.has_rate() && self.workload.payload() != self.group.workload.payload() {
            let expected = "the size that the transport's packets have";
            return Err(ConfigError::new("payload", set["payload"].to_string(), expected));
        }
        Ok(self.workload.clone())
    }

    /// Keys that count when a connection begins are of no use to one that has begun.
    fn tcp(&mut self, at: Time, set: &Keys) -> Result<Arc<TcpParams>, ConfigError> {
        if self.group.is_datagrams() {
            return Err(ConfigError::new("tcp", "parameters of TCP", "nothing: this flow does not run over TCP"));
        }
        let set = &tcp::preset::renamed(set.clone(), "tcp")?;
        self.tcp = tcp::preset::renamed(std::mem::take(&mut self.tcp), "tcp")?;
        merge(&mut self.tcp, set);
        let params = tcp::preset::read(&Value::Object(self.tcp.clone()), "tcp")?;
        let begun = match self.group.start {
            StartRule::Fixed(d) if self.group.workload.connections() == 1 => Some(Time::ZERO + d),
            _ => None,
        };
        let late = set.keys().find(|k| !tcp::conn::live::KEYS.contains(&k.as_str()));
        match (begun.filter(|b| *b <= at), late) {
            (Some(begun), Some(key)) => {
                let path = format!("tcp.{key}");
                let found = format!("a change at {} of a connection that begins at {}", since(at), since(begun));
                let expected = "a change before the connection begins, of this key";
                let hint = format!("while it lives these may change: {}", tcp::conn::live::KEYS.join(", "));
                Err(ConfigError::new(path, found, expected).hint(hint))
            }
            _ => Ok(Arc::new(params)),
        }
    }

    fn paced(&mut self, row: &RateRow, set: &Keys) -> Result<Setting, ConfigError> {
        let key = row.name;
        if !matches!(&self.group.transport, TransportPlan::Rate(p) if p.name() == key) {
            return Err(ConfigError::new(key, format!("parameters of {key}"), "those of the flow's own transport"));
        }
        let valid = row.build.live_keys;
        if let Some(wrong) = set.keys().find(|k| !valid.contains(&k.as_str())) {
            let path = format!("{key}.{wrong}");
            return Err(ConfigError::unknown(path, wrong, "a key that can change while it runs", valid));
        }
        merge(&mut self.paced, set);
        row.build.setting(&Value::Object(self.paced.clone()), key)
    }
}

fn since(t: Time) -> String {
    show_dur(t.since(Time::ZERO))
}
