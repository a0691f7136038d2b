//! The agenda: when each stage wants to be woken next.
//!
//! A stage has one place in it, so its size is the number of stages, not the number of packets or timers. It is a
//! tournament in groups of four: the best of a group stands for it in the group above, and the best of the topmost group
//! is the next to be woken. A group never straddles a cache line. Changing a wake-up replays the matches above it; there is no search,
//! no allocation, and hardly a branch that depends on data.
//!
//! Wake-ups that move to a later time are not replayed at once (see [`Agenda::at_latest`]): a retransmission timer that is
//! restarted on every ACK costs one look per timeout.

use crosswind_base::Time;

/// Entries that play against each other.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Group([u64; WIDTH]);

const WIDTH: usize = 4;

impl Group {
    /// Enters `key` at a place, and says which is the best of the group.
    #[inline]
    fn enter(&mut self, place: usize, key: u64) -> u64 {
        let at = place % WIDTH;
        // The others first: they do not wait for the matches below.
        let others = self.0[at ^ 1].min(self.0[at ^ 2]).min(self.0[at ^ 3]);
        self.0[at] = key;
        key.min(others)
    }
}

/// A tournament over stages.
///
/// A wake-up is one number: time since `epoch` above, place among the leaves below, so that one comparison decides time and
/// tie, and the winner tells who it is. A time too far from the epoch for its bits is entered as the latest that fits; the
/// driver finds the wake-up to be later, as it does with any entry that is too early, and enters it again.
pub struct Agenda {
    /// A tree in one array: the entries of group `g` stand for groups `4 g + 1` to `4 g + 4`, or for leaves where there is
    /// no such group.
    groups: Vec<Group>,
    /// Leaves begin here, counted in entries.
    leaves_from: usize,
    first: u64,
    /// When the first is due.
    due: Time,
    /// Bits of a place.
    bits: u32,
    epoch: u64,
    /// A first entry from here on moves the epoch.
    far: u64,
    /// Which stage stands at a place, and where a stage stands, when ties are shuffled.
    shuffled: Option<Box<Places>>,
}

struct Places {
    stage_at: Vec<u32>,
    place_of: Vec<u32>,
}

/// Later than every wake-up.
const NEVER: u64 = u64::MAX;

impl Places {
    /// A permutation that the seed decides.
    fn new(leaves: usize, seed: u64) -> Places {
        let mut state = seed;
        let mut next = || {
            // xorshift64: any permutation will do.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 32
        };
        let mut stage_at: Vec<u32> = (0..leaves as u32).collect();
        for i in (1..leaves).rev() {
            stage_at.swap(i, (next() % (i as u64 + 1)) as usize);
        }
        let mut place_of = vec![0; leaves];
        for (place, stage) in stage_at.iter().enumerate() {
            place_of[*stage as usize] = place as u32;
        }
        Places { stage_at, place_of }
    }
}

impl Agenda {
    /// `shuffle_seed` zero orders simultaneous wakes by stage; any other value permutes the stages for that purpose.
    pub fn new(stages: usize, shuffle_seed: u64) -> Agenda {
        let places = stages.next_power_of_two().max(2);
        let shuffled = (shuffle_seed != 0).then(|| Box::new(Places::new(places, shuffle_seed)));
        let leaves = if shuffled.is_some() { places } else { stages.max(2) };
        let groups = (leaves - 1).div_ceil(WIDTH - 1);
        let bits = places.trailing_zeros();
        let mut new = Agenda {
            groups: vec![Group([NEVER; WIDTH]); groups],
            leaves_from: groups - 1,
            first: NEVER,
            due: Time::NEVER,
            bits,
            epoch: 0,
            far: 0,
            shuffled,
        };
        new.far = (new.horizon() / 2) << bits;
        new
    }

    #[inline]
    fn place(&self, stage: u32) -> u64 {
        match &self.shuffled {
            None => u64::from(stage),
            Some(p) => u64::from(p.place_of[stage as usize]),
        }
    }

    /// The latest time that can be entered, counted from the epoch.
    #[inline]
    fn horizon(&self) -> u64 {
        (NEVER >> self.bits) - 1
    }

    #[inline]
    fn key(&self, place: u64, at: u64) -> u64 {
        (at - self.epoch).min(self.horizon()) << self.bits | place
    }

