//! A world: one run of a scenario. One thread, virtual time, no global state.
//!
//! The [`Engine`] serves events; what is more than a matter between two stages comes back here: a milestone of a flow, what
//! the ledger noted, a change of the timeline, the end.

use super::ends::FlowEnds;
use super::horizon::ReportHorizon;
use super::ledger::Losses;
use super::look_ahead;
use super::machine;
use super::manner::{Manner, Ties};
use super::messages;
use super::simultaneous::Simultaneous;
use crate::flows::{self, FlowEnd, Milestone, Own, Parameters, Recorded, workload::page};
use crate::scenario::{AbortedBy, OfFlow, Plan, Repetition, Target, WorkloadParams};
use crosswind_base::{ConfigError, DropReason, Dur, End, Observer, Packet, Stage, Streams, Time, Vantage};
use crosswind_engine::{Boundaries, Engine, Shuffle, Stop, View};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::share::Cache;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by whoever waits for a run and wants it no more.
pub type Cancel<'a> = Option<&'a AtomicBool>;

/// Who looks on, where somebody does.
type Watcher<'a> = Option<&'a mut (dyn Observer + 'static)>;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    AllFlowsClosed,
    /// Those that the scenario waits for; others may go on.
    AwaitedFlowsClosed,
    DurationReached,
    /// Nothing was left to happen although some finite flow was not complete.
    NothingLeft,
    /// The machine was about to run out of memory.
    OutOfMemory,
    Cancelled,
    /// Time has stopped: stages keep each other busy at one instant.
    Stuck,
}

impl Outcome {
    pub fn text(self) -> &'static str {
        match self {
            Outcome::AllFlowsClosed => "all flows closed",
            Outcome::AwaitedFlowsClosed => "awaited flows closed",
            Outcome::DurationReached => "duration reached",
            Outcome::NothingLeft => "nothing left to do",
            Outcome::OutOfMemory => "out of memory",
            Outcome::Cancelled => "cancelled",
            Outcome::Stuck => "time has stopped",
        }
    }
}

pub struct World<'p> {
    pub plan: &'p Plan,
    /// Of this repetition.
    streams: Streams,
    pub engine: Engine,
    pub ends: FlowEnds,
    pub losses: Losses,
    horizon: Option<ReportHorizon>,
    /// When somebody reads totals next, if that is later than the end of the present call of `run_until`.
    pub totals_at: Time,
    pub simultaneous: Simultaneous,
    /// Pages being loaded, and which one a flow belongs to; both empty where there are none.
    pub pages: Vec<page::Session>,
    page_of: Vec<Option<u32>>,
    /// Connections that the timeline has broken off.
    pub aborted: BTreeSet<usize>,
    /// Parameters of changes whose law a program brings, by the change.
    later: Arc<BTreeMap<usize, Arc<TcpParams>>>,
    /// How many changes of the timeline have been made.
    changed: usize,
    /// The stage that was called last when time stopped.
    stuck_at: Option<usize>,
    /// Whoever waits for the run may set this; the run ends soon afterwards, however long its virtual time takes.
    pub cancel: Cancel<'p>,
}

