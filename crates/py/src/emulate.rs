//! Emulation: a scenario as hosts and routes, a run with its driver, and tapes.

use crate::convert;
use crate::errors::scenario_error;
use crosswind_base::packet::{Life, Lifetime};
use crosswind_base::{ConfigError, units};
use crosswind_emu::bench;
use crosswind_emu::change::Change;
use crosswind_emu::run::{self, Devices, Options, RunError, Running};
use crosswind_emu::spec::{Crossing, EgressSpec, FlowPorts, Host, Route, Spec, Subject, v4_of, v6_of};
use crosswind_record::option::{TimeOfDay, encode};
use crosswind_sim::scenario::{self, GroupPlan, LifetimeForm, LifetimeFrom, LifetimeParams, LifetimeRule};
use crosswind_sim::scenario::{Plan, Registries, Repetition, Scenario, TransportPlan};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Flow `i` is known by this port plus `i`, below the ports that kernels choose by themselves.
const FIRST_PORT: u16 = 20_000;
/// A namespace and a device for each.
const HOSTS_MAX: usize = 256;

fn error(py: Python<'_>, e: RunError) -> PyErr {
    match e {
        RunError::Config(e) => scenario_error(py, e),
        RunError::System(what, e) => PyOSError::new_err((e.raw_os_error(), format!("{what}: {e}"))),
    }
}

/// What an emulation takes from a scenario.
pub struct Layout {
    scenario: Scenario,
    plan: Plan,
    /// Nodes that are hosts, in the order of the plan.
    hosts: Vec<u32>,
    /// The same with more flows between each pair of hosts ([`mesh`]).
    mesh: Plan,
}

impl Layout {
    pub fn of(text: &str) -> Result<Layout, ConfigError> {
        let scenario = scenario::parse(text, &Registries)?;
        let plan = scenario::compile(&scenario)?;
        plan.groups.iter().try_for_each(check_lifetime)?;
        let hosts = hosts(&scenario, &plan)?;
        let mesh = mesh(text, &plan, &hosts)?;
        Ok(Layout { scenario, plan, hosts, mesh })
    }

    fn host(&self, node: u32) -> u32 {
        self.hosts.binary_search(&node).expect("ends of flows are hosts") as u32
    }

    pub fn spec(&self, rep: Repetition) -> Spec {
        let name = |n: u32| self.plan.nodes[n as usize].clone();
        let egress = |e: &scenario::EgressPlan| EgressSpec {
            link: e.name.clone(),
            direction: e.direction.word().into(),
            from: name(e.from),
            to: name(e.to),
            rate_bps: e.spec.rate.map_or(0, |r| r.0),
            body: e.spec.link.clone(),
            queue: e.spec.queue.clone(),
            loss: e.spec.loss.clone(),
            delayers: e.spec.delayers.clone(),
            mtu_bytes: self.scenario.emulate.link_mtu.get(&e.name).map(|m| m.0 as u16),
        };
        Spec {
            name: self.plan.name.clone(),
            seed: rep.seed,
            rep: rep.index,
            hosts: self.hosts.iter().map(|n| Host { name: name(*n) }).collect(),
            egresses: self.plan.egresses.iter().map(egress).collect(),
            routes: if self.plan.boundaries.is_empty() { self.routes() } else { self.routes_by_contract() },
            boundaries: self.mesh.boundaries.iter().map(|b| b.spec(self.mesh.flows.len())).collect(),
            subjects: if self.plan.boundaries.is_empty() { Vec::new() } else { self.subjects() },
            flow_ports: FlowPorts { first: FIRST_PORT, flows: self.plan.flows.len() as u32 },
            receivers: self.plan.flows.iter().map(|f| self.host(f.to)).collect(),
            flow_names: self.flow_names(),
            gateway: None,
            start: Default::default(),
        }
    }

    fn routes(&self) -> Vec<Route> {
        let mut routes = Vec::new();
        for f in &self.mesh.flows {
            let (from, to) = (self.host(f.from), self.host(f.to));
            routes.push(Route::of_all(from, to, self.mesh.routes[f.route_forward as usize].clone()));
            routes.push(Route::of_all(to, from, self.mesh.routes[f.route_reverse as usize].clone()));
        }
        routes
    }

