//! How much a scenario may ask for.

use crosswind_base::Dur;

/// Longest run: about eleven days of network time.
pub const DURATION_LIMIT: Dur = Dur::from_secs(1_000_000);
/// Most flows of a scenario, over all groups.
pub const FLOWS_LIMIT: u64 = 1_000_000;
/// Most duplex links of a scenario, after the template has been expanded.
pub const LINKS_LIMIT: u64 = 1_000_000;
/// Most routers in a row: an IP packet survives no more than 255.
pub const HOPS_LIMIT: u32 = 250;
/// Most points of one time series.
pub const SAMPLES_LIMIT: u64 = 10_000_000;
/// Flows that log what their stacks do; a process has about a thousand files.
pub const QLOGS_LIMIT: u64 = 200;
/// Most limits of delay that one flow is judged by.
pub const LATE_LIMITS_MAX: usize = 4;
