//! TUN devices: a network device of a namespace whose other end is a file of ours.
//!
//! The device is made inside the namespace; its file works from anywhere. It vanishes when the file is closed, however
//! that happens, so there is nothing to clean up.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const IFF_TUN: u16 = 0x0001;
const IFF_NO_PI: u16 = 0x1000;
/// `TUNSETIFF`: `_IOW('T', 202, int)`.
const TUNSETIFF: rustix::ioctl::Opcode = rustix::ioctl::opcode::write::<i32>(b'T', 202);
const NAME_MAX_BYTES: usize = 15;

/// `struct ifreq` of the kernel, as far as `TUNSETIFF` reads it.
#[repr(C)]
#[derive(Debug)]
struct IfReq {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// One TUN device.
pub struct Tun {
    file: OwnedFd,
}

/// Runs `f` on a thread of its own in the network namespace at `path`, or here without one.
#[expect(clippy::disallowed_methods, reason = "a namespace belongs to a thread; this one ends at once")]
pub fn within<T: Send>(path: Option<&str>, f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let Some(path) = path else { return f() };
    std::thread::scope(|s| {
        let job = s.spawn(|| {
            let namespace = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            f()
        });
        job.join().unwrap_or_else(|_| Err(io::Error::other("a thread of a namespace ended abruptly")))
    })
}

impl Tun {
    /// Makes the device `name` in a namespace (a path such as `/run/netns/a`), or in the present one.
    pub fn open(namespace: Option<&str>, name: &str) -> io::Result<Tun> {
        if name.is_empty() || name.len() > NAME_MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is no name of a device")));
        }
        let mut request = IfReq { name: [0; 16], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        within(namespace, move || {
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
            set_interface(file.as_fd(), request)?;
            Ok(Tun { file })
        })
    }

    /// Reads one packet into `frame`; false when none waits.
    #[inline]
    pub fn read(&self, frame: &mut Vec<u8>, limit: usize) -> Result<bool, Errno> {
        frame.resize(limit, 0);
        match rustix::io::read(&self.file, &mut frame[..]) {
            Ok(n) => {
                frame.truncate(n);
                Ok(true)
            }
            Err(Errno::AGAIN) => Ok(false),
            Err(e) => Err(e),
        }
    }

    #[inline]
    pub fn write(&self, frame: &[u8]) -> Result<(), Errno> {
        rustix::io::write(&self.file, frame).map(|_| ())
    }
}

#[expect(unsafe_code, reason = "the one call that no safe wrapper offers")]
fn set_interface(file: BorrowedFd<'_>, request: IfReq) -> Result<(), Errno> {
    // SAFETY: TUNSETIFF reads (and writes back) a `struct ifreq` of 40 bytes, which `IfReq` is.
    unsafe { rustix::ioctl::ioctl(file, rustix::ioctl::Updater::<TUNSETIFF, IfReq>::new(&mut { request })) }
}

const _: () = assert!(std::mem::size_of::<IfReq>() == 40);

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
