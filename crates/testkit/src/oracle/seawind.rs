//! The error-free Seawind link behind a drop-tail queue, event by event: packets are moved from place to place as soon
//! as the next place takes them.

/// One packet on its way.
#[derive(Clone, Copy, Debug)]
struct Item {
    seq: u64,
    len: u64,
}

pub struct Seawind {
    pub queue_limit_bytes: u64,
    pub in_transit_max: usize,
    pub send_buffer_bytes: u64,
    pub bits_per_s: u64,
    pub delay_ns: u64,
}

/// What became of the packets: (time in ns, ordinal).
#[derive(Default, PartialEq, Eq, Debug)]
pub struct History {
    pub delivered: Vec<(u64, u64)>,
    pub dropped: Vec<(u64, u64)>,
}

#[derive(Default)]
struct State {
    queue: Vec<Item>,
    transit: Vec<Item>,
    /// The first is on the line when `line_end_ns` is set.
    buffer: Vec<Item>,
    line_end_ns: Option<u64>,
    last_end_ns: u64,
    /// Start of the present busy period of the line and bits sent in it; its end is exact to the nanosecond.
    busy_start_ns: u64,
    busy_bits: u64,
    history: History,
}

impl Seawind {
    /// Runs arrivals (time in ns, length), ascending in time, to the end. An event of the line comes before an arrival
    /// of the same time.
    pub fn run(&self, arrivals: &[(u64, u64)]) -> History {
        let mut s = State::default();
        for (seq, &(at, len)) in arrivals.iter().enumerate() {
            self.advance(&mut s, at);
            let seq = seq as u64;
            if s.queue.iter().map(|i| i.len).sum::<u64>() + len > self.queue_limit_bytes {
                s.history.dropped.push((at, seq));
                continue;
            }
            s.queue.push(Item { seq, len });
            self.shift(&mut s, at);
        }
        self.advance(&mut s, u64::MAX);
        s.history
    }

    /// Ends transmissions up to `until`.
    fn advance(&self, s: &mut State, until: u64) {
        while let Some(end) = s.line_end_ns.filter(|end| *end <= until) {
            let sent = s.buffer.remove(0);
            s.history.delivered.push((end + self.delay_ns, sent.seq));
            s.line_end_ns = None;
            s.last_end_ns = end;
            self.shift(s, end);
        }
    }

    /// Moves whatever can move, now.
    fn shift(&self, s: &mut State, now: u64) {
        loop {
            let mut moved = false;
            if s.transit.len() < self.in_transit_max && !s.queue.is_empty() {
                let item = s.queue.remove(0);
                s.transit.push(item);
                moved = true;
            }
            let held: u64 = s.buffer.iter().map(|i| i.len).sum();
            if let Some(first) = s.transit.first().copied()
                && held + first.len <= self.send_buffer_bytes
            {
                s.transit.remove(0);
                s.buffer.push(first);
                moved = true;
            }
            if s.line_end_ns.is_none()
                && let Some(first) = s.buffer.first()
            {
                // The line has paused only if time has passed since its last packet.
                if now > s.last_end_ns {
                    s.busy_start_ns = now;
                    s.busy_bits = 0;
                }
                s.busy_bits += 8 * first.len;
                let ns = s.busy_bits as u128 * 1_000_000_000 / self.bits_per_s as u128;
                s.line_end_ns = Some(s.busy_start_ns + ns as u64);
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }
}
