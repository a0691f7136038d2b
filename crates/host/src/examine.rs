//! A kernel in a scenario: its flows end in our own TCP, and what it does with the first of them is witnessed.

use crate::end::End;
use crate::kernel::{self, Application, Course, Kernels};
use crate::namespace::Namespace;
use crate::opposite::{KERNEL, OWN, Opposite};
use crate::tcp_info::Look;
use crate::transfer::{Does, Transfer};
use crate::trial::{DEVICE, MTU_BYTES, OPENERS_PORT};
use crate::witness::Witness;
use crosswind_base::probe::Event;
use crosswind_base::{Dur, Streams, Time};
use crosswind_emu::change::Change;
use crosswind_emu::delivery::Port;
use crosswind_emu::driver::{Driver, Watcher};
use crosswind_emu::journal::Keep;
use crosswind_emu::live::{Live, Settings, monotonic_ns};
use crosswind_emu::network::Network;
use crosswind_emu::spec::{self, Spec};
use crosswind_emu::tun::Tun;
use crosswind_stacks::tcp::{Line, OwnTcp, Place};
use crosswind_transport::stack::{Role, Stack, State};
use crosswind_transport::tcp::TcpParams;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// One flow between the kernel, which is host 0 of the scenario, and our own host 1.
pub struct Flow {
    pub kernel: Kernels,
    /// The parameters of our own end.
    pub own: Arc<TcpParams>,
    /// What our own end sends, where it does.
    pub own_size_bytes: u64,
}

/// What is to be run.
pub struct Request {
    pub spec: Spec,
    pub timeline: Vec<(Time, Change)>,
    pub until: Time,
    /// Settings of the kernel's namespace.
    pub settings: Vec<(String, String)>,
    /// Flow `i` is known by port `spec.flow_ports.first + i`.
    pub flows: Vec<Flow>,
}

/// What was seen.
pub struct Seen {
    /// Of the first flow.
    pub events: Vec<Event>,
    /// Bytes that reached the receiver of each flow, each of them the right one.
    pub right_bytes: Vec<u64>,
    /// The first thing that went wrong, if anything did.
    pub failure: Option<String>,
    pub last: Look,
    /// By how much later than meant packets left the network, 99th percentile; and the worst of that and of all sleeps.
    pub late_p99: Dur,
    pub late_max: Dur,
    pub unwritten_packets: u64,
}

/// Keeps the changes that the network refused.
#[derive(Default)]
struct Refusals(Vec<String>);

impl Watcher for Refusals {
    fn look(&mut self, _at: Time, _network: &Network) {}
    fn changed(&mut self, at: Time, change: &Change, refused: Option<String>) {
        self.0.extend(refused.map(|why| format!("{:.3} s: {change:?}: {why}", at.as_secs_f64())));
    }
}

fn place(host: Port, port: u16) -> Place {
    Place { address: spec::v4_of(host as usize), port }
}

fn address(p: Place) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(p.address.into(), p.port))
}

/// Both ends of one flow, before it begins.
struct Ends {
    own: (u16, End),
    kernel: JoinHandle<io::Result<u64>>,
    socket: Option<Arc<std::net::TcpStream>>,
    is_kernels: bool,
}

fn ends(f: &Flow, at: usize, r: &Request, namespace: &str, course: &Course) -> io::Result<Ends> {
    let port = r.spec.flow_ports.first + at as u16;
    let iss = Streams::new(r.spec.seed).named(&format!("flow/{at}/iss")).bits() as u32;
    let opener = place(OWN, OPENERS_PORT + at as u16);
    if f.kernel.application == Application::Receives {
        let kernel = kernel::receives(namespace, address(place(KERNEL, port)), course.clone())?;
        let line = Line::new(opener, Some(place(KERNEL, port)), iss);
        let own = OwnTcp::new(f.own.clone(), Role::Client, line);
        let own = (opener.port, End::new(own, Transfer::new(Does::Sends, f.own_size_bytes)));
        return Ok(Ends { own, kernel, socket: None, is_kernels: false });
    }
    let socket = Arc::new(kernel::socket(namespace, &f.kernel.law)?);
    let line = Line::new(place(OWN, port), None, iss);
    let own = (port, End::new(OwnTcp::new(f.own.clone(), Role::Server, line), Transfer::new(Does::Receives, 0)));
    let kernel = kernel::sends(f.kernel.clone(), socket.clone(), address(place(OWN, port)), course.clone());
    Ok(Ends { own, kernel, socket: Some(socket), is_kernels: true })
}

