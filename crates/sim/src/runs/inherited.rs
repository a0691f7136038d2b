//! What a repetition leaves to the next one: what hosts remember of ended connections, what queues know of the past, and what links have
//! looked up already.

use crate::scenario::Plan;
use crate::world::World;
use crosswind_base::{Dur, Left, Stage, Time};
use crosswind_transport::tcp::share::Cache;

pub struct Inherited {
    /// Of the hosts, one for each node.
    pub caches: Vec<Cache>,
    pub of_stages: OfStages,
}

/// What the stages have left, one entry for each egress, and how long before the run.
#[derive(Default)]
pub struct OfStages {
    left: Vec<Left>,
    gap: Dur,
}

impl Inherited {
    /// Nobody knows of anything earlier.
    pub fn nothing(plan: &Plan) -> Inherited {
        let caches = vec![Cache::new(plan.sharing.lifetime()); plan.nodes.len()];
        Inherited { caches, of_stages: OfStages::default() }
    }

    /// For the repetition after one that ended at `end`. Its last packets may have arrived a little later.
    pub fn from(mut world: World<'_>, end: Time) -> Inherited {
        let (sharing, mut left) = (&world.plan.sharing, Inherited::nothing(world.plan));
        let next = end + sharing.gap();
        if sharing.queues_persist() {
            world.catch_up();
        }
        let now = world.engine.now;
        left.of_stages.gap = next.max(now) - now;
        for stage in &mut world.engine.stages {
            let of_stage = stage.leave(now);
            let queue = of_stage.queue.filter(|_| sharing.queues_persist());
            left.of_stages.left.push(Left { queue, ..of_stage });
        }
        if sharing.hosts_persist() {
            left.caches = world.ends.caches;
            left.caches.iter_mut().for_each(|c| c.epoch = c.epoch + next.since(Time::ZERO));
        }
        left
    }
}

impl OfStages {
    /// To the stages of a world that has just been built.
    pub fn tell(self, world: &mut World<'_>) {
        world.engine.stages.iter_mut().zip(self.left).for_each(|(stage, left)| stage.resume(left, self.gap));
    }
}