    /// Routes on which contracts are kept. What comes back to the sender of a declared flow has a way without any.
    fn routes_by_contract(&self) -> Vec<Route> {
        let mut routes = Vec::new();
        for (i, f) in self.mesh.flows.iter().enumerate() {
            let own = self.mesh.crossings.iter().filter(|c| c.flow as usize == i);
            let crossing =
                |c: &scenario::Crossing| Crossing { behind: c.behind, boundary: c.boundary, subject: c.flow };
            let flow = self.declared(&f.name);
            let (from, to) = (self.host(f.from), self.host(f.to));
            let hops = self.mesh.routes[f.route_forward as usize].clone();
            routes.push(Route { flow, crossings: own.map(crossing).collect(), ..Route::of_all(from, to, hops) });
            if flow.is_some() {
                let back = self.mesh.routes[f.route_reverse as usize].clone();
                routes.push(Route { flow, ..Route::of_all(to, from, back) });
            }
        }
        routes
    }

    fn declared(&self, name: &str) -> Option<u32> {
        self.plan.flows.iter().position(|f| f.name == name).map(|i| i as u32)
    }

    fn subjects(&self) -> Vec<Subject> {
        let node = |n: u32| &self.plan.nodes[n as usize];
        let subject = |f: &scenario::FlowPlan| match self.declared(&f.name) {
            Some(_) => Subject { name: f.name.clone(), group: self.mesh.group(f).name.clone() },
            None => Subject { name: format!("{} to {}", node(f.from), node(f.to)), group: String::new() },
        };
        self.mesh.flows.iter().map(subject).collect()
    }

    /// As filters name them: a group, a member of one with all its connections, a flow.
    fn flow_names(&self) -> BTreeMap<String, Vec<[u32; 2]>> {
        let mut names: BTreeMap<String, Vec<[u32; 2]>> = BTreeMap::new();
        for (f, i) in self.plan.flows.iter().zip(0..) {
            names.insert(f.name.clone(), vec![[i, i + 1]]);
        }
        for (f, i) in self.plan.flows.iter().zip(0..).filter(|(f, _)| f.name != f.member()) {
            names.entry(f.member().to_string()).or_default().push([i, i + 1]);
        }
        names.extend(self.plan.groups.iter().map(|g| (g.name.clone(), vec![[g.first, g.first + g.count]])));
        names
    }

    /// The host that a setting names, or else the one that the flows suggest.
    fn named(&self, name: Option<&String>, fallback: u32) -> u32 {
        let node = name.and_then(|n| self.plan.nodes.iter().position(|m| m == n)).map_or(fallback, |n| n as u32);
        self.host(node)
    }

    /// MTU of a host's device: what one of its links can carry, and no more than all devices have.
    fn mtu_of(&self, node: u32) -> u64 {
        let e = &self.scenario.emulate;
        let own = self.plan.egresses.iter().filter(|l| l.from == node);
        let largest = own.map(|l| e.link_mtu.get(&l.name).map_or(e.mtu.0, |m| m.0)).max();
        largest.map_or(e.mtu.0, |m| m.min(e.mtu.0))
    }

    fn timed(&self, c: &scenario::Change) -> Option<Value> {
        let scenario::Target::Egress(i) = c.target else { return None };
        let e = &self.plan.egresses[i as usize];
        Some(json!({"at_ns": c.at.0, "change": {"link": e.name, "direction": e.direction.word(), "set": c.set}}))
    }

