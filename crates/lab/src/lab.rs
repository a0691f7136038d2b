//! A scenario, a seed, and the stacks that it names.

use crate::run::Run;
use crate::watched::{Shared, Watched, open};
use crosswind_base::{ConfigError, Rng};
use crosswind_sim::flows::Ends;
use crosswind_sim::runs::{Progress, Request, run_many};
use crosswind_sim::scenario::{BroughtPlan, Catalogue, Kind, Registries, Row, StackPlan, compile, parse};
use crosswind_transport::stack::{Role, Stack};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

type Make = Arc<dyn Fn(&Value, Role, Rng) -> Box<dyn Stack> + Send + Sync>;

/// A scenario, a seed, and the stacks that it names.
#[derive(Clone)]
pub struct Lab {
    scenario: Value,
    seed: u64,
    stacks: BTreeMap<&'static str, Make>,
}

/// What is built in, and the stacks of a lab.
struct Known<'a>(Vec<&'a str>);

impl Catalogue for Known<'_> {
    fn rows(&self, kind: Kind) -> Vec<Row> {
        Registries.rows(kind)
    }
    fn brought(&self) -> Vec<&str> {
        self.0.clone()
    }
    fn normalise(&self, kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
        Registries.normalise(kind, value, path)
    }
}

impl fmt::Debug for Lab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stacks: Vec<_> = self.stacks.keys().collect();
        f.debug_struct("Lab").field("seed", &self.seed).field("stacks", &stacks).finish_non_exhaustive()
    }
}

impl Lab {
    /// A scenario as Crosswind reads it from files.
    pub fn toml(text: &str) -> Result<Lab, ConfigError> {
        let wrong = |e: toml::de::Error| ConfigError::new("", e.to_string(), "a scenario in TOML");
        Ok(Lab::of(toml::from_str(text).map_err(wrong)?))
    }

    /// The same as a value.
    pub fn of(scenario: Value) -> Lab {
        Lab { scenario, seed: 1, stacks: BTreeMap::new() }
    }

    /// Two pairs of hosts, one bottleneck with a FIFO: `Lab::dumbbell("20 Mbit/s", "60 ms", 100, "30 s")`. `delay` is that of the
    /// bottleneck, one way. Flows come with [`Lab::flow`], from `left-1` to `right-1` and from `left-2` to `right-2`.
    pub fn dumbbell(rate: &str, delay: &str, limit_packets: u32, duration: &str) -> Lab {
        let queue = json!({ "limit": format!("{limit_packets} packets") });
        Lab::of(json!({
            "name": "lab", "duration": duration,
            "topology": {
                "template": "dumbbell", "pairs": 2,
                "bottleneck": { "rate": rate, "delay": delay, "queue": queue },
            },
            "flow": {},
        }))
    }

    /// One more flow, or another in the place of one with this name.
    pub fn flow(mut self, name: &str, flow: Value) -> Lab {
        self.scenario["flow"][name] = flow;
        self
    }

    pub fn seed(mut self, seed: u64) -> Lab {
        self.seed = seed;
        self
    }

    /// A stack that flows call `transport = { type = NAME, .. }`. `make` gets the other keys of that table, which end it makes, and
    /// the source of everything that it may draw.
    pub fn stack(
        mut self,
        name: &'static str,
        make: impl Fn(&Value, Role, Rng) -> Box<dyn Stack> + Send + Sync + 'static,
    ) -> Lab {
        self.stacks.insert(name, Arc::new(make));
        self
    }

    /// Runs it. An error names the path in the scenario, what stands there and what could.
    pub fn run(&self) -> Result<Run, ConfigError> {
        let scenario = parse(&self.scenario.to_string(), &Known(self.stacks.keys().copied().collect()))?;
        let plan = compile(&scenario)?;
        let logs: BTreeMap<&'static str, Shared> = self.stacks.keys().map(|name| (*name, Shared::default())).collect();
        let transports = self.stacks.iter().map(|(name, make)| (name.to_string(), reads(name, make, &logs[name])));
        let request = Request { transports: transports.collect(), ..Request::once(self.seed) };
        let broken = |why: String| ConfigError::new("", why, "a run that ends").hint(self.again());
        let done = run_many(&[plan], &request, &Progress::default()).map_err(|e| broken(e.to_string()))?;
        if let Some(failed) = done.failed.first() {
            return Err(broken(failed.why.clone()));
        }
        let logs = logs.into_iter().map(|(name, log)| (name, std::mem::take(&mut *open(&log)))).collect();
        Ok(Run::new(done.tables, logs, self.again()))
    }

    /// Runs it once, and so many times more. Panics when one of them sends something else, with the first difference.
    #[track_caller]
    pub fn assert_repeatable(&self, times: u32) -> Run {
        let run = || self.run().unwrap_or_else(|e| panic!("{e}"));
        let first = run();
        for time in 1..=times {
            if let Some(difference) = first.differs_from(&run()) {
                panic!("the same seed does not repeat: run {time} differs\n{difference}\n{}", self.again());
            }
        }
        first
    }

    /// How to get the same run again.
    fn again(&self) -> String {
        let shown = toml::to_string(&self.scenario).unwrap_or_else(|_| self.scenario.to_string());
        format!("seed {}, scenario:\n{shown}", self.seed)
    }
}

/// What makes the ends of flows over a stack.
fn reads(name: &'static str, make: &Make, log: &Shared) -> crosswind_sim::flows::Reads {
    let (make, log) = (make.clone(), log.clone());
    Arc::new(move |plan: &BroughtPlan| {
        let keys: Value = plan.read()?;
        let (make, log) = (make.clone(), log.clone());
        let maker = move |role, rng| Box::new(Watched::new(make(&keys, role, rng), role, &log)) as Box<dyn Stack>;
        Ok(Arc::new(StackPlan { name, maker: Arc::new(maker) }) as Arc<dyn Ends>)
    })
}
