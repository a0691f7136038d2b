//! Many runs: every repetition of every scenario, on as many threads as asked, with the same result on any number.

use super::files::create_below;
use super::inherited::Inherited;
use super::logs::Logs;
use super::memory;
use super::request::{Progress, Request};
use crate::flows::Parameters;
use crate::results::{self, RunFacts, Sampler};
use crate::scenario::{Part, PcapAt, Plan, Repetition};
use crate::world::{Outcome, World, available_bytes, is_short};
use crosswind_base::{ConfigError, Dur, FlowId, Observer, Time, Vantage};
use crosswind_record::{
    EventFile, EventLimit, EventLog, Flows, Parts, PcapngOptions, PcapngWriter, Recorder, RunKey, Tables, Vantages,
    eventfile,
};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why a run could not be made.
#[derive(Debug)]
pub enum RunError {
    Config(ConfigError),
    /// A file could not be written: its path and the reason.
    File(String, std::io::Error),
    /// A stage or the engine found itself in an impossible state.
    Broken(String),
}

impl From<ConfigError> for RunError {
    fn from(e: ConfigError) -> RunError {
        RunError::Config(e)
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Config(e) => e.fmt(f),
            RunError::File(path, e) => write!(f, "{path}: cannot be written: {e}"),
            RunError::Broken(what) => write!(f, "internal error: {what}"),
        }
    }
}

/// Results of all finished runs, in the order of scenarios and repetitions.
pub struct Finished {
    pub tables: Tables,
    /// Runs that broke down, in the same order. They have no rows, and no other run suffers.
    pub failed: Vec<Failed>,
    pub interrupted: bool,
}

/// A run that broke down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// Index of the scenario in the list that was run.
    pub scenario: u32,
    /// Index of the repetition.
    pub rep: u32,
    pub why: String,
}

/// What a chain has made.
#[derive(Default)]
struct Made {
    tables: Tables,
    failed: Vec<Failed>,
}

/// Repetitions that run one after the other on one thread and fill the same tables: because they share state, or because
/// many small runs are cheaper that way.
struct Chain {
    scenario: usize,
    reps: Vec<u32>,
}

/// What the runs of one request have in common.
struct Shared<'a> {
    request: &'a Request,
    progress: &'a Progress,
    room: EventRoom,
}

/// How many events the logs of all runs together may still keep.
struct EventRoom(AtomicUsize);

impl EventRoom {
    /// Each run has a log of the usual size, as long as there is room for it.
    fn limit(&self) -> EventLimit {
        EventLimit(EventLimit::default().0.min(self.0.load(Ordering::Relaxed)))
    }
    fn take(&self, kept: usize) {
        let less = |left: usize| Some(left.saturating_sub(kept));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).expect("there is always a new value");
    }
}

/// How often a run looks whether the machine has memory left.
const CHECK: Dur = Dur::from_secs(10);

/// Most independent repetitions of a chain.
const CHAIN_RUNS: usize = 32;

pub fn run_many(plans: &[Plan], request: &Request, progress: &Progress) -> Result<Finished, RunError> {
    let available = available_bytes();
    if let Some(available) = available {
        memory::Estimate::of(plans, request).check(available)?;
    }
    let room = EventRoom(AtomicUsize::new(available.map_or(usize::MAX, memory::events_that_fit)));
    let shared = Shared { request, progress, room };
    let parameters =
        plans.iter().map(|p| Parameters::with(p, &request.laws, &request.transports)).collect::<Result<Vec<_>, _>>()?;
    let mut chains = Vec::new();
    for (scenario, plan) in plans.iter().enumerate() {
        if plan.sharing.across_repetitions() {
            let step = if request.block == 0 { u32::MAX } else { request.block };
            let blocks = request.reps.chunk_by(|one, next| one / step == next / step);
            chains.extend(blocks.map(|r| Chain { scenario, reps: r.to_vec() }));
        } else {
            // Short enough that the threads end at about the same time.
            let length = (request.reps.len() / (32 * request.workers.max(1))).clamp(1, CHAIN_RUNS);
            chains.extend(request.reps.chunks(length).map(|r| Chain { scenario, reps: r.to_vec() }));
        }
    }
    // Long chains first, so that no thread is left alone with one at the end.
    let mut order: Vec<usize> = (0..chains.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(chains[*i].reps.len()));
    let results: Vec<Mutex<Option<Made>>> = chains.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let runs = || {
        while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed))
            && !progress.cancel.load(Ordering::Relaxed)
        {
            let chain = &chains[i];
            let made = run_chain(&plans[chain.scenario], &parameters[chain.scenario], chain, &shared);
            *results[i].lock().expect("no run panics while it holds its slot") = Some(made);
        }
    };
    let work = || (request.around)(&mut || runs());
    let workers = request.workers.clamp(1, 1024);
    if workers == 1 {
        work();
    } else {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(workers)
            .build()
            .map_err(|e| RunError::Broken(format!("no threads: {e}")))?;
        pool.install(|| (0..workers).into_par_iter().with_max_len(1).for_each(|_| work()));
    }
    let mut all = Made::default();
    let mut interrupted = progress.cancel.load(Ordering::Relaxed);
    for slot in results {
        match slot.into_inner().expect("all workers have returned") {
            Some(made) => {
                all.tables.append(made.tables);
                all.failed.extend(made.failed);
            }
            None => interrupted = true,
        }
    }
    Ok(Finished { tables: all.tables, failed: all.failed, interrupted })
}

