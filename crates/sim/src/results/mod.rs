//! From a world to the result tables.

mod collect;
mod edge;
mod ends;
mod flow;
mod outcome;
mod row;
mod sampler;

pub use collect::{RunFacts, contract_histograms, flow_histograms, link_histograms, summary};
pub use sampler::Sampler;
