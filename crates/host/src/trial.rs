//! One transfer between Crosswind's TCP and the kernel's over a link, byte for byte, and what is left of it.

use crate::end::End;
use crate::kernel::{self, Application, Course, Kernels};
use crate::namespace::Namespace;
use crate::opposite::{Capture, KERNEL, OWN, Opposite};
use crate::tcp_info::{Look, look};
use crate::transfer::{Does, Transfer};
use crate::twin::Twin;
use crosswind_base::{DropReason, Dur, Streams, Time};
use crosswind_emu::driver::{Driver, Unwatched};
use crosswind_emu::journal::Keep;
use crosswind_emu::live::{Live, Settings, monotonic_ns};
use crosswind_emu::network::Network;
use crosswind_emu::spec::{self, EgressSpec, FlowPorts, Host, Route, Spec};
use crosswind_emu::tun::Tun;
use crosswind_stacks::tcp::own::Counts;
use crosswind_stacks::tcp::{Line, OwnTcp, Place};
use crosswind_transport::stack::{Cut, Role, Stack, State};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::ecn::Agreed;
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Port at which whoever answers listens.
const PORT: u16 = 9;
/// Of the own host, where it opens.
pub(crate) const OPENERS_PORT: u16 = 49_152;
pub(crate) const DEVICE: &str = "cw0";
/// Bytes of the largest packet of the device.
pub const MTU_BYTES: usize = 1500;

type KernelsEnd = JoinHandle<io::Result<u64>>;

/// Which way the data goes. Whoever sends it opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    ToKernel,
    FromKernel,
}

/// What is to be tried.
pub struct Trial {
    pub direction: Direction,
    pub size_bytes: u64,
    pub tcp: Arc<TcpParams>,
    /// The kernel's congestion control where it sends, by its own name.
    pub kernels_law: String,
    /// Settings of the kernel's namespace, by their names under `/proc/sys`.
    pub settings: Vec<(String, String)>,
    /// The link from the sender of the data to its receiver, in the words of a scenario: `rate`, `delay` and what else it has.
    pub link: Value,
    pub queue: Value,
    pub loss: Option<Value>,
    /// Rate of the link in bit/s.
    pub rate_bps: u64,
    pub seed: u64,
    /// So long at most.
    pub limit: Dur,
    pub capture: Option<Capture>,
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// Bytes that arrived, each of them the right one.
    pub right_bytes: u64,
    /// Why it is not all, if it is not.
    pub failure: Option<String>,
    pub elapsed: Dur,
    pub drops_packets: u64,
    pub losses_packets: u64,
    pub marks_packets: u64,
    /// What the kernel says of itself where it sends.
    pub kernels_retransmitted: Option<u64>,
    pub kernels_timeouts: Option<u64>,
    /// What both ends have agreed on about ECN.
    pub ecn: Agreed,
    /// Packets that arrived marked, as far as the sender was told; only accurate feedback counts them.
    pub told_marks_packets: Option<u64>,
    /// Of the own sender.
    pub retransmitted_packets: u64,
    pub timeouts: u64,
    pub cuts: Vec<Cut>,
    pub counts: Counts,
    pub captured_packets: u64,
    /// By how much later than meant packets left the network and the stack was woken, 99th percentile: what the machine did.
    pub late_p99: Dur,
}

fn spec(t: &Trial) -> Spec {
    let forward = if t.direction == Direction::FromKernel { KERNEL } else { OWN };
    let names = ["kernel", "own"];
    let egress = |from: u32, to: u32| {
        let has_data = from == forward;
        let plain = json!({"type": "wire", "rate": t.link["rate"], "delay": t.link["delay"]});
        EgressSpec {
            link: "path".into(),
            direction: if has_data { "forward" } else { "reverse" }.into(),
            from: names[from as usize].into(),
            to: names[to as usize].into(),
            rate_bps: t.rate_bps,
            body: if has_data { t.link.clone() } else { plain },
            queue: if has_data { t.queue.clone() } else { json!({"type": "droptail", "limit": "10000 packets"}) },
            loss: if has_data { t.loss.clone() } else { None },
            delayers: Value::Null,
            mtu_bytes: None,
        }
    };
    Spec {
        name: "opposite".into(),
        seed: t.seed,
        rep: 0,
        hosts: names.map(|n| Host { name: n.into() }).to_vec(),
        egresses: vec![egress(KERNEL, OWN), egress(OWN, KERNEL)],
        routes: vec![Route::of_all(KERNEL, OWN, vec![0]), Route::of_all(OWN, KERNEL, vec![1])],
        flow_ports: FlowPorts::default(),
        receivers: Vec::new(),
        flow_names: Default::default(),
        boundaries: Vec::new(),
        subjects: Vec::new(),
        gateway: None,
        start: Default::default(),
    }
}

