//! Many runs: every repetition of every scenario on all cores, what they take of the machine, and the benchmark.

pub mod bench;
mod files;
mod inherited;
mod logs;
mod many;
mod memory;
mod request;

pub use many::{Failed, Finished, RunError, run_many};
pub use request::{Around, Progress, Request, alone};