/// Makes a namespace and a device, and runs the scenario in real time, in the thread that asks for it.
pub fn examine(r: &Request) -> io::Result<Seen> {
    let namespace = Namespace::new()?;
    let path = namespace.path();
    let tun = Tun::open(Some(&path), DEVICE)?;
    kernel::set(&path, &r.settings)?;
    let [a, b, c, d] = spec::v4_of(KERNEL as usize);
    namespace.raise(DEVICE, &format!("{a}.{b}.{c}.{d}/{}", spec::V4_PREFIX_BITS), MTU_BYTES)?;
    let network = Network::build(&r.spec, Keep::All).map_err(|e| io::Error::other(e.to_string()))?;
    // Without it the kernel puts sleeps together, 50 microseconds late.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let start_ns = monotonic_ns();
    // Others are examined beside it: nobody spins.
    let settings = Settings { start_ns, stop_at: r.until, spin: Some(Dur::ZERO), mtu_bytes: MTU_BYTES };
    let live = Live::new(vec![tun], settings)?;
    let course = Course { start_ns, is_over: Arc::new(AtomicBool::new(false)) };
    let (mut own, mut kernels, mut witness) = (Vec::new(), Vec::new(), None);
    for (i, f) in r.flows.iter().enumerate() {
        let made = ends(f, i, r, &path, &course)?;
        let sender = if made.is_kernels { KERNEL } else { OWN };
        witness.get_or_insert_with(|| Witness::new(sender, r.spec.flow_ports.first + i as u16, made.socket));
        own.push(made.own);
        kernels.push(made.kernel);
    }
    let mut port = Opposite::new(live, own, None);
    port.witness = witness;
    port.open();
    let mut refusals = Refusals::default();
    let mut driver = Driver::new(network, &mut refusals, Dur::ZERO).with_timeline(r.timeline.clone());
    let (_, _) = driver.run(&mut port);
    course.is_over.store(true, Ordering::Relaxed);
    let network = driver.network;
    let Opposite { live, ends, witness, .. } = port;
    let late = live.punctuality.lateness_ns.clone();
    let late_max = Dur(late.max().max(live.punctuality.oversleep_ns.max()));
    let unwritten_packets = live.punctuality.unwritten_packets;
    // Without its device a socket that waits gets no further.
    drop(live);
    let said: Vec<_> = kernels
        .into_iter()
        .map(|k| k.join().unwrap_or_else(|_| Err(io::Error::other("the kernel's end broke off"))))
        .collect();
    let witness = witness.ok_or_else(|| io::Error::other("no flow"))?;
    let mut failure = witness.trouble.clone().or_else(|| refusals.0.first().cloned());
    let mut right_bytes = Vec::new();
    for ((_, end), kernels) in ends.iter().zip(&said) {
        if let State::Failed(why) = end.stack.state() {
            failure.get_or_insert(format!("own host: {why}"));
        }
        if let Err(e) = kernels {
            failure.get_or_insert(format!("the kernel's end: {e}"));
        }
        let theirs = kernels.as_ref().copied().unwrap_or(0);
        right_bytes.push(if witness.is_kernels() { end.transfer.read } else { theirs });
    }
    Ok(Seen {
        last: witness.last(),
        events: witness.testify(network.journal.decisions()),
        right_bytes,
        failure,
        late_p99: Dur(late.quantile(0.99) as u64),
        late_max,
        unwritten_packets,
    })
}
