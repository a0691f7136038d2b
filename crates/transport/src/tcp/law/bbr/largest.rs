//! A maximum over the last rounds.

/// The largest of the last rounds, told by the best three as in Linux (`lib/minmax.c`): round and value.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Largest([(u64, f64); 3]);

impl Largest {
    pub(in super::super) fn get(&self) -> f64 {
        self.0[0].1
    }

    pub(in super::super) fn take(&mut self, window: u64, round: u64, value: f64) {
        let new = (round, value);
        let best = &mut self.0;
        if value >= best[0].1 || round - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].1 {
            best[2] = new;
        }
        let age = round - best[0].0;
        if age > window {
            *best = [best[1], best[2], new];
            if round - best[0].0 > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = new;
        }
    }
}
