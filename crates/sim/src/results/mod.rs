//! From a world to the result tables.

mod boundary;
mod collect;
mod ends;
mod flow;
mod outcome;
mod row;
mod sampler;

pub use collect::{RunFacts, contract_histograms, flow_histograms, link_histograms, summary};
pub use sampler::Sampler;