    fn to_json(&self, rep: Repetition) -> Value {
        let e = &self.scenario.emulate;
        let first = self.plan.flows.first();
        let last_host = self.hosts[self.hosts.len() - 1];
        let hosts = self.hosts.iter().enumerate().map(|(i, n)| {
            json!({"name": self.plan.nodes[*n as usize], "v4": Ipv4Addr::from(v4_of(i)),
                "v6": Ipv6Addr::from(v6_of(i)), "mtu": self.mtu_of(*n)})
        });
        let starts = self.plan.starts(rep);
        let flows = self.plan.flows.iter().enumerate().map(|(i, f)| {
            let g = self.plan.group(f);
            let tcp = g.transport.tcp().map_or_else(|| json!({}), |_| self.scenario.flow[&g.name].tcp.clone());
            // A real stack: its table says which.
            let stack = self.scenario.flow[&g.name].transport.as_ref().filter(|_| g.transport.is_foreign());
            let transport = match &g.transport {
                TransportPlan::Tcp(_) => "tcp",
                TransportPlan::Stack(s) => s.name,
                _ => "udp",
            };
            json!({
                "flow": i, "name": f.name, "group": g.name, "connection": f.connection, "from": self.host(f.from), "to": self.host(f.to),
                "port": u32::from(FIRST_PORT) + i as u32, "start_ns": starts[i].0,
                "transport": transport, "stack": stack,
                "workload": g.workload, "tcp": tcp, "dscp": g.dscp.bits(), "ip_option": g.lifetime.map(|l| option_of(&l)),
            })
        });
        json!({
            "name": self.plan.name,
            "duration_ns": self.plan.duration.0,
            "hosts": hosts.collect::<Vec<_>>(),
            "flows": flows.collect::<Vec<_>>(),
            "client": self.named(e.client.as_ref(), first.map_or(last_host, |f| f.to)),
            "uplink": self.named(e.uplink.as_ref(), first.map_or(self.hosts[0], |f| f.from)),
            "mtu": e.mtu.0,
            "lateness_ns": e.lateness.0,
            "serve": e.serve,
            "sysctl": e.sysctl,
            "timeline": self.plan.timeline.iter().filter_map(|c| self.timed(c)).collect::<Vec<_>>(),
            "sample_ns": self.plan.record.sample.map(|d| d.0),
        })
    }
}

/// Nodes with one link, ends of flows, and whatever the settings name.
fn hosts(s: &Scenario, plan: &Plan) -> Result<Vec<u32>, ConfigError> {
    let mut links = vec![0u32; plan.nodes.len()];
    plan.egresses.iter().for_each(|e| links[e.from as usize] += 1);
    let mut hosts: BTreeSet<u32> = (0..plan.nodes.len() as u32).filter(|n| links[*n as usize] == 1).collect();
    hosts.extend(plan.flows.iter().flat_map(|f| [f.from, f.to]));
    let mut named = Vec::new();
    named.extend(s.emulate.client.iter().map(|n| ("emulate.client".to_string(), n)));
    named.extend(s.emulate.uplink.iter().map(|n| ("emulate.uplink".to_string(), n)));
    named.extend(s.emulate.serve.iter().map(|(k, v)| (format!("emulate.serve.{k}.node"), &v.node)));
    for (path, name) in named {
        let Some(node) = plan.nodes.iter().position(|n| n == name) else {
            let nodes: Vec<&str> = plan.nodes.iter().map(String::as_str).collect();
            return Err(ConfigError::unknown(path, name, "a node of the network", &nodes));
        };
        hosts.insert(node as u32);
    }
    if let Some(i) = s.timeline.iter().position(|t| t.flow.is_some()) {
        let found = "a change of a flow: here flows are programs of their own";
        return Err(ConfigError::new(format!("timeline[{i}].flow"), found, "a change of a link, to emulate"));
    }
    for name in s.emulate.link_mtu.keys() {
        let links: BTreeSet<&str> = plan.egresses.iter().map(|e| e.name.as_str()).collect();
        let links: Vec<&str> = links.into_iter().collect();
        if !links.contains(&name.as_str()) {
            return Err(ConfigError::unknown(
                format!("emulate.link_mtu.{name}"),
                name,
                "a link of the network",
                &links,
            ));
        }
    }
    if hosts.len() < 2 || hosts.len() > HOSTS_MAX {
        let found = format!("{} hosts (nodes with one link, or ends of flows)", hosts.len());
        return Err(ConfigError::new("link", found, format!("from 2 to {HOSTS_MAX} hosts to emulate")));
    }
    Ok(hosts.into_iter().collect())
}

/// A kernel puts one and the same option into every packet of a socket.
fn check_lifetime(g: &GroupPlan) -> Result<(), ConfigError> {
    let Some(l) = g.lifetime else { return Ok(()) };
    let is_one = l.rule == LifetimeRule::Data && l.form == LifetimeForm::Relative && l.from == LifetimeFrom::Packet;
    if is_one {
        return Ok(());
    }
    let found = "a lifetime that differs from packet to packet";
    Err(ConfigError::new(format!("flow.{}.lifetime", g.name), found, "one that is the same for all, such as \"5 s\"")
        .hint("the kernel of a real host puts the same option into every packet of a socket"))
}

