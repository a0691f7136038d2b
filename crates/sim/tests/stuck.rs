//! A run whose time stands still ends, and says where.

use crate::common::*;
use crosswind_base::{Cx, Dur, PacketId, Stage, Time};
use crosswind_sim::flows::Parameters;
use crosswind_sim::scenario::Repetition;
use crosswind_sim::world::{Manner, Outcome, World};
use crosswind_transport::tcp::share::Cache;
use serde_json::json;

/// Asks to be woken again at once, from a moment on.
struct Restless {
    from: Time,
}

impl Stage for Restless {
    fn accept(&mut self, p: PacketId, cx: &mut Cx<'_>) {
        cx.forward(p);
    }
    fn wake(&mut self, _cx: &mut Cx<'_>) {}
    fn next_wake(&self) -> Option<Time> {
        Some(self.from)
    }
}

#[test]
fn stages_that_keep_each_other_busy_at_one_instant_end_the_run_with_its_time_and_the_stage() {
    let scenario = json!({
        "name": "stuck", "duration": "60 s",
        "link": { "path": { "from": "a", "to": "b" } },
        "flow": { "f": { "from": "a", "to": "b", "workload": { "type": "cbr", "payload": "100 B", "interval": "1 s" } } }
    });
    let plan = plan(&scenario);
    let parameters = Parameters::of(&plan).unwrap_or_else(|e| panic!("{e}"));
    let (rep, caches) = (Repetition { seed: 1, index: 0, of: 1 }, vec![Cache::new(None); plan.nodes.len()]);
    let mut world = World::build(&plan, &parameters, rep, Manner::default(), caches).unwrap_or_else(|e| panic!("{e}"));
    let from = Time::ZERO + Dur::from_millis(2500);
    world.engine.stages[0] = Box::new(Restless { from });
    // Its first packet makes the world ask when it wants to be woken.
    assert_eq!(world.run_until(Time::ZERO + Dur::from_secs(60), None), Some(Outcome::Stuck));
    assert_eq!(world.engine.now, from);
    assert!(world.engine.tick.events < 20_000_000, "{} events", world.engine.tick.events);
    let said = world.stuck();
    assert!(said.contains("2.5 s") && said.contains("link path (forward)"), "{said}");
}
