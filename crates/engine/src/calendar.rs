//! Who is woken next.

use crate::agenda::Agenda;
use crate::deliveries::Deliveries;
use crosswind_base::{PacketId, Time, prefetch};

/// Two agendas, of the egresses and of the ends behind them, and the next wake-up of each stage as it said last; entries of
/// the agendas may be earlier. At one instant egresses come first. They are apart because ends are rarely
/// woken, and there may be very many of them. And packets that egresses have forwarded before their time: each counts
/// as a wake-up of the egress that it comes from.
pub struct Calendar {
    deliveries: Deliveries,
    egresses: Agenda,
    ends: Agenda,
    /// Stages below this are egresses.
    split: usize,
    next_wake: Vec<Time>,
}

impl Calendar {
    /// `shuffle_seed`: see [`Agenda::new`].
    pub fn new(egresses: usize, ends: usize, shuffle_seed: u64) -> Calendar {
        Calendar {
            deliveries: Deliveries::default(),
            egresses: Agenda::new(egresses, shuffle_seed),
            ends: Agenda::new(ends, shuffle_seed),
            split: egresses,
            next_wake: vec![Time::NEVER; egresses + ends],
        }
    }

    /// When something may be due next; [`Time::NEVER`] when nothing will be.
    #[inline]
    pub fn due(&self) -> Time {
        self.egresses.first_time().min(self.ends.first_time()).min(self.deliveries.first_at())
    }

    /// The packet that arrives at `at`, the time just asked for, and its link, unless some stage comes before it.
    #[inline]
    pub fn arrival(&mut self, at: Time) -> Option<(PacketId, u32)> {
        if self.deliveries.first_at() != at {
            return None;
        }
        let link = self.deliveries.first_link();
        let before = self.egresses.first().filter(|e| e.0 == at).is_some_and(|e| e.1 < link);
        (!before).then(|| (self.deliveries.pop(), link))
    }

    /// A packet that `egress` has forwarded early arrives at `at`, and is kept until then.
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

    /// The next wake-up of a stage will be wanted soon.
    #[inline]
    pub fn prefetch(&self, stage: usize) {
        if let Some(next) = self.next_wake.get(stage) {
            prefetch(next);
        }
    }

    /// The stage that is due at `at`, the time just asked for; `None` when its next wake-up has moved to a later time since.
    #[inline]
    pub fn first(&mut self, at: Time) -> Option<usize> {
        let is_egress = self.egresses.first_time() == at;
        let (agenda, base) = if is_egress { (&mut self.egresses, 0) } else { (&mut self.ends, self.split) };
        let stage = base + agenda.first()?.1 as usize;
        let next = self.next_wake[stage];
        if next > at {
            agenda.replace_first(next);
            return None;
        }
        Some(stage)
    }

    /// Whether nothing will happen any more. Entries without a wake-up behind them are taken out.
    pub fn is_idle(&mut self) -> bool {
        if self.deliveries.first_at() != Time::NEVER {
            return false;
        }
        for (agenda, base) in [(&mut self.egresses, 0), (&mut self.ends, self.split)] {
            while let Some((_, stage)) = agenda.first() {
                if self.next_wake[base + stage as usize] != Time::NEVER {
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
        let next = &mut self.next_wake[stage];
        assert!(at >= *next, "stage {stage} asks to be woken in the past");
        *next = at;
        let agenda = if stage < self.split { &mut self.egresses } else { &mut self.ends };
        agenda.replace_first(at);
    }

    /// A stage that was called for another reason says when it wants to be woken.
    #[inline]
    pub fn wake_at(&mut self, stage: usize, at: Time) {
        let next = &mut self.next_wake[stage];
        // Most arrivals change nothing: a link that is busy already has its wake. And what moves to a later time is found
        // out when the earlier one has come.
        let before = std::mem::replace(next, at);
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
