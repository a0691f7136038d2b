//! What is a flow's own.

use super::waits::Recorded;
use crosswind_base::Streams;

/// A flow's name, and the random streams under it.
pub struct Own<'a> {
    pub streams: &'a Streams,
    pub flow: &'a str,
    /// Whether its histograms are kept.
    pub recorded: Recorded,
}
