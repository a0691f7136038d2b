//! What an application has given to its transport: bytes of a stream, or datagrams one by one.

use std::collections::VecDeque;

/// Bytes that a socket takes of a stream: more than anybody writes at once.
pub const BUFFER_BYTES: u64 = 1 << 41;

/// The content of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub payload_bytes: u16,
    /// The burst of the application that it belongs to.
    pub burst: u64,
}

#[derive(Clone, Debug)]
enum From {
    /// An application that always has more.
    Endless,
    /// Bytes that have been written and wait; more may come.
    Written { left: u64, has_ended: bool },
    /// Datagrams that wait to be sent, by their burst; more may come.
    Stream { waiting: VecDeque<u64>, limit_packets: usize, has_ended: bool },
}

/// Data that waits to be sent.
#[derive(Clone, Debug)]
pub struct Supply {
    payload_bytes: u16,
    from: From,
    /// Datagrams that found the queue of the socket full.
    pub refused_packets: u64,
}

impl Supply {
    /// There is always more.
    pub fn endless(payload_bytes: u16) -> Supply {
        Supply { payload_bytes, from: From::Endless, refused_packets: 0 }
    }

    /// Bytes are written.
    pub fn written(payload_bytes: u16) -> Supply {
        Supply { payload_bytes, from: From::Written { left: 0, has_ended: false }, refused_packets: 0 }
    }

    /// The application writes so many bytes.
    pub fn write(&mut self, bytes: u64) {
        if let From::Written { left, .. } = &mut self.from {
            *left += bytes;
        }
    }

    /// How many bytes can be written.
    pub fn room_bytes(&self) -> u64 {
        match &self.from {
            From::Written { left, has_ended: false } => BUFFER_BYTES.saturating_sub(*left),
            _ => 0,
        }
    }

    /// Datagrams come one by one and wait in a queue.
    pub fn stream(payload_bytes: u16, limit_packets: u32) -> Supply {
        let limit_packets = limit_packets as usize;
        let from = From::Stream { waiting: VecDeque::with_capacity(limit_packets), limit_packets, has_ended: false };
        Supply { payload_bytes, from, refused_packets: 0 }
    }

    /// The application has a datagram. It is refused when the queue is full.
    pub fn offer(&mut self, burst: u64) {
        if let From::Stream { waiting, limit_packets, .. } = &mut self.from {
            if waiting.len() < *limit_packets {
                waiting.push_back(burst);
            } else {
                self.refused_packets += 1;
            }
        }
    }

    /// The application will offer nothing more.
    pub fn end(&mut self) {
        if let From::Stream { has_ended, .. } | From::Written { has_ended, .. } = &mut self.from {
            *has_ended = true;
        }
    }

    /// Something can be sent now.
    pub fn has_more(&self) -> bool {
        match &self.from {
            From::Endless => true,
            From::Written { left, .. } => *left > 0,
            From::Stream { waiting, .. } => !waiting.is_empty(),
        }
    }

    /// Nothing can be sent, now or later.
    pub fn is_exhausted(&self) -> bool {
        match &self.from {
            From::Endless => false,
            From::Written { left, has_ended } => *has_ended && *left == 0,
            From::Stream { waiting, has_ended, .. } => *has_ended && waiting.is_empty(),
        }
    }

    /// The content of the next packet.
    pub fn take(&mut self) -> Option<Piece> {
        let full = self.payload_bytes;
        match &mut self.from {
            From::Endless => Some(Piece { payload_bytes: full, burst: 1 }),
            From::Written { left: 0, .. } => None,
            From::Written { left, .. } => {
                let payload_bytes = (*left).min(u64::from(full)) as u16;
                *left -= u64::from(payload_bytes);
                Some(Piece { payload_bytes, burst: 1 })
            }
            From::Stream { waiting, .. } => waiting.pop_front().map(|burst| Piece { payload_bytes: full, burst }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_with_what_is_left_of_it() {
        let mut s = Supply::written(1000);
        s.write(2300);
        let sizes: Vec<u16> = std::iter::from_fn(|| s.take()).map(|p| p.payload_bytes).collect();
        assert_eq!(sizes, [1000, 1000, 300]);
        assert!(!s.has_more() && !s.is_exhausted(), "more may be written");
        s.end();
        assert!(s.is_exhausted());
    }

    #[test]
    fn a_full_queue_refuses_the_newest_datagram() {
        let mut s = Supply::stream(48, 2);
        (1..=3).for_each(|burst| s.offer(burst));
        assert_eq!((s.take().map(|p| p.burst), s.refused_packets), (Some(1), 1));
        s.end();
        assert!(!s.is_exhausted(), "one still waits");
        assert_eq!((s.take().map(|p| p.burst), s.take(), s.is_exhausted()), (Some(2), None, true));
    }
}
