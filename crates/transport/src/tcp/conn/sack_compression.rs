//! # SACK compression
//!
//! **Source**: linux-6.18 `__tcp_ack_snd_check`, `tcp_compressed_ack_kick` (`net/ipv4/tcp_input.c`, `tcp_timer.c`; since 4.18).
//!
//! **Idea**: while a hole is open every segment asks for an ACK of its own. The first three that a hole brings leave at once, for they start
//! a recovery; later ones are held, and one ACK tells of all that came meanwhile: a millisecond and a tenth after the first of them (`tcp_comp_sack_delay_ns`
//! and `tcp_comp_sack_slack_ns`), a twentieth of the receiver's round trip where that is shorter, or when 44 are held. A segment that fills
//! a hole, in part or whole, is acknowledged at once and the count begins anew. On a path whose segments come further apart than that each
//! SACK is simply late, which a sender that measures rates sees: an interval that begins with a held ACK and ends with a prompt one is too short.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `sack_compression` | time | 0 | ours: off; Linux, and its presets: 1 ms |
//!
//! **Deviations**: 1. With more than two ranges above a hole an ACK leaves at once; Linux sends the one that it holds and may hold the next.
//! 2. The round trip is the one that this end has measured itself, by the handshake as a rule. 3. Quick ACKs count segments in order, here as for the
//! delayed ACK.
//!
//! **Checked by**: `tests/oracle_sack_compression.rs` (a model of the kernel's rules on random arrivals), `crates/sim/tests/bbr.rs` (what BBR
//! makes of it).

use crosswind_base::{Dur, Time};

/// ACKs that a hole brings at once (`TCP_FASTRETRANS_THRESH`).
const PROMPT: u32 = 3;
/// Most that are held for one (`tcp_comp_sack_nr`).
const HELD_MAX: u32 = 44;
/// How much later the timer may fire, and does (`tcp_comp_sack_slack_ns`).
const SLACK: Dur = Dur::from_micros(100);
/// Part of a round trip.
const PART: u64 = 20;
/// Ranges for which Linux leaves room in options (`TCP_SACK_BLOCKS_EXPECTED`).
const RANGES: usize = 2;

/// What is told at once and what is held, since the hole was last changed.
#[derive(Clone, Copy, Default, Debug)]
pub struct SackCompression {
    /// In-order edge that the counts belong to.
    edge: u64,
    prompt: u32,
    held: u32,
}

impl SackCompression {
    /// A segment came beyond the edge, and this many ranges are there now. Whether its ACK is held.
    pub fn holds(&mut self, edge: u64, ranges: usize) -> bool {
        if self.edge != edge {
            (self.edge, self.prompt) = (edge, 0);
        }
        if self.held >= HELD_MAX || ranges > RANGES {
            return false;
        }
        if self.prompt < PROMPT {
            self.prompt += 1;
            return false;
        }
        self.held += 1;
        true
    }

    /// An ACK has been sent: it has told all.
    pub fn told(&mut self) {
        self.held = 0;
    }

    /// When the ACK leaves that is held from `now` on; `longest` is the parameter, `trip` the round trip where it is known.
    pub fn due(now: Time, longest: Dur, trip: Option<Dur>) -> Time {
        now + trip.map_or(longest, |t| longest.min(Dur(t.0 / PART))) + SLACK
    }
}
