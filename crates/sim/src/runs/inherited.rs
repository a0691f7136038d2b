//! What a repetition leaves to the next one: what hosts remember of ended connections, and what queues know of the past.

use crate::scenario::Plan;
use crate::world::World;
use crosswind_base::{Dur, Past, Stage, Time};
use crosswind_transport::tcp::share::Cache;

/// What queues know, one for each egress, and how long before the run it was so.
pub struct Queues {
    list: Vec<Past>,
    gap: Dur,
}

pub struct Inherited {
    /// Of the hosts, one for each node.
    pub caches: Vec<Cache>,
    /// `None`: queues begin anew.
    pub queues: Option<Queues>,
}

impl Inherited {
    /// Nobody knows of anything earlier.
    pub fn nothing(plan: &Plan) -> Inherited {
        Inherited { caches: vec![Cache::new(plan.sharing.lifetime()); plan.nodes.len()], queues: None }
    }

    /// For the repetition after one that ended at `end`. Its last packets may have arrived a little later.
    pub fn from(mut world: World<'_>, end: Time) -> Inherited {
        let (sharing, mut left) = (&world.plan.sharing, Inherited::nothing(world.plan));
        let begins = end + sharing.gap();
        if sharing.queues_persist() {
            world.catch_up();
            let now = world.engine.now;
            let tried = "what cannot hand on its past was refused before the run";
            let list = world.engine.stages.iter_mut().map(|s| s.past(now).expect(tried)).collect();
            left.queues = Some(Queues { list, gap: begins.max(now) - now });
        }
        if sharing.hosts_persist() {
            left.caches = world.ends.caches;
            left.caches.iter_mut().for_each(|c| c.epoch = c.epoch + begins.since(Time::ZERO));
        }
        left
    }
}

impl Queues {
    /// The queues of a world that has just been built go on.
    pub fn resume_in(self, world: &mut World<'_>) {
        world.engine.stages.iter_mut().zip(self.list).for_each(|(stage, past)| stage.resume(past, self.gap));
    }
}
