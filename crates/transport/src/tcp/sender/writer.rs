//! # How a program's writes get into the socket
//!
//! **Source**: linux-2.4 `net/ipv4/tcp.c` (`tcp_sendmsg`, `wait_for_tcp_memory`), `tcp_input.c` (`tcp_new_space`), `include/net/tcp.h`
//! (`forced_push`, `tcp_min_write_space`, `tcp_snd_test`).
//!
//! **Idea**: a kernel that keeps 16 kB at first lets the program write until that memory is full, and again when a third of it
//! is free; the memory grows to twice the window whenever the window is not filled. The segment at which the program has to wait is
//! pushed (PSH), and so is one after each half of the peer's largest window. Receivers may acknowledge pushed segments earlier. The
//! last segment leaves with the one before it, even beyond the congestion window, when it carries the FIN.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `writing` | - | `whole` | ours; `linux-2.4` goes with the delayed ACKs of that system |
//! | `final_segment` | - | `window` | `linux-2.4` in the preset `linux-2.4.17`: `tcp_snd_test` |
//!
//! **Deviations**: 1. Writes are a stream that is cut at the MSS alone: the kernel lets a short segment go at the end of a write when it
//! may send all it holds and no other short segment is out. 2. Data beyond the memory is sent when the window opens, and only counted as
//! written later: the program runs at once when it is woken.
//!
//! **Checked by**: the tests below (memory and pushed segments against the kernel's rules, by hand); ``tests/tapes/fin_*.tape``.

use crate::tcp::choices::choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

choice!(
    /// Whether the last segment, with the FIN, keeps to the congestion window.
    #[derive(Default)]
    FinalSegment {
        /// It does.
        #[default]
        Window,
        /// It leaves with the segment before it (`tcp_snd_test`).
        #[serde(rename = "linux-2.4")]
        WithPrevious,
    }
);
choice!(
    /// How what a program writes gets into the socket.
    #[derive(Default)]
    Writing {
        /// At once, and nothing is pushed.
        #[default]
        Whole,
        /// As the kernel's memory for the socket allows; the segment at which the program waits is pushed.
        #[serde(rename = "linux-2.4")]
        AsMemoryAllows,
    }
);

/// Memory that a segment takes beyond its data: headers (`MAX_TCP_HEADER` and 16) and `sk_buff`.
const OVERHEAD: u64 = 160 + 16 + 176;
/// `tcp_wmem`: memory at first, and at most.
const FIRST: u64 = 16_384;
const MOST: u64 = 131_072;

/// Where the sender stands when the program may write; segments.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub una: u64,
    pub nxt: u64,
    /// End of all that the program has to write.
    pub end: u64,
    pub mss: u64,
    pub cwnd: u64,
    pub in_flight: u64,
    /// Largest window that the peer has offered, in bytes.
    pub max_window: u64,
}

/// The socket's memory, and what has been pushed.
#[derive(Clone, Debug)]
pub struct Writer {
    memory: u64,
    written: u64,
    /// The program waits for memory.
    waits: bool,
    /// Ends of pushed segments that are not acknowledged.
    pushed: VecDeque<u64>,
    last_pushed: u64,
}

impl Writer {
    pub fn asked_for(how: Writing) -> Option<Writer> {
        (how == Writing::AsMemoryAllows).then(|| Writer {
            memory: FIRST,
            written: 1,
            waits: false,
            pushed: VecDeque::new(),
            last_pushed: 1,
        })
    }

    /// Whether the segment that ends here is pushed.
    pub fn is_pushed(&self, end: u64) -> bool {
        self.pushed.contains(&end)
    }

    /// ACKs may have freed memory: the program writes what fits.
    pub fn go_on(&mut self, t: Turn) {
        while self.pushed.front().is_some_and(|e| *e <= t.una) {
            self.pushed.pop_front();
        }
        let (mss, size) = (t.mss, t.mss + OVERHEAD);
        let mut held = self.written.saturating_sub(t.una).div_ceil(mss);
        if self.waits {
            let out = (t.nxt - t.una).div_ceil(mss) + t.cwnd.saturating_sub(t.in_flight);
            if held.min(out) < t.cwnd {
                self.memory = self.memory.max(2 * t.cwnd.max(4) * size).min(MOST);
            }
            if self.memory.saturating_sub(held * size) < held * size / 2 {
                return;
            }
        }
        while self.written < t.end && held * size < self.memory {
            self.written = (self.written + mss).min(t.end);
            held += 1;
            if self.written - self.last_pushed > t.max_window / 2 {
                self.push();
            }
        }
        self.waits = self.written < t.end;
        if self.waits {
            self.push();
        }
    }

    fn push(&mut self) {
        self.last_pushed = self.written;
        if self.pushed.back() != Some(&self.written) {
            self.pushed.push_back(self.written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer() -> Writer {
        Writer::asked_for(Writing::AsMemoryAllows).expect("it writes as the kernel")
    }

    fn turn(una: u64, out: u64, cwnd: u64) -> Turn {
        let at = |n: u64| 1 + n * 1448;
        Turn { una: at(una), nxt: at(una + out), end: at(200), mss: 1448, cwnd, in_flight: out, max_window: 64_000 }
    }

    fn ends(w: &Writer) -> Vec<u64> {
        w.pushed.iter().map(|e| (e - 1) / 1448).collect()
    }

    #[test]
    fn the_program_waits_when_16_kb_are_full_and_goes_on_when_a_third_is_free() {
        let mut w = writer();
        // Segments take 1800 B: the tenth is begun with 16 200 B held, the eleventh not.
        w.go_on(turn(0, 0, 2));
        assert_eq!(ends(&w), [10]);
        // Eight or seven held: less than half as much is free.
        for una in 2..4 {
            w.go_on(turn(una, 2, 2));
            assert_eq!(ends(&w), [10], "{una}");
        }
        w.go_on(turn(4, 2, 2));
        assert_eq!(ends(&w), [10, 14]);
        assert!(w.is_pushed(1 + 10 * 1448) && !w.is_pushed(1 + 11 * 1448));
        w.go_on(turn(10, 2, 2));
        assert_eq!(ends(&w), [14, 20], "what is acknowledged is forgotten");
    }

    #[test]
    fn a_window_that_is_not_filled_gets_twice_its_memory() {
        let mut w = writer();
        w.go_on(turn(0, 0, 2));
        // Nine are held and out, and the window would take twelve: memory for 24.
        w.go_on(turn(1, 9, 12));
        assert_eq!(ends(&w), [10, 25]);
        assert_eq!(w.memory, 24 * 1800);
    }

    #[test]
    fn half_a_window_of_the_peer_is_pushed_too() {
        let mut w = writer();
        w.go_on(Turn { max_window: 5792, ..turn(0, 0, 2) });
        assert_eq!(ends(&w), [3, 6, 9, 10]);
    }
}