impl<'p> World<'p> {
    /// Builds the world of one repetition. `caches` are the hosts' shared control blocks, one per node.
    pub fn build(
        plan: &'p Plan,
        params: &Parameters,
        rep: Repetition,
        manner: Manner,
        caches: Vec<Cache>,
    ) -> Result<World<'p>, ConfigError> {
        let streams = streams_of(rep);
        let shared = Streams::new(rep.seed);
        let mut stages = Vec::with_capacity(plan.egresses.len());
        for i in 0..plan.egresses.len() {
            machine::room_for_more(i, plan.egresses.len())?;
            stages.push(plan.stage(i, [&streams, &shared], rep.index)?);
        }
        let (hops, starts) = flatten(plan);
        let ends = flows::flow_ends(plan, &params.ends, rep, &streams, &starts);
        let (pages, page_of) = flows::pages(plan);
        let boundaries = Boundaries { list: plan.boundary_stages(&streams)?, from: stages.len() + ends.len() };
        let stages = look_ahead::enable(plan, stages, &boundaries, manner);
        let tie_seed = match manner.ties {
            Ties::Ordered => 0,
            Ties::Shuffled => streams.named("ties/wakes").bits() | 1,
        };
        let mut losses = Losses::new(plan.flows.iter().map(|f| f.is_awaited), stages.len());
        losses.count_boundaries(boundaries.from, boundaries.list.len());
        let mut engine = Engine::new(stages, boundaries, hops, tie_seed);
        engine.shuffle = (manner.ties == Ties::Shuffled)
            .then(|| Box::new(Shuffle::new(streams.named("ties/arrivals"), plan.egresses.len())));
        for (i, e) in ends.iter().enumerate() {
            engine.wake_end(i, e.next_wake().unwrap_or(Time::NEVER));
        }
        Ok(World {
            plan,
            engine,
            ends: FlowEnds { list: ends, caches },
            horizon: ReportHorizon::find(plan),
            totals_at: Time::ZERO,
            losses,
            simultaneous: Simultaneous::new(plan.generators()),
            pages,
            page_of,
            aborted: BTreeSet::new(),
            streams,
            later: params.later.clone(),
            changed: 0,
            stuck_at: None,
            cancel: None,
        })
    }

    /// Runs until `stop` or until nothing is left to do; returns why it stopped when the run is over. The instant at which the
    /// last awaited flow closes is the last one, and all that happens at it still happens.
    pub fn run_until(&mut self, stop: Time, mut observer: Watcher<'_>) -> Option<Outcome> {
        loop {
            let is_last = self.losses.open == 0;
            let stop = if is_last { self.engine.now } else { stop };
            let change = self.plan.timeline.get(self.changed).map(|c| c.at).filter(|at| *at <= stop);
            let next = change.unwrap_or(stop);
            let view = self.horizon.as_ref().map_or_else(View::none, |e| e.view(self.engine.now, &self.ends));
            let view = view.until(next, self.totals_at);
            match self.engine.run(view, &mut self.ends, &mut self.losses, observer.as_deref_mut()) {
                Stop::Told { end, what } => self.milestone(end, what),
                Stop::Notification | Stop::Interrupted => {}
                Stop::Stuck { stage } => {
                    self.stuck_at = Some(stage);
                    return Some(Outcome::Stuck);
                }
                Stop::Poll => {
                    if let Some(end) = self.end_from_outside() {
                        return Some(end);
                    }
                }
                Stop::LaterDue => {
                    let is_idle = self.engine.is_idle();
                    if view.ends < next && !is_idle {
                        self.engine.now = view.ends;
                    } else if change.is_some() {
                        self.change(observer.as_deref_mut());
                    } else if is_last {
                        return Some(self.ending());
                    } else {
                        // Such a run ends with its last event, not when somebody reads totals next.
                        let is_over = is_idle && self.changed == self.plan.timeline.len();
                        self.engine.now = if is_over { self.engine.now } else { stop };
                        return is_over.then_some(Outcome::NothingLeft);
                    }
                }
            }
            if self.losses.has_notifications {
                self.process_notifications(observer.as_deref_mut());
            }
        }
    }

    fn ending(&self) -> Outcome {
        let is_all = self.plan.flows.iter().all(|f| f.is_awaited);
        if is_all { Outcome::AllFlowsClosed } else { Outcome::AwaitedFlowsClosed }
    }

    /// Where and when time has stopped, in words.
    #[cold]
    pub fn stuck(&self) -> String {
        let stage = self.stuck_at.unwrap_or(0);
        let at = stage.checked_sub(self.engine.stages.len());
        let name = match (self.plan.egresses.get(stage), at.map(|end| (self.plan.flows.get(end / 2), end % 2))) {
            (Some(e), _) => format!("link {} ({})", e.name, e.direction.word()),
            (_, Some((Some(f), 0))) => format!("the sender of flow {}", f.name),
            (_, Some((Some(f), _))) => format!("the receiver of flow {}", f.name),
            _ => "the boundary of a domain".to_string(),
        };
        let (at_s, most) = (self.engine.now.since(Time::ZERO).as_secs_f64(), self.engine.tick.most());
        format!("time stands still at {at_s} s: more than {most} events at one instant, the last at {name}")
    }

    /// Whether the run has to end for a reason that lies outside it.
    #[cold]
    fn end_from_outside(&self) -> Option<Outcome> {
        if self.is_cancelled() {
            return Some(Outcome::Cancelled);
        }
        machine::is_short(self.engine.pool.in_use()).then_some(Outcome::OutOfMemory)
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|c| c.load(Ordering::Relaxed))
    }

    /// Makes the next change of the timeline; what was due by then has been served.
    #[cold]
    fn change(&mut self, mut observer: Watcher<'_>) {
        let c = &self.plan.timeline[self.changed];
        self.changed += 1;
        self.engine.now = c.at;
        match c.target {
            Target::Egress(i) => {
                let new = c.setting.as_ref().expect("a change of an egress has been read");
                let tried = self.engine.call(i as usize, &mut self.losses, observer, |s, cx| s.change(new, cx));
                tried.unwrap_or_else(|e| panic!("{}: tried before the run: {e}", c.path()));
            }
            Target::Flow(f) if c.abort.is_some() => self.abort(f as usize, c.abort, observer),
            Target::Flow(f) => {
                let brought = self.later.get(&(self.changed - 1));
                let brought = brought.map(|tcp| OfFlow { tcp: Some(tcp.clone()), ..c.of_flow.clone() });
                let new = brought.as_ref().unwrap_or(&c.of_flow);
                for end in [2 * f as usize, 2 * f as usize + 1] {
                    let stage = self.engine.stages.len() + end;
                    let mut cx = self.engine.cx(stage, &mut self.losses, observer.as_deref_mut());
                    let flow = &self.plan.flows[f as usize].name;
                    let own = Own { streams: &self.streams, flow, recorded: Recorded::No };
                    let FlowEnds { list, caches } = &mut self.ends;
                    list[end].retune(new, &own, &mut cx, caches);
                    self.engine.wake_end(end, list[end].next_wake().unwrap_or(Time::NEVER));
                }
            }
        }
    }

    /// What a flow does by now: as it is written, or as the timeline has changed it.
    pub fn workload(&self, flow: usize) -> &'p WorkloadParams {
        let made = self.plan.timeline[..self.changed].iter().rev().filter(|c| c.target == Target::Flow(flow as u32));
        let changed = made.filter_map(|c| c.of_flow.workload.as_ref()).map(|w| &w.now).next();
        changed.unwrap_or(&self.plan.group(&self.plan.flows[flow]).workload)
    }

    /// One end of a connection drops it.
    fn abort(&mut self, flow: usize, by: Option<AbortedBy>, observer: Watcher<'_>) {
        let end = 2 * flow + usize::from(by == Some(AbortedBy::Receiver));
        if let Some(Some(page)) = self.page_of.get(flow).copied() {
            let page = &mut self.pages[page as usize];
            let first = page.first_flow;
            page.cancel().for_each(|connection| self.close((first + connection) as usize));
        }
        let FlowEnds { list, caches } = &mut self.ends;
        let e = &mut list[end];
        let began = e.transport().opened_at().is_some() || e.transport().closed_at().is_some();
        let mut cx = self.engine.cx(self.engine.stages.len() + end, &mut self.losses, observer);
        let told = e.abort(&mut cx, caches);
        self.engine.wake_end(end, e.next_wake().unwrap_or(Time::NEVER));
        let peer_began = self.ends[end ^ 1].transport().opened_at().is_some();
        if told.is_some() || (!began && !peer_began) {
            self.aborted.insert(flow);
        }
        if !began && !peer_began {
            // It had not been opened, and will not be.
            self.ends[end ^ 1].start_at(None);
            self.engine.wake_end(end ^ 1, Time::NEVER);
            self.close(flow);
        } else if let Some(what) = told {
            self.milestone(end, what);
        }
    }

    /// Brings every egress up to now, so that it can be reported.
    pub fn catch_up(&mut self) {
        self.catch_up_with(0..self.engine.stages.len());
    }

    /// The same for some of them, which are to be sampled.
    pub fn catch_up_with(&mut self, egresses: impl Iterator<Item = usize>) {
        self.engine.catch_up(egresses, &mut self.losses, None);
        if self.losses.has_notifications {
            self.process_notifications(None);
        }
    }

    /// Lets everything still in the network arrive, which may take hours on a slow line. A finished world is empty afterwards:
    /// returns what is left.
    pub fn drain(&mut self) -> usize {
        const STEP: Dur = Dur::from_secs(3600);
        /// A stage may have a clock that never stops.
        const EVENTS: u64 = 100_000_000;
        self.losses.open = usize::MAX;
        self.losses.has_notifications = false;
        let last = self.engine.tick.events + EVENTS;
        while self.engine.pool.in_use() > 0
            && self.engine.tick.events < last
            && self.run_until(self.engine.now + STEP, None).is_none()
        {}
        self.engine.pool.in_use()
    }

    /// Processes what the ledger has noted.
    #[cold]
    fn process_notifications(&mut self, mut observer: Watcher<'_>) {
        for (flow, from, lost) in std::mem::take(&mut self.losses.retransmissions) {
            let to = 2 * flow as usize + usize::from(from == Vantage::Sender);
            let FlowEnd::Tcp(end) = &mut self.ends[to] else { continue };
            if end.conn.rx.has(lost.seq, lost.end) {
                end.arrivals.unnecessary_retransmissions += 1;
            } else {
                end.arrivals.dropped_retransmissions.push(lost);
            }
        }
        while let Some((egress, flow, from)) = self.losses.resets.pop() {
            // The two directions of a link are neighbours.
            let other = egress ^ 1;
            let mut goes = |p: &Packet| p.flow.0 == flow && End::source_of(p).seen != from;
            self.engine.call(other as usize, &mut self.losses, observer.as_deref_mut(), |stage, cx| {
                stage.purge(&mut goes, DropReason::Reset, cx);
            });
        }
        while let Some(t) = self.losses.too_big.pop() {
            let sent_by_sender = t.seen == Vantage::Sender;
            let end = 2 * t.flow.0 as usize;
            let (sender, peer) = if sent_by_sender { (end, end + 1) } else { (end + 1, end) };
            let (route, stage) = (self.ends[peer].port().route(), self.engine.stages.len() + sender);
            let message = messages::too_big(&t, self.engine.now, self.engine.hops(), route, stage);
            let id = self.engine.pool.insert(message);
            self.engine.emit(id);
        }
        self.losses.has_notifications = !self.losses.retransmissions.is_empty();
    }

    fn milestone(&mut self, end: usize, m: Milestone) {
        let flow = end / 2;
        let generator = flow - self.plan.flows[flow].connection as usize;
        match m {
            Milestone::Opened if self.simultaneous.opens(generator, self.engine.now) => {
                for f in 0..self.plan.flows.len() {
                    let first_unsent = self.ends[2 * f].tcp().map_or(0, |e| e.conn.tx.nxt());
                    let a = self.ends[2 * f + 1].arrivals_mut();
                    a.count_from = first_unsent;
                    self.simultaneous.bytes[f] = a.counted_bytes;
                }
            }
            Milestone::Closed if self.ends_the_flow(end) && !self.losses.flows[flow].is_over => {
                if self.simultaneous.closes(generator, self.engine.now) {
                    for f in 0..self.plan.flows.len() {
                        let now = self.ends[2 * f + 1].arrivals().counted_bytes;
                        self.simultaneous.bytes[f] = now - self.simultaneous.bytes[f];
                    }
                }
                self.close(flow);
            }
            _ => {}
        }
        if let Some(Some(page)) = self.page_of.get(flow) {
            self.tell_page(*page as usize, flow, m);
        }
    }

    /// A connection is over when the sender of the data says so, or when the other end gives up before it was reached.
    fn ends_the_flow(&self, end: usize) -> bool {
        end % 2 == 0 || self.ends[end - 1].tcp().is_some_and(|sender| sender.conn.opened_at.is_none())
    }

    fn close(&mut self, flow: usize) {
        let was_over = std::mem::replace(&mut self.losses.flows[flow].is_over, true);
        if was_over || !self.plan.flows[flow].is_awaited {
            return;
        }
        let leaves_packets_behind = self.ends[2 * flow].transport().leaves_packets_behind();
        let on_their_way = if leaves_packets_behind { self.on_their_way(flow) } else { 0 };
        if on_their_way == 0 {
            self.losses.close();
        } else {
            self.losses.flows[flow].awaited_packets = on_their_way;
        }
    }

    /// Packets of the sender of a flow that have neither arrived nor been lost.
    pub fn on_their_way(&self, flow: usize) -> u64 {
        let l = self.losses.flows[flow];
        let lost = l.drops_packets + l.lost_packets - l.reverse_packets;
        let known = self.ends[2 * flow + 1].arrivals().packets + lost;
        self.ends[2 * flow].port().sent_packets.saturating_sub(known)
    }

    fn tell_page(&mut self, page: usize, flow: usize, m: Milestone) {
        let page = &mut self.pages[page];
        let first = page.first_flow;
        for connection in page.told(flow as u32 - first, m, self.engine.now) {
            let end = 2 * (first + connection) as usize + 1;
            self.ends[end].start_at(Some(self.engine.now));
            self.engine.wake_end(end, self.engine.now);
        }
    }
}

/// The random streams of one repetition: they depend on the base seed and the index, not on the scenario.
fn streams_of(rep: Repetition) -> Streams {
    Streams::new(Streams::new(rep.seed).named(&format!("repetition/{}", rep.index)).bits())
}

/// The table of hops, and where the route of each endpoint starts in it.
fn flatten(plan: &Plan) -> (Vec<u32>, Vec<u32>) {
    let n = plan.egresses.len() as u32;
    let boundaries_from = n + 2 * plan.flows.len() as u32;
    let mut crossings = plan.crossings.iter().peekable();
    let (mut hops, mut starts) = (Vec::new(), Vec::new());
    for (i, f) in plan.flows.iter().enumerate() {
        starts.push(hops.len() as u32);
        for (k, egress) in plan.routes[f.route_forward as usize].iter().enumerate() {
            hops.push(*egress);
            while let Some(c) = crossings.next_if(|c| (c.flow, c.behind) == (i as u32, k as u32)) {
                hops.push(boundaries_from + c.boundary);
            }
        }
        hops.push(n + 2 * i as u32 + 1);
        starts.push(hops.len() as u32);
        hops.extend(&plan.routes[f.route_reverse as usize]);
        hops.push(n + 2 * i as u32);
    }
    (hops, starts)
}