fn address(host: u32, port: u16) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(spec::v4_of(host as usize).into(), port))
}

impl Trial {
    /// An own end at a host: it opens the connection and `sends`, or answers and receives.
    fn end(&self, host: u32, tcp: &Arc<TcpParams>, sends: bool) -> End {
        let iss = Streams::new(self.seed).named(&format!("host/{host}/iss")).bits() as u32;
        let place = |of: u32, port| Place { address: spec::v4_of(of as usize), port };
        let line = match sends {
            true => Line::new(place(host, OPENERS_PORT), Some(place(KERNEL + OWN - host, PORT)), iss),
            false => Line::new(place(host, PORT), None, iss),
        };
        let (role, does) = if sends { (Role::Client, Does::Sends) } else { (Role::Server, Does::Receives) };
        End::new(OwnTcp::new(tcp.clone(), role, line), Transfer::new(does, self.size_bytes))
    }

    /// The kernel's end, in a thread of its own; and its socket, where it sends.
    fn kernels_end(&self, namespace: &str, course: &Course) -> io::Result<(KernelsEnd, Option<Arc<TcpStream>>)> {
        if self.direction == Direction::ToKernel {
            return Ok((kernel::receives(namespace, address(KERNEL, PORT), course.clone())?, None));
        }
        let socket = Arc::new(kernel::socket(namespace, &self.kernels_law)?);
        let application = Application::Bulk { size_bytes: Some(self.size_bytes) };
        let kernels = Kernels { law: self.kernels_law.clone(), application, pauses: Vec::new() };
        let end = kernel::sends(kernels, socket.clone(), address(OWN, PORT), course.clone());
        Ok((end, Some(socket)))
    }

    fn network(&self) -> io::Result<Network> {
        Network::build(&spec(self), Keep::Fingerprint).map_err(|e| io::Error::other(e.to_string()))
    }

    /// Makes a namespace and a device, and runs it opposite the kernel.
    pub fn run(mut self) -> io::Result<Outcome> {
        let namespace = Namespace::new()?;
        let tun = Tun::open(Some(&namespace.path()), DEVICE)?;
        let [a, b, c, d] = spec::v4_of(KERNEL as usize);
        namespace.raise(DEVICE, &format!("{a}.{b}.{c}.{d}/{}", spec::V4_PREFIX_BITS), MTU_BYTES)?;
        kernel::set(&namespace.path(), &self.settings)?;
        let network = self.network()?;
        let settings =
            Settings { start_ns: monotonic_ns(), stop_at: Time::ZERO + self.limit, spin: None, mtu_bytes: MTU_BYTES };
        let own = self.end(OWN, &self.tcp, self.direction == Direction::ToKernel);
        let mut port = Opposite::new(Live::new(vec![tun], settings)?, vec![(0, own)], self.capture.take());
        let course = Course { start_ns: settings.start_ns, is_over: Arc::new(AtomicBool::new(false)) };
        let (kernel, socket) = self.kernels_end(&namespace.path(), &course)?;
        port.open();
        let mut nobody = Unwatched;
        let mut driver = Driver::new(network, &mut nobody, Dur::ZERO);
        let (end, _) = driver.run(&mut port);
        let Opposite { live, mut ends, capture, late_ns, .. } = port;
        let (_, own) = ends.remove(0);
        let late_p99 =
            [&late_ns, &live.punctuality.lateness_ns].map(|h| Dur(h.quantile(0.99) as u64)).into_iter().max();
        // The kernel has said all that it will say of its connection.
        let last = socket.as_deref().and_then(|s| look(s.as_fd()).ok());
        let tells = |f: fn(Look) -> u64| last.map(f);
        let kernels_retransmitted = tells(|l| l.retransmitted_packets.into());
        let kernels_timeouts = tells(|l| l.timeouts.into());
        let told_marks = tells(|l| l.marked_packets.into());
        course.is_over.store(true, Ordering::Relaxed);
        // Without its device a socket that waits gets no further.
        drop(live);
        let kernels = kernel.join().unwrap_or_else(|_| Err(io::Error::other("the kernel's end broke off")));
        let captured = capture.map(|c| c.finish()).transpose()?;
        let right = match (self.direction, &kernels) {
            (Direction::FromKernel, _) => own.transfer.read,
            (Direction::ToKernel, Ok(bytes)) => *bytes,
            (Direction::ToKernel, Err(_)) => 0,
        };
        let failure = match (own.stack.state(), kernels) {
            (State::Failed(why), _) => Some(format!("own host: {why}")),
            (_, Err(e)) => Some(format!("kernel: {e}")),
            (State::Closed, Ok(_)) if right == self.size_bytes => None,
            (state, Ok(_)) => Some(format!("{state:?}, {right} bytes")),
        };
        let captured_packets = captured.map_or(0, |(_, s)| s.written_packets);
        let of_own = outcome(&driver.network, &own, end.at);
        Ok(Outcome {
            right_bytes: right,
            failure,
            captured_packets,
            kernels_retransmitted,
            kernels_timeouts,
            told_marks_packets: told_marks.filter(|_| of_own.ecn == Agreed::Accurate).or(of_own.told_marks_packets),
            late_p99: late_p99.unwrap_or_default(),
            ..of_own
        })
    }

