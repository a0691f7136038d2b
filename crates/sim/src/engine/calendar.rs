//! Who is woken next, and how far the run has come.

use super::agenda::Agenda;
use super::deliveries::Deliveries;
use crosswind_base::{PacketId, Time, prefetch};
use std::sync::atomic::AtomicBool;

/// Two agendas, of the egresses and of the ends behind them, and what each stage said last about when to be woken;
/// entries of the agendas may be earlier. At one instant egresses come first. They are apart because ends are rarely
/// woken, and there may be very many of them. And packets that egresses have handed over before their time: each counts
/// as a wake of the egress that it comes from.
pub struct Calendar {
    deliveries: Deliveries,
    egresses: Agenda,
    ends: Agenda,
    /// Stages below this are egresses.
    split: usize,
    wishes: Vec<Time>,
}

impl Calendar {
    /// `shuffle_seed`: see [`Agenda::new`].
    pub fn new(egresses: usize, ends: usize, shuffle_seed: u64) -> Calendar {
        Calendar {
            deliveries: Deliveries::default(),
            egresses: Agenda::new(egresses, shuffle_seed),
            ends: Agenda::new(ends, shuffle_seed),
            split: egresses,
            wishes: vec![Time::NEVER; egresses + ends],
        }
    }

    /// When something may be due next; [`Time::NEVER`] when nothing will be.
    #[inline]
    pub fn due(&self) -> Time {
        self.egresses.first_time().min(self.ends.first_time()).min(self.deliveries.first_at())
    }

    /// The packet that arrives at `at`, the time just asked for, and its line, unless some stage comes before it.
    #[inline]
    pub fn arrival(&mut self, at: Time) -> Option<(PacketId, u32)> {
        if self.deliveries.first_at() != at {
            return None;
        }
        let line = self.deliveries.first_line();
        let before = self.egresses.first().filter(|e| e.0 == at).is_some_and(|e| e.1 < line);
        (!before).then(|| (self.deliveries.pop(), line))
    }

    /// A packet that `egress` has handed over arrives at `at`, where somebody waits for its time.
    #[inline]
    pub fn arrives(&mut self, at: Time, egress: u32, id: PacketId) {
        self.deliveries.push(at, egress, id);
    }

    /// The packet that will be next to arrive; no packet has the number of one that is not known.
    #[inline]
    pub fn next_arrival(&self) -> PacketId {
        self.deliveries.first()
    }

    /// The one that arrives `ahead` packets after it, at least one, if that is known.
    #[inline]
    pub fn later_arrival(&self, ahead: usize) -> Option<PacketId> {
        self.deliveries.behind_first(ahead)
    }

    /// The wish of a stage will be wanted soon.
    #[inline]
    pub fn prefetch(&self, stage: usize) {
        if let Some(wish) = self.wishes.get(stage) {
            prefetch(wish);
        }
    }

    /// The stage that is due at `at`, the time just asked for; `None` when its wish has moved to a later time since.
    #[inline]
    pub fn first(&mut self, at: Time) -> Option<usize> {
        let is_egress = self.egresses.first_time() == at;
        let (agenda, base) = if is_egress { (&mut self.egresses, 0) } else { (&mut self.ends, self.split) };
        let stage = base + agenda.first()?.1 as usize;
        let wish = self.wishes[stage];
        if wish > at {
            agenda.replace_first(wish);
            return None;
        }
        Some(stage)
    }

    /// Whether nothing will happen any more. Entries that no wish stands behind are taken out on the way.
    pub fn is_idle(&mut self) -> bool {
        if self.deliveries.first_at() != Time::NEVER {
            return false;
        }
        for (agenda, base) in [(&mut self.egresses, 0), (&mut self.ends, self.split)] {
            while let Some((_, stage)) = agenda.first() {
                if self.wishes[base + stage as usize] != Time::NEVER {
                    return false;
                }
                agenda.replace_first(Time::NEVER);
            }
        }
        true
    }

    /// The first stage has been woken and says when it wants to be woken again, or [`Time::NEVER`].
    #[inline]
    pub fn served(&mut self, stage: usize, at: Time) {
        let wish = &mut self.wishes[stage];
        assert!(at >= *wish, "stage {stage} asks to be woken in the past");
        *wish = at;
        let agenda = if stage < self.split { &mut self.egresses } else { &mut self.ends };
        agenda.replace_first(at);
    }

    /// A stage that was called for another reason says when it wants to be woken.
    #[inline]
    pub fn wishes(&mut self, stage: usize, at: Time) {
        let wish = &mut self.wishes[stage];
        // Most arrivals change nothing: a link that is busy already has its wake. And what moves to a later time is found
        // out when the earlier one has come.
        let before = std::mem::replace(wish, at);
        if at < before {
            self.enter(stage, at);
        }
    }

    #[inline(never)]
    fn enter(&mut self, stage: usize, at: Time) {
        match stage.checked_sub(self.split) {
            None => self.egresses.at_latest(stage as u32, at),
            Some(end) => self.ends.at_latest(end as u32, at),
        }
    }
}

/// Counts events.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    pub events: u64,
    /// How many there may have been before time has to go on.
    limit: u64,
    /// How many events one instant may have: more are a loop, not a simulation.
    most: u64,
}

/// How many events pass between two looks at whether the run is still wanted: some hundredths of a second.
const ASK_EVERY: u64 = 1 << 16;

/// Set by whoever waits for a run and wants it no more.
pub type Cancel<'a> = Option<&'a AtomicBool>;

impl Tick {
    /// Whether it is time to ask what lies outside the run: whether it is still wanted, and whether there is memory left.
    #[inline]
    pub fn asks(&self) -> bool {
        self.events % ASK_EVERY == 0
    }

    /// All flows may start at once, and many of them send a large window.
    pub fn new(stages: usize) -> Tick {
        let most = 10_000_000 + 1_000 * stages as u64;
        Tick { events: 0, limit: most, most }
    }

    pub fn most(&self) -> u64 {
        self.most
    }

    /// One event at `at`. Whether there may be more at this instant.
    #[inline]
    #[must_use]
    pub fn at(&mut self, now: &mut Time, at: Time) -> bool {
        if at != *now {
            assert!(at > *now, "time runs forward: {at:?} after {now:?}");
            *now = at;
            self.limit = self.events + self.most;
        }
        self.events += 1;
        self.events < self.limit
    }
}