/// A run that breaks down costs itself only.
fn guarded(run: impl FnOnce() -> Result<OneRun, RunError>) -> Result<OneRun, String> {
    // What a panic leaves behind is thrown away: the world, and the rows since the mark.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(made) => made.map_err(|e| e.to_string()),
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().map(ToString::to_string);
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(format!("internal error: {}", said.unwrap_or_else(|| "a run ended abruptly".into())))
        }
    }
}

fn run_chain(plan: &Plan, p: &Parameters, chain: &Chain, shared: &Shared<'_>) -> Made {
    let (q, progress) = (shared.request, shared.progress);
    // `None`: a run broke down of which the next ones would have inherited.
    let mut inherited = Some(Inherited::nothing(plan));
    let (mut made, mut ends) = (Made::default(), Vec::with_capacity(chain.reps.len()));
    for &index in &chain.reps {
        if progress.cancel.load(Ordering::Relaxed) {
            break;
        }
        let rep = Repetition { seed: q.seed, index, of: q.reps_total };
        if plan.sharing.forgets_before(rep) {
            match &mut inherited {
                Some(known) => known.caches.iter_mut().for_each(|c| c.forget()),
                None if plan.sharing.queues_persist() => {}
                None => inherited = Some(Inherited::nothing(plan)),
            }
        }
        let mark = made.tables.mark();
        let run = match inherited.take() {
            Some(known) => guarded(|| run_one(plan, p, rep, shared, known, &mut made.tables)),
            None => Err("not run: a repetition broke down whose shared state it goes on with".into()),
        };
        match run {
            Ok(Some(left)) => {
                inherited = Some(left);
                ends.push(made.tables.end_of(RunKey { scenario: chain.scenario as u32, rep: index }));
            }
            // A run that was cut short is no result.
            Ok(None) => {
                made.tables.cut_back(&mark);
                break;
            }
            Err(why) => {
                made.tables.cut_back(&mark);
                made.failed.push(Failed { scenario: chain.scenario as u32, rep: index, why });
                inherited = (!plan.sharing.across_repetitions()).then(|| Inherited::nothing(plan));
            }
        }
        progress.done.fetch_add(1, Ordering::Relaxed);
    }
    made.tables.stamp_runs(&ends);
    made
}

/// What it leaves to the next one; `None`: cancelled.
type OneRun = Option<Inherited>;

/// The world of a repetition, which ends early when nobody wants it any more.
fn build<'a>(
    plan: &'a Plan,
    p: &Parameters,
    rep: Repetition,
    shared: &Shared<'a>,
    inherited: Inherited,
) -> Result<World<'a>, RunError> {
    let mut world = World::build(plan, p, rep, shared.request.manner(), inherited.caches)?;
    inherited.of_stages.tell(&mut world);
    world.cancel = Some(&shared.progress.cancel);
    Ok(world)
}