/// The option that packets of such a flow carry in their IP header, in hexadecimal digits.
fn option_of(l: &LifetimeParams) -> String {
    let lifetime = Lifetime::Left(l.data.unwrap_or_default());
    let life = Life { lifetime, expired: l.expired, is_cut: false };
    encode(&life, TimeOfDay::OF_CAPTURES).iter().map(|b| format!("{b:02x}")).collect()
}

/// The same scenario with one more flow between each pair of hosts; where contracts cover one direction, with two.
fn mesh(text: &str, plan: &Plan, hosts: &[u32]) -> Result<Plan, ConfigError> {
    let mut written: Value = serde_json::from_str(text).unwrap_or_default();
    let mut flows = written.get("flow").and_then(Value::as_object).cloned().unwrap_or_default();
    for (i, a) in hosts.iter().enumerate() {
        let others = if plan.boundaries.is_empty() { &hosts[i + 1..] } else { hosts };
        for b in others.iter().filter(|b| *b != a) {
            let [from, to] = [a, b].map(|n| &plan.nodes[*n as usize]);
            flows.insert(format!("from{a}to{b}"), json!({"from": from, "to": to, "workload": {"type": "bulk"}}));
        }
    }
    written["flow"] = Value::Object(flows);
    scenario::compile(&scenario::parse_value(&written, &Registries)?)
}

fn repetition(seed: u64, [index, of]: [u32; 2]) -> Repetition {
    Repetition { seed, index, of }
}

/// Hosts, addresses, flows and settings of a scenario, as JSON.
#[pyfunction]
fn emulate_plan(py: Python<'_>, scenario_json: &str, seed: u64, rep: u32, reps_total: u32) -> PyResult<String> {
    let layout = Layout::of(scenario_json).map_err(|e| scenario_error(py, e))?;
    Ok(layout.to_json(repetition(seed, [rep, reps_total])).to_string())
}

/// Plays a tape in virtual time: what was decided, and whether it is what the live run decided, as JSON.
#[pyfunction]
fn replay_tape(py: Python<'_>, path: &str) -> PyResult<String> {
    let replay = py.detach(|| run::replay(path)).map_err(|e| error(py, e))?;
    Ok(json!(replay).to_string())
}

/// One live run: `open` makes the devices, `start` the driver, `stop` gives the tables.
#[pyclass(module = "crosswind._core")]
struct Emulation {
    spec: Spec,
    devices: Option<Devices>,
    running: Option<Running>,
}

#[pymethods]
impl Emulation {
    #[new]
    fn new(py: Python<'_>, scenario_json: &str, seed: u64, rep: u32, reps_total: u32) -> PyResult<Emulation> {
        let layout = Layout::of(scenario_json).map_err(|e| scenario_error(py, e))?;
        Ok(Emulation { spec: layout.spec(repetition(seed, [rep, reps_total])), devices: None, running: None })
    }

    /// Makes a device in each of these namespaces (paths), one for each host. `gateway`: the host for all other
    /// addresses.
    #[pyo3(signature = (namespaces, gateway=None))]
    fn open(&mut self, py: Python<'_>, namespaces: Vec<String>, gateway: Option<u32>) -> PyResult<()> {
        if namespaces.len() != self.spec.hosts.len() {
            return Err(PyValueError::new_err("open: one namespace for each host"));
        }
        self.spec.gateway = gateway;
        self.devices = Some(Devices::open(&namespaces).map_err(|e| error(py, e))?);
        Ok(())
    }

    /// Starts the driver; returns its thread and the monotonic time that is logical zero.
    fn start(&mut self, py: Python<'_>, options_json: &str) -> PyResult<(i32, u64)> {
        let options: Options =
            serde_json::from_str(options_json).map_err(|e| PyValueError::new_err(format!("options: {e}")))?;
        let devices = self.devices.take().ok_or_else(|| PyRuntimeError::new_err("start comes once, after open"))?;
        let running = run::start(self.spec.clone(), devices, &options).map_err(|e| error(py, e))?;
        let out = (running.thread, running.start_ns);
        self.running = Some(running);
        Ok(out)
    }

    /// The network at the last look, as JSON.
    fn view(&self) -> String {
        json!(self.running.as_ref().map(Running::view)).to_string()
    }

