//! The simulator, in five rooms: each imports from those below it in this list only, and no file another in a circle.
//!
//! 1. [`runs`]: many runs on all cores, what they take of the machine, the benchmark;
//! 2. [`results`]: from a world to the result tables;
//! 3. [`world`]: one run, around the event loop of `crosswind_engine`;
//! 4. [`flows`]: the ends of flows, transports bound to applications, workloads;
//! 5. [`scenario`]: from a scenario file to a plan.

pub mod flows;
pub mod results;
pub mod runs;
pub mod scenario;
pub mod world;

/// Stacks of other people, where this build has them.
#[cfg(feature = "stacks")]
pub use crosswind_stacks as stacks;