    /// The next entry: time and stage.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        let place = (self.first & ((1 << self.bits) - 1)) as usize;
        let stage = match &self.shuffled {
            None => place as u32,
            Some(p) => p.stage_at[place],
        };
        (self.first != NEVER).then_some((self.due, stage))
    }
    /// `Time::NEVER` when nothing is entered.
    #[inline]
    pub fn first_time(&self) -> Time {
        self.due
    }

    #[inline]
    fn lead(&mut self, key: u64) {
        self.first = key;
        self.due = if key == NEVER { Time::NEVER } else { Time((key >> self.bits) + self.epoch) };
    }

    /// The stage wants to be woken at `at`; an entry that is due earlier is left where it is.
    #[inline]
    pub fn at_latest(&mut self, stage: u32, at: Time) {
        let place = self.place(stage);
        let key = self.key(place, at.0);
        let mut entry = self.leaves_from + place as usize;
        // An entry that moved forward wins more matches than before: above its first defeat nothing changes.
        loop {
            let g = entry / WIDTH;
            let group = &mut self.groups[g];
            if key >= group.0[entry % WIDTH] || group.enter(entry, key) != key {
                return;
            }
            if g == 0 {
                return self.lead(key);
            }
            entry = g - 1;
        }
    }

    /// The first entry has been served: its stage now wants `at`, or nothing when that is [`Time::NEVER`].
    #[inline]
    pub fn replace_first(&mut self, at: Time) {
        let place = self.first & ((1 << self.bits) - 1);
        if self.first >= self.far {
            self.move_epoch(self.first >> self.bits);
        }
        let mut best = if at == Time::NEVER { NEVER } else { self.key(place, at.0) };
        let mut entry = self.leaves_from + place as usize;
        // It had won every match on its way: all of them are played again.
        loop {
            let g = entry / WIDTH;
            best = self.groups[g].enter(entry, best);
            if g == 0 {
                return self.lead(best);
            }
            entry = g - 1;
        }
    }

    /// Counts time from a later epoch, so that what is far away keeps fitting.
    #[cold]
    fn move_epoch(&mut self, by: u64) {
        self.epoch += by;
        for n in self.groups.iter_mut().flat_map(|g| &mut g.0).filter(|n| **n != NEVER) {
            *n -= by << self.bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::{Dur, Streams};
    use std::collections::BTreeSet;

    #[test]
    fn entries_come_out_in_order_of_time_then_stage() {
        let mut rng = Streams::new(5).named("agenda");
        let mut agenda = Agenda::new(200, 0);
        let mut model: BTreeSet<(Time, u32)> = BTreeSet::new();
        let mut now = Time::ZERO;
        for _ in 0..50_000 {
            let stage = rng.below(200) as u32;
            let at = now + Dur(rng.below(50));
            let old = model.iter().find(|e| e.1 == stage).copied();
            if old.is_none_or(|o| at < o.0) {
                old.map(|o| model.remove(&o));
                model.insert((at, stage));
            }
            agenda.at_latest(stage, at);
            if rng.chance(0.6) {
                let want = *model.first().unwrap();
                assert_eq!(agenda.first(), Some(want));
                model.remove(&want);
                now = want.0;
                let next = rng.chance(0.5).then(|| now + Dur(rng.below(80)));
                next.map(|t| model.insert((t, want.1)));
                agenda.replace_first(next.unwrap_or(Time::NEVER));
            }
        }
    }

    #[test]
    fn a_shuffled_agenda_permutes_simultaneous_wake_ups_and_nothing_else() {
        let order = |seed| {
            let mut agenda = Agenda::new(6, seed);
            (0..6).for_each(|s| agenda.at_latest(s, Time(if s < 4 { 7 } else { 9 })));
            let mut out = Vec::new();
            while let Some((_, s)) = agenda.first() {
                out.push(s);
                agenda.replace_first(Time::NEVER);
            }
            out
        };
        assert_eq!(order(0), [0, 1, 2, 3, 4, 5]);
        let shuffled: Vec<Vec<u32>> = (1..20).map(order).collect();
        assert!(shuffled.iter().any(|o| o[..4] != [0, 1, 2, 3]));
        assert!(shuffled.iter().all(|o| o[..4].iter().all(|s| *s < 4)));
    }

    #[test]
    fn far_wake_ups_come_out_in_order_however_far_they_are() {
        let mut agenda = Agenda::new(1 << 10, 0);
        let year = 31_536_000 * 1_000_000_000_u64;
        let wake_ups = [(5, 3 * year), (9, year), (7, 17), (1, 400 * year)];
        wake_ups.iter().for_each(|(s, at)| agenda.at_latest(*s, Time(*at)));
        let mut order = Vec::new();
        let mut entries = 0;
        while let Some((at, stage)) = agenda.first() {
            let wake_up = wake_ups.iter().find(|w| w.0 == stage).unwrap().1;
            assert!(at.0 <= wake_up);
            let is_due = at.0 == wake_up;
            agenda.replace_first(if is_due { Time::NEVER } else { Time(wake_up) });
            is_due.then(|| order.push(stage));
            entries += 1;
        }
        assert_eq!(order, [7, 9, 5, 1]);
        assert!(entries < 10_000, "{entries}");
    }

    #[test]
    fn an_empty_agenda_has_no_first_entry() {
        let mut agenda = Agenda::new(0, 0);
        assert_eq!((agenda.first(), agenda.first_time()), (None, Time::NEVER));
        agenda.at_latest(0, Time(3));
        agenda.replace_first(Time::NEVER);
        assert_eq!(agenda.first(), None);
    }
}
