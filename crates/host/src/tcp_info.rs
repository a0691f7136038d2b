//! What a kernel says of a connection of its own: `TCP_INFO` (linux/tcp.h).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Up to `tcpi_total_rto_recoveries`, which is there since Linux 6.7.
const BYTES: usize = 244;

/// `tcpi_ca_state`: how a sender stands to losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Standing {
    #[default]
    Open,
    /// Duplicates or SACK, and nothing held for lost.
    Disorder,
    /// The window falls for a mark, or for a full device.
    Reduced,
    Recovery,
    /// After a timeout.
    Loss,
}

/// One look. Windows are in segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Look {
    pub is_established: bool,
    pub standing: Standing,
    pub mss_bytes: u32,
    pub rto_us: u32,
    /// The smoothed round trip.
    pub srtt_us: u32,
    pub ssthresh: u32,
    pub cwnd: u32,
    pub retransmitted_packets: u32,
    /// Packets that arrived marked, as far as its peer has told.
    pub marked_packets: u32,
    pub timeouts: u16,
}

/// Looks at a connection. Waits while somebody else is inside of the socket, so that what came before is counted.
pub fn look(socket: BorrowedFd<'_>) -> io::Result<Look> {
    let raw = read(socket)?;
    let number = |at: usize| u32::from_ne_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]);
    let standing = match raw[1] {
        0 => Standing::Open,
        1 => Standing::Disorder,
        2 => Standing::Reduced,
        3 => Standing::Recovery,
        _ => Standing::Loss,
    };
    Ok(Look {
        is_established: raw[0] == 1,
        standing,
        rto_us: number(8),
        mss_bytes: number(16),
        srtt_us: number(68),
        ssthresh: number(76),
        cwnd: number(80),
        retransmitted_packets: number(100),
        marked_packets: number(196),
        timeouts: u16::from_ne_bytes([raw[240], raw[241]]),
    })
}

#[expect(unsafe_code, reason = "no safe wrapper has this option with the fields of today")]
fn read(socket: BorrowedFd<'_>) -> io::Result<[u8; BYTES]> {
    let mut raw = [0u8; BYTES];
    let mut len = BYTES as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `raw`, which is so long, and the length that it wrote to `len`.
    let done = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, raw.as_mut_ptr().cast(), &mut len)
    };
    match done {
        0 if len as usize == BYTES => Ok(raw),
        0 => Err(io::Error::new(io::ErrorKind::Unsupported, "a kernel before Linux 6.7 does not count its timeouts")),
        _ => Err(io::Error::last_os_error()),
    }
}