/// One repetition; its rows go to the end of the tables.
#[expect(clippy::disallowed_methods, reason = "the manifest tells how long a run took; nothing in the run sees it")]
fn run_one(
    plan: &Plan,
    p: &Parameters,
    rep: Repetition,
    shared: &Shared<'_>,
    inherited: Inherited,
    tables: &mut Tables,
) -> Result<OneRun, RunError> {
    let began = std::time::Instant::now();
    let mut world = build(plan, p, rep, shared, inherited)?;
    let mut recorder = recorder(plan, rep, shared.room.limit(), &shared.request.folder)?;
    let unwritten = |(path, e)| RunError::File(path, e);
    let logs = Logs::begin(plan, &mut world, &shared.request.folder, |p| of_rep(Some(p), rep)).map_err(unwritten)?;
    let mut sampler = plan.record.sample.map(|_| Sampler::new(&mut world));
    let stop = Time::ZERO + plan.duration;
    let step = plan.record.sample.unwrap_or(CHECK).0.max(1);
    let mut until = Time(step);
    let outcome = loop {
        let observer = if recorder.is_idle() { None } else { Some(&mut recorder as &mut (dyn Observer + 'static)) };
        let over = world.run_until(until.min(stop), observer);
        if let Some(s) = &mut sampler {
            s.sample(&mut world);
        }
        let checks = until >= world.totals_at;
        world.totals_at = if checks { (until + CHECK).min(stop) } else { world.totals_at };
        match over {
            _ if shared.progress.cancel.load(Ordering::Relaxed) => return Ok(None),
            Some(Outcome::Stuck) => return Err(RunError::Broken(world.stuck())),
            Some(o) => break o,
            None if until >= stop => break Outcome::DurationReached,
            None if checks && is_short(world.engine.pool.in_use()) => break Outcome::OutOfMemory,
            None => until += Dur(step),
        }
    };
    world.catch_up();
    let end = world.engine.now;
    let is_sampled = sampler.is_some();
    if let Some(s) = sampler {
        tables.add(s.into_table());
    }
    let truncated = recorder.events.as_ref().map_or(0, EventLog::dropped_events);
    if let Some(log) = recorder.events.take() {
        shared.room.take(log.kept_events());
        tables.add(log.into_table());
    }
    if let Some(c) = recorder.capture.take() {
        c.finish().map_err(|e| RunError::File(of_rep(plan.record.pcap.as_deref(), rep), e))?;
    }
    if let Some(file) = recorder.event_file.take() {
        end_event_file(file).map_err(|e| RunError::File(of_rep(plan.record.event_file.as_deref(), rep), e))?;
    }
    logs.finish().map_err(unwritten)?;
    let facts = RunFacts {
        seed: rep.seed,
        wall: Dur(began.elapsed().as_nanos() as u64),
        outcome,
        leaked_packets: 0,
        truncated_events: truncated,
    };
    results::summary(&world, end, facts, tables);
    results::flow_histograms(&world, tables);
    results::contract_histograms(&world, tables);
    if is_sampled {
        results::link_histograms(&world, end, tables);
    }
    if outcome == Outcome::AllFlowsClosed {
        empty(&mut world)?;
    }
    Ok(Some(Inherited::from(world, end)))
}

/// Whoever closes all flows of a run must find its network empty after a while.
fn empty(world: &mut World<'_>) -> Result<(), RunError> {
    match world.drain() {
        0 => Ok(()),
        _ if world.is_cancelled() => Ok(()),
        left => Err(RunError::Broken(format!("{left} packets are unaccounted for after all flows closed"))),
    }
}

/// The path of a file of one repetition: its number stands before the suffix when there are several.
fn of_rep(path: Option<&str>, rep: Repetition) -> String {
    let path = path.unwrap_or_default();
    if rep.of <= 1 {
        return path.to_string();
    }
    match path.rsplit_once('.') {
        Some((stem, ext)) if !ext.contains('/') => format!("{stem}-rep{}.{ext}", rep.index),
        _ => format!("{path}-rep{}", rep.index),
    }
}

/// The number of events goes into the header, now that it is known.
fn end_event_file(file: EventFile<BufWriter<File>>) -> std::io::Result<()> {
    let (out, events) = file.finish()?;
    let mut out = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    out.rewind()?;
    out.write_all(&eventfile::header(events))
}

fn vantages(at: PcapAt) -> Vantages {
    match at {
        PcapAt::Both => Vantages::Both,
        PcapAt::Sender => Vantages::Only(Vantage::Sender),
        PcapAt::Receiver => Vantages::Only(Vantage::Receiver),
    }
}

fn recorder(
    plan: &Plan,
    rep: Repetition,
    most: EventLimit,
    folder: &Path,
) -> Result<Recorder<BufWriter<File>>, RunError> {
    let create = |path: &Option<String>| -> Result<_, RunError> {
        let path = path.as_ref().map(|p| of_rep(Some(p), rep));
        let file = path.as_ref().map(|p| create_below(folder, p).map_err(|e| RunError::File(p.clone(), e)));
        Ok(file.transpose()?.map(BufWriter::new))
    };
    let wanted = plan.flows.iter().enumerate().filter(|(_, f)| f.events).map(|(i, _)| FlowId(i as u32));
    let flows = Flows::only(wanted);
    let is_wanted = flows != Flows::only([]);
    let (mut events, mut event_file) = (None, None);
    match create(&plan.record.event_file)? {
        Some(out) => {
            let broken = |e| RunError::File(of_rep(plan.record.event_file.as_deref(), rep), e);
            event_file = Some(EventFile::new(out, flows).map_err(broken)?);
        }
        None => events = is_wanted.then(|| EventLog::new(flows, most)),
    }
    let capture = create(&plan.record.pcap)?.map(|out| {
        let options = PcapngOptions { vantages: vantages(plan.record.pcap_at), ..PcapngOptions::default() };
        let broken = |e| RunError::File(of_rep(plan.record.pcap.as_deref(), rep), e);
        PcapngWriter::new(out, options).map_err(broken)
    });
    let parts = plan.record.between.iter().map(|Part(from, until)| (Time(from.0), Time(until.0))).collect();
    Ok(Recorder { events, event_file, capture: capture.transpose()?, parts: Parts(parts) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_keep_less_when_those_before_have_taken_the_room() {
        let usual = EventLimit::default().0;
        let room = EventRoom(AtomicUsize::new(2 * usual + 5));
        assert_eq!(room.limit(), EventLimit(usual));
        room.take(2 * usual);
        assert_eq!(room.limit(), EventLimit(5));
        room.take(6);
        assert_eq!(room.limit(), EventLimit(0));
    }
}
