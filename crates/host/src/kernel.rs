//! The kernel's end of a flow: a socket in its namespace, and an application in a thread of its own.

use crosswind_base::{Dur, Time};
use crosswind_emu::live::monotonic_ns;
use crosswind_emu::tun::within;
use crosswind_transport::stack::Pattern;
use rustix::fs::Timespec;
use rustix::net::sockopt::{Timeout, set_socket_linger, set_socket_timeout, set_tcp_congestion, set_tcp_nodelay};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const READ_BYTES: usize = 1 << 16;
/// So often an application looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What the application does with its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Application {
    /// It writes as fast as it can, so many bytes or without end.
    Bulk { size_bytes: Option<u64> },
    /// Messages of one size at an even pace.
    Messages { payload_bytes: u64, every: Dur },
    /// It reads what comes.
    Receives,
}

/// The kernel's side of one flow.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The congestion control, by the kernel's own name.
    pub law: String,
    pub application: Application,
    /// From when until when the application is silent, in order.
    pub pauses: Vec<(Time, Time)>,
}

/// A socket whose congestion control is chosen before it opens: one that was another's keeps what that one set (pacing).
pub fn socket(namespace: &str, law: &str) -> io::Result<TcpStream> {
    within(Some(namespace), || {
        let s = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let unknown = |e| io::Error::other(format!("congestion control `{law}` of this kernel: {e}"));
        set_tcp_congestion(&s, law).map_err(unknown)?;
        set_tcp_nodelay(&s, true)?;
        Ok(TcpStream::from(s))
    })
}

/// Changes settings of a namespace, by their names under `/proc/sys`.
#[expect(clippy::disallowed_methods, reason = "settings of a kernel are files")]
pub fn set(namespace: &str, settings: &[(String, String)]) -> io::Result<()> {
    within(Some(namespace), || {
        for (name, value) in settings {
            let file = format!("/proc/sys/{}", name.replace('.', "/"));
            std::fs::write(&file, value).map_err(|e| io::Error::new(e.kind(), format!("{file}: {e}")))?;
        }
        Ok(())
    })
}

/// The clock of a run, and whether it is over.
#[derive(Clone)]
pub struct Course {
    pub start_ns: u64,
    pub is_over: Arc<AtomicBool>,
}

impl Course {
    fn now(&self) -> Time {
        Time(monotonic_ns().saturating_sub(self.start_ns))
    }
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
    /// Sleeps until a time, or until the run is over.
    fn sleep_until(&self, at: Time) {
        while !self.is_over() && self.now() < at {
            let left = Duration::from_nanos(at.since(self.now()).0).min(LOOK);
            let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() });
        }
    }
}

/// Opens the connection to `peer` and does what the application does; bytes that were written.
#[expect(clippy::disallowed_methods, reason = "the kernel's TCP is what this is about")]
pub fn sends(k: Kernels, s: Arc<TcpStream>, peer: SocketAddr, course: Course) -> JoinHandle<io::Result<u64>> {
    std::thread::spawn(move || {
        connect(&*s, &peer)?;
        set_socket_timeout(&*s, Timeout::Send, Some(LOOK))?;
        set_socket_timeout(&*s, Timeout::Recv, Some(LOOK))?;
        let written = write(&k, &s, &course);
        if course.is_over() {
            // Nobody is there any more to whom it could say goodbye.
            let _ = set_socket_linger(&*s, Some(Duration::ZERO));
        }
        written
    })
}

fn write(k: &Kernels, mut s: &TcpStream, course: &Course) -> io::Result<u64> {
    let (content, mut written) = (Pattern::bytes(), 0u64);
    let (size, every) = match k.application {
        Application::Bulk { size_bytes } => (size_bytes.unwrap_or(u64::MAX), None),
        Application::Messages { payload_bytes, every } => (u64::MAX, Some((payload_bytes, every))),
        Application::Receives => (0, None),
    };
    let mut next = course.now();
    while written < size && !course.is_over() {
        if let Some((_, until)) = k.pauses.iter().find(|(from, until)| (*from..*until).contains(&course.now())) {
            course.sleep_until(*until);
            continue;
        }
        let mut piece = (size - written).min(Pattern::stretch() as u64);
        if let Some((payload_bytes, every)) = every {
            course.sleep_until(next);
            next += every;
            // The rest of a message that went in part goes first.
            piece = payload_bytes - written % payload_bytes;
        }
        let from = Pattern::place(written);
        match s.write(&content[from..from + piece as usize]) {
            Ok(n) => written += n as u64,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    if course.is_over() {
        return Ok(written);
    }
    s.shutdown(Shutdown::Write)?;
    // The peer closes when it has all.
    drain(s, course, |_| Ok(()))?;
    Ok(written)
}

/// Takes one connection and compares what comes with what was to come; bytes that were right.
#[expect(clippy::disallowed_methods, reason = "the kernel's TCP is what this is about")]
pub fn receives(namespace: &str, own: SocketAddr, course: Course) -> io::Result<JoinHandle<io::Result<u64>>> {
    let listener = within(Some(namespace), || TcpListener::bind(own))?;
    set_socket_timeout(&listener, Timeout::Recv, Some(LOOK))?;
    Ok(std::thread::spawn(move || {
        let s = loop {
            match listener.accept() {
                Ok((s, _)) => break s,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && !course.is_over() => {}
                Err(e) => return Err(e),
            }
        };
        set_socket_timeout(&s, Timeout::Recv, Some(LOOK))?;
        let (known, mut right) = (Pattern::default(), 0u64);
        drain(&s, &course, |bytes| {
            if !known.matches(right, bytes) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a wrong byte behind {right}")));
            }
            right += bytes.len() as u64;
            Ok(())
        })?;
        Ok(right)
    }))
}

/// Reads until the peer closes, or the run is over.
fn drain(mut s: &TcpStream, course: &Course, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    while !course.is_over() {
        match s.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => take(&buffer[..n])?,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
