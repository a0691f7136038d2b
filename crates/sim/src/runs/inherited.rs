//! What a repetition leaves to the next one: what hosts remember of ended connections, what queues know of the past, and what links have
//! looked up already.

use crate::scenario::Plan;
use crate::world::World;
use crosswind_base::{Dur, Past, Stage, Time};
use crosswind_transport::tcp::share::Cache;

pub struct Inherited {
    /// Of the hosts, one for each node.
    pub caches: Vec<Cache>,
    pub of_stages: OfStages,
}

/// One entry for each egress; none where there is nothing to tell.
#[derive(Default)]
pub struct OfStages {
    /// What queues know, where they do not begin anew, and how long before the run it was so.
    queues: Vec<Past>,
    gap: Dur,
    /// Where long histories of links began.
    begun: Vec<Option<Past>>,
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
        left.of_stages.begun = world.engine.stages.iter().map(Stage::begun).collect();
        if sharing.queues_persist() {
            world.catch_up();
            let now = world.engine.now;
            let tried = "what cannot hand on its past was refused before the run";
            left.of_stages.queues = world.engine.stages.iter_mut().map(|s| s.past(now).expect(tried)).collect();
            left.of_stages.gap = next.max(now) - now;
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
        for (stage, begun) in world.engine.stages.iter_mut().zip(self.begun) {
            if let Some(begun) = begun {
                stage.go_on_from(begun);
            }
        }
        world.engine.stages.iter_mut().zip(self.queues).for_each(|(stage, past)| stage.resume(past, self.gap));
    }
}
