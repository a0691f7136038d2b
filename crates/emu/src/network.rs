//! The network between the hosts: the stages of the scenario, told the time by whoever drives them.
//!
//! Nothing in here waits or asks what time it is, but for the [`Clock`] of the driver in [`Network::drive`]. The same arrivals
//! at the same times give the same decisions, live or from a tape. The event loop is that of the simulator.

use crate::change::Change;
use crate::delivery::{Port, Sink, Totals};
use crate::flows::Flows;
use crate::frame;
use crate::hosts::{Exits, Hosts, Waits, Ways};
use crate::journal::{Journal, Keep};
use crate::spec::{HOSTS_MAX, Spec};
use crosswind_base::{Clock, ConfigError, DropReason, Histogram, Ledger, Observer, Packet, Stage, Streams, Sync, Time};
use crosswind_engine::{Boundaries, Engine, Stop, View};
use crosswind_net::diffserv::boundary::Passed;
use crosswind_net::diffserv::terms::BoundarySpec;
use crosswind_net::registry::{BoxStage, BuildCx, EgressMaker, Parts};
use serde_json::Value;
use std::collections::BTreeMap;

/// Losses and marks by egress.
#[derive(Clone, Default, Debug)]
pub struct Losses {
    pub by_reason: Vec<[u64; DropReason::COUNT]>,
    pub marks_packets: Vec<u64>,
    /// Of each declared flow: dropped by queues, lost on links, marked.
    pub by_flow: Vec<[u64; 3]>,
    /// Packets that the shapers of contracts dropped, by boundary and place in the table of hops.
    shaped: BTreeMap<(usize, u32), u64>,
    /// Number of the first boundary.
    boundaries_from: usize,
    /// Resets that have crossed an egress with Fast Reset: which one, and the slot of the packet.
    resets: Vec<(u32, usize)>,
}

impl Losses {
    fn of_flow(&mut self, p: &Packet, kind: usize) {
        if let Some(f) = self.by_flow.get_mut(p.flow.0 as usize) {
            f[kind] += 1;
        }
    }
}

impl Ledger for Losses {
    fn dropped(&mut self, stage: u32, p: &Packet, why: DropReason) {
        if let Some(by_reason) = self.by_reason.get_mut(stage as usize) {
            by_reason[why as usize] += 1;
        } else if why != DropReason::Policed {
            *self.shaped.entry((stage as usize - self.boundaries_from, p.hop)).or_default() += 1;
        }
        self.of_flow(p, usize::from(why.is_loss()));
    }
    fn reset_passed(&mut self, stage: u32, p: &Packet) {
        self.resets.push((stage, p.ack as usize));
    }
    fn marked(&mut self, stage: u32, p: &Packet) {
        self.marks_packets[stage as usize] += 1;
        self.of_flow(p, 2);
    }
}

pub struct Network {
    engine: Engine,
    hosts: Hosts,
    /// Link and direction of each egress.
    names: Vec<(String, String)>,
    /// How far the clock was seen to have come.
    reached: Time,
    /// Where and when time has stopped, in words.
    stuck: Option<String>,
    pub losses: Losses,
    pub totals: Totals,
    pub journal: Journal,
}

impl Network {
    pub fn build(spec: &Spec, keep: Keep) -> Result<Network, ConfigError> {
        let hosts = spec.hosts.len();
        if hosts > HOSTS_MAX {
            return Err(ConfigError::new("link", format!("{hosts} hosts"), format!("at most {HOSTS_MAX} to emulate")));
        }
        let shared = Streams::new(spec.seed);
        let seed = shared.named(&format!("repetition/{}", spec.rep)).bits();
        let streams = Streams::new(seed);
        let mut egresses: Vec<BoxStage> = Vec::with_capacity(spec.egresses.len());
        for e in &spec.egresses {
            let component = format!("link/{}/{}", e.link, e.direction);
            let cx = BuildCx::new(&streams, &component).of_repetition(&shared, spec.rep).that_changes();
            let cx = cx.with_hosts_in_packets().with_flows(spec);
            let parts = Parts { queue: &e.queue, link: &e.body, loss: e.loss.as_ref(), delayers: &e.delayers };
            let egress = EgressMaker::new(&parts, &format!("link.{}", e.link))?.make(&cx)?;
            egresses.push(egress);
        }
        let n = egresses.len();
        let ways = Ways::of(spec)?;
        let boundary = |b: &BoundarySpec| Ok(b.make(&streams, spec)?.with_ways(ways.subjects.clone()));
        let list = spec.boundaries.iter().map(boundary).collect::<Result<Vec<_>, ConfigError>>()?;
        let boundaries = Boundaries { list, from: n + hosts };
        let by_flow = vec![[0; 3]; spec.flow_ports.flows as usize];
        Ok(Network {
            engine: Engine::new(egresses, boundaries, ways.hops.clone(), 0),
            names: spec.egresses.iter().map(|e| (e.link.clone(), e.direction.clone())).collect(),
            reached: Time::ZERO,
            stuck: None,
            hosts: Hosts {
                ways,
                mtus_bytes: spec.egresses.iter().map(|e| e.mtu_bytes.unwrap_or(u16::MAX)).collect(),
                start: spec.start,
                reads_acks: spec.egresses.iter().any(|e| filters_acks(&e.queue)),
                frames: Vec::new(),
                flows: Flows::new(spec.flow_ports),
                waits: Waits::of(spec),
            },
            losses: Losses {
                by_reason: vec![[0; DropReason::COUNT]; n],
                marks_packets: vec![0; n],
                by_flow,
                boundaries_from: n + hosts,
                ..Losses::default()
            },
            totals: Totals::default(),
            journal: Journal::new(keep),
        })
    }