    /// Changes a link from now on: `{"link": .., "direction": .., "set": {..}}`.
    fn change(&self, change_json: &str) -> PyResult<()> {
        let change: Change =
            serde_json::from_str(change_json).map_err(|e| PyValueError::new_err(format!("change: {e}")))?;
        if !self.spec.egresses.iter().any(|e| e.link == change.link) {
            return Err(PyValueError::new_err(format!("change: there is no link `{}`", change.link)));
        }
        if let Some(running) = &self.running {
            running.change(change);
        }
        Ok(())
    }

    /// The run has ended by itself.
    fn is_over(&self) -> bool {
        self.running.as_ref().is_none_or(Running::is_over)
    }

    /// Ends the run: tables, the last view and what the machine did to it.
    fn stop<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let running = self.running.take().ok_or_else(|| PyRuntimeError::new_err("stop comes once, after start"))?;
        let mut running = running;
        let outcome = py.detach(|| running.stop()).ok_or_else(|| PyRuntimeError::new_err("stopped before"))?;
        let mut o = outcome.map_err(PyRuntimeError::new_err)?;
        o.tables.stamp(crosswind_record::RunKey { scenario: 0, rep: self.spec.rep });
        let out = PyDict::new(py);
        out.set_item("tables", convert::tables(py, o.tables)?)?;
        out.set_item("view", json!(o.view).to_string())?;
        let quantiles = |h: &crosswind_base::Histogram| {
            let q = |q: f64| if h.count() == 0 { 0.0 } else { h.quantile(q) };
            json!({"count": h.count(), "p50_ns": q(0.5), "p99_ns": q(0.99), "p999_ns": q(0.999), "max_ns": h.max()})
        };
        let p = &o.punctuality;
        let machine = json!({
            "lateness": quantiles(&p.lateness_ns), "oversleep": quantiles(&p.oversleep_ns),
            "unwritten_packets": p.unwritten_packets, "read_errors": p.read_errors,
            "fingerprint": format!("{:016x}", o.end.fingerprint), "decisions": o.end.decisions,
            "end": units::show_dur(o.end.at.since(crosswind_base::Time::ZERO)),
            "tape_error": o.tape_error.map(|e| e.to_string()),
            "stuck": o.stuck,
        });
        out.set_item("machine", machine.to_string())?;
        Ok(out)
    }
}

fn path([from, to]: [String; 2], address: &str) -> PyResult<bench::Path> {
    let address =
        address.parse().map_err(|_| PyValueError::new_err(format!("`{address}` is no address with a port")))?;
    Ok(bench::Path { from, to, address })
}

/// Probes from one namespace to another; what became of them, as JSON.
#[pyfunction]
fn emulate_probe(
    py: Python<'_>,
    namespaces: [String; 2],
    address: &str,
    packets_per_s: f64,
    seconds: f64,
    offset_ns: u64,
) -> PyResult<String> {
    let path = path(namespaces, address)?;
    let pace = bench::Pace { packets_per_s, seconds, payload_bytes: 100 };
    let probed = py.detach(|| bench::probe(&path, pace, offset_ns))?;
    Ok(json!(probed).to_string())
}

/// Packets as fast as one thread can send them, over all paths (namespaces, address) in turn, as JSON.
#[pyfunction]
fn emulate_flood(
    py: Python<'_>,
    paths: Vec<([String; 2], String)>,
    seconds: f64,
    payload_bytes: usize,
) -> PyResult<String> {
    let paths = paths.into_iter().map(|(n, a)| path(n, &a)).collect::<PyResult<Vec<_>>>()?;
    let flooded = py.detach(|| bench::flood(&paths, seconds, payload_bytes))?;
    Ok(json!(flooded).to_string())
}

/// One TCP connection between two namespaces, as JSON.
#[pyfunction]
fn emulate_bulk(py: Python<'_>, namespaces: [String; 2], address: &str, seconds: f64, skip_s: f64) -> PyResult<String> {
    let path = path(namespaces, address)?;
    let bulk = py.detach(|| bench::bulk(&path, seconds, skip_s))?;
    Ok(json!(bulk).to_string())
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Emulation>()?;
    m.add_function(wrap_pyfunction!(emulate_plan, m)?)?;
    m.add_function(wrap_pyfunction!(replay_tape, m)?)?;
    m.add_function(wrap_pyfunction!(emulate_probe, m)?)?;
    m.add_function(wrap_pyfunction!(emulate_flood, m)?)?;
    m.add_function(wrap_pyfunction!(emulate_bulk, m)?)?;
    Ok(())
}
