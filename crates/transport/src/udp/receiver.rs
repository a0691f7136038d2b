//! The receiving half of UDP: what arrived, and what that says about the path.

use crosswind_base::{Dur, Histogram, LinearHistogram, Packet, Time};

/// One-way delays that listeners of real-time media care about ([Järvinen 2006] open point 7-33, after ITU-T G.114).
pub const DELAY_MARKS: [Dur; 4] =
    [Dur::from_millis(150), Dur::from_millis(250), Dur::from_millis(400), Dur::from_millis(500)];
/// Delay variation that exceeds one packet of the usual media frame.
pub const VARIATION_MARK: Dur = Dur::from_millis(20);
/// A delay variation is known to this many nanoseconds.
const VARIATION_RESOLUTION_NS: u32 = 100_000;
/// Packets that may arrive this much out of order still find their neighbour's delay.
const REMEMBERED: usize = 64;

/// A packet that arrived, for its neighbours: the low halves of two numbers, so that four of them fill a cache line.
#[derive(Clone, Copy, Debug)]
struct Seen {
    seq: u32,
    burst: u32,
    /// Without end when there is none.
    delay: Dur,
}

const NOTHING: Seen = Seen { seq: 0, burst: 0, delay: Dur(u64::MAX) };

#[derive(Debug)]
pub struct Receiver {
    /// One bit per datagram number.
    arrived: Vec<u64>,
    recent: Vec<Seen>,
    highest: Option<u64>,
    pub packets: u64,
    pub bytes: u64,
    pub payload_bytes: u64,
    pub out_of_order_packets: u64,
    /// Delay of packet i + 1 less that of packet i, where both arrived and belong to one burst (RFC 3393).
    pub variation_ns: LinearHistogram,
    /// How many variations exceed [`VARIATION_MARK`] in size.
    pub variations_over_mark: u64,
    /// How many packets took longer than each of [`DELAY_MARKS`].
    pub delays_over_marks: [u64; DELAY_MARKS.len()],
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            arrived: Vec::new(),
            recent: vec![NOTHING; REMEMBERED],
            highest: None,
            packets: 0,
            bytes: 0,
            payload_bytes: 0,
            out_of_order_packets: 0,
            variation_ns: LinearHistogram::new(VARIATION_RESOLUTION_NS),
            variations_over_mark: 0,
            delays_over_marks: [0; DELAY_MARKS.len()],
        }
    }
}

impl Receiver {
    /// A datagram arrives. Returns false when it had arrived before.
    pub fn on_datagram(&mut self, p: &Packet, now: Time) -> bool {
        if self.has(p.seq) {
            return false;
        }
        self.note(p.seq);
        self.packets += 1;
        self.bytes += u64::from(p.len);
        self.payload_bytes += u64::from(p.payload);
        // Nothing that follows it has come if it is the highest.
        let may_precede = self.highest.is_some_and(|h| p.seq < h);
        self.out_of_order_packets += u64::from(may_precede);
        self.highest = self.highest.max(Some(p.seq));
        let delay = now.since(p.sent_at);
        for (n, mark) in self.delays_over_marks.iter_mut().zip(DELAY_MARKS) {
            *n += u64::from(delay > mark);
        }
        let mine = Seen { seq: p.seq as u32, burst: p.ack as u32, delay };
        if let Some(before) = p.seq.checked_sub(1).and_then(|s| self.seen(s)) {
            self.vary(before, mine);
        }
        if let Some(after) = may_precede.then(|| self.seen(p.seq + 1)).flatten() {
            self.vary(mine, after);
        }
        self.recent[p.seq as usize % REMEMBERED] = mine;
        true
    }

    /// Number of the highest datagram that arrived.
    pub fn highest(&self) -> Option<u64> {
        self.highest
    }

    fn seen(&self, seq: u64) -> Option<Seen> {
        let s = self.recent[seq as usize % REMEMBERED];
        (s.seq == seq as u32 && s.delay != NOTHING.delay).then_some(s)
    }

    fn vary(&mut self, first: Seen, second: Seen) {
        if first.burst == second.burst {
            let v = second.delay.0 as i64 - first.delay.0 as i64;
            self.variation_ns.record(v);
            self.variations_over_mark += u64::from(v.unsigned_abs() > VARIATION_MARK.0);
        }
    }

    fn has(&self, seq: u64) -> bool {
        self.arrived.get(seq as usize / 64).is_some_and(|word| word >> (seq % 64) & 1 == 1)
    }

    fn note(&mut self, seq: u64) {
        let word = seq as usize / 64;
        if word >= self.arrived.len() {
            self.arrived.resize(word + 1, 0);
        }
        self.arrived[word] |= 1 << (seq % 64);
    }

    /// Lengths of the runs of consecutive datagrams that did not arrive, of the first `sent`.
    pub fn loss_runs(&self, sent: u64) -> Histogram {
        let mut runs = Histogram::new();
        let mut run = 0;
        for seq in 0..sent {
            if self.has(seq) {
                if run > 0 {
                    runs.record(run);
                }
                run = 0;
            } else {
                run += 1;
            }
        }
        if run > 0 {
            runs.record(run);
        }
        runs
    }
}