    pub fn now(&self) -> Time {
        self.engine.now
    }
    pub fn egresses(&self) -> &[BoxStage] {
        &self.engine.stages
    }
    /// What the boundary of that number has seen of each subject, and how many packets its shapers dropped of it.
    pub fn passed(&self, boundary: usize) -> impl Iterator<Item = (Passed, u64)> {
        let subject = |hop: u32| self.hosts.ways.subjects[hop as usize - 1];
        self.engine.boundaries.list[boundary].passed(self.engine.now).into_iter().map(move |p| {
            let of_it = self.losses.shaped.iter().filter(|((b, hop), _)| *b == boundary && subject(*hop) == p.flow);
            (p, of_it.map(|(_, n)| n).sum())
        })
    }
    /// Times between the green packets of each contract of a boundary, with its number.
    pub fn green_intervals(&self, boundary: usize) -> impl Iterator<Item = (usize, &Histogram)> {
        self.engine.boundaries.list[boundary].green_intervals().enumerate()
    }
    /// How long the data of each declared flow was in queues.
    pub fn queue_delays_ns(&self) -> impl Iterator<Item = &Histogram> {
        self.hosts.waits.iter().map(|w| &w.queue_delay_ns)
    }
    /// Why nothing can happen any more: a stage keeps the network busy at one instant.
    pub fn stuck(&self) -> Option<&str> {
        self.stuck.as_deref()
    }
    pub fn packets_inside(&self) -> usize {
        self.engine.pool.in_use()
    }
    pub fn peak_packets(&self) -> usize {
        self.engine.pool.peak()
    }

    /// Buffers for so many packets, written to once, so that the machine has given the memory.
    pub fn make_room(&mut self, packets: usize, frame_bytes: usize) {
        self.hosts.make_room(packets, frame_bytes);
        self.engine.make_room(packets);
    }

    /// Everything that is due up to and at `until`, each at its own time.
    pub fn serve(&mut self, until: Time, sink: &mut impl Sink) {
        if self.run(until, sink, |_, _| Sync::OnTime) {
            self.engine.now = until;
        }
    }

    /// The same as the clock goes on, and then waits for `until`. Once it was late, it is not asked about what was due by then.
    pub fn drive<P: Clock + Sink>(&mut self, until: Time, port: &mut P) -> Sync {
        if !self.run(until, port, P::sync) {
            return Sync::Interrupted(self.engine.now);
        }
        if until < self.reached { Sync::Late(self.reached.since(until)) } else { port.sync(until) }
    }

