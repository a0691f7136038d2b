//! A live run: the driver on its own thread, and what others may ask of it.

use crate::change::Change;
use crate::driver::{Driver, Watcher};
use crate::journal::Keep;
use crate::live::{Live, Punctuality, Remote, Settings};
use crate::network::Network;
use crate::report::{self, Facts, View};
use crate::spec::Spec;
use crate::tape::{End, Player, TapeReader, TapeWriter};
use crate::tun::Tun;
use crosswind_base::{ConfigError, Dur, Time, units};
use crosswind_record::Tables;
use rustix::mm::MlockAllFlags;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// The device in every namespace.
pub const DEVICE: &str = "cw0";
/// There is room for so many packets before the first one comes: no memory is asked of the machine on their way.
const ROOM_PACKETS: usize = 1024;
/// Without an interval of its own a run is looked at this often.
const LOOK_EVERY: Dur = Dur::from_millis(100);

/// How to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Path of the namespace of each host.
    pub namespaces: Vec<String>,
    /// Monotonic time that is logical zero; zero means now.
    #[serde(default)]
    pub start_ns: u64,
    /// Logical time at which the run ends by itself.
    #[serde(default = "never")]
    pub stop_ns: u64,
    pub mtu_bytes: usize,
    /// Interval of the table `sample`; none without.
    #[serde(default)]
    pub sample_ns: Option<u64>,
    /// File for the tape.
    #[serde(default)]
    pub tape: Option<String>,
    #[serde(default)]
    pub timeline: Vec<Timed>,
    /// How long before a deadline spinning begins; without it as long as sleeps are seen to overrun.
    #[serde(default)]
    pub spin_ns: Option<u64>,
}

fn never() -> u64 {
    u64::MAX
}

/// A change and its time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    pub at_ns: u64,
    pub change: Change,
}

/// Why a run could not be made.
#[derive(Debug)]
pub enum RunError {
    Config(ConfigError),
    /// What was tried, and what the system answered.
    System(String, io::Error),
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
            RunError::System(what, e) => write!(f, "{what}: {e}"),
        }
    }
}

/// What is left of a run.
pub struct Outcome {
    pub tables: Tables,
    pub end: End,
    pub punctuality: Punctuality,
    pub view: View,
    /// The tape could not be written to its end.
    pub tape_error: Option<io::Error>,
    /// Why it ended before its time, if it did: time had stopped.
    pub stuck: Option<String>,
}

/// A run under way.
pub struct Running {
    remote: Remote,
    board: Arc<Mutex<View>>,
    job: Option<JoinHandle<Outcome>>,
    /// Thread of the driver, for the scheduler.
    pub thread: i32,
    pub start_ns: u64,
}

/// Draws the picture and fills the table of samples.
struct Looker {
    spec: Spec,
    /// The same with the rates of this moment: changes may have set others.
    present: Spec,
    board: Arc<Mutex<View>>,
    tables: Option<Tables>,
    sent: Vec<report::Looked>,
    interval: Dur,
    notes: Vec<String>,
}

impl Watcher for Looker {
    fn look(&mut self, at: Time, network: &Network) {
        if let Some(tables) = &mut self.tables {
            report::sample(&self.present, network, at, self.interval.as_secs_f64(), &mut self.sent, tables);
        }
        let mut view = report::view(&self.present, network, at);
        view.notes = self.notes.clone();
        // Whoever reads holds the board for the time of a copy; the network does not wait for it.
        if let Ok(mut board) = self.board.try_lock() {
            *board = view;
        }
    }
    fn changed(&mut self, at: Time, change: &Change, refused: Option<String>) {
        let rate = change.set.get("rate").and_then(|r| units::parse_rate(r.as_str()?));
        if let (Some(rate), None) = (rate, &refused) {
            let is_meant = |d: &str| change.direction.as_deref().is_none_or(|wanted| wanted == d);
            let own = self.present.egresses.iter_mut().filter(|e| e.link == change.link && is_meant(&e.direction));
            own.for_each(|e| e.rate_bps = rate.0);
        }
        let set = serde_json::Value::Object(change.set.clone());
        let way = change.direction.as_ref().map_or(String::new(), |d| format!("/{d}"));
        let what = refused.map_or(String::new(), |why| format!(": refused: {why}"));
        self.notes.push(format!("{:.3} s: {}{way} {set}{what}", at.as_secs_f64(), change.link));
    }
}

fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> RunError {
    move |e| RunError::System(what.into(), e)
}

/// The devices alone: they must exist before their addresses can be set.
pub struct Devices(Vec<Tun>);

impl Devices {
    /// Makes a device in every namespace.
    pub fn open(namespaces: &[String]) -> Result<Devices, RunError> {
        let open = |n: &String| {
            Tun::open(Some(n), DEVICE).map_err(system(format!("a TUN device in the namespace {n} (/dev/net/tun)")))
        };
        Ok(Devices(namespaces.iter().map(open).collect::<Result<_, _>>()?))
    }
}

/// Starts the driver on a thread of its own.
pub fn start(mut spec: Spec, devices: Devices, o: &Options) -> Result<Running, RunError> {
    let start_ns = if o.start_ns == 0 { crate::live::monotonic_ns() } else { o.start_ns };
    spec.start = crate::live::time_of_day(start_ns);
    let network = Network::build(&spec, Keep::Fingerprint)?;
    let settings = Settings { start_ns, stop_at: Time(o.stop_ns), spin: o.spin_ns.map(Dur), mtu_bytes: o.mtu_bytes };
    let mut live = Live::new(devices.0, settings).map_err(system("waiting for the devices (epoll)"))?;
    let tape = o.tape.as_deref().map(|path| open_tape(path, &spec)).transpose()?;
    let timeline = o.timeline.iter().map(|t| (Time(t.at_ns), t.change.clone())).collect();
    let interval = o.sample_ns.map_or(LOOK_EVERY, Dur);
    let board = Arc::new(Mutex::new(View::default()));
    let mut looker = Looker {
        sent: vec![report::Looked::default(); spec.egresses.len()],
        present: spec.clone(),
        spec,
        board: board.clone(),
        tables: o.sample_ns.map(|_| Tables::new()),
        interval,
        notes: Vec::new(),
    };
    let remote = live.remote();
    let (tell, told) = mpsc::channel();
    let work = move || {
        let _ = tell.send(rustix::thread::gettid().as_raw_nonzero().get());
        // Without it the kernel may put sleeps together, 50 microseconds late.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut network = network;
        network.make_room(ROOM_PACKETS, live.frame_bytes());
        // What is in memory stays there. Fails without the privilege, and is a little less punctual then.
        let _ = rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT);
        let mut driver = Driver::new(network, &mut looker, interval).with_timeline(timeline);
        if let Some(t) = tape {
            driver = driver.with_tape(t);
        }
        let (end, written) = driver.run(&mut live);
        let network = driver.network;
        let mut tables = looker.tables.take().unwrap_or_default();
        let facts = Facts { seed: looker.spec.seed, end: end.at, decisions: end.decisions };
        report::summary(&looker.spec, &network, &live.punctuality, facts, &mut tables);
        let mut view = report::last_view(&looker.present, &network, end.at);
        view.notes = looker.notes;
        let stuck = network.stuck().map(str::to_string);
        Outcome { tables, end, punctuality: live.punctuality, view, tape_error: written.err(), stuck }
    };
    let job = std::thread::Builder::new().name("crosswind-emu".into()).spawn(work).map_err(system("a thread"))?;
    let thread = told.recv().unwrap_or(0);
    Ok(Running { remote, board, job: Some(job), thread, start_ns })
}