    /// The same in virtual time with Crosswind's TCP at both ends; `kernels` are the parameters of the one in the kernel's place.
    pub fn twin(&self, kernels: &Arc<TcpParams>) -> io::Result<Outcome> {
        let to_kernel = self.direction == Direction::ToKernel;
        let ends = [self.end(KERNEL, kernels, !to_kernel), self.end(OWN, &self.tcp, to_kernel)];
        let mut port = Twin::new(ends, Time::ZERO + self.limit);
        port.open(if to_kernel { OWN } else { KERNEL });
        let mut nobody = Unwatched;
        let mut driver = Driver::new(self.network()?, &mut nobody, Dur::ZERO);
        let (end, _) = driver.run(&mut port);
        let [kernel, own] = port.ends;
        let (sender, receiver) = if to_kernel { (&own, &kernel) } else { (&kernel, &own) };
        let right = receiver.transfer.read;
        let failure = match (sender.stack.state(), receiver.stack.state()) {
            (State::Closed, State::Closed) if right == self.size_bytes => None,
            states => Some(format!("{states:?}, {right} bytes")),
        };
        Ok(Outcome { right_bytes: right, failure, ..outcome(&driver.network, sender, end.at) })
    }
}

/// What the network and one end say.
fn outcome(network: &Network, end: &End, until: Time) -> Outcome {
    let on_links = [DropReason::LinkError, DropReason::Listed];
    let lost = &network.losses.by_reason;
    let losses_packets: u64 = lost.iter().flat_map(|row| on_links.map(|why| row[why as usize])).sum();
    let all: u64 = lost.iter().flatten().sum();
    let probe = end.stack.probe();
    let conn = end.stack.connection();
    let counting = conn.tx.get().and_then(|tx| tx.ecn.counting.as_ref());
    Outcome {
        right_bytes: 0,
        failure: None,
        elapsed: end.transfer.closed_at.unwrap_or(until).since(Time::ZERO),
        drops_packets: all - losses_packets,
        losses_packets,
        marks_packets: network.losses.marks_packets.iter().sum(),
        kernels_retransmitted: None,
        kernels_timeouts: None,
        ecn: conn.rx.feedback.agreed,
        told_marks_packets: counting.map(|c| c.marked().into()),
        retransmitted_packets: probe.retransmitted_packets.unwrap_or(0),
        timeouts: probe.timeouts.unwrap_or(0),
        cuts: end.cuts.clone(),
        counts: end.stack.counts(),
        captured_packets: 0,
        late_p99: Dur::ZERO,
    }
}