    /// Whether all of it was served: nothing was seen to come before, and time goes on.
    fn run<S: Sink>(&mut self, until: Time, sink: &mut S, clock: fn(&mut S, Time) -> Sync) -> bool {
        if self.stuck.is_some() {
            return false;
        }
        let view = View::none().until(until.min(LATEST), Time::ZERO);
        let mut ends =
            Exits { hosts: &mut self.hosts, totals: &mut self.totals, reached: &mut self.reached, sink, clock };
        loop {
            let observer = Some(&mut self.journal as &mut (dyn Observer + 'static));
            match self.engine.run(view, &mut ends, &mut self.losses, observer) {
                Stop::LaterDue => return true,
                Stop::Interrupted => return false,
                Stop::Stuck { stage } => {
                    let at_s = self.engine.now.since(Time::ZERO).as_secs_f64();
                    let place = self.names.get(stage).map_or("no link".into(), |(l, d)| format!("link {l} ({d})"));
                    self.stuck = Some(format!("time stands still at {at_s} s, the last event at {place}"));
                    return false;
                }
                Stop::Notification if !self.losses.resets.is_empty() => {
                    heed_resets(&mut self.engine, &mut self.losses, &mut self.journal, (&self.names, ends.hosts));
                }
                Stop::Notification | Stop::Poll | Stop::Told { .. } => {}
            }
        }
    }

    /// A frame comes from a host, stamped `at`. What was due by then is served first. The buffer is exchanged for
    /// another one.
    pub fn arrive(&mut self, at: Time, from: Port, frame: &mut Vec<u8>, sink: &mut impl Sink) {
        debug_assert!(at >= self.engine.now, "stamps do not run backwards");
        self.serve(at, sink);
        self.totals.arrived_packets += 1;
        let Ok(h) = frame::parse(frame) else {
            self.totals.refused_packets += 1;
            return;
        };
        let seq = self.totals.arrived_packets;
        let Some(own) = self.hosts.described(from, &h, Packet { sent_at: at, cause: at, seq, ..Packet::default() })
        else {
            self.totals.unrouted_packets += 1;
            return;
        };
        let id = self.hosts.take_in(own, frame, at, &mut self.engine.pool);
        self.engine.emit(id);
        self.serve(at, sink);
    }

    /// New parameters for a link, from `at` on; what was due by then has been served.
    pub fn change(&mut self, at: Time, change: &Change) -> Result<(), ConfigError> {
        debug_assert!(at >= self.engine.now, "changes come in order of time");
        self.engine.now = at;
        for stage in 0..self.engine.stages.len() {
            let (link, direction) = &self.names[stage];
            if *link != change.link || change.direction.as_ref().is_some_and(|d| d != direction) {
                continue;
            }
            let observer = Some(&mut self.journal as &mut (dyn Observer + 'static));
            let done = self.engine.call(stage, &mut self.losses, observer, |s, cx| s.read_and_change(&change.set, cx));
            done.map_err(|e| e.under(&format!("link.{}", change.link)))?;
        }
        Ok(())
    }

    /// Brings every egress up to `at`, so that it can be sampled and reported.
    pub fn catch_up(&mut self, at: Time, sink: &mut impl Sink) {
        self.serve(at, sink);
        let observer = Some(&mut self.journal as &mut (dyn Observer + 'static));
        self.engine.catch_up(0..self.names.len(), &mut self.losses, observer);
        self.serve(at, sink);
    }
}

/// The last time at which anything can be due.
const LATEST: Time = Time(Time::NEVER.0 - 1);

/// Fast Reset: throws away what waits at the same router to go the other way and belongs to the same connection.
#[cold]
fn heed_resets(
    engine: &mut Engine,
    losses: &mut Losses,
    journal: &mut Journal,
    (names, hosts): (&[(String, String)], &Hosts),
) {
    while let Some((stage, slot)) = losses.resets.pop() {
        let (link, direction) = &names[stage as usize];
        let is_other = |n: &(String, String)| n.0 == *link && n.1 != *direction;
        let (Some(other), Ok(reset)) = (names.iter().position(is_other), frame::parse(&hosts.frames[slot])) else {
            continue;
        };
        let mut goes = |p: &Packet| frame::parse(&hosts.frames[p.ack as usize]).is_ok_and(|h| h.answers(&reset));
        let observer = Some(journal as &mut (dyn Observer + 'static));
        engine.call(other, losses, observer, |s, cx| s.purge(&mut goes, DropReason::Reset, cx));
    }
}

/// Whether a queue, or one inside of it, has a filter for acknowledgements.
fn filters_acks(queue: &Value) -> bool {
    match queue {
        Value::Object(keys) => keys.get("ack_filter").is_some_and(|f| f != "off") || keys.values().any(filters_acks),
        Value::Array(all) => all.iter().any(filters_acks),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Delivery;
    use crosswind_base::{Cx, PacketId};
    use serde_json::json;

    /// Wants to be woken again at once.
    struct Restless;

    impl Stage for Restless {
        fn accept(&mut self, _: PacketId, _: &mut Cx<'_>) {}
        fn wake(&mut self, _: &mut Cx<'_>) {}
        fn next_wake(&self) -> Option<Time> {
            Some(Time(7_000_000_000))
        }
    }

    struct Nobody;

    impl Sink for Nobody {
        fn deliver(&mut self, _: Delivery<'_>) {}
    }

    #[test]
    fn a_network_in_which_time_stands_still_says_where() {
        let egress = |direction: &str, from: &str, to: &str| {
            json!({"link": "l", "direction": direction, "from": from, "to": to, "rate_bps": 1_000_000,
                "body": {"type": "wire", "rate": "1 Mbit/s", "delay": "1 ms"}, "queue": {"type": "droptail"}})
        };
        let spec = json!({
            "name": "still", "seed": 1, "rep": 0, "hosts": [{"name": "a"}, {"name": "b"}],
            "egresses": [egress("forward", "a", "b"), egress("reverse", "b", "a")],
            "routes": [{"from": 0, "to": 1, "hops": [0]}], "flow_ports": {"first": 20_000, "flows": 0},
        });
        let spec: Spec = serde_json::from_value(spec).expect("a spec");
        let mut n = Network::build(&spec, Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"));
        let boundaries = Boundaries { list: Vec::new(), from: 4 };
        n.engine = Engine::new(vec![Box::new(Restless), Box::new(Restless)], boundaries, vec![0, 2], 0);
        n.serve(Time::from_secs_f64(6.0), &mut Nobody);
        assert_eq!((n.stuck(), n.now()), (None, Time::from_secs_f64(6.0)));
        n.serve(Time::from_secs_f64(60.0), &mut Nobody);
        assert_eq!(n.stuck(), Some("time stands still at 7 s, the last event at link l (forward)"));
        n.serve(Time::from_secs_f64(61.0), &mut Nobody);
        assert_eq!(n.now(), Time::from_secs_f64(7.0), "nothing happens any more");
    }
}
