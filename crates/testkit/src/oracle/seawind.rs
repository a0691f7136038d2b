//! The Seawind link behind a drop-tail queue, event by event: packets are moved from place to place as soon as the next
//! place takes them. What happens at the end of a transmission is the pseudo-code of the specification, line by line.

/// One packet on its way.
#[derive(Clone, Copy, Debug)]
struct Item {
    seq: u64,
    len: u64,
}

/// The channel as a list of the times at which the good and the bad state end, in turn.
#[derive(Clone, Debug)]
pub struct Trace {
    pub ends_ns: Vec<u64>,
    pub first_is_bad: bool,
}

impl Trace {
    fn is_bad(&self, at_ns: u64) -> bool {
        let passed = self.ends_ns.iter().take_while(|end| **end <= at_ns).count();
        assert!(passed < self.ends_ns.len(), "the trace is too short");
        (passed % 2 == 1) != self.first_is_bad
    }
}

/// Link-level retransmission by DELAY_ITERATE.
pub struct Arq<'a> {
    pub trace: Trace,
    pub error_in_bad: f64,
    pub delay_ns: u64,
    pub drop_threshold_ns: u64,
    /// The alternative reading: the state of the first attempt counts for all.
    pub is_frozen: bool,
    pub rand: &'a mut dyn FnMut() -> f64,
}

/// When the bytes of a packet leave the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freed {
    AtEndOfTransmission,
    /// So long after it was released in order.
    AfterRelease(u64),
    /// So long after it arrived, or was given up.
    AfterArrival(u64),
}

/// The limit of the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendBuffer {
    Bytes(u64),
    Packets(usize),
}

pub struct Seawind<'a> {
    pub queue_limit_bytes: u64,
    pub in_transit_max: usize,
    pub send_buffer: SendBuffer,
    pub bits_per_s: u64,
    /// A transmission lasts whole multiples of this; 0: exactly as long as its bits.
    pub tx_tick_ns: u64,
    pub delay_ns: u64,
    pub freed: Freed,
    pub arq: Option<Arq<'a>>,
}

/// What became of the packets: (time in ns, ordinal).
#[derive(Default, PartialEq, Eq, Debug)]
pub struct History {
    pub delivered: Vec<(u64, u64)>,
    pub dropped: Vec<(u64, u64)>,
    pub lost: Vec<(u64, u64)>,
    /// Retransmissions on the link.
    pub retransmitted: u64,
}

/// What was sent and has not been released.
#[derive(Clone, Copy, Debug)]
struct OnAir {
    item: Item,
    arrival_ns: u64,
    is_lost: bool,
    has_arrived: bool,
}

#[derive(Default)]
struct State {
    queue: Vec<Item>,
    transit: Vec<Item>,
    /// Waiting for the line; the first is on it when `line_end_ns` is set.
    waiting: Vec<Item>,
    /// Lengths of packets that are no longer waiting and still take space.
    unconfirmed: Vec<Item>,
    line_end_ns: Option<u64>,
    last_end_ns: u64,
    /// Start of the present busy period of the line and bits sent in it; its end is exact to the nanosecond.
    busy_start_ns: u64,
    busy_bits: u64,
    /// In order of transmission.
    air: Vec<OnAir>,
    /// Confirmations under way: when each is there, and for what.
    confirmations: Vec<(u64, u64)>,
    history: History,
}

impl Seawind<'_> {
    /// Runs arrivals (time in ns, length), ascending in time, to the end. An event of the link comes before an arrival
    /// of the same time.
    pub fn run(&mut self, arrivals: &[(u64, u64)]) -> History {
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

    /// Events of the link up to `until`.
    fn advance(&mut self, s: &mut State, until: u64) {
        loop {
            let arrival = s.air.iter().filter(|a| !a.has_arrived).map(|a| a.arrival_ns).min();
            let confirmed = s.confirmations.iter().map(|c| c.0).min();
            let Some(now) = [s.line_end_ns, arrival, confirmed].into_iter().flatten().min() else { return };
            if now > until {
                return;
            }
            if s.line_end_ns == Some(now) {
                self.end_of_transmission(s, now);
            } else if arrival == Some(now) {
                self.arrive(s, now);
            } else {
                s.confirmations.retain(|&(at, seq)| {
                    if at == now {
                        s.unconfirmed.retain(|i| i.seq != seq);
                    }
                    at != now
                });
            }
            self.shift(s, now);
        }
    }

    fn end_of_transmission(&mut self, s: &mut State, t: u64) {
        let item = s.waiting.remove(0);
        s.line_end_ns = None;
        s.last_end_ns = t;
        if self.freed != Freed::AtEndOfTransmission {
            s.unconfirmed.push(item);
        }
        let mut delay = 0;
        let mut skippable = 0;
        let mut is_lost = false;
        if let Some(arq) = &mut self.arq {
            loop {
                let at = if arq.is_frozen { t } else { t + delay };
                if arq.trace.is_bad(at) && (arq.rand)() < arq.error_in_bad {
                    skippable = delay;
                    delay += arq.delay_ns;
                    if delay > arq.drop_threshold_ns {
                        is_lost = true;
                        break;
                    }
                    s.history.retransmitted += 1;
                } else {
                    break;
                }
            }
        }
        let arrival_ns = t + self.delay_ns + if is_lost { skippable } else { delay };
        s.air.push(OnAir { item, arrival_ns, is_lost, has_arrived: false });
    }

    /// Everything that arrives now, and what may be released with it.
    fn arrive(&self, s: &mut State, now: u64) {
        for a in s.air.iter_mut().filter(|a| !a.has_arrived && a.arrival_ns == now) {
            a.has_arrived = true;
            if let Freed::AfterArrival(later) = self.freed {
                s.confirmations.push((now + later, a.item.seq));
            }
        }
        while let Some(first) = s.air.first().copied().filter(|a| a.has_arrived) {
            s.air.remove(0);
            let list = if first.is_lost { &mut s.history.lost } else { &mut s.history.delivered };
            list.push((now, first.item.seq));
            if let Freed::AfterRelease(later) = self.freed {
                s.confirmations.push((now + later, first.item.seq));
            }
        }
    }

    fn has_room(&self, s: &State, len: u64) -> bool {
        let inside = s.waiting.iter().chain(&s.unconfirmed);
        match self.send_buffer {
            SendBuffer::Bytes(limit) => inside.map(|i| i.len).sum::<u64>() + len <= limit,
            SendBuffer::Packets(limit) => inside.count() < limit,
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
            if let Some(first) = s.transit.first().copied()
                && self.has_room(s, first.len)
            {
                s.transit.remove(0);
                s.waiting.push(first);
                moved = true;
            }
            if s.line_end_ns.is_none()
                && let Some(first) = s.waiting.first()
            {
                // The line has paused only if time has passed since its last packet.
                if now > s.last_end_ns {
                    s.busy_start_ns = now;
                    s.busy_bits = 0;
                }
                s.busy_bits += 8 * first.len;
                let one_ns = 8 * first.len * 1_000_000_000 / self.bits_per_s;
                let all_ns = s.busy_bits as u128 * 1_000_000_000 / self.bits_per_s as u128;
                s.line_end_ns = Some(match one_ns.checked_div(self.tx_tick_ns) {
                    Some(ticks) => now + ticks * self.tx_tick_ns,
                    None => s.busy_start_ns + all_ns as u64,
                });
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }
}