impl Running {
    pub fn view(&self) -> View {
        self.board.lock().map(|b| b.clone()).unwrap_or_default()
    }
    pub fn change(&self, c: Change) {
        self.remote.change(c);
    }
    pub fn is_over(&self) -> bool {
        self.job.as_ref().is_none_or(JoinHandle::is_finished)
    }
    /// Ends the run, if it has not ended, and gives what is left of it; `None` when it was taken before.
    pub fn stop(&mut self) -> Option<Result<Outcome, String>> {
        self.remote.stop();
        let job = self.job.take()?;
        Some(job.join().map_err(|_| "the driver ended abruptly".to_string()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// A file that is written by another thread, so that the driver never waits for a disk.
struct Behind {
    chunk: Vec<u8>,
    to: Option<mpsc::Sender<Vec<u8>>>,
    job: Option<JoinHandle<io::Result<()>>>,
}

const CHUNK_BYTES: usize = 1 << 16;

#[expect(clippy::disallowed_methods, reason = "a tape is a file; the network never sees it")]
fn open_tape(path: &str, spec: &Spec) -> Result<TapeWriter<Box<dyn Write + Send>>, RunError> {
    let file = File::create(path).map_err(system(format!("the tape {path}")))?;
    let (to, from) = mpsc::channel::<Vec<u8>>();
    let job = std::thread::spawn(move || {
        let mut out = BufWriter::new(file);
        for chunk in from {
            out.write_all(&chunk)?;
        }
        out.flush()
    });
    let behind = Behind { chunk: Vec::with_capacity(CHUNK_BYTES), to: Some(to), job: Some(job) };
    TapeWriter::new(Box::new(behind) as Box<dyn Write + Send>, spec).map_err(system(format!("the tape {path}")))
}

impl Write for Behind {
    fn write(&mut self, b: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(b);
        if self.chunk.len() >= CHUNK_BYTES {
            let full = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES + 4096));
            let sent = self.to.as_ref().is_some_and(|to| to.send(full).is_ok());
            return if sent { Ok(b.len()) } else { Err(io::Error::other("the writing thread has ended")) };
        }
        Ok(b.len())
    }
    /// Everything is in the file afterwards; nothing can be written any more.
    fn flush(&mut self) -> io::Result<()> {
        if let Some(to) = self.to.take() {
            let _ = to.send(std::mem::take(&mut self.chunk));
        }
        let Some(job) = self.job.take() else { return Ok(()) };
        job.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread ended abruptly")))
    }
}

/// What a tape said and what playing it gave.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    pub name: String,
    pub arrived_packets: u64,
    pub delivered_packets: u64,
    pub decisions: u64,
    pub fingerprint: String,
    /// Of the live run; empty when the tape was cut off.
    pub recorded: String,
    pub is_identical: bool,
}

/// Plays a tape in virtual time.
#[expect(clippy::disallowed_methods, reason = "a tape is a file; the network never sees it")]
pub fn replay(path: &str) -> Result<Replay, RunError> {
    let unreadable = || system(format!("the tape {path}"));
    let file = File::open(path).map_err(unreadable())?;
    let reader = TapeReader::new(BufReader::new(file)).map_err(unreadable())?;
    let name = reader.spec.name.clone();
    let network = Network::build(&reader.spec, Keep::Fingerprint)?;
    let mut player = Player::new(reader);
    let mut nobody = crate::driver::Unwatched;
    let mut driver = Driver::new(network, &mut nobody, Dur::ZERO);
    let (end, _) = driver.run(&mut player);
    if let Some(e) = player.error {
        return Err(unreadable()(e));
    }
    if let Some(why) = driver.network.stuck() {
        return Err(unreadable()(io::Error::other(why.to_string())));
    }
    let totals = driver.network.totals;
    Ok(Replay {
        name,
        arrived_packets: totals.arrived_packets,
        delivered_packets: totals.delivered_packets,
        decisions: end.decisions,
        fingerprint: format!("{:016x}", end.fingerprint),
        recorded: player.end.map_or(String::new(), |e| format!("{:016x}", e.fingerprint)),
        is_identical: player.end == Some(end),
    })
}
